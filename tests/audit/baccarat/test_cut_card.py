"""The cut card ends a shoe after exactly so many rounds, and cards are always left."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.baccarat.rules import deal
from tests.audit.baccarat.games import game

SHOE = game("shoe-8d")
CUT = 416 - 14


def shoe_game(decks: int, cut_depth: int, after: int) -> GameDefinition:
    """A shoe game with this cut card."""
    return replace(SHOE, decks=decks, cut_depth=cut_depth, rounds_after_cut=after)


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize(
    ("first", "end"), [(CUT - 5, CUT + 1), (CUT - 1, CUT + 3), (CUT - 3, CUT + 1), (CUT, CUT + 4)]
)
def test_the_round_that_deals_the_cut_position_is_followed_by_exactly_k_more(
    first: int, end: int, after: int
) -> None:
    assert shoe_game(8, 14, after).rounds_left_after(first, end, None) == after


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize(("first", "end"), [(0, 6), (CUT - 6, CUT), (CUT - 4, CUT), (200, 205)])
def test_a_round_that_ends_before_the_cut_position_leaves_the_cut_card_in_the_shoe(
    first: int, end: int, after: int
) -> None:
    assert shoe_game(8, 14, after).rounds_left_after(first, end, None) is None


def test_the_round_after_the_cut_card_is_the_last() -> None:
    assert SHOE.rounds_left_after(CUT + 1, CUT + 7, 1) == 0


def test_a_shoe_of_one_round_is_done_after_it() -> None:
    assert game("punto-banco-6d").rounds_left_after(0, 4, None) == 0


def lengths_dealt(definition: GameDefinition, lengths: list[int]) -> list[tuple[int, int]]:
    """Deals rounds of these lengths, over and over, until the shoe is done."""
    rounds: list[tuple[int, int]] = []
    position, left = 0, None
    while left != 0:
        end = position + lengths[len(rounds) % len(lengths)]
        left = definition.rounds_left_after(position, end, left)
        rounds.append((position, end))
        position = end
    return rounds


@settings(deadline=None, max_examples=150)
@given(
    st.integers(1, 8),
    st.integers(0, 1),
    st.integers(0, 40),
    st.lists(st.integers(4, 6), min_size=1, max_size=30),
)
def test_rounds_of_any_length_never_run_out_of_cards(
    decks: int, after: int, deeper: int, lengths: list[int]
) -> None:
    definition = shoe_game(decks, 6 * (after + 1) + min(deeper, 52 * decks - 13), after)
    rounds = lengths_dealt(definition, lengths)
    cut = 52 * decks - definition.cut_depth
    assert rounds[-1][1] <= 52 * decks
    first, end = rounds[-1 - after]
    assert first <= cut < end


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("decks", [1, 6, 7, 8])
@pytest.mark.parametrize("extra", [0, 2])
def test_many_shuffled_shoes_finish_with_cards_to_spare(decks: int, after: int, extra: int) -> None:
    definition = shoe_game(decks, 6 * (after + 1) + extra, after)
    random = Random(f"{decks} {after} {extra}")
    shoe = list(range(52)) * decks
    least_left = len(shoe)
    for _ in range(60):
        random.shuffle(shoe)
        position, left = 0, None
        while left != 0:
            end = position + len(deal(shoe[position:]).hands)
            left = definition.rounds_left_after(position, end, left)
            position = end
        least_left = min(least_left, len(shoe) - position)
    assert 0 <= least_left <= 8 + extra


def test_a_shoe_that_needs_six_cards_in_every_round_still_finishes() -> None:
    tens = bytes([12]) * 416
    for after in (0, 1):
        rounds = lengths_dealt(shoe_game(8, 6 * (after + 1), after), [len(deal(tens).hands)])
        assert rounds[-1][1] <= 416


def test_a_shoe_of_eight_decks_serves_about_eighty_rounds() -> None:
    assert len(lengths_dealt(SHOE, [4])) == 102
    assert len(lengths_dealt(SHOE, [6])) == 69
