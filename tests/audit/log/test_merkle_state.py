"""The growing edge of a log and the small tree in memory have the recursion's hashes."""

import pytest

from sealedshoe_audit.log.merkle import (
    EMPTY_ROOT,
    Frontier,
    LeafTree,
    leaf_hash,
    outside_range,
    split_hashes,
)
from tests.audit.log.reference import ENTRIES, TREE

LEAVES = [leaf_hash(entry) for entry in ENTRIES]


def test_the_edge_has_every_root_on_its_way_and_names_each_completed_subtree() -> None:
    frontier = Frontier()
    assert frontier.root() == EMPTY_ROOT
    found: dict[tuple[int, int], bytes] = {}
    for size, leaf in enumerate(LEAVES, 1):
        for level, index, node in frontier.append(leaf):
            assert (level, index) not in found
            found[level, index] = node
        assert frontier.size == size
        assert frontier.root() == TREE.root(size)
    assert found == {
        (level, index): TREE.mth(index << level, (index + 1) << level)
        for level in range(8)
        for index in range(130 >> level)
    }


@pytest.mark.parametrize("size", range(131))
def test_an_edge_taken_up_again_goes_on_as_if_it_had_not_stopped(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier.append(leaf)
    again = Frontier.from_edge(size, frontier.edge())
    assert len(frontier.edge()) == 32 * size.bit_count()
    assert (again.size, again.root()) == (size, TREE.root(size))
    assert again.append(b"\0" * 32) == frontier.append(b"\0" * 32)
    assert again.root() == frontier.root()


@pytest.mark.parametrize("size", range(131))
def test_the_edges_subtrees_are_complete_and_cover_the_log(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier.append(leaf)
    subtrees = frontier.complete()
    assert all(
        node == TREE.mth(index << level, (index + 1) << level)
        for (level, index), node in subtrees.items()
    )
    covered = sorted(
        leaf for level, index in subtrees for leaf in range(index << level, (index + 1) << level)
    )
    assert covered == list(range(size))


@pytest.mark.parametrize(("size", "hashes"), [(0, 1), (1, 0), (3, 1), (3, 3), (4, 2), (7, 2)])
def test_an_edge_of_another_number_of_hashes_is_refused(size: int, hashes: int) -> None:
    with pytest.raises(ValueError, match=f"a tree of {size} leaves"):
        Frontier(size, [bytes(32)] * hashes)
    with pytest.raises(ValueError, match=f"a tree of {size} leaves"):
        Frontier.from_edge(size, bytes(32) * hashes)


@pytest.mark.parametrize("cut", [1, 16, 31])
def test_a_torn_edge_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="edge"):
        Frontier.from_edge(3, bytes(64)[:-cut])


def test_joined_hashes_are_split_and_a_rest_shows() -> None:
    assert split_hashes(b"") == []
    assert split_hashes(b"a" * 32 + b"b" * 32) == [b"a" * 32, b"b" * 32]
    assert split_hashes(b"a" * 32 + b"b") == [b"a" * 32, b"b"]


@pytest.mark.parametrize("size", range(1, 131))
def test_the_small_tree_has_the_recursions_root(size: int) -> None:
    assert LeafTree(LEAVES[:size]).root == TREE.root(size)


@pytest.mark.parametrize("size", range(1, 20))
def test_the_small_tree_names_the_maximal_subtrees_outside_every_range(size: int) -> None:
    tree = LeafTree(LEAVES[:size])
    for start in range(size):
        for end in range(start + 1, size + 1):
            outside = tree.outside(start, end)
            leaves = [leaf for low, high in outside for leaf in range(low, high)]
            assert leaves == [*range(start), *range(end, size)]
            assert outside == outside_range(start, end, size)
            assert all(tree.subtree(low, high) == TREE.mth(low, high) for low, high in outside)


def test_the_whole_tree_leaves_nothing_outside() -> None:
    assert outside_range(0, 7, 7) == []
    assert outside_range(2, 3, 7) == [(0, 2), (3, 4), (4, 7)]
    assert outside_range(0, 1, 7) == [(1, 2), (2, 4), (4, 7)]
