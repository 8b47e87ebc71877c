"""How long and how often each part of a run measures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """So many tables dealing at once, over so many connections."""

    tables: int
    connections: int

    def text(self) -> str:
        """Returns it as people read it."""
        return "1 table" if self.tables == 1 else f"{self.tables} tables"


@dataclass(frozen=True, slots=True)
class Plan:
    """One size of run.

    Attributes:
        play_s: of each run of the load generator.
        repeats: pairs of runs, ours and the baseline in turn.
        rounds_verified: at least so many are in the log that is verified.
        loop_s: of each timed loop in one process.
        large_log: leaves of the log that size is measured on.
    """

    levels: tuple[Level, ...]
    play_s: float
    repeats: int
    rounds_verified: int
    loop_s: float
    large_log: int


FULL = Plan((Level(1, 1), Level(8, 2), Level(32, 4)), 1.5, 5, 30_000, 1.0, 1_000_000)
QUICK = Plan((Level(1, 1), Level(32, 4)), 0.5, 2, 300, 0.25, 50_000)
