"""A witness: cosigns each head of a log that extends the last one it saw."""
