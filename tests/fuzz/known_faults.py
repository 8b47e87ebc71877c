"""Faults that fuzzing found and that still stand: kept inputs under which a target fails.

Each is a strict xfail in test_corpus.py, so that its mending shows; the fuzzer passes over exceptions of
that type in that target, or it would find nothing else.
"""

from typing import NamedTuple

from sealedshoe_audit.errors import DefinitionError


class Fault(NamedTuple):
    """What comes out of a target instead of VerificationError, and why."""

    raised: type[Exception]
    reason: str


# (target, name of the kept input)
KNOWN_FAULTS: dict[tuple[str, str], Fault] = {
    ("path", "long-index"): Fault(ValueError, "an index of over 4,300 digits is not refused"),
    ("path", "long-width"): Fault(ValueError, "a width of over 4,300 digits is not refused"),
    ("policy", "long-chain-of-groups"): Fault(RecursionError, "groups may nest without end"),
    ("position", "unknown-game"): Fault(KeyError, "a table of a game that is not there"),
    ("position", "unknown-shuffle"): Fault(DefinitionError, "a definition that cannot be read"),
    ("trust", "lone-surrogate"): Fault(UnicodeEncodeError, "the error's text cannot be shown"),
    ("vkey", "lone-surrogate"): Fault(UnicodeEncodeError, "the error's text cannot be shown"),
}


def passed_over(target: str) -> tuple[type[Exception], ...]:
    """Returns what the fuzzer passes over in a target."""
    return tuple(fault.raised for (name, _), fault in KNOWN_FAULTS.items() if name == target)
