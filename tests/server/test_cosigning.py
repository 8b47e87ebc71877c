"""Heads are cosigned by the policy's quorum, whatever the other witnesses do."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.fake_witness import FakeWitness
from tests.server.reading import stored_records
from tests.server.running import Running
from tests.server.watched import (
    Watched,
    answers,
    eventually,
    until_answered,
    until_cosigned,
    watched_in,
)

TWO_OF_THREE = "group q 2 w0 w1 w2\nquorum q"


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """Three witnesses."""
    async with watched_in(tmp_path, 3) as made:
        yield made


async def checkpoint(server: Running) -> bytes:
    """The newest head that AuditService shows."""
    answer = await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=10)
    return answer.checkpoint


async def signers(server: Running) -> list[str]:
    """Names on the signature lines of the newest head, in order."""
    lines = (await checkpoint(server)).decode().partition("\n\n")[2].splitlines()
    return [line.split(" ")[1] for line in lines]


async def test_all_witnesses_are_asked_at_once(watched: Watched) -> None:
    """While none has answered, each has the same head."""
    for witness in watched.witnesses:
        witness.quirk = "held"
    server = await watched.open(rule="group q all w0 w1 w2\nquorum q", cosigned=False)
    await eventually(lambda: all(witness.asked for witness in watched.witnesses))
    assert len({witness.asked[0].note for witness in watched.witnesses}) == 1
    for witness in watched.witnesses:
        witness.quirk = ""
        witness.go.set()
    await until_cosigned(server)
    assert await signers(server) == [server.config.origin, *(w.name for w in watched.witnesses)]


async def test_heads_grow_old_and_are_cosigned_anew(watched: Watched) -> None:
    """A log that does not grow has fresh cosignatures all the same; the proof is empty."""
    server = await watched.open(cosign_every_s=0.05)
    size = await until_cosigned(server)
    asked = watched.witnesses[0].asked
    before = len(asked)
    await eventually(lambda: len(asked) >= before + 3)
    assert {(a.old, a.size, a.proof) for a in asked[before:]} == {(size, size, ())}


FAULTS = ["down", "silent", "held", "wrong-key", "bad-signature", "conflicts", "huge", "garbage"]


@pytest.mark.parametrize("quirk", FAULTS)
async def test_one_witness_that_fails_is_done_without(watched: Watched, quirk: str) -> None:
    """Two of three cosign every head; play and log go on."""
    watched.witnesses[1].quirk = quirk
    server = await watched.open("shoe-6d", TWO_OF_THREE)
    for _ in range(3):
        await until_cosigned(server)
        await server.deal()
    await until_cosigned(server)
    names = [watched.witnesses[0].name, watched.witnesses[2].name]
    assert await signers(server) == [server.config.origin, *names]


@pytest.mark.parametrize("quirk", ["ahead", "refuses", "bare-409", "text-409"])
async def test_one_witness_that_refuses_without_proof_is_recorded_once(
    watched: Watched, quirk: str
) -> None:
    """It is faulty: an event says so, and the others make the quorum; later refusals add nothing."""
    watched.witnesses[2].quirk = quirk
    watched.witnesses[2].shown = b""
    server = await watched.open("shoe-6d", TWO_OF_THREE)
    await server.until(pb.EventRecorded, event_class=pb.EVENT_CLASS_WITNESS_FAULTY)
    for _ in range(3):
        await until_cosigned(server)
        await server.deal()
    await until_cosigned(server)
    assert [(e.component, e.before, e.by.actor) for e in faults(server)] == [
        ("witness", "w2", "server")
    ]
    result = "ahead" if quirk == "ahead" else "refused"
    assert (await answers(server))["w2", result] >= 3


def faults(server: Running) -> list[pb.EventRecorded]:
    """The events of a log that say that a witness is faulty."""
    events = [r for r in stored_records(server.data_dir) if isinstance(r, pb.EventRecorded)]
    return [event for event in events if event.event_class == pb.EVENT_CLASS_WITNESS_FAULTY]


async def test_a_witness_that_is_well_again_and_faulty_again_is_recorded_again(
    watched: Watched,
) -> None:
    """Every fault that begins is an event."""
    server = await watched.open("shoe-6d", TWO_OF_THREE)
    faulty = watched.witnesses[2]
    faulty.shown = b""
    for count in (1, 2):
        faulty.quirk = "ahead"
        await server.deal()
        await eventually(partial(recorded, server, count))
        faulty.quirk = ""
        await server.deal()
        await eventually(partial(holds, faulty, await until_cosigned(server)))


def recorded(server: Running, count: int) -> bool:
    """Whether so many faults of witnesses are in the log."""
    return len(faults(server)) == count


def holds(witness: FakeWitness, size: int) -> bool:
    """Whether it cosigned a head of that size."""
    return witness.held_size == size


async def test_a_witness_that_forgot_our_heads_is_served_again(watched: Watched) -> None:
    """Behind is no fault: it says which size it holds, and cosigns from there."""
    server = await watched.open("shoe-6d", "group q all w0 w1 w2\nquorum q")
    watched.witnesses[0].held_size, watched.witnesses[0].held_root = 0, b""
    await server.deal()
    await until_cosigned(server)
    assert [asked.old for asked in watched.witnesses[0].asked[-2:]][1] == 0
    assert {result for _, result in await answers(server)} == {"cosigned"}


async def test_a_slow_witness_is_not_asked_again_before_it_answers(watched: Watched) -> None:
    """It misses heads, and then goes on with the newest."""
    server = await watched.open("shoe-6d", TWO_OF_THREE)
    slow = watched.witnesses[0]
    slow.quirk = "held"
    asked = len(slow.asked)
    for _ in range(3):
        await server.deal()
        await eventually(lambda: len(slow.asked) > asked)
        await until_cosigned(server)
    assert len(slow.asked) == asked + 1
    slow.quirk = ""
    slow.go.set()
    await server.deal()
    await eventually(partial(holds, slow, await until_cosigned(server)))


async def test_a_late_answer_counts_for_no_other_head(watched: Watched) -> None:
    """Its line is over an older head: it is not put under the newer one that wants a line."""
    server = await watched.open("shoe-6d", TWO_OF_THREE, witness_timeout_s=20.0)
    late, _, third = watched.witnesses
    late.quirk = "held"
    await server.deal()
    older = await until_cosigned(server)
    await eventually(lambda: late.asked[-1].size == older)
    third.quirk = "held"
    await server.deal()
    newer = await server.size()
    await eventually(lambda: third.asked[-1].size == newer)
    before = (await answers(server))["w0", "cosigned"]
    late.go.set()
    while (await answers(server))["w0", "cosigned"] == before:
        await asyncio.sleep(0.02)
    assert late.held_size == older
    status = await server.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)
    assert (status.cosigned_size, status.log_size) == (older, newer)
    third.go.set()
    await until_cosigned(server)
    assert await signers(server) == [server.config.origin, *(w.name for w in watched.witnesses[1:])]


async def test_the_quorum_is_the_policys(watched: Watched) -> None:
    """One of two groups must be whole: a witness of each is not enough."""
    rule = "group a all w0 w1\ngroup q any a w2\nquorum q"
    server = await watched.open("shoe-6d", rule)
    first, second, third = watched.witnesses
    second.quirk = third.quirk = "down"
    await server.set_state(pb.TableState.TABLE_STATE_DRAINING)
    await until_answered(server, "w1", "error")
    await until_answered(server, "w2", "error")
    size = await server.size()
    await eventually(lambda: first.held_size == size)
    status = await server.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)
    assert status.cosigned_size < size
    third.quirk = ""
    await until_cosigned(server)
    assert third.name in await signers(server)
    third.quirk, second.quirk = "down", ""
    await server.set_state(pb.TableState.TABLE_STATE_ENABLED)
    await until_cosigned(server)
    assert await signers(server) == [server.config.origin, first.name, second.name]


async def test_every_witness_sees_one_chain_of_heads_under_play(watched: Watched) -> None:
    """Rounds at four tables; each head that was ever asked about lies on one line, and all is cosigned."""
    server = await watched.open("punto-banco-6d", TWO_OF_THREE)
    for table in ("a", "b", "c"):
        await server.open_table(table, game="punto-banco-6d")

    async def play(table: str) -> None:
        for _ in range(10):
            await server.deal(table)

    await asyncio.gather(*(play(table) for table in ("t", "a", "b", "c")))
    await until_cosigned(server)
    for witness in watched.witnesses:
        sizes = [asked.size for asked in witness.asked]
        assert sizes == sorted(sizes)
    roots = {(asked.size, asked.root) for w in watched.witnesses for asked in w.asked}
    assert len({size for size, _ in roots}) == len(roots)
    assert {result for _, result in await answers(server)} == {"cosigned"}
