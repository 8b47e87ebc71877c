"""Resource names: `tables/7`, `tables/7/rounds/12`, `games/shoe-8d/versions/1`."""

import re

_ID = "[a-z0-9-]{1,40}"
_NUMBER = "[1-9][0-9]{0,18}"
_TABLE = re.compile(f"tables/({_ID})")
_ROUND = re.compile(f"tables/({_ID})/rounds/({_NUMBER})")
_GAME = re.compile(f"games/({_ID})/versions/({_NUMBER})")


def table_name(table: str) -> str:
    """Returns the name of a table."""
    return f"tables/{table}"


def round_name(table: str, number: int) -> str:
    """Returns the name of a round."""
    return f"tables/{table}/rounds/{number}"


def game_name(game_id: str, version: int) -> str:
    """Returns the name of a game version."""
    return f"games/{game_id}/versions/{version}"


def parse_table_name(name: str) -> str | None:
    """Returns the table id, or None for another form."""
    match = _TABLE.fullmatch(name)
    return match[1] if match else None


def parse_round_name(name: str) -> tuple[str, int] | None:
    """Returns table id and round number, or None for another form."""
    match = _ROUND.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def parse_game_name(name: str) -> tuple[str, int] | None:
    """Returns game id and version, or None for another form."""
    match = _GAME.fullmatch(name)
    return (match[1], int(match[2])) if match else None
