"""Game versions and table settings that a signed log may not contain."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import SHORT, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, install, shipped

SHIPPED = ["punto-banco-6d", "punto-banco-8d-tie9", "mini-baccarat-8d", "classic-8d-tie9"]
SHIPPED += ["shoe-6d", "shoe-7d", "shoe-8d"]
Install = Callable[[pb.GameInstalled], object]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_game_is_installed_and_plays(name: str) -> None:
    game = shipped(name)
    log = ForgedLog()
    install(log, game)
    limits = pb.TableSettings().limits
    limits.currency, limits.step, limits.minimum, limits.maximum = "USD", 20, 500, 10_000
    table = ForgedTable(log, "7", game, limits)
    play_shoe(table)
    report = check_log(log)
    assert report.findings == []
    assert report.facts["games"][f"{name} version 1"]["rounds"] == len(table.rounds)


GAMES: dict[str, tuple[Install, Code]] = {
    "odds of another return": (
        lambda r: setattr(r.odds[0].theoretical_return, "numerator", 1),
        Code.ODDS_MISMATCH,
    ),
    "odds of another hit rate": (
        lambda r: setattr(r.odds[2].hit_rate, "numerator", 1),
        Code.ODDS_MISMATCH,
    ),
    "odds in another order": (lambda r: r.odds.append(r.odds.pop(0)), Code.ODDS_MISMATCH),
    "odds of another bet": (lambda r: setattr(r.odds[0], "bet", "tie"), Code.ODDS_MISMATCH),
    "odds missing": (lambda r: r.odds.pop(), Code.ODDS_MISMATCH),
    "no odds": (lambda r: r.ClearField("odds"), Code.ODDS_MISMATCH),
    "declared return": (
        lambda r: setattr(r.definition.bets[0].declared_return, "numerator", 1),
        Code.GAME_DEFINITION,
    ),
    "return not in lowest terms": (
        lambda r: double(r.definition.bets[0].declared_return),
        Code.GAME_DEFINITION,
    ),
    "return divides by zero": (
        lambda r: r.definition.bets[0].declared_return.ClearField("denominator"),
        Code.GAME_DEFINITION,
    ),
    "another pay": (
        lambda r: setattr(r.definition.bets[2].cases[0].pays, "numerator", 7),
        Code.GAME_DEFINITION,
    ),
    "edge outside its band": (
        lambda r: setattr(r.definition.bets[0].edge_minimum, "denominator", 50),
        Code.GAME_DEFINITION,
    ),
    "unknown fact": (
        lambda r: setattr(r.definition.bets[0].cases[0].conditions[0], "fact", "luck"),
        Code.GAME_DEFINITION,
    ),
    "undecided rounds": (lambda r: r.definition.bets[0].cases.pop(), Code.GAME_DEFINITION),
    "other rules": (lambda r: setattr(r.definition, "rules", "baccarat/2"), Code.GAME_DEFINITION),
    "other deal order": (
        lambda r: setattr(r.definition, "deal_order", "ppbb/1"),
        Code.GAME_DEFINITION,
    ),
    "nine decks": (lambda r: setattr(r.definition, "decks", 9), Code.GAME_DEFINITION),
    "no decks": (lambda r: r.definition.ClearField("decks"), Code.GAME_DEFINITION),
    "other decks": (lambda r: setattr(r.definition, "decks", 8), Code.GAME_DEFINITION),
    "unknown shuffle": (lambda r: setattr(r.definition, "shuffle", 3), Code.GAME_DEFINITION),
    "unknown rounding": (lambda r: setattr(r.definition, "rounding", 9), Code.GAME_DEFINITION),
    "unknown bet result": (
        lambda r: setattr(r.definition.bets[0].cases[2], "result", 9),
        Code.GAME_DEFINITION,
    ),
    "cut card too deep": (lambda r: setattr(r.definition, "cut_depth", 11), Code.GAME_DEFINITION),
    "no version": (lambda r: r.definition.ClearField("version"), Code.GAME_DEFINITION),
    "no definition": (lambda r: r.ClearField("definition"), Code.GAME_DEFINITION),
    "nobody": (lambda r: r.ClearField("by"), Code.RECORD_LIMITS),
}


def double(ratio: Any) -> None:
    """Writes a ratio in twice its terms."""
    ratio.numerator, ratio.denominator = 2 * ratio.numerator, 2 * ratio.denominator


@pytest.mark.parametrize(("change", "code"), GAMES.values(), ids=GAMES.keys())
def test_a_game_that_does_not_add_up_is_refused(change: Install, code: Code) -> None:
    log = ForgedLog(nth(pb.GameInstalled, 1, change))
    install(log, SHORT)
    assert errors(check_log(log)) == [code]


def test_a_version_is_installed_once() -> None:
    log = ForgedLog()
    install(log, SHORT)
    install(log, replace(SHORT, title="Another"))
    install(log, replace(SHORT, version=2))
    assert errors(check_log(log)) == [Code.GAME_DEFINITION]


Settings = Callable[[pb.TableSettings], object]
SETTINGS: dict[str, tuple[Settings, Code]] = {
    "another game": (lambda s: setattr(s, "game_id", "shoe-8d"), Code.TABLE_SETTINGS),
    "another version": (lambda s: setattr(s, "game_version", 2), Code.TABLE_SETTINGS),
    "unknown currency": (lambda s: setattr(s.limits, "currency", "XXX"), Code.TABLE_SETTINGS),
    "digits of another currency": (lambda s: setattr(s, "currency_digits", 0), Code.TABLE_SETTINGS),
    "no step": (lambda s: s.limits.ClearField("step"), Code.TABLE_SETTINGS),
    "step not of the game": (lambda s: setattr(s.limits, "step", 10), Code.TABLE_SETTINGS),
    "minimum off the step": (lambda s: setattr(s.limits, "minimum", 110), Code.TABLE_SETTINGS),
    "no minimum": (lambda s: s.limits.ClearField("minimum"), Code.TABLE_SETTINGS),
    "maximum off the step": (lambda s: setattr(s.limits, "maximum", 1010), Code.TABLE_SETTINGS),
    "maximum below minimum": (lambda s: setattr(s.limits, "maximum", 80), Code.TABLE_SETTINGS),
    "maximum that could pay beyond int64": (
        lambda s: setattr(s.limits, "maximum", 2**62 // 20 * 20),
        Code.TABLE_SETTINGS,
    ),
    "spot maximum below maximum": (
        lambda s: setattr(s.limits, "spot_maximum", 20),
        Code.TABLE_SETTINGS,
    ),
    "dealer of 65 bytes": (lambda s: setattr(s, "dealer", "x" * 65), Code.RECORD_LIMITS),
}


def created(change: Callable[[pb.TableChanged], object], name: str = "7") -> list[Code]:
    """Returns the findings on a table whose creation was changed before it was signed."""
    log = ForgedLog(nth(pb.TableChanged, 1, change))
    table_of(log=log, name=name)
    return errors(check_log(log))


@pytest.mark.parametrize(("change", "code"), SETTINGS.values(), ids=SETTINGS.keys())
def test_settings_outside_their_game_are_refused(change: Settings, code: Code) -> None:
    assert created(lambda r: change(r.settings)) == [code]


CREATIONS: dict[str, tuple[Callable[[pb.TableChanged], object], Code]] = {
    "sequence": (lambda r: setattr(r.link, "sequence", 2), Code.CHAIN),
    "previous record": (lambda r: setattr(r.link, "previous_hash", bytes(32)), Code.CHAIN),
    "state before": (lambda r: setattr(r, "before", 1), Code.TABLE_STATE),
    "suspended": (lambda r: setattr(r, "after", 2), Code.TABLE_STATE),
    "no state": (lambda r: r.ClearField("after"), Code.TABLE_STATE),
    "nobody": (lambda r: r.ClearField("by"), Code.RECORD_LIMITS),
    "no settings": (lambda r: r.ClearField("settings"), Code.TABLE_SETTINGS),
}


@pytest.mark.parametrize(("change", "code"), CREATIONS.values(), ids=CREATIONS.keys())
def test_a_table_starts_enabled_with_its_first_record(
    change: Callable[[pb.TableChanged], object], code: Code
) -> None:
    assert created(change) == [code]


@pytest.mark.parametrize("name", ["", "A", "ta/ble", "x" * 41, "tisch-ü", "a b"])
def test_a_table_id_is_a_plain_segment(name: str) -> None:
    assert created(lambda _: None, name) == [Code.RECORD_LIMITS]


def test_settings_are_fixed_for_a_tables_life() -> None:
    table = table_of()
    table.change(pb.TABLE_STATE_SUSPENDED, table.settings)
    assert errors(check_log(table.log)) == [Code.TABLE_SETTINGS]


def test_a_table_is_created_once() -> None:
    table = table_of()
    ForgedTable(table.log, "7", SHORT)
    assert errors(check_log(table.log)) == [Code.SEQUENCE_GAP]


@pytest.mark.parametrize(("minimum", "maximum"), [(480, 1000), (500, 50_020)])
def test_a_tables_limits_lie_inside_its_games(minimum: int, maximum: int) -> None:
    game = shipped("mini-baccarat-8d")  # 5.00 to 500.00 USD
    limits = pb.TableSettings().limits
    limits.currency, limits.step, limits.minimum, limits.maximum = "USD", 20, minimum, maximum
    log = ForgedLog()
    install(log, game)
    ForgedTable(log, "7", game, limits)
    assert errors(check_log(log)) == [Code.TABLE_SETTINGS]


def test_the_return_of_the_shipped_banker_bet_is_the_published_one() -> None:
    edge = 1 - SHORT.bets[1].declared_return
    assert abs(edge - Fraction("0.01055849")) < Fraction(1, 10**8)  # 6 decks, 19 to 20
