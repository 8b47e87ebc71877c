"""The shipped game definitions, as tests find them."""

from dataclasses import replace
from importlib.resources import files

from sealedshoe_audit.baccarat.bets import Bet, Case
from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.baccarat.definition_file import parse_definition

GAMES = (
    "punto-banco-6d",
    "punto-banco-8d-tie9",
    "mini-baccarat-8d",
    "classic-8d-tie9",
    "shoe-6d",
    "shoe-7d",
    "shoe-8d",
)


def game_text(game_id: str) -> str:
    """Returns a shipped file's text."""
    return (files("sealedshoe_audit.baccarat") / "games" / f"{game_id}.toml").read_text("utf-8")


def game(game_id: str) -> GameDefinition:
    """Returns a shipped definition."""
    return parse_definition(game_text(game_id))


def with_bet(base: GameDefinition, index: int, **changes: object) -> GameDefinition:
    """Returns a definition with one bet changed."""
    bets: list[Bet] = list(base.bets)
    bets[index] = replace(bets[index], **changes)  # type: ignore[arg-type]
    return replace(base, bets=tuple(bets))


def with_case(base: GameDefinition, index: int, case: int, **changes: object) -> GameDefinition:
    """Returns a definition with one case of one bet changed."""
    cases: list[Case] = list(base.bets[index].cases)
    cases[case] = replace(cases[case], **changes)  # type: ignore[arg-type]
    return with_bet(base, index, cases=tuple(cases))
