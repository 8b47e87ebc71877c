"""A witness that shows our own signature on another history stops the process; nothing else does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.errors import Reason
from sealedshoe_server.storage.interface import StoreRefused
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.fake_witness import signed_head
from tests.server.refusals import read_refusal, refusal_of
from tests.server.running import Running, wager
from tests.server.watched import (
    SHORT,
    Watched,
    eventually,
    forged,
    origin_of,
    true_root,
    until_answered,
    until_cosigned,
    watched_in,
)

TWO_OF_THREE = "group q 2 w0 w1 w2\nquorum q"
ROOT = sha256(b"another history").digest()


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """Three witnesses."""
    async with watched_in(tmp_path, 3) as made:
        yield made


async def halted(server: Running) -> str:
    """Waits until the process has stopped its log; returns what /healthz says."""
    for _ in range(1000):
        status, _, body = await server.http("/healthz")
        if status == 503:
            return body.decode()
        await asyncio.sleep(0.02)
    raise AssertionError("the log was never stopped")


FORKS: dict[str, Callable[[Path, int], bytes]] = {
    "larger": lambda data, size: forged(data, size + 1000, ROOT),
    "the same size": lambda data, size: forged(data, size, ROOT),
    "smaller": lambda data, size: forged(data, size - 2, ROOT),
}


@pytest.mark.parametrize("fork", FORKS)
async def test_a_fork_that_a_witness_shows_ends_the_log(watched: Watched, fork: str) -> None:
    """Nothing is appended any more, at any table or by the operator; what was acknowledged stays."""
    server = await watched.open(SHORT, TWO_OF_THREE)
    await server.deal()
    witness = watched.witnesses[1]
    witness.shown = FORKS[fork](server.data_dir, await until_cosigned(server))
    witness.quirk = "refuses"
    dealt = await server.deal_request()
    answer = await server.raw("DealRound", dealt)
    assert "w1" in await halted(server)
    size = await server.size()
    for call in (server.deal(), server.place(wager()), server.install("shoe-8d")):
        refusal = await refusal_of(call)
        assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "LOG_FORKED")
        assert refusal.retry_after_s is None
    state = server.set_state(pb.TableState.TABLE_STATE_SUSPENDED)
    assert (await refusal_of(state)).reason == Reason.LOG_FORKED
    assert await server.size() == size
    assert await server.raw("DealRound", dealt) == answer
    status = await server.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)
    assert not status.log_writable
    assert "w1" in status.log_failure


@pytest.mark.parametrize("rule", ["quorum w1", TWO_OF_THREE])
async def test_players_are_stopped_in_mid_play(watched: Watched, rule: str) -> None:
    """Every deal is acknowledged and in the log, or refused with the reason; none hangs."""
    server = await watched.open(SHORT, rule)
    tables = ("t", "a", "b")
    for table in tables[1:]:
        await server.open_table(table, game=SHORT)
    forked = forged(server.data_dir, await until_cosigned(server) + 100_000, ROOT)
    acknowledged: list[str] = []

    async def play(table: str) -> str:
        while True:
            try:
                acknowledged.append((await server.deal(table)).name)
            except grpc.aio.AioRpcError as error:
                return read_refusal(error).reason

    players = [asyncio.create_task(play(table)) for table in tables]
    await eventually(lambda: len(acknowledged) > 10)
    watched.witnesses[1].shown = forked
    watched.witnesses[1].quirk = "refuses"
    assert await asyncio.gather(*players) == ["LOG_FORKED"] * len(tables)
    size = await server.size()
    assert len(set(acknowledged)) == len(acknowledged)
    for table in tables:
        assert (await server.table(table)).round.name not in acknowledged
    assert await server.size() == size


async def test_a_forked_log_does_not_start_again(watched: Watched) -> None:
    """The witness still shows it."""
    server = await watched.open(SHORT, TWO_OF_THREE)
    witness = watched.witnesses[1]
    witness.shown = forged(server.data_dir, await until_cosigned(server), ROOT)
    witness.quirk = "refuses"
    await server.deal()
    await halted(server)
    await server.stop()
    with pytest.raises(StoreRefused, match="w1"):
        await watched.start(TWO_OF_THREE)


STRANGER = Ed25519PrivateKey.generate()
HARMLESS: dict[str, Callable[[Path, int], bytes]] = {
    "nothing": lambda _, __: b"",
    "a stranger's larger head": lambda data, size: signed_head(
        STRANGER, origin_of(data), size + 1000, ROOT
    ),
    "a stranger's head of our size": lambda data, size: signed_head(
        STRANGER, origin_of(data), size, ROOT
    ),
    "our own head": lambda data, size: forged(data, size, true_root(data, size)),
    "an older head of ours": lambda data, size: forged(data, size - 3, true_root(data, size - 3)),
    "our empty head": lambda data, _: forged(data, 0, true_root(data, 0)),
    "a head of ours, changed": lambda data, size: forged(data, size + 9, ROOT).replace(
        b"shoe", b"shop"
    ),
    "garbage": lambda _, __: b"\xff\xfe",
}


@pytest.mark.parametrize("shown", HARMLESS)
async def test_a_refusal_without_proof_stops_nothing(watched: Watched, shown: str) -> None:
    """The witness is faulty, and play goes on."""
    server = await watched.open(SHORT, TWO_OF_THREE)
    witness = watched.witnesses[1]
    witness.shown = HARMLESS[shown](server.data_dir, await until_cosigned(server))
    witness.quirk = "refuses"
    await server.deal()
    faulty = pb.EVENT_CLASS_WITNESS_FAULTY
    await server.until(pb.EventRecorded, event_class=faulty, before="w1")
    await server.deal()
    await until_cosigned(server)
    assert (await server.http("/healthz"))[0] == 200


async def test_a_witness_that_refuses_and_is_then_down_stops_nothing(watched: Watched) -> None:
    """What it does not show is no proof."""
    server = await watched.open(SHORT, TWO_OF_THREE)
    witness = watched.witnesses[1]
    witness.shown = forged(server.data_dir, await until_cosigned(server), ROOT)
    witness.quirk = "refuses"
    witness.may_look.clear()
    await server.deal()
    await witness.looked.wait()
    await until_answered(server, "w1", "refused")
    await server.until(pb.EventRecorded, event_class=pb.EVENT_CLASS_WITNESS_FAULTY, before="w1")
    witness.quirk = "down"
    await server.deal()
    await until_cosigned(server)
    witness.may_look.set()


async def test_what_a_witness_shows_is_compared_with_the_log_of_that_moment(
    watched: Watched,
) -> None:
    """It shows a head that was released after it was asked: larger than the one it refused, and true."""
    server = await watched.open(SHORT, TWO_OF_THREE, witness_timeout_s=20.0)
    witness = watched.witnesses[1]
    witness.quirk = "refuses"
    witness.may_look.clear()
    await server.deal()
    await witness.looked.wait()
    refused = witness.asked[-1].size
    await server.deal()
    size = await until_cosigned(server)
    assert size > refused
    witness.shown = forged(server.data_dir, size, true_root(server.data_dir, size))
    witness.may_look.set()
    await server.until(pb.EventRecorded, event_class=pb.EVENT_CLASS_WITNESS_FAULTY, before="w1")
    await server.deal()
    assert (await server.http("/healthz"))[0] == 200
