"""The one writer: gathers what waits, commits it as a group, signs one checkpoint, wakes the callers.

No timer: a group is whatever queued during the last commit. What a crash leaves, step by step:

    before COMMIT        nothing; every seed and signature of the group is forgotten
    after COMMIT         everything; the head's text is signed again at the next start, to the same bytes
    after signing        everything; callers who got no answer find it by their request ids

A failed or unknown commit stops the writer: it reloads from the store before it appends again.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import (
    Batch,
    CommittedHead,
    DuplicateSeed,
    Outcome,
    StorageFailed,
    Store,
    StoreRefused,
)

MAX_GROUP = 256


@dataclass(frozen=True, slots=True)
class Published:
    """A committed head with its signed checkpoint."""

    head: CommittedHead
    note: bytes


@dataclass(slots=True)
class _Waiting:
    batch: Batch
    done: asyncio.Future[tuple[Outcome, Published]]


class LogWriter:
    """Appends batches in groups.

    Attributes:
        published: the newest signed head.
        failure: why nothing can be appended; None while all is well.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        sign_head: Callable[[str], bytes],
        now_us: Callable[[], int],
        metrics: Metrics,
    ) -> None:
        """Publishes the head found in the store.

        Args:
            executor: of one thread, for the store's appends.
            sign_head: signed note over a checkpoint's text; the same bytes every time.
        """
        self._store = store
        self._executor = executor
        self.sign_head = sign_head
        self._now_us = now_us
        self._metrics = metrics
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._running = True
        self.on_reload: Callable[[], None] = lambda: None
        self.on_duplicate_seed: Callable[[], None] = lambda: None
        self.failure: str | None = None
        self.published = self._publish(store.head())

    def _publish(self, head: CommittedHead) -> Published:
        self.published = Published(head, self.sign_head(head.text))
        self._metrics.log_size.set(head.head.size)
        return self.published

    async def append(self, batch: Batch) -> tuple[Outcome, Published]:
        """Appends a batch; returns once it is durable and its checkpoint signed.

        Raises:
            GameError: STORAGE_FAILED; whether it was written, a retry with the request id tells.
        """
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._wake.set()
        return await waiting.done

    async def run(self) -> None:
        """Commits groups until stopped, and then what is left."""
        while self._running or self._waiting:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
                await self._commit(group)

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
            if self.failure is not None:
                self._reload()
            batches = [waiting.batch for waiting in group]
            head, outcomes = await loop.run_in_executor(
                self._executor, self._store.append, batches, self._now_us()
            )
        except (StorageFailed, StoreRefused) as error:
            self._fail(group, error)
            return
        except Exception as error:
            for waiting in group:
                if not waiting.done.done():
                    waiting.done.set_exception(error)
            return
        self._metrics.commit_time.observe(time.perf_counter() - started)
        self._metrics.group_size.observe(len(group))
        published = self._publish(head)
        for waiting, outcome in zip(group, outcomes, strict=True):
            if not waiting.done.done():
                waiting.done.set_result((outcome, published))

    def _fail(self, group: Sequence[_Waiting], error: Exception) -> None:
        self.failure = str(error)
        self._metrics.log_writable.set(0)
        if isinstance(error, DuplicateSeed):
            self.on_duplicate_seed()
        try:
            self._reload()
        except (StorageFailed, StoreRefused) as again:
            self.failure = str(again)
        for waiting in group:
            if not waiting.done.done():
                waiting.done.set_exception(
                    GameError(
                        Reason.STORAGE_FAILED, "the log cannot be written", retry_after_ms=1000
                    )
                )

    def _reload(self) -> None:
        """On the loop's own thread: nobody reads while the connections are replaced."""
        self._store.reload()
        self.failure = None
        self._metrics.log_writable.set(1)
        self._publish(self._store.head())
        self.on_reload()
