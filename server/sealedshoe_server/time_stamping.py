"""RFC 3161 time stamps over cosigned heads: at a rhythm, and for every new shoe of several rounds."""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256

import aiohttp
import structlog
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.records import open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.times import SKEW_US, StampCheck
from sealedshoe_server.errors import GameError
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.storage.interface import Store
from sealedshoe_server.witness_client import read_limited

MAX_RESPONSE_BYTES = 32 * 1024
LOOK_EVERY_S = 0.2
PAUSE_S = 5.0  # after a failure
TIMEOUT = aiohttp.ClientTimeout(total=15.0)


class StampFailed(Exception):
    """The authority gave no good stamp."""


def newest_stamp_us(store: Store, check: StampCheck) -> int:
    """Returns the time of a log's newest stamp; 0 if there is none by an authority still trusted."""
    index = store.newest_time_stamp()
    record = None if index is None else open_record(store.read(index, 1)[0])
    if not isinstance(record, pb.TimeStamped):
        return 0
    try:
        return check(record.response, record.checkpoint)
    except VerificationError:
        return 0


class TimeStamper:
    """Keeps the log stamped."""

    def __init__(
        self,
        url: str,
        check: StampCheck,
        every_s: float,
        newest_head: Callable[[], tuple[int, bytes]],
        newest_long_shoe: Callable[[], int],
        record: Callable[[bytes, bytes], Awaitable[int]],
        metrics: Metrics,
        now_us: Callable[[], int],
        newest_us: int = 0,
    ) -> None:
        """Takes its collaborators.

        Args:
            newest_us: time of the newest stamp in the log; 0 for none.
            newest_head: size and note of the newest head to stamp; b"" while there is none.
            newest_long_shoe: leaf index of the newest opening that asks for a stamp; -1 for none.
            record: appends a stamp over a note to the log.
        """
        self._url = url
        self._check = check
        self._every_s = every_s
        self._newest_head = newest_head
        self._newest_long_shoe = newest_long_shoe
        self._record = record
        self._metrics = metrics
        self._now_us = now_us
        self._log = structlog.get_logger()
        self._stamped_size = 0
        self._due_at = 0.0
        self._newest_us = newest_us

    async def run(self, http: aiohttp.ClientSession) -> None:
        """Stamps whenever it is due."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            size, note = self._newest_head()
            if note and self._is_due(size, loop.time()):
                await self._stamp(http, size, note)

    def _is_due(self, size: int, now: float) -> bool:
        covers_new_shoe = self._stamped_size <= self._newest_long_shoe() < size
        return covers_new_shoe or now >= self._due_at

    async def _stamp(self, http: aiohttp.ClientSession, size: int, note: bytes) -> None:
        try:
            response = await self._ask(http, note)
            await self._record(note, response)
        except (StampFailed, GameError) as error:
            self._metrics.stamps.labels("failed").inc()
            self._log.warning("time stamp", problem=str(error))
            await asyncio.sleep(PAUSE_S)
            return
        self._metrics.stamps.labels("recorded").inc()
        self._stamped_size = size
        self._due_at = asyncio.get_running_loop().time() + self._every_s

    async def _ask(self, http: aiohttp.ClientSession, note: bytes) -> bytes:
        """Returns a response that is good, over SHA-256 of the note."""
        request = TimestampRequestBuilder().data(note).hash_algorithm(HashAlgorithm.SHA256).build()
        headers = {"Content-Type": "application/timestamp-query"}
        try:
            async with http.post(
                self._url, data=request.as_bytes(), headers=headers, timeout=TIMEOUT
            ) as answer:
                data = await read_limited(answer, MAX_RESPONSE_BYTES + 1)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError) as error:
            raise StampFailed(str(error) or "no answer in time") from error
        if status != 200 or len(data) > MAX_RESPONSE_BYTES:
            raise StampFailed(f"status {status}, {len(data)} bytes")
        try:
            time_us = self._check(data, note)
        except VerificationError as error:
            raise StampFailed(f"{sha256(note).hexdigest()}: {error.found}") from error
        if time_us < self._newest_us:
            raise StampFailed("the authority's clock went backwards")
        if abs(time_us - self._now_us()) > SKEW_US:
            raise StampFailed("the authority's clock and ours differ by more than a minute")
        self._newest_us = time_us
        return data
