"""The drawing rules, cell by cell, pair by pair, and against a second implementation."""

from itertools import product

import pytest

from sealedshoe_audit.baccarat.cards import POINTS
from sealedshoe_audit.baccarat.rules import (
    Hand,
    Outcome,
    Round,
    ShoeExhausted,
    banker_draws,
    deal,
    explain,
    outcome_of,
    player_draws,
)
from tests.audit.baccarat.reference import CHART, cards_worth, chart_draws, reference_round
from tests.audit.vectors import vector_json

VALUES = dict(zip("KQJT A23456789".replace(" ", ""), (0, 0, 0, 0, *range(1, 10)), strict=True))
FAULTS = vector_json("baccarat_exact.json")["faults"]


def dealt(cards: str) -> Round:
    """Deals cards written by rank, in the order they leave the shoe."""
    return deal(cards_worth([VALUES[rank] for rank in cards.split()]))


@pytest.mark.parametrize("third", [*range(10), None])
@pytest.mark.parametrize("total", range(8))
def test_each_of_the_88_banker_cells_is_the_charts(total: int, third: int | None) -> None:
    assert banker_draws(total, third) is chart_draws(total, third)


def test_the_chart_has_88_cells_of_which_57_draw() -> None:
    cells = "".join(CHART).replace(" ", "")
    assert len(cells) == 88
    assert cells.count("D") == 57


@pytest.mark.parametrize("total", range(8))
def test_player_draws_on_0_to_5(total: int) -> None:
    assert player_draws(total) is (total in {0, 1, 2, 3, 4, 5})


@pytest.mark.parametrize(("player", "banker"), list(product(range(10), range(10))))
def test_every_pair_of_two_card_totals_goes_on_as_the_rules_say(player: int, banker: int) -> None:
    for third, last in product(range(10), range(10)):
        values = [0, 0, player, banker, third, last]
        finished = deal(cards_worth(values))
        got = (finished.player_total, finished.banker_total)
        assert (*got, len(finished.player), len(finished.banker)) == reference_round(values)
        assert finished.natural is (player >= 8 or banker >= 8)


def test_naturals_of_either_hand_stop_both() -> None:
    assert dealt("K K K 8 9 9").hands == (1, 2, 1, 2)
    assert dealt("K K K 8 9 9").outcome is Outcome.BANKER
    assert dealt("K K 9 A 9 9").outcome is Outcome.PLAYER
    assert dealt("K K 9 8 9 9").outcome is Outcome.PLAYER
    assert dealt("4 5 4 3 9 9").outcome is Outcome.TIE


def test_eight_in_three_cards_is_no_natural() -> None:
    finished = dealt("K K K K 8 8")
    assert not finished.natural
    assert (finished.player_total, finished.banker_total) == (8, 8)
    assert len(finished.banker) == 3


def test_a_ten_valued_third_card_leaves_banker_4_standing() -> None:
    finished = dealt("2 4 2 K K 9")
    assert finished.outcome is Outcome.TIE
    assert (finished.player_total, finished.banker_total) == (4, 4)
    assert len(finished.hands) == 5


def test_banker_6_looks_at_the_third_card_and_not_at_players_total() -> None:
    finished = dealt("K K A 6 5 9")
    assert (finished.player_total, finished.banker_total) == (6, 6)
    assert finished.outcome is Outcome.TIE
    assert len(finished.banker) == 2


def test_banker_3_draws_when_player_stands_on_6() -> None:
    finished = dealt("K K 6 3 3 9")
    assert (finished.player_total, finished.banker_total) == (6, 6)
    assert finished.hands == (Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER, Hand.BANKER)


def test_banker_3_draws_on_a_ten_valued_third_card() -> None:
    assert len(dealt("K K K 3 K 5").banker) == 3


def test_a_sum_of_20_is_a_total_of_0() -> None:
    finished = dealt("K 2 K 9 K 9")
    assert sum(POINTS[card] for card in finished.banker) == 20
    assert finished.banker_total == 0
    assert finished.outcome is Outcome.TIE


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_round_that_a_known_fault_gets_wrong_is_right(fault: str) -> None:
    first = FAULTS[fault]["first_difference"]
    finished = deal(cards_worth(first["cards_P1_B1_P2_B2_x_y"]))
    assert finished.outcome.name[0] == first["right"]
    assert finished.outcome.name[0] != first["faulty"]


def test_cards_go_player_banker_player_banker_player_banker() -> None:
    cards = cards_worth([1, 2, 2, 1, 6, 5, 9])
    finished = deal(cards)
    assert finished.player == (cards[0], cards[2], cards[4])
    assert finished.banker == (cards[1], cards[3], cards[5])
    assert finished.hands == (1, 2, 1, 2, 1, 2)


def test_a_seventh_card_is_never_touched() -> None:
    assert deal(cards_worth([0] * 6)) == deal(cards_worth([0] * 6) + bytes(range(46)))


@pytest.mark.parametrize("left", range(6))
def test_a_round_of_six_cards_is_refused_from_a_shorter_shoe(left: int) -> None:
    shoe = bytearray(cards_worth([0] * 6)[:left])
    before = bytes(shoe)
    with pytest.raises(ShoeExhausted, match=f"{left} cards left"):
        deal(shoe)
    assert bytes(shoe) == before


@pytest.mark.parametrize(("cards", "used"), [("K K 9 9", 4), ("K K 7 5 4", 5), ("K K K 7 9", 5)])
def test_a_shoe_that_just_suffices_is_dealt(cards: str, used: int) -> None:
    assert len(dealt(cards).hands) == used


def test_the_higher_total_wins_and_equal_totals_tie() -> None:
    for player, banker in product(range(10), range(10)):
        sign = (player > banker) - (player < banker)
        right = {1: Outcome.PLAYER, -1: Outcome.BANKER, 0: Outcome.TIE}[sign]
        assert outcome_of(player, banker) is right


def test_all_two_card_hands_and_third_cards_agree_with_a_second_implementation() -> None:
    hands = [(low, high) for low in range(10) for high in range(low, 10)]
    differences = 0
    for (p1, p2), (b1, b2) in product(hands, hands):
        for third, last in product(range(10), range(10)):
            finished = deal((CODES[p1], CODES[b1], CODES[p2], CODES[b2], CODES[third], CODES[last]))
            differences += (
                finished.player_total,
                finished.banker_total,
                len(finished.player),
                len(finished.banker),
            ) != reference_round((p1, b1, p2, b2, third, last))
    assert differences == 0


CODES = [12, *range(9)]


@pytest.mark.parametrize(
    ("cards", "sentences"),
    [
        (
            "K K 9 A",
            [
                "Player has 9, Banker has 1 in two cards.",
                "A natural (8 or 9 in two cards): both hands stand.",
            ],
        ),
        (
            "K K 6 3 3",
            [
                "Player has 6, Banker has 3 in two cards.",
                "Player stands on 6.",
                "Banker draws on 3, as Player stood.",
            ],
        ),
        (
            "K K 7 6",
            [
                "Player has 7, Banker has 6 in two cards.",
                "Player stands on 7.",
                "Banker stands on 6, as Player stood.",
            ],
        ),
        (
            "K K A 6 5",
            [
                "Player has 1, Banker has 6 in two cards.",
                "Player draws on 1: third card worth 5.",
                "Banker stands on 6 against a third card worth 5.",
            ],
        ),
        (
            "K K A 6 7 A",
            [
                "Player has 1, Banker has 6 in two cards.",
                "Player draws on 1: third card worth 7.",
                "Banker draws on 6 against a third card worth 7.",
            ],
        ),
    ],
)
def test_a_round_is_explained_rule_by_rule(cards: str, sentences: list[str]) -> None:
    assert explain(dealt(cards)) == sentences
