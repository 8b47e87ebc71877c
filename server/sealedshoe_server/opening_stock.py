"""What a server without tables begins with: the seven games, and a USD table for each."""

import contextlib
from importlib import resources

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server import answers
from sealedshoe_server.dealing import decide
from sealedshoe_server.errors import GameError
from sealedshoe_server.floor import Floor
from sealedshoe_server.games import Games, game_record
from sealedshoe_server.house import SERVER, House
from sealedshoe_server.storage.interface import Placement, Request

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


async def open_stock(house: House, floor: Floor, games: Games) -> None:
    """Gives a log its first games and tables; goes on where a crash left it, and else does nothing.

    Raises:
        GameError: a table cannot be opened, as when the RNG is failed.
    """
    stock = definition_files()
    if not stock.keys() > floor.tables.keys():
        return
    for game_id, text in stock.items():
        with contextlib.suppress(GameError):
            await house.install(
                game_record(text, house.origin, house.now_us(), SERVER), None, _no_answer
            )
        if game_id not in floor.tables:
            await _open_table(floor, games.definition(game_id, 1))


def _no_answer(_: bytes, __: Placement) -> bytes:
    return b""


async def _open_table(floor: Floor, game: GameDefinition) -> None:
    settings = table_settings(game)
    request = Request("server", f"opening-stock-{game.game_id}", b"")
    await floor.create(
        game.game_id,
        request,
        lambda around: decide.create_table(around, game.game_id, settings, game, SERVER),
        answers.created_table,
    )
