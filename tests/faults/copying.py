"""Faults of a mirror and of an export, at every write, sync, rename and removal of a file."""

import asyncio
import errno
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

import grpc
import pytest

from sealedshoe_audit.mirror.mirror import Mirror
from sealedshoe_server.export import ExportFailed, export_log
from tests.audit.mirrored import TRUST, files_at, files_in, note_at, source_at
from tests.faults.disk import Fault, disk_at
from tests.faults.images import NEARLY_A_TILE, Base, Image, put_image, started, take_image
from tests.faults.load import Ledger, play
from tests.faults.row import Row
from tests.server.reading import stored_entries, tile_files
from tests.server.running import Running

OLD, NEW = 250, 300
WRITTEN = tuple(
    f"{name} {act}"
    for name in ("bundle", "tile", "checkpoint")
    for act in ("write", "fsync", "rename")
)
EXPORT = (*WRITTEN, "directory fsync")
MIRROR = ("heads write", "heads fsync", *EXPORT, "bundle unlink", "tile unlink")


class Recorded:
    """A mirror that follows from 250 leaves to 300, with an image at every step."""

    moments: ClassVar[dict[tuple[str, str], Image]] = {}

    @classmethod
    def image(cls, root: Path, step: str, when: str) -> Image:
        """What lay on the disk then."""
        if not cls.moments:
            mirror = Mirror(root, TRUST)
            mirror.follow(source_at(OLD))
            with disk_at(root) as disk:
                disk.watch = lambda s, w: cls.moments.setdefault((s, w), take_image(root)) and None
                mirror.follow(source_at(NEW))
        return cls.moments[step, when]


async def mirror_stopped_at(step: str, when: str, root: Path) -> None:
    """It takes up its position, whose files are whole, and follows to the log's own files."""
    row = put_image(Recorded.image(root / "recorded", step, when), root / "row")
    mirror = Mirror(row, TRUST)
    assert files_in(row)["checkpoint"] == note_at(mirror.size)
    assert mirror.size in (OLD, NEW)
    mirror.follow(source_at(NEW))
    assert files_at(NEW).items() <= files_in(row).items()


async def mirror_fails_at(fault: Fault, root: Path) -> None:
    """The position stays; the same mirror goes on once the disk is whole, and so does a new one."""
    first, second = root / "mirror", root / "copy"
    mirror = Mirror(first, TRUST)
    mirror.follow(source_at(OLD))
    with disk_at(first) as disk:
        disk.fails(fault)
        with pytest.raises(OSError, match=r"Input/output|No space"):
            mirror.follow(source_at(NEW))
        assert disk.struck
    shutil.copytree(first, second)
    again = Mirror(second, TRUST)
    assert again.size in (OLD, NEW)
    for one, directory in ((mirror, first), (again, second)):
        one.follow(source_at(NEW))
        assert files_at(NEW).items() <= files_in(directory).items()
        assert Mirror(directory, TRUST).size == NEW


async def export(server: Running, directory: Path) -> int:
    """Exports in a thread, as the command line does in a process."""

    def work() -> int:
        with grpc.insecure_channel(server.server.addresses["grpc"]) as channel:
            return export_log(channel, directory)

    return await asyncio.to_thread(work)


async def on_a_grown_export(root: Path, act: Callable[[Running, Path], object]) -> None:
    """A log that went over a full tile since its last export."""
    await Base.put(root, NEARLY_A_TILE)
    async with started(root) as server:
        await export(server, root / "out")
        await play(server, Ledger(), rounds=3)
        await act(server, root / "out")  # type: ignore[misc]


async def is_whole(server: Running, directory: Path) -> None:
    """It has every file of the log, worked out here from the log's entries."""
    size = await export(server, directory)
    expected = tile_files(stored_entries(server.data_dir)[:size])
    assert expected.items() <= files_in(directory).items()


async def export_stopped_at(step: str, when: str, root: Path) -> None:
    """The next export goes on from it."""

    async def act(server: Running, out: Path) -> None:
        moments: dict[tuple[str, str], Image] = {}
        with disk_at(out) as disk:
            disk.watch = lambda s, w: moments.setdefault((s, w), take_image(out)) and None
            await export(server, out)
        await is_whole(server, put_image(moments[step, when], root / "row"))

    await on_a_grown_export(root, act)


async def export_fails_at(fault: Fault, root: Path) -> None:
    """It says so; the next one makes it whole."""

    async def act(server: Running, out: Path) -> None:
        with disk_at(out) as disk:
            disk.fails(fault)
            with pytest.raises(OSError, match=r"Input/output|No space"):
                await export(server, out)
            assert disk.struck
        await is_whole(server, out)

    await on_a_grown_export(root, act)


async def first_export_stopped(root: Path) -> None:
    """Without a checkpoint it is no export yet: refused, with the way out; an empty directory works."""
    await Base.put(root)
    async with started(root) as server:
        with disk_at(root / "out") as disk:
            disk.fails(Fault("checkpoint write"))
            with pytest.raises(OSError, match="Input/output"):
                await export(server, root / "out")
        with pytest.raises(ExportFailed, match="not empty, and no export"):
            await export(server, root / "out")
        await is_whole(server, root / "other")


def faults(steps: tuple[str, ...]) -> list[tuple[str, Fault]]:
    """Each step lost and applied; each write also on a full disk, torn within."""
    found: list[tuple[str, Fault]] = []
    for step in steps:
        found.append(("error, not written", Fault(step)))
        found.append(("error, written", Fault(step, "applied")))
        if step.endswith("write"):
            found.append(("disk full within", Fault(step, "torn", errno.ENOSPC)))
    return found


BOTH = ("before", "after")
ROWS = [
    *(
        Row("mirror", f"stop {w} {s}", "kept", partial(mirror_stopped_at, s, w))
        for s in MIRROR
        for w in BOTH
    ),
    *(
        Row("mirror", f"{f.step}: {t}", "kept", partial(mirror_fails_at, f))
        for t, f in faults(MIRROR)
    ),
    *(
        Row("export", f"stop {w} {s}", "kept", partial(export_stopped_at, s, w))
        for s in EXPORT
        for w in BOTH
    ),
    *(
        Row("export", f"{f.step}: {t}", "kept", partial(export_fails_at, f))
        for t, f in faults(EXPORT)
    ),
    Row("export", "the first one is cut off", "not empty, and no export", first_export_stopped),
]
