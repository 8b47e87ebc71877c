"""How a log grew: records by time, in at most 128 equal bins whatever its length."""

from typing import Any

MAX_BINS = 128


class Growth:
    """Counts records by their times; the bins widen as the time they span outgrows them."""

    def __init__(self) -> None:
        """Starts with no record."""
        self._start_us = 0
        self._bin_us = 1_000_000
        self._counts: list[int] = []

    def take(self, time_us: int) -> None:
        """Counts a record; one older than the first counts as the first."""
        if not self._counts:
            self._start_us = time_us
        place = max(0, time_us - self._start_us) // self._bin_us
        while place >= MAX_BINS:
            self._widen()
            place //= 2
        self._counts.extend([0] * (place + 1 - len(self._counts)))
        self._counts[place] += 1

    def _widen(self) -> None:
        self._bin_us *= 2
        counts = self._counts
        self._counts = [sum(counts[i : i + 2]) for i in range(0, len(counts), 2)]

    def json(self) -> dict[str, Any]:
        """Returns the JSON object: start, width of a bin, counts."""
        return {"start_us": self._start_us, "bin_us": self._bin_us, "records": self._counts}
