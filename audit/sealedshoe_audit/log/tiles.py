"""Tiles and entry bundles (C2SP tlog-tiles v0.1.0): paths, contents and how a log is cut into them."""

from collections.abc import Iterator

from sealedshoe_audit.errors import Code, VerificationError

TILE_WIDTH = 256
MAX_ENTRY_BYTES = 0xFFFF


def tile_path(level: int, index: int, width: int = TILE_WIDTH) -> str:
    """Returns `tile/<L>/<N>[.p/<W>]`."""
    return f"tile/{level}/{index_path(index)}{_partial(width)}"


def bundle_path(index: int, width: int = TILE_WIDTH) -> str:
    """Returns `tile/entries/<N>[.p/<W>]`."""
    return f"tile/entries/{index_path(index)}{_partial(width)}"


def index_path(index: int) -> str:
    """Groups of three digits, all but the last with an x in front: 1234067 is x001/x234/067."""
    groups = [f"{index % 1000:03d}"]
    while index >= 1000:
        index //= 1000
        groups.append(f"x{index % 1000:03d}")
    return "/".join(reversed(groups))


def _partial(width: int) -> str:
    return "" if width == TILE_WIDTH else f".p/{width}"


def tiles_of(hashes: int) -> Iterator[tuple[int, int]]:
    """Yields (index, width) of the tiles that hold so many hashes: full ones, then a partial one."""
    full, rest = divmod(hashes, TILE_WIDTH)
    for index in range(full):
        yield index, TILE_WIDTH
    if rest:
        yield full, rest


def edge_tiles(size: int) -> Iterator[tuple[int, int, int]]:
    """Yields (level, index, width) of the tile at the right edge of every level; width 0: none is begun."""
    level = 0
    while size:
        index, width = divmod(size, TILE_WIDTH)
        yield level, index, width
        level, size = level + 1, index


def hash_tiles(size: int) -> Iterator[tuple[int, int, int]]:
    """Yields (level, index, width) of every hash tile of a tree."""
    level, hashes = 0, size
    while hashes:
        for index, width in tiles_of(hashes):
            yield level, index, width
        level, hashes = level + 1, hashes // TILE_WIDTH


def pack_bundle(entries: list[bytes]) -> bytes:
    """Returns a bundle: each entry behind its big-endian uint16 length.

    Raises:
        ValueError: an entry is longer than 65,535 bytes.
    """
    parts: list[bytes] = []
    for entry in entries:
        if len(entry) > MAX_ENTRY_BYTES:
            raise ValueError(f"an entry is at most {MAX_ENTRY_BYTES} bytes, not {len(entry)}")
        parts += [len(entry).to_bytes(2, "big"), entry]
    return b"".join(parts)


def parse_bundle(data: bytes, width: int) -> list[bytes]:
    """Returns the `width` entries of a bundle, which must be all of it.

    Raises:
        VerificationError: PARSE.
    """
    entries: list[bytes] = []
    offset = 0
    for _ in range(width):
        end = offset + 2 + int.from_bytes(data[offset : offset + 2], "big")
        if offset + 2 > len(data) or end > len(data):
            break
        entries.append(data[offset + 2 : end])
        offset = end
    if len(entries) != width or offset != len(data):
        raise VerificationError(
            Code.PARSE, expected=f"a bundle of {width} entries", found=f"{len(data)} bytes"
        )
    return entries
