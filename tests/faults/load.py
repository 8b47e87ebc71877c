"""Play under load: tables that deal at once, each call retried by its request id until it is answered."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.reading import leaf, root_of, stored_entries
from tests.server.refusals import read_refusal
from tests.server.running import Running, wager

TRIES = 40
CALL_S = 3.0


@dataclass
class Ledger:
    """What front-ends know: each request, the answer's bytes where one came, every refusal's reason.

    Attributes:
        on_refusal: told of each.
    """

    requests: dict[str, tuple[str, Any]] = field(default_factory=dict)
    answers: dict[str, bytes] = field(default_factory=dict)
    reasons: set[str] = field(default_factory=set)
    on_refusal: Callable[[], None] = lambda: None

    def refused(self, error: grpc.aio.AioRpcError) -> None:
        """Notes why."""
        self.reasons.add(read_refusal(error).reason or error.code().name)
        self.on_refusal()

    def copy(self) -> "Ledger":
        """As it is now."""
        return Ledger(dict(self.requests), dict(self.answers), set(self.reasons))


async def ask(server: Running, ledger: Ledger, method: str, request: Any) -> bytes:
    """Makes a call; asks again, with the same id, until it is answered."""
    ledger.requests[request.request_id] = (method, request)
    for _ in range(TRIES):
        try:
            answer = await server.raw(method, request, CALL_S)
        except grpc.aio.AioRpcError as error:
            ledger.refused(error)
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise AssertionError(f"{method} hangs: {ledger.reasons}") from error
            await asyncio.sleep(0.005)
        else:
            ledger.answers[request.request_id] = answer
            return answer
    raise AssertionError(f"{method} was refused {TRIES} times: {ledger.reasons}")


async def open_round(server: Running, ledger: Ledger, table: str) -> Any:
    """The open round of a table, asked for until it is told."""
    for _ in range(TRIES):
        try:
            return (await server.table(table)).round
        except grpc.aio.AioRpcError as error:
            ledger.refused(error)
            await asyncio.sleep(0.005)
    raise AssertionError(f"GetTable was refused {TRIES} times: {ledger.reasons}")


async def deal(server: Running, ledger: Ledger, table: str, name: str) -> None:
    """Places a wager in the open round and deals it with another."""
    opened = await open_round(server, ledger, table)
    placed = pb_game.PlaceWagersRequest(
        request_id=f"{name}-place",
        round=opened.name,
        opening_hash=opened.opening_hash,
        wagers=[wager(f"{name}-0", player="bob")],
    )
    await ask(server, ledger, "PlaceWagers", placed)
    request = pb_game.DealRoundRequest(
        request_id=f"{name}-deal",
        round=opened.name,
        opening_hash=opened.opening_hash,
        wagers=[wager(f"{name}-1")],
    )
    await ask(server, ledger, "DealRound", request)


async def play(server: Running, ledger: Ledger, name: str = "p", rounds: int = 2) -> None:
    """Deals so many rounds at two tables at once."""

    async def at(table: str) -> None:
        for number in range(rounds):
            await deal(server, ledger, table, f"{name}-{table}-{number}")

    async with asyncio.TaskGroup() as group:
        for table in ("a", "b"):
            group.create_task(at(table))


async def check(server: Running, ledger: Ledger) -> None:
    """Every answer comes again byte for byte, and every head that was told is one of this log."""
    for request_id, answer in ledger.answers.items():
        method, request = ledger.requests[request_id]
        assert await server.raw(method, request) == answer, request_id
    check_heads(server.data_dir, ledger)


def check_heads(data_dir: Path, ledger: Ledger) -> None:
    """The heads in the answers, against roots worked out from the log's entries."""
    leaves = [leaf(entry) for entry in stored_entries(data_dir)]
    for answer in set(ledger.answers.values()):
        note = pb_game.DealRoundResponse.FromString(answer).checkpoint
        _, size, root = note.split(b"\n")[:3]
        assert root_of(leaves[: int(size)]) == b64decode(root)
        assert int(size) <= len(leaves)
