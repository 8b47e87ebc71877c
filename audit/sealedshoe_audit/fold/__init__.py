"""The fold over the log: how each record changes the state, and when it may not. Server and verifier
run the same functions, so that the server can do only what the auditor can check."""
