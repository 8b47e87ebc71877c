"""An archive of signed heads: every note verbatim, one after the other, in a file that only grows.

A note's last lines are its signatures, each beginning with an em dash; the next note begins with the first
line that does not. A torn last note, from a crash, is cut off by the next writer.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.note import parse_note

_SIGNATURE = "— ".encode()


class HeadArchive:
    """One archive file."""

    def __init__(self, path: Path) -> None:
        """Names the file; it is made with the first head."""
        self._path = path
        self._last = b""
        self._checked = False

    def keep(self, notes: Iterable[bytes], *, sync: bool = True) -> None:
        """Appends heads; one that repeats the last is left out.

        Args:
            sync: durable once it returns; else whenever the system writes it.

        Raises:
            OSError: they could not be kept.
        """
        self._mend()
        fresh: list[bytes] = []
        for note in notes:
            if note != self._last:
                fresh.append(note)
                self._last = note
        if not fresh:
            return
        with self._path.open("ab") as file:
            file.write(b"".join(fresh))
            file.flush()
            if sync:
                os.fsync(file.fileno())

    def _mend(self) -> None:
        """Cuts a torn note off the end, once."""
        if self._checked:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        sound = 0
        for note in self.read():
            sound += len(note)
            self._last = note
        if self._path.exists() and self._path.stat().st_size > sound:
            os.truncate(self._path, sound)
        self._checked = True

    def read(self) -> Iterator[bytes]:
        """Yields every whole note, oldest first."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            yield from split_notes(file)


def split_notes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the notes of an archive from its lines; stops at one that is torn."""
    note: list[bytes] = []
    signed = False
    for line in lines:
        is_signature = line.startswith(_SIGNATURE)
        if signed and not is_signature:
            whole = b"".join(note)
            if not _is_whole(whole):
                return
            yield whole
            note = []
        signed = is_signature
        note.append(line)
    whole = b"".join(note)
    if signed and _is_whole(whole):
        yield whole


def _is_whole(note: bytes) -> bool:
    try:
        parse_note(note)
    except VerificationError:
        return False
    return True
