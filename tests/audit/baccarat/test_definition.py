"""A definition that could mislead, overpay or run out of cards is refused, naming the field."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case, Condition
from sealedshoe_audit.baccarat.definition import (
    GameDefinition,
    GameLimits,
    Shuffle,
    check_definition,
)
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.definition_record import definition_message
from sealedshoe_audit.errors import DefinitionError
from tests.audit.baccarat.bets_data import LOSE, win
from tests.audit.baccarat.games import game, with_bet, with_case

SHOE = game("shoe-8d")
FRESH = game("punto-banco-8d-tie9")
Change = Callable[[], GameDefinition]
ON_TIE = Condition("outcome", (3,))


def limits(*values: tuple[str, int, int, int]) -> GameDefinition:
    """The eight-deck game with these limits."""
    return replace(FRESH, limits=tuple(GameLimits(*value) for value in values))


TWINS: dict[str, tuple[str, Change]] = {
    "upper case id": ("game_id", lambda: replace(SHOE, game_id="Shoe")),
    "long id": ("game_id", lambda: replace(SHOE, game_id="x" * 41)),
    "version 0": ("version", lambda: replace(SHOE, version=0)),
    "huge version": ("version", lambda: replace(SHOE, version=2**31)),
    "no title": ("title", lambda: replace(SHOE, title="")),
    "long title": ("title", lambda: replace(SHOE, title="ä" * 33)),
    "two-line title": ("title", lambda: replace(SHOE, title="a\nb")),
    "other rules": ("rules", lambda: replace(SHOE, rules="baccarat/2")),
    "no decks": ("decks", lambda: replace(SHOE, decks=0)),
    "nine decks": ("decks", lambda: replace(SHOE, decks=9)),
    "other deal order": ("deal_order", lambda: replace(SHOE, deal_order="ppbb/1")),
    "cut too shallow for one more round": ("cut_depth", lambda: replace(SHOE, cut_depth=11)),
    "cut too shallow": ("cut_depth", lambda: replace(SHOE, cut_depth=5, rounds_after_cut=0)),
    "cut in front of the shoe": ("cut_depth", lambda: replace(SHOE, cut_depth=416)),
    "two rounds after": ("rounds_after_cut", lambda: replace(SHOE, rounds_after_cut=2)),
    "negative rounds after": ("rounds_after_cut", lambda: replace(SHOE, rounds_after_cut=-1)),
    "cut without shoe": ("cut_depth", lambda: replace(FRESH, cut_depth=14)),
    "rounds after no cut": ("rounds_after_cut", lambda: replace(FRESH, rounds_after_cut=1)),
    "no step": ("step_multiple", lambda: replace(SHOE, step_multiple=0)),
    "step beyond int64": ("step_multiple", lambda: replace(SHOE, step_multiple=2**63)),
    "negative interval": ("round_interval_ms", lambda: replace(SHOE, round_interval_ms=-1)),
    "negative free rounds": ("free_rounds", lambda: replace(SHOE, free_rounds=-1)),
    "too many free rounds": ("free_rounds", lambda: replace(SHOE, free_rounds=101)),
    "no bets": ("bets", lambda: replace(SHOE, bets=())),
    "33 bets": ("bets", lambda: replace(SHOE, bets=SHOE.bets * 11)),
    "one bet twice": ("bets", lambda: replace(SHOE, bets=SHOE.bets[:1] * 2)),
    "bad bet id": ("bets[2].id", lambda: with_bet(SHOE, 2, id="Tie")),
    "no bet title": ("bets[2].title", lambda: with_bet(SHOE, 2, title="")),
    "no cases": ("bets[0].cases", lambda: with_bet(SHOE, 0, cases=())),
    "33 cases": ("bets[0].cases", lambda: with_bet(SHOE, 0, cases=(LOSE,) * 33)),
    "undecided rounds": (
        "bets[0].cases",
        lambda: with_bet(SHOE, 0, cases=SHOE.bets[0].cases[:2]),
    ),
    "wrong declared return": (
        "bets[1].declared_return",
        lambda: with_bet(SHOE, 1, declared_return=Fraction(98942094, 10**8)),
    ),
    "return of other decks": ("bets[0].declared_return", lambda: replace(SHOE, decks=6)),
    "other pay, old return": (
        "bets[2].declared_return",
        lambda: with_case(SHOE, 2, 0, pays=Fraction(9)),
    ),
    "band above the edge": (
        "bets[0].edge",
        lambda: with_bet(SHOE, 0, edge_minimum=Fraction(1, 80)),
    ),
    "band below the edge": (
        "bets[0].edge",
        lambda: with_bet(SHOE, 0, edge_maximum=Fraction(1, 99)),
    ),
    "negative band": ("bets[0].edge", lambda: with_bet(SHOE, 0, edge_minimum=Fraction(-1, 99))),
    "band turned round": (
        "bets[0].edge",
        lambda: with_bet(SHOE, 0, edge_minimum=Fraction(1, 50), edge_maximum=Fraction(1, 99)),
    ),
    "band above one": ("bets[0].edge", lambda: with_bet(SHOE, 0, edge_maximum=Fraction(2))),
    "unknown fact": (
        "bets[0].cases[0].conditions[0]",
        lambda: with_case(SHOE, 0, 0, conditions=(Condition("colour", (1,)),)),
    ),
    "value out of range": (
        "bets[0].cases[0].conditions[0]",
        lambda: with_case(SHOE, 0, 0, conditions=(Condition("outcome", (4,)),)),
    ),
    "values not ascending": (
        "bets[0].cases[0].conditions[0]",
        lambda: with_case(SHOE, 0, 0, conditions=(Condition("outcome", (3, 1)),)),
    ),
    "value twice": (
        "bets[0].cases[0].conditions[0]",
        lambda: with_case(SHOE, 0, 0, conditions=(Condition("outcome", (1, 1)),)),
    ),
    "no value": (
        "bets[0].cases[0].conditions[0]",
        lambda: with_case(SHOE, 0, 0, conditions=(Condition("outcome", ()),)),
    ),
    "a win that pays nothing": (
        "bets[0].cases[0].pays",
        lambda: with_case(SHOE, 0, 0, pays=Fraction(0)),
    ),
    "pays too much": (
        "bets[0].cases[0].pays",
        lambda: with_case(SHOE, 0, 0, pays=Fraction(10_001)),
    ),
    "all for the house": (
        "bets[1].cases[0].commission",
        lambda: with_case(SHOE, 1, 0, commission=Fraction(1)),
    ),
    "negative commission": (
        "bets[1].cases[0].commission",
        lambda: with_case(SHOE, 1, 0, commission=Fraction(-1, 20)),
    ),
    "terms too long": (
        "bets[0].cases[0].pays",
        lambda: with_case(SHOE, 0, 0, pays=Fraction(1_000_003, 1_000_001)),
    ),
    "a push that pays": (
        "bets[0].cases[1].pays",
        lambda: with_case(SHOE, 0, 1, pays=Fraction(1)),
    ),
    "a loss with commission": (
        "bets[0].cases[2].pays",
        lambda: with_case(SHOE, 0, 2, commission=Fraction(1, 20)),
    ),
    "one currency twice": (
        "limits",
        lambda: limits(("USD", 2, 500, 1000), ("USD", 2, 500, 2000)),
    ),
    "lower case currency": ("limits[0].currency", lambda: limits(("usd", 2, 500, 1000))),
    "negative digits": ("limits[0].digits", lambda: limits(("USD", -1, 500, 1000))),
    "five digits": ("limits[0].digits", lambda: limits(("USD", 5, 500, 1000))),
    "no minimum": ("limits[0].minimum", lambda: limits(("USD", 2, 0, 1000))),
    "minimum above maximum": ("limits[0].minimum", lambda: limits(("USD", 2, 1001, 1000))),
    "maximum beyond int64": ("limits[0].minimum", lambda: limits(("USD", 2, 500, 2**63))),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_damaged_definition_is_refused_by_the_name_of_its_field(twin: str) -> None:
    field, change = TWINS[twin]
    with pytest.raises(DefinitionError) as refused:
        check_definition(change())
    assert refused.value.field == field
    assert refused.value.problem


@pytest.mark.parametrize(
    "change",
    [
        lambda: replace(SHOE, cut_depth=12),
        lambda: replace(SHOE, cut_depth=415),
        lambda: replace(SHOE, cut_depth=6, rounds_after_cut=0),
        lambda: replace(SHOE, free_rounds=100, round_interval_ms=2**31 - 1),
        lambda: replace(SHOE, game_id="x" * 40, title="ä" * 32, version=2**31 - 1),
        lambda: limits(("", 0, 1, 1000), ("JPY", 0, 100, 5000)),
    ],
)
def test_a_definition_at_its_bounds_is_accepted(change: Change) -> None:
    assert check_definition(change()) is None


def test_a_player_advantage_before_rounding_is_refused() -> None:
    generous = (Case((ON_TIE,), BetResult.WIN, Fraction(11)), LOSE)
    exact = 12 * Fraction(475627426473216, 4998398275503360)
    twin = with_bet(SHOE, 2, cases=generous, declared_return=exact, edge_minimum=Fraction(0))
    with pytest.raises(DefinitionError) as refused:
        check_definition(twin)
    assert refused.value.field == "bets[2].edge"


def test_side_bets_are_data_and_pass_the_same_checks() -> None:
    dragon = Bet(
        "dragon-7",
        "Dragon 7",
        (win("40", outcome=2, banker_total=7, banker_cards=3), LOSE),
        1 - Fraction(64613588827, 848912750595),
        Fraction(7, 100),
        Fraction(8, 100),
    )
    assert check_definition(replace(SHOE, bets=(*SHOE.bets, dragon))) is None


def test_a_definition_that_is_accepted_can_be_recorded() -> None:
    band = Fraction(12345678901234567891, 99999999999999999999)
    twin = with_bet(SHOE, 0, edge_maximum=band)
    try:
        check_definition(twin)
    except DefinitionError:
        return
    assert definition_message(twin).bets[0].edge_maximum.denominator


def test_shuffle_policies_have_the_numbers_of_the_record() -> None:
    assert (Shuffle.EVERY_ROUND, Shuffle.CUT_CARD) == (1, 2)
    assert [rule.value for rule in Rounding] == [1, 2, 3, 4, 5]
