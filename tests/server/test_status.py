"""GetStatus and the metrics say how the server is."""

from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.running import Running, State


async def test_status_counts_tables_rounds_and_records(house: Running) -> None:
    """One table with one round open stands in a log of five records."""
    status = await house.operator.GetStatus(pb_op.GetStatusRequest())
    # LogStarted, EventRecorded, GameInstalled, TableChanged, RoundOpened
    assert (status.log_size, status.tables_open, status.rounds_open) == (5, 1, 1)
    assert status.origin == "localhost/sealedshoe"
    assert (status.rng_healthy, status.rng_failure) == (True, "")
    assert (status.log_writable, status.log_failure) == (True, "")


async def test_a_closed_table_is_not_counted(house: Running) -> None:
    """Closing the only table leaves none open, in status and metrics alike."""
    await house.set_state(State.TABLE_STATE_CLOSED)
    status = await house.operator.GetStatus(pb_op.GetStatusRequest())
    assert (status.tables_open, status.rounds_open) == (0, 0)
    _, _, body = await house.http("/metrics")
    lines = body.decode().splitlines()
    assert "sealedshoe_open_tables 0.0" in lines
    assert "sealedshoe_open_rounds 0.0" in lines


async def test_metrics_count_results_and_retries(house: Running) -> None:
    """A dealt round, its settled wager and one retry are counted once each."""
    request = await house.deal_request()
    await house.raw("DealRound", request)
    await house.raw("DealRound", request)
    _, _, body = await house.http("/metrics")
    lines = body.decode().splitlines()
    rounds = [line for line in lines if line.startswith("sealedshoe_rounds_total{")]
    wagers = [line for line in lines if line.startswith("sealedshoe_wagers_total{")]
    assert [line.split()[-1] for line in (*rounds, *wagers)] == ["1.0", "1.0"]
    assert "sealedshoe_request_id_replays_total 1.0" in lines
    assert "sealedshoe_log_writable 1.0" in lines
    assert "sealedshoe_rng_healthy 1.0" in lines
