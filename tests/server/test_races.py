"""Callers who race: no wager lands on an opening that its caller did not name, no limit is outrun."""

import asyncio

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.conftest import Start
from tests.server.reading import leaf, stored_entries, stored_records
from tests.server.refusals import Refusal, refusal_of
from tests.server.running import Running, wager


async def attempt(server: Running, request: pb_game.PlaceWagersRequest) -> Refusal | None:
    """PlaceWagers: None when accepted."""
    done = await asyncio.gather(server.raw("PlaceWagers", request), return_exceptions=True)
    return None if isinstance(done[0], bytes) else await refusal_of(_raise(done[0]))


async def _raise(error: object) -> None:
    assert isinstance(error, BaseException)
    raise error


async def bets(server: Running, name: str, number: int) -> dict[str, bytes]:
    """Places wagers on whatever round it believes open; {accepted wager id: opening hash named}."""
    accepted: dict[str, bytes] = {}
    opened = (await server.table()).round
    for i in range(number):
        request = pb_game.PlaceWagersRequest(
            request_id=f"{name}-{i}",
            round=opened.name,
            opening_hash=opened.opening_hash,
            wagers=[wager(f"{name}-{i}", player=name)],
        )
        refusal = await attempt(server, request)
        if refusal is None:
            accepted[f"{name}-{i}"] = opened.opening_hash
        else:
            assert refusal.reason == "ROUND_NOT_OPEN"
            opened = (await server.table()).round
    return accepted


async def deals(server: Running, number: int) -> None:
    """Deals so many rounds as fast as it can."""
    for i in range(number):
        await server.deal(wagers=[wager(f"deal-{i}", player="dealer")])


async def test_a_wager_lands_on_the_opening_that_its_caller_named(house: Running) -> None:
    """Two front-ends bet while a third deals: the log has each accepted wager under its opening."""
    first, second, _ = await asyncio.gather(
        bets(house, "x", 60), bets(house, "y", 60), deals(house, 40)
    )
    named = first | second
    entries = stored_entries(house.data_dir)
    openings = {leaf(entry) for entry in entries}
    found: dict[str, bytes] = {}
    for record in stored_records(house.data_dir):
        if isinstance(record, pb.WagersAccepted):
            found |= {w.wager_id: record.opening_hash for w in record.wagers}
    assert found == named
    assert set(named.values()) <= openings
    assert len(named) > 20


async def test_a_wager_is_settled_in_the_round_it_was_made_for(house: Running) -> None:
    """Each dealt round settles exactly the wagers accepted under its opening, and the deal's own."""
    await asyncio.gather(bets(house, "x", 40), bets(house, "y", 40), deals(house, 30))
    standing: dict[bytes, list[str]] = {}
    for record in stored_records(house.data_dir):
        if isinstance(record, pb.WagersAccepted):
            standing.setdefault(record.opening_hash, []).extend(w.wager_id for w in record.wagers)
        elif isinstance(record, pb.RoundDealt):
            ids = [settled.wager.wager_id for settled in record.settlements]
            expected = standing.pop(record.opening_hash, [])
            assert ids[: len(expected)] == expected
            assert [i.startswith("deal-") for i in ids[len(expected) :]] == [True]


async def test_fifty_bets_of_a_tenth_of_the_limit(start: Start) -> None:
    """At once, by one player on one spot: exactly ten are accepted, forty are out of range."""
    server = await start()
    await server.install()
    await server.open_table(minimum=20, maximum=200, step=20)
    opened = (await server.table()).round
    requests = [
        pb_game.PlaceWagersRequest(
            request_id=f"r{i}",
            round=opened.name,
            opening_hash=opened.opening_hash,
            wagers=[wager(f"w{i}", 20)],
        )
        for i in range(50)
    ]
    refusals = await asyncio.gather(*(attempt(server, request) for request in requests))
    assert refusals.count(None) == 10
    assert {r.reason for r in refusals if r is not None} == {"STAKE_ABOVE_MAXIMUM"}
    dealt = await server.deal(wagers=[])
    assert dealt.name == opened.name
    records = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundDealt)]
    assert sum(s.wager.stake for s in records[0].settlements) == 200


async def test_two_deals_of_one_round_deal_it_once(house: Running) -> None:
    """Different request ids, same round: one answer, one ROUND_NOT_OPEN that names the next."""
    one, two = await house.deal_request(), await house.deal_request()
    done = await asyncio.gather(
        house.raw("DealRound", one), house.raw("DealRound", two), return_exceptions=True
    )
    errors = [error for error in done if isinstance(error, BaseException)]
    assert len(errors) == 1
    refusal = await refusal_of(_raise(errors[0]))
    assert refusal.reason == "ROUND_NOT_OPEN"
    assert refusal.metadata == {"open_round": "tables/t/rounds/2"}


async def test_tables_do_not_wait_for_one_another(start: Start) -> None:
    """Twelve tables dealt at once, twenty rounds each: every round is there, in its table's order."""
    server = await start()
    await server.install("punto-banco-6d")
    tables = [f"t{i}" for i in range(12)]
    for table in tables:
        await server.open_table(table, "punto-banco-6d")

    async def play(table: str) -> list[str]:
        return [(await server.deal(table)).name for _ in range(20)]

    played = await asyncio.gather(*(play(table) for table in tables))
    for table, found in zip(tables, played, strict=True):
        assert found == [f"tables/{table}/rounds/{i}" for i in range(1, 21)]
