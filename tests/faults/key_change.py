"""Faults while a key is changed under play: padding, the change's leaf, and the files that name the keys."""

import asyncio
import contextlib
import errno
import threading
from functools import partial
from pathlib import Path
from typing import ClassVar

import grpc

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.faults.disk import Fault, disk_at
from tests.faults.images import Base, Image, put_image, started, take_image
from tests.faults.load import Ledger, check, play
from tests.faults.playing import watch_whole_append
from tests.faults.row import Row
from tests.server.reading import stored_records
from tests.server.refusals import read_refusal
from tests.server.rotating import CHECKPOINT, NewKey, change_of, hand_in, in_force, make_key
from tests.server.running import Running

FILES = tuple(f"{n} {act}" for n in ("trust.json", "vkey") for act in ("write", "fsync", "rename"))
APPEND = ("BEGIN", "INSERT entries", "INSERT key_changes", "INSERT heads", "UPDATE head", "COMMIT")
KEPT = ("guard pwrite", "guard fdatasync", "heads write")
STEPS = (*APPEND, *KEPT, *FILES, "directory fsync")
AHEAD, TRIES = 4, 60
Moments = dict[tuple[str, str], Image]


async def change(server: Running, ledger: Ledger, new: NewKey) -> None:
    """Hands the change in again and again, authorised anew when its leaf has passed, until it stands."""
    for _ in range(TRIES):
        try:
            handed_in = await change_of(server, CHECKPOINT, new, AHEAD)
            for _ in range(10):
                if (
                    await hand_in(server, handed_in)
                    and await in_force(server, CHECKPOINT) == new.name
                ):
                    return
                await asyncio.sleep(0.01)
        except grpc.aio.AioRpcError as error:
            reason = read_refusal(error).reason or error.code().name
            if await in_force(server, CHECKPOINT) == new.name:
                return
            ledger.reasons.add(reason)
            await asyncio.sleep(0.01)
    raise AssertionError(f"the key was never changed: {ledger.reasons}")


class Recorded:
    """One change under play, with an image at every step of it."""

    moments: ClassVar[Moments] = {}
    ledger: Ledger
    new: NewKey

    @classmethod
    async def image(cls, root: Path, step: str, when: str) -> Image:
        """What lay on the disk then."""
        if not cls.moments:
            await cls._record(root)
        return cls.moments[step, when]

    @classmethod
    async def _record(cls, root: Path) -> None:
        cls.ledger = Ledger()
        await Base.put(root)

        def watch(step: str, when: str) -> None:
            if (step, when) not in cls.moments:
                cls.moments[step, when] = take_image(root)

        with disk_at(root) as disk:
            async with started(root) as server:
                await play(server, cls.ledger, "w", rounds=1)
                cls.new = make_key(server.data_dir, CHECKPOINT)
                disk.watch = watch
                await change(server, cls.ledger, cls.new)
                disk.watch = lambda _step, _when: None


async def stopped_at(step: str, when: str, root: Path) -> None:
    """A server that starts there has every answer, and takes the change once."""
    image = await Recorded.image(root / "recorded", step, when)
    ledger = Recorded.ledger.copy()
    async with started(put_image(image, root / "row")) as server:
        await check(server, ledger)
        await changes_once(server, ledger, Recorded.new)


async def changes_once(server: Running, ledger: Ledger, new: NewKey) -> None:
    """The change comes to stand, once, and play goes on under the new key."""
    if await in_force(server, CHECKPOINT) != new.name:
        await change(server, ledger, new)
    await play(server, ledger, "later", rounds=1)
    await check(server, ledger)
    stored = [r for r in stored_records(server.data_dir) if isinstance(r, pb.KeyChanged)]
    assert [record.new_key for record in stored] == [new.name]
    assert ledger.reasons <= {"STORAGE_FAILED", "KEY_CHANGE_WAITING", "KEY_CHANGE_INVALID"}


async def fails_at(fault: Fault, root: Path) -> None:
    """The change fails or stands; tables go on; handed in again, it stands once."""
    ledger = Ledger()
    await Base.put(root)
    with disk_at(root) as disk:
        async with started(root) as server:
            watch_whole_append(server, disk)
            await play(server, ledger, "w", rounds=1)
            new = make_key(server.data_dir, CHECKPOINT)
            disk.fails(fault)
            async with asyncio.TaskGroup() as group:
                group.create_task(change(server, ledger, new))
                group.create_task(play(server, ledger, rounds=1))
            assert disk.struck
            await changes_once(server, ledger, new)
    async with started(root) as again:
        await check(again, ledger)
        assert await in_force(again, CHECKPOINT) == new.name


async def overtaken(root: Path) -> None:
    """Handed in while a group is under way that goes past its leaf: it is refused, and not put elsewhere."""
    await Base.put(root)
    taken, committing = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold(step: str, when: str) -> None:
        if (step, when) == ("COMMIT", "before"):
            loop.call_soon_threadsafe(committing.set)
            taken.wait(10)

    with disk_at(root) as disk:
        async with started(root) as server:
            new = make_key(server.data_dir, CHECKPOINT)
            handed_in = await change_of(server, CHECKPOINT, new, 2)
            disk.watch = hold
            dealing = asyncio.create_task(server.deal("a"))
            await committing.wait()
            disk.watch = lambda _step, _when: None
            with contextlib.suppress(grpc.aio.AioRpcError):  # it may be refused at once, or later
                await hand_in(server, handed_in)
            taken.set()
            await dealing
            await server.deal("b")
    async with started(root) as server:
        await play(server, Ledger(), "later", rounds=1)
    assert not [r for r in stored_records(root / "data") if isinstance(r, pb.KeyChanged)]


HOWS = (("not written", "lost"), ("written", "applied"))
ROWS = [
    Row("key change", "overtaken by a group under way", "KEY_CHANGE_INVALID", overtaken),
    *(
        Row("key change", f"stop {when} {step}", "kept", partial(stopped_at, step, when))
        for step in STEPS
        for when in ("before", "after")
    ),
    *(
        Row("key change", f"{s}: error, {what}", "kept", partial(fails_at, Fault(s, how)))
        for s in STEPS
        for what, how in HOWS
    ),
    *(
        Row("key change", f"{s}: disk full", "kept", partial(fails_at, Fault(s, code=errno.ENOSPC)))
        for s in ("INSERT key_changes", "guard pwrite", "heads write", "trust.json write")
    ),
]
