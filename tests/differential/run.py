"""One share of a differential run: cases made, both verifiers asked, answers compared."""

import json
import subprocess
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import SimpleQueue
from pathlib import Path
from random import Random
from typing import IO

from tests.differential.case import Answer, Case, python_answer
from tests.differential.changes import any_case
from tests.differential.stories import tell

VERIFIER = Path(__file__).resolve().parents[2] / "frontend" / "verifier" / "cli.js"
CASES_A_STORY = 40
BATCH = 400


@dataclass(slots=True)
class Outcome:
    """What came of some cases; outcomes add up.

    Attributes:
        seen: {(what was changed, code or "valid"): cases}.
        differing: JSON texts of the cases on which the verifiers differ.
    """

    cases: int = 0
    valid: int = 0
    bytes: int = 0
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=lambda: [])

    def add(self, other: "Outcome") -> None:
        """Adds another outcome to this one."""
        self.cases += other.cases
        self.valid += other.valid
        self.bytes += other.bytes
        self.seen += other.seen
        self.differing += other.differing


def run_share(seed: int, cases: int, queue: "SimpleQueue[Outcome | None]") -> None:
    """Runs cases in batches and puts the outcome of each into the queue; None at the end."""
    try:
        stream = islice(make_cases(seed), cases)
        while batch := list(islice(stream, BATCH)):
            queue.put(compare(batch))
    finally:
        queue.put(None)


def make_cases(seed: int) -> Iterator[Case]:
    """Yields cases without end; the same ones for the same seed."""
    random = Random(f"differential {seed}")
    while True:
        story = tell(random)
        for _ in range(CASES_A_STORY):
            yield any_case(story, random)


class Other:
    """The verifier in TypeScript, as a process that answers a line for each line."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["node", str(VERIFIER), "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, cases: list[Case]) -> Iterator[Answer]:
        """Sends all cases, then yields the answers as they come."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        sender = threading.Thread(target=_send, args=(stdin, cases), daemon=True)
        sender.start()
        answers = (json.loads(stdout.readline()) for _ in cases)
        yield from (Answer(**(a | {"codes": tuple(a["codes"])})) for a in answers)
        sender.join()


def _send(stdin: IO[bytes], cases: list[Case]) -> None:
    for case in cases:
        stdin.write(json.dumps(case_json(case)).encode() + b"\n")
    stdin.flush()


def case_json(case: Case) -> dict[str, str]:
    """Returns the files as the batch command takes them: base64."""
    files = {"evidence": case.evidence, "trust": case.trust}
    if case.receipt is not None:
        files["receipt"] = case.receipt
    return {name: b64encode(data).decode() for name, data in files.items()}


_other: list[Other] = []  # one in a process, started when first asked


def compare(cases: list[Case]) -> Outcome:
    """Asks both verifiers about each case."""
    if not _other:
        _other.append(Other())
    outcome = Outcome(cases=len(cases), bytes=sum(len(case.evidence) for case in cases))
    answers = _other[0].ask(cases)
    mine = [python_answer(case) for case in cases]  # while the other works
    for case, one, two in zip(cases, mine, answers, strict=True):
        outcome.valid += one.verdict == "valid"
        outcome.seen[case.about, one.code or "valid"] += 1
        if one != two:
            outcome.differing.append(_difference(case, one, two))
        if case.about == "honest" and one.verdict != "valid":
            raise AssertionError(f"an honest case is invalid: {one}")
    return outcome


def _difference(case: Case, one: Answer, two: Answer) -> str:
    content = {"about": case.about, "python": vars_of(one), "other": vars_of(two)}
    return json.dumps(content | case_json(case), indent=1) + "\n"


def vars_of(answer: Answer) -> dict[str, object]:
    """Returns an answer as JSON values."""
    return {name: getattr(answer, name) for name in Answer.__slots__}
