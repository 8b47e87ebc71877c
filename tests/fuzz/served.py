"""The paths of tiles and bundles as the server's HTTP port reads them."""

from typing import Any, cast

from sealedshoe_audit.log.tiles import bundle_path, tile_path
from sealedshoe_server.http import LogFiles
from tests.fuzz.targets import same

SERVED_SIZE = 1 << 62  # a log so large that nearly every well-formed path is implied by its head


class _Leaves:
    """A store that says what it was asked for."""

    def __init__(self) -> None:
        self.asked = ""

    def read(self, first: int, count: int) -> list[bytes]:
        same(first % 256, 0)
        self.asked = bundle_path(first // 256, count)
        return []

    def tile(self, level: int, index: int, width: int) -> bytes:
        self.asked = tile_path(level, index, width)
        return b""


class _Head:
    """A log writer whose published head is of the served size."""

    size = SERVED_SIZE

    @property
    def published(self) -> "_Head":
        return self

    @property
    def head(self) -> "_Head":
        return self


def _served(path: str) -> str:
    """Returns the path of what is served for a path below tile/; "" for nothing."""
    leaves = _Leaves()
    found = LogFiles(cast("Any", leaves), cast("Any", _Head())).tile(path)
    same(found is None, not leaves.asked)
    return leaves.asked


def check_path(data: bytes) -> None:
    """A path that is answered is the one path of its tile; and every tile's own path is answered."""
    text = data.decode("utf-8", "surrogateescape")
    same(_served(text) in ("", f"tile/{text}"), True)
    level, width = (data[0] % 7, data[1] % 255 + 1) if len(data) > 1 else (0, 256)
    index = int.from_bytes(data[2:8], "big") % (SERVED_SIZE >> (8 * level + 9))
    for name in (tile_path(level, index, width), bundle_path(index, width)):
        same(_served(name.removeprefix("tile/")), name)
