"""ListRounds: newest first, every round once, whatever the page size, the filter and the clock."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from google.protobuf.timestamp_pb2 import Timestamp

from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.batches import ended, opened, player, shoe_opened, step
from tests.server.conftest import servers_in
from tests.server.running import Running, wager
from tests.server.storage_contract import query

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROUNDS = 30
ONE_INSTANT_US = 1_700_000_000_000_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """Tables "t" (30 rounds of short shoes; bob in every third) and "u" (5 rounds)."""
    async with servers_in(tmp_path_factory.mktemp("list")) as start:
        server = await start()
        await server.install("shoe-6d", cut_depth=300)
        await server.open_table("t")
        await server.open_table("u")
        for i in range(ROUNDS):
            await server.deal("t", [wager(player="bob" if i % 3 == 0 else "alice")])
        for _ in range(5):
            await server.deal("u")
        yield server


async def listed(server: Running, page_size: int = 7, **filters: Any) -> list[str]:
    """Names over all pages."""
    names: list[str] = []
    token = ""
    while True:
        request = pb_game.ListRoundsRequest(page_size=page_size, page_token=token, **filters)
        page = await server.game.ListRounds(request)
        assert len(page.rounds) <= page_size
        names += [summary.name for summary in page.rounds]
        token = page.next_page_token
        if not token:
            return names


def names(table: str, numbers: range) -> list[str]:
    return [f"tables/{table}/rounds/{number}" for number in numbers]


@pytest.mark.parametrize("page_size", [1, 7, 30, 31, 32, 1000])
async def test_pages_hold_every_round_once_newest_first(played: Running, page_size: int) -> None:
    """Thirty dealt and one open, whatever the page size."""
    found = await listed(played, page_size, parent="tables/t")
    assert found == names("t", range(ROUNDS + 1, 0, -1))


async def test_all_tables_are_listed_together(played: Running) -> None:
    """By the order of their openings in the log."""
    found = await listed(played, parent="tables/-")
    assert sorted(found) == sorted(names("t", range(1, 32)) + names("u", range(1, 7)))
    assert found[:5] == names("u", range(6, 1, -1))


async def test_filters_hold_together(played: Running) -> None:
    """By player, by state, by both; and a player nobody knows has no rounds."""
    bobs = names("t", range(28, 0, -3))
    assert await listed(played, parent="tables/t", player="bob") == bobs
    assert await listed(played, parent="tables/-", player="bob") == bobs
    assert await listed(played, parent="tables/-", player="eve") == []
    assert await listed(played, parent="tables/t", state=1) == names("t", range(31, 30, -1))
    assert await listed(played, parent="tables/t", state=2, player="bob") == bobs
    assert await listed(played, parent="tables/t", state=3) == []


async def test_a_shoes_rounds_are_listed(played: Running) -> None:
    """The rounds of all shoes, one after the other, are all rounds."""
    found: list[str] = []
    for shoe in range(1, 40):
        found = await listed(played, parent="tables/t", shoe_number=shoe) + found
    assert found == names("t", range(31, 0, -1))


async def test_rounds_are_listed_by_time_to_the_microsecond(played: Running) -> None:
    """From a round's opening on, it is in; before it, it is not."""
    page = await played.game.ListRounds(pb_game.ListRoundsRequest(parent="tables/t"))
    middle: Timestamp = page.rounds[15].open_time
    newer = await listed(played, parent="tables/t", opened_from=middle)
    older = await listed(played, parent="tables/t", opened_before=middle)
    assert newer + older == names("t", range(31, 0, -1))
    assert newer[-1] == page.rounds[15].name


async def test_results_stand_in_the_summaries(played: Running) -> None:
    """A dealt round comes with its record, an open one without."""
    page = await played.game.ListRounds(pb_game.ListRoundsRequest(parent="tables/t"))
    assert [summary.HasField("result") for summary in page.rounds] == [False] + [True] * 30
    assert all(summary.result.envelope for summary in page.rounds[1:])


@pytest.fixture
def crowded(played: Running) -> SqliteStore:
    """A table "crowd" in the index: 1,200 rounds opened in one microsecond."""
    path = played.data_dir.parent / "crowd.db"
    store = SqliteStore(path, "crowd")
    if store.head().head.size == 0:
        rows = [opened(1, at=ONE_INSTANT_US), shoe_opened(1)]
        store.append([step("crowd", 0, *rows)], 1)
        for number in range(1, 1200):
            rows = [
                player(number, "w", "alice"),
                ended(number),
                opened(number + 1, 1, 1, at=ONE_INSTANT_US),
            ]
            store.append([step("crowd", 2 * number - 1, *rows, count=2)], 1)
    return store


async def test_equal_timestamps_do_not_move_between_pages(crowded: SqliteStore) -> None:
    """Keyset paging is on the log index: 1,200 rounds of one instant, each once, in order."""
    found: list[int] = []
    below: int | None = None
    while rows := crowded.rounds(query(below_index=below, limit=97, player="alice")):
        found += [row.round_number for row in rows]
        below = rows[-1].opened_index
    crowded.close()
    assert found == list(range(1199, 0, -1))
