"""How a log grew: records counted in equal time bins, in constant memory however long the log is.

Bins lie on multiples of their width, so doubling the width merges whole neighbours and no count is
ever split. Records need not come in order of time: only a table's own records do.
"""

from typing import Any

MAX_BINS = 128
FIRST_BIN_US = 1000  # short logs, such as a demonstration, are seen in detail too


class Growth:
    """Counts records by time; the bins widen as the range of times does."""

    def __init__(self) -> None:
        """Starts before the first record."""
        self._bin_us = FIRST_BIN_US
        self._counts: dict[int, int] = {}  # by number of the bin; at most MAX_BINS entries

    def take(self, time_us: int) -> None:
        """Counts one record; time_us: microseconds since 1970 UTC."""
        number = time_us // self._bin_us
        if number in self._counts:
            self._counts[number] += 1
            return
        self._counts[number] = 1
        while max(self._counts) - min(self._counts) >= MAX_BINS:
            self._double()

    def _double(self) -> None:
        merged: dict[int, int] = {}
        for number, count in self._counts.items():
            merged[number // 2] = merged.get(number // 2, 0) + count
        self._counts = merged
        self._bin_us *= 2

    def json(self) -> dict[str, Any]:
        """Returns start, width and the records of each bin; no bins for a log without records."""
        first, last = min(self._counts, default=0), max(self._counts, default=-1)
        return {
            "start_us": first * self._bin_us,
            "bin_us": self._bin_us,
            "records": [self._counts.get(number, 0) for number in range(first, last + 1)],
        }
