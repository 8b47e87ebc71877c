"""What a run found: rows of ours beside a baseline of the same run, as a table and as JSON."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

DISTRIBUTIONS = ("grpcio", "protobuf", "cryptography", "uvloop")


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a row's ratio, or on our own value.

    Attributes:
        is_minimum: the value must not be below `bound`; else it must not be above.
        of_ratio: whether the ratio is bound, or our value in the row's unit.
    """

    bound: float
    is_minimum: bool = False
    of_ratio: bool = True

    def is_met(self, row: "Row") -> bool:
        """Whether a row keeps to it."""
        value = row.ratio if self.of_ratio else row.ours
        return value >= self.bound if self.is_minimum else value <= self.bound

    def text(self, unit: str) -> str:
        """Returns the bound as people read it."""
        sign = ">=" if self.is_minimum else "<="
        return f"{sign} {self.bound:g}" + ("" if self.of_ratio else f" {unit}")


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement; `ratio` is ours to the baseline."""

    section: str
    what: str
    unit: str
    ours: float
    baseline: float
    ratio: float
    target: Target | None = None

    def json(self) -> dict[str, Any]:
        """Returns the JSON object; `met` is null without a target."""
        return {
            "section": self.section,
            "what": self.what,
            "unit": self.unit,
            "ours": self.ours,
            "baseline": self.baseline,
            "ratio": self.ratio,
            "target": None if self.target is None else self.target.text(self.unit),
            "met": None if self.target is None else self.target.is_met(self),
        }


def compare(
    section: str,
    what: str,
    unit: str,
    pairs: Sequence[tuple[float, float]],
    target: Target | None = None,
) -> Row:
    """Returns the row of repeated (ours, baseline) pairs: the median of each, and of their ratios."""
    return Row(
        section,
        what,
        unit,
        median(ours for ours, _ in pairs),
        median(baseline for _, baseline in pairs),
        median(ours / baseline for ours, baseline in pairs),
        target,
    )


def run_json(rows: Sequence[Row], quick: bool, seconds: float) -> dict[str, Any]:
    """Returns the whole run, with what it ran on."""
    return {
        "quick": quick,
        "seconds": round(seconds, 1),
        "machine": {"cpus": os.cpu_count(), "python": platform.python_version()},
        "versions": {name: version(name) for name in DISTRIBUTIONS},
        "rows": [row.json() for row in rows],
    }


def show(console: Console, rows: Sequence[Row], seconds: float) -> None:
    """Prints a table a section, and which targets are met."""
    console.print("ours beside a baseline of the same run; medians")
    for section, group in groupby(rows, key=lambda row: row.section):
        console.print(f"\n[bold]{section}[/bold]")
        console.print(_table(list(group)))
    bound = [row for row in rows if row.target is not None]
    missed = [row for row in bound if row.target is not None and not row.target.is_met(row)]
    console.print(f"\n{len(bound) - len(missed)} of {len(bound)} targets met, in {seconds:.0f} s")
    for row in missed:
        console.print(f"  missed: {row.section}: {row.what}, {row.ratio:.2f}")


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", width=32)
    table.add_column("", width=8)
    for heading in ("ours", "baseline", "ratio"):
        table.add_column(heading, width=8, justify="right")
    table.add_column("target", width=11, justify="right")
    table.add_column("", width=7)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    ratio = f"{row.ratio:.2f}"
    cells = (f"  {row.what}", row.unit, _number(row.ours), _number(row.baseline), ratio)
    if row.target is None:
        return (*cells, "", "")
    verdict = "[green]met[/green]" if row.target.is_met(row) else "[red]missed[/red]"
    return (*cells, row.target.text(row.unit), verdict)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
