"""One row of the campaign: a fault, what must come of it, and how it is brought about."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[Path], Awaitable[None]]


@dataclass(frozen=True)
class Row:
    """One fault.

    Attributes:
        area: what was under way, or what was damaged.
        fault: what struck.
        outcome: "kept": everything acknowledged is there; or why the server refuses; or who finds it.
        run: brings it about in an empty directory, and checks the outcome.
    """

    area: str
    fault: str
    outcome: str
    run: Run

    @property
    def name(self) -> str:
        """As tests are named."""
        return f"{self.area}: {self.fault}"
