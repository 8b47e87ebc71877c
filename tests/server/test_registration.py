"""The layers around every method: the unforeseen tells nothing, and no call lasts for ever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest

from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.listeners import AUDIT
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.services.registration import Layers
from sealedshoe_server.v1 import audit_service_pb2 as pb
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from tests.server.refusals import refusal_of

SECRET = "5eed-0f-the-shoe"


class Faulty:
    """An AuditService of which every method fails in another way."""

    async def GetCheckpoint(self, _: Any) -> bytes:
        raise ValueError(SECRET)

    async def WatchCheckpoints(self, _: Any) -> AsyncIterator[pb.WatchCheckpointsResponse]:
        yield pb.WatchCheckpointsResponse()
        raise LookupError(SECRET)

    async def ReadRecords(self, _: Any) -> AsyncIterator[pb.ReadRecordsResponse]:
        yield pb.ReadRecordsResponse(start=1)
        raise LookupError(SECRET)

    async def ProveInclusion(self, _: Any) -> bytes:
        await asyncio.sleep(60)
        return b""

    async def ProveConsistency(self, _: Any) -> bytes:
        raise GameError(Reason.TREE_SIZE_UNKNOWN, "no such size")

    async def GetEvidence(self, _: Any) -> bytes:
        raise TimeoutError(SECRET)


Serve = Callable[[Callable[[], str]], Any]


@pytest.fixture
async def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def serve(metrics: Metrics) -> AsyncIterator[Serve]:
    server = grpc.aio.server()
    channels: list[grpc.aio.Channel] = []

    async def serve(incident_id: Callable[[], str]) -> Any:
        layers = Layers(metrics, incident_id, 0.2, 1000)
        server.add_generic_rpc_handlers((layers.handlers(AUDIT, Faulty()),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        channels.append(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
        return AuditServiceStub(channels[0])

    yield serve
    for channel in channels:
        await channel.close()
    await server.stop(None)


async def test_the_unforeseen_becomes_an_incident_without_its_text(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    """INTERNAL with an id; the log has the id, the kind and the place, and neither has the text."""
    stub = await serve(lambda: "i-1")
    for call in (
        stub.GetCheckpoint(pb.GetCheckpointRequest()),
        _drained(stub.ReadRecords(pb.ReadRecordsRequest())),
    ):
        refusal = await refusal_of(call)
        assert (refusal.code, refusal.reason) == ("INTERNAL", "INTERNAL")
        assert refusal.metadata == {"incident": "i-1"}
        assert SECRET not in repr(refusal)
    shown = "".join(capsys.readouterr())
    assert shown.count("i-1") == 2
    assert "ValueError" in shown
    assert SECRET not in shown


async def _drained(call: Any) -> list[Any]:
    return [answer async for answer in call]


async def test_a_call_without_a_deadline_gets_the_servers_own(serve: Serve) -> None:
    """A handler that hangs is ended."""
    stub = await serve(lambda: "i-1")
    refusal = await refusal_of(stub.ProveInclusion(pb.ProveInclusionRequest()))
    assert refusal.code == "DEADLINE_EXCEEDED"
    refusal = await refusal_of(stub.GetEvidence(pb.GetEvidenceRequest()))
    assert SECRET not in repr(refusal)


async def test_refusals_are_counted_by_method_and_reason(serve: Serve, metrics: Metrics) -> None:
    """As refusals, and by code among the calls."""
    stub = await serve(lambda: "i-1")
    await refusal_of(stub.ProveConsistency(pb.ProveConsistencyRequest()))
    await refusal_of(stub.GetCheckpoint(pb.GetCheckpointRequest()))
    sample = metrics.registry.get_sample_value
    for method, code, reason in (
        ("ProveConsistency", "OUT_OF_RANGE", "TREE_SIZE_UNKNOWN"),
        ("GetCheckpoint", "INTERNAL", "INTERNAL"),
    ):
        assert sample("sealedshoe_calls_total", {"method": method, "code": code}) == 1
        assert sample("sealedshoe_refusals_total", {"method": method, "reason": reason}) == 1


async def test_a_dead_source_of_ids_leaks_nothing(serve: Serve) -> None:
    """With the operating system's source gone, the unforeseen is still INTERNAL without its text."""

    def dead() -> str:
        raise OSError(SECRET)

    stub = await serve(dead)
    refusal = await refusal_of(stub.GetCheckpoint(pb.GetCheckpointRequest()))
    assert refusal.code == "INTERNAL"
    assert SECRET not in refusal.message
