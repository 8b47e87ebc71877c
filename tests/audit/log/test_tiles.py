"""Tiles and bundles: paths, how a log is cut into them, and bundles torn at every byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.tiles import (
    bundle_path,
    hash_tiles,
    index_path,
    pack_bundle,
    parse_bundle,
    tile_path,
    tiles_of,
)
from tests.audit.log.example import EXAMPLE

ENTRIES = [b"", b"one", b"\x00\x01", b"x" * 300]


@pytest.mark.parametrize(
    ("index", "path"),
    [
        (0, "000"),
        (5, "005"),
        (999, "999"),
        (1000, "x001/000"),
        (1234, "x001/234"),
        (1234067, "x001/x234/067"),
        (10**9, "x001/x000/x000/000"),
    ],
)
def test_an_index_is_cut_into_groups_of_three_digits(index: int, path: str) -> None:
    assert index_path(index) == path
    assert tile_path(3, index) == f"tile/3/{path}"
    assert bundle_path(index) == f"tile/entries/{path}"


def test_a_partial_tile_names_its_width() -> None:
    assert tile_path(0, 0, 3) == EXAMPLE["tile"]["path"]
    assert bundle_path(0, 3) == EXAMPLE["bundle"]["path"]
    assert tile_path(1, 1234067, 255) == "tile/1/x001/x234/067.p/255"
    assert tile_path(0, 7, 256) == "tile/0/007"


@pytest.mark.parametrize(
    ("hashes", "tiles"),
    [
        (0, []),
        (1, [(0, 1)]),
        (255, [(0, 255)]),
        (256, [(0, 256)]),
        (257, [(0, 256), (1, 1)]),
        (512, [(0, 256), (1, 256)]),
    ],
)
def test_hashes_fill_whole_tiles_and_then_one_partial(
    hashes: int, tiles: list[tuple[int, int]]
) -> None:
    assert list(tiles_of(hashes)) == tiles


@pytest.mark.parametrize(
    ("size", "tiles"),
    [
        (0, []),
        (3, [(0, 0, 3)]),
        (256, [(0, 0, 256), (1, 0, 1)]),
        (257, [(0, 0, 256), (0, 1, 1), (1, 0, 1)]),
    ],
)
def test_a_level_holds_the_hashes_of_full_tiles_below(
    size: int, tiles: list[tuple[int, int, int]]
) -> None:
    assert list(hash_tiles(size)) == tiles


def test_a_log_of_70000_entries_has_277_hash_tiles() -> None:
    tiles = list(hash_tiles(70_000))
    assert len(tiles) == 277
    assert tiles[272:] == [(0, 272, 256), (0, 273, 112), (1, 0, 256), (1, 1, 17), (2, 0, 1)]
    assert len(list(tiles_of(70_000))) == 274


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 300_000))
def test_every_level_holds_the_size_divided_by_256_so_often(size: int) -> None:
    held: dict[int, int] = {}
    for level, index, width in hash_tiles(size):
        assert held.get(level, 0) == 256 * index
        held[level] = held.get(level, 0) + width
    assert held == {level: size // 256**level for level in range(4) if size // 256**level}


def test_the_worked_examples_bundle_is_packed_to_the_byte_and_read() -> None:
    entries = [entry.encode() for entry in EXAMPLE["entries"]]
    bundle = bytes.fromhex(EXAMPLE["bundle"]["data"])
    assert pack_bundle(entries) == bundle
    assert len(bundle) == 56
    assert parse_bundle(bundle, 3) == entries


@settings(deadline=None, max_examples=100)
@given(st.lists(st.binary(max_size=40), max_size=20))
def test_entries_come_back_as_they_were_packed(entries: list[bytes]) -> None:
    assert parse_bundle(pack_bundle(entries), len(entries)) == entries


def test_an_entry_of_65535_bytes_fits_and_a_longer_one_is_refused() -> None:
    assert parse_bundle(pack_bundle([bytes(65_535)]), 1) == [bytes(65_535)]
    with pytest.raises(ValueError, match="65535"):
        pack_bundle([bytes(65_536)])


@pytest.mark.parametrize("cut", range(len(pack_bundle(ENTRIES))))
def test_a_bundle_torn_at_any_byte_is_refused(cut: int) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_bundle(pack_bundle(ENTRIES)[:cut], 4)
    assert refused.value.code is Code.PARSE


@pytest.mark.parametrize(
    ("data", "width"),
    [
        (pack_bundle(ENTRIES) + b"\0", 4),
        (pack_bundle(ENTRIES) + b"\0\0", 4),
        (pack_bundle(ENTRIES), 3),
        (pack_bundle(ENTRIES), 5),
        (b"\0", 0),
        (b"\xff\xff", 1),
    ],
)
def test_a_bundle_of_another_width_or_with_a_rest_is_refused(data: bytes, width: int) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_bundle(data, width)
    assert refused.value.code is Code.PARSE
