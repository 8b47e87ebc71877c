"""The gRPC faces: validate, call, map errors, count."""
