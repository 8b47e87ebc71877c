"""A request id stands for one effect and one answer, byte for byte, whoever retries and whenever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.conftest import Start
from tests.server.games import game_text
from tests.server.reading import stored_records
from tests.server.refusals import refusal_of
from tests.server.running import LIMITS, Running, State, wager

Make = Callable[[Running, str], Awaitable[tuple[str, Any]]]


async def deal(server: Running, request_id: str) -> tuple[str, Any]:
    return "DealRound", await server.deal_request(request_id=request_id)


async def place(server: Running, request_id: str) -> tuple[str, Any]:
    request = pb_game.PlaceWagersRequest()
    request.MergeFromString((await server.deal_request(request_id=request_id)).SerializeToString())
    return "PlaceWagers", request


async def install(server: Running, request_id: str) -> tuple[str, Any]:
    text = game_text("shoe-7d")
    return "InstallGame", pb_op.InstallGameRequest(request_id=request_id, definition_toml=text)


async def create(server: Running, request_id: str) -> tuple[str, Any]:
    settings = pb.TableSettings(game_id="shoe-6d", game_version=1)
    settings.limits.CopyFrom(game_pb2.Limits(**LIMITS))
    request = pb_op.CreateTableRequest(request_id=request_id, table_id="new", settings=settings)
    return "CreateTable", request


async def suspend(server: Running, request_id: str) -> tuple[str, Any]:
    request = pb_op.SetTableStateRequest(
        request_id=request_id, table="tables/t", state=State.TABLE_STATE_SUSPENDED
    )
    return "SetTableState", request


async def void(server: Running, request_id: str) -> tuple[str, Any]:
    name = (await server.table()).round.name
    return "VoidRound", pb_op.VoidRoundRequest(request_id=request_id, round=name, cause=1)


async def retire(server: Running, request_id: str) -> tuple[str, Any]:
    return "RetireShoe", pb_op.RetireShoeRequest(request_id=request_id, table="tables/t", cause=1)


METHODS = [deal, place, install, create, suspend, void, retire]


@pytest.mark.parametrize("make", METHODS)
async def test_a_retry_gets_the_first_answer_to_the_byte(house: Running, make: Make) -> None:
    """At once, after other rounds have moved the log on, and twice: one answer, one effect."""
    method, request = await make(house, "r")
    first = await house.raw(method, request)
    size = await house.size()
    assert await house.raw(method, request) == first
    assert await house.size() == size
    await house.install("shoe-8d")
    assert await house.raw(method, request) == first
    assert await house.size() == size + 1


@pytest.mark.parametrize("make", METHODS)
async def test_a_retry_after_a_restart_gets_the_first_answer(start: Start, make: Make) -> None:
    """Another process over the same directory signs the same checkpoint again."""
    server = await start()
    await server.install()
    await server.open_table()
    method, request = await make(server, "r")
    first = await server.raw(method, request)
    await server.stop()
    again = await start()
    size = await again.size()
    assert await again.raw(method, request) == first
    assert await again.size() == size


@pytest.mark.parametrize(
    "make",
    [deal, place, pytest.param(install), create, suspend, void, retire],
)
async def test_twenty_at_once_with_one_id_have_one_effect(house: Running, make: Make) -> None:
    """All twenty callers get the same bytes, and the log grows as for one."""
    method, request = await make(house, "r")
    size = await house.size()
    answers = await asyncio.gather(*(house.raw(method, request) for _ in range(20)))
    assert len(set(answers)) == 1
    grown = (await house.size()) - size
    expected = {"DealRound": 2, "CreateTable": 2, "VoidRound": 2, "RetireShoe": 3}
    assert grown == expected.get(method, 1)


@pytest.mark.parametrize("make", METHODS)
async def test_an_id_with_another_body_is_refused(house: Running, make: Make) -> None:
    """ALREADY_EXISTS, REQUEST_ID_REUSED, nothing written; the first answer still stands."""
    method, request = await make(house, "r")
    first = await house.raw(method, request)
    size = await house.size()
    other = type(request).FromString(request.SerializeToString())
    if method in ("DealRound", "PlaceWagers"):
        other.wagers[0].spot = "tie"
    else:
        other.by.reason = "another reason"
    refusal = await refusal_of(house.raw(method, other))
    assert (refusal.code, refusal.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert refusal.fields == ("request_id",)
    assert await house.size() == size
    assert await house.raw(method, request) == first


async def test_an_id_is_used_once_across_methods(house: Running) -> None:
    """The id of a deal is no id for a void, even of the same round."""
    method, request = await deal(house, "r")
    await house.raw(method, request)
    for make in (place, install, create, suspend, void, retire):
        refusal = await refusal_of(house.raw(*await make(house, "r")))
        assert refusal.reason == "REQUEST_ID_REUSED"
        assert refusal.metadata == {"round": "tables/t/rounds/1"}


async def test_a_refused_call_leaves_its_id_free(house: Running) -> None:
    """What was refused wrote nothing: the same id may go with a corrected call."""
    wrong = await house.deal_request(wagers=[wager(stake=90)], request_id="r")
    await refusal_of(house.raw("DealRound", wrong))
    right = await house.deal_request(request_id="r")
    assert await house.raw("DealRound", right)


async def test_a_retry_of_a_deal_deals_nothing_more(house: Running) -> None:
    """Two hundred retries: one RoundDealt, one settled wager."""
    _, request = await deal(house, "r")
    await asyncio.gather(*(house.raw("DealRound", request) for _ in range(200)))
    dealt = [r for r in stored_records(house.data_dir) if isinstance(r, pb.RoundDealt)]
    assert [len(record.settlements) for record in dealt] == [1]


async def test_an_expired_answer_points_to_its_round(house: Running) -> None:
    """The bytes are gone, the id stays taken: REQUEST_ID_EXPIRED names the round to get."""
    _, request = await deal(house, "r")
    first = await house.raw("DealRound", request)
    store = SqliteStore(house.data_dir / "log.db", house.config.origin)
    assert store.expire_answers(2**62) == 3  # the game, the table and the deal
    store.close()
    refusal = await refusal_of(house.raw("DealRound", request))
    assert (refusal.code, refusal.reason) == ("ALREADY_EXISTS", "REQUEST_ID_EXPIRED")
    name = refusal.metadata["round"]
    assert name == request.round
    assert await house.raw("GetRound", pb_game.GetRoundRequest(name=name)) == first
    request.wagers[0].spot = "tie"
    refusal = await refusal_of(house.raw("DealRound", request))
    assert refusal.reason == "REQUEST_ID_REUSED"
