"""Asks both verifiers about random evidence, honest and not, and reports every disagreement.

    make differential N=10000          (or: python -m tests.differential 10000 --seed 7 --jobs 2)

Verdict, first error, its record and all codes must be equal. Cases on which they differ are written to
build/differential, to become vectors. Exit 0: all equal. 1: some differ.
"""

import argparse
import sys
import time
from collections import Counter
from multiprocessing import Process, SimpleQueue
from pathlib import Path

from tests.differential.run import Outcome, run_share

OUT = Path("build/differential")
WIDTH = 40


def main() -> int:
    """Runs the shares of the work side by side and adds up."""
    options = _options()
    started = time.monotonic()
    queue: SimpleQueue[Outcome | None] = SimpleQueue()
    for job in range(options.jobs):
        share = options.cases // options.jobs + (job < options.cases % options.jobs)
        Process(target=run_share, args=(options.seed + job, share, queue), daemon=True).start()
    total = _collect(queue, options.jobs, options.cases)
    _print_table(total)
    seconds = time.monotonic() - started
    print(
        f"{total.cases:,} cases ({total.valid:,} valid, {total.bytes / 1e6:,.0f} MB of evidence), "
        f"seed {options.seed}, {seconds:,.0f} s: {len(total.differing)} differ"
    )
    _keep(total)
    return 1 if total.differing or total.cases != options.cases else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential", description=__doc__.split("\n")[0]
    )
    parser.add_argument("cases", type=int, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="of the random stories (1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with a verifier (2)")
    return parser.parse_args()


def _collect(queue: "SimpleQueue[Outcome | None]", jobs: int, cases: int) -> Outcome:
    total = Outcome()
    while jobs:
        part = queue.get()
        if part is None:
            jobs -= 1
            continue
        total.add(part)
        if sys.stderr.isatty():
            done = WIDTH * total.cases // cases
            bar = "█" * done + "░" * (WIDTH - done)
            print(f"\r{bar} {total.cases:,} of {cases:,}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return total


def _print_table(total: Outcome) -> None:
    changes = Counter[str]()
    codes: dict[str, Counter[str]] = {}
    for (about, code), count in total.seen.items():
        changes[about] += count
        codes.setdefault(about, Counter())[code] += count
    for about, count in changes.most_common():
        found = ", ".join(f"{code} {n:,}" for code, n in codes[about].most_common(5))
        print(f"{about:<16} {count:>9,}  {found}")


def _keep(total: Outcome) -> None:
    for n, text in enumerate(total.differing[:200]):
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{n:03}.json").write_text(text, encoding="utf-8")
    if total.differing:
        print(f"the cases on which they differ are in {OUT}")


if __name__ == "__main__":
    sys.exit(main())
