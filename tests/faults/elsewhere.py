"""Faults that are no disk's: restored backups, two writers, a clock that goes back."""

import asyncio
import gc
import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.storage.interface import StoreRefused
from tests.faults.images import Base, Image, abandon, put_image, started, take_image
from tests.faults.load import Ledger, check, play
from tests.faults.row import Row
from tests.server.fake_witness import FakeWitness, fake_witness
from tests.server.hand_set_clocks import HandSetClocks
from tests.server.reading import stored_records
from tests.server.refusals import refusal_of
from tests.server.running import Running
from tests.server.watched import policy_lines, until_cosigned

PATIENT_S = 3600.0  # the images are of any age, and wagers wait for no cosignature
BACKUP = "a restored backup never deals"


async def refuses(root: Path, reason: str, **settings: object) -> None:
    """No server starts, and why."""
    with pytest.raises((StoreRefused, DataDirError), match=reason):
        async with started(root, **settings):
            pass
    gc.collect()


async def two_ages(root: Path, **settings: object) -> tuple[Image, Image, Ledger]:
    """An image of a log, one of the same log some rounds later, and all answers."""
    ledger = Ledger()
    async with started(root, **settings) as server:
        await play(server, ledger, "w", rounds=1)
        await settled(server, settings)
    early = take_image(root)
    async with started(root, **settings) as server:
        await play(server, ledger)
        await settled(server, settings)
    return early, take_image(root), ledger


async def settled(server: Running, settings: dict[str, object]) -> None:
    if settings:
        await until_cosigned(server)


async def data_restored(root: Path) -> None:
    """The data directory alone: the guard knows better; with the whole log back, all is there."""
    await Base.put(root / "row")
    early, late, ledger = await two_ages(root / "row")
    shutil.rmtree(root / "row" / "data")
    old = {name: data for name, data in early.items() if name.startswith("data/")}
    put_image(old, root / "row")
    await refuses(root / "row", BACKUP)
    shutil.rmtree(root / "row" / "data")
    async with started(put_image(late, root / "row")) as server:
        await check(server, ledger)


async def guard_restored(root: Path) -> None:
    """The guard alone is older than the log: all is there, and the guard moves on."""
    await Base.put(root / "row")
    early, _, ledger = await two_ages(root / "row")
    put_image({"data.guard": early["data.guard"]}, root / "row")
    async with started(root / "row") as server:
        await check(server, ledger)
        await play(server, ledger, "later", rounds=1)


async def another_history(root: Path) -> None:
    """The backup was played on elsewhere: as long as the log, and another."""
    await Base.put(root / "row")
    early, late, _ = await two_ages(root / "row")
    other = put_image(early, root / "other")
    async with started(other) as server:
        await play(server, Ledger(), "o", rounds=4)
    put_image({"data.guard": late["data.guard"]}, other)
    await refuses(other, "not those that its guard knows: it was rewritten")


async def restored_under_witness(kept: tuple[str, ...], root: Path) -> None:
    """The guard is as old as the log, but a witness shows our own signature on a longer one."""
    async with fake_witness("w.example/0") as witness:
        policy = policy_of(root, witness)
        await Base.put(root / "row")
        early, late, ledger = await two_ages(
            root / "row", witness_policy=policy, cosigning_lag_s=PATIENT_S
        )
        shutil.rmtree(root / "row" / "data")
        late_parts = {name: late[name] for name in kept}
        put_image(early | late_parts, root / "row")
        await refuses(root / "row", "it was rolled back", witness_policy=policy)
        shutil.rmtree(root / "row" / "data")
        async with started(put_image(late, root / "row"), witness_policy=policy) as server:
            await check(server, ledger)


def policy_of(root: Path, *witnesses: FakeWitness, rule: str = "quorum w0") -> str:
    """A policy file of these witnesses."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / "policy"
    path.write_text(policy_lines(witnesses, rule), "utf-8")
    return str(path)


async def two_servers(root: Path) -> None:
    """The second is refused while the first plays on, and its stop leaves the way free."""
    ledger = Ledger()
    await Base.put(root)
    async with started(root) as server:
        playing = asyncio.create_task(play(server, ledger, rounds=3))
        await refuses(root, "another server runs on this directory")
        await playing
    async with started(root) as server:
        await check(server, ledger)


async def two_stores(root: Path) -> None:
    """The lock file is taken away, and two servers write: what one dealt the other never deals."""
    ledger = Ledger()
    await Base.put(root)
    async with started(root) as first:
        await play(first, ledger, "w", rounds=1)
        (root / "data" / "lock").unlink()
        async with started(root) as second:
            stale = [await first.deal_request(table) for table in ("a", "b")]
            await play(second, ledger, "s", rounds=1)
            for request in stale:
                refusal = await refusal_of(first.game.DealRound(request, timeout=10))
                assert refusal.reason == "ROUND_NOT_OPEN"
            await play(first, ledger, "f", rounds=1)
            await abandon(second)
        await check(first, ledger)


async def clock_back(when: str, root: Path) -> None:
    """Time never goes back in the log, and the step is recorded."""
    clocks, ledger = HandSetClocks(), Ledger()
    clocks.wall = time.time_ns()
    await Base.put(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", clocks.wall_ns)
        async with started(root) as server:
            await play(server, ledger, "w", rounds=1)
            if when == "while it runs":
                clocks.step(-3600)
                await play(server, ledger, rounds=1)
                await server.until(pb.EventRecorded, event_class=CLOCK_MOVED)
        if when == "between two runs":
            clocks.step(-3600)
            async with started(root) as server:
                await play(server, ledger, rounds=1)
                await server.until(pb.EventRecorded, event_class=CLOCK_MOVED)
                await check(server, ledger)
        clocks.step(3600 * 24)
    times = [record.header.time_us for record in stored_records(root / "data")]
    assert times == sorted(times)


CLOCK_MOVED = pb.EventClass.EVENT_CLASS_CLOCK_MOVED


ROWS = [
    Row("backup", "the data directory", BACKUP, data_restored),
    Row("backup", "the guard", "kept", guard_restored),
    Row("backup", "played on elsewhere", "it was rewritten", another_history),
    Row(
        "backup",
        "data directory and guard, the archive stays, a witness knows better",
        "it was rolled back",
        partial(restored_under_witness, ("data.heads",)),
    ),
    Row(
        "backup",
        "data directory, guard and archive, a witness knows better",
        "it was rolled back",
        partial(restored_under_witness, ()),
    ),
    Row("two writers", "two servers", "another server runs on this directory", two_servers),
    Row("two writers", "two servers, the lock file replaced", "kept", two_stores),
    *(
        Row("clock", f"an hour back {when}", "kept", partial(clock_back, when))
        for when in ("while it runs", "between two runs")
    ),
]
