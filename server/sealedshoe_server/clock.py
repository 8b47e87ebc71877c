"""A clock that never steps back: wall time, carried on by the monotonic clock when the wall falls behind."""

from collections.abc import Callable

STEP_US = 1_000_000  # a wall clock this far behind is a significant event


class Clock:
    """UTC in microseconds since 1970, never decreasing within and across runs."""

    def __init__(
        self, wall_ns: Callable[[], int], monotonic_ns: Callable[[], int], floor_us: int
    ) -> None:
        """Takes the process's clocks, and the time of the newest record as a floor."""
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._started_ns = monotonic_ns()
        self._base_us = max(floor_us, wall_ns() // 1000)
        self.behind_us = 0

    def now_us(self) -> int:
        """Returns the time; `behind_us` then says how far the wall clock is behind it."""
        carried = self._base_us + (self._monotonic_ns() - self._started_ns) // 1000
        wall = self._wall_ns() // 1000
        if wall > carried:
            self._base_us += wall - carried
        self.behind_us = max(0, carried - wall)
        return max(carried, wall)

    @property
    def stepped_back(self) -> bool:
        """Whether the wall clock was last seen more than a second behind."""
        return self.behind_us >= STEP_US
