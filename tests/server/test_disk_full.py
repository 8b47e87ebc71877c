"""A full disk under a real server: it refuses, loses nothing that it acknowledged, and goes on after."""

import resource
from pathlib import Path

import grpc

from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from tests.server.process import server_process
from tests.server.reading import stored_entries
from tests.server.refusals import read_refusal
from tests.server.running import wager

TABLE = "tables/punto-banco-6d"


async def test_a_full_disk_refuses_and_a_freed_one_goes_on(tmp_path: Path) -> None:
    """Files of the process may not grow: STORAGE_FAILED with RetryInfo; then every id finds its end."""
    unlimited = resource.RLIM_INFINITY
    data = tmp_path / "data"
    async with (
        server_process(data) as server,
        grpc.aio.insecure_channel(server.addresses["grpc"]) as channel,
    ):
        stub = GameServiceStub(channel)
        acknowledged: dict[str, bytes] = {}
        requests: list[pb_game.DealRoundRequest] = []
        limit = (data / "log.db-wal").stat().st_size + 80_000
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, unlimited))
        refusal = None
        while refusal is None:
            opened = (await stub.GetTable(pb_game.GetTableRequest(name=TABLE))).round
            request = pb_game.DealRoundRequest(
                request_id=f"r{len(requests)}",
                round=opened.name,
                opening_hash=opened.opening_hash,
                wagers=[wager()],
            )
            requests.append(request)
            try:
                answer = await stub.DealRound(request, timeout=10)
                acknowledged[request.request_id] = answer.SerializeToString()
            except grpc.aio.AioRpcError as error:
                refusal = read_refusal(error)
        assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "STORAGE_FAILED")
        assert refusal.retry_after_s == 1.0
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
        for request in requests:
            answer = (await stub.DealRound(request, timeout=10)).SerializeToString()
            assert acknowledged.get(request.request_id, answer) == answer
        assert len(acknowledged) == len(requests) - 1 > 0
        server.process.terminate()
        await server.process.wait()
    assert server.process.returncode == 0
    assert len(stored_entries(data)) > 2 * len(requests)
