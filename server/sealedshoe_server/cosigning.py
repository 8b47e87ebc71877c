"""Has every head cosigned by a quorum of witnesses, beside the play, and stops it when they show a fork.

A round of asking takes the newest head to every witness at once and ends as soon as the policy's quorum is
met; a slow witness goes on by itself and misses rounds. Answers never wait for this: only the first wagers
on a new shoe of several rounds do, and every wager once cosigning lags too far behind.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

import aiohttp
import structlog

from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import consistency_ranges, range_hash
from sealedshoe_audit.log.note import MAX_SIGNATURES, VerifierKey, parse_note, verify_signers
from sealedshoe_audit.log.policy import Policy, Witness
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.log_writer import LogWriter, Published
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import StorageFailed, Store
from sealedshoe_server.witness_client import Head, WitnessClient, WitnessFailed, WitnessRefused

MAX_LINES = MAX_SIGNATURES - 1  # beside our own
PAUSE_S = 0.5  # between rounds of asking that met no quorum


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A head with a quorum's cosignatures."""

    size: int
    note: bytes
    hash: bytes


# A witness's key, the size of the head that it was asked about, and its line.
_Line = tuple[VerifierKey, int, str]
NOTHING = Cosigned(0, b"", b"")


class Cosigner:
    """The quorum's view of the log.

    Attributes:
        newest: the newest cosigned head.
        behind_since_us: since when some released record is under no cosigned head; None when all are.
    """

    def __init__(
        self,
        origin: str,
        policy: Policy,
        store: Store,
        writer: LogWriter,
        metrics: Metrics,
        now_us: Callable[[], int],
        timeout_s: float,
        renew_s: float,
    ) -> None:
        """Takes its collaborators; nobody is asked yet."""
        self._origin = origin
        self._policy = policy
        self._store = store
        self._writer = writer
        self._metrics = metrics
        self._now_us = now_us
        self._timeout_s = timeout_s
        self._renew_s = renew_s
        self._clients: list[WitnessClient] = []
        self._busy: dict[str, asyncio.Task[_Line]] = {}
        self._faulty: set[str] = set()
        self._log = structlog.get_logger()
        self.keys: Callable[[], tuple[VerifierKey, ...]] = tuple
        self.on_faulty: Callable[[str, str], Awaitable[None]] | None = None
        self.keep: Callable[[int, bytes], Awaitable[None]] | None = None
        self.newest = self._kept(store.newest_cosigned())
        self.behind_since_us: int | None = None

    def _kept(self, kept: tuple[int, bytes] | None) -> Cosigned:
        """Takes up the last cosigned head, if it meets today's policy too."""
        if kept is None:
            return NOTHING
        witnesses = [witness.key for witness in self._policy.witnesses]
        if not self._policy.is_met_by(verify_signers(parse_note(kept[1]), witnesses).keys()):
            return NOTHING
        return Cosigned(*kept, sha256(kept[1]).digest())

    def connect(self, http: aiohttp.ClientSession) -> None:
        """Talks to the witnesses of the policy that have a URL."""
        witnesses = [witness for witness in self._policy.witnesses if witness.url]
        self._clients = [WitnessClient(witness, http, self._timeout_s) for witness in witnesses]

    async def contradiction(self) -> str | None:
        """Asks every witness what it holds; returns what contradicts our log, which is read afterwards."""
        shown = await asyncio.gather(*(self._held(client) for client in self._clients))
        for client, checkpoint in zip(self._clients, shown, strict=True):
            if checkpoint is not None:
                found = self._compare(client.witness, checkpoint)
                if found is not None:
                    return found
        return None

    async def _held(self, client: WitnessClient) -> Checkpoint | None:
        try:
            return await client.held(self._origin, self.keys())
        except WitnessFailed as error:
            self._log.warning("witness", witness=client.witness.name, problem=str(error))
            return None

    def _compare(self, witness: Witness, shown: Checkpoint) -> str | None:
        ours = self._store.head().head
        if shown.size > ours.size:
            return (
                f"witness {witness.name} shows our signature on {shown.size} records, the log has "
                f"{ours.size}: it was rolled back"
            )
        if self._store.root_at(shown.size) != shown.root:
            return (
                f"witness {witness.name} shows our signature on another history of the first "
                f"{shown.size} records: the log was forked"
            )
        return None

    async def run(self) -> None:
        """Asks whenever the log has grown, or cosignatures grow old."""
        while True:
            try:
                await self._look()
            except StorageFailed as error:
                self._log.error("cosigning", problem=str(error))
                await asyncio.sleep(PAUSE_S)

    async def _look(self) -> None:
        published, released = self._writer.published, self._writer.changed
        if published.head.head.size > self.newest.size:
            self.behind_since_us = self._store.head_covering(self.newest.size).time_us
            await self._round(published)
        else:
            await self._wait(released)

    async def _wait(self, released: asyncio.Event) -> None:
        try:
            await asyncio.wait_for(released.wait(), self._renew_s)
        except TimeoutError:
            await self._round(self._writer.published)

    async def _round(self, published: Published) -> None:
        started_us = self._now_us()
        head = Head(published.head.head.size, published.head.text, published.note)
        lines = await self._ask_all(head)
        if self._policy.is_met_by(lines.keys()):
            await self._accept(head, lines)
            self._metrics.cosign_time.observe((self._now_us() - started_us) / 1_000_000)
        else:
            await asyncio.sleep(PAUSE_S)

    async def _ask_all(self, head: Head) -> dict[VerifierKey, str]:
        """Returns the lines that came in, as soon as they make the quorum."""
        lines: dict[VerifierKey, str] = {}
        for client in self._clients:
            name = client.witness.name
            if name not in self._busy or self._busy[name].done():
                self._busy[name] = asyncio.ensure_future(self._ask(client, head))
        waiting = {task for task in self._busy.values() if not task.done()}
        while waiting and not self._policy.is_met_by(lines.keys()):
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                key, size, line = task.result()
                if line and size == head.size:
                    lines[key] = line
        return lines

    async def _ask(self, client: WitnessClient, head: Head) -> _Line:
        """Returns a witness's line on a head, "" when there is none."""
        name, result, line = client.witness.name, "cosigned", ""
        try:
            line = await client.cosign(head, self._prove)
            self._faulty.discard(name)
        except WitnessRefused as error:
            result = error.result
            await self._refused(client, str(error))
        except (WitnessFailed, StorageFailed) as error:
            result = error.result if isinstance(error, WitnessFailed) else "error"
            self._log.warning("witness", witness=name, result=result, problem=str(error))
        self._metrics.witness_answers.labels(name, result).inc()
        return client.witness.key, head.size, line

    def _prove(self, old: int, new: int) -> tuple[bytes, ...]:
        ranges = consistency_ranges(old, new)
        return tuple(range_hash(low, high, self._store.complete_hash) for low, high in ranges)

    async def _refused(self, client: WitnessClient, problem: str) -> None:
        """It refuses to extend: if it can show why, our log is forked; else the fault is its own."""
        shown = await self._held(client)
        found = None if shown is None else self._compare(client.witness, shown)
        if found is not None:
            self._log.error("forked", problem=found)
            self._writer.halt(Reason.LOG_FORKED, found)
        elif client.witness.name not in self._faulty:
            self._faulty.add(client.witness.name)
            self._log.error("witness faulty", witness=client.witness.name, problem=problem)
            if self.on_faulty is not None:
                await self._tell_faulty(client.witness.name, problem)

    async def _tell_faulty(self, name: str, problem: str) -> None:
        try:
            if self.on_faulty is not None:
                await self.on_faulty(name, problem)
        except GameError:
            self._faulty.discard(name)

    async def _accept(self, head: Head, lines: dict[VerifierKey, str]) -> None:
        order = [witness.key for witness in self._policy.witnesses]
        chosen: dict[VerifierKey, str] = {}
        for key in order:
            if key in lines and (len(lines) <= MAX_LINES or not self._policy.is_met_by(chosen)):
                chosen[key] = lines[key]
        signed = "".join(chosen.values())
        note = head.note + signed.encode()
        if self.keep is not None:
            try:
                await self.keep(head.size, note)
            except (OSError, StorageFailed) as error:
                self._log.error("heads archive", problem=str(error))
                await asyncio.sleep(PAUSE_S)
                return
        self.take(head.size, note)

    def take(self, size: int, note: bytes) -> None:
        """Makes a cosigned head the newest."""
        self.newest = Cosigned(size, note, sha256(note).digest())
        still_behind = self._writer.published.head.head.size > size
        self.behind_since_us = self._store.head_covering(size).time_us if still_behind else None
        self._metrics.cosigned_size.set(size)

    def lag_us(self) -> int:
        """Returns how long the oldest record without a quorum has waited, at least."""
        return 0 if self.behind_since_us is None else self._now_us() - self.behind_since_us

    async def stop(self) -> None:
        """Ends the requests under way."""
        for task in self._busy.values():
            task.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)
