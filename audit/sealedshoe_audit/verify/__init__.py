"""Verdicts: on one round's evidence, on a whole log, and the replay of one round. Pure; bytes come in."""
