"""What a file of the common test suite is, and how it is written."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

FORMAT = "sealedshoe/v1/vectors"


@dataclass(slots=True)
class Suite:
    """The cases of one entry point.

    Attributes:
        entry: the function under test, as tests/vectors/README.md describes it.
        source: where inputs and expected outcomes come from.
    """

    entry: str
    source: str
    cases: list[dict[str, Any]] = field(default_factory=lambda: [])

    def good(self, name: str, given: dict[str, Any], expected: Any) -> None:
        """Adds a case that must come out as told."""
        self.cases.append({"id": name, "input": given, "expected": expected})

    def bad(self, name: str, given: dict[str, Any], code: str) -> None:
        """Adds a case that must be refused with a code."""
        self.cases.append({"id": name, "input": given, "code": code})

    def text(self) -> str:
        """Returns the file's content, a line a case."""
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in self.cases)
        head = json.dumps({"format": FORMAT, "entry": self.entry, "source": self.source}, indent=1)
        return f'{head[:-2]},\n "cases": [\n{lines}\n]}}\n'


def flips(data: bytes) -> Iterable[tuple[str, bytes]]:
    """Yields twins of some bytes with one bit changed: first, middle and last byte."""
    for name, at in (("first", 0), ("middle", len(data) // 2), ("last", len(data) - 1)):
        yield f"{name} byte", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
