"""The floor: every open table, its commands one at a time, each one append.

A table's cache follows the store: it moves on only after its batch is durable, and is dropped and read
again whenever the store says that it is stale, or was reloaded. Once a command's records are on their
way they are committed whatever the caller does: cancelled calls leave the work running (`shield`), and
the retry finds its answer by the request id.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias, TypeVar

from google.protobuf.message import DecodeError

from sealedshoe_audit.baccarat.definition import Shuffle
from sealedshoe_audit.fold.state import TableState, restore
from sealedshoe_audit.names import round_name, table_name
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1 import state_pb2
from sealedshoe_server.answers import with_checkpoint
from sealedshoe_server.batches import batch_of
from sealedshoe_server.clock import Clock
from sealedshoe_server.cosigning_rule import CosigningRule
from sealedshoe_server.dealing.draft import Draft, DrawShoe, NewShoe, Surroundings
from sealedshoe_server.dealing.wagers import Offer
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.games import Games
from sealedshoe_server.live_table import LiveTable
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.sealing import SealBroken
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import (
    Committed,
    Dropped,
    Placement,
    Request,
    StorageFailed,
    Store,
    StoredTable,
    StoreRefused,
)
from sealedshoe_server.tally import Tally

_T = TypeVar("_T")
Answer: TypeAlias = Callable[[Draft, Placement], bytes]


Decide: TypeAlias = Callable[[Surroundings, LiveTable], Draft]


class Floor:
    """All tables of a log."""

    def __init__(
        self,
        origin: str,
        store: Store,
        writer: LogWriter,
        shoes: ShoeMaker,
        statements: Statements,
        games: Games,
        clock: Clock,
        tally: Tally,
        cosigning: CosigningRule | None = None,
    ) -> None:
        """Takes up every table from its snapshot.

        Args:
            cosigning: what wagers wait for; None where no witnesses are configured.
        """
        self._cosigning = cosigning
        self.newest_long_shoe = -1  # leaf index of the newest opening of a shoe of several rounds
        self._origin = origin
        self._store = store
        self._writer = writer
        self._shoes = shoes
        self._statements = statements
        self._games = games
        self._clock = clock
        self._tally = tally
        self._under_way: set[asyncio.Task[Any]] = set()
        self._creating = asyncio.Lock()
        self.draining = False
        self.tables: dict[str, LiveTable] = {}
        self._take_up_tables()
        writer.on_reload = self._drop_caches

    def _restore(self, stored: StoredTable) -> TableState:
        """A table's state from its snapshot.

        Raises:
            StoreRefused: the row is damaged; nothing is decided upon it.
        """
        try:
            message = state_pb2.TableSnapshot.FromString(stored.snapshot)
            settings = message.settings
            game = self._games.definition(settings.game_id, settings.game_version)
            state = restore(message, game)
        except (DecodeError, GameError, ValueError) as error:
            raise StoreRefused(f"{table_name(stored.table)}: its snapshot is damaged") from error
        if (state.table, state.sequence) != (stored.table, stored.sequence):
            raise StoreRefused(f"{table_name(stored.table)}: its row contradicts its snapshot")
        return state

    def _take_up_tables(self) -> None:
        """Adds the tables that the store has and this cache has not."""
        for stored in self._store.tables():
            if stored.table not in self.tables:
                state = self._restore(stored)
                live = self.tables[stored.table] = LiveTable(state, stored.no_round_reason)
                self._load_players(live)
        self._tally.count_open(self.tables.values())

    def _drop_caches(self) -> None:
        for live in self.tables.values():
            live.stale = True
        self._take_up_tables()

    def _refresh(self, live: LiveTable) -> None:
        """Reads a stale table again; its cards too, as another shoe may be open."""
        stored = self._store.table(live.state.table)
        if stored is None:
            raise GameError(Reason.TABLE_NOT_FOUND, "the table was never committed")
        try:
            live.state = self._restore(stored)
        except StoreRefused as error:
            raise StorageFailed(str(error)) from error
        live.no_round_reason = stored.no_round_reason
        live.shoe = None
        live.shoe_opened_at = None
        self._load_players(live)
        live.stale = False

    def _load_players(self, live: LiveTable) -> None:
        if live.state.round is None or not live.state.round.wagers:
            live.players = {}
            return
        rows = self._store.players(live.state.table, live.state.round_number)
        live.players = {row.wager_id: row.reference for row in rows}

    def find(self, table: str) -> LiveTable:
        """Returns a table.

        Raises:
            GameError: TABLE_NOT_FOUND.
        """
        live = self.tables.get(table)
        if live is None:
            raise GameError(Reason.TABLE_NOT_FOUND, f"there is no {table_name(table)}")
        if live.stale and not live.lock.locked():
            self._refresh(live)
        return live

    def cards(self, live: LiveTable) -> Shoe:
        """Returns the open shoe's cards, from its sealed seed when they are not at hand.

        Raises:
            GameError: SEED_UNAVAILABLE: the table fails closed; an operator may retire the shoe.
        """
        open_shoe = live.state.shoe
        if open_shoe is None:
            raise GameError(Reason.SHOE_NOT_OPEN, "no shoe is open at this table")
        if live.shoe is None:
            opening = open_shoe.opening
            sealed = self._store.sealed_seed(opening.seed_commitment)
            try:
                if sealed is None:
                    raise SealBroken("the sealed seed is gone")
                live.shoe = self._shoes.reopen(live.state.table, opening, sealed)
            except SealBroken as error:
                self._tally.seed_unavailable(live.state.table)
                raise GameError(
                    Reason.SEED_UNAVAILABLE, "the open shoe's seed cannot be had"
                ) from error
        return live.shoe

    def check_cosigned(self, live: LiveTable) -> None:
        """Checks that wagers may be taken as far as witnesses are concerned.

        Raises:
            GameError: AWAITING_COSIGNATURE or COSIGNING_BEHIND.
        """
        if self._cosigning is None or live.state.shoe is None:
            return
        if live.shoe_opened_at is None:
            stored = self._store.shoe(live.state.table, live.state.shoe.opening.shoe_number)
            live.shoe_opened_at = None if stored is None else stored.opened_index
        several = live.state.game.shuffle is not Shuffle.EVERY_ROUND
        opened_at = live.shoe_opened_at if several else None
        self._cosigning.check(opened_at, live.results)

    def cards_if_any(self, live: LiveTable) -> Shoe | None:
        """Returns the open shoe's cards, or None when there are none to be had."""
        try:
            return self.cards(live)
        except GameError:
            return None

    async def stored_answer(self, request: Request) -> bytes | None:
        """Returns the first answer to a request id, byte for byte, or None for a new one.

        Raises:
            GameError: REQUEST_ID_REUSED or REQUEST_ID_EXPIRED.
        """
        stored = self._store.answer(request.caller, request.request_id)
        if stored is None:
            return None
        if stored.request_hash != request.request_hash:
            raise GameError(
                Reason.REQUEST_ID_REUSED,
                "the request id was used with another request",
                fields=[("request_id", "belongs to another request")],
                metadata={"round": stored.round},
            )
        if stored.answer is None:
            raise GameError(
                Reason.REQUEST_ID_EXPIRED,
                "the answer is no longer kept; get the round",
                metadata={"round": stored.round},
            )
        await self._writer.released(stored.head.head.size)
        self._tally.replayed()
        return with_checkpoint(stored.answer, self._writer.sign_head(stored.head.text))

    async def command(
        self,
        live: LiveTable,
        request: Request | None,
        decision: Decide,
        answer: Answer,
        offers: Sequence[Offer] = (),
    ) -> bytes:
        """Runs one command on a table and returns its answer's bytes.

        Raises:
            GameError: it was refused, and left no trace.
        """
        return await self.finish(self._command(live, request, decision, answer, offers))

    async def create(
        self,
        table: str,
        request: Request,
        decision: Callable[[Surroundings], Draft],
        answer: Answer,
    ) -> bytes:
        """Creates a table and returns its answer's bytes.

        Raises:
            GameError: TABLE_EXISTS, or it was refused.
        """
        return await self.finish(self._create(table, request, decision, answer))

    async def finish(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Lets the work end even when the caller is gone."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """A refusal that nobody waited for any more is no error."""
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()

    def drain(self) -> None:
        """Wakes all who watch a table, so that they end."""
        self.draining = True
        for live in self.tables.values():
            live.changed.set()

    async def settle_down(self) -> None:
        """Waits for every command under way."""
        while self._under_way:
            await asyncio.wait(set(self._under_way))

    async def _command(
        self,
        live: LiveTable,
        request: Request | None,
        decision: Decide,
        answer: Answer,
        offers: Sequence[Offer],
    ) -> bytes:
        async with live.lock:
            stored = None if request is None else await self.stored_answer(request)
            if stored is not None:
                return stored
            caller = "server" if request is None else request.caller
            drawn: NewShoe | None = None
            while True:
                if live.stale:
                    self._refresh(live)
                before = live.state
                draft = decision(self._surroundings(caller, before.time_us, drawn), live)
                batch = batch_of(draft, before.sequence, offers, request, answer)
                outcome, published = await self._writer.append(batch, again=drawn is not None)
                if isinstance(outcome, Committed):
                    self._take_over(live, before, draft, offers, outcome.first_index)
                    return with_checkpoint(outcome.answer, published.note)
                if outcome is Dropped.REQUEST_TAKEN and request is not None:
                    return await self.first_answer(request)
                drawn = draft.new_shoe if outcome is Dropped.KEY_CHANGED else None
                live.stale = True

    async def first_answer(self, request: Request) -> bytes:
        """Returns the answer of a request id that the store says is taken."""
        stored = await self.stored_answer(request)
        if stored is None:
            raise GameError(Reason.STORAGE_FAILED, "the request is under way", retry_after_ms=100)
        return stored

    async def _create(
        self,
        table: str,
        request: Request,
        decision: Callable[[Surroundings], Draft],
        answer: Answer,
    ) -> bytes:
        async with self._creating:
            stored = await self.stored_answer(request)
            if stored is not None:
                return stored
            if table in self.tables:
                raise GameError(Reason.TABLE_EXISTS, f"there is a {table_name(table)} already")
            drawn: NewShoe | None = None
            while True:
                draft = decision(self._surroundings(request.caller, 0, drawn))
                batch = batch_of(draft, 0, (), request, answer)
                outcome, published = await self._writer.append(batch, again=drawn is not None)
                if outcome is not Dropped.KEY_CHANGED:
                    break
                drawn = draft.new_shoe
            if outcome is Dropped.REQUEST_TAKEN:
                return await self.first_answer(request)
            if not isinstance(outcome, Committed):
                raise GameError(Reason.TABLE_EXISTS, f"there is a {table_name(table)} already")
            live = self.tables[table] = LiveTable(draft.table, "")
            self._take_over(live, draft.table, draft, (), outcome.first_index)
            return with_checkpoint(outcome.answer, published.note)

    async def close_log(
        self, request: Request, append: Callable[[], Coroutine[Any, Any, bytes]]
    ) -> bytes:
        """Has the log's last record appended, while no table can be created.

        Raises:
            GameError: TABLE_STATE_UNREACHABLE while a table is not closed.
        """
        async with self._creating:
            stored = await self.stored_answer(request)
            if stored is not None:
                return stored
            closed = pb.TableState.TABLE_STATE_CLOSED
            still = [name for name, live in self.tables.items() if live.state.state != closed]
            if still:
                raise GameError(
                    Reason.TABLE_STATE_UNREACHABLE,
                    f"a log is closed after its tables: {', '.join(sorted(still)[:5])} are not",
                )
            return await append()

    def _surroundings(
        self, caller: str, floor_us: int, drawn: NewShoe | None = None
    ) -> Surroundings:
        """drawn: the shoe of a decision that a change of keys sent back: it is not drawn anew."""
        return Surroundings(
            origin=self._origin,
            now_us=max(self._clock.now_us(), floor_us),
            head=self._writer.published.head.head,
            sign=self._statements.sign,
            draw_shoe=self._shoes.draw if drawn is None else self._again(drawn),
            caller=caller,
            cosigned_head_hash=b"" if self._cosigning is None else self._cosigning.head_hash,
        )

    def _again(self, drawn: NewShoe) -> DrawShoe:
        """The same shoe, sealed with the key in force: no seed is drawn that never opens a shoe."""
        return lambda table, _number, _game, _root: self._shoes.seal_again(table, drawn)

    def _take_over(
        self,
        live: LiveTable,
        before: TableState,
        draft: Draft,
        offers: Sequence[Offer],
        first_index: int,
    ) -> None:
        """Moves the cache on to what is now durable."""
        if draft.new_shoe is not None:
            live.shoe_opened_at = first_index + len(draft.entries) - 1
            if draft.table.game.shuffle is not Shuffle.EVERY_ROUND:
                self.newest_long_shoe = max(self.newest_long_shoe, live.shoe_opened_at)
        if self._cosigning is not None and isinstance(draft.entries[0].record, pb.RoundDealt):
            live.results.append(first_index)
        live.state = draft.table
        live.no_round_reason = draft.no_round_reason
        if draft.new_shoe is not None:
            live.shoe = draft.new_shoe.shoe
        elif draft.table.shoe is None:
            live.shoe = None
        if draft.table.round is None or not draft.table.round.wagers:
            live.players = {}
        else:
            live.players |= {offer.wager_id: offer.player for offer in offers}
        self._tally.committed(before, draft)
        live.changed.set()
        live.changed = asyncio.Event()

    def open_round_name(self, live: LiveTable) -> str:
        """Returns the open round's name, or "" when none is open."""
        if live.state.round is None:
            return ""
        return round_name(live.state.table, live.state.round_number)
