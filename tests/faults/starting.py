"""Faults while a server starts: a new log on an empty directory, and a log that is there.

No answer has left yet. Whatever a first start leaves, the next one makes the log or says what is in the way;
a start on a log that is there loses none of its answers.
"""

import gc
from functools import partial
from pathlib import Path

import pytest

from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.errors import GameError
from sealedshoe_server.keys import KeyFileError
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from tests.faults.disk import Disk, Fault, disk_at
from tests.faults.images import Base, Image, put_image, started, take_image
from tests.faults.load import Ledger, check, play
from tests.faults.row import Row

KEY_FILES = ("root.pem", "statement.pem", "checkpoint.pem", "sealing.key")
PUBLISHED = ("trust.json", "vkey", "server.json")
CREATE = ("SCHEMA", "INSERT meta", "INSERT head")
APPEND = ("BEGIN", "INSERT entries", "INSERT heads", "UPDATE head", "COMMIT")
KEPT = ("guard pwrite", "guard fdatasync", "heads write")
KEYS = (*(f"{k} {act}" for k in KEY_FILES for act in ("write", "fsync")), "keys rename")
PUBLISH = tuple(f"{name} {act}" for name in PUBLISHED for act in ("write", "fsync", "rename"))
FIRST = (*CREATE, *APPEND, *KEYS, *KEPT, *PUBLISH, "directory fsync")
LATER = (*APPEND, *KEPT, *PUBLISH, "directory fsync")
REFUSALS = (DataDirError, KeyFileError, StoreRefused, StorageFailed, GameError, OSError)


def watch_first(disk: Disk, root: Path, moments: dict[tuple[str, str], Image]) -> None:
    """Takes an image the first time that each step is taken, before and after."""

    def watch(step: str, when: str) -> None:
        if (step, when) not in moments:
            moments[step, when] = take_image(root)

    disk.watch = watch


class Recorded:
    """Images of one first start, and of one later start with what front-ends know of its log."""

    first: dict[tuple[str, str], Image] | None = None
    later: dict[tuple[str, str], Image] | None = None
    ledger: Ledger

    @classmethod
    async def of_first(cls, root: Path) -> dict[tuple[str, str], Image]:
        """Starts on an empty directory, once."""
        if cls.first is None:
            cls.first = {}
            with disk_at(root) as disk:
                watch_first(disk, root, cls.first)
                async with started(root):
                    disk.watch = lambda _step, _when: None
        return cls.first

    @classmethod
    async def of_later(cls, root: Path) -> tuple[dict[tuple[str, str], Image], Ledger]:
        """Plays on the base, starts again, once."""
        if cls.later is None:
            cls.later, cls.ledger = {}, Ledger()
            await Base.put(root)
            async with started(root) as server:
                await play(server, cls.ledger)
            with disk_at(root) as disk:
                watch_first(disk, root, cls.later)
                async with started(root):
                    disk.watch = lambda _step, _when: None
        return cls.later, cls.ledger


async def stopped_at_first(step: str, when: str, root: Path) -> None:
    """The next start makes the log, or goes on with it."""
    images = await Recorded.of_first(root / "recorded")
    async with started(put_image(images[step, when], root / "row")) as server:
        await server.install()


async def stopped_at_later(step: str, when: str, root: Path) -> None:
    """The next start has all answers and goes on."""
    images, ledger = await Recorded.of_later(root / "recorded")
    async with started(put_image(images[step, when], root / "row")) as server:
        await check(server, ledger)
        await play(server, Ledger(), "later", rounds=1)


async def refused(root: Path) -> None:
    """No server starts; what it had open is closed, as by the end of its process."""
    with pytest.raises(REFUSALS):
        async with started(root):
            pass
    gc.collect()


async def fails_at_first(fault: Fault, root: Path) -> None:
    """The start is refused by the error itself; on the mended disk the next one makes the log."""
    with disk_at(root) as disk:
        disk.fails(fault)
        await refused(root)
        assert disk.struck
    async with started(root) as server:
        await server.install()


async def fails_at_later(fault: Fault, root: Path) -> None:
    """The start is refused; on the mended disk the next one has all answers."""
    ledger = Ledger()
    await Base.put(root)
    async with started(root) as server:
        await play(server, ledger, rounds=1)
    with disk_at(root) as disk:
        disk.fails(fault)
        await refused(root)
        assert disk.struck
    async with started(root) as server:
        await check(server, ledger)
        await play(server, ledger, "later", rounds=1)


BOTH = ("before", "after")
HOWS = (("not written", "lost"), ("written", "applied"))
ROWS = [
    *(
        Row(
            "first start",
            f"stop {when} {step}",
            "the next start",
            partial(stopped_at_first, step, when),
        )
        for step in FIRST
        for when in BOTH
    ),
    *(
        Row("first start", f"{s}: error, {what}", "refused", partial(fails_at_first, Fault(s, how)))
        for s in FIRST
        for what, how in HOWS
    ),
    *(
        Row("start", f"stop {when} {step}", "kept", partial(stopped_at_later, step, when))
        for step in LATER
        for when in BOTH
    ),
    *(
        Row("start", f"{s}: error, {what}", "refused", partial(fails_at_later, Fault(s, how)))
        for s in LATER
        for what, how in HOWS
    ),
]
