"""A mirror: follows a log, keeps its files and every head, and refuses forks and rollbacks."""
