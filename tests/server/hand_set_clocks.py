"""Clocks that a test sets by hand."""

from sealedshoe_server.clock import Clock

T0_S = 1_800_000_000


class HandSetClocks:
    """A wall clock that can be set, and a monotonic one that only runs; both in nanoseconds."""

    def __init__(self) -> None:
        self.wall = T0_S * 10**9
        self.monotonic = 5 * 10**9

    def wall_ns(self) -> int:
        return self.wall

    def monotonic_ns(self) -> int:
        return self.monotonic

    def run(self, seconds: float) -> None:
        """Time passes on both."""
        self.wall += int(seconds * 10**9)
        self.monotonic += int(seconds * 10**9)

    def step(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        self.wall += int(seconds * 10**9)


def clock_of(clocks: HandSetClocks, floor_s: int = 0) -> Clock:
    """A server's clock over these, never before the floor."""
    return Clock(clocks.wall_ns, clocks.monotonic_ns, floor_s * 10**6)
