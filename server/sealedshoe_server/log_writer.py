"""The one writer: gathers what waits, commits it as a group, signs one checkpoint, wakes the callers.

No timer: a group is whatever queued during the last commit. What a crash leaves, step by step:

    before COMMIT        nothing; every seed and signature of the group is forgotten
    after COMMIT         everything; the head is guarded, signed and archived at the next start
    after the guard      everything; the head's text is signed again, to the same bytes
    after signing        everything; callers who got no answer find it by their request ids

A failed or unknown commit stops the writer: it reloads from the store before it appends again.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import structlog

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import (
    Batch,
    Committed,
    CommittedHead,
    Dropped,
    DuplicateSeed,
    Outcome,
    StorageFailed,
    Store,
    StoreRefused,
)

MAX_GROUP = 256
MAX_ROOM = 1 << 62


@dataclass(frozen=True, slots=True)
class Published:
    """A committed head with its signed checkpoint."""

    head: CommittedHead
    note: bytes


@dataclass(slots=True)
class _Waiting:
    batch: Batch
    done: asyncio.Future[tuple[Outcome, Published]]
    again: bool = False


@dataclass(slots=True)
class DueChange:
    """A change of keys that must be exactly one leaf.

    Attributes:
        index: of that leaf.
        batch: makes it, and `padding` makes so many leaves before it, signed with the key in force.
        prepare: called before it is committed: its own head is signed by a new checkpoint key already.
        root_signature: tells one change from another.
        now: fill the log up to it instead of waiting for it to grow.
    """

    index: int
    batch: Callable[[], Batch]
    padding: Callable[[int], Batch]
    prepare: Callable[[], None] = lambda: None
    root_signature: bytes = b""
    now: bool = False


class LogWriter:
    """Appends batches in groups.

    Attributes:
        published: the newest released head.
        failure: why nothing can be appended; None while all is well.
        halted: why nothing will ever be appended again by this process; None while it may.
        due: a change of keys to come.
        changed: set anew at each release.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        sign_head: Callable[[str], bytes],
        now_us: Callable[[], int],
        metrics: Metrics,
        keep: Callable[[str, bytes], None] = lambda _text, _note: None,
    ) -> None:
        """Publishes the head found in the store.

        Args:
            executor: of one thread, for the store's appends.
            sign_head: signed note over a checkpoint's text; the same bytes every time.
            keep: told of every head's text and note; returns once they may be released, or raises OSError.
        """
        self._store = store
        self._executor = executor
        self.sign_head = sign_head
        self._keep = keep
        self._now_us = now_us
        self._metrics = metrics
        self._log = structlog.get_logger()
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._running = True
        self.on_reload: Callable[[], None] = lambda: None
        self.on_duplicate_seed: Callable[[], None] = lambda: None
        self.on_key_change: Callable[[], None] = lambda: None
        self.on_publish: Callable[[], None] = lambda: None
        self.failure: str | None = None
        self.halted: tuple[Reason, str] | None = None
        self.due: DueChange | None = None
        self.changed = asyncio.Event()
        self.published = self._publish(self._released(store.head()))

    def _publish(self, published: Published) -> Published:
        self.published = published
        self._metrics.log_size.set(published.head.head.size)
        self.changed.set()
        self.changed = asyncio.Event()
        self.on_publish()
        return published

    async def append(self, batch: Batch, *, again: bool = False) -> tuple[Outcome, Published]:
        """Appends a batch; returns once it is durable and its checkpoint signed.

        Args:
            again: a change of keys sent it back: it goes before those that came meanwhile, so that shoes
                are opened in the order in which they were drawn.

        Raises:
            GameError: STORAGE_FAILED; whether it was written, a retry with the request id tells.
        """
        if self.halted is not None:
            raise GameError(*self.halted)
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future(), again)
        place = sum(one.again for one in self._waiting) if again else len(self._waiting)
        self._waiting.insert(place, waiting)
        self._wake.set()
        return await waiting.done

    async def run(self) -> None:
        """Commits groups until stopped, and then what is left."""
        while self._running or self._waiting:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting or self._is_due():
                if not self._is_ready():
                    continue
                if self._is_due():
                    await self._change_key()
                else:
                    await self._commit(self._next_group())

    def _is_ready(self) -> bool:
        """Reloads after a failure, before anything is fitted to the newest head; else refuses all."""
        if self.failure is None or self._reloaded():
            return True
        if self.due is not None:
            self.due.now = False
        waiting, self._waiting = self._waiting, []
        _refuse(waiting, _unwritable)
        return False

    def _reloaded(self) -> bool:
        try:
            self._reload()
        except (StorageFailed, StoreRefused) as error:
            self.failure = str(error)
            return False
        return True

    def halt(self, reason: Reason, problem: str) -> None:
        """Appends nothing any more: the log was forked, or is closed."""
        self.halted = (reason, problem)
        self.due = None
        self._metrics.log_writable.set(0)
        waiting, self._waiting = self._waiting, []
        _refuse(waiting, lambda: GameError(reason, problem))

    def wake(self) -> None:
        """Looks again whether something is due."""
        self._wake.set()

    def _room(self) -> int:
        """Leaves that fit before a change of keys."""
        if self.due is None:
            return MAX_ROOM
        return self.due.index - self.published.head.head.size

    def _is_due(self) -> bool:
        """Whether no waiting batch fits any more before the change, or nothing is waited for."""
        if self.due is None:
            return False
        if self._room() < 0:
            self.due = None  # the log went past it while its head was not known
            return False
        first = len(self._waiting[0].batch.entries) if self._waiting else 0
        return self.due.now or first > self._room()

    def _next_group(self) -> list[_Waiting]:
        """Takes what waits, in order, as far as it fits before a change of keys."""
        room, group = self._room(), list[_Waiting]()
        for waiting in self._waiting[:MAX_GROUP]:
            room -= len(waiting.batch.entries)
            if room < 0:
                break
            group.append(waiting)
            if waiting.batch.closes_log:
                break
        del self._waiting[: len(group)]
        return group

    async def _change_key(self) -> None:
        """Fills the log up to the change, appends it, and has all that waits signed anew.

        When it fails, the change is forgotten: the operator hands it in again. Whether it stands in the
        log after all, the store tells.
        """
        due, room = self.due, self._room()
        if due is None:
            return
        try:
            due.prepare()
        except Exception as error:
            # A key file is gone: the change is forgotten, and the old key goes on.
            self._log.error("key change", problem=type(error).__name__)
            self.due = None
            return
        made = [due.padding(room)] if room > 0 else []
        done = [
            _Waiting(batch, asyncio.get_running_loop().create_future())
            for batch in (*made, due.batch())
        ]
        for one in done:
            await self._commit([one])
            if one.done.exception() is not None:
                break
        self._changed_keys()

    def _changed_keys(self) -> None:
        """Drops what was signed before the change."""
        self.due = None
        try:
            self.on_key_change()
        except Exception as error:
            # The log names a key that is gone: nothing can be signed any more.
            self._log.error("key change", problem=type(error).__name__)
            self.halt(Reason.LOG_CLOSED, "a key that the log names cannot be used")
            return
        waiting, self._waiting = self._waiting, []
        head = self.published
        for one in waiting:
            if not one.done.done():
                one.done.set_result((Dropped.KEY_CHANGED, head))

    async def released(self, size: int) -> None:
        """Returns once a head of this size or more is released: committed is not enough to answer.

        Raises:
            GameError: STORAGE_FAILED.
        """
        while self.published.head.head.size < size:
            if self.failure is None:
                await self.changed.wait()
            elif not self._reloaded():
                raise _unwritable()

    async def expire_answers(self, before_us: int) -> None:
        """Drops the bytes of old answers, on the store's own thread."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(StorageFailed):
            await loop.run_in_executor(self._executor, self._store.expire_answers, before_us)

    def stop(self) -> None:
        """Lets `run` end once nothing waits."""
        self._running = False
        self._wake.set()

    async def _commit(self, group: Sequence[_Waiting]) -> None:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        try:
            batches = [waiting.batch for waiting in group]
            published, outcomes = await loop.run_in_executor(
                self._executor, self._append, batches, self._now_us()
            )
        except (StorageFailed, StoreRefused) as error:
            self._fail(group, error)
            return
        except Exception as error:
            unforeseen = error
            _refuse(group, lambda: unforeseen)
            return
        self._metrics.commit_time.observe(time.perf_counter() - started)
        self._metrics.group_size.observe(len(group))
        self._publish(published)
        if group[-1].batch.closes_log and isinstance(outcomes[-1], Committed):
            self.halt(Reason.LOG_CLOSED, "the log is closed")
        for waiting, outcome in zip(group, outcomes, strict=True):
            if not waiting.done.done():
                waiting.done.set_result((outcome, published))

    def _append(self, batches: Sequence[Batch], time_us: int) -> tuple[Published, list[Outcome]]:
        head, outcomes = self._store.append(batches, time_us)
        return self._released(head), outcomes

    def _released(self, head: CommittedHead) -> Published:
        """The head is committed: whatever fails from here on, the log is read again before it goes on."""
        try:
            note = self.sign_head(head.text)
            self._keep(head.text, note)
        except OSError as error:
            raise StorageFailed(f"guard or archive: {error}", unknown=True) from error
        except Exception as error:
            problem = f"the head cannot be signed: {type(error).__name__}"
            raise StorageFailed(problem, unknown=True) from error
        return Published(head, note)

    def _fail(self, group: Sequence[_Waiting], error: Exception) -> None:
        self.failure = str(error)
        self._metrics.log_writable.set(0)
        if isinstance(error, DuplicateSeed):
            self.on_duplicate_seed()
        self._reloaded()
        self.changed.set()
        self.changed = asyncio.Event()
        _refuse(group, _unwritable)

    def _reload(self) -> None:
        """On the loop's own thread: nobody reads while the connections are replaced."""
        self._store.reload()
        published = self._released(self._store.head())
        self.failure = None
        self._metrics.log_writable.set(1)
        self._publish(published)
        self.on_reload()


def _refuse(waiting: Sequence[_Waiting], error: Callable[[], Exception]) -> None:
    """Tells those who still wait why nothing of theirs was appended."""
    for one in waiting:
        if not one.done.done():
            one.done.set_exception(error())


def _unwritable() -> GameError:
    """What callers are told: no path and no text of the system."""
    return GameError(Reason.STORAGE_FAILED, "the log cannot be written", retry_after_ms=1000)
