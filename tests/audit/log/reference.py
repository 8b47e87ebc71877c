"""RFC 6962 section 2.1 as it is written there: a slow recursion over a list of entries."""

from hashlib import sha256


def largest_power_below(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


class NaiveTree:
    """Hashes and proofs of a list of entries; results are remembered, nothing else is clever."""

    def __init__(self, entries: list[bytes]) -> None:
        self.entries = entries
        self._known: dict[tuple[int, int], bytes] = {}

    def mth(self, low: int, high: int) -> bytes:
        """MTH(D[low:high])."""
        if (low, high) not in self._known:
            self._known[low, high] = self._mth(low, high)
        return self._known[low, high]

    def _mth(self, low: int, high: int) -> bytes:
        if low == high:
            return sha256(b"").digest()
        if high - low == 1:
            return sha256(b"\x00" + self.entries[low]).digest()
        k = largest_power_below(high - low)
        return sha256(b"\x01" + self.mth(low, low + k) + self.mth(low + k, high)).digest()

    def root(self, size: int) -> bytes:
        """MTH of the first entries."""
        return self.mth(0, size)

    def path(self, m: int, low: int, high: int) -> list[bytes]:
        """PATH(m, D[low:high])."""
        if high - low == 1:
            return []
        k = largest_power_below(high - low)
        if m < k:
            return [*self.path(m, low, low + k), self.mth(low + k, high)]
        return [*self.path(m - k, low + k, high), self.mth(low, low + k)]

    def proof(self, m: int, n: int) -> list[bytes]:
        """PROOF(m, D[0:n])."""
        return self._subproof(m, 0, n, True) if 0 < m < n else []

    def _subproof(self, m: int, low: int, high: int, whole: bool) -> list[bytes]:
        if m == high - low:
            return [] if whole else [self.mth(low, high)]
        k = largest_power_below(high - low)
        if m <= k:
            return [*self._subproof(m, low, low + k, whole), self.mth(low + k, high)]
        return [*self._subproof(m - k, low + k, high, False), self.mth(low, low + k)]


ENTRIES = [b"entry %d" % i * (i % 3) for i in range(130)]
TREE = NaiveTree(ENTRIES)
