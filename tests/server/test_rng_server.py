"""A server whose RNG fails: it deals what stands, makes no new shoe, says so, and goes on when healed."""

import asyncio

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.conftest import Start
from tests.server.entropy import SteeredSource
from tests.server.reading import stored_records
from tests.server.refusals import refusal_of
from tests.server.running import Running, State, wager

Event = pb.EventClass


@pytest.fixture
async def failing(start: Start, source: SteeredSource) -> Running:
    """An every-round table "t" with a standing wager, whose RNG has begun to fail."""
    server = await start(source)
    await server.install("punto-banco-6d")
    await server.open_table(game="punto-banco-6d")
    await server.place(wager("standing"))
    source.fault = "stuck"
    return server


@pytest.fixture
def source() -> SteeredSource:
    return SteeredSource()


def events(server: Running) -> list[int]:
    """Classes of the significant events, in order."""
    records = stored_records(server.data_dir)
    return [record.event_class for record in records if isinstance(record, pb.EventRecorded)]


async def test_a_standing_wager_is_dealt_whatever_the_rngs_health(failing: Running) -> None:
    """The round is dealt and settled; the answer says why no other round is open."""
    dealt = await failing.deal(wagers=[])
    assert dealt.result.envelope
    assert dealt.no_next_round_reason == "RNG_FAILED"
    assert not dealt.HasField("next_round")
    table = (await failing.table()).table
    assert (table.state, table.open_round) == (State.TABLE_STATE_ENABLED, "")
    assert table.no_round_reason == "RNG_FAILED"


async def test_a_round_dealt_while_failing_reads_the_same_later(failing: Running) -> None:
    """GetRound gives the bytes of that DealRound."""
    request = await failing.deal_request(wagers=[])
    dealt = await failing.raw("DealRound", request)
    again = await failing.raw("GetRound", pb_game.GetRoundRequest(name=request.round))
    assert again == dealt


async def test_a_new_table_is_refused_and_leaves_no_trace(failing: Running) -> None:
    """CreateTable needs a shoe: UNAVAILABLE, RNG_FAILED, nothing written."""
    await failing.deal(wagers=[])
    await failing.until(pb.EventRecorded, event_class=Event.EVENT_CLASS_RNG_FAILED)
    size = await failing.size()
    refusal = await refusal_of(failing.open_table("u", "punto-banco-6d"))
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "RNG_FAILED")
    assert await failing.size() == size


async def test_a_shoe_of_several_rounds_is_dealt_to_its_end(
    start: Start, source: SteeredSource
) -> None:
    """A committed shoe needs no randomness: its rounds go on until it is done."""
    server = await start(source)
    await server.install("shoe-6d", cut_depth=300)
    await server.open_table()
    source.fault = "stuck"
    reasons = []
    while True:
        dealt = await server.deal()
        reasons.append(dealt.no_next_round_reason)
        if not dealt.HasField("next_round"):
            break
    assert len(reasons) >= 3
    assert set(reasons[:-1]) == {""}
    assert reasons[-1] == "RNG_FAILED"


async def test_health_and_status_tell(failing: Running) -> None:
    """gRPC health, /healthz, GetStatus and the metrics all say that no new shoe can be made."""
    assert await failing.health() == "SERVING"
    assert (await failing.http("/healthz"))[0] == 200
    await failing.deal(wagers=[])
    while await failing.health() == "SERVING":
        await asyncio.sleep(0)
    assert await failing.health("sealedshoe_server.v1.GameService") == "NOT_SERVING"
    status, _, body = await failing.http("/healthz")
    assert status == 503
    assert b"rng: steered: " in body
    found = await failing.operator.GetStatus(pb_op.GetStatusRequest())
    assert not found.rng_healthy
    assert found.rng_failure.startswith("steered: ")
    _, _, metrics = await failing.http("/metrics")
    assert b"\nsealedshoe_rng_healthy 0.0\n" in metrics


async def test_failure_and_recovery_are_recorded(failing: Running, source: SteeredSource) -> None:
    """RNG_FAILED once, RNG_RESUMED once, by whom; rounds open again and deal."""
    await failing.deal(wagers=[])
    await failing.until(pb.EventRecorded, event_class=Event.EVENT_CLASS_RNG_FAILED)
    source.fault = ""
    await _try_enable(failing, "alice")
    assert events(failing)[-2:] == [Event.EVENT_CLASS_RNG_FAILED, Event.EVENT_CLASS_RNG_RESUMED]
    resumed = stored_records(failing.data_dir)[-2]
    assert isinstance(resumed, pb.EventRecorded)
    assert resumed.by.actor == "alice"
    assert (await failing.deal()).next_round.name == "tables/t/rounds/3"
    assert await failing.health() == "SERVING"


async def _try_enable(server: Running, actor: str) -> None:
    """SetTableState ENABLED, whatever it answers: another test looks at the answer."""
    request = pb_op.SetTableStateRequest(
        request_id=server.fresh(), table="tables/t", state=State.TABLE_STATE_ENABLED
    )
    request.by.actor = actor
    await asyncio.gather(server.operator.SetTableState(request), return_exceptions=True)


async def test_enabling_a_table_to_resume_the_rng_succeeds(
    failing: Running, source: SteeredSource
) -> None:
    """The documented way to resume, SetTableState ENABLED, answers with the round it opened."""
    await failing.deal(wagers=[])
    source.fault = ""
    answer = await failing.set_state(State.TABLE_STATE_ENABLED)
    assert answer.state == State.TABLE_STATE_ENABLED


async def test_enabling_while_the_source_is_still_bad_is_refused(failing: Running) -> None:
    """The self-tests fail again: UNAVAILABLE, RNG_FAILED, and nothing is recorded as resumed."""
    await failing.deal(wagers=[])
    refusal = await refusal_of(failing.set_state(State.TABLE_STATE_ENABLED))
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "RNG_FAILED")
    assert Event.EVENT_CLASS_RNG_RESUMED not in events(failing)


async def test_a_suspended_table_with_standing_wagers_can_be_enabled(
    failing: Running, start: Start
) -> None:
    """Its shoe is committed already: enabling and dealing it need no new one."""
    await failing.set_state(State.TABLE_STATE_SUSPENDED)
    await refusal_of(failing.open_table("u", "punto-banco-6d"))
    await failing.set_state(State.TABLE_STATE_ENABLED)
    assert (await failing.deal(wagers=[])).no_next_round_reason == "RNG_FAILED"


async def test_a_retry_of_an_old_enabling_resumes_nothing(
    failing: Running, source: SteeredSource
) -> None:
    """A request id stands for one effect: its retry gets the old answer and writes nothing."""
    await failing.set_state(State.TABLE_STATE_SUSPENDED)
    request = pb_op.SetTableStateRequest(
        request_id="enable", table="tables/t", state=State.TABLE_STATE_ENABLED
    )
    first = await failing.raw("SetTableState", request)
    await failing.deal(wagers=[])
    await failing.until(pb.EventRecorded, event_class=Event.EVENT_CLASS_RNG_FAILED)
    source.fault = ""
    assert await failing.raw("SetTableState", request) == first
    assert Event.EVENT_CLASS_RNG_RESUMED not in events(failing)


async def test_a_server_that_starts_with_a_bad_source_serves_what_stands(
    start: Start, source: SteeredSource
) -> None:
    """After a restart with a failed RNG the standing wager is dealt, and the failure recorded."""
    server = await start()
    await server.install("punto-banco-6d")
    await server.open_table(game="punto-banco-6d")
    await server.place(wager("standing"))
    await server.stop()
    source.fault = "stuck"
    again = await start(source)
    assert await again.health() == "NOT_SERVING"
    assert (await again.deal(wagers=[])).no_next_round_reason == "RNG_FAILED"
    await again.until(pb.EventRecorded, event_class=Event.EVENT_CLASS_RNG_FAILED)
