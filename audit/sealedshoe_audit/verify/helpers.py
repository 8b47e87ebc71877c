"""Helpers on other cores: they vouch for leaves ahead of the fold and replay shoes behind it."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import Protocol

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.log import Reveal, Vouched
from sealedshoe_audit.fold.state import OpenShoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.vouch import replay_all, vouch_all

AHEAD = 4  # bundles a helper has waiting
SHOES_AT_ONCE = 16
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


class HelperProcesses:
    """Processes that help, in a `with` block."""

    def __init__(self, count: int, origin: str, failed: Failed) -> None:
        """Starts the processes with the first work."""
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, mp_context=context)
        self._ahead = AHEAD * count
        self._origin = origin
        self._failed = failed
        self._batch: list[tuple[int, Reveal]] = []
        self._replaying: deque[tuple[list[tuple[int, Reveal]], Future[list[bool]]]] = deque()

    def __enter__(self) -> "HelperProcesses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=error is not None)

    def vouch(self, bundles: Iterator[list[bytes]], key: Callable[[], bytes]) -> Vouchers:
        """Yields bundles in order, with helpers some bundles ahead."""
        waiting: deque[tuple[list[bytes], Future[list[Vouched | None]]]] = deque()
        unreadable: VerificationError | None = None
        try:
            for bundle in bundles:
                waiting.append((bundle, self._pool.submit(vouch_all, bundle, key())))
                if len(waiting) > self._ahead:
                    ready, vouched = waiting.popleft()
                    yield ready, vouched.result()
        except VerificationError as error:
            unreadable = error  # what was read before it is looked at first
        for ready, vouched in waiting:
            yield ready, vouched.result()
        if unreadable is not None:
            raise unreadable

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
            self._replaying.append((batch, self._pool.submit(_replay_sent, self._origin, sent)))

    def _take_in(self) -> None:
        batch, future = self._replaying.popleft()
        for (index, reveal), replays in zip(batch, future.result(), strict=True):
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
