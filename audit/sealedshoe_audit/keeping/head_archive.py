"""An archive of signed heads: every note verbatim, one after the other, in a file that only grows.

A note's last lines are its signatures, each beginning with an em dash; the next note begins with the first
line that does not. A torn last note, from a crash, is cut off by the next writer.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.keeping.files import sync_directory
from sealedshoe_audit.log.note import MAX_NOTE_BYTES, parse_note

STEP_BYTES = 256 * 1024
TAIL_BYTES = 4 * MAX_NOTE_BYTES
_SIGNATURE = "— ".encode()


class HeadArchive:
    """One archive file.

    Attributes:
        size: bytes of whole notes in it, once something was kept.
    """

    def __init__(self, path: Path) -> None:
        """Names the file; it is made with the first head."""
        self._path = path
        self._last = b""
        self._checked = False
        self.size = 0

    def keep(self, notes: Iterable[bytes], *, sync: bool = True) -> None:
        """Appends heads; one that repeats the last is left out.

        Args:
            sync: durable once it returns; else whenever the system writes it.

        Raises:
            OSError: they could not be kept.
        """
        self._mend()
        last = self._last
        fresh: list[bytes] = []
        for note in notes:
            if note != last:
                fresh.append(note)
                last = note
        if not fresh:
            return
        self._checked = False  # until it is whole again
        with self._path.open("ab") as file:
            file.write(b"".join(fresh))
            file.flush()
            if sync:
                os.fsync(file.fileno())
            created = self.size == 0
            self.size, self._last = file.tell(), last
        if created:
            sync_directory(self._path.parent)
        self._checked = True

    def _mend(self) -> None:
        """Cuts a torn note off the end, once; looks at the end only, as archives grow long."""
        if self._checked:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        size = self._path.stat().st_size if self._path.exists() else 0
        length, sound = TAIL_BYTES, 0
        while size and not sound:
            start = max(0, size - length)
            for note, end in _notes_and_ends(self._tail(start), torn_start=start > 0):
                self._last, sound = note, start + end
            if not start:
                break
            length *= 4
        if size > sound:
            os.truncate(self._path, sound)
        self._checked, self.size = True, sound

    def _tail(self, start: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read()

    def read_between(self, start: int, end: int) -> tuple[list[bytes], int]:
        """Returns notes between two offsets, from at most 256 KiB, and the offset to go on from."""
        with self._path.open("rb") as file:
            file.seek(start)
            data = file.read(min(end - start, STEP_BYTES))
        found = list(_split(data.splitlines(keepends=True)))
        if start + len(data) == end:
            return [note for note, _ in found], end
        whole = found[:-1]  # the last may be cut short by the step, and still look whole
        following = start + (whole[-1][1] if whole else len(data))
        return [note for note, _ in whole], following

    def read(self) -> Iterator[bytes]:
        """Yields every whole note, oldest first."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            yield from split_notes(file)


def split_notes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the whole notes of an archive from its lines; damaged ones are passed over."""
    for note, _ in _split(lines):
        yield note


def _notes_and_ends(tail: bytes, *, torn_start: bool) -> Iterator[tuple[bytes, int]]:
    """Yields the whole notes in the tail of an archive, each with the offset of its end.

    Args:
        torn_start: the tail may begin within a note.
    """
    for number, (note, end) in enumerate(_split(tail.splitlines(keepends=True))):
        if number or not torn_start or not tail.startswith(note):
            yield note, end


def _split(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    note: list[bytes] = []
    signed, offset = False, 0
    for line in lines:
        is_signature = line.startswith(_SIGNATURE)
        if signed and not is_signature:
            if _is_whole(b"".join(note)):
                yield b"".join(note), offset
            note = []
        signed = is_signature
        note.append(line)
        offset += len(line)
    if signed and _is_whole(b"".join(note)):
        yield b"".join(note), offset


def _is_whole(note: bytes) -> bool:
    try:
        parse_note(note)
    except VerificationError:
        return False
    return True
