"""The certified random number generator."""
