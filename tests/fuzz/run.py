"""Fuzzing, one process a target: `python -m tests.fuzz.run TARGET|all --seconds 60`.

Inputs that reached something new stay in the working corpus, findings beside it. What is worth keeping is
taken over by tests/fuzz/keep.py. Exit 1: a finding, and the table names the file with its input.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "corpus"
WORKING = ROOT / "build" / "fuzz"
# Longest input: policies and positions go on for pages, and paths end where HTTP servers cut them.
MOST_BYTES = {"policy": 20_000, "position": 20_000}
INPUT_TIMEOUT_S = 20
PLANTED = "planted"  # a target with a fault, which shows that faults are found
_HEADERS = ("target", "executions", "a second", "corpus", "edges", "result")


@dataclass(frozen=True, slots=True)
class Result:
    """What one target's process said.

    Attributes:
        finding: file with the input that made it fail.
        failed: it ended as no sound run does.
    """

    target: str
    executions: int
    per_second: int
    corpus: int
    edges: int
    failed: bool
    finding: Path | None
    output: str

    def verdict(self) -> str:
        """Says it in a word, or in a file's name."""
        if not self.failed:
            return "ok"
        return "failed" if self.finding is None else str(self.finding)


def fuzz(target: str, limits: Sequence[str], working: Path) -> Result:
    """Runs one target in a process of its own.

    Args:
        limits: arguments of libFuzzer that end the run.
        working: its folder TARGET takes inputs that reached something new; findings/ takes findings.
    """
    corpus, findings = working / target, working / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    before = set(findings.iterdir())
    options = [
        f"-max_len={MOST_BYTES.get(target, 8192)}",
        f"-timeout={INPUT_TIMEOUT_S}",
        f"-artifact_prefix={findings}/{target}-",
        "-print_final_stats=1",
    ]
    folders = [str(folder) for folder in (corpus, KEPT / target) if folder.exists()]
    ended = run_child(target, *options, *limits, *folders)
    found = sorted(set(findings.iterdir()) - before)
    return Result(
        target=target,
        executions=_last(r"number_of_executed_units:\s+(\d+)", ended.stderr),
        per_second=_last(r"average_exec_per_sec:\s+(\d+)", ended.stderr),
        corpus=_last(r"corp: (\d+)/", ended.stderr),
        edges=_last(r"cov: (\d+)", ended.stderr),
        failed=ended.returncode != 0,
        finding=found[0] if found else None,
        output=ended.stdout + ended.stderr,
    )


def run_child(target: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs libFuzzer on one target, with these arguments."""
    command = [sys.executable, "-m", "tests.fuzz.child", target, *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},  # one seed, one run
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def targets_of(name: str) -> list[str]:
    """Returns the targets that a name on the command line means."""
    if name != "all" and name not in TARGETS:
        raise SystemExit(f"{name}: the targets are {', '.join(TARGETS)}, or all")
    return list(TARGETS) if name == "all" else [name]


def _row(cells: Sequence[object]) -> str:
    name, *numbers, last = (str(cell) for cell in cells)
    return "  ".join([f"{name:<12}", *(f"{number:>12}" for number in numbers), last])


def main() -> int:
    """Runs what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("target", help="a target, or all")
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("--runs", type=int, help="executions a target")
    limit.add_argument("--seconds", type=int, help="seconds a target")
    parser.add_argument("--seed", type=int, default=0, help="0 for another one each time")
    parser.add_argument("--corpus", type=Path, default=WORKING, help="working corpus")
    given = parser.parse_args()
    limits = [f"-seed={given.seed}"]
    limits += [f"-runs={given.runs}"] if given.runs else [f"-max_total_time={given.seconds}"]
    print(_row(_HEADERS), flush=True)
    code = 0
    for target in targets_of(given.target):
        result = fuzz(target, limits, given.corpus.resolve())
        numbers = (result.executions, result.per_second, result.corpus, result.edges)
        print(_row((target, *numbers, result.verdict())), flush=True)
        if result.failed:
            print(result.output[-3000:], file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
