"""Roots, inclusion and consistency agree with RFC 6962 at every size up to 130."""

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import (
    EMPTY_ROOT,
    consistency_ranges,
    inclusion_ranges,
    leaf_hash,
    node_hash,
    root_at,
    verify_consistency,
    verify_inclusion,
)
from tests.audit.log.reference import ENTRIES, TREE

SIZES = range(1, 131)
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
OTHER = bytes(32)


def refused(check: object, code: Code) -> bool:
    """Whether a check raises exactly this finding."""
    try:
        check()  # type: ignore[operator]
    except VerificationError as error:
        return error.code is code
    return False


def complete(level: int, index: int) -> bytes:
    """The naive tree's complete subtrees."""
    return TREE.mth(index << level, (index + 1) << level)


def test_leaf_and_node_hashes_are_domain_separated() -> None:
    empty_leaf = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert leaf_hash(b"").hex() == empty_leaf
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert leaf_hash(OTHER + OTHER) != node_hash(OTHER, OTHER)
    assert node_hash(LEAVES[0], LEAVES[1]) != node_hash(LEAVES[1], LEAVES[0])


@pytest.mark.parametrize("size", range(131))
def test_a_root_is_the_recursions(size: int) -> None:
    assert root_at(size, complete) == TREE.root(size)


@pytest.mark.parametrize("size", SIZES)
def test_every_inclusion_proof_is_the_recursions_and_verifies(size: int) -> None:
    root = TREE.root(size)
    for index in range(size):
        path = TREE.path(index, 0, size)
        assert [TREE.mth(*r) for r in inclusion_ranges(index, size)] == path
        verify_inclusion(index, size, LEAVES[index], path, root)


@pytest.mark.parametrize("size", range(1, 34))
def test_every_tampered_twin_of_an_inclusion_proof_is_refused(size: int) -> None:
    root = TREE.root(size)
    for index in range(size):
        path, leaf = TREE.path(index, 0, size), LEAVES[index]
        twins = [
            (index, size, OTHER, path, root),
            (index, size, leaf, path, OTHER),
            (index, size, leaf, [*path, OTHER], root),
            (size, size, leaf, path, root),
            (-1, size, leaf, path, root),
        ]
        if path:
            twins += [
                (index, size, leaf, path[:-1], root),
                (index, size, leaf, path[1:], root),
                (index, size, leaf, [*path[:-1], OTHER], root),
                (index, size, leaf, [OTHER, *path[1:]], root),
                (index, size, leaf, [path[0][:-1], *path[1:]], root),
                (index ^ 1, size, leaf, path, root),
            ]
        if len(path) > 1:
            twins.append((index, size, leaf, path[::-1], root))
        for twin in twins:
            assert refused(lambda t=twin: verify_inclusion(*t), Code.INCLUSION), twin


def test_a_proof_for_another_size_is_refused() -> None:
    path = TREE.path(3, 0, 8)
    assert refused(lambda: verify_inclusion(3, 9, LEAVES[3], path, TREE.root(9)), Code.INCLUSION)
    assert refused(lambda: verify_inclusion(3, 16, LEAVES[3], path, TREE.root(8)), Code.INCLUSION)


@pytest.mark.parametrize("new", range(131))
def test_every_consistency_proof_is_the_recursions_and_verifies(new: int) -> None:
    for old in range(new + 1):
        proof = TREE.proof(old, new)
        assert [TREE.mth(*r) for r in consistency_ranges(old, new)] == proof
        verify_consistency(old, new, TREE.root(old), TREE.root(new), proof)


@pytest.mark.parametrize("new", range(1, 34))
def test_every_tampered_twin_of_a_consistency_proof_is_refused(new: int) -> None:
    for old in range(1, new + 1):
        proof, old_root, new_root = TREE.proof(old, new), TREE.root(old), TREE.root(new)
        twins = [
            (old, new, OTHER, new_root, proof),
            (old, new, old_root, OTHER, proof),
            (old, new, old_root, new_root, [*proof, OTHER]),
        ]
        if old < new:
            twins.append((new, old, new_root, old_root, proof))
        for n in range(len(proof)):
            twins.append((old, new, old_root, new_root, proof[:n] + proof[n + 1 :]))
            twins.append((old, new, old_root, new_root, [*proof[:n], OTHER, *proof[n + 1 :]]))
        if len(proof) > 1:
            twins.append((old, new, old_root, new_root, proof[::-1]))
        for twin in twins:
            assert refused(lambda t=twin: verify_consistency(*t), Code.CONSISTENCY), twin


def test_anything_extends_the_empty_log_but_only_with_its_root_and_no_hashes() -> None:
    verify_consistency(0, 5, EMPTY_ROOT, TREE.root(5), [])
    verify_consistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    for twin in (
        (0, 5, OTHER, TREE.root(5), []),
        (0, 5, EMPTY_ROOT, TREE.root(5), [OTHER]),
        (0, 0, OTHER, OTHER, []),
        (-1, 5, EMPTY_ROOT, TREE.root(5), []),
    ):
        assert refused(lambda t=twin: verify_consistency(*t), Code.CONSISTENCY), twin


def test_an_empty_log_has_no_other_root() -> None:
    assert refused(lambda: verify_consistency(0, 0, EMPTY_ROOT, OTHER, []), Code.CONSISTENCY)


def test_a_log_that_changed_one_leaf_is_no_extension() -> None:
    from_other = [*ENTRIES[:3], b"changed", *ENTRIES[4:8]]
    other = type(TREE)(from_other)
    proof = other.proof(5, 8)
    assert refused(
        lambda: verify_consistency(5, 8, TREE.root(5), other.root(8), proof), Code.CONSISTENCY
    )
