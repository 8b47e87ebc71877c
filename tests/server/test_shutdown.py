"""Shutdown: in order, within its grace, and without losing what was acknowledged."""

import asyncio
import signal
from pathlib import Path

import grpc
import pytest

from sealedshoe_audit.records import open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from tests.server.process import server_process
from tests.server.reading import stored_entries
from tests.server.refusals import refusal_of
from tests.server.running import wager


async def play(stub: GameServiceStub, table: str, acknowledged: list[tuple[str, bytes]]) -> None:
    """Deals until the server goes away."""
    opened = (await stub.GetTable(pb_game.GetTableRequest(name=table))).round
    while True:
        request = pb_game.DealRoundRequest(
            request_id=f"{opened.name}",
            round=opened.name,
            opening_hash=opened.opening_hash,
            wagers=[wager(stake=500)],
        )
        try:
            answer = await stub.DealRound(request, timeout=20)
        except grpc.aio.AioRpcError:
            return
        acknowledged.append((opened.name, answer.round.result.envelope))
        opened = answer.round.next_round


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_during_deals_loses_no_acknowledged_round(
    tmp_path: Path, number: signal.Signals
) -> None:
    """With over a hundred deals done and others under way: exit 0, every acknowledged round logged."""
    data = tmp_path / "data"
    acknowledged: list[tuple[str, bytes]] = []
    async with (
        server_process(data) as server,
        grpc.aio.insecure_channel(server.addresses["grpc"]) as channel,
    ):
        stub = GameServiceStub(channel)
        tables = (await stub.ListTables(pb_game.ListTablesRequest())).tables
        players = [asyncio.create_task(play(stub, t.name, acknowledged)) for t in tables]
        while len(acknowledged) < 100:
            await asyncio.sleep(0.01)
        server.process.send_signal(number)
        async with asyncio.timeout(15):
            assert await server.process.wait() == 0
        await asyncio.gather(*players)
        output = await server.output()
    assert b'"stopped"' in output
    assert b"Traceback" not in output
    entries = stored_entries(data)
    results = {entry for entry in entries if isinstance(open_record(entry), pb.RoundDealt)}
    assert {envelope for _, envelope in acknowledged} <= results
    assert not (data / "server.json").exists()


async def test_a_server_without_callers_ends_at_once(tmp_path: Path) -> None:
    """Nothing to wait for, although the grace is ten seconds."""
    async with server_process(tmp_path / "data", "--bare") as server:
        server.process.terminate()
        async with asyncio.timeout(8):
            assert await server.process.wait() == 0


async def test_a_watcher_does_not_hold_the_shutdown_up(tmp_path: Path) -> None:
    """Streams that only wait are ended at once when the server drains, and told to resume."""
    async with (
        server_process(tmp_path / "data") as server,
        grpc.aio.insecure_channel(server.addresses["grpc"]) as channel,
    ):
        call = GameServiceStub(channel).WatchTable(pb_game.WatchTableRequest(name="tables/shoe-6d"))
        await call.read()
        server.process.terminate()
        async with asyncio.timeout(5):
            refusal = await refusal_of(call.read())
            assert await server.process.wait() == 0
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "SERVER_DRAINING")
