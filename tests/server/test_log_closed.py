"""A log that was closed stays closed, whatever is asked of it; its successor goes on from its last leaf."""

import asyncio

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.storage.interface import StoreRefused
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.commands import fails, succeeds
from tests.server.conftest import Start
from tests.server.copies import server_on
from tests.server.handing_over import NEXT, Recovery, verified
from tests.server.reading import audit_log, leaf, root_of, stored_entries, stored_records
from tests.server.refusals import refusal_of
from tests.server.rotating import (
    NAMES,
    STATEMENT,
    change_of,
    checkpoint,
    evidence,
    hand_in,
    make_key,
    root_key,
    rotate,
    status,
)
from tests.server.rotating import verified as verified_evidence
from tests.server.running import Running, State

CLOSED = ("FAILED_PRECONDITION", "LOG_CLOSED")


def close_request(server: Running, origin: str = NEXT) -> pb_op.CloseLogRequest:
    """Names a successor under the same root key."""
    key = root_key(server.data_dir).public_key().public_bytes_raw() if origin else b""
    return pb_op.CloseLogRequest(
        request_id=server.fresh(), successor_origin=origin, successor_root_key=key
    )


async def wind_up(server: Running) -> None:
    """Closes the tables."""
    for table in (await server.game.ListTables(pb_game.ListTablesRequest())).tables:
        name = table.name.removeprefix("tables/")
        await server.set_state(State.TABLE_STATE_CLOSED, name)


async def close(server: Running, origin: str = NEXT) -> None:
    """Closes tables and log."""
    await wind_up(server)
    await server.operator.CloseLog(close_request(server, origin), timeout=10)


async def test_a_log_ends_with_its_closing_record(house: Running) -> None:
    """Which is proved under the head that the answer brings; a retry gets the same bytes."""
    await house.deal()
    await wind_up(house)
    request = close_request(house)
    call = house.channel.unary_unary("/sealedshoe_server.v1.OperatorService/CloseLog")
    first = await call(request.SerializeToString(), timeout=10)
    answer = pb_op.CloseLogResponse.FromString(first)
    last = stored_records(house.data_dir)[-1]
    assert isinstance(last, pb.LogClosed)
    assert (last.successor_origin, last.successor_root_key) == (NEXT, request.successor_root_key)
    assert answer.record.index == len(stored_entries(house.data_dir)) - 1
    assert answer.record.envelope == stored_entries(house.data_dir)[-1]
    assert answer.checkpoint == await checkpoint(house)
    assert await call(request.SerializeToString(), timeout=10) == first


async def test_everything_afterwards_is_refused(house: Running) -> None:
    """LOG_CLOSED for what would write, with nothing appended; what reads is answered as before."""
    dealt = await house.deal()
    data = await evidence(house, dealt.name)
    await close(house)
    entries = stored_entries(house.data_dir)
    calls = [
        house.install(version=2),
        house.open_table("new"),
        house.operator.CloseLog(close_request(house), timeout=10),
        house.operator.CloseLog(close_request(house, ""), timeout=10),
    ]
    for call in calls:
        refusal = await refusal_of(call)
        assert (refusal.code, refusal.reason) == CLOSED
        assert refusal.message == "the log is closed"
    refusal = await refusal_of(house.set_state(State.TABLE_STATE_ENABLED))
    assert refusal.reason == "TABLE_STATE_UNREACHABLE"
    assert stored_entries(house.data_dir) == entries
    assert (await house.table()).table.state == State.TABLE_STATE_CLOSED
    assert verified_evidence(house, data).valid
    assert verified_evidence(house, await evidence(house, dealt.name)).valid
    now = await status(house)
    assert (now.log_writable, now.log_failure) == (False, "the log is closed")


@pytest.mark.parametrize("state", [None, State.TABLE_STATE_SUSPENDED])
async def test_a_log_with_an_open_table_is_not_closed(
    house: Running, state: pb.TableState.ValueType | None
) -> None:
    """Every shoe is shown first."""
    if state is not None:
        await house.set_state(state)
    entries = stored_entries(house.data_dir)
    refusal = await refusal_of(house.operator.CloseLog(close_request(house), timeout=10))
    assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "TABLE_STATE_UNREACHABLE")
    assert stored_entries(house.data_dir) == entries


async def test_a_closed_log_does_not_start(house: Running) -> None:
    """Not even under a guard that knows less."""
    await close(house)
    await house.stop()
    entries = stored_entries(house.data_dir)
    with pytest.raises(StoreRefused) as caught:
        server_on(house.config)
    assert str(caught.value) == (
        "the log is closed for good: start its successor on another directory"
    )
    assert stored_entries(house.data_dir) == entries


async def test_the_successor_goes_on_where_it_ended(start: Start, house: Running) -> None:
    """By the command line: closed, recovered, served, and both verified; nothing is revealed twice."""
    await rotate(house, STATEMENT)
    await house.deal()
    await wind_up(house)
    where = ("--data-dir", house.data_dir)
    told = await succeeds("close-log", *where, "--successor", NEXT)
    size = len(stored_entries(house.data_dir))
    assert told == f"the log ends with leaf {size - 1}\n"
    await house.stop()
    recovery = Recovery(house.data_dir)
    told = await recovery.succeeds()
    assert told.startswith(f"{house.config.origin} ends at {size} records (rotation)\n")
    named = recovery.first().predecessor
    leaves = [leaf(entry) for entry in stored_entries(house.data_dir)]
    assert (named.reason, named.size, named.root) == ("rotation", size, root_of(leaves))
    assert (named.newest_size, named.newest_root) == (0, b"")
    assert recovery.revealed() == {}
    server = await recovery.served(start)
    await server.install()
    await server.open_table()
    await server.deal()
    assert await verified(recovery, server) == []
    with pytest.raises(StoreRefused, match="has ended"):
        server_on(house.config)


@pytest.mark.parametrize("named", ["", "log.example/another"])
async def test_only_the_named_successor_follows(house: Running, named: str) -> None:
    """A log that names another, or none, is not succeeded by this one."""
    await close(house, named)
    await house.stop()
    recovery = Recovery(house.data_dir)
    said = await recovery.fails()
    assert said == f"Error: the old log names {named or 'no log'} as its successor\n"
    assert not recovery.new.exists()


async def test_the_successor_has_the_named_root_key(house: Running) -> None:
    """Another key than the one that the closing record names starts nothing."""
    await wind_up(house)
    other = house.data_dir / "keys" / "statement.pem"
    where = ("--data-dir", house.data_dir, "--successor", NEXT)
    await succeeds("close-log", *where, "--root-key", other)
    await house.stop()
    said = await Recovery(house.data_dir).fails()
    assert said == f"Error: the old log names {NEXT} as its successor\n"


async def test_closing_an_open_house_is_refused_by_the_command(house: Running) -> None:
    """Exit 1 with the reason."""
    said = await fails("close-log", "--data-dir", house.data_dir)
    assert said.startswith("refused: TABLE_STATE_UNREACHABLE (FAILED_PRECONDITION: ")


async def settled(server: Running) -> list[str]:
    """Codes of what the auditor finds in the log of a server once everything under way has ended."""
    await server.channel.close()
    await server.server.stop()
    server.stopped = True
    note = server.config.heads_path.read_bytes()
    start = note.rindex(f"{server.config.origin}\n".encode(), 0, note.rindex(b"\n\n"))
    report = audit_log(server.data_dir, note[start:])
    return [str(finding.code) for finding in report.findings]


@pytest.mark.parametrize("purpose", NAMES)
async def test_no_key_changes_behind_the_end(house: Running, purpose: int) -> None:
    """A change that the root key authorised is refused as everything else."""
    await close(house)
    entries = stored_entries(house.data_dir)
    change = await change_of(house, purpose, make_key(house.data_dir, purpose), 3)
    try:
        refusal = await refusal_of(hand_in(house, change))
        assert (refusal.code, refusal.reason) == CLOSED
    finally:
        found = await settled(house)
    assert found == []
    assert stored_entries(house.data_dir) == entries


async def test_a_change_that_waits_ends_with_the_log(house: Running) -> None:
    """Nothing is due any more that housekeeping could fill the log up for."""
    await hand_in(
        house, await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), 1000)
    )
    await close(house)
    assert (await status(house)).key_change_at == 0


async def test_nothing_that_was_on_its_way_is_appended_behind_the_end(house: Running) -> None:
    """Games that are installed while the log is closed come before its end, or are refused."""
    await wind_up(house)
    installs = [house.install(version=2 + i) for i in range(30)]
    closing = house.operator.CloseLog(close_request(house), timeout=10)
    await asyncio.gather(*installs[:3], closing, *installs[3:], return_exceptions=True)
    last = stored_records(house.data_dir)[-1]
    found = await settled(house)
    assert isinstance(last, pb.LogClosed)
    assert found == []
