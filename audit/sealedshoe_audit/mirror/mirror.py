"""Follows a log into a directory: files first, its position last, so that any interruption is harmless.

DIR/checkpoint     the newest head whose files are all here: the position
DIR/tile/...       as the log serves them
DIR/heads          every head seen, verbatim
DIR/conflict/      heads that contradict each other: the proof of a fork or a rollback
DIR/trust.json     what the mirror was started with
"""

from dataclasses import dataclass, replace
from pathlib import Path

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.keeping.files import write_file
from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, expect_root, verify_checkpoint
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.log.publication import edge_of, grown_files
from sealedshoe_audit.log.reader import LogSource, read_entries, read_head, read_required
from sealedshoe_audit.log.tiles import (
    TILE_WIDTH,
    bundle_path,
    edge_tiles,
    hash_tiles,
    tile_path,
    tiles_of,
)
from sealedshoe_audit.trust import Trust


@dataclass(frozen=True, slots=True)
class Step:
    """What one look at the log brought: sizes before and after."""

    old: int
    new: int


class Mirror:
    """One log's copy in a directory."""

    def __init__(self, directory: Path, trust: Trust) -> None:
        """Takes up the position in the directory, or starts before the first leaf.

        Raises:
            VerificationError: the directory's files do not lead to its own checkpoint.
        """
        self._directory = directory
        self._trust = trust
        self._heads = HeadArchive(directory / "heads")
        self._note = self.read("checkpoint")
        self._head: VerifiedCheckpoint | None = None
        self._frontier = Frontier()
        if self._note is not None:
            self._head = verify_checkpoint(self._note, replace(trust, quorum=0))
            self._frontier = edge_of(self, self._head.checkpoint.size)
            expect_root(self._head.checkpoint, self._frontier.root())
        self._clean()

    @property
    def size(self) -> int:
        """Leaves that are here."""
        return self._frontier.size

    def read(self, path: str) -> bytes | None:
        """Returns one of the mirror's own files."""
        try:
            return (self._directory / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def follow(self, source: LogSource) -> Step:
        """Takes over what the log has grown by.

        Raises:
            VerificationError: SPLIT_VIEW or ROLLBACK, with both heads kept in conflict/; or what is wrong
                with a file. The position stays, and the next look starts there again.
        """
        note, head = read_head(source, self._trust)
        old, new = self.size, head.checkpoint.size
        self._heads.keep([note])
        if new < old:
            raise self._conflict(Code.ROLLBACK, note, f"{old} leaves or more", f"{new} leaves")
        if new == old and head.checkpoint.root != self._frontier.root():
            ours = self._frontier.root().hex()
            raise self._conflict(Code.SPLIT_VIEW, note, ours, head.checkpoint.root.hex())
        if new > old:
            try:
                self._grow(source, note, head)
            except (VerificationError, OSError):
                self._clean()
                raise
        write_file(self._directory / "checkpoint", note)
        if new > old:
            self._forget_partials(old)
        self._note, self._head = note, head
        return Step(old, new)

    def _grow(self, source: LogSource, note: bytes, head: VerifiedCheckpoint) -> None:
        """Writes the new files, and moves on only when they lead to the head."""
        old, new = self.size, head.checkpoint.size
        frontier = Frontier(old, self._frontier.nodes)
        entries = read_entries(source, new, old)
        for path, data in grown_files(frontier, entries, self.read):
            write_file(self._directory / path, data)
        if frontier.root() != head.checkpoint.root:
            raise self._fork(source, note, head)
        self._compare_tiles(source, new)
        self._frontier = frontier

    def _compare_tiles(self, source: LogSource, size: int) -> None:
        """The tiles that the log serves at its edge are the ones made here from its entries."""
        for level, index, width in edge_tiles(size):
            path = tile_path(level, index, width)
            if width and read_required(source, path) != self.read(path):
                raise VerificationError(
                    Code.TILE_MISMATCH, expected="hashes of the entries", found=path
                )

    def _fork(self, source: LogSource, note: bytes, head: VerifiedCheckpoint) -> VerificationError:
        """Says whether the entries are another history, or do not lead to their own checkpoint."""
        whole = Frontier()
        known = None
        for path_size, entry in enumerate(read_entries(source, head.checkpoint.size)):
            if path_size == self.size:
                known = whole.root()
            whole.append(leaf_hash(entry))
        if whole.root() == head.checkpoint.root and self._head is not None and known is not None:
            expected = self._head.checkpoint.root.hex()
            what = f"size {self.size}: {known.hex()}"
            return self._conflict(Code.SPLIT_VIEW, note, expected, what)
        return VerificationError(
            Code.ROOT_MISMATCH, expected=head.checkpoint.root.hex(), found=whole.root().hex()
        )

    def _conflict(self, code: Code, note: bytes, expected: str, found: str) -> VerificationError:
        """Keeps both signed heads: neither the log nor the mirror can deny them."""
        directory = self._directory / "conflict"
        if self._note is not None:
            write_file(directory / "ours", self._note)
        write_file(directory / "theirs", note)
        return VerificationError(code, expected=expected, found=found)

    def _clean(self) -> None:
        """Removes files that the head here does not imply: of heads before, of looks that were cut short."""
        size = self.size
        implied = {tile_path(level, index, width) for level, index, width in hash_tiles(size)}
        implied |= {bundle_path(index, width) for index, width in tiles_of(size)}
        for file in (self._directory / "tile").rglob("*"):
            if file.is_file() and file.relative_to(self._directory).as_posix() not in implied:
                file.unlink()

    def _forget_partials(self, old: int) -> None:
        """Removes the partial files of the head before."""
        paths = [bundle_path(*divmod(old, TILE_WIDTH))] if old % TILE_WIDTH else []
        paths += [
            tile_path(level, index, width)
            for level, index, width in edge_tiles(old)
            if width and old >> (8 * level) != self.size >> (8 * level)
        ]
        for path in paths:
            (self._directory / path).unlink(missing_ok=True)
