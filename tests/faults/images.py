"""What lies on a disk at one instant: taken without stopping anybody, and put down somewhere else."""

from pathlib import Path

from sealedshoe_rng import OsSource
from sealedshoe_server.config import Config
from tests.server.copies import config_of
from tests.server.running import Running, start_server

GAME = "punto-banco-6d"  # every round has a shoe of its own: each deal writes every table there is
TABLES = ("a", "b", "c")
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


async def started(root: Path, **settings: object) -> Running:
    """A server on what lies below a directory."""
    return await start_server(house_at(root, **settings), OsSource(), bare=True)


class Base:
    """The image that most rows start from, made once: three tables, 240 leaves or a few more.

    The deals after the first go over leaf 256: the first full tile and the first hash above it.
    """

    image: Image | None = None

    @classmethod
    async def put(cls, root: Path) -> Path:
        """Puts it below a directory; makes it there when it was not made before."""
        if cls.image is None:
            server = await started(root)
            await server.install(GAME)
            for table in TABLES:
                await server.open_table(table, GAME)
            while await server.size() < 240:
                await server.deal("c")
            await server.stop()
            cls.image = take_image(root)
            return root
        return put_image(cls.image, root)
