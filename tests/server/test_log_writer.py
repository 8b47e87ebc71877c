"""The writer when storage fails: each write failed and lost, or failed but applied; then it goes on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import (
    Batch,
    Committed,
    CommittedHead,
    DuplicateSeed,
    Outcome,
    StorageFailed,
)
from sealedshoe_server.storage.sqlite import SqliteStore
from tests.server.batches import asked, loose, opened, shoe_opened, step
from tests.server.storage_contract import check_tree


class FaultyStore:
    """A real store whose appends fail as told: "lost" before they happen, "applied" after.

    Attributes:
        faults: what becomes of the next appends, and then of none.
        broken: reloads fail as well.
    """

    def __init__(self, path: Path) -> None:
        self._store = SqliteStore(path, "log.example")
        self.faults: list[str] = []
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, batches: Sequence[Batch], time_us: int) -> tuple[CommittedHead, list[Outcome]]:
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "lost":
            raise StorageFailed("append: disk I/O error")
        done = self._store.append(batches, time_us)
        if fault == "applied":
            raise StorageFailed("append: connection lost", unknown=True)
        return done

    def reload(self) -> None:
        if self.broken:
            raise StorageFailed("still no disk")
        self._store.reload()


class Desk:
    """A writer over a faulty store."""

    def __init__(self, path: Path) -> None:
        self.store = FaultyStore(path)
        self.executor = ThreadPoolExecutor(1)
        self.writer = LogWriter(self.store, self.executor, _note, lambda: 1, Metrics())
        self.reloads = 0
        self.writer.on_reload = self._count
        self.task = asyncio.create_task(self.writer.run())

    def _count(self) -> None:
        self.reloads += 1

    async def append(self, batch: Batch) -> Outcome:
        """The outcome of one batch, once it is published."""
        outcome, published = await self.writer.append(batch)
        assert published.note == _note(published.head.text)
        return outcome


def _note(text: str) -> bytes:
    return b"signed " + text.encode()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "log.db")
    yield desk
    desk.writer.stop()
    await asyncio.wait_for(desk.task, 10)
    check_tree(desk.store)  # type: ignore[arg-type]
    desk.executor.shutdown()
    desk.store.close()


async def refused(work: "asyncio.Future[Outcome]") -> GameError:
    """The refusal of an append that fails."""
    with pytest.raises(GameError) as caught:
        await work
    return caught.value


@pytest.mark.parametrize(("fault", "there"), [("lost", False), ("applied", True)])
async def test_a_failed_append_is_told_and_found_by_its_id(
    desk: Desk, fault: str, there: bool
) -> None:
    """STORAGE_FAILED either way; the request id tells what became of it, and the writer goes on."""
    desk.store.faults = [fault]
    batch = loose("a", request=asked("r"))
    refusal = await refused(asyncio.ensure_future(desk.append(batch)))
    assert (refusal.reason, refusal.retry_after_ms) == (Reason.STORAGE_FAILED, 1000)
    assert (desk.store.answer("caller", "r") is not None) is there
    assert desk.reloads == 1
    assert desk.writer.failure is None
    assert desk.writer.published.head == desk.store.head()
    outcome = await desk.append(batch)
    assert isinstance(outcome, Committed) is not there
    assert desk.store.head().head.size == 1


async def test_a_storage_that_stays_broken_refuses_until_it_is_back(desk: Desk) -> None:
    """Every append says so, and the first after the repair is written."""
    desk.store.faults = ["lost"]
    desk.store.broken = True
    for _ in range(3):
        await refused(asyncio.ensure_future(desk.append(loose("a"))))
        assert desk.writer.failure == "still no disk"
    desk.store.broken = False
    assert isinstance(await desk.append(loose("b")), Committed)
    assert desk.writer.failure is None
    assert check_tree(desk.store) == [b"b"]  # type: ignore[arg-type]


async def test_all_of_a_failed_group_are_told(desk: Desk) -> None:
    """Nobody waits for ever, whichever place in the group they had."""
    desk.store.faults = ["applied"]
    waiting = [asyncio.ensure_future(desk.append(loose(f"{i}"))) for i in range(50)]
    done = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
    assert {type(result) for result in done} <= {GameError, Committed}
    assert any(isinstance(result, GameError) for result in done)
    assert desk.writer.published.head == desk.store.head()


async def test_what_waits_is_committed_together(desk: Desk) -> None:
    """Fifty that queue at once need no fifty heads."""
    outcomes = await asyncio.gather(*(desk.append(loose(f"{i}")) for i in range(50)))
    firsts = [outcome.first_index for outcome in outcomes if isinstance(outcome, Committed)]
    assert firsts == list(range(50))
    heads = {desk.store.head_covering(index).head.size for index in range(50)}
    assert len(heads) < 5


async def test_a_seed_drawn_twice_raises_the_alarm(desk: Desk) -> None:
    """The group fails, and whoever watches the RNG is told."""
    alarms: list[str] = []
    desk.writer.on_duplicate_seed = lambda: alarms.append("twice")
    await desk.append(step("t", 0, opened(1), shoe_opened(1)))
    again = step("u", 0, opened(1), shoe_opened(1))
    refusal = await refused(asyncio.ensure_future(desk.append(again)))
    assert refusal.reason == Reason.STORAGE_FAILED
    assert alarms == ["twice"]
    assert issubclass(DuplicateSeed, StorageFailed)


async def test_stopping_commits_what_waits(desk: Desk) -> None:
    """A stop between append and commit loses nothing."""
    waiting = [asyncio.ensure_future(desk.append(loose(f"{i}"))) for i in range(5)]
    await asyncio.sleep(0)
    desk.writer.stop()
    outcomes = await asyncio.gather(*waiting)
    assert all(isinstance(outcome, Committed) for outcome in outcomes)


async def test_an_answer_that_cannot_be_built_does_not_end_the_writer(tmp_path: Path) -> None:
    """A fault in one batch is that caller's error; the next batch is written."""
    desk = Desk(tmp_path / "log.db")

    def fail(_: object) -> bytes:
        raise KeyError("no such hash")

    bad = Batch(loose("a").entries, answer=fail)
    try:
        first = asyncio.ensure_future(desk.append(bad))
        await asyncio.wait([first], timeout=0.5)
        second = asyncio.ensure_future(desk.append(loose("b")))
        await asyncio.wait([second], timeout=0.5)
        assert isinstance(second.done() and second.result(), Committed)
    finally:
        desk.writer.stop()
        await asyncio.wait([desk.task, first, second], timeout=2)
        first.cancel()
        second.cancel()
        desk.executor.shutdown()
        desk.store.close()


async def test_what_a_change_sent_back_goes_before_those_that_came_meanwhile(desk: Desk) -> None:
    """In its own order: shoes are opened in the order in which they were drawn."""
    append = desk.writer.append
    await asyncio.gather(
        *(append(loose(text)) for text in ("x", "y")),
        *(append(loose(text), again=True) for text in ("a", "b")),
    )
    assert desk.store.read(0, 9) == [b"a", b"b", b"x", b"y"]


async def test_a_head_that_cannot_be_signed_stops_the_writer_until_it_can(desk: Desk) -> None:
    """It is committed: nobody is answered, the failure is named, and the next append reads it again."""
    sign, desk.writer.sign_head = desk.writer.sign_head, _no_key
    refusal = await refused(asyncio.ensure_future(desk.append(loose("a", request=asked("r")))))
    assert refusal.reason is Reason.STORAGE_FAILED
    assert desk.writer.failure == "the head cannot be signed: KeyError"
    desk.writer.sign_head = sign
    assert isinstance(await desk.append(loose("b")), Committed)
    assert desk.writer.failure is None
    assert desk.store.read(0, 9) == [b"a", b"b"]


def _no_key(_: str) -> bytes:
    raise KeyError("checkpoint key")
