"""The facts of a round are read off its cards, and a bet's first case that holds decides."""

import pytest

from sealedshoe_audit.baccarat.bets import BetResult
from sealedshoe_audit.baccarat.cards import parse_card
from sealedshoe_audit.baccarat.facts import FACT_VALUES, Facts, round_facts
from sealedshoe_audit.baccarat.rules import deal
from tests.audit.baccarat.bets_data import BETS


def facts_of_cards(cards: str) -> Facts:
    """Deals cards in text form and returns the facts."""
    return round_facts(deal([parse_card(text) for text in cards.split()]))


@pytest.mark.parametrize(
    ("cards", "facts"),
    [
        # outcome, totals, margin, cards of each and all, naturals, pairs, perfect pairs
        ("KC KD 9H AS", (1, 9, 1, 8, 2, 2, 4, 1, 1, 0, 0, 0, 0, 0)),
        ("4C 4D 4C 5H", (2, 8, 9, 1, 2, 2, 4, 1, 1, 1, 1, 0, 1, 0)),
        ("KC 4D QH 4D", (2, 0, 8, 8, 2, 2, 4, 1, 0, 1, 0, 1, 0, 1)),
        ("3C 3D 3H 3S", (3, 6, 6, 0, 2, 2, 4, 0, 0, 0, 1, 1, 0, 0)),
        ("KC KC TC KC 8H KD", (1, 8, 0, 8, 3, 3, 6, 0, 0, 0, 0, 1, 0, 1)),
        ("KC KH AC 6H 5D", (3, 6, 6, 0, 3, 2, 5, 0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_the_facts_are_those_worked_out_by_hand(cards: str, facts: tuple[int, ...]) -> None:
    assert tuple(facts_of_cards(cards)) == facts


def test_jack_and_queen_are_worth_the_same_but_no_pair() -> None:
    assert facts_of_cards("JC 2D QC 5H KH").player_pair == 0


def test_every_fact_has_its_range() -> None:
    assert list(FACT_VALUES) == list(Facts._fields)
    assert FACT_VALUES["outcome"] == range(1, 4)
    assert FACT_VALUES["cards"] == range(4, 7)
    assert FACT_VALUES["margin"] == range(10)


@pytest.mark.parametrize(
    ("bet", "cards", "result"),
    [
        ("player_1to1", "KC KD 9H AS", BetResult.WIN),
        ("player_1to1", "3C 3D 3H 3S", BetResult.PUSH),
        ("player_1to1", "KC 4D QH 4D", BetResult.LOSE),
        ("banker_ez_push_on_3card_7", "KC KD 6H 3S 4C", BetResult.PUSH),
        ("dragon7_40to1", "KC KD 6H 3S 4C", BetResult.WIN),
        ("dragon7_40to1", "KC KD 6H 7S", BetResult.LOSE),
        ("panda8_25to1", "KC KD KH 7S 8C", BetResult.WIN),
        ("panda8_25to1", "KC KD 8H 7S 8C", BetResult.LOSE),
        ("dragon_bonus_player", "KC KD 9H 9S", BetResult.PUSH),
        ("dragon_bonus_player", "3C 3D 3H 3S", BetResult.LOSE),
        ("dragon_bonus_player", "KC KD 7H 6S", BetResult.LOSE),
        ("dragon_bonus_player", "KC KD KH KS 9C KC", BetResult.WIN),
    ],
)
def test_a_bet_is_decided_by_the_first_case_that_holds(
    bet: str, cards: str, result: BetResult
) -> None:
    assert BETS[bet].case(facts_of_cards(cards)).result is result


def test_a_nine_point_win_in_three_cards_pays_the_dragon_bonus_30_to_1() -> None:
    assert BETS["dragon_bonus_player"].case(facts_of_cards("KC KD KH KS 9C KC")).pays == 30
    assert BETS["dragon_bonus_player"].case(facts_of_cards("KC KD 9H KS")).pays == 1
