"""Signs committed heads, and keeps them in the guard and the archive before anybody hears of them.

Every step may fail without harm: the head is committed, and keeping it again gives the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.note import sign_note
from sealedshoe_server.guard import Guard


def head_size(text: str) -> int:
    """Returns the number of leaves that a checkpoint's text states."""
    return int(text.split("\n", 2)[1])


@dataclass(frozen=True, slots=True, repr=False)
class CheckpointKey:
    """A checkpoint key and the size of the first head that it signs."""

    first_size: int
    private_key: Ed25519PrivateKey


class HeadSigner:
    """Signs a head's text with the key that is in force at its size: the same bytes for ever."""

    def __init__(self, origin: str, keys: Sequence[CheckpointKey]) -> None:
        """Takes the keys, oldest first."""
        self._origin = origin
        self.keys = tuple(keys)

    def sign(self, text: str) -> bytes:
        """Returns the signed note."""
        size = head_size(text)
        key = next(key for key in reversed(self.keys) if key.first_size <= size)
        return sign_note(text, self._origin, key.private_key)


class HeadKeeper:
    """What holds every head before it leaves this process."""

    def __init__(self, guard: Guard, archive: HeadArchive) -> None:
        """Takes the two."""
        self._guard = guard
        self._archive = archive

    def keep(self, text: str, note: bytes) -> None:
        """Returns once guard and archive have a committed head.

        Raises:
            OSError: one of them could not be written.
        """
        self._guard.write(text)
        self._archive.keep([note], sync=False)
