"""Hashes of a published log's subtrees, from its hash tiles: enough for any proof without its entries."""

from functools import lru_cache

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import (
    HASH_BYTES,
    consistency_ranges,
    inclusion_ranges,
    node_hash,
    range_hash,
    split_hashes,
)
from sealedshoe_audit.log.reader import LogSource, read_required
from sealedshoe_audit.log.tiles import TILE_WIDTH, tile_path

TILES_KEPT = 1024


class TileHashes:
    """Proofs out of a log of one size; verify them: tiles can lie."""

    def __init__(self, source: LogSource, size: int) -> None:
        """Reads tiles as they are needed."""
        self._source = source
        self._size = size
        self._tile = lru_cache(TILES_KEPT)(self._read_tile)

    def _read_tile(self, level: int, index: int) -> list[bytes]:
        width = min(TILE_WIDTH, (self._size >> (8 * level)) - index * TILE_WIDTH)
        path = tile_path(level, index, width)
        data = read_required(self._source, path)
        if len(data) != width * HASH_BYTES:
            raise VerificationError(
                Code.TILE_MISMATCH, expected=f"{width} hashes", found=f"{len(data)} bytes in {path}"
            )
        return split_hashes(data)

    def complete(self, level: int, index: int) -> bytes:
        """Returns the hash of a complete subtree.

        Raises:
            VerificationError: MISSING_FILE or TILE_MISMATCH.
        """
        tile_level, rise = divmod(level, 8)
        first = index << rise
        hashes = self._tile(tile_level, first // TILE_WIDTH)
        start = first % TILE_WIDTH
        hashes = hashes[start : start + (1 << rise)]
        while len(hashes) > 1:
            hashes = [node_hash(*hashes[i : i + 2]) for i in range(0, len(hashes), 2)]
        return hashes[0]

    def inclusion_path(self, index: int) -> list[bytes]:
        """Returns the sibling hashes from a leaf to the root."""
        return [range_hash(*r, self.complete) for r in inclusion_ranges(index, self._size)]

    def consistency_proof(self, old: int) -> list[bytes]:
        """Returns the proof that the tree begins with one of `old` leaves."""
        return [range_hash(*r, self.complete) for r in consistency_ranges(old, self._size)]
