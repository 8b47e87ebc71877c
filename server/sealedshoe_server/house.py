"""Records that are no table's: the log's start, games, significant events; and the watch over the RNG."""

from collections.abc import Callable
from functools import partial

from sealedshoe_audit.records import MAX_ID_BYTES, MAX_TEXT_BYTES, VERSION, Record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng
from sealedshoe_server.answers import with_checkpoint
from sealedshoe_server.clock import Clock
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.games import Games
from sealedshoe_server.log_writer import LogWriter, Published
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import (
    Batch,
    Committed,
    Dropped,
    NewEntry,
    Outcome,
    Placement,
    Request,
)

SERVER = pb.Accountability(actor="server")
Event = pb.EventClass


class RequestTaken(Exception):
    """Another call with the same request id was first."""


class House:
    """Appends what concerns the whole house.

    Attributes:
        on_health: called when the server's health may have changed.
    """

    def __init__(
        self,
        origin: str,
        writer: LogWriter,
        statements: Statements,
        games: Games,
        rng: CertifiedRng,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        """Takes its collaborators."""
        self.origin = origin
        self._writer = writer
        self._statements = statements
        self._games = games
        self._rng = rng
        self._clock = clock
        self._metrics = metrics
        self._recorded_failure: str | None = None
        self._clock_was_behind = False
        self.on_health: Callable[[], None] = lambda: None
        metrics.rng_healthy.set(rng.failure is None)

    def now_us(self) -> int:
        """Returns the server's time."""
        return self._clock.now_us()

    async def append(self, record: Record) -> int:
        """Appends one record and returns its index.

        Raises:
            GameError: STORAGE_FAILED.
        """
        outcome: Outcome = Dropped.KEY_CHANGED
        stamps_time = isinstance(record, pb.TimeStamped)
        while outcome is Dropped.KEY_CHANGED:
            batch = Batch((self._entry(record),), stamps_time=stamps_time)
            outcome, _ = await self._writer.append(batch)
        if not isinstance(outcome, Committed):
            raise GameError(Reason.STORAGE_FAILED, "the record was dropped")
        return outcome.first_index

    def _entry(self, record: Record) -> NewEntry:
        return NewEntry.of(self._statements.sign(record))

    async def install(
        self,
        record: pb.GameInstalled,
        request: Request | None,
        answer: Callable[[bytes, Placement], bytes],
    ) -> bytes:
        """Installs a game version and returns the answer's bytes.

        Raises:
            GameError: GAME_EXISTS or STORAGE_FAILED.
            RequestTaken: the request id has an answer by now.
        """
        game = record.definition
        key = (game.game_id, game.version)
        outcome, published = await self._append_answered(record, request, answer, key)
        if not isinstance(outcome, Committed):
            raise GameError(
                Reason.GAME_EXISTS,
                f"{game.game_id} version {game.version} is installed already",
                fields=[("definition_toml.version", "must be a new one")],
            )
        self._games.add(record)
        return with_checkpoint(outcome.answer, published.note)

    async def _append_answered(
        self,
        record: Record,
        request: Request | None,
        answer: Callable[[bytes, Placement], bytes],
        game: tuple[str, int] | None = None,
    ) -> tuple[Outcome, Published]:
        """Appends a record with its answer, signed anew if the key changes meanwhile."""
        while True:
            entry = self._entry(record)
            batch = Batch(
                (entry,),
                request=request,
                answer=partial(answer, entry.envelope),
                game=game,
                closes_log=isinstance(record, pb.LogClosed),
            )
            outcome, published = await self._writer.append(batch)
            if outcome is Dropped.REQUEST_TAKEN:
                raise RequestTaken
            if outcome is not Dropped.KEY_CHANGED:
                return outcome, published

    async def close_log(
        self,
        record: pb.LogClosed,
        request: Request,
        answer: Callable[[bytes, Placement], bytes],
    ) -> bytes:
        """Ends the log and returns the answer's bytes; the header is filled in here.

        Raises:
            GameError: STORAGE_FAILED.
            RequestTaken: the request id has an answer by now.
        """
        record.header.CopyFrom(self._header())
        outcome, published = await self._append_answered(record, request, answer)
        if not isinstance(outcome, Committed):
            raise GameError(Reason.STORAGE_FAILED, "the record was dropped")
        return with_checkpoint(outcome.answer, published.note)

    async def stamp(self, checkpoint: bytes, response: bytes) -> int:
        """Records a time stamp over a checkpoint; returns its index.

        Raises:
            GameError: STORAGE_FAILED.
        """
        header = self._header()
        return await self.append(
            pb.TimeStamped(header=header, checkpoint=checkpoint, response=response)
        )

    async def event(
        self,
        event_class: pb.EventClass.ValueType,
        component: str,
        before: str,
        after: str,
        by: pb.Accountability = SERVER,
    ) -> None:
        """Records a significant event; before and after are at most 64 bytes.

        Raises:
            GameError: STORAGE_FAILED.
        """
        await self.append(
            pb.EventRecorded(
                header=self._header(),
                event_class=event_class,
                component=component,
                by=by,
                before=before,
                after=after,
            )
        )

    async def witness_faulty(self, name: str, problem: str) -> None:
        """Records that a witness contradicts itself.

        Raises:
            GameError: STORAGE_FAILED.
        """
        by = pb.Accountability(actor="server", reason=problem[:MAX_TEXT_BYTES])
        await self.event(
            Event.EVENT_CLASS_WITNESS_FAULTY, "witness", name[:MAX_ID_BYTES], "not counted", by
        )

    def _header(self) -> pb.Header:
        return pb.Header(version=VERSION, origin=self.origin, time_us=self._clock.now_us())

    def rng_failed(self, reason: str) -> None:
        """Takes note at once that no new shoe can be made; `look_around` records it."""
        self._rng.failure = reason
        self._metrics.rng_healthy.set(0)
        self.on_health()

    async def look_around(self) -> None:
        """Records what has changed since the last look: RNG failed, clock moved."""
        failure = self._rng.failure
        if failure is not None and self._recorded_failure is None:
            self._recorded_failure = failure
            self.rng_failed(failure)
            by = pb.Accountability(actor="server", reason=failure[:MAX_TEXT_BYTES])
            try:
                await self.event(Event.EVENT_CLASS_RNG_FAILED, "rng", "healthy", "failed", by)
            except GameError:
                self._recorded_failure = None
                raise
        behind = self._clock.stepped_back
        if behind and not self._clock_was_behind:
            seconds = f"behind by {self._clock.behind_us // 1_000_000} s"
            await self.event(Event.EVENT_CLASS_CLOCK_MOVED, "clock", "in step", seconds)
        self._clock_was_behind = behind

    async def resume_rng(self, by: pb.Accountability) -> None:
        """Runs the RNG's start-up tests again, if it is failed, and records that it is healthy.

        Whoever then needs a new shoe while it is still failed is refused.
        """
        if self._rng.failure is None:
            return
        await self.look_around()
        if not self._rng.resume():
            return
        await self.event(Event.EVENT_CLASS_RNG_RESUMED, "rng", "failed", "healthy", by)
        self._recorded_failure = None
        self._metrics.rng_healthy.set(1)
        self.on_health()
