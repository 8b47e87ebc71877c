"""Helpers on other cores: they vouch for leaves ahead of the fold and replay shoes behind it."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.log import Reveal, Vouched
from sealedshoe_audit.fold.state import OpenShoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.vouch import replay_all, vouch_all

AHEAD = 4  # bundles that each process has waiting
SHOES_AT_ONCE = 16
_T = TypeVar("_T")
Vouchers = Iterator[tuple[list[bytes], list[Vouched | None]]]
# Told of a shoe that does not replay.
Failed = Callable[[int, Reveal], None]


class Helpers(Protocol):
    """Who does the work that needs no state."""

    def vouch(self, bundles: Iterator[list[bytes]], key: Callable[[], bytes]) -> Vouchers:
        """Yields each bundle with what is vouched for in it.

        Args:
            key: the statement key in force where the fold stands; b"" before the first.
        """
        ...

    def replay(self, index: int, reveal: Reveal) -> None:
        """Replays a shoe, sooner or later."""
        ...

    def finish(self) -> None:
        """Replays what is left."""
        ...


class NoHelpers:
    """Leaves everything to the fold, and replays shoes on the spot."""

    def __init__(self, origin: str, failed: Failed) -> None:
        """Replays the shoes of one log."""
        self._origin = origin
        self._failed = failed

    def vouch(
        self,
        bundles: Iterator[list[bytes]],
        key: Callable[[], bytes],  # noqa: ARG002 # the helpers' form
    ) -> Vouchers:
        """Vouches for nothing."""
        for bundle in bundles:
            yield bundle, [None] * len(bundle)

    def replay(self, index: int, reveal: Reveal) -> None:
        """Replays a shoe now."""
        if not replay_all(self._origin, [reveal])[0]:
            self._failed(index, reveal)

    def finish(self) -> None:
        """Nothing is left."""


class Task(Generic[_T]):
    """Work that a helper was given, and that may be taken back while it waits."""

    def __init__(self, pool: ProcessPoolExecutor, work: Callable[..., _T], *given: object) -> None:
        """Hands the work out."""
        self._work, self._given = work, given
        self._future = pool.submit(work, *given)
        self._here: tuple[_T] | None = None

    @property
    def is_done(self) -> bool:
        """Whether the result is there."""
        return self._here is not None or self._future.done()

    def take_back(self) -> bool:
        """Does the work here if no helper has begun; returns whether it did."""
        if self._here is not None or not self._future.cancel():
            return False
        self._here = (self._work(*self._given),)
        return True

    def result(self) -> _T:
        """Waits for the result."""
        return self._future.result() if self._here is None else self._here[0]


class HelperProcesses:
    """Processes that help, in a `with` block.

    Who folds never just waits: it takes work back from the end of the queue, so that every core is busy
    whatever the share of the fold.
    """

    def __init__(self, count: int, origin: str, failed: Failed) -> None:
        """Starts the processes with the first work."""
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, mp_context=context)
        self._ahead = AHEAD * (count + 1)
        self._origin = origin
        self._failed = failed
        self._batch: list[tuple[int, Reveal]] = []
        self._vouching: deque[tuple[list[bytes], Task[list[Vouched | None]]]] = deque()
        self._replaying: deque[tuple[list[tuple[int, Reveal]], Task[list[bool]]]] = deque()

    def __enter__(self) -> "HelperProcesses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=error is not None)

    def vouch(self, bundles: Iterator[list[bytes]], key: Callable[[], bytes]) -> Vouchers:
        """Yields bundles in order, with helpers some bundles ahead."""
        unreadable: VerificationError | None = None
        try:
            for bundle in bundles:
                self._vouching.append((bundle, Task(self._pool, vouch_all, bundle, key())))
                if len(self._vouching) > self._ahead:
                    yield self._next_vouched()
        except VerificationError as error:
            unreadable = error  # what was read before it is looked at first
        while self._vouching:
            yield self._next_vouched()
        if unreadable is not None:
            raise unreadable

    def _next_vouched(self) -> tuple[list[bytes], list[Vouched | None]]:
        bundle, task = self._vouching[0]
        self._work_until(task)
        self._vouching.popleft()
        return bundle, task.result()

    def _work_until(self, task: Task[Any]) -> None:
        """Does what no helper has begun, newest first, until a task is done or nothing is left."""
        while not task.is_done:
            waiting: tuple[tuple[object, Task[Any]], ...] = (*self._replaying, *self._vouching)
            if not any(other.take_back() for _, other in reversed(waiting)):
                return

    def replay(self, index: int, reveal: Reveal) -> None:
        """Hands shoes out in batches; takes the oldest results in."""
        self._batch.append((index, reveal))
        if len(self._batch) == SHOES_AT_ONCE:
            self._hand_out()
        while len(self._replaying) > self._ahead:
            self._take_in()

    def finish(self) -> None:
        """Waits for every shoe."""
        self._hand_out()
        while self._replaying:
            self._take_in()

    def _hand_out(self) -> None:
        if self._batch:
            batch, self._batch = self._batch, []
            sent = [_to_send(reveal) for _, reveal in batch]
            self._replaying.append((batch, Task(self._pool, _replay_sent, self._origin, sent)))

    def _take_in(self) -> None:
        batch, task = self._replaying[0]
        self._work_until(task)
        self._replaying.popleft()
        for (index, reveal), replays in zip(batch, task.result(), strict=True):
            if not replays:
                self._failed(index, reveal)


_Sent = tuple[str, bytes, bytes, tuple[tuple[int, int, bytes], ...]]


def _to_send(reveal: Reveal) -> _Sent:
    opening = reveal.opened.opening.SerializeToString()
    return reveal.table, opening, reveal.seed, reveal.dealt


def _replay_sent(origin: str, sent: list[_Sent]) -> list[bool]:
    return replay_all(origin, [_received(*item) for item in sent])


def _received(
    table: str, opening: bytes, seed: bytes, dealt: tuple[tuple[int, int, bytes], ...]
) -> Reveal:
    opened = OpenShoe(pb.ShoeOpening.FromString(opening), b"", 0, None, 0)
    return Reveal(table, opened, seed, dealt)
