"""The seven published rule sets are shipped as their table says, and hold every check."""

from fractions import Fraction
from importlib.resources import files

import pytest

from sealedshoe_audit.baccarat.bets import BetResult
from sealedshoe_audit.baccarat.definition import (
    GameLimits,
    Shuffle,
    TableLimits,
    check_definition,
    check_table_limits,
)
from sealedshoe_audit.baccarat.settlement import Rounding
from tests.audit.baccarat.games import GAMES, game

USD_5_TO_100 = (GameLimits("USD", 2, 500, 10_000),)
USD_5_TO_500 = (GameLimits("USD", 2, 500, 50_000),)
ANY_1_TO_1000 = (GameLimits("", 0, 1, 1000),)
EVERY, CUT = Shuffle.EVERY_ROUND, Shuffle.CUT_CARD

# decks, shuffle, Tie to 1, limits, exact returns in percent: Player, Banker, Tie
TABLE = {
    "punto-banco-6d": (6, EVERY, 8, (), ("98.762585", "98.944151", "85.561840")),
    "punto-banco-8d-tie9": (8, EVERY, 9, USD_5_TO_100, ("98.764919", "98.942094", "95.155968")),
    "mini-baccarat-8d": (8, EVERY, 8, USD_5_TO_500, ("98.764919", "98.942094", "85.640371")),
    "classic-8d-tie9": (8, EVERY, 9, ANY_1_TO_1000, ("98.764919", "98.942094", "95.155968")),
    "shoe-6d": (6, CUT, 8, (), ("98.762585", "98.944151", "85.561840")),
    "shoe-7d": (7, CUT, 8, (), None),
    "shoe-8d": (8, CUT, 8, (), ("98.764919", "98.942094", "85.640371")),
}


def test_exactly_the_seven_games_are_shipped() -> None:
    folder = files("sealedshoe_audit.baccarat") / "games"
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"{name}.toml" for name in GAMES)
    assert sorted(TABLE) == sorted(GAMES)


@pytest.mark.parametrize("game_id", GAMES)
def test_a_shipped_game_holds_every_check(game_id: str) -> None:
    definition = game(game_id)
    check_definition(definition)
    assert definition.game_id == game_id
    assert definition.version == 1
    assert definition.rounding is Rounding.EXACT


@pytest.mark.parametrize("game_id", GAMES)
def test_a_shipped_game_is_what_its_page_publishes(game_id: str) -> None:
    decks, shuffle, tie_pays, limits, returns = TABLE[game_id]
    definition = game(game_id)
    assert definition.decks == decks
    assert definition.cards == 52 * decks
    assert definition.shuffle is shuffle
    assert definition.limits == limits
    assert definition.round_interval_ms == 0
    assert definition.step_multiple == 20
    player, banker, tie = definition.bets
    assert [bet.id for bet in definition.bets] == ["player", "banker", "tie"]
    assert [case.result for case in player.cases] == [BetResult.WIN, BetResult.PUSH, BetResult.LOSE]
    assert [case.result for case in banker.cases] == [BetResult.WIN, BetResult.PUSH, BetResult.LOSE]
    assert [case.result for case in tie.cases] == [BetResult.WIN, BetResult.LOSE]
    assert player.cases[0].net == 1
    assert (banker.cases[0].pays, banker.cases[0].commission) == (1, Fraction(1, 20))
    assert banker.cases[0].net == Fraction(19, 20)
    assert tie.cases[0].net == tie_pays
    if returns:
        percents = tuple(f"{float(bet.declared_return) * 100:.6f}" for bet in definition.bets)
        assert percents == returns


@pytest.mark.parametrize("game_id", GAMES)
def test_six_cards_can_be_dealt_when_every_round_is_shuffled_and_all_of_a_shoe(
    game_id: str,
) -> None:
    definition = game(game_id)
    if definition.shuffle is EVERY:
        assert (definition.reach, definition.cut_depth, definition.rounds_after_cut) == (6, 0, 0)
    else:
        assert definition.reach == definition.cards
        assert (definition.cut_depth, definition.rounds_after_cut) == (14, 1)


@pytest.mark.parametrize(
    ("game_id", "limits", "digits"),
    [
        ("punto-banco-8d-tie9", TableLimits("USD", 500, 10_000, 20, 0), 2),
        ("mini-baccarat-8d", TableLimits("USD", 500, 50_000, 100, 100_000), 2),
        ("classic-8d-tie9", TableLimits("EUR", 100, 100_000, 20, 0), 2),
        ("classic-8d-tie9", TableLimits("KWD", 1000, 1_000_000, 20, 0), 3),
        ("classic-8d-tie9", TableLimits("JPY", 20, 1000, 20, 0), 0),
        ("punto-banco-6d", TableLimits("JPY", 20, 10**9, 20, 10**10), 0),
        ("shoe-8d", TableLimits("USD", 20, 20, 20, 20), 2),
    ],
)
def test_a_table_inside_a_games_limits_is_accepted(
    game_id: str, limits: TableLimits, digits: int
) -> None:
    assert check_table_limits(game(game_id), limits, digits) is None


def test_a_bet_is_found_by_its_id() -> None:
    definition = game("shoe-8d")
    found = definition.bet("tie")
    assert found is not None
    assert found.title == "Tie"
    assert definition.bet("dragon-7") is None
