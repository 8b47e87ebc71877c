"""Bad input as a table: rows of a call, the code, the reason and the field that it must be refused with."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.refusals import refusal_of
from tests.server.running import Running, State, wager

BAD, RANGE, NONE = "INVALID_ARGUMENT", "OUT_OF_RANGE", "NOT_FOUND"
STATE, TAKEN, MUCH = "FAILED_PRECONDITION", "ALREADY_EXISTS", "RESOURCE_EXHAUSTED"
COLUMNS = ("call", "code", "reason", "field")


@dataclass
class Floor:
    """A server with a table "t" in play, and others in states that refuse.

    Attributes:
        opened: of "t": round 2, with one standing wager "standing" of 900 on Player by zoe.
    """

    server: Running
    opened: pb_game.OpenRound

    async def deal(self, *wagers: pb_game.NewWager, **changes: Any) -> bytes:
        """A good DealRound but for the changes."""
        request = pb_game.DealRoundRequest(
            request_id=self.server.fresh(),
            round=self.opened.name,
            opening_hash=self.opened.opening_hash,
            wagers=wagers,
        )
        for name, value in changes.items():
            setattr(request, name, value)
        return await self.server.raw("DealRound", request)

    async def place(self, *wagers: pb_game.NewWager, **changes: Any) -> bytes:
        """A good PlaceWagers but for the changes."""
        request = pb_game.PlaceWagersRequest(
            request_id=self.server.fresh(),
            round=self.opened.name,
            opening_hash=self.opened.opening_hash,
            wagers=wagers,
        )
        for name, value in changes.items():
            setattr(request, name, value)
        return await self.server.raw("PlaceWagers", request)

    async def at(self, table: str, *wagers: pb_game.NewWager) -> bytes:
        """A good DealRound at another table."""
        request = await self.server.deal_request(table, wagers or [wager()])
        return await self.server.raw("DealRound", request)

    async def create(self, table: str = "new", game: str = "shoe-6d", **settings: Any) -> None:
        """A good CreateTable but for the settings."""
        await self.server.open_table(table, game, **settings)

    async def install(self, text: str) -> bytes:
        """InstallGame."""
        request = pb_op.InstallGameRequest(request_id=self.server.fresh(), definition_toml=text)
        return await self.server.raw("InstallGame", request)

    async def operate(self, method: str, **fields: Any) -> bytes:
        """A call of OperatorService with a fresh request id."""
        kind = getattr(pb_op, f"{method}Request")
        return await self.server.raw(method, kind(**{"request_id": self.server.fresh(), **fields}))

    async def read(self, method: str, **fields: Any) -> bytes:
        """A reading call of GameService."""
        return await self.server.raw(method, getattr(pb_game, f"{method}Request")(**fields))


Call = Callable[[Floor], Coroutine[Any, Any, object]]


class Table:
    """Rows for `parametrize`, under COLUMNS."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def case(self, name: str, code: str, reason: str, field: str | None, call: Call) -> None:
        """Adds a row."""
        self.rows.append(pytest.param(call, code, reason, field, id=name))


async def assert_refused(
    floor: Floor, call: Call, code: str, reason: str, field: str | None
) -> None:
    """Code, reason and field are as documented, and no record was appended."""
    size = await floor.server.size()
    refusal = await refusal_of(call(floor))
    assert (refusal.code, refusal.reason) == (code, reason)
    if field is not None:
        assert refusal.fields == (field,)
    assert await floor.server.size() == size


async def furnish(server: Running) -> Floor:
    """Opens the tables: "t" in play, and "window", "dealer", "suspended", "closed"."""
    await server.install()
    await server.install("mini-baccarat-8d")
    await server.open_table("t", maximum=1000, spot_maximum=1500)
    await server.open_table("window", betting_window_ms=3_600_000)
    await server.open_table("dealer", dealer="spiffe://example/dealer")
    for name, state in (
        ("suspended", State.TABLE_STATE_SUSPENDED),
        ("closed", State.TABLE_STATE_CLOSED),
    ):
        await server.open_table(name)
        await server.set_state(state, name)
    await server.deal("t")
    await server.place(wager("standing", 900, player="zoe"), table="t")
    return Floor(server, (await server.table("t")).round)
