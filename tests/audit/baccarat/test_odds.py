"""Exact odds equal published counts and house edges, and a walk over all value sequences."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import perm
from typing import Any

import pytest

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case
from sealedshoe_audit.baccarat.odds import (
    case_counts,
    hit_rate,
    round_counts,
    sequences,
    theoretical_return,
)
from tests.audit.baccarat.bets_data import BETS, bet, win
from tests.audit.baccarat.reference import reference_round
from tests.audit.vectors import vector_json

EXACT: dict[str, dict[str, Any]] = vector_json("baccarat_exact.json")["decks"]
PUBLISHED = [int(decks) for decks in EXACT]
WINNER = {1: "P", 2: "B", 3: "T"}
PER_RESOLVED = {
    "player_1to1 per resolved bet (ties left out)": "player_1to1",
    "banker_0.95to1 per resolved bet (ties left out)": "banker_1to1_less_5pct (0.95 to 1)",
}


def counts_by(decks: int, key: Any) -> Counter[Any]:
    """Adds up the sequences of all facts with the same key."""
    totals: Counter[Any] = Counter()
    for facts, ways in round_counts(decks).items():
        totals[key(facts)] += ways
    return totals


@pytest.mark.parametrize("decks", range(1, 9))
def test_the_counts_add_up_to_all_ordered_six_card_sequences(decks: int) -> None:
    assert sequences(decks) == perm(52 * decks, 6)
    assert sum(round_counts(decks).values()) == perm(52 * decks, 6)


@pytest.mark.parametrize(
    ("decks", "total", "banker", "player", "tie"),
    [
        (6, 878869206895680, 403095751234560, 392220492728832, 83552962932288),
        (7, 2231622494861760, 1023469376328448, 995884732700032, 212268385833280),
        (8, 4998398275503360, 2292252566437888, 2230518282592256, 475627426473216),
    ],
)
def test_the_counts_of_6_7_and_8_decks_are_the_usual_ones(
    decks: int, total: int, banker: int, player: int, tie: int
) -> None:
    assert sequences(decks) == total
    assert counts_by(decks, lambda f: f.outcome) == {1: player, 2: banker, 3: tie}


@pytest.mark.parametrize("decks", PUBLISHED)
def test_the_counts_of_every_final_position_are_the_published_ones(decks: int) -> None:
    published = EXACT[str(decks)]
    assert sequences(decks) == int(published["sequences"])
    wins = counts_by(decks, lambda f: WINNER[f.outcome])
    assert wins == {name: int(count) for name, count in published["wins"].items()}
    joint = counts_by(
        decks,
        lambda f: (
            f"{WINNER[f.outcome]} p{f.player_total} b{f.banker_total}"
            f" {f.player_cards}x{f.banker_cards}"
        ),
    )
    assert joint == {key: int(count) for key, count in published["joint_total_counts"].items()}


@pytest.mark.parametrize("decks", PUBLISHED)
def test_four_five_and_six_card_rounds_are_as_likely_as_published(decks: int) -> None:
    counts = counts_by(decks, lambda f: f.cards)
    for cards, odds in EXACT[str(decks)]["by_cards"].items():
        assert Fraction(counts[int(cards)], sequences(decks)) == Fraction(odds["fraction"])


def test_four_card_rounds_are_37_887_percent_at_eight_decks() -> None:
    share = Fraction(counts_by(8, lambda f: f.cards)[4], sequences(8))
    assert f"{float(share):.5f}" == "0.37887"


@pytest.mark.parametrize("decks", PUBLISHED)
def test_pairs_are_as_likely_as_published(decks: int) -> None:
    published = EXACT[str(decks)]["pairs"]
    pairs = counts_by(decks, lambda f: f.player_pair + f.banker_pair)
    perfect = counts_by(decks, lambda f: f.player_perfect_pair + f.banker_perfect_pair)
    counted = {
        "player_pair": counts_by(decks, lambda f: f.player_pair)[1],
        "banker_pair": counts_by(decks, lambda f: f.banker_pair)[1],
        "either_pair": pairs[1] + pairs[2],
        "both_pairs": pairs[2],
        "one_perfect_pair": perfect[1],
        "two_perfect_pairs": perfect[2],
    }
    assert {name: Fraction(count, sequences(decks)) for name, count in counted.items()} == {
        name: Fraction(odds["fraction"]) for name, odds in published.items()
    }


@pytest.mark.parametrize("decks", range(1, 9))
def test_a_pair_is_as_likely_as_its_second_card(decks: int) -> None:
    cards = 52 * decks
    for hand in ("player", "banker"):
        pair = counts_by(decks, lambda f, h=hand: getattr(f, f"{h}_pair"))[1]
        perfect = counts_by(decks, lambda f, h=hand: getattr(f, f"{h}_perfect_pair"))[1]
        assert Fraction(pair, sequences(decks)) == Fraction(4 * decks - 1, cards - 1)
        assert Fraction(perfect, sequences(decks)) == Fraction(decks - 1, cards - 1)


def test_every_published_house_edge_has_a_definition() -> None:
    for published in EXACT.values():
        assert set(published["house_edge"]) == set(BETS) | set(PER_RESOLVED)


@pytest.mark.parametrize("name", BETS)
@pytest.mark.parametrize("decks", PUBLISHED)
def test_the_house_edge_of_a_bet_is_the_published_fraction(decks: int, name: str) -> None:
    edge = 1 - theoretical_return(BETS[name], decks)
    assert edge == Fraction(EXACT[str(decks)]["house_edge"][name]["fraction"])


@pytest.mark.parametrize("name", PER_RESOLVED)
@pytest.mark.parametrize("decks", PUBLISHED)
def test_the_house_edge_with_ties_left_out_is_the_published_fraction(decks: int, name: str) -> None:
    edge = 1 - theoretical_return(BETS[PER_RESOLVED[name]], decks)
    tie = Fraction(EXACT[str(decks)]["probability"]["T"]["fraction"])
    assert edge / (1 - tie) == Fraction(EXACT[str(decks)]["house_edge"][name]["fraction"])


@pytest.mark.parametrize("decks", PUBLISHED)
def test_the_hit_rate_of_a_bet_is_its_probability_to_win(decks: int) -> None:
    probability = EXACT[str(decks)]["probability"]
    tie = hit_rate(BETS["tie_8to1 (= 9 for 1)"], decks)
    player = hit_rate(BETS["player_1to1"], decks)
    assert tie == Fraction(probability["T"]["fraction"])
    assert player == Fraction(probability["P"]["fraction"])


def test_only_the_first_case_that_holds_is_counted() -> None:
    twice = bet(win("1", outcome=3), win("9", outcome=3), win("1", outcome=(1, 2)))
    counts = case_counts(twice, 8)
    assert counts[0] == 475627426473216
    assert counts[1] == 0
    assert counts[3] == 0
    assert theoretical_return(twice, 8) == 2


def test_a_bet_that_leaves_a_round_undecided_has_no_odds() -> None:
    half = Bet(
        "b",
        "B",
        (Case(win("1", outcome=1).conditions, BetResult.WIN, Fraction(1)),),
        Fraction(0),
        Fraction(0),
        Fraction(1),
    )
    with pytest.raises(LookupError, match="no case"):
        theoretical_return(half, 8)


@cache
def walked(*all_decks: int) -> list[Counter[tuple[int, int, int, int]]]:
    """Counts final positions by visiting every sequence of card values, for each number of decks."""
    found: list[Counter[tuple[int, int, int, int]]] = [Counter() for _ in all_decks]
    for four in product(range(10), repeat=4):
        lefts = [_left(decks, four) for decks in all_decks]
        for five, six in product(range(10), range(10)):
            key = reference_round((*four, five, six))
            for counter, (ways, left) in zip(found, lefts, strict=True):
                counter[key] += ways * left[five] * (left[six] - (five == six))
    return found


def _left(decks: int, four: tuple[int, ...]) -> tuple[int, list[int]]:
    """Ways to draw four cards of these values, and how many of each value are left."""
    left, ways = [16 * decks] + [4 * decks] * 9, 1
    for value in four:
        ways *= left[value]
        left[value] -= 1
    return ways, left


@pytest.mark.parametrize("decks", [3, 5])
def test_a_walk_over_all_million_value_sequences_gives_the_same_counts(decks: int) -> None:
    counts = counts_by(
        decks, lambda f: (f.player_total, f.banker_total, f.player_cards, f.banker_cards)
    )
    assert counts == walked(3, 5)[(3, 5).index(decks)]
