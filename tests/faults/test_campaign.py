"""Every fault of the table: what was acknowledged is there, or the server refuses and says exactly why."""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.open_rows import OPEN
from tests.faults.row import Row
from tests.faults.table import KNOWN, TABLE

HANGS_S = 20.0


def parameter(row: Row) -> object:
    """A row as a test, expected to fail where it is known to."""
    known = KNOWN.get(row.name)
    marks = [] if known is None else [pytest.mark.xfail(strict=False, reason=known)]
    if row.name in OPEN:
        marks = [pytest.mark.xfail(strict=False, reason="open: not looked into yet")]
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
