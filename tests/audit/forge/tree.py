"""RFC 6962 by its recursive definition, over lists of leaf hashes: slow, short, and nobody else's code."""

from hashlib import sha256


def leaf_of(entry: bytes) -> bytes:
    """Returns SHA-256(00 || entry)."""
    return sha256(b"\x00" + entry).digest()


def root_of(leaves: list[bytes]) -> bytes:
    """Returns the tree's root."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    k = _split(len(leaves))
    return sha256(b"\x01" + root_of(leaves[:k]) + root_of(leaves[k:])).digest()


def path_of(index: int, leaves: list[bytes]) -> list[bytes]:
    """Returns the inclusion path, leaf to root."""
    if len(leaves) == 1:
        return []
    k = _split(len(leaves))
    if index < k:
        return [*path_of(index, leaves[:k]), root_of(leaves[k:])]
    return [*path_of(index - k, leaves[k:]), root_of(leaves[:k])]


def outside_of(start: int, end: int, leaves: list[bytes]) -> list[bytes]:
    """Returns the roots of the maximal subtrees outside [start, end), left to right."""
    if end <= 0 or start >= len(leaves):
        return [root_of(leaves)]
    if start <= 0 and end >= len(leaves):
        return []
    k = _split(len(leaves))
    return outside_of(start, end, leaves[:k]) + outside_of(start - k, end - k, leaves[k:])


def _split(size: int) -> int:
    k = 1
    while 2 * k < size:
        k *= 2
    return k
