"""The guard is written before any answer leaves; one that cannot be written lets nothing out."""

import asyncio

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.guards import guarded, unwritable
from tests.server.reading import stored_records
from tests.server.refusals import Refusal, refusal_of
from tests.server.running import Running, State

FAILED = ("UNAVAILABLE", "STORAGE_FAILED")


def size_of(note: bytes) -> int:
    """The size that a checkpoint states."""
    return int(note.split(b"\n")[1])


async def checkpoint(server: Running) -> bytes:
    """The newest head to show."""
    return (await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest())).checkpoint


async def failed(server: Running, request: pb_game.DealRoundRequest) -> Refusal:
    """The refusal of a deal whose head cannot be guarded."""
    refusal = await refusal_of(server.game.DealRound(request, timeout=10))
    assert (refusal.code, refusal.reason) == FAILED
    assert refusal.retry_after_s == 1.0
    return refusal


async def test_no_answer_is_ahead_of_the_guard(house: Running) -> None:
    """Whenever an answer arrives, its head is guarded already; with four tables dealing at once."""
    for name in ("a", "b", "c"):
        await house.open_table(name)

    async def play(table: str) -> None:
        for _ in range(8):
            request = await house.deal_request(table)
            answer = await house.game.DealRound(request, timeout=10)
            assert size_of(answer.checkpoint) <= guarded(house.config.guard_path)[1]

    await asyncio.gather(*(play(name) for name in ("t", "a", "b", "c")))


async def test_nothing_is_acknowledged_without_the_guard(house: Running) -> None:
    """Every call that writes is refused, and the head that is shown stays."""
    await house.open_table("other")
    before = await checkpoint(house)
    archive = house.config.heads_path.read_bytes()
    with unwritable(house.config.guard_path):
        await failed(house, await house.deal_request())
        await failed(house, await house.deal_request("other"))
        refusal = await refusal_of(house.set_state(State.TABLE_STATE_SUSPENDED))
        assert (refusal.code, refusal.reason) == FAILED
        refusal = await refusal_of(house.install(version=2))
        assert (refusal.code, refusal.reason) == FAILED
        assert await checkpoint(house) == before
        assert (await house.http("/log/checkpoint"))[2] == before
        assert await house.size() == size_of(before)
        await until_health(house, "NOT_SERVING")
    assert house.config.heads_path.read_bytes() == archive
    await house.install(version=3)
    await until_health(house, "SERVING")


async def until_health(server: Running, state: str) -> None:
    """Waits for the look that housekeeping takes."""
    while await server.health() != state:
        await asyncio.sleep(0.05)


async def test_everything_is_there_after_it_works_again(house: Running) -> None:
    """The retry gets the answer of the one deal that was committed, and GetRound the same bytes."""
    request = await house.deal_request()
    with unwritable(house.config.guard_path):
        for _ in range(3):
            await failed(house, request)
    await house.install(version=2)  # whatever is written next finds the storage whole
    answer = await house.raw("DealRound", request)
    found = await house.raw("GetRound", pb_game.GetRoundRequest(name=request.round))
    assert found == answer == await house.raw("DealRound", request)
    await house.deal()
    results = [r for r in stored_records(house.data_dir) if isinstance(r, pb.RoundDealt)]
    assert [r.round_number for r in results] == [1, 2]
    dealt = pb_game.DealRoundResponse.FromString(answer)
    assert dealt.round.name == "tables/t/rounds/1"
    assert guarded(house.config.guard_path)[1] >= size_of(dealt.checkpoint)


async def test_a_retry_alone_finds_its_answer_after_it_works_again(house: Running) -> None:
    """Also when nobody else writes: balancers send nobody to a server that is not serving."""
    request = await house.deal_request()
    with unwritable(house.config.guard_path):
        await failed(house, request)
    await house.game.DealRound(request, timeout=10)


async def test_evidence_waits_for_the_guard(house: Running) -> None:
    """A round whose head is not released has no evidence yet."""
    request = await house.deal_request()
    with unwritable(house.config.guard_path):
        await failed(house, request)
        asked = house.audit.GetEvidence(pb_audit.GetEvidenceRequest(round=request.round))
        refusal = await refusal_of(asked)
    assert (refusal.code, refusal.reason) == FAILED


async def test_a_list_shows_no_result_before_the_guard(house: Running) -> None:
    """Else a result is out that a restored log would deal anew."""
    request = await house.deal_request()
    asked = pb_game.ListRoundsRequest(parent="tables/t")
    with unwritable(house.config.guard_path):
        await failed(house, request)
        refusal = await refusal_of(house.game.ListRounds(asked))
    assert (refusal.code, refusal.reason) == FAILED
    await house.game.DealRound(request, timeout=10)
    assert len((await house.game.ListRounds(asked)).rounds) == 2


async def test_a_refusal_names_no_file(house: Running) -> None:
    """A retry is told what the first call was told."""
    request = await house.deal_request()
    with unwritable(house.config.guard_path):
        await failed(house, request)
        assert str(house.data_dir.parent) not in (await failed(house, request)).message
