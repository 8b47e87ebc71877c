"""A definition is recorded and read back whole, with its exact odds."""

from fractions import Fraction

import pytest

from sealedshoe_audit.baccarat.definition import TableLimits, check_definition
from sealedshoe_audit.definition_record import (
    definition_message,
    odds_messages,
    ratio_message,
    read_definition,
    read_limits,
)
from sealedshoe_audit.errors import DefinitionError
from sealedshoe_audit.v1 import game_pb2 as pb
from tests.audit.baccarat.games import GAMES, game
from tests.audit.vectors import vector_json


@pytest.mark.parametrize("game_id", GAMES)
def test_a_definition_comes_back_from_its_record_whole(game_id: str) -> None:
    definition = game(game_id)
    data = definition_message(definition).SerializeToString(deterministic=True)
    read = read_definition(pb.GameDefinition.FromString(data))
    assert read == definition
    check_definition(read)


def test_a_record_says_what_the_definition_says() -> None:
    message = definition_message(game("shoe-8d"))
    assert (message.game_id, message.version, message.decks) == ("shoe-8d", 1, 8)
    assert message.shuffle == pb.SHUFFLE_POLICY_CUT_CARD
    assert message.rounding == pb.ROUNDING_EXACT
    assert (message.cut_depth, message.rounds_after_cut) == (14, 1)
    banker = message.bets[1]
    assert banker.cases[0].result == pb.BET_RESULT_WIN
    assert (banker.cases[0].commission.numerator, banker.cases[0].commission.denominator) == (1, 20)
    assert not banker.cases[1].HasField("pays")
    assert not message.bets[0].cases[0].HasField("commission")
    assert list(message.bets[2].cases[0].conditions[0].values) == [3]


@pytest.mark.parametrize(
    ("game_id", "tie"),
    [("shoe-8d", "tie_8to1 (= 9 for 1)"), ("classic-8d-tie9", "tie_9to1 (= 10 for 1)")],
)
def test_recorded_odds_are_the_published_ones(game_id: str, tie: str) -> None:
    exact = vector_json("baccarat_exact.json")["decks"]["8"]
    edges = ("player_1to1", "banker_1to1_less_5pct (0.95 to 1)", tie)
    messages = odds_messages(game(game_id))
    assert [odds.bet for odds in messages] == ["player", "banker", "tie"]
    for odds, edge, winner in zip(messages, edges, "PBT", strict=True):
        returned, rate = odds.theoretical_return, odds.hit_rate
        assert 1 - Fraction(returned.numerator, returned.denominator) == Fraction(
            exact["house_edge"][edge]["fraction"]
        )
        assert Fraction(rate.numerator, rate.denominator) == Fraction(
            exact["probability"][winner]["fraction"]
        )


def test_a_ratio_is_recorded_in_lowest_terms() -> None:
    message = ratio_message(Fraction(38, 40))
    assert (message.numerator, message.denominator) == (19, 20)


def damaged(name: str) -> pb.GameDefinition:
    """A recorded definition with one thing wrong."""
    message = definition_message(game("shoe-8d"))
    if name == "shuffle":
        message.shuffle = 9  # type: ignore[assignment]
    elif name == "no rounding":
        message.rounding = pb.ROUNDING_UNSPECIFIED
    elif name == "result":
        message.bets[1].cases[0].result = 7  # type: ignore[assignment]
    elif name == "pays by zero":
        message.bets[1].cases[0].pays.denominator = 0
    elif name == "pays not in lowest terms":
        message.bets[1].cases[0].pays.CopyFrom(pb.Ratio(numerator=2, denominator=2))
    elif name == "commission not in lowest terms":
        message.bets[1].cases[0].commission.CopyFrom(pb.Ratio(numerator=2, denominator=40))
    elif name == "no declared return":
        message.bets[0].ClearField("declared_return")
    elif name == "no band":
        message.bets[2].ClearField("edge_maximum")
    return message


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("shuffle", "shuffle"),
        ("no rounding", "shuffle"),
        ("result", "bets[1].cases[0].result"),
        ("pays by zero", "bets[1].cases[0].pays"),
        ("pays not in lowest terms", "bets[1].cases[0].pays"),
        ("commission not in lowest terms", "bets[1].cases[0].commission"),
        ("no declared return", "bets[0].declared_return"),
        ("no band", "bets[2].edge_maximum"),
    ],
)
def test_a_damaged_record_is_refused_by_the_name_of_its_field(name: str, field: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        read_definition(damaged(name))
    assert refused.value.field == field


def test_a_push_with_a_recorded_pay_of_zero_is_refused() -> None:
    message = definition_message(game("shoe-8d"))
    message.bets[0].cases[1].pays.CopyFrom(pb.Ratio(numerator=0, denominator=1))
    with pytest.raises(DefinitionError):
        check_definition(read_definition(message))


def test_a_tables_limits_are_read() -> None:
    message = pb.Limits(currency="USD", minimum=500, maximum=1000, step=20, spot_maximum=5000)
    assert read_limits(message) == TableLimits("USD", 500, 1000, 20, 5000)
