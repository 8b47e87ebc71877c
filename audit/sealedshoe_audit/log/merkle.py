"""The RFC 6962 Merkle tree (section 2.1) over SHA-256.

A subtree is named by the half-open range [low, high) of the leaves below it. Proofs are lists of such
ranges first, and of hashes only once a source of subtree hashes is asked; both sides of a proof share
the ranges, so that prover and verifier cannot disagree about its shape.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from sealedshoe_audit.errors import Code, VerificationError

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

Range = tuple[int, int]
# Hash of the complete subtree over leaves [index << level, (index + 1) << level).
CompleteHash = Callable[[int, int], bytes]


def leaf_hash(entry: bytes) -> bytes:
    """SHA-256(00 || entry)."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(01 || left || right)."""
    return sha256(b"\x01" + left + right).digest()


def subtree_bounds(low: int, high: int) -> tuple[Range, Range]:
    """Splits a range of two leaves or more at the largest power of two below its width."""
    split = low + (1 << (high - low - 1).bit_length() - 1)
    return (low, split), (split, high)


def outside_range(start: int, end: int, size: int) -> list[Range]:
    """Returns the maximal subtrees of a tree that lie outside [start, end), left to right."""
    outside: list[Range] = []

    def walk(low: int, high: int) -> None:
        if high <= start or low >= end:
            outside.append((low, high))
        elif not (start <= low and high <= end):
            left, right = subtree_bounds(low, high)
            walk(*left)
            walk(*right)

    walk(0, size)
    return outside


class LeafTree:
    """A small tree held in memory, one byte string a level: promoting the odd node is RFC 6962's shape."""

    __slots__ = ("_levels", "root", "size")

    def __init__(self, leaf_hashes: Sequence[bytes]) -> None:
        """Builds a tree over one leaf hash or more."""
        self.size = len(leaf_hashes)
        levels = [b"".join(leaf_hashes)]
        nodes = list(leaf_hashes)
        while len(nodes) > 1:
            paired = [
                sha256(b"\x01" + nodes[i] + nodes[i + 1]).digest()
                for i in range(0, len(nodes) - 1, 2)
            ]
            if len(nodes) % 2:
                paired.append(nodes[-1])
            nodes = paired
            levels.append(b"".join(nodes))
        self._levels = tuple(levels)
        self.root = nodes[0]

    def subtree(self, low: int, high: int) -> bytes:
        """Returns the hash of a subtree that the tree's own shape has."""
        level = (high - low - 1).bit_length()
        offset = (low >> level) * HASH_BYTES
        return self._levels[level][offset : offset + HASH_BYTES]

    def outside(self, start: int, end: int) -> list[Range]:
        """Returns the maximal subtrees outside [start, end)."""
        return outside_range(start, end, self.size)


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Returns the sibling subtrees on the way from leaf `index` to the root of a tree of `size`."""
    ranges: list[Range] = []
    low, high = 0, size
    while high - low > 1:
        left, right = subtree_bounds(low, high)
        if index < left[1]:
            ranges.append(right)
            low, high = left
        else:
            ranges.append(left)
            low, high = right
    ranges.reverse()
    return ranges


def consistency_ranges(old: int, new: int) -> list[Range]:
    """Returns the subtrees of the proof that a tree of `new` leaves extends one of `old` (2.1.2)."""
    if old in (0, new):
        return []
    ranges: list[Range] = []
    low, high, whole = 0, new, True
    while high != old:
        left, right = subtree_bounds(low, high)
        if old <= left[1]:
            ranges.append(right)
            low, high = left
        else:
            ranges.append(left)
            low, high, whole = *right, False
    if not whole:
        ranges.append((low, high))
    ranges.reverse()
    return ranges


def range_hash(low: int, high: int, complete: CompleteHash) -> bytes:
    """Returns the hash of a subtree whose low end is aligned, from complete subtrees."""
    width = high - low
    level = width.bit_length() - 1
    if width == 1 << level:
        return complete(level, low >> level)
    left, right = subtree_bounds(low, high)
    return node_hash(range_hash(*left, complete), range_hash(*right, complete))


def root_at(size: int, complete: CompleteHash) -> bytes:
    """Returns the root of the first `size` leaves."""
    return range_hash(0, size, complete) if size else EMPTY_ROOT


def verify_inclusion(
    index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes
) -> None:
    """Checks that a leaf hash stands at `index` of the tree with this size and root.

    Args:
        path: sibling hashes from leaf to root, 32 bytes each.

    Raises:
        VerificationError: INCLUSION.

    Source: RFC 6962, 2.1.1.
    """
    if not 0 <= index < size:
        raise VerificationError(Code.INCLUSION, expected=f"an index below {size}", found=str(index))
    ranges = inclusion_ranges(index, size)
    if len(path) != len(ranges):
        raise VerificationError(
            Code.INCLUSION, expected=f"{len(ranges)} hashes", found=f"{len(path)} hashes"
        )
    node = leaf
    for (low, _), sibling in zip(ranges, path, strict=True):
        node = node_hash(node, sibling) if low > index else node_hash(sibling, node)
    if node != root:
        raise VerificationError(Code.INCLUSION, expected=root.hex(), found=node.hex())


def verify_consistency(
    old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Checks that the tree of `new` leaves begins with the tree of `old` leaves.

    Raises:
        VerificationError: CONSISTENCY.

    Source: RFC 6962, 2.1.2.
    """
    if not 0 <= old <= new:
        raise VerificationError(Code.CONSISTENCY, expected=f"a size from {old}", found=str(new))
    ranges = consistency_ranges(old, new)
    if len(proof) != len(ranges):
        raise VerificationError(
            Code.CONSISTENCY, expected=f"{len(ranges)} hashes", found=f"{len(proof)} hashes"
        )
    if old == 0:
        _expect_root(EMPTY_ROOT, old_root)
    if old == new:
        _expect_root(old_root, new_root)
    if old in (0, new):
        return
    known = dict(zip(ranges, proof, strict=True))
    if old & (old - 1) == 0:
        known[0, old] = old_root
    _expect_root(old_root, _fold_known(0, old, known))
    _expect_root(new_root, _fold_known(0, new, known))


def _expect_root(expected: bytes, found: bytes) -> None:
    if expected != found:
        raise VerificationError(Code.CONSISTENCY, expected=expected.hex(), found=found.hex())


def _fold_known(low: int, high: int, known: dict[Range, bytes]) -> bytes:
    if (low, high) in known:
        return known[low, high]
    left, right = subtree_bounds(low, high)
    return node_hash(_fold_known(*left, known), _fold_known(*right, known))


class Frontier:
    """The right edge of a growing tree: the complete subtrees that make up its first `size` leaves.

    Appending costs one hash on average and the state is at most 64 hashes, whatever the size.
    """

    __slots__ = ("nodes", "size")

    def __init__(self, size: int = 0, nodes: Iterable[bytes] = ()) -> None:
        """Takes the state up from `edge()`.

        Raises:
            ValueError: the number of hashes does not fit the size.
        """
        self.size = size
        self.nodes = list(nodes)  # largest subtree first
        if len(self.nodes) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} subtrees at its edge")

    @classmethod
    def from_edge(cls, size: int, edge: bytes) -> "Frontier":
        """Restores what `edge` returned.

        Raises:
            ValueError: it is torn.
        """
        if len(edge) % HASH_BYTES:
            raise ValueError("an edge is whole hashes")
        return cls(size, split_hashes(edge))

    def edge(self) -> bytes:
        """Returns the hashes joined, largest subtree first."""
        return b"".join(self.nodes)

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Adds a leaf hash; returns the subtrees it completed as (level, index, hash)."""
        completed = [(0, self.size, leaf)]
        node, level, size = leaf, 0, self.size
        while size & 1:
            node = node_hash(self.nodes.pop(), node)
            level, size = level + 1, size >> 1
            completed.append((level, size, node))
        self.nodes.append(node)
        self.size += 1
        return completed

    def root(self) -> bytes:
        """Returns the root of all leaves appended."""
        if not self.nodes:
            return EMPTY_ROOT
        node = self.nodes[-1]
        for left in reversed(self.nodes[:-1]):
            node = node_hash(left, node)
        return node

    def complete(self) -> dict[tuple[int, int], bytes]:
        """Returns the edge's subtrees as {(level, index): hash}."""
        found: dict[tuple[int, int], bytes] = {}
        low = 0
        for node in self.nodes:
            level = (self.size - low).bit_length() - 1
            found[level, low >> level] = node
            low += 1 << level
        return found


def split_hashes(joined: bytes) -> list[bytes]:
    """Splits joined hashes into 32-byte pieces; a rest shows up as a short last piece."""
    return [joined[i : i + HASH_BYTES] for i in range(0, len(joined), HASH_BYTES)]
