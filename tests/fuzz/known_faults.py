"""Faults that fuzzing found and that still stand: kept inputs under which a target fails.

Each is a strict xfail in test_corpus.py, so that its mending shows; the fuzzer passes over exceptions of
that type in that target, or it would find nothing else.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """What comes out of a target instead of VerificationError, and why."""

    raised: type[Exception]
    reason: str


# {(target, name of the kept input): what comes out}
KNOWN_FAULTS: dict[tuple[str, str], Fault] = {}


def passed_over(target: str) -> tuple[type[Exception], ...]:
    """Returns what the fuzzer passes over in a target."""
    return tuple(fault.raised for (name, _), fault in KNOWN_FAULTS.items() if name == target)
