"""A log that grows in any steps is published in the files of one that was there at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.publication import edge_of, grown_files
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import MemorySource, publish
from tests.audit.log.reference import NaiveTree

Files = dict[str, bytes]
LOG = ForgedLog()
LOG.entries = [b"entry %d" % n * (n % 3) for n in range(1100)]


def expected(size: int) -> Files:
    """Returns the files of a log of this size, by the forger."""
    log = ForgedLog()
    log.entries = LOG.entries[:size]
    files = publish(log)
    del files["checkpoint"]
    return files


def grow(files: Files, frontier: Frontier, size: int) -> Files:
    """Returns the files once the log has grown, and those alone that its size needs."""
    new = LOG.entries[frontier.size : size]
    added = dict(grown_files(frontier, new, files.get))
    full = {path: data for path, data in files.items() if ".p/" not in path}
    return full | added


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 400) | st.sampled_from([255, 256, 257, 511, 512]), max_size=8))
def test_growing_in_steps_gives_the_files_of_the_whole(steps: list[int]) -> None:
    files: Files = {}
    frontier = Frontier()
    for step in steps:
        size = min(frontier.size + step, len(LOG.entries))
        files = grow(files, frontier, size)
        assert frontier.size == size
        assert files == expected(size)


def test_growing_leaf_by_leaf_over_two_tiles_gives_the_files_of_the_whole() -> None:
    files: Files = {}
    frontier = Frontier()
    for size in range(1, 515):
        files = grow(files, frontier, size)
        if size % 256 in (0, 1, 2, 255):
            assert files == expected(size)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 513, 1100])
def test_a_log_published_at_once_has_the_files_of_the_whole(size: int) -> None:
    assert grow({}, Frontier(), size) == expected(size)


def test_a_log_that_does_not_grow_gets_its_partial_files_again() -> None:
    files = expected(300)
    again = dict(grown_files(edge_of(MemorySource(files), 300), [], files.get))
    assert again == {path: data for path, data in files.items() if ".p/" in path}
    assert list(grown_files(Frontier(), [], {}.get)) == []


def test_full_files_come_before_the_partial_ones() -> None:
    paths = [path for path, _ in grown_files(Frontier(), LOG.entries[:600], {}.get)]
    partial = [".p/" in path for path in paths]
    assert partial == sorted(partial)
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("size", [0, 1, 3, 255, 256, 257, 512, 1000])
def test_the_edge_is_rebuilt_from_the_tiles_at_it(size: int) -> None:
    edge = edge_of(MemorySource(expected(size)), size)
    assert edge.size == size
    assert edge.root() == NaiveTree(LOG.entries[:size]).root(size)


def test_an_edge_of_three_levels_is_rebuilt() -> None:
    files = dict(grown_files(Frontier(), (b"" for _ in range(65_793)), {}.get))
    root = NaiveTree([b""] * 65_793).root(65_793)
    assert edge_of(MemorySource(files), 65_793).root() == root


def test_a_level_of_tiles_begins_when_the_level_below_is_full() -> None:
    frontier = Frontier()
    files = dict(grown_files(frontier, (b"" for _ in range(65_535)), {}.get))
    assert not any(path.startswith("tile/2") for path in files)
    grown = dict(grown_files(frontier, [b""], files.get))
    tree = NaiveTree([b""] * 65_536)
    assert sorted(grown) == ["tile/0/255", "tile/1/000", "tile/2/000.p/1", "tile/entries/255"]
    assert grown["tile/2/000.p/1"] == tree.root(65_536)
    assert grown["tile/1/000"][-32:] == tree.mth(65_280, 65_536)


def test_a_missing_partial_file_stops_the_growth() -> None:
    files = expected(300)
    for path in [path for path in files if ".p/" in path]:
        rest = {name: data for name, data in files.items() if name != path}
        with pytest.raises(VerificationError, match=path):
            list(grown_files(edge_of(MemorySource(files), 300), [b"more"], rest.get))


def edge_finding(files: Files, size: int) -> Code | None:
    """What rebuilding an edge finds wrong, if anything."""
    try:
        edge_of(MemorySource(files), size)
    except VerificationError as error:
        return error.code
    return None


def test_an_edge_whose_tiles_are_missing_or_of_another_length_is_refused() -> None:
    files = expected(300)
    rest = {name: data for name, data in files.items() if name != "tile/1/000.p/1"}
    assert edge_finding(rest, 300) is Code.MISSING_FILE
    path = "tile/0/001.p/44"
    assert edge_finding(files | {path: files[path] + bytes(32 * 3)}, 300) is Code.TILE_MISMATCH
    assert edge_finding(files | {path: b""}, 300) is Code.TILE_MISMATCH


def test_a_partial_bundle_that_is_not_what_the_tree_holds_is_not_built_upon() -> None:
    files = expected(300)
    path = "tile/entries/001.p/44"
    damaged = files | {path: files[path][:-1] + bytes([files[path][-1] ^ 1])}
    frontier = edge_of(MemorySource(files), 300)
    with pytest.raises(VerificationError):
        list(grown_files(frontier, LOG.entries[300:600], damaged.get))


def test_a_partial_tile_that_is_not_what_the_tree_holds_is_not_built_upon() -> None:
    files = expected(300)
    path = "tile/0/001.p/44"
    damaged = files | {path: files[path][:-1] + bytes([files[path][-1] ^ 1])}
    frontier = edge_of(MemorySource(files), 300)
    with pytest.raises(VerificationError):
        list(grown_files(frontier, LOG.entries[300:600], damaged.get))
