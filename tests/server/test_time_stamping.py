"""RFC 3161 stamps are asked for at their rhythm, checked, and only then recorded."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from sealedshoe_audit.tsa import stamp_check
from sealedshoe_audit.verify.times import StampCheck
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.time_stamping import TimeStamper
from tests.server.local_tsa import LocalTsa, local_tsa, make_authorities
from tests.server.watched import eventually

RARELY_S = 3600.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities."""
    return await make_authorities(tmp_path_factory.mktemp("authorities"))


@pytest.fixture
async def tsa(tmp_path: Path, certificates: Path) -> AsyncIterator[LocalTsa]:
    """An authority on a loopback port."""
    async with local_tsa(tmp_path / "tsa", certificates) as made:
        yield made


@dataclass
class FakeLog:
    """What a stamper sees of a log, and what it records there."""

    size: int = 10
    note: bytes = b"a head\n"
    long_shoe: int = -1
    looks: int = 0
    problem: GameError | None = None
    recorded: list[tuple[bytes, bytes]] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)

    def newest_head(self) -> tuple[int, bytes]:
        """Counts the looks, too."""
        self.looks += 1
        return self.size, self.note

    def newest_long_shoe(self) -> int:
        """Index of an opening."""
        return self.long_shoe

    async def record(self, note: bytes, response: bytes) -> int:
        """Takes a stamp."""
        if self.problem is not None:
            raise self.problem
        self.recorded.append((note, response))
        return self.size

    def count(self, result: str) -> int:
        """The metric."""
        for family in self.metrics.stamps.collect():
            for sample in family.samples:
                if sample.name.endswith("_total") and sample.labels["result"] == result:
                    return int(sample.value)
        return 0


async def run(
    tsa: LocalTsa,
    log: FakeLog,
    until: Callable[[], bool],
    every_s: float = RARELY_S,
    check: StampCheck | None = None,
) -> None:
    """Runs a stamper until a state is reached."""
    used = check or stamp_check([tsa.root.read_bytes()])
    head, shoe = log.newest_head, log.newest_long_shoe
    stamper = TimeStamper(
        tsa.url, used, every_s, head, shoe, log.record, log.metrics, lambda: time.time_ns() // 1000
    )
    async with aiohttp.ClientSession() as http:
        task = asyncio.create_task(stamper.run(http))
        await eventually(lambda: until() or task.done())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert until()


async def test_a_head_is_stamped_and_recorded_with_the_answers_bytes(tsa: LocalTsa) -> None:
    """The imprint asked for is SHA-256 over the note, and the authority's time is no guess."""
    log = FakeLog()
    await run(tsa, log, lambda: bool(log.recorded))
    assert sha256(log.note).digest() in tsa.asked[0]
    assert log.recorded == [(log.note, tsa.given[0])]
    assert (log.count("recorded"), log.count("failed")) == (1, 0)


async def test_stamps_come_at_their_rhythm(tsa: LocalTsa) -> None:
    """Also when the head stays as it is."""
    log = FakeLog()
    await run(tsa, log, lambda: len(log.recorded) >= 3, every_s=0.05)
    assert log.recorded == [(log.note, given) for given in tsa.given[: len(log.recorded)]]


async def test_between_the_beats_nothing_is_asked(tsa: LocalTsa) -> None:
    """However the log grows, and however often it is looked at."""
    log = FakeLog()
    await run(tsa, log, lambda: log.looks >= 2)
    log.size += 5
    seen = log.looks
    await run(tsa, log, lambda: log.looks >= seen + 6)
    assert len(tsa.asked) == 2  # one a stamper


async def test_a_new_shoe_of_several_rounds_is_stamped_once_a_head_covers_it(
    tsa: LocalTsa,
) -> None:
    """Not while the newest head is its equal in size, and once only."""
    log = FakeLog(size=10)

    def go_on() -> bool:
        if log.looks == 3 and len(log.recorded) == 1:
            log.long_shoe = 10
        if log.looks == 6:
            assert len(log.recorded) == 1
            log.size, log.note = 11, b"a larger head\n"
        return log.looks >= 11

    await run(tsa, log, go_on)
    assert [note for note, _ in log.recorded] == [b"a head\n", b"a larger head\n"]


async def test_nothing_is_asked_before_there_is_a_head_to_stamp(tsa: LocalTsa) -> None:
    """With witnesses that is the first quorum."""
    log = FakeLog(note=b"")
    await run(tsa, log, lambda: log.looks >= 4)
    assert tsa.asked == []


BAD = [
    "down",
    "rejected",
    "revoked",
    "garbage",
    "huge",
    "empty",
    "cut",
    "flipped",
    "stranger",
    "other",
]


@pytest.mark.parametrize("quirk", BAD)
async def test_an_answer_that_is_no_good_stamp_is_not_recorded(tsa: LocalTsa, quirk: str) -> None:
    """It counts as failed, and it is not asked again at once."""
    tsa.quirk = quirk
    log = FakeLog()
    await run(tsa, log, lambda: log.count("failed") > 0)
    assert (log.recorded, len(tsa.asked)) == ([], 1)


async def test_an_authority_that_is_gone_is_a_failure(tmp_path: Path, certificates: Path) -> None:
    async with local_tsa(tmp_path / "tsa", certificates) as gone:
        pass
    log = FakeLog()
    await run(gone, log, lambda: log.count("failed") > 0)
    assert log.recorded == []


async def test_after_a_failure_it_is_asked_again(tsa: LocalTsa) -> None:
    """The stamp that was due is still due."""
    tsa.quirk = "down"
    log = FakeLog()

    def go_on() -> bool:
        if log.count("failed"):
            tsa.quirk = ""
        return bool(log.recorded)

    await run(tsa, log, go_on)
    assert (log.count("failed"), log.count("recorded")) == (1, 1)


async def test_a_log_that_takes_no_record_is_a_failure(tsa: LocalTsa) -> None:
    """The stamp is lost, the stamper goes on."""
    log = FakeLog(problem=GameError(Reason.STORAGE_FAILED, "full"))
    await run(tsa, log, lambda: log.count("failed") > 0)
    assert log.count("recorded") == 0


async def test_a_stamp_that_comes_in_two_pieces_is_read_whole(tsa: LocalTsa) -> None:
    tsa.quirk = "pieces"
    log = FakeLog()
    await run(tsa, log, lambda: log.count("failed") + log.count("recorded") > 0)
    assert len(log.recorded) == 1


async def test_a_stamp_older_than_the_last_is_not_recorded(tsa: LocalTsa) -> None:
    """An authority whose clock steps back must not make the log invalid for ever (TIME_STAMP)."""
    now_us = time.time_ns() // 1000
    times = iter([now_us, now_us - 1])
    log = FakeLog()

    def done() -> bool:
        return len(log.recorded) + log.count("failed") >= 2

    await run(tsa, log, done, every_s=0.05, check=lambda _, __: next(times))
    assert (len(log.recorded), log.count("failed")) == (1, 1)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_stamp_that_is_far_from_our_clock_is_not_recorded(
    tsa: LocalTsa, hours: int
) -> None:
    """Records that contradict a stamp by more than 60 s are RECORD_TIME, for ever."""
    log = FakeLog()

    def done() -> bool:
        return len(log.recorded) + log.count("failed") >= 1

    far = time.time_ns() // 1000 + hours * 3_600_000_000
    await run(tsa, log, done, check=lambda _, __: far)
    assert (len(log.recorded), log.count("failed")) == (0, 1)
