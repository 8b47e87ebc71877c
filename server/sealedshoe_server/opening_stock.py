"""What a server without tables begins with: the seven games, and a USD table for each."""

from importlib import resources

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb

GAME_FILES = resources.files("sealedshoe_audit.baccarat").joinpath("games")
CURRENCY, DIGITS = "USD", 2
MINIMUM, MAXIMUM, STEP = 100, 100_000, 20  # where the game leaves the limits to the table


def definition_files() -> dict[str, str]:
    """Returns {game id: definition file} of the games that ship with the product."""
    return {
        item.name.removesuffix(".toml"): item.read_text("utf-8")
        for item in sorted(GAME_FILES.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".toml")
    }


def table_settings(game: GameDefinition) -> pb.TableSettings:
    """Returns the settings of a game's first table: the game's own limits where it has any."""
    minimum, maximum = MINIMUM, MAXIMUM
    for limits in game.limits:
        if limits.currency in (CURRENCY, ""):
            unit = 10 ** (DIGITS - limits.digits)
            minimum, maximum = limits.minimum * unit, limits.maximum * unit
    return pb.TableSettings(
        game_id=game.game_id,
        game_version=game.version,
        limits=game_pb2.Limits(currency=CURRENCY, minimum=minimum, maximum=maximum, step=STEP),
        currency_digits=DIGITS,
    )
