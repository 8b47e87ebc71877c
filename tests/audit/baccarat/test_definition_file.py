"""A definition file is read strictly: every key known, every value of its type."""

from fractions import Fraction

import pytest

from sealedshoe_audit.baccarat.bets import BetResult, Condition
from sealedshoe_audit.baccarat.definition import GameLimits
from sealedshoe_audit.baccarat.definition_file import parse_definition
from sealedshoe_audit.errors import DefinitionError
from tests.audit.baccarat.games import game_text

SHOE = game_text("shoe-8d")
FIRST_WHEN = 'when = { outcome = "player" }'
FIRST_PAYS = 'pays = "1"\n'
LIMITS = '\n[[limits]]\ncurrency = "USD"\ndigits = 2\nminimum = 500\nmaximum = 1000\n'


def changed(old: str, new: str) -> str:
    """The eight-deck shoe game with its first `old` replaced."""
    assert old in SHOE
    return SHOE.replace(old, new, 1)


TWINS: dict[str, tuple[str, str]] = {
    "not TOML": ("", changed("decks = 8", "decks = = 8")),
    "key twice": ("", changed("decks = 8", "decks = 8\ndecks = 8")),
    "unknown key": ("burn_cards", changed("decks = 8", "decks = 8\nburn_cards = 1")),
    "unknown key in a bet": (
        "bets[0].commision",
        changed('title = "Player"', 'title = "Player"\ncommision = "1/20"'),
    ),
    "unknown key in a case": (
        "bets[0].cases[0].pay",
        changed(FIRST_PAYS, 'pays = "1"\npay = "2"\n'),
    ),
    "unknown key in limits": ("limits[0].currencies", SHOE + LIMITS + "currencies = 3\n"),
    "missing key": ("decks", changed("decks = 8\n", "")),
    "missing free rounds": ("free_rounds", changed("free_rounds = 0\n", "")),
    "missing bet id": ("bets[0].id", changed('id = "player"\n', "")),
    "missing result": ("bets[0].cases[0].result", changed('result = "win"\n', "")),
    "missing limit": ("limits[0].maximum", SHOE + LIMITS.replace("maximum = 1000\n", "")),
    "text for a number": ("decks", changed("decks = 8", 'decks = "8"')),
    "fraction for a number": ("decks", changed("decks = 8", "decks = 8.0")),
    "true for a number": ("version", changed("version = 1", "version = true")),
    "number for a text": ("title", changed('title = "Shoe Baccarat, 8 decks"', "title = 8")),
    "other shuffle": ("shuffle", changed('"cut-card"', '"never"')),
    "other rounding": ("rounding", changed('"exact"', '"nearest"')),
    "other result": ("bets[0].cases[0].result", changed('result = "win"', 'result = "void"')),
    "float for a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, "pays = 1.0\n")),
    "negative ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "-1"\n')),
    "comma in a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "0,95"\n')),
    "colon in a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "3:2"\n')),
    "exponent in a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "1e3"\n')),
    "space in a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = " 1"\n')),
    "other digits in a ratio": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "١"\n')),
    "division by zero": ("bets[0].cases[0].pays", changed(FIRST_PAYS, 'pays = "1/0"\n')),
    "bets as a table": ("bets", SHOE.split("[[bets]]")[0] + "[bets]\n"),
    "bets as numbers": ("bets[0]", SHOE.split("[[bets]]")[0] + "bets = [1]\n"),
    "when as a text": ("bets[0].cases[0].when", changed(FIRST_WHEN, 'when = "player"')),
    "other outcome": (
        "bets[0].cases[0].when.outcome",
        changed(FIRST_WHEN, 'when = { outcome = "dealer" }'),
    ),
    "outcome as a number": (
        "bets[0].cases[0].when.outcome",
        changed(FIRST_WHEN, "when = { outcome = 1 }"),
    ),
    "negative fact": (
        "bets[0].cases[0].when.margin",
        changed(FIRST_WHEN, "when = { margin = -1 }"),
    ),
    "fact as a float": (
        "bets[0].cases[0].when.margin",
        changed(FIRST_WHEN, "when = { margin = 4.0 }"),
    ),
    "fact as a text": (
        "bets[0].cases[0].when.margin",
        changed(FIRST_WHEN, 'when = { margin = "4" }'),
    ),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_damaged_file_is_refused_by_the_name_of_its_field(twin: str) -> None:
    field, text = TWINS[twin]
    with pytest.raises(DefinitionError) as refused:
        parse_definition(text)
    assert refused.value.field == field


def test_limits_are_read_with_and_without_a_currency() -> None:
    with_currency = parse_definition(SHOE + LIMITS)
    without = parse_definition(SHOE + LIMITS.replace('currency = "USD"\n', ""))
    assert with_currency.limits == (GameLimits("USD", 2, 500, 1000),)
    assert without.limits == (GameLimits("", 2, 500, 1000),)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [("8", "8"), ("19/20", "19/20"), ("0.54", "27/50"), ("38/40", "19/20"), ("1.50", "3/2")],
)
def test_a_ratio_is_read_exactly(text: str, ratio: str) -> None:
    read = parse_definition(changed(FIRST_PAYS, f'pays = "{text}"\n'))
    assert read.bets[0].cases[0].pays == Fraction(ratio)


@pytest.mark.parametrize(
    ("when", "condition"),
    [
        ('outcome = "tie"', Condition("outcome", (3,))),
        ('outcome = ["player", "tie"]', Condition("outcome", (1, 3))),
        ("margin = 4", Condition("margin", (4,))),
        ("cards = [5, 6]", Condition("cards", (5, 6))),
        ("natural = true", Condition("natural", (1,))),
        ("player_pair = false", Condition("player_pair", (0,))),
    ],
)
def test_a_condition_is_read_as_written(when: str, condition: Condition) -> None:
    read = parse_definition(changed(FIRST_WHEN, f"when = {{ {when} }}"))
    assert read.bets[0].cases[0].conditions == (condition,)


def test_a_case_without_when_always_holds() -> None:
    last = parse_definition(SHOE).bets[0].cases[-1]
    assert last.conditions == ()
    assert last.result is BetResult.LOSE


@pytest.mark.parametrize("when", ["outcome = true", "margin = true", "player_total = false"])
def test_true_and_false_are_no_values_of_a_fact_that_counts(when: str) -> None:
    with pytest.raises(DefinitionError):
        parse_definition(changed(FIRST_WHEN, f"when = {{ {when} }}"))
