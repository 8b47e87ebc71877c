"""The newest heads of a growing log, so that a record can name one of them by size and root."""

from collections import deque
from collections.abc import Iterable

from sealedshoe_audit.log.merkle import Frontier

# A record names a head of at most so many leaves ago: servers name the newest head they know.
HEAD_WINDOW = 16_384


class RecentHeads:
    """Edges of the last sizes; a root is only worked out when somebody names it."""

    def __init__(self, size: int = 0, roots: Iterable[bytes] | None = None) -> None:
        """Starts with the empty log, or with known roots of which the last is of this size."""
        self._size = size
        self._heads: deque[bytes | tuple[bytes, ...]] = deque(maxlen=HEAD_WINDOW)
        self._heads.extend([()] if roots is None else roots)

    def grow(self, frontier: Frontier) -> None:
        """Takes the next size's edge."""
        self._size = frontier.size
        self._heads.append(tuple(frontier.nodes))

    @property
    def oldest(self) -> int:
        """The smallest size that can still be named."""
        return self._size - len(self._heads) + 1

    def root(self, size: int) -> bytes | None:
        """Returns the root of a size in the window."""
        offset = size - self.oldest
        if not 0 <= offset < len(self._heads):
            return None
        root = self._heads[offset] = _root(size, self._heads[offset])  # others name it again
        return root

    def roots(self) -> list[bytes]:
        """Returns all roots in the window, to start from later."""
        return [_root(size, head) for size, head in enumerate(self._heads, self.oldest)]


def _root(size: int, head: bytes | tuple[bytes, ...]) -> bytes:
    return head if isinstance(head, bytes) else Frontier(size, head).root()
