"""Wagers are settled exactly, in integers, with the named rounding rule."""

from fractions import Fraction
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.baccarat.bets import BetResult, Case
from sealedshoe_audit.baccarat.cards import parse_card
from sealedshoe_audit.baccarat.facts import round_facts
from sealedshoe_audit.baccarat.odds import edge_range
from sealedshoe_audit.baccarat.rules import deal
from sealedshoe_audit.baccarat.settlement import INT64_MAX, NotWhole, Rounding, settle
from tests.audit.baccarat.bets_data import BETS, COMMISSION_BET, push, win
from tests.audit.vectors import vector_json

COMMISSION = vector_json("baccarat_exact.json")["commission_rounding_8_decks"]
BANKER_WINS = win("1", "1/20", outcome=2)
INEXACT = [rule for rule in Rounding if rule is not Rounding.EXACT]


def net_of(stake: int, net: Fraction, rule: Rounding) -> int:
    """Rounds winnings as the rule's name says, with Python's own floor, ceiling and round."""
    exact = stake * net
    return {
        Rounding.DOWN: floor(exact),
        Rounding.UP: ceil(exact),
        Rounding.HALF_UP: floor(exact + Fraction(1, 2)),
        Rounding.HALF_EVEN: round(exact),
    }[rule]


@pytest.mark.parametrize(
    ("case", "stake", "paid", "commission"),
    [
        (win("1"), 10, 20, 0),
        (win("8"), 10, 90, 0),
        (win("9"), 500, 5000, 0),
        (BANKER_WINS, 20, 39, 1),
        (BANKER_WINS, 1000, 1950, 50),
        (BANKER_WINS, 2000, 3900, 100),
        (win("0.54"), 50, 77, 0),
        (push(), 10, 10, 0),
        (Case((), BetResult.LOSE), 100, 0, 0),
        (win("1"), 2**31, 2**32, 0),
        (win("1"), 1_500_000_000, 3_000_000_000, 0),
        (win("40"), 2**40, 41 * 2**40, 0),
    ],
)
def test_a_wager_comes_to_what_was_worked_out_by_hand(
    case: Case, stake: int, paid: int, commission: int
) -> None:
    settlement = settle(case, stake, Rounding.EXACT)
    assert settlement.paid == paid
    assert settlement.commission == commission
    assert settlement.gross_return == paid + commission
    assert settlement.stake == stake
    assert settlement.result is case.result


def test_a_push_is_no_win_and_brings_nothing() -> None:
    settlement = settle(BETS["player_1to1"].cases[1], 50_000, Rounding.EXACT)
    assert settlement.result is BetResult.PUSH
    assert settlement.paid - settlement.stake == 0


def test_ten_units_on_banker_are_refused_as_exact_and_rounded_as_named() -> None:
    with pytest.raises(NotWhole, match="19/20"):
        settle(BANKER_WINS, 10, Rounding.EXACT)
    assert {rule: settle(BANKER_WINS, 10, rule).paid for rule in INEXACT} == {
        Rounding.DOWN: 19,
        Rounding.UP: 20,
        Rounding.HALF_UP: 20,
        Rounding.HALF_EVEN: 20,
    }
    assert settle(BANKER_WINS, 30, Rounding.HALF_EVEN).paid == 58
    assert settle(BANKER_WINS, 30, Rounding.HALF_UP).paid == 59


def test_gross_winnings_that_are_not_whole_are_refused_as_exact() -> None:
    with pytest.raises(NotWhole, match="3/2"):
        settle(win("1.5"), 3, Rounding.EXACT)


@pytest.mark.parametrize("rule", [Rounding.DOWN, Rounding.HALF_UP])
def test_every_stake_to_100000_is_paid_its_exact_fraction(rule: Rounding) -> None:
    wrong = [
        stake
        for stake in range(1, 100_001)
        if settle(BANKER_WINS, stake, rule).paid - stake
        != stake * 19 // 20 + (rule is Rounding.HALF_UP and stake * 19 % 20 >= 10)
    ]
    assert wrong == []


@settings(deadline=None, max_examples=400)
@given(
    st.integers(1, 2**50),
    st.fractions(Fraction(1, 50), 200, max_denominator=60).filter(lambda f: f > 0),
    st.fractions(0, Fraction(49, 50), max_denominator=60),
    st.sampled_from(INEXACT),
)
def test_any_payment_is_rounded_as_the_rules_name_says(
    stake: int, pays: Fraction, commission: Fraction, rule: Rounding
) -> None:
    settlement = settle(Case((), BetResult.WIN, pays, commission), stake, rule)
    assert settlement.paid - stake == net_of(stake, pays * (1 - commission), rule)
    assert settlement.gross_return - stake == net_of(stake, pays, rule)
    assert settlement.commission >= 0


@pytest.mark.parametrize("rule", list(Rounding))
def test_a_return_beyond_int64_is_refused_and_never_negative(rule: Rounding) -> None:
    largest = INT64_MAX // 2
    assert settle(win("1"), largest, rule).paid == 2**63 - 2
    with pytest.raises(OverflowError, match="int64"):
        settle(win("1"), largest + 1, rule)
    with pytest.raises(OverflowError, match="int64"):
        settle(win("10000"), 2**62, rule)


@pytest.mark.parametrize("stake", COMMISSION)
def test_the_commission_at_eight_decks_is_rounded_and_costs_as_published(stake: str) -> None:
    row: dict[str, Any] = COMMISSION[stake]
    for rule in INEXACT:
        published = row[rule.name.lower()]
        assert settle(BANKER_WINS, int(stake), rule).paid - int(stake) == published["pays"]
        low, high = edge_range(COMMISSION_BET, 8, rule, int(stake), int(stake), int(stake))
        assert low == high
        assert f"{round(low * 10**8) / 10**6:.6f}" == published["edge_percent"]


def test_two_winning_wagers_bring_two_credits_that_add_up() -> None:
    facts = round_facts(deal([parse_card(text) for text in ("4C", "3C", "4D", "2C")]))
    main = settle(BETS["player_1to1"].case(facts), 100, Rounding.EXACT)
    pair = settle(BETS["player_pair_11to1"].case(facts), 50, Rounding.EXACT)
    assert (main.paid, pair.paid) == (200, 600)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.permutations(list(range(52))).map(lambda shoe: tuple(shoe[:6])),
            st.sampled_from(sorted(BETS)),
            st.integers(1, 10_000),
        ),
        max_size=8,
    ),
    st.sampled_from(INEXACT),
)
def test_stakes_are_returns_plus_what_the_house_keeps_to_the_unit(
    wagers: list[tuple[tuple[int, ...], str, int]], rule: Rounding
) -> None:
    stakes = paid = house = 0
    for cards, name, stake in wagers:
        case = BETS[name].case(round_facts(deal(cards)))
        stakes += stake
        paid += settle(case, stake, rule).paid
        house += stake if case.result is BetResult.LOSE else -net_of(stake, case.net, rule)
    assert stakes == paid + house
