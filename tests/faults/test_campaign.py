"""Every fault of the table: what was acknowledged is there, or the server refuses and says exactly why."""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import playing, starting
from tests.faults.images import NEARLY_A_TILE
from tests.faults.known import KNOWN
from tests.faults.row import Row
from tests.faults.table import TABLE

HANGS_S = 20.0


def parameter(row: Row) -> object:
    """A row as a test, expected to fail where it is known to."""
    known = KNOWN.get(row.name)
    marks = [] if known is None else [pytest.mark.xfail(strict=True, reason=known)]
    return pytest.param(row, id=row.name, marks=marks)


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> Iterator[None]:
    """What is loaded already is left out of the collections that close refused servers' files."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("row", [parameter(row) for row in TABLE])
async def test_a_fault_loses_nothing_that_was_acknowledged(row: Row, tmp_path: Path) -> None:
    """Played, struck, restarted, verified whole; the answers compared byte for byte."""
    async with asyncio.timeout(HANGS_S):
        await row.run(tmp_path)


def test_every_known_fault_is_a_row_and_no_row_stands_twice() -> None:
    """Names are what rows are known by."""
    names = [row.name for row in TABLE]
    assert len(set(names)) == len(names)
    assert KNOWN.keys() <= set(names)


async def test_every_step_of_a_play_is_a_row(tmp_path: Path) -> None:
    """A step that appends, signs, keeps or releases and stands in no row would be a gap of the table."""
    seen = {step for step, _ in await playing.record(tmp_path, NEARLY_A_TILE)}
    assert {step for step in seen if not step.startswith("SELECT")} == set(playing.STEPS)


async def test_every_step_of_a_start_is_a_row(tmp_path: Path) -> None:
    """Of a first one and of a later one."""
    first = {step for step, _ in await starting.Recorded.of_first(tmp_path / "first")}
    images, _ = await starting.Recorded.of_later(tmp_path / "later")
    later = {step for step, _ in images}
    assert {step for step in first if not step.startswith("SELECT")} == set(starting.FIRST)
    assert {step for step in later if not step.startswith("SELECT")} == set(starting.LATER)
