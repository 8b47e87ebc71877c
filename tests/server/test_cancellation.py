"""A caller who goes away in the middle: the round is committed whole or not at all, and found again."""

import asyncio

import grpc
import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.reading import stored_records
from tests.server.running import Running


def dealt_rounds(server: Running) -> list[int]:
    """Numbers of the rounds dealt, in order."""
    records = stored_records(server.data_dir)
    return [record.round_number for record in records if isinstance(record, pb.RoundDealt)]


@pytest.mark.parametrize("steps", range(0, 60, 4))
async def test_a_cancelled_deal_is_dealt_once(house: Running, steps: int) -> None:
    """Cancelled after some turns of the loop: a retry deals or finds the one round."""
    request = await house.deal_request()
    call = house.channel.unary_unary("/sealedshoe_server.v1.GameService/DealRound")(
        request.SerializeToString()
    )
    for _ in range(steps):
        await asyncio.sleep(0)
    call.cancel()
    answer = await house.raw("DealRound", request)
    assert dealt_rounds(house) == [1]
    assert await house.raw("GetRound", pb_game.GetRoundRequest(name=request.round)) == answer


async def test_a_deal_with_too_short_a_deadline_is_dealt_once(house: Running) -> None:
    """Deadlines from nothing to a hundredth of a second, one round each: none twice, none lost."""
    late = 0
    for i in range(40):
        request = await house.deal_request()
        hasty = house.raw("DealRound", request, timeout=i * 0.00025 or 0.05)
        if i == 0:  # the table is held until the deadline has passed, however fast the machine
            async with house.server.floor.tables["t"].lock:
                (first,) = await asyncio.gather(hasty, return_exceptions=True)
        else:
            (first,) = await asyncio.gather(hasty, return_exceptions=True)
        if isinstance(first, grpc.aio.AioRpcError):
            assert first.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            late += 1
        answer = await house.raw("DealRound", request)
        assert await house.raw("GetRound", pb_game.GetRoundRequest(name=request.round)) == answer
    assert late
    assert dealt_rounds(house) == list(range(1, 41))


async def test_a_lost_connection_loses_no_round(house: Running) -> None:
    """Many callers hang up at once; each finds its own round by its request id."""
    for table in ("a", "b", "c", "d"):
        await house.open_table(table)
    requests = [await house.deal_request(table) for table in ("a", "b", "c", "d")]
    other = grpc.aio.insecure_channel(house.server.addresses["grpc"])
    method = other.unary_unary("/sealedshoe_server.v1.GameService/DealRound")
    calls = [asyncio.ensure_future(_quietly(method(r.SerializeToString()))) for r in requests]
    await asyncio.sleep(0.003)
    await other.close()
    await asyncio.gather(*calls)
    for request in requests:
        answer = await house.raw("DealRound", request)
        assert pb_game.DealRoundResponse.FromString(answer).round.name == request.round
    assert dealt_rounds(house) == [1, 1, 1, 1]


async def _quietly(call: "grpc.aio.UnaryUnaryCall[bytes, bytes]") -> None:
    await asyncio.gather(call, return_exceptions=True)


async def test_a_call_without_a_deadline_is_answered(house: Running) -> None:
    """The server brings its own."""
    request = await house.deal_request()
    method = house.channel.unary_unary("/sealedshoe_server.v1.GameService/DealRound")
    answer = await method(request.SerializeToString())
    assert pb_game.DealRoundResponse.FromString(answer).round.name == "tables/t/rounds/1"
