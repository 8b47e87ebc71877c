"""The table of faults: every row is one fault, brought about under play, with what must come of it."""

from tests.faults import playing
from tests.faults.row import Row

TABLE: list[Row] = [*playing.ROWS]

# Rows that do not hold, by name, and why.
KNOWN: dict[str, str] = {}
