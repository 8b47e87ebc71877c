"""Every kept input goes through its target: seeds, what fuzzing added, and what once made one fail."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz.keep import MOST_FILES, MOST_KEPT_BYTES
from tests.fuzz.known_faults import KNOWN_FAULTS
from tests.fuzz.run import KEPT
from tests.fuzz.seeds import every_seed
from tests.fuzz.targets import TARGETS


def _kept() -> Iterator[Any]:
    for file in sorted(KEPT.glob("*/*")):
        where = file.parent.name, file.name
        fault = KNOWN_FAULTS.get(where)
        marks = []
        if fault is not None:
            xfail = pytest.mark.xfail(strict=True, raises=fault.raised, reason=fault.reason)
            marks = [xfail]
        yield pytest.param(*where, marks=marks, id="/".join(where))


@pytest.mark.parametrize(("target", "name"), list(_kept()))
def test_a_kept_input_is_refused_or_has_one_form(target: str, name: str) -> None:
    """No exception but VerificationError comes out of a parser, and what it reads it writes the same."""
    TARGETS[target]((KEPT / target / name).read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_the_kept_corpus_of_a_target_stays_small(target: str) -> None:
    """It goes with the repository, and through every test run."""
    sizes = [file.stat().st_size for file in (KEPT / target).iterdir()]
    assert 3 <= len(sizes) <= MOST_FILES
    assert sum(sizes) <= MOST_KEPT_BYTES


SEEDS = every_seed()


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_accepts_some_of_its_seeds(target: str) -> None:
    """Seeds made anew from today's formats reach the round trip, and not only refusals."""
    sound = {where: data for where, data in SEEDS.items() if where not in KNOWN_FAULTS}
    accepted = [name for (of, name), data in sound.items() if of == target and TARGETS[of](data)]
    assert len(accepted) >= 2


def test_every_seed_and_every_known_fault_is_kept() -> None:
    """By name: what a seed's bytes were when it was kept stays a good input."""
    kept = {(file.parent.name, file.name) for file in KEPT.glob("*/*")}
    assert SEEDS.keys() <= kept
    assert KNOWN_FAULTS.keys() <= SEEDS.keys()
