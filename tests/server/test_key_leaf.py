"""The writer puts a change of keys at exactly its leaf, whatever waits and whatever failed before."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.log_writer import DueChange, LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import Batch, Committed, Dropped, Outcome
from sealedshoe_server.storage.sqlite import SqliteStore
from tests.server.batches import loose

CHANGE, FILLING = b"the change", b"filling"


class Desk:
    """A writer whose heads can be kept from leaving.

    Attributes:
        broken: no head can be kept.
        prepared: sizes at which a change was prepared.
    """

    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(path, "log.example")
        self.executor = ThreadPoolExecutor(1)
        self.broken = False
        self.prepared: list[int] = []
        sign = str.encode
        self.writer = LogWriter(
            self.store, self.executor, sign, lambda: 1, Metrics(), lambda *_: self.keep()
        )
        self.task = asyncio.create_task(self.writer.run())

    def keep(self) -> None:
        """Guard and archive."""
        if self.broken:
            raise OSError("no guard")

    async def append(self, size: int, name: str = "x") -> Outcome:
        """One batch of so many entries."""
        outcome, _ = await self.writer.append(Batch(loose(*[name] * size).entries))
        return outcome

    async def failed(self, size: int) -> None:
        """A batch that is committed and not released."""
        self.broken = True
        with pytest.raises(GameError) as caught:
            await self.append(size)
        assert caught.value.reason is Reason.STORAGE_FAILED
        self.broken = False

    def expect(self, index: int, *, now: bool = False) -> None:
        """A change that is due at a leaf."""
        self.writer.due = DueChange(
            index,
            lambda: Batch(loose(CHANGE.decode()).entries, changes_key=True),
            lambda count: loose(*[FILLING.decode()] * count),
            lambda: self.prepared.append(self.store.head().head.size),
            now=now,
        )
        self.writer.wake()

    async def until_done(self) -> list[bytes]:
        """The log once the change has happened."""
        while self.writer.due is not None:
            await asyncio.sleep(0.005)
        return self.store.read(0, 10_000)

    async def close(self) -> None:
        """Lets the writer end."""
        self.writer.stop()
        await asyncio.wait_for(self.task, 10)
        self.executor.shutdown()
        self.store.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path / "log.db")
    yield made
    await made.close()


async def test_a_quiet_log_is_filled_up_to_the_leaf(desk: Desk) -> None:
    """The change comes right behind the filling, and was prepared before both."""
    await desk.append(2)
    desk.expect(6, now=True)
    assert await desk.until_done() == [b"x"] * 2 + [FILLING] * 4 + [CHANGE]
    assert desk.prepared == [2]
    assert desk.store.key_changes() == [6]


async def test_a_change_that_is_next_needs_no_filling(desk: Desk) -> None:
    await desk.append(2)
    desk.expect(2, now=True)
    assert await desk.until_done() == [b"x"] * 2 + [CHANGE]


async def test_a_change_waits_until_the_next_batch_does_not_fit(desk: Desk) -> None:
    """The batch goes back to be signed anew; what fits is committed before."""
    desk.expect(4)
    assert await desk.append(2) == Committed(0, b"")
    assert await desk.append(1) == Committed(2, b"")
    assert await desk.append(2) is Dropped.KEY_CHANGED
    assert await desk.until_done() == [b"x"] * 3 + [FILLING, CHANGE]
    assert await desk.append(2) == Committed(5, b"")


async def test_everything_that_waits_goes_back(desk: Desk) -> None:
    """Also what would have fitted behind the one that did not."""
    desk.expect(3)
    outcomes = await asyncio.gather(*(desk.append(size) for size in (2, 2, 1, 1)))
    assert outcomes == [Committed(0, b""), *[Dropped.KEY_CHANGED] * 3]
    assert await desk.until_done() == [b"x"] * 2 + [FILLING, CHANGE]


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=12),
    index=st.integers(0, 30),
    now=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_whatever_waits_a_change_is_at_its_leaf(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], index: int, now: bool
) -> None:
    """Every batch is whole, once, before or behind it; dropped ones are signed again and get in."""

    async def append(desk: Desk, name: str, size: int) -> None:
        while await desk.append(size, name) is Dropped.KEY_CHANGED:
            pass

    async def story() -> list[bytes]:
        desk = Desk(tmp_path_factory.mktemp("leaf") / "log.db")
        desk.expect(index, now=now)
        names = [f"batch {i}" for i in range(len(sizes))]
        await asyncio.gather(*(append(desk, *pair) for pair in zip(names, sizes, strict=True)))
        if desk.writer.due is not None:
            desk.writer.due.now = True
            desk.writer.wake()
        log = await desk.until_done()
        await desk.close()
        return log

    log = asyncio.run(story())
    assert log[index] == CHANGE
    assert log.count(CHANGE) == 1
    others = [entry for entry in log if entry not in (CHANGE, FILLING)]
    counts = {f"batch {i}".encode(): size for i, size in enumerate(sizes)}
    assert {name: others.count(name) for name in counts} == counts
    assert len(others) == sum(sizes)


async def test_filling_counts_what_was_committed_and_not_released(desk: Desk) -> None:
    """One record more is in the log than the writer published: the change is at its leaf all the same."""
    await desk.append(1)
    await desk.failed(2)
    desk.expect(6, now=True)
    log = await desk.until_done()
    assert log[6:] == [CHANGE]


async def test_a_group_fits_behind_what_was_committed_and_not_released(desk: Desk) -> None:
    """Else the batch stands where the change had to be, and no root signature fits it any more."""
    await desk.append(1)
    await desk.failed(2)
    desk.expect(4)
    await desk.append(2)
    desk.expect(4, now=True)
    log = await desk.until_done()
    assert log[4] == CHANGE
