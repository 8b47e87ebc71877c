"""Faults of the disk while rounds are played: at every statement, write, sync and signature of an append.

A process that stops leaves its files as they are at that instant: one run takes an image before and after
every step, and each row starts a server on one of them. A step that fails is met by the running server:
callers are told STORAGE_FAILED, ask again with their ids, and find what was committed.
"""

import asyncio
import errno
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_server.heads import CheckpointKey
from tests.faults.disk import Disk, Fault, disk_at
from tests.faults.images import NEARLY_A_TILE, Base, Image, put_image, started, take_image
from tests.faults.load import Ledger, ask, check, play
from tests.faults.row import Row
from tests.server.running import Running

SQL = (
    "BEGIN",
    "INSERT entries",
    "INSERT tile_hashes",
    "INSERT heads",
    "UPDATE head",
    "UPDATE tables",
    "INSERT rounds",
    "UPDATE rounds",
    "INSERT shoes",
    "UPDATE shoes",
    "INSERT players",
    "INSERT requests",
    "COMMIT",
)
READS = (
    "SELECT entries",
    "SELECT head",
    "SELECT heads",
    "SELECT requests",
    "SELECT rounds",
    "SELECT shoes",
    "SELECT tables",
)
FILES = ("guard pwrite", "guard fdatasync", "heads write")
STEPS = (*SQL, "checkpoint sign", *FILES, "release")
STOPS = [(step, when) for step in STEPS for when in ("before", "after")]
Moments = dict[tuple[str, str], tuple[Image, Ledger]]


class SigningKey:
    """A checkpoint key whose use is a step of the disk."""

    def __init__(self, key: Ed25519PrivateKey, disk: Disk) -> None:
        self._key, self._disk = key, disk

    def sign(self, data: bytes) -> Any:
        """The key's own signature."""
        return self._disk.step("checkpoint sign", partial(self._key.sign, data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._key, name)


def watch_whole_append(server: Running, disk: Disk) -> None:
    """Makes steps also of signing and releasing a head."""
    inner: Any = server.server
    made = [(k.first_size, SigningKey(k.private_key, disk)) for k in inner._signer.keys]
    inner._signer.keys = tuple(CheckpointKey(size, key) for size, key in made)  # type: ignore[arg-type]
    inner._writer.on_publish = partial(disk.step, "release", inner._writer.on_publish)


def leaves_for(step: str) -> int:
    """How long the log must be before a step comes."""
    return NEARLY_A_TILE if step == "INSERT tile_hashes" else 0


class Recorded:
    """The runs that the stops are taken from: on a new log, and on one that is about to fill a tile."""

    moments: ClassVar[dict[int, Moments]] = {}

    @classmethod
    async def moment(cls, root: Path, step: str, when: str) -> tuple[Image, Ledger]:
        """What lay on the disk then, and what front-ends knew."""
        size = leaves_for(step)
        if size not in cls.moments:
            cls.moments[size] = await record(root, size)
        return cls.moments[size][step, when]


async def record(root: Path, size: int) -> Moments:
    """Plays two tables and takes an image the first time that each step is taken, before and after."""
    moments: Moments = {}
    await Base.put(root, size)
    ledger = Ledger()
    with disk_at(root) as disk:

        def watch(step: str, when: str) -> None:
            if (step, when) not in moments:
                moments[step, when] = take_image(root), ledger.copy()

        async with started(root) as server:
            watch_whole_append(server, disk)
            await play(server, ledger, "w", rounds=1)
            disk.watch = watch
            await play(server, ledger)
            disk.watch = lambda _step, _when: None
    return moments


async def stopped_at(step: str, when: str, root: Path) -> None:
    """A server that starts on the image has every answer, finishes what was asked, and goes on."""
    image, ledger = await Recorded.moment(root / "recorded", step, when)
    known = ledger.copy()
    assert known.answers
    async with started(put_image(image, root / "row")) as server:
        await check(server, known)
        for request_id in known.requests.keys() - known.answers.keys():
            await ask(server, known, *known.requests[request_id])
        await play(server, known, "later", rounds=1)
        assert known.reasons == set()
        await check(server, known)


async def fails_at(fault: Fault, root: Path) -> None:
    """Callers are refused, ask again, are answered; a server that starts afterwards has it all."""
    await Base.put(root, leaves_for(fault.step))
    ledger = Ledger()
    with disk_at(root) as disk:
        async with started(root) as server:
            watch_whole_append(server, disk)
            await play(server, ledger, "w", rounds=1)
            disk.fails(fault)
            kicked = mend_after_refusals(server, disk, ledger)
            await play(server, ledger)
            struck = disk.struck
            disk.fails(None)
            await asyncio.gather(*kicked)
            await check(server, ledger)
    assert struck > 0
    assert ledger.reasons <= {"STORAGE_FAILED"}, ledger.reasons
    if (fault.step, fault.how) == ("guard pwrite", "short"):
        assert ledger.reasons, "an answer left before the guard had its head"
    async with started(root) as again:
        await check(again, ledger)
        await play(again, ledger, "later", rounds=1)


async def is_full(root: Path) -> None:
    """SQLite itself finds no page more, in the middle of a long play; freed, every id finds its end."""
    await Base.put(root)
    ledger, refusals = Ledger(), [0]
    with disk_at(root) as disk:
        async with started(root) as server:
            await play(server, ledger, "w", rounds=1)
            disk.fill()

            def freed_after_three() -> None:
                refusals[0] += 1
                disk.full = refusals[0] < 3

            ledger.on_refusal = freed_after_three
            await play(server, ledger, rounds=12)
            await check(server, ledger)
    assert refusals[0] >= 3
    assert ledger.reasons == {"STORAGE_FAILED"}
    async with started(root) as again:
        await check(again, ledger)


def mend_after_refusals(server: Running, disk: Disk, ledger: Ledger) -> list[asyncio.Task[Any]]:
    """The disk works again after the third refusal, and another table deals: the log is written again."""
    refusals, tasks = [0], list[asyncio.Task[Any]]()

    def count() -> None:
        refusals[0] += 1
        if refusals[0] == 3:
            disk.fault = None
            tasks.append(asyncio.create_task(server.deal("c")))

    ledger.on_refusal = count
    return tasks


def failures() -> list[tuple[str, Fault]]:
    """Every step lost, and reported failed though it was taken; on a broken and on a full disk."""
    found: list[tuple[str, Fault]] = []
    for step in (*SQL, *FILES):
        found.append(("input/output error, not written", Fault(step)))
        found.append(("input/output error, written", Fault(step, "applied")))
        found.append(("input/output errors that stay", Fault(step, lasts=True)))
        found.append(("disk full", Fault(step, code=errno.ENOSPC)))
    for step in ("guard pwrite", "heads write"):
        found.append(("disk full within the write", Fault(step, "torn", errno.ENOSPC)))
        found.append(("short write", Fault(step, "short", nth=2)))
    found.append(("fails before", Fault("checkpoint sign")))
    found.append(("fails after", Fault("checkpoint sign", "applied")))
    return found


ROWS = [
    Row("play", "the database cannot grow", "kept", is_full),
    *(Row("play", f"stop {w} {s}", "kept", partial(stopped_at, s, w)) for s, w in STOPS),
    *(Row("play", f"{f.step}: {what}", "kept", partial(fails_at, f)) for what, f in failures()),
    *(
        Row("play", f"{step}: input/output error", "kept", partial(fails_at, Fault(step)))
        for step in READS
    ),
]
