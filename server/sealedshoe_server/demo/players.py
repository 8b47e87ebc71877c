"""Front-ends that play: they keep every acknowledged answer, retry through a crash, and check all proofs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.client import Checker, Opening, new_request_id
from sealedshoe_server.v1 import game_service_pb2 as pb_game

if TYPE_CHECKING:  # the type exists for checkers only; at run time GameServiceStub serves both
    from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceAsyncStub

CALL_TIMEOUT_S = 10.0
RETRY_S = 0.1
RETRIES = 300  # 30 s: a restart takes about one
# Spots and stakes in steps of the table, round by round: one bet, several, all of them.
PATTERNS = (
    (("banker", 25),),
    (("player", 30), ("tie", 25)),
    (("banker", 125), ("player", 25), ("tie", 30)),
    (("tie", 50),),
    (("player", 100), ("banker", 26)),
)
GUESTS = ("guest-1", "guest-2")


class Mismatch(Exception):
    """An answer differs from one acknowledged before: the demo has failed."""


@dataclass(slots=True)
class Ledger:
    """Every acknowledged answer of all clients, and what they sum up to.

    Attributes:
        answers: {request id: (method, request, answer bytes)}.
        progress: called after every round.
    """

    progress: Callable[[], None]
    answers: dict[str, tuple[str, Any, bytes]] = field(default_factory=lambda: {})
    results: dict[str, list[pb.RoundDealt]] = field(default_factory=lambda: {})
    receipts: dict[str, bytes] = field(default_factory=lambda: {})
    retries: int = 0
    repeats: int = 0

    def keep(self, method: str, request: Any, answer: Any) -> None:
        """Keeps an acknowledged answer; a second one to the same request must be the same bytes.

        Raises:
            Mismatch: it is not.
        """
        data = answer.SerializeToString()
        known = self.answers.setdefault(request.request_id, (method, request, data))
        if known[2] != data:
            raise Mismatch(f"{method} {request.request_id}: another answer than before")

    def result(self, table: str, record: pb.RoundDealt) -> None:
        """Counts a round."""
        self.results.setdefault(table, []).append(record)
        self.progress()


async def call(ledger: Ledger, method: Callable[..., Awaitable[Any]], request: Any) -> Any:
    """Calls until an answer comes, with the same request id: UNAVAILABLE does not mean "not done"."""
    for _ in range(RETRIES):
        try:
            return await method(request, timeout=CALL_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            ledger.retries += 1
            await asyncio.sleep(RETRY_S)
    raise Mismatch("the server did not come back")


class TablePlayer:
    """One front-end at one table; with guests, others place wagers into the rounds that it deals."""

    def __init__(
        self,
        stub: "GameServiceAsyncStub",
        checker: Checker,
        ledger: Ledger,
        table: str,
        *,
        guests: bool,
    ) -> None:
        """Sits down; nothing is played yet."""
        self._stub = stub
        self._checker = checker
        self._ledger = ledger
        self._table = table
        self._guests = GUESTS if guests else ()

    async def play(self, rounds: int) -> None:
        """Plays so many rounds.

        Raises:
            Mismatch, VerificationError: an answer is not what it must be.
        """
        answer = await call(
            self._ledger, self._stub.GetTable, pb_game.GetTableRequest(name=self._table)
        )
        step = answer.table.settings.limits.step
        opening = self._checker.opening(answer.round, answer.checkpoint, None)
        for number in range(rounds):
            self._ledger.receipts[opening.round] = opening.receipt()
            await asyncio.gather(
                *(self._place(opening, guest, number, step) for guest in self._guests)
            )
            opening = await self._deal(opening, number, step)

    async def _place(self, opening: Opening, guest: str, number: int, step: int) -> None:
        request = pb_game.PlaceWagersRequest(
            request_id=new_request_id(),
            round=opening.round,
            opening_hash=opening.opening_hash,
            wagers=_wagers(guest, number + len(guest), step),
        )
        answer = await call(self._ledger, self._stub.PlaceWagers, request)
        self._ledger.keep("PlaceWagers", request, answer)
        self._checker.record(answer.accepted, answer.checkpoint)

    async def _deal(self, opening: Opening, number: int, step: int) -> Opening:
        request = pb_game.DealRoundRequest(
            request_id=new_request_id(),
            round=opening.round,
            opening_hash=opening.opening_hash,
            wagers=_wagers("player-1", number, step),
        )
        answer = await call(self._ledger, self._stub.DealRound, request)
        self._ledger.keep("DealRound", request, answer)
        if number % 10 == 0:
            again = await call(self._ledger, self._stub.DealRound, request)
            self._ledger.keep("DealRound", request, again)
            self._ledger.repeats += 1
        record = self._checker.result(opening, answer.round, answer.checkpoint)
        self._ledger.result(self._table, record)
        return self._checker.opening(answer.round.next_round, answer.checkpoint, opening.shoe)


def _wagers(player: str, number: int, step: int) -> list[pb_game.NewWager]:
    pattern = PATTERNS[number % len(PATTERNS)]
    return [
        pb_game.NewWager(
            wager_id=f"{player}-{spot}", spot=spot, stake=steps * step, player=f"{player}@demo"
        )
        for spot, steps in pattern
    ]


async def ask_again(ledger: Ledger, stub: "GameServiceAsyncStub") -> int:
    """Sends every acknowledged request once more; each answer must be the same bytes.

    Returns:
        How many were compared.

    Raises:
        Mismatch: one is not.
    """
    methods: dict[str, Callable[..., Awaitable[Any]]] = {
        "PlaceWagers": stub.PlaceWagers,
        "DealRound": stub.DealRound,
    }
    for method, request, _ in list(ledger.answers.values()):
        answer = await call(ledger, methods[method], request)
        ledger.keep(method, request, answer)
    return len(ledger.answers)
