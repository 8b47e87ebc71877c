"""Faults while a successor is started: at every step that ends the old log, publishes it, makes the new one.

A stop before the old log is marked as ended leaves it as it was. After that no server starts on it; the same
command on empty directories starts the successor, which names the same end and gives every stake back.
"""

import errno
import gc
import os
import time
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from sealedshoe_server.successor import Started, start_successor, successor_config
from tests.faults.disk import Fault, disk_at
from tests.faults.images import Base, Image, house_at, put_image, started, take_image
from tests.faults.load import Ledger, check, check_heads, play
from tests.faults.row import Row
from tests.server.reading import stored_entries, stored_records, tile_files
from tests.server.rotating import root_key
from tests.server.running import wager

ORIGIN = "localhost/next"
APPEND = ("BEGIN", "INSERT entries", "INSERT heads", "UPDATE head", "COMMIT")
KEYS = tuple(
    f"{name} {act}"
    for name in ("statement.pem", "checkpoint.pem", "sealing.key")
    for act in ("write", "fsync")
)
PUBLISH = tuple(
    f"{name} {act}"
    for name in ("bundle", "tile", "checkpoint")
    for act in ("write", "fsync", "rename")
)
GUARD = ("guard pwrite", "guard fdatasync")
STEPS = (*GUARD, *PUBLISH, "directory fsync", *KEYS, "SCHEMA", "INSERT meta", "INSERT head")
STEPS = (*STEPS, *APPEND, "heads write")
ENDS = "guard pwrite"


def recover(root: Path, key: Ed25519PrivateKey, name: str) -> Started:
    """As `sealedshoe recover` does it: the old log published beside, the new one in an empty directory."""
    old = house_at(root)
    new = successor_config(old, root / name, ORIGIN)
    now_us = time.time_ns() // 1000
    return start_successor(old, new, key, None, root / f"{name}-old", now_us, os.urandom)


class Recorded:
    """A log with stakes on open shoes, and one recovery of it with an image at every step."""

    before: Image
    moments: ClassVar[dict[tuple[str, str], Image]] = {}
    ledger: Ledger
    key: Ed25519PrivateKey

    @classmethod
    async def make(cls, root: Path) -> None:
        """Plays, leaves two wagers standing, and recovers; once."""
        if cls.moments:
            return
        cls.ledger = Ledger()
        await Base.put(root)
        async with started(root) as server:
            await play(server, cls.ledger)
            for table in ("a", "b"):
                await server.place(wager(f"standing-{table}"), table=table)
        cls.before, cls.key = take_image(root), root_key(root / "data")

        def watch(step: str, when: str) -> None:
            if (step, when) not in cls.moments:
                cls.moments[step, when] = take_image(root)

        with disk_at(root) as disk:
            disk.watch = watch
            recover(root, cls.key, "next")


async def holds(root: Path) -> None:
    """What is on the disk leads to one successor that has everything of the old log."""
    data, ledger = root / "data", Recorded.ledger
    entries = stored_entries(data)
    check_heads(data, ledger)
    done = recover(root, Recorded.key, "again")
    assert (done.predecessor.size, done.revealed, done.lost_seeds) == (len(entries), 3, 0)
    assert done.stakes_returned == 2
    with pytest.raises(StoreRefused, match="has ended: another one succeeded it"):
        async with started(root):
            pass
    gc.collect()
    published = {
        path.relative_to(root / "again-old").as_posix(): path.read_bytes()
        for path in (root / "again-old").rglob("*")
        if path.is_file()
    }
    assert tile_files(entries).items() <= published.items()
    first, *revealed = stored_records(root / "again")
    assert isinstance(first, pb.LogStarted)
    assert first.predecessor == done.predecessor
    assert [len(r.returned) for r in revealed if isinstance(r, pb.PredecessorShoeRevealed)] == [
        1,
        1,
        0,
    ]


async def stopped_at(step: str, when: str, root: Path) -> None:
    """Before the end is marked, the old log goes on; else only its successor does."""
    await Recorded.make(root / "recorded")
    row = put_image(Recorded.moments[step, when], root / "row")
    if (step, when) == (ENDS, "before"):
        async with started(put_image(Recorded.moments[step, when], root / "goes-on")) as server:
            await check(server, Recorded.ledger)
    await holds(row)


async def fails_at(fault: Fault, root: Path) -> None:
    """The command says so; started again on empty directories, it makes the one successor."""
    await Recorded.make(root / "recorded")
    row = put_image(Recorded.before, root / "row")
    with disk_at(row) as disk:
        disk.fails(fault)
        with pytest.raises((OSError, StorageFailed, StoreRefused)):
            recover(row, Recorded.key, "next")
        assert disk.struck
    gc.collect()
    if (row / "next").exists() and any((row / "next").glob("keys/*")):
        with pytest.raises(DataDirError, match="not empty"):
            recover(row, Recorded.key, "next")
    await holds(row)


ROWS = [
    *(
        Row("recover", f"stop {when} {step}", "kept", partial(stopped_at, step, when))
        for step in STEPS
        for when in ("before", "after")
    ),
    *(
        Row("recover", f"{s}: error, {what}", "kept", partial(fails_at, Fault(s, how)))
        for s in STEPS
        for what, how in (("not written", "lost"), ("written", "applied"))
    ),
    *(
        Row("recover", f"{s}: disk full", "kept", partial(fails_at, Fault(s, "torn", errno.ENOSPC)))
        for s in STEPS
        if s.endswith("write")
    ),
    *(
        Row(
            "recover",
            f"the new log's {s}: error, {what}",
            "kept",
            partial(fails_at, Fault(s, how, nth=2)),
        )
        for s in GUARD
        for what, how in (("not written", "lost"), ("written", "applied"))
    ),
]
