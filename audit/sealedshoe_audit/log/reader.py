"""Reads a published log: entries in order, every tile compared, the root against the checkpoint."""

from collections.abc import Iterator
from typing import Protocol

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.tiles import (
    TILE_WIDTH,
    bundle_path,
    parse_bundle,
    tile_path,
    tiles_of,
)


class LogSource(Protocol):
    """Where a log's files come from: a directory, or an HTTP prefix."""

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, or None when there is none at that path."""
        ...


def read_entries(source: LogSource, size: int) -> Iterator[bytes]:
    """Yields the first `size` entries in order.

    Raises:
        VerificationError: MISSING_FILE or PARSE.
    """
    for index, width in tiles_of(size):
        path = bundle_path(index, width)
        yield from parse_bundle(_required(source, path), width)


def _required(source: LogSource, path: str) -> bytes:
    data = source.read(path)
    if data is None:
        raise VerificationError(Code.MISSING_FILE, expected=path, found="no such file")
    return data


class TileCheck:
    """Rebuilds the hash tiles from the leaves as they come and compares each with the published one."""

    def __init__(self, source: LogSource) -> None:
        """Starts before the first leaf."""
        self._source = source
        self._levels: list[list[bytes]] = []
        self._next: list[int] = []
        self.compared = 0

    def completed(self, level: int, node: bytes) -> None:
        """Takes the hash of a subtree of 2^level leaves, in order; levels divisible by 8 stand in tiles.

        Raises:
            VerificationError: MISSING_FILE or TILE_MISMATCH.
        """
        if level % 8:
            return
        tile_level = level // 8
        if tile_level == len(self._levels):
            self._levels.append([])
            self._next.append(0)
        hashes = self._levels[tile_level]
        hashes.append(node)
        if len(hashes) == TILE_WIDTH:
            self._compare(tile_level)

    def finish(self) -> None:
        """Compares the partial tiles at the right edge.

        Raises:
            VerificationError: MISSING_FILE or TILE_MISMATCH.
        """
        for tile_level, hashes in enumerate(self._levels):
            if hashes:
                self._compare(tile_level)

    def _compare(self, tile_level: int) -> None:
        hashes = self._levels[tile_level]
        path = tile_path(tile_level, self._next[tile_level], len(hashes))
        self._levels[tile_level] = []
        self._next[tile_level] += 1
        if _required(self._source, path) != b"".join(hashes):
            raise VerificationError(
                Code.TILE_MISMATCH, expected="hashes of the entries", found=path
            )
        self.compared += 1
