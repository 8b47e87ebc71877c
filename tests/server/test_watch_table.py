"""WatchTable: every record of a table, in order, without a gap, until it closes or the reader lags."""

import asyncio
from collections.abc import AsyncIterator

import grpc

from sealedshoe_audit.records import open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.game_service_pb2_grpc import GameServiceStub
from tests.server.conftest import Start
from tests.server.reading import stored_entries
from tests.server.refusals import Refusal, read_refusal, refusal_of
from tests.server.running import Running, State, wager


def watch(
    server: Running, after: int | None = None, table: str = "t"
) -> "grpc.aio.UnaryStreamCall[object, pb_game.WatchTableResponse]":
    """A watch from a sequence, or from the open round."""
    request = pb_game.WatchTableRequest(name=f"tables/{table}", after_sequence=after)
    return server.game.WatchTable(request)


async def take(call: AsyncIterator[pb_game.WatchTableResponse], number: int) -> list[int]:
    """The sequences of the next so many records."""
    found: list[int] = []
    async for answer in call:
        found.append(answer.sequence)
        if len(found) == number:
            break
    return found


def records_of(server: Running, table: str = "t") -> list[tuple[int, int, bytes]]:
    """(sequence, leaf index, envelope) of a table's records, out of the file."""
    found = []
    for index, entry in enumerate(stored_entries(server.data_dir)):
        record = open_record(entry)
        if hasattr(record, "link") and record.link.table == table:
            found.append((record.link.sequence, index, entry))
    return found


async def test_a_watch_from_the_start_sends_the_tables_whole_log(house: Running) -> None:
    """From the creation on, to the byte, with leaf indexes; and it ends when the table closes."""
    await house.open_table("other")
    for _ in range(3):
        await house.deal()
        await house.deal("other")
    call = watch(house, 0)
    await house.set_state(State.TABLE_STATE_CLOSED)
    found = [(a.sequence, a.index, a.envelope) async for a in call]
    assert found == records_of(house)
    assert [row[0] for row in found] == list(range(1, len(found) + 1))


async def test_a_watch_without_a_position_starts_with_the_open_round(house: Running) -> None:
    """Its RoundOpened comes first, then the wagers that stand."""
    await house.deal()
    await house.place(wager("a"))
    call = watch(house)
    kinds = [type(open_record((await call.read()).envelope)) for _ in range(2)]
    assert kinds == [pb.RoundOpened, pb.WagersAccepted]
    call.cancel()


async def test_a_watch_of_a_suspended_table_without_a_round_waits_for_the_next(
    house: Running,
) -> None:
    """Where no round is open, everything after the last record is sent."""
    await house.set_state(State.TABLE_STATE_DRAINING)
    await house.set_state(State.TABLE_STATE_SUSPENDED)
    call = watch(house, 4)
    await house.set_state(State.TABLE_STATE_ENABLED)
    assert await take(call, 1) == [5]
    call.cancel()


async def test_a_watch_of_a_closed_table_ends_at_once(house: Running) -> None:
    """There is nothing to come."""
    await house.set_state(State.TABLE_STATE_CLOSED)
    assert [answer async for answer in watch(house)] == []
    size = len(records_of(house))
    assert [a.sequence async for a in watch(house, size - 2)] == [size - 1, size]


async def test_a_watch_of_no_table_is_refused(house: Running) -> None:
    """TABLE_NOT_FOUND, as for every call."""
    refusal = await refusal_of(watch(house, table="x").read())
    assert (refusal.code, refusal.reason) == ("NOT_FOUND", "TABLE_NOT_FOUND")


async def test_two_hundred_rounds_reach_a_slow_reader_without_a_gap(house: Running) -> None:
    """A reader that lags within the buffer gets each record once, in order."""
    call = watch(house, 0)
    seen: list[int] = []

    async def read_slowly() -> None:
        async for answer in call:
            seen.append(answer.sequence)
            if len(seen) % 50 == 0:
                await asyncio.sleep(0.02)

    reader = asyncio.create_task(read_slowly())
    for _ in range(200):
        await house.deal()
    await house.set_state(State.TABLE_STATE_CLOSED)
    await reader
    assert seen == list(range(1, len(records_of(house)) + 1))
    assert len(seen) > 400


async def test_every_watcher_gets_everything(house: Running) -> None:
    """Ten watchers of one table, none at another's cost."""
    calls = [watch(house, 0) for _ in range(10)]
    for _ in range(20):
        await house.deal()
    await house.set_state(State.TABLE_STATE_CLOSED)
    streams = [[answer.index async for answer in call] for call in calls]
    assert streams == [[index for _, index, _ in records_of(house)]] * 10


SMALL_WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536)]


async def read_to_the_end(
    call: "grpc.aio.UnaryStreamCall[object, pb_game.WatchTableResponse]", seen: list[int]
) -> Refusal:
    """Adds the sequences that still come, and returns the refusal that ends the stream."""
    try:
        async for answer in call:
            seen.append(answer.sequence)
    except grpc.aio.AioRpcError as error:
        return read_refusal(error)
    raise AssertionError("the stream ended well")


async def test_a_reader_that_lags_behind_the_buffer_is_ended(start: Start) -> None:
    """RESOURCE_EXHAUSTED, READER_TOO_SLOW, with the last sequence that was sent, gap-free till then."""
    server = await start(watch_buffer=8)
    await server.install()
    await server.open_table()
    address = server.server.addresses["grpc"]
    async with grpc.aio.insecure_channel(address, SMALL_WINDOW) as channel:
        request = pb_game.WatchTableRequest(name="tables/t")
        call = GameServiceStub(channel).WatchTable(request, timeout=20)
        seen: list[int] = []
        big = [wager(f"{i:064d}", player=f"{i}") for i in range(128)]
        for _ in range(60):
            await server.deal(wagers=big)
        refusal = await read_to_the_end(call, seen)
    assert (refusal.code, refusal.reason) == ("RESOURCE_EXHAUSTED", "READER_TOO_SLOW")
    assert refusal.metadata == {"last_sequence": str(seen[-1])}
    assert seen == list(range(2, seen[-1] + 1))


async def test_a_reader_that_was_ended_resumes_without_a_gap(start: Start) -> None:
    """From the last sequence received it gets all the rest, however far behind it starts."""
    server = await start(watch_buffer=8)
    await server.install()
    await server.open_table()
    for _ in range(20):
        await server.deal()
    await server.set_state(State.TABLE_STATE_CLOSED)
    found = [answer.sequence async for answer in watch(server, 2)]
    assert found == list(range(3, len(records_of(server)) + 1))


async def test_a_watch_from_the_start_catches_up_with_a_long_table(start: Start) -> None:
    """More records than the buffer and one batch hold: all of them come."""
    server = await start(watch_buffer=8)
    await server.install()
    await server.open_table()
    for _ in range(40):
        await server.deal()
    await server.set_state(State.TABLE_STATE_CLOSED)
    found = [answer.sequence async for answer in watch(server, 0)]
    assert found == list(range(1, len(records_of(server)) + 1))


async def test_a_watcher_who_leaves_is_forgotten(house: Running) -> None:
    """The gauge of watchers falls back to zero once the stream was cancelled."""
    call = watch(house)
    await call.read()
    assert b"\nsealedshoe_watchers 1.0\n" in (await house.http("/metrics"))[2]
    call.cancel()
    while b"\nsealedshoe_watchers 0.0\n" not in (await house.http("/metrics"))[2]:
        await asyncio.sleep(0.01)
    assert (await house.deal()).name == "tables/t/rounds/1"
