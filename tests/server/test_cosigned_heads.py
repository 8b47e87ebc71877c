"""The cosigned head is the one that is shown, named by new rounds, and put into evidence."""

import base64
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from sealedshoe_audit.containers import parse_evidence
from sealedshoe_audit.log.checkpoint import verify_checkpoint
from sealedshoe_audit.log.policy import parse_policy
from sealedshoe_audit.trust import Trust, parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from tests.server.reading import stored_records
from tests.server.running import Running
from tests.server.watched import LONG, SHORT, Watched, policy_lines, until_cosigned, watched_in

RULE = "group q 2 w0 w1 w2\nquorum q"


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """Three witnesses."""
    async with watched_in(tmp_path, 3) as made:
        yield made


async def checkpoint(server: Running) -> bytes:
    """The newest head that AuditService shows."""
    answer = await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=10)
    return answer.checkpoint


async def evidence(server: Running, name: str) -> bytes:
    """A round's evidence file."""
    request = pb_audit.GetEvidenceRequest(round=name)
    return (await server.audit.GetEvidence(request, timeout=10)).evidence


def trust_of(server: Running) -> Trust:
    """The published trust file."""
    return parse_trust((server.data_dir / "trust.json").read_bytes())


def codes(data: bytes, trust: Trust) -> list[str]:
    """The verdict on an evidence file."""
    return [str(finding.code) for finding in verify_evidence(data, trust).findings]


async def shown_heads(server: Running, wanted: bytes) -> list[bytes]:
    """Follows AuditService's cosigned heads up to one."""
    stream = server.audit.WatchCheckpoints(
        pb_audit.WatchCheckpointsRequest(after_size=0), timeout=20
    )
    found: list[bytes] = []
    async for answer in stream:
        if answer.cosigned:
            found.append(answer.checkpoint)
            if answer.checkpoint == wanted:
                stream.cancel()
                return found
    return found


async def test_new_rounds_name_the_newest_cosigned_head(watched: Watched) -> None:
    """By the hash of a note that AuditService gave to all who follow."""
    server = await watched.open(SHORT, RULE)
    named = await checkpoint(server)
    await server.deal()
    opened = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundOpened)]
    assert opened[-1].cosigned_head_hash == sha256(named).digest()
    for _ in range(4):
        await server.deal()
    await until_cosigned(server)
    heads = await shown_heads(server, await checkpoint(server))
    hashes = {sha256(head).digest() for head in heads} | {b""}
    opened = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundOpened)]
    assert {record.cosigned_head_hash for record in opened} <= hashes


async def test_rounds_before_the_first_quorum_name_none(watched: Watched) -> None:
    for witness in watched.witnesses:
        witness.quirk = "down"
    server = await watched.open(SHORT, RULE, cosigned=False)
    opened = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundOpened)]
    assert [record.cosigned_head_hash for record in opened] == [b""]
    assert (await checkpoint(server)).count("\n— ".encode()) == 1
    for witness in watched.witnesses:
        witness.quirk = ""
    await until_cosigned(server)


@pytest.mark.parametrize("game", [LONG, SHORT])
async def test_evidence_is_cosigned_and_says_what_the_round_is_younger_than(
    watched: Watched, game: str
) -> None:
    """It verifies under the published trust file, whose quorum is the policy's."""
    server = await watched.open(game, RULE)
    named = await checkpoint(server)
    await server.deal()
    await until_cosigned(server)
    dealt = await server.deal()
    await until_cosigned(server)
    data = await evidence(server, dealt.name)
    parsed, trust = parse_evidence(data), trust_of(server)
    assert trust.quorum == 2
    assert parsed.checkpoint == await checkpoint(server)
    assert parsed.cosigned_head == named
    report = verify_evidence(data, trust)
    assert report.findings == []
    lines = named.decode().partition("\n\n")[2].splitlines()[1:]
    times = [int.from_bytes(base64.b64decode(line.split(" ")[2])[4:12]) for line in lines]
    assert report.facts["opened_after_s"] == min(times)


async def test_evidence_before_its_cosignature_lacks_the_quorum(watched: Watched) -> None:
    """Under the newest head of all it is true to our signature only; later the same round has the quorum."""
    server = await watched.open(SHORT, RULE)
    for witness in watched.witnesses[1:]:
        witness.quirk = "held"
    dealt = await server.deal()
    early = await evidence(server, dealt.name)
    assert codes(early, trust_of(server)) == ["QUORUM"]
    for witness in watched.witnesses[1:]:
        witness.quirk = ""
        witness.go.set()
    await until_cosigned(server)
    assert codes(await evidence(server, dealt.name), trust_of(server)) == []


async def test_http_serves_the_cosigned_head_and_what_it_is_checked_with(watched: Watched) -> None:
    """Checkpoint, trust file and policy agree; the head stays at the quorum while the log grows."""
    server = await watched.open(SHORT, RULE)
    size = await until_cosigned(server)
    for witness in watched.witnesses:
        witness.quirk = "held"
    await server.deal()
    note = (await server.http("/log/checkpoint"))[2]
    assert note == await checkpoint(server)
    assert int(note.split(b"\n")[1]) == size < await server.size()
    shown = (await server.http("/log/trust.json"))[2]
    assert shown == (server.data_dir / "trust.json").read_bytes()
    trust = parse_trust(shown)
    assert [key.text() for key in trust.witnesses] == [w.vkey for w in watched.witnesses]
    assert len(verify_checkpoint(note, trust).cosigned) >= 2
    policy = (await server.http("/log/policy"))[2]
    log = f"log {(server.data_dir / 'vkey').read_text('utf-8')}"
    assert policy.decode() == log + policy_lines(watched.witnesses, RULE)
    head = verify_checkpoint(note, trust.under(parse_policy(policy)))
    assert head.checkpoint.size == size
    for witness in watched.witnesses:
        witness.go.set()
    await until_cosigned(server)


async def test_the_newest_cosigned_head_survives_a_restart(watched: Watched) -> None:
    """It is shown at once, and the next round names it, though no witness answers."""
    server = await watched.open(SHORT, RULE)
    await until_cosigned(server)
    note = await checkpoint(server)
    await server.stop()
    for witness in watched.witnesses:
        witness.quirk = "down"
    again = await watched.start(RULE)
    assert await checkpoint(again) == note
    await again.deal()
    opened = [r for r in stored_records(again.data_dir) if isinstance(r, pb.RoundOpened)]
    assert opened[-1].cosigned_head_hash == sha256(note).digest()


async def test_without_a_policy_nothing_is_cosigned(watched: Watched) -> None:
    """No witness is asked, no policy is published, and rounds name no head."""
    server = await watched.plain()
    await server.install(LONG)
    await server.open_table(game=LONG)
    await server.deal()
    assert (await server.http("/log/policy"))[0] == 404
    opened = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundOpened)]
    assert {record.cosigned_head_hash for record in opened} == {b""}
    assert [witness.asked for witness in watched.witnesses] == [[], [], []]


async def test_evidence_of_a_round_that_was_opened_under_another_policy_is_valid(
    watched: Watched,
) -> None:
    """Witnesses come and go; what the round names was cosigned by those of its time."""
    first, second, _ = watched.witnesses
    server = await watched.start("quorum w0", witnesses=[first])
    await server.install(SHORT)
    await server.open_table(game=SHORT)
    await until_cosigned(server)
    await server.deal()
    await until_cosigned(server)
    await server.stop()
    again = await watched.start("quorum w0", witnesses=[second])
    dealt = await again.deal()
    await until_cosigned(again)
    assert codes(await evidence(again, dealt.name), trust_of(again)) == []
