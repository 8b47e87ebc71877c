"""A short fuzz run of every target, the same each time; long ones are started by hand."""

from pathlib import Path

import pytest

from tests.fuzz.run import PLANTED, fuzz
from tests.fuzz.targets import TARGETS

RUNS = 1_000
LIMITS = ("-seed=1", f"-runs={RUNS}")
MOST_RUNS_TO_PLANTED = 100_000  # far more than one byte of 256 takes


@pytest.mark.parametrize("target", TARGETS)
def test_a_short_run_finds_nothing(target: str, tmp_path: Path) -> None:
    """The kept corpus and mutations of it raise nothing but VerificationError, and round trips hold."""
    result = fuzz(target, LIMITS, tmp_path)
    assert (result.verdict(), result.finding) == ("ok", None), result.output[-4000:]
    assert result.executions >= RUNS
    assert result.edges > 0


def test_a_fault_is_found_and_its_input_kept(tmp_path: Path) -> None:
    """A planted target fails on what begins with an exclamation mark."""
    result = fuzz(PLANTED, ("-seed=1", f"-runs={MOST_RUNS_TO_PLANTED}"), tmp_path)
    assert result.failed
    assert result.finding is not None
    assert result.finding.parent == tmp_path / "findings"
    assert result.finding.read_bytes().startswith(b"!")
    assert "ValueError: planted" in result.output
