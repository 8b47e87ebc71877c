"""The guard: the newest head in a file outside the data directory, written before any answer leaves.

A data directory that is behind its guard, or has another history, was restored or tampered with; nothing is
ever appended to it. The file has two slots of 1,024 bytes, written in turn and synced, each with a counter
and a digest, so that a torn write leaves the head before. It is opened, never replaced: another owner may
keep it where this process can write the file and nothing else.

    slot = "sealedshoe/v1/guard" LF counter LF state LF checkpoint text, zero bytes, SHA-256[32]
    state = "open", or "ended"
"""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.keeping.files import sync_directory
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_server.storage.interface import Store, StoreRefused

FORMAT = "sealedshoe/v1/guard"
SLOT_BYTES = 1024
OPEN, ENDED = "open", "ended"


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a guard knows."""

    counter: int
    state: str
    head: Checkpoint


class Guard:
    """One log's guard file."""

    def __init__(self, path: Path) -> None:
        """Names the file; nothing is touched yet."""
        self._path = path
        self._counter = 0
        self._newest: str | None = None

    def read(self) -> Guarded | None:
        """Returns the newest head that it holds, or None when there is no file, or an empty one.

        Raises:
            StoreRefused: it cannot be read, or no slot is whole.
        """
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreRefused(f"guard {self._path}: {error.strerror}") from error
        if not data:
            return None
        slots = [_parse(data[i : i + SLOT_BYTES]) for i in (0, SLOT_BYTES)]
        whole = [slot for slot in slots if slot is not None]
        if not whole:
            raise StoreRefused(f"guard {self._path}: damaged; only `sealedshoe recover` goes on")
        newest = max(whole, key=lambda slot: slot.counter)
        self._counter = newest.counter
        return newest

    def read_or_none(self) -> Guarded | None:
        """Returns what it holds; None also when it is damaged: for a log that ends anyway."""
        try:
            return self.read()
        except StoreRefused:
            return None

    def write(self, text: str, state: str = OPEN) -> None:
        """Replaces the older slot; durable once it returns.

        Args:
            text: of the committed head.

        Raises:
            OSError: it could not be written; the head before still stands.
        """
        if text == self._newest and state == OPEN:
            return
        counter = self._counter + 1
        body = f"{FORMAT}\n{counter}\n{state}\n{text}".encode()
        padded = body.ljust(SLOT_BYTES - 32, b"\0")
        created = not self._path.exists()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            slot = padded + sha256(padded).digest()
            if os.pwrite(descriptor, slot, counter % 2 * SLOT_BYTES) != SLOT_BYTES:
                raise OSError(f"guard {self._path}: not all of a slot was written")
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)
        if created:
            sync_directory(self._path.parent)
        self._counter, self._newest = counter, text


def _parse(slot: bytes) -> Guarded | None:
    padded, digest = slot[:-32], slot[-32:]
    if len(slot) != SLOT_BYTES or sha256(padded).digest() != digest:
        return None
    try:
        file_format, counter, state, text = padded.rstrip(b"\0").decode().split("\n", 3)
        head = parse_checkpoint(text)
    except (ValueError, VerificationError):
        return None
    known = file_format == FORMAT and state in (OPEN, ENDED) and counter.isdecimal()
    return Guarded(int(counter), state, head) if known else None


def check_guard(guard: Guard, store: Store, origin: str) -> None:
    """Checks that a store has everything that its guard knows of.

    Raises:
        StoreRefused: it has not; the text says what to do.
    """
    known, size = guard.read(), store.head().head.size
    if known is None:
        if size:
            raise StoreRefused(
                f"the guard of this log of {size} records is missing: the log may be a restored backup. "
                "Put the guard back, or start a successor with `sealedshoe recover`"
            )
        return
    head = known.head
    if head.origin != origin:
        raise StoreRefused(f"the guard is of the log {head.origin}, not of {origin}")
    if known.state == ENDED:
        raise StoreRefused(f"the log {origin} has ended: another one succeeded it")
    if head.size > size:
        raise StoreRefused(
            f"the log has {size} records, but its guard knows {head.size}: a restored backup never deals. "
            "Put the whole log back, or start a successor with `sealedshoe recover`"
        )
    if store.root_at(head.size) != head.root:
        raise StoreRefused(
            f"the log's first {head.size} records are not those that its guard knows: it was rewritten"
        )
