"""No seed opens two shoes, however long the log; and a record names only recent heads of its own log."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code
from sealedshoe_audit.fold import seeds as module
from sealedshoe_audit.fold.heads import HEAD_WINDOW, RecentHeads
from sealedshoe_audit.fold.seeds import SeedFile, SeedSet
from sealedshoe_audit.log.merkle import Frontier
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import ONE_ROUND, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, wager
from tests.audit.forge.tree import root_of


def seed(number: int) -> bytes:
    """Returns a commitment that spreads over every pass."""
    return number.to_bytes(8, "big") + bytes(24)


def duplicates_of(taken: list[int]) -> list[tuple[int, bytes]]:
    """Returns leaf and commitment of every repetition, plainly; leaves are numbered by tens."""
    return [(10 * n, seed(s)) for n, s in enumerate(taken) if s in taken[:n]]


TAKEN = st.lists(st.integers(0, 12), max_size=30)


@settings(deadline=None, max_examples=100)
@given(TAKEN)
def test_a_file_and_a_set_find_the_same_duplicates(taken: list[int]) -> None:
    file, known = SeedFile(io.BytesIO()), SeedSet()
    at_once = []
    for n, number in enumerate(taken):
        assert file.take(seed(number), 10 * n)
        if not known.take(seed(number), 10 * n):
            at_once.append((10 * n, seed(number)))
    assert at_once == duplicates_of(taken)
    assert sorted(file.duplicates()) == sorted(duplicates_of(taken))


@settings(deadline=None, max_examples=100)
@given(TAKEN, TAKEN)
def test_a_file_goes_on_behind_the_seeds_that_count(first: list[int], second: list[int]) -> None:
    data = io.BytesIO()
    begun = SeedFile(data)
    for n, number in enumerate(first):
        begun.take(seed(number), 10 * n)
    list(begun.duplicates())
    data.write(b"rows of a run that came to nothing")
    going_on = SeedFile(data, len(first))
    for n, number in enumerate(second, len(first)):
        going_on.take(seed(number), 10 * n)
    assert going_on.count == len(first) + len(second)
    assert sorted(going_on.duplicates()) == sorted(duplicates_of(first + second))


def test_a_file_holds_forty_bytes_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    with path.open("w+b") as file:
        register = SeedFile(file)
        register.take(seed(7), 1)
        register.take(seed(8), 300)
        assert list(register.duplicates()) == []
    rows = path.read_bytes()
    assert rows == seed(7) + (1).to_bytes(8, "big") + seed(8) + (300).to_bytes(8, "big")


def test_more_seeds_than_one_pass_holds_are_all_compared() -> None:
    file = SeedFile(io.BytesIO())
    count = module.PASS_SEEDS + 5
    for n in range(count):
        file.take(seed(n), n)
    for n in (0, 1, count - 2, count - 1):
        file.take(seed(n), count + n)
    expected = [(count + n, seed(n)) for n in (0, 1, count - 2, count - 1)]
    assert sorted(file.duplicates()) == expected


def twice(same_table: bool) -> ForgedLog:
    """Returns a log in which a later shoe is of the first shoe's seed."""
    log = ForgedLog()
    table = table_of(ONE_ROUND, log)
    play_shoe(table)
    play_shoe(table)
    other = table if same_table else ForgedTable(log, "8", ONE_ROUND)
    log.shoes_drawn = 0
    other.open(counter=3)
    other.deal(wager("a", "player", 100))
    return log


@pytest.mark.parametrize("same_table", [True, False])
def test_a_seed_that_opens_a_second_shoe_is_found_wherever(same_table: bool) -> None:
    log = twice(same_table)
    report = check_log(log)
    assert errors(report) == [Code.DUPLICATE_SEED]
    assert report.findings[-1].record == f"leaf {len(log.entries) - 2}"


def grown(size: int) -> tuple[RecentHeads, list[bytes]]:
    """Returns the heads of a growing log and the roots of its first sizes."""
    heads, frontier = RecentHeads(), Frontier()
    leaves = [n.to_bytes(32, "big") for n in range(size)]
    for leaf in leaves:
        frontier.append(leaf)
        heads.grow(frontier)
    return heads, leaves


def test_every_head_in_the_window_is_known_by_its_size() -> None:
    heads, leaves = grown(40)
    assert heads.oldest == 0
    for _ in range(2):
        assert [heads.root(size) for size in range(41)] == [root_of(leaves[:n]) for n in range(41)]
    assert heads.root(41) is None
    assert heads.root(-1) is None


def test_heads_start_again_from_their_roots() -> None:
    heads, leaves = grown(40)
    again = RecentHeads(40, heads.roots())
    assert again.roots() == heads.roots() == [root_of(leaves[:n]) for n in range(41)]
    frontier = Frontier()
    for leaf in [*leaves, bytes(32)]:
        frontier.append(leaf)
    again.grow(frontier)
    assert again.root(41) == root_of([*leaves, bytes(32)])
    assert again.root(7) == root_of(leaves[:7])


def test_heads_before_the_window_are_forgotten() -> None:
    size = HEAD_WINDOW + 9
    heads, leaves = grown(size)
    assert heads.oldest == 10
    assert heads.root(9) is None
    assert heads.root(10) == root_of(leaves[:10])
    assert heads.root(size) == root_of(leaves)
    assert len(heads.roots()) == HEAD_WINDOW


def test_heads_that_start_from_part_of_the_window_know_only_that_part() -> None:
    heads, leaves = grown(40)
    part = RecentHeads(40, heads.roots()[-5:])
    assert part.oldest == 36
    assert part.root(35) is None
    assert part.root(36) == root_of(leaves[:36])
