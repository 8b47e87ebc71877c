"""The installed games: cached from the log, installed by appending."""

from sealedshoe_audit.baccarat.definition import GameDefinition, check_definition
from sealedshoe_audit.baccarat.definition_file import parse_definition
from sealedshoe_audit.baccarat.rules_text import rules_text
from sealedshoe_audit.definition_record import (
    definition_message,
    odds_messages,
    read_definition,
)
from sealedshoe_audit.errors import DefinitionError
from sealedshoe_audit.names import game_name
from sealedshoe_audit.records import VERSION, open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.storage.interface import Store, StoreRefused
from sealedshoe_server.v1.game_service_pb2 import Game


class Games:
    """Every installed game version."""

    def __init__(self, store: Store) -> None:
        """Reads them from the log.

        Raises:
            StoreRefused: the index names a leaf that installs no game.
        """
        self._definitions: dict[tuple[str, int], GameDefinition] = {}
        self._served: dict[tuple[str, int], Game] = {}
        for index in store.games():
            record = open_record(store.read(index, 1)[0])
            if not isinstance(record, pb.GameInstalled):
                raise StoreRefused(f"the index of games is damaged: leaf {index} installs none")
            self.add(record)

    def add(self, record: pb.GameInstalled) -> None:
        """Takes over a game whose record is durable."""
        game = read_definition(record.definition)
        key = (game.game_id, game.version)
        self._definitions[key] = game
        self._served[key] = Game(
            name=game_name(*key),
            definition=record.definition,
            odds=record.odds,
            rules_text=rules_text(game),
        )

    def definition(self, game_id: str, version: int) -> GameDefinition:
        """Returns a game's definition.

        Raises:
            GameError: GAME_NOT_FOUND.
        """
        game = self._definitions.get((game_id, version))
        if game is None:
            name = game_name(game_id, version)
            raise GameError(Reason.GAME_NOT_FOUND, f"{name} is not installed")
        return game

    def served(self, game_id: str, version: int) -> Game:
        """Returns a game as players read it.

        Raises:
            GameError: GAME_NOT_FOUND.
        """
        self.definition(game_id, version)
        return self._served[game_id, version]

    def all_served(self) -> list[Game]:
        """Returns every game, by id and version."""
        return [self._served[key] for key in sorted(self._served)]


def game_record(
    definition_toml: str, origin: str, now_us: int, by: pb.Accountability
) -> pb.GameInstalled:
    """Returns the record that installs a definition file, with its exact odds.

    Raises:
        GameError: GAME_DEFINITION_INVALID, naming the field.
    """
    try:
        game = parse_definition(definition_toml)
        check_definition(game)
    except DefinitionError as error:
        field = f"definition_toml.{error.field}" if error.field else "definition_toml"
        raise GameError(
            Reason.GAME_DEFINITION_INVALID, str(error), fields=[(field, error.problem)]
        ) from error
    return pb.GameInstalled(
        header=pb.Header(version=VERSION, origin=origin, time_us=now_us),
        definition=definition_message(game),
        odds=odds_messages(game),
        by=by,
    )
