"""A mirror holds exactly the log's files, its position last, and refuses another history."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.mirror.mirror import Mirror, Step
from sealedshoe_audit.trust import Trust
from tests.audit.forge.log import key, public
from tests.audit.forge.published import MemorySource
from tests.audit.mirrored import (
    ORIGIN,
    TRUST,
    files_at,
    files_in,
    forked_at,
    note_at,
    source_at,
)

FORK = forked_at(40)


def mirror_at(directory: Path, *sizes: int) -> Mirror:
    """Returns a mirror that followed the log over these sizes."""
    mirror = Mirror(directory, TRUST)
    for size in sizes:
        mirror.follow(source_at(size))
    return mirror


def finding(mirror: Mirror, source: MemorySource) -> Code | None:
    """What following finds wrong, if anything."""
    try:
        mirror.follow(source)
    except VerificationError as error:
        return error.code
    return None


def refused(directory: Path, trust: Trust = TRUST) -> Code | None:
    """What opening a mirror's directory finds wrong, if anything."""
    try:
        Mirror(directory, trust)
    except VerificationError as error:
        return error.code
    return None


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 300, 512, 513, 1100])
def test_a_mirror_holds_the_logs_own_files(tmp_path: Path, size: int) -> None:
    mirror = Mirror(tmp_path, TRUST)
    assert mirror.follow(source_at(size)) == Step(0, size)
    assert mirror.size == size
    assert files_in(tmp_path) == files_at(size)


GROWTH = st.lists(st.integers(0, 300) | st.sampled_from([255, 256, 257]), min_size=1, max_size=5)


@settings(deadline=None, max_examples=25)
@given(GROWTH, st.booleans())
def test_a_mirror_grows_with_the_log_and_leaves_nothing_behind(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], reopened: bool
) -> None:
    directory = tmp_path_factory.mktemp("mirror")
    mirror, size = Mirror(directory, TRUST), 0
    for step in steps:
        old, size = size, min(size + step, 1100)
        if reopened:
            mirror = Mirror(directory, TRUST)
        assert mirror.follow(source_at(size)) == Step(old, size)
        assert files_in(directory) == files_at(size)


def test_a_mirror_that_looks_again_changes_nothing(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 300)
    assert mirror.follow(source_at(300)) == Step(300, 300)
    assert files_in(tmp_path) == files_at(300)


def test_a_head_with_new_cosignatures_takes_the_place_of_the_old(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 300)
    files = files_at(300)
    files["checkpoint"] += b"\xe2\x80\x94 w.example AAAAAAAAAAAA\n"
    mirror.follow(MemorySource(files))
    assert files_in(tmp_path) == files


def test_every_head_is_kept_verbatim(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 5, 5, 300, 301)
    assert finding(mirror, source_at(302, FORK)) is Code.SPLIT_VIEW
    heads = [*map(note_at, (5, 300, 301)), note_at(302, FORK)]
    assert list(HeadArchive(tmp_path / "heads").read()) == heads


def test_a_mirror_can_be_followed_by_another(tmp_path: Path) -> None:
    first = mirror_at(tmp_path / "a", 300, 600)
    Mirror(tmp_path / "b", TRUST).follow(first)
    assert files_in(tmp_path / "b") == files_at(600)


FORKS = {
    "of the same size": (300, 300, 40),
    "one leaf on": (300, 301, 40),
    "from the very first leaf": (300, 600, 0),
    "at the last leaf mirrored": (300, 600, 299),
    "of a small log": (41, 42, 40),
    "over a full tile": (256, 512, 255),
}


@pytest.mark.parametrize(("ours", "theirs", "at"), FORKS.values(), ids=FORKS.keys())
@pytest.mark.parametrize("reopened", [False, True])
def test_another_history_is_refused_and_both_heads_kept(
    tmp_path: Path, ours: int, theirs: int, at: int, reopened: bool
) -> None:
    fork = forked_at(at)
    mirror = mirror_at(tmp_path, ours)
    if reopened:
        mirror = Mirror(tmp_path, TRUST)
    assert finding(mirror, source_at(theirs, fork)) is Code.SPLIT_VIEW
    assert (tmp_path / "conflict" / "ours").read_bytes() == note_at(ours)
    assert (tmp_path / "conflict" / "theirs").read_bytes() == note_at(theirs, fork)
    assert (tmp_path / "checkpoint").read_bytes() == note_at(ours)
    assert mirror.size == ours


def test_a_mirror_goes_on_with_its_own_history_after_a_fork(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 300)
    assert finding(mirror, source_at(600, FORK)) is Code.SPLIT_VIEW
    assert mirror.follow(source_at(600)) == Step(300, 600)
    assert files_in(tmp_path) == files_at(600)


@pytest.mark.parametrize("smaller", [299, 256, 1, 0])
def test_a_smaller_log_is_refused_and_both_heads_kept(tmp_path: Path, smaller: int) -> None:
    mirror = mirror_at(tmp_path, 300)
    assert finding(mirror, source_at(smaller)) is Code.ROLLBACK
    assert (tmp_path / "conflict" / "ours").read_bytes() == note_at(300)
    assert (tmp_path / "conflict" / "theirs").read_bytes() == note_at(smaller)
    assert files_in(tmp_path) == files_at(300)
    assert mirror.follow(source_at(301)) == Step(300, 301)


def changed(path: str, data: bytes | None, size: int = 600) -> MemorySource:
    """Returns the log with one file replaced, or taken away."""
    files = files_at(size)
    del files[path]
    return MemorySource(files if data is None else files | {path: data})


def flipped(data: bytes) -> bytes:
    """Returns bytes with the last one changed."""
    return data[:-1] + bytes([data[-1] ^ 1])


NEW = files_at(600)
SOURCES = {
    "no checkpoint": (changed("checkpoint", None), Code.MISSING_FILE),
    "a checkpoint that is none": (changed("checkpoint", b"hello"), Code.PARSE),
    "a checkpoint of a stranger": (
        changed("checkpoint", note_at(600).replace(ORIGIN.encode(), b"other", 1)),
        Code.ORIGIN_MISMATCH,
    ),
    "a checkpoint changed": (
        changed("checkpoint", note_at(600).replace(b"\n600\n", b"\n601\n")),
        Code.NOTE_SIGNATURE,
    ),
    "a full bundle missing": (changed("tile/entries/001", None), Code.MISSING_FILE),
    "a partial bundle missing": (changed("tile/entries/002.p/88", None), Code.MISSING_FILE),
    "a bundle cut": (changed("tile/entries/001", NEW["tile/entries/001"][:-1]), Code.PARSE),
    "a new entry changed": (
        changed("tile/entries/002.p/88", flipped(NEW["tile/entries/002.p/88"])),
        Code.ROOT_MISMATCH,
    ),
    "a partial tile missing": (changed("tile/0/002.p/88", None), Code.MISSING_FILE),
    "a partial tile changed": (
        changed("tile/0/002.p/88", flipped(NEW["tile/0/002.p/88"])),
        Code.TILE_MISMATCH,
    ),
    "an upper tile changed": (
        changed("tile/1/000.p/2", flipped(NEW["tile/1/000.p/2"])),
        Code.TILE_MISMATCH,
    ),
}


@pytest.mark.parametrize(("source", "code"), SOURCES.values(), ids=SOURCES.keys())
def test_a_log_with_a_bad_file_moves_nothing_and_accuses_nobody(
    tmp_path: Path, source: MemorySource, code: Code
) -> None:
    mirror = mirror_at(tmp_path, 300)
    assert finding(mirror, source) is code
    assert (tmp_path / "checkpoint").read_bytes() == note_at(300)
    assert not (tmp_path / "conflict").exists()
    assert Mirror(tmp_path, TRUST).follow(source_at(600)) == Step(300, 600)
    assert files_in(tmp_path) == files_at(600)


def test_an_entry_that_is_mirrored_already_is_not_taken_again(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 300)
    path = "tile/entries/001"
    start = NEW[path].index(b"entry 257")
    altered = NEW[path][:start] + b"entrY" + NEW[path][start + 5 :]
    assert finding(mirror, changed(path, altered)) is None
    assert files_in(tmp_path) == files_at(600)


DAMAGED = ["tile/0/001.p/44", "tile/1/000.p/1"]


@pytest.mark.parametrize("path", DAMAGED)
def test_a_mirror_with_a_damaged_edge_does_not_open(tmp_path: Path, path: str) -> None:
    mirror_at(tmp_path, 300)
    file, data = tmp_path / path, files_at(300)[path]
    file.write_bytes(flipped(data))
    assert refused(tmp_path) is Code.ROOT_MISMATCH
    file.write_bytes(data + bytes(96))
    assert refused(tmp_path) in (Code.TILE_MISMATCH, Code.ROOT_MISMATCH)
    file.write_bytes(data[:-1])
    assert refused(tmp_path) in (Code.TILE_MISMATCH, Code.ROOT_MISMATCH)
    file.unlink()
    assert refused(tmp_path) is Code.MISSING_FILE


POSITIONS = {
    "nothing": (b"", Code.PARSE),
    "cut": (note_at(300)[:-20], Code.PARSE),
    "another size": (note_at(299), Code.MISSING_FILE),
    "another history": (note_at(300, FORK), Code.ROOT_MISMATCH),
    "unsigned": (note_at(300).replace(b"\n300\n", b"\n301\n"), Code.NOTE_SIGNATURE),
}


@pytest.mark.parametrize(("note", "code"), POSITIONS.values(), ids=POSITIONS.keys())
def test_a_mirror_with_a_damaged_position_does_not_open(
    tmp_path: Path, note: bytes, code: Code
) -> None:
    mirror_at(tmp_path, 300)
    (tmp_path / "checkpoint").write_bytes(note)
    assert refused(tmp_path) is code


def test_a_mirror_of_another_log_or_key_does_not_open(tmp_path: Path) -> None:
    mirror_at(tmp_path, 300)
    other = Trust("other", bytes(32), (VerifierKey("other", 1, public(key(31))),))
    assert refused(tmp_path, other) is Code.ORIGIN_MISMATCH
    stranger = Trust(ORIGIN, bytes(32), (VerifierKey(ORIGIN, 1, public(key(33))),))
    assert refused(tmp_path, stranger) is Code.NOTE_SIGNATURE


def test_a_mirror_opens_where_witnesses_have_left_since(tmp_path: Path) -> None:
    mirror_at(tmp_path, 300)
    witness = VerifierKey("w.example", 4, public(key(34)))
    asking = Trust(ORIGIN, bytes(32), TRUST.checkpoint_keys, (witness,), 1)
    mirror = Mirror(tmp_path, asking)
    assert finding(mirror, source_at(301)) is Code.QUORUM
    assert mirror.size == 300


def test_a_damaged_entry_of_the_mirrors_own_is_not_carried_on(tmp_path: Path) -> None:
    mirror_at(tmp_path, 300)
    file = tmp_path / "tile/entries/001.p/44"
    file.write_bytes(flipped(file.read_bytes()))
    found = refused(tmp_path) or finding(Mirror(tmp_path, TRUST), source_at(600))
    assert found is not None or files_in(tmp_path) == files_at(600)


def test_a_missing_bundle_of_the_mirrors_own_is_a_finding(tmp_path: Path) -> None:
    mirror = mirror_at(tmp_path, 300)
    (tmp_path / "tile/entries/001.p/44").unlink()
    assert finding(mirror, source_at(600)) is Code.MISSING_FILE
