"""GameService: what front-ends call."""

from collections.abc import AsyncIterator, Callable

from sealedshoe_audit.baccarat.settlement import INT64_MAX
from sealedshoe_audit.names import parse_game_name, table_name
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server import answers
from sealedshoe_server.dealing import decide
from sealedshoe_server.dealing.draft import Draft, Surroundings
from sealedshoe_server.errors import GameError, Reason, invalid
from sealedshoe_server.floor import Floor
from sealedshoe_server.games import Games
from sealedshoe_server.live_table import LiveTable
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.rounds import Rounds
from sealedshoe_server.services import requests
from sealedshoe_server.storage.interface import Placement, RoundQuery, RoundState, Store
from sealedshoe_server.v1 import game_service_pb2 as pb_game

WATCH_BATCH = 64
MAX_PAGE = 1000
MAX_ANSWER_BYTES = 3 * 1024 * 1024  # pages end here, below gRPC's 4 MiB


class GameService:
    """Validates, calls, and answers in bytes."""

    def __init__(
        self,
        floor: Floor,
        games: Games,
        store: Store,
        writer: LogWriter,
        rounds: Rounds,
        random_bytes: Callable[[int], bytes],
        metrics: Metrics,
        watch_buffer: int,
    ) -> None:
        """Takes its collaborators.

        Args:
            watch_buffer: records that a WatchTable reader may lag behind.
        """
        self._floor = floor
        self._games = games
        self._store = store
        self._writer = writer
        self._rounds = rounds
        self._random_bytes = random_bytes
        self._metrics = metrics
        self._watch_buffer = watch_buffer

    async def ListGames(self, _: pb_game.ListGamesRequest) -> pb_game.ListGamesResponse:
        """All games, by id and version."""
        return pb_game.ListGamesResponse(games=self._games.all_served())

    async def GetGame(self, request: pb_game.GetGameRequest) -> pb_game.GetGameResponse:
        """One game version with its rules text."""
        parsed = parse_game_name(request.name)
        if parsed is None:
            raise invalid(Reason.NAME_INVALID, "name", "must be like games/shoe-8d/versions/1")
        return pb_game.GetGameResponse(game=self._games.served(*parsed))

    async def ListTables(self, request: pb_game.ListTablesRequest) -> pb_game.ListTablesResponse:
        """Tables by id; the token is the last id of the page before."""
        size = requests.page_size(request.page_size, 100, MAX_PAGE)
        names = sorted(name for name in self._floor.tables if name > request.page_token)
        more = names[size - 1] if len(names) > size else ""
        tables = [self._table(self._floor.tables[name]) for name in names[:size]]
        return pb_game.ListTablesResponse(tables=tables, next_page_token=more)

    def _table(self, live: LiveTable) -> pb_game.Table:
        state = live.state
        return pb_game.Table(
            name=table_name(state.table),
            state=state.state,
            settings=state.settings,
            sequence=state.sequence,
            open_round=self._floor.open_round_name(live),
            no_round_reason="" if state.round is not None else live.no_round_reason,
        )

    async def GetTable(self, request: pb_game.GetTableRequest) -> bytes:
        """State, limits, and the openings of the open round and its shoe, proved."""
        live = self._floor.find(requests.table_id(request.name, "name"))
        published = self._writer.published
        answer = pb_game.GetTableResponse(
            table=self._table(live),
            round=self._rounds.open_round(live.state, published.head.head.size),
        )
        return answers.with_checkpoint(answer.SerializeToString(), published.note)

    async def PlaceWagers(self, request: pb_game.PlaceWagersRequest) -> bytes:
        """Takes stakes before the deal."""
        key = requests.request_of(request, request.request_id, request.round)
        table, number = requests.round_id(request.round, "round")
        opening = requests.opening_hash(request.opening_hash)
        live = self._floor.find(table)
        offers = requests.offers_of(request.wagers, self._random_bytes)

        def place(around: Surroundings, live: LiveTable) -> Draft:
            with self._counting_rejects(len(offers)):
                decide.check_open(live.state, number, opening)
                self._floor.check_cosigned(live)
                return decide.place_wagers(
                    around, live.state, number, opening, offers, live.players
                )

        return await self._floor.command(live, key, place, answers.accepted_wagers, offers)

    async def DealRound(self, request: pb_game.DealRoundRequest) -> bytes:
        """Deals, settles, opens the next round."""
        key = requests.request_of(request, request.request_id, request.round)
        table, number = requests.round_id(request.round, "round")
        opening = requests.opening_hash(request.opening_hash)
        live = self._floor.find(table)
        offers = requests.offers_of(request.wagers, self._random_bytes)
        proof: list[bytes] = []

        def deal(around: Surroundings, live: LiveTable) -> Draft:
            with self._counting_rejects(len(offers)):
                opened = decide.check_open(live.state, number, opening)
                if offers or not opened.wagers:
                    self._floor.check_cosigned(live)
                shoe = self._floor.cards(live)
                draft = decide.deal_round(
                    around, live.state, shoe, number, opening, offers, live.players
                )
            record = draft.entries[0].record
            dealt = len(record.cards) if isinstance(record, pb.RoundDealt) else 0
            first = opened.first_position
            proof[:] = shoe.prove(first, first + dealt)
            return draft

        def answer(draft: Draft, placement: Placement) -> bytes:
            return answers.dealt_round(draft, proof, placement)

        return await self._floor.command(live, key, deal, answer, offers)

    def _counting_rejects(self, wagers: int) -> "_RejectCounter":
        return _RejectCounter(self._metrics, wagers)

    async def GetRound(self, request: pb_game.GetRoundRequest) -> bytes:
        """A dealt round, byte for byte as DealRound answered it."""
        table, number = requests.round_id(request.name, "name")
        return await self._rounds.answer(table, number)

    async def ListRounds(self, request: pb_game.ListRoundsRequest) -> pb_game.ListRoundsResponse:
        """Rounds, newest first; the token is the last opening index of the page before."""
        size = requests.page_size(request.page_size, 50, MAX_PAGE)
        found = self._store.rounds(self._query(request, size + 1))
        newest = max((max(r.opened_index, r.result_index or 0) for r in found), default=-1)
        await self._writer.released(newest + 1)
        rounds: list[pb_game.RoundSummary] = []
        length = 0
        for stored in found[:size]:
            summary = self._rounds.summary(stored)
            length += summary.ByteSize() + 8
            if rounds and length > MAX_ANSWER_BYTES:
                break
            rounds.append(summary)
        token = str(rounds[-1].opening_index) if len(rounds) < len(found) else ""
        return pb_game.ListRoundsResponse(rounds=rounds, next_page_token=token)

    def _query(self, request: pb_game.ListRoundsRequest, limit: int) -> RoundQuery:
        table: str | None = None
        if request.parent != "tables/-":
            table = requests.table_id(request.parent, "parent")
            self._floor.find(table)
        elif request.shoe_number:
            raise invalid(Reason.FIELD_INVALID, "shoe_number", "needs a parent that names a table")
        if request.state not in pb_game.RoundState.values():
            raise invalid(Reason.FIELD_INVALID, "state", f"has no value {request.state}")
        if request.shoe_number > INT64_MAX:
            raise invalid(Reason.FIELD_INVALID, "shoe_number", f"must be at most {INT64_MAX}")
        return RoundQuery(
            table=table,
            player=request.player or None,
            shoe_number=request.shoe_number or None,
            state=RoundState(request.state) if request.state else None,
            opened_from_us=requests.time_us(request, "opened_from"),
            opened_before_us=requests.time_us(request, "opened_before"),
            below_index=requests.page_index(request.page_token),
            limit=limit,
        )

    async def WatchTable(
        self, request: pb_game.WatchTableRequest
    ) -> AsyncIterator[pb_game.WatchTableResponse]:
        """Sends every later record of a table, once durable, until it closes or the reader goes."""
        table = requests.table_id(request.name, "name")
        live = self._floor.find(table)
        sent = self._watch_start(request, live)
        caught_up = False
        self._metrics.watchers.inc()
        try:
            while True:
                changed = live.changed
                if self._floor.draining:
                    raise GameError(Reason.SERVER_DRAINING, "resume elsewhere", retry_after_ms=1000)
                if caught_up:
                    self._check_lag(live, sent)
                released = self._writer.published.head.head.size
                for sequence, index, envelope in self._store.table_entries(
                    table, sent, WATCH_BATCH
                ):
                    if index >= released:
                        break
                    yield pb_game.WatchTableResponse(
                        sequence=sequence, index=index, envelope=envelope
                    )
                    sent = sequence
                if sent < live.state.sequence:
                    continue
                caught_up = True
                if live.state.state == pb.TableState.TABLE_STATE_CLOSED:
                    return
                await changed.wait()
        finally:
            self._metrics.watchers.dec()

    def _check_lag(self, live: LiveTable, sent: int) -> None:
        """A reader may take its time to catch up; once it has, it must keep up."""
        if live.state.sequence - sent > self._watch_buffer:
            raise GameError(
                Reason.READER_TOO_SLOW,
                "resume from the last sequence received",
                metadata={"last_sequence": str(sent)},
            )

    def _watch_start(self, request: pb_game.WatchTableRequest, live: LiveTable) -> int:
        if request.HasField("after_sequence"):
            return min(request.after_sequence, INT64_MAX)
        return self._rounds.sequence_before_open_round(live.state)


class _RejectCounter:
    """Counts refused wagers by reason, and lets the refusal through."""

    def __init__(self, metrics: Metrics, wagers: int) -> None:
        self._metrics = metrics
        self._wagers = wagers

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, GameError) and self._wagers:
            self._metrics.rejected_wagers.labels(str(error.reason)).inc(self._wagers)
