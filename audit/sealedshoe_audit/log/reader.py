"""Reads a published log: entries in order, every tile compared, the root against the checkpoint."""

from collections.abc import Iterator
from typing import Protocol

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, verify_checkpoint
from sealedshoe_audit.log.merkle import HASH_BYTES, Frontier, split_hashes
from sealedshoe_audit.log.tiles import (
    TILE_WIDTH,
    bundle_path,
    edge_tiles,
    parse_bundle,
    tile_path,
    tiles_of,
)
from sealedshoe_audit.trust import Trust


class LogSource(Protocol):
    """Where a log's files come from: a directory, or an HTTP prefix."""

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, or None when there is none at that path."""
        ...


def read_head(source: LogSource, trust: Trust) -> tuple[bytes, VerifiedCheckpoint]:
    """Returns the log's head: the note, and what it says once verified.

    Raises:
        VerificationError: MISSING_FILE, or as `verify_checkpoint`.
    """
    note = read_required(source, "checkpoint")
    return note, verify_checkpoint(note, trust)


def read_bundles(source: LogSource, size: int, start: int = 0) -> Iterator[list[bytes]]:
    """Yields the entries from `start` to `size` in order, as many at a time as a bundle holds.

    Raises:
        VerificationError: MISSING_FILE or PARSE.
    """
    for index, width in tiles_of(size):
        if (index + 1) * TILE_WIDTH > start:
            entries = parse_bundle(read_required(source, bundle_path(index, width)), width)
            yield entries[max(0, start - index * TILE_WIDTH) :]


def read_entries(source: LogSource, size: int, start: int = 0) -> Iterator[bytes]:
    """Yields the entries from `start` to `size` in order.

    Raises:
        VerificationError: MISSING_FILE or PARSE.
    """
    for entries in read_bundles(source, size, start):
        yield from entries


def read_required(source: LogSource, path: str) -> bytes:
    """Returns a file's bytes.

    Raises:
        VerificationError: MISSING_FILE.
    """
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

    @classmethod
    def at(cls, source: LogSource, size: int, edge: Frontier) -> "TileCheck":
        """Starts at the edge of leaves that were verified before.

        Args:
            size: of the whole log; its tiles begin with what the edge's tiles held.

        Raises:
            VerificationError: MISSING_FILE or TILE_MISMATCH.
        """
        check = cls(source)
        for level, index, width in edge_tiles(edge.size):
            check._take_up(level, index, width, size, edge)
        return check

    def _take_up(self, level: int, index: int, width: int, size: int, edge: Frontier) -> None:
        """Reads the part of a level's last tile that lies before the edge, and checks it against the edge."""
        hashes: list[bytes] = []
        if width:
            now = min(TILE_WIDTH, (size >> (8 * level)) - index * TILE_WIDTH)
            path = tile_path(level, index, now)
            hashes = split_hashes(read_required(self._source, path)[: width * HASH_BYTES])
            if len(hashes) != width or not leads_to_edge(edge, level, index, hashes):
                raise _mismatch(path)
        self._levels.append(hashes)
        self._next.append(index)

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
        if read_required(self._source, path) != b"".join(hashes):
            raise _mismatch(path)
        self.compared += 1


def leads_to_edge(edge: Frontier, level: int, index: int, hashes: list[bytes]) -> bool:
    """Whether the start of a tile hashes to the complete subtrees at a tree's edge."""
    known, part = edge.complete(), Frontier()
    for node in hashes:
        part.append(node)
    first = index * TILE_WIDTH
    return all(
        known.get((8 * level + rise, (first >> rise) + place)) == node
        for (rise, place), node in part.complete().items()
    )


def _mismatch(path: str) -> VerificationError:
    return VerificationError(Code.TILE_MISMATCH, expected="hashes of the entries", found=path)
