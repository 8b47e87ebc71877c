"""OperatorService: what the operator of the server calls."""

from collections.abc import Callable

from sealedshoe_audit.currencies import CURRENCY_DIGITS
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.house import check_log_closed, check_table_id
from sealedshoe_audit.fold.table import check_settings
from sealedshoe_audit.names import game_name
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server import answers
from sealedshoe_server.dealing import decide
from sealedshoe_server.dealing.draft import Draft, Surroundings
from sealedshoe_server.errors import GameError, Reason, invalid
from sealedshoe_server.floor import Floor
from sealedshoe_server.games import Games, game_record
from sealedshoe_server.house import House, RequestTaken
from sealedshoe_server.key_changes import KeyMaster
from sealedshoe_server.live_table import LiveTable
from sealedshoe_server.services import requests
from sealedshoe_server.storage.interface import Placement
from sealedshoe_server.upkeep import open_missing_rounds
from sealedshoe_server.v1 import operator_service_pb2 as pb_op


class OperatorService:
    """Validates, calls, and answers in bytes."""

    def __init__(
        self,
        floor: Floor,
        games: Games,
        house: House,
        keys: KeyMaster,
        status: Callable[[], pb_op.GetStatusResponse],
    ) -> None:
        """Takes its collaborators."""
        self._floor = floor
        self._games = games
        self._house = house
        self._keys = keys
        self._status = status

    async def InstallGame(self, request: pb_op.InstallGameRequest) -> bytes:
        """Records a definition with its exact odds."""
        key = requests.request_of(request, request.request_id)
        stored = await self._floor.stored_answer(key)
        if stored is not None:
            return stored
        by = requests.accountability(request.by)
        record = game_record(request.definition_toml, self._house.origin, self._house.now_us(), by)
        game = record.definition

        def answer(envelope: bytes, placement: Placement) -> bytes:
            return pb_op.InstallGameResponse(
                game=game_name(game.game_id, game.version),
                odds=record.odds,
                record=answers.logged_alone(envelope, placement),
            ).SerializeToString(deterministic=True)

        try:
            return await self._floor.finish(self._house.install(record, key, answer))
        except RequestTaken:
            return await self._floor.first_answer(key)

    async def CreateTable(self, request: pb_op.CreateTableRequest) -> bytes:
        """Opens a table with its first round."""
        key = requests.request_of(request, request.request_id)
        settings = pb.TableSettings()
        settings.CopyFrom(request.settings)
        if request.table_id == "-":
            raise invalid(Reason.FIELD_INVALID, "table_id", "stands for all tables in ListRounds")
        try:
            check_table_id(request.table_id)
        except VerificationError as error:
            raise invalid(Reason.FIELD_INVALID, "table_id", error.expected) from error
        game = self._games.definition(settings.game_id, settings.game_version)
        digits = CURRENCY_DIGITS.get(settings.limits.currency)
        if digits is None:
            raise invalid(
                Reason.CURRENCY_UNKNOWN, "settings.limits.currency", "must be an ISO 4217 code"
            )
        settings.currency_digits = digits
        try:
            check_settings(settings, game)
        except VerificationError as error:
            field = "settings" if error.code is Code.TABLE_SETTINGS else "settings.dealer"
            raise GameError(
                Reason.TABLE_SETTINGS_INVALID, error.found, fields=[(field, error.found)]
            ) from error
        by = requests.accountability(request.by)

        def create(around: Surroundings) -> Draft:
            return decide.create_table(around, request.table_id, settings, game, by)

        return await self._floor.create(request.table_id, key, create, answers.created_table)

    async def SetTableState(self, request: pb_op.SetTableStateRequest) -> bytes:
        """Suspends, resumes, drains or closes a table."""
        key = requests.request_of(request, request.request_id)
        requests.check_enum(request.state, pb.TableState.values(), "state")
        by = requests.accountability(request.by)
        live = self._floor.find(requests.table_id(request.table, "table"))
        stored = await self._floor.stored_answer(key)
        if stored is not None:
            return stored
        enables = request.state == pb.TableState.TABLE_STATE_ENABLED
        if enables:
            await self._floor.finish(self._house.resume_rng(by))

        def change(around: Surroundings, live: LiveTable) -> Draft:
            shoe = self._floor.cards_if_any(live)
            return decide.set_state(around, live.state, request.state, shoe, by)

        answer = await self._floor.command(live, key, change, answers.changed_state)
        if enables:  # other tables may have waited for the RNG too
            await self._floor.finish(open_missing_rounds(self._floor))
        return answer

    async def VoidRound(self, request: pb_op.VoidRoundRequest) -> bytes:
        """Cancels an open, undealt round."""
        key = requests.request_of(request, request.request_id, request.round)
        requests.check_enum(request.cause, pb.VoidCause.values(), "cause")
        by = requests.accountability(request.by)
        table, number = requests.round_id(request.round, "round")
        live = self._floor.find(table)

        def void(around: Surroundings, live: LiveTable) -> Draft:
            if number != live.state.round_number:
                raise GameError(
                    Reason.ROUND_NOT_OPEN,
                    f"round {number} is not open",
                    metadata={"open_round": self._floor.open_round_name(live)},
                )
            shoe = self._floor.cards_if_any(live)
            return decide.void_round(around, live.state, request.cause, shoe, by)

        return await self._floor.command(live, key, void, answers.voided_round)

    async def RetireShoe(self, request: pb_op.RetireShoeRequest) -> bytes:
        """Ends a shoe early and reveals it."""
        key = requests.request_of(request, request.request_id)
        requests.check_enum(request.cause, pb.RetireCause.values(), "cause")
        if request.void_cause not in pb.VoidCause.values():
            raise invalid(Reason.FIELD_INVALID, "void_cause", f"has no value {request.void_cause}")
        by = requests.accountability(request.by)
        live = self._floor.find(requests.table_id(request.table, "table"))

        def retire(around: Surroundings, live: LiveTable) -> Draft:
            shoe = self._floor.cards_if_any(live)
            return decide.retire_shoe(
                around, live.state, request.cause, request.void_cause, shoe, by
            )

        return await self._floor.command(live, key, retire, answers.retired_shoe)

    async def ChangeKey(self, request: pb_op.ChangeKeyRequest) -> pb_op.ChangeKeyResponse:
        """Takes a change of keys that the root key authorised."""
        change = request.change
        if change.header.ByteSize():
            raise invalid(Reason.FIELD_INVALID, "change.header", "is filled in by the server")
        requests.check_enum(change.purpose, pb.KeyPurpose.values(), "change.purpose")
        return pb_op.ChangeKeyResponse(done=await self._keys.take(change))

    async def CloseLog(self, request: pb_op.CloseLogRequest) -> bytes:
        """Ends the log for good."""
        key = requests.request_of(request, request.request_id)
        by = requests.accountability(request.by)
        record = pb.LogClosed(
            successor_origin=request.successor_origin,
            successor_root_key=request.successor_root_key,
            by=by,
        )
        try:
            check_log_closed(record)
        except VerificationError as error:
            raise invalid(Reason.FIELD_INVALID, "successor_origin", error.expected) from error

        def answer(envelope: bytes, placement: Placement) -> bytes:
            logged = answers.logged_alone(envelope, placement)
            return pb_op.CloseLogResponse(record=logged).SerializeToString(deterministic=True)

        try:
            closing = self._floor.close_log(key, lambda: self._house.close_log(record, key, answer))
            return await self._floor.finish(closing)
        except RequestTaken:
            return await self._floor.first_answer(key)

    async def GetStatus(self, _: pb_op.GetStatusRequest) -> pb_op.GetStatusResponse:
        """How the server is."""
        return self._status()
