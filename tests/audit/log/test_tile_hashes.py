"""Proofs out of hash tiles alone are those of RFC 6962, and a missing or torn tile is a finding."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.tile_hashes import TileHashes
from tests.audit.log.example import EXAMPLE
from tests.audit.log.reference import NaiveTree
from tests.audit.log.test_reader import Files, published

ENTRIES = [b"leaf %d" % n for n in range(70_000)]
TREE = NaiveTree(ENTRIES)


class ManyTiles:
    """Hash tiles of any level, made when they are asked for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[str] = []

    def read(self, path: str) -> bytes | None:
        """Returns a tile's bytes, for indexes below a thousand."""
        self.asked.append(path)
        _, level, name, *width = path.replace(".p", "").split("/")
        first, span = 256 * int(name), 256 ** int(level)
        count = int(width[0]) if width else 256
        hashes = [TREE.mth(span * n, span * (n + 1)) for n in range(first, first + count)]
        return b"".join(hashes)


def proofs(source: Files | ManyTiles, size: int) -> TileHashes:
    """Returns the prover under test."""
    return TileHashes(source, size)


def test_the_worked_examples_proofs_come_out_of_its_one_tile() -> None:
    tile = EXAMPLE["tile"]
    source = Files({tile["path"]: bytes.fromhex(tile["data"])})
    for case in EXAMPLE["inclusion"]:
        path = proofs(source, case["size"]).inclusion_path(case["index"])
        assert [base64.b64encode(node).decode() for node in path] == case["proof"]
    for case in EXAMPLE["consistency"]:
        proof = proofs(source, case["new"]).consistency_proof(case["old"])
        assert [base64.b64encode(node).decode() for node in proof] == case["proof"]


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 600])
def test_every_proof_of_a_small_log_is_that_of_the_rfc(size: int) -> None:
    tree = NaiveTree(ENTRIES[:size])
    prover = proofs(published(ENTRIES[:size]), size)
    for index in range(size):
        assert prover.inclusion_path(index) == tree.path(index, 0, size)
        assert prover.consistency_proof(index) == tree.proof(index, size)
    assert prover.consistency_proof(size) == []


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 70_000])
def test_proofs_over_three_levels_of_tiles_are_those_of_the_rfc(size: int) -> None:
    prover = proofs(ManyTiles(size), size)
    for index in [0, 1, 255, 256, 257, 32_768, 65_279, 65_534, size - 1]:
        assert prover.inclusion_path(index) == TREE.path(index, 0, size)
    for old in [0, 1, 2, 255, 256, 257, 32_768, 65_279, 65_535, size]:
        assert prover.consistency_proof(old) == TREE.proof(old, size)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 70_000), st.data())
def test_any_proof_is_that_of_the_rfc(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    prover = proofs(ManyTiles(size), size)
    assert prover.inclusion_path(index) == TREE.path(index, 0, size)
    assert prover.consistency_proof(index) == TREE.proof(index, size)


def test_only_tiles_that_a_log_of_its_size_has_are_asked_for_and_each_once() -> None:
    source = ManyTiles(70_000)
    prover = proofs(source, 70_000)
    for _ in range(2):
        prover.inclusion_path(69_999)
        prover.inclusion_path(0)
    assert len(source.asked) == len(set(source.asked))
    allowed = {"tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1", "tile/0/000", "tile/1/000"}
    assert set(source.asked) <= allowed


def finding(files: Files, size: int) -> Code | None:
    """What making a proof finds wrong, if anything."""
    try:
        proofs(files, size).inclusion_path(0)
    except VerificationError as error:
        return error.code
    return None


def test_a_tile_that_is_missing_or_of_another_length_is_a_finding() -> None:
    files = published(ENTRIES[:300]).files
    assert finding(Files(files), 300) is None
    for path in ("tile/0/000", "tile/0/001.p/44"):
        rest = {name: data for name, data in files.items() if name != path}
        assert finding(Files(rest), 300) is Code.MISSING_FILE
        assert finding(Files(files | {path: files[path][:-1]}), 300) is Code.TILE_MISMATCH
        assert finding(Files(files | {path: files[path][:-32]}), 300) is Code.TILE_MISMATCH
        assert finding(Files(files | {path: files[path] + bytes(32)}), 300) is Code.TILE_MISMATCH
