"""That no seed opens two shoes: in memory for short logs, in a file for logs of any length."""

from collections.abc import Iterator
from typing import IO, Protocol

from sealedshoe_audit.errors import Code, VerificationError

ROW_BYTES = 40
SEEK_END = 2
PASS_SEEDS = 200_000  # commitments held at once: about 20 MB


class SeedRegister(Protocol):
    """Takes every seed commitment of a log in order."""

    def take(self, commitment: bytes, index: int) -> bool:
        """Takes the next, of 32 bytes, from a leaf; False when it is known to stand there already."""
        ...


class SeedSet:
    """Knows at once, in memory that grows with the log."""

    def __init__(self) -> None:
        """Starts empty."""
        self._seen: set[bytes] = set()

    def take(self, commitment: bytes, index: int) -> bool:  # noqa: ARG002 # the register's form
        """Takes the next; False when it stands there already."""
        before = len(self._seen)
        self._seen.add(commitment)
        return len(self._seen) > before


class SeedFile:
    """Knows at the end, in constant memory: one pass over the file for every 200,000 seeds or so."""

    def __init__(self, file: IO[bytes], count: int = 0) -> None:
        """Writes 40 bytes a seed behind the first `count`: commitment, big-endian leaf index.

        Raises:
            VerificationError: PARSE: the file holds fewer seeds.
        """
        self._file = file
        self.count = count
        held = file.seek(0, SEEK_END) // ROW_BYTES
        if held < count:
            raise VerificationError(
                Code.PARSE, expected=f"a register of {count} seeds", found=str(held)
            )
        file.seek(ROW_BYTES * count)
        file.truncate()

    def take(self, commitment: bytes, index: int) -> bool:
        """Takes the next; always True: duplicates come at the end."""
        self._file.write(commitment + index.to_bytes(8))
        self.count += 1
        return True

    def duplicates(self) -> Iterator[tuple[int, bytes]]:
        """Yields leaf index and commitment of every opening whose seed had opened a shoe before."""
        passes = 1 + self.count // PASS_SEEDS
        for part in range(passes):
            seen: set[bytes] = set()
            for row in self._rows():
                commitment = row[:32]
                if int.from_bytes(commitment[:8]) % passes == part:
                    if commitment in seen:
                        yield int.from_bytes(row[32:]), commitment
                    seen.add(commitment)

    def _rows(self) -> Iterator[bytes]:
        self._file.flush()
        self._file.seek(0)
        while block := self._file.read(ROW_BYTES * 4096):
            yield from (block[i : i + ROW_BYTES] for i in range(0, len(block), ROW_BYTES))
