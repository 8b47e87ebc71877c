"""The files that a grown log adds: full tiles and bundles for good, partial ones for its new size."""

from collections.abc import Callable, Iterable, Iterator

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import Frontier, leaf_hash, split_hashes
from sealedshoe_audit.log.reader import LogSource, leads_to_edge, read_required
from sealedshoe_audit.log.tiles import (
    TILE_WIDTH,
    bundle_path,
    edge_tiles,
    pack_bundle,
    parse_bundle,
    tile_path,
)

# Returns the content of a file that the log has already, or None.
ReadFile = Callable[[str], bytes | None]


def grown_files(
    frontier: Frontier, entries: Iterable[bytes], read: ReadFile
) -> Iterator[tuple[str, bytes]]:
    """Yields every file that a log needs once these entries are appended; the frontier moves along.

    Args:
        read: of the log as it stands at the frontier; asked for the partial files at its edge.

    Raises:
        VerificationError: MISSING_FILE, PARSE or TILE_MISMATCH: a partial file at the edge is not what the
            frontier's tree holds; nothing is built upon it.
    """
    levels = _Levels(frontier, read)
    bundle = levels.edge_bundle()
    for entry in entries:
        bundle.append(entry)
        if len(bundle) == TILE_WIDTH:
            yield bundle_path(frontier.size // TILE_WIDTH), pack_bundle(bundle)
            bundle = []
        for level, _, node in frontier.append(leaf_hash(entry)):
            if level % 8 == 0:
                yield from levels.add(level // 8, node)
    if bundle:
        yield bundle_path(frontier.size // TILE_WIDTH, len(bundle)), pack_bundle(bundle)
    yield from levels.partial()


class _Levels:
    """The hash tile at the right edge of each level."""

    def __init__(self, frontier: Frontier, read: ReadFile) -> None:
        self._edge = Frontier(frontier.size, frontier.nodes)
        self._read = read
        self._hashes: list[bytearray] = []
        self._next: list[int] = []
        for level, index, width in edge_tiles(frontier.size):
            path = tile_path(level, index, width)
            data = self._required(path) if width else b""
            self._check(path, index, split_hashes(data), width)
            self._hashes.append(bytearray(data))
            self._next.append(index)

    def _check(self, path: str, index: int, hashes: list[bytes], width: int) -> None:
        level = len(self._hashes)
        if len(hashes) != width or not leads_to_edge(self._edge, level, index, hashes):
            raise VerificationError(
                Code.TILE_MISMATCH, expected="hashes of the entries", found=path
            )

    def _required(self, path: str) -> bytes:
        data = self._read(path)
        if data is None:
            raise VerificationError(Code.MISSING_FILE, expected=path, found="no such file")
        return data

    def edge_bundle(self) -> list[bytes]:
        """Returns the entries of the partial bundle at the edge."""
        index, width = divmod(self._edge.size, TILE_WIDTH)
        if not width:
            return []
        path = bundle_path(index, width)
        entries = parse_bundle(self._required(path), width)
        if not leads_to_edge(self._edge, 0, index, [leaf_hash(entry) for entry in entries]):
            raise VerificationError(Code.TILE_MISMATCH, expected="entries of the tree", found=path)
        return entries

    def add(self, level: int, node: bytes) -> Iterator[tuple[str, bytes]]:
        """Takes a hash; yields the tile that it completes."""
        if level == len(self._hashes):
            self._hashes.append(bytearray())
            self._next.append(0)
        self._hashes[level] += node
        if len(self._hashes[level]) == TILE_WIDTH * 32:
            yield tile_path(level, self._next[level]), bytes(self._hashes[level])
            self._hashes[level] = bytearray()
            self._next[level] += 1

    def partial(self) -> Iterator[tuple[str, bytes]]:
        """Yields the tiles that are not full."""
        for level, hashes in enumerate(self._hashes):
            if hashes:
                yield tile_path(level, self._next[level], len(hashes) // 32), bytes(hashes)


def edge_of(source: LogSource, size: int) -> Frontier:
    """Rebuilds the right edge of a published log from the hash tiles at it; check its root.

    Raises:
        VerificationError: MISSING_FILE or TILE_MISMATCH.
    """
    nodes: list[bytes] = []
    for level, index, width in edge_tiles(size):
        part = Frontier()
        if width:
            for node in split_hashes(read_required(source, tile_path(level, index, width))):
                part.append(node)
        nodes = part.nodes + nodes
    try:
        return Frontier(size, nodes)
    except ValueError as error:
        raise VerificationError(
            Code.TILE_MISMATCH, expected=f"the edge of {size} leaves", found="torn tiles"
        ) from error
