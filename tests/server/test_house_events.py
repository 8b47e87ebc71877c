"""Significant events of the house: the clock moved, the RNG failed and resumed; each recorded once."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.records import open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng
from sealedshoe_server.games import Games
from sealedshoe_server.house import House
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.sqlite import SqliteStore
from tests.server.entropy import SteeredSource
from tests.server.hand_set_clocks import T0_S, HandSetClocks, clock_of

HOUR_S = 3600


@pytest.fixture
def clocks() -> HandSetClocks:
    return HandSetClocks()


class Quiet:
    """A house over a real log and clocks set by hand."""

    def __init__(self, directory: Path, clocks: HandSetClocks, source: SteeredSource) -> None:
        self.store = SqliteStore(directory / "log.db", "log.example")
        self.rng = CertifiedRng(source, [], "boot")
        self.clock = clock_of(clocks)
        metrics = Metrics()
        self.executor = ThreadPoolExecutor(1)
        self.writer = LogWriter(self.store, self.executor, str.encode, self.clock.now_us, metrics)
        self.task = asyncio.create_task(self.writer.run())
        statements = Statements(Ed25519PrivateKey.from_private_bytes(bytes(32)))
        games = Games(self.store)
        self.house = House(
            "log.example", self.writer, statements, games, self.rng, self.clock, metrics
        )

    def events(self) -> list[pb.EventRecorded]:
        """Every event recorded so far."""
        records = [open_record(entry) for entry in self.store.read(0, 1000)]
        return [record for record in records if isinstance(record, pb.EventRecorded)]

    async def look(self) -> None:
        """One turn of the housekeeping."""
        self.clock.now_us()
        await self.house.look_around()


@pytest.fixture
async def quiet(
    tmp_path: Path, clocks: HandSetClocks, source: SteeredSource
) -> AsyncIterator[Quiet]:
    quiet = Quiet(tmp_path, clocks, source)
    yield quiet
    quiet.writer.stop()
    await quiet.task
    quiet.executor.shutdown()
    quiet.store.close()


@pytest.fixture
def source() -> SteeredSource:
    return SteeredSource()


async def test_a_clock_that_stepped_back_is_recorded_once(
    quiet: Quiet, clocks: HandSetClocks
) -> None:
    """One CLOCK_MOVED a step, however often the house looks; times in the log never decrease."""
    await quiet.look()
    assert quiet.events() == []
    clocks.step(-HOUR_S)
    for _ in range(3):
        clocks.run(1)
        await quiet.look()
    clocks.step(HOUR_S)
    await quiet.look()
    clocks.step(-2 * HOUR_S)
    await quiet.look()
    events = quiet.events()
    assert [(event.event_class, event.after) for event in events] == [
        (pb.EventClass.EVENT_CLASS_CLOCK_MOVED, "behind by 3600 s"),
        (pb.EventClass.EVENT_CLASS_CLOCK_MOVED, "behind by 7200 s"),
    ]
    times = [event.header.time_us for event in events]
    assert times == sorted(times)
    assert times[0] == (T0_S + 1) * 10**6


async def test_an_rng_failure_is_recorded_once_however_often_one_looks(
    quiet: Quiet, source: SteeredSource
) -> None:
    """One RNG_FAILED, with the reason; nothing while all is well."""
    await quiet.look()
    quiet.house.rng_failed("steered: repetition count test")
    for _ in range(3):
        await quiet.look()
    events = quiet.events()
    assert [event.event_class for event in events] == [pb.EventClass.EVENT_CLASS_RNG_FAILED]
    assert events[0].by.reason == "steered: repetition count test"


async def test_an_rng_failure_is_recorded_once_by_two_who_look_at_once(quiet: Quiet) -> None:
    """Housekeeping and a resuming operator may meet."""
    quiet.house.rng_failed("steered: stuck")
    await asyncio.gather(quiet.look(), quiet.look())
    assert len(quiet.events()) == 1


async def test_a_failure_after_a_recovery_is_recorded_again(quiet: Quiet) -> None:
    """Failed, resumed, failed: three events in this order."""
    by = pb.Accountability(actor="operator")
    quiet.house.rng_failed("steered: stuck")
    await quiet.look()
    for _ in range(2):
        await quiet.house.resume_rng(by)
    assert quiet.rng.failure is None
    quiet.house.rng_failed("steered: stuck")
    await quiet.look()
    event = pb.EventClass
    assert [record.event_class for record in quiet.events()] == [
        event.EVENT_CLASS_RNG_FAILED,
        event.EVENT_CLASS_RNG_RESUMED,
        event.EVENT_CLASS_RNG_FAILED,
    ]
