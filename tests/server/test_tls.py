"""Beyond loopback: mutual TLS, GameService alone, and callers known by their certificates."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub
from tests.server.certificates import Authority, Pair, write_server_files
from tests.server.conftest import Start
from tests.server.refusals import refusal_of
from tests.server.running import Running

DEALER = "spiffe://casino.example/dealer"
OTHER = "spiffe://casino.example/front-end"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
async def public(start: Start, tmp_path: Path, authority: Authority) -> Running:
    """A server that listens on all addresses, with a table "t" that only DEALER may deal."""
    server = await start(listen="0.0.0.0:0", **write_server_files(tmp_path, authority, authority))
    await server.install()
    await server.open_table(dealer=DEALER)
    return server


def spiffe(authority: Authority, uri: str) -> Pair:
    """A client's certificate with a SPIFFE id; its common name is another's on purpose."""
    return authority.issue(DEALER, x509.UniformResourceIdentifier(uri))


@asynccontextmanager
async def dial(
    server: Running, authority: Authority, pair: Pair | None
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the public listener."""
    key, certificate = (pair.key, pair.certificate) if pair else (None, None)
    credentials = grpc.ssl_channel_credentials(authority.certificate, key, certificate)
    port = server.server.addresses["public"].rpartition(":")[2]
    options = [("grpc.ssl_target_name_override", "localhost")]
    channel = grpc.aio.secure_channel(f"127.0.0.1:{port}", credentials, options)
    async with channel:
        yield channel


async def code_of(call: Any) -> grpc.StatusCode:
    """The code that a failing call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code()


async def test_a_certified_front_end_plays(public: Running, authority: Authority) -> None:
    """Reads, bets and deals over TLS."""
    async with dial(public, authority, spiffe(authority, DEALER)) as channel:
        answer = await GameServiceStub(channel).DealRound(await public.deal_request())
    assert answer.round.name == "tables/t/rounds/1"


async def test_the_public_listener_has_no_operator_and_no_audit(
    public: Running, authority: Authority
) -> None:
    """UNIMPLEMENTED, even for a good certificate; the loopback listener has all services."""
    unimplemented = grpc.StatusCode.UNIMPLEMENTED
    async with dial(public, authority, spiffe(authority, DEALER)) as channel:
        operator, audit = OperatorServiceStub(channel), AuditServiceStub(channel)
        suspend = pb_op.SetTableStateRequest(request_id="r", table="tables/t", state=2)
        assert await code_of(operator.GetStatus(pb_op.GetStatusRequest())) is unimplemented
        assert await code_of(operator.SetTableState(suspend)) is unimplemented
        checkpoint = pb_audit.GetCheckpointRequest()
        assert await code_of(audit.GetCheckpoint(checkpoint)) is unimplemented
        reflection = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        )
        assert await code_of(reflection(iter([b""])).read()) is unimplemented
    assert (await public.audit.GetCheckpoint(checkpoint)).checkpoint
    assert await public.size() > 0
    assert (await public.table()).round.name == "tables/t/rounds/1"


async def test_health_is_told_on_the_public_listener(public: Running, authority: Authority) -> None:
    """Balancers see it."""
    async with dial(public, authority, spiffe(authority, OTHER)) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_without_a_good_certificate_there_is_no_connection(
    public: Running, authority: Authority
) -> None:
    """None, or one of another authority: the handshake fails before any call is read."""
    size = await public.size()
    stranger = Authority("a stranger")
    for pair in (None, spiffe(stranger, DEALER)):
        async with dial(public, authority, pair) as channel:
            call = GameServiceStub(channel).DealRound(await public.deal_request(), timeout=5)
            assert await code_of(call) is grpc.StatusCode.UNAVAILABLE
    assert await public.size() == size


async def test_without_tls_there_is_no_connection(public: Running) -> None:
    """The public port does not speak plain text."""
    port = public.server.addresses["public"].rpartition(":")[2]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = GameServiceStub(channel).ListGames(pb_game.ListGamesRequest(), timeout=5)
        assert await code_of(call) is grpc.StatusCode.UNAVAILABLE


async def test_the_caller_is_the_uri_and_never_the_common_name(
    public: Running, authority: Authority
) -> None:
    """A certificate whose common name is the dealer's does not deal; nor does loopback."""
    async with dial(public, authority, spiffe(authority, OTHER)) as channel:
        call = GameServiceStub(channel).DealRound(await public.deal_request())
        refusal = await refusal_of(call)
    assert (refusal.code, refusal.reason) == ("PERMISSION_DENIED", "NOT_THE_DEALER")
    refusal = await refusal_of(public.deal())
    assert refusal.reason == "NOT_THE_DEALER"


async def test_request_ids_belong_to_their_caller(public: Running, authority: Authority) -> None:
    """Two front-ends may use one id, and neither gets the other's answer."""
    answers = []
    for uri in (DEALER, OTHER):
        async with dial(public, authority, spiffe(authority, uri)) as channel:
            dealt = await public.deal_request(request_id="same")
            dealt.wagers[0].wager_id = uri.rpartition("/")[2]
            request = pb_game.PlaceWagersRequest.FromString(dealt.SerializeToString())
            answers.append(await GameServiceStub(channel).PlaceWagers(request))
    assert answers[0].accepted.index + 1 == answers[1].accepted.index


async def test_a_certificate_without_a_name_is_nobody_on_loopback(
    start: Start, tmp_path: Path, authority: Authority
) -> None:
    """It must not pass for a local caller: not for the dealer "loopback", nor for its request ids."""
    server = await start(listen="0.0.0.0:0", **write_server_files(tmp_path, authority, authority))
    await server.install()
    await server.open_table(dealer="loopback")
    async with dial(server, authority, authority.issue("nameless")) as channel:
        refusal = await refusal_of(GameServiceStub(channel).DealRound(await server.deal_request()))
    assert (refusal.code, refusal.reason) == ("PERMISSION_DENIED", "CALLER_UNNAMED")


async def test_two_long_identities_are_two_callers(public: Running, authority: Authority) -> None:
    """They differ after the 64th character; the second gets no answer of the first."""
    long = "spiffe://casino.example/ns/production/region/europe-west/sa/front-end-"
    assert len(long) > 64
    answers = []
    for number in "12":
        async with dial(public, authority, spiffe(authority, long + number)) as channel:
            dealt = await public.deal_request(request_id="same")
            dealt.wagers[0].wager_id = number
            request = pb_game.PlaceWagersRequest.FromString(dealt.SerializeToString())
            answers.append(await GameServiceStub(channel).PlaceWagers(request))
    assert len(answers) == 2
