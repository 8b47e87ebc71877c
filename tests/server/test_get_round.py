"""GetRound gives the very bytes of DealRound, for every kind of round, then and after a restart."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.conftest import Start
from tests.server.running import Running, State, wager

Play = Callable[[Running], Awaitable[None]]


async def several_of_one_shoe(server: Running) -> None:
    for _ in range(5):
        await server.deal()


async def whole_short_shoes(server: Running) -> None:
    """Past the last rounds of three shoes of four rounds or fewer."""
    for _ in range(12):
        await server.deal("short")


async def a_shoe_each(server: Running) -> None:
    for _ in range(4):
        await server.deal("quick")


async def with_standing_wagers(server: Running) -> None:
    await server.place(wager("a"), wager("b", 200, "tie", "bob"))
    await server.place(wager("c", 300, "banker", "bob"))
    await server.deal(wagers=[wager("d", 20 * 7)])


async def draining(server: Running) -> None:
    await server.deal()
    await server.set_state(State.TABLE_STATE_DRAINING)
    await server.deal()


async def draining_with_a_shoe_each(server: Running) -> None:
    await server.set_state(State.TABLE_STATE_DRAINING, "quick")
    await server.deal("quick")


async def after_a_void(server: Running) -> None:
    for table in ("t", "quick"):
        request = pb_op.VoidRoundRequest(
            request_id=server.fresh(), round=f"tables/{table}/rounds/1", cause=1
        )
        await server.operator.VoidRound(request)
        await server.deal(table)


async def many_tables_in_one_group(server: Running) -> None:
    """Deals that are committed together share one head."""
    requests = [await server.deal_request(table) for table in ("t", "short", "quick")]
    await asyncio.gather(*(server.raw("DealRound", request) for request in requests))


STORIES = [
    several_of_one_shoe,
    whole_short_shoes,
    a_shoe_each,
    with_standing_wagers,
    draining,
    draining_with_a_shoe_each,
    after_a_void,
    many_tables_in_one_group,
]


class Recording(Running):
    """Keeps the bytes of every DealRound."""

    def __init__(self, server: Running) -> None:
        super().__init__(server.server, server.config, server.channel)
        self.dealt: dict[str, bytes] = {}

    async def deal(
        self, table: str = "t", wagers: list[pb_game.NewWager] | None = None
    ) -> pb_game.DealtRound:
        request = await self.deal_request(table, wagers)
        return pb_game.DealRoundResponse.FromString(await self.raw("DealRound", request)).round

    async def raw(self, method: str, request: object, timeout: float = 10.0) -> bytes:
        answer = await super().raw(method, request, timeout)
        if isinstance(request, pb_game.DealRoundRequest):
            self.dealt[request.round] = answer
        return answer


async def all_tables(server: Running) -> None:
    """Tables "t", "short" and "quick": a long shoe, short shoes, a shoe every round."""
    await server.install()
    await server.install("shoe-6d", cut_depth=300, version=2)
    await server.install("punto-banco-6d")
    await server.open_table()
    await server.open_table("short", game_version=2)
    await server.open_table("quick", "punto-banco-6d")


@pytest.mark.parametrize("play", STORIES)
async def test_a_round_reads_as_it_was_answered(start: Start, play: Play) -> None:
    """Byte for byte: at once, after the log has moved on, and by another process."""
    first = await start()
    await all_tables(first)
    server = Recording(first)
    await play(server)
    assert server.dealt
    await first.install("shoe-8d")
    for name, answer in server.dealt.items():
        assert await first.raw("GetRound", pb_game.GetRoundRequest(name=name)) == answer
    await first.stop()
    again = await start()
    for name, answer in server.dealt.items():
        assert await again.raw("GetRound", pb_game.GetRoundRequest(name=name)) == answer


async def test_the_short_shoes_of_these_stories_do_end(start: Start) -> None:
    """Among twelve rounds are some that reveal their shoe and open another."""
    first = await start()
    await all_tables(first)
    server = Recording(first)
    await whole_short_shoes(server)
    listed = await first.game.ListRounds(pb_game.ListRoundsRequest(parent="tables/short"))
    assert len({summary.shoe_number for summary in listed.rounds}) >= 3
