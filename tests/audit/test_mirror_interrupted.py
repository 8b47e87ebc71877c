"""Wherever a mirror is interrupted, it starts again at its position and ends with the log's own files."""

import errno
import shutil
from pathlib import Path

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.keeping.files import write_file
from sealedshoe_audit.mirror.mirror import Mirror, Step
from tests.audit.forge.published import MemorySource
from tests.audit.mirrored import TRUST, files_at, files_in, forked_at, note_at, source_at


class Interrupted(Exception):
    """The process ends here."""


class FailingSource(MemorySource):
    """A log whose connection breaks at the n-th file, from 0."""

    def __init__(self, files: dict[str, bytes], fails_at: int, error: Exception) -> None:
        super().__init__(files)
        self.left, self.error = fails_at, error

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, until it breaks."""
        if not self.left:
            raise self.error
        self.left -= 1
        return super().read(path)


class SnapshotSource(MemorySource):
    """A log that copies the mirror's directory aside at every file that it serves."""

    def __init__(self, files: dict[str, bytes], directory: Path, aside: Path) -> None:
        super().__init__(files)
        self.directory, self.aside = directory, aside
        self.copies: list[Path] = []

    def read(self, path: str) -> bytes | None:
        """Copies, then returns a file's bytes."""
        copy = self.aside / str(len(self.copies))
        shutil.copytree(self.directory, copy)
        self.copies.append(copy)
        return super().read(path)


def started(directory: Path, size: int = 100) -> Mirror:
    """Returns a mirror at a size."""
    mirror = Mirror(directory, TRUST)
    mirror.follow(source_at(size))
    return mirror


@pytest.mark.parametrize("size", [101, 255, 256, 257, 300, 600])
@pytest.mark.parametrize("error", [Interrupted(), OSError(errno.ECONNRESET, "reset")])
def test_a_connection_that_breaks_at_any_file_loses_nothing(
    tmp_path: Path, size: int, error: Exception
) -> None:
    mirror = started(tmp_path)
    for fails_at in range(100):
        try:
            mirror.follow(FailingSource(files_at(size), fails_at, error))
        except (Interrupted, OSError):
            assert files_in(tmp_path)["checkpoint"] == note_at(100)
            assert Mirror(tmp_path, TRUST).size == mirror.size == 100
        else:
            break
    assert files_in(tmp_path) == files_at(size)


def test_a_copy_of_the_directory_at_any_moment_takes_up_where_it_stood(tmp_path: Path) -> None:
    mirror = started(tmp_path / "mirror")
    source = SnapshotSource(files_at(600), tmp_path / "mirror", tmp_path)
    mirror.follow(source)
    assert len(source.copies) > 4
    for copy in source.copies:
        resumed = Mirror(copy, TRUST)
        assert resumed.follow(source_at(600)) == Step(100, 600)
        assert files_in(copy) == files_at(600)


def merged(directory: Path, old: int, new: int, written: int) -> None:
    """Makes a directory as an interruption leaves it: the old files, and the first of the new ones."""
    fresh = {path: data for path, data in files_at(new).items() if path not in files_at(old)}
    fresh.pop("checkpoint", None)
    order = sorted(fresh, key=lambda path: (".p/" in path, path))
    for path, data in [*files_at(old).items(), *((path, fresh[path]) for path in order[:written])]:
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)


@pytest.mark.parametrize("written", range(8))
def test_any_number_of_files_written_before_an_interruption_is_harmless(
    tmp_path: Path, written: int
) -> None:
    merged(tmp_path, 100, 600, written)
    assert Mirror(tmp_path, TRUST).follow(source_at(600)) == Step(100, 600)
    assert files_in(tmp_path) == files_at(600)


def test_an_interruption_behind_the_position_is_mended_by_the_next_look(tmp_path: Path) -> None:
    merged(tmp_path, 100, 200, 8)
    (tmp_path / "checkpoint").write_bytes(note_at(200))
    assert Mirror(tmp_path, TRUST).follow(source_at(200)) == Step(200, 200)
    assert files_in(tmp_path) == files_at(200)


def test_partial_files_of_an_older_tile_are_forgotten_after_an_interruption(tmp_path: Path) -> None:
    merged(tmp_path, 100, 300, 8)
    (tmp_path / "checkpoint").write_bytes(note_at(300))
    Mirror(tmp_path, TRUST).follow(source_at(300))
    assert files_in(tmp_path) == files_at(300)


def test_partial_files_of_a_look_that_failed_are_forgotten_by_a_later_one(tmp_path: Path) -> None:
    merged(tmp_path, 100, 300, 8)
    Mirror(tmp_path, TRUST).follow(source_at(600))
    assert files_in(tmp_path) == files_at(600)


def test_files_of_a_refused_history_do_not_stay(tmp_path: Path) -> None:
    mirror = started(tmp_path)
    with pytest.raises(VerificationError) as caught:
        mirror.follow(source_at(300, forked_at(40)))
    assert caught.value.code is Code.SPLIT_VIEW
    mirror.follow(source_at(101))
    assert files_in(tmp_path) == files_at(101)


def test_half_written_files_are_overwritten(tmp_path: Path) -> None:
    started(tmp_path)
    for name in ("checkpoint.new", "tile/0/000.p/200.new", "tile/entries/000.p/200.new"):
        (tmp_path / name).write_bytes(b"half")
    Mirror(tmp_path, TRUST).follow(source_at(200))
    assert files_in(tmp_path) == files_at(200)


def test_the_position_is_written_last(tmp_path: Path) -> None:
    mirror = started(tmp_path / "mirror")
    source = SnapshotSource(files_at(600), tmp_path / "mirror", tmp_path)
    mirror.follow(source)
    for copy in source.copies:
        assert (copy / "checkpoint").read_bytes() == note_at(100)


def test_a_directory_in_a_files_place_stops_the_mirror_and_its_position_stands(
    tmp_path: Path,
) -> None:
    mirror = started(tmp_path)
    (tmp_path / "tile/entries/001.p").mkdir(parents=True)
    (tmp_path / "tile/entries/001.p/44").mkdir()
    with pytest.raises(OSError, match="44"):
        mirror.follow(source_at(300))
    (tmp_path / "tile/entries/001.p/44").rmdir()
    assert mirror.follow(source_at(300)) == Step(100, 300)
    assert files_in(tmp_path) == files_at(300)


def test_a_file_is_replaced_whole_and_its_directory_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert [child.name for child in path.parent.iterdir()] == ["b"]
