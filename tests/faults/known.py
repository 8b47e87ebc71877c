"""Rows that do not hold, by name, and why: each must fail, and leaves this list once it holds."""

KNOWN: dict[str, str] = {}
