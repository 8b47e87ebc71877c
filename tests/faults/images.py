"""What lies on a disk at one instant: taken without stopping anybody, and put down somewhere else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from sealedshoe_rng import OsSource
from sealedshoe_server.config import Config
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from tests.server.copies import config_of
from tests.server.reading import audit_log
from tests.server.running import Running, start_server

GAME = "punto-banco-6d"  # every round has a shoe of its own: each deal writes every table there is
TABLES = ("a", "b", "c")
NEARLY_A_TILE = 240  # the deals after the first go over leaf 256: a full tile, a hash above it
Image = dict[str, bytes]


def take_image(root: Path) -> Image:
    """Every file but SQLite's shared memory, which no crash leaves valid, and sockets' addresses."""
    files = (path for path in root.rglob("*") if path.is_file())
    kept = (path for path in files if not path.name.endswith(("-shm", "lock", "server.json")))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


def put_image(image: Image, root: Path) -> Path:
    """Writes the files, readable by nobody else."""
    for name, data in image.items():
        path = root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o600)
    return root


def house_at(root: Path, **settings: object) -> Config:
    """Settings of the server whose data lie below a directory."""
    return config_of(root / "data", **settings)  # type: ignore[arg-type]


@asynccontextmanager
async def started(root: Path, **settings: object) -> AsyncIterator[Running]:
    """A server on what lies below a directory; stopped at the end, and its whole log audited."""
    server = await start_server(house_at(root, **settings), OsSource(), bare=True)
    try:
        yield server
    except BaseException:
        await abandon(server)
        raise
    if not server.stopped:
        await stop(server)


async def stop(server: Running) -> None:
    """Stops it and audits its whole log; a seed drawn for an append that failed leaves its notice."""
    note = (await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest())).checkpoint
    server.stopped = True
    await server.channel.close()
    await server.server.stop()
    report = audit_log(server.data_dir, note)
    assert report.valid, report.findings
    assert {str(finding.code) for finding in report.findings} <= {"SHOE_COUNTER_GAP"}


async def abandon(server: Running) -> None:
    """Ends a server as its process would end: nothing is finished."""
    server.stopped = True
    inner: Any = server.server
    await server.channel.close()
    await inner._listeners.close_grpc()
    await inner._release()


class Base:
    """Images that rows start from, each made once: three tables, and a log of so many leaves."""

    images: ClassVar[dict[int, Image]] = {}

    @classmethod
    async def put(cls, root: Path, size: int = 0) -> Path:
        """Puts one below a directory; makes it there when it was not made before."""
        if size in cls.images:
            return put_image(cls.images[size], root)
        async with started(root) as server:
            await server.install(GAME)
            for table in TABLES:
                await server.open_table(table, GAME)
            while await server.size() < size:
                await server.deal("c")
        cls.images[size] = take_image(root)
        return root
