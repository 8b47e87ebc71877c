"""Rounds, tables, request ids and pages that do not exist, or not in this state."""

from typing import Any

import pytest

from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.bad_input import (
    BAD,
    COLUMNS,
    NONE,
    STATE,
    Call,
    Floor,
    Table,
    assert_refused,
)
from tests.server.refusals import refusal_of
from tests.server.running import wager

pytestmark = pytest.mark.asyncio(loop_scope="module")
table = Table()
case = table.case

case("unknown table", NONE, "TABLE_NOT_FOUND", None, lambda f: f.deal(round="tables/x/rounds/1"))
case("past round", STATE, "ROUND_NOT_OPEN", "round", lambda f: f.deal(round="tables/t/rounds/1"))
case("later round", STATE, "ROUND_NOT_OPEN", "round", lambda f: f.place(round="tables/t/rounds/3"))
case(
    "a wager after its deal",
    STATE,
    "ROUND_NOT_OPEN",
    "round",
    lambda f: f.place(wager("a"), round="tables/t/rounds/1"),
)
case(
    "other opening",
    STATE,
    "OPENING_MISMATCH",
    "opening_hash",
    lambda f: f.deal(opening_hash=bytes(32)),
)
case("short hash", BAD, "FIELD_INVALID", "opening_hash", lambda f: f.deal(opening_hash=bytes(31)))
case("long hash", BAD, "FIELD_INVALID", "opening_hash", lambda f: f.deal(opening_hash=bytes(33)))
case("no hash", BAD, "FIELD_INVALID", "opening_hash", lambda f: f.place(opening_hash=b""))
case("within the window", STATE, "BETTING_WINDOW_OPEN", None, lambda f: f.at("window"))
case("not the dealer", "PERMISSION_DENIED", "NOT_THE_DEALER", None, lambda f: f.at("dealer"))
case("suspended", STATE, "TABLE_SUSPENDED", None, lambda f: f.at("suspended"))
case(
    "closed",
    STATE,
    "TABLE_CLOSED",
    None,
    lambda f: f.deal(round="tables/closed/rounds/1"),
)
for bad in (
    "",
    "t",
    "tables/t",
    "tables/T/rounds/1",
    "tables/t/rounds/01",
    "tables/t/rounds/0",
    "tables/t/rounds/-1",
    "tables/t/rounds/1/",
    "tables/t/rounds/1\n",
    "tables/t/rounds/١",
    "tables/" + "x" * 41 + "/rounds/1",
):
    case(f"name {bad!r}", BAD, "NAME_INVALID", "round", lambda f, b=bad: f.deal(round=b))
case(
    "table id with capitals",
    BAD,
    "NAME_INVALID",
    "name",
    lambda f: f.read("GetTable", name="tables/Main"),
)
case("get no table", NONE, "TABLE_NOT_FOUND", None, lambda f: f.read("GetTable", name="tables/x"))
case(
    "get no round",
    NONE,
    "ROUND_NOT_FOUND",
    None,
    lambda f: f.read("GetRound", name="tables/t/rounds/99"),
)
case(
    "get an open round",
    STATE,
    "ROUND_NOT_FINISHED",
    None,
    lambda f: f.read("GetRound", name="tables/t/rounds/2"),
)
case(
    "a round number beyond 64 bits",
    NONE,
    "ROUND_NOT_FOUND",
    None,
    lambda f: f.read("GetRound", name="tables/t/rounds/9999999999999999999"),
)
case(
    "no game", NONE, "GAME_NOT_FOUND", None, lambda f: f.read("GetGame", name="games/x/versions/1")
)
case("game name", BAD, "NAME_INVALID", "name", lambda f: f.read("GetGame", name="games/shoe-6d"))

case("no request id", BAD, "REQUEST_ID_MISSING", "request_id", lambda f: f.deal(request_id=""))
case("long request id", BAD, "FIELD_INVALID", "request_id", lambda f: f.deal(request_id="x" * 65))
case("odd request id", BAD, "FIELD_INVALID", "request_id", lambda f: f.deal(request_id="\x00"))
case(
    "operator without request id",
    BAD,
    "REQUEST_ID_MISSING",
    "request_id",
    lambda f: f.operate("SetTableState", request_id="", table="tables/t", state=2),
)

case(
    "negative page size",
    BAD,
    "FIELD_INVALID",
    "page_size",
    lambda f: f.read("ListRounds", parent="tables/t", page_size=-1),
)
case(
    "page size above",
    BAD,
    "FIELD_INVALID",
    "page_size",
    lambda f: f.read("ListTables", page_size=1001),
)
for token in ("x", "-1", "1.5", "9" * 19, "١", " 1"):
    case(
        f"page token {token!r}",
        BAD,
        "PAGE_TOKEN_INVALID",
        "page_token",
        lambda f, t=token: f.read("ListRounds", parent="tables/t", page_token=t),
    )
case("list no parent", BAD, "NAME_INVALID", "parent", lambda f: f.read("ListRounds"))
case(
    "list no table",
    NONE,
    "TABLE_NOT_FOUND",
    None,
    lambda f: f.read("ListRounds", parent="tables/x"),
)
case(
    "list an unknown state",
    BAD,
    "FIELD_INVALID",
    "state",
    lambda f: f.read("ListRounds", parent="tables/-", state=9),
)
case(
    "list a shoe of all tables",
    BAD,
    "FIELD_INVALID",
    "shoe_number",
    lambda f: f.read("ListRounds", parent="tables/-", shoe_number=1),
)
case(
    "list a shoe beyond 63 bits",
    BAD,
    "FIELD_INVALID",
    "shoe_number",
    lambda f: f.read("ListRounds", parent="tables/t", shoe_number=2**64 - 1),
)
case(
    "list from a time that is none",
    BAD,
    "FIELD_INVALID",
    "opened_from",
    lambda f: f.read("ListRounds", parent="tables/t", opened_from={"seconds": 2**62}),
)


@pytest.mark.parametrize(COLUMNS, table.rows)
async def test_a_bad_name_is_refused(
    floor: Floor, call: Call, code: str, reason: str, field: str | None
) -> None:
    """With its reason and field, and nothing written."""
    await assert_refused(floor, call, code, reason, field)


async def test_a_closed_round_names_the_open_one(floor: Floor) -> None:
    """A front-end that comes late learns from the refusal which round to show."""
    refusal = await refusal_of(floor.deal(wager(), round="tables/t/rounds/1"))
    assert refusal.metadata == {"open_round": "tables/t/rounds/2"}
    refusal = await refusal_of(floor.operate("VoidRound", round="tables/t/rounds/1", cause=1))
    assert refusal.metadata == {"open_round": "tables/t/rounds/2"}


async def test_the_betting_window_says_how_long_to_wait(floor: Floor) -> None:
    """RetryInfo counts down to the deal of a table with an hour's window."""
    refusal = await refusal_of(floor.at("window"))
    assert refusal.retry_after_s is not None
    assert 3000 < refusal.retry_after_s <= 3600


async def test_a_watch_from_beyond_63_bits_is_refused(floor: Floor) -> None:
    """No table has so many records: a canonical refusal, not INTERNAL."""
    request = pb_game.WatchTableRequest(name="tables/t", after_sequence=2**64 - 1)
    refusal = await refusal_of(floor.server.game.WatchTable(request, timeout=1).read())
    assert refusal.code != "INTERNAL"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb_audit.ProveInclusionRequest(tree_size=10**9), "tree_size"),
        (pb_audit.ProveInclusionRequest(index=10**9), "index"),
        (pb_audit.ProveInclusionRequest(index=3, tree_size=3), "index"),
        (pb_audit.ProveConsistencyRequest(new_size=2**64 - 1), "new_size"),
        (pb_audit.ProveConsistencyRequest(old_size=4, new_size=3), "old_size"),
    ],
)
async def test_sizes_that_the_log_has_not_reached_are_refused(
    floor: Floor, request_: Any, field: str
) -> None:
    """Proofs are of leaves and sizes below the newest checkpoint's."""
    inclusion = isinstance(request_, pb_audit.ProveInclusionRequest)
    audit = floor.server.audit
    call = audit.ProveInclusion(request_) if inclusion else audit.ProveConsistency(request_)
    refusal = await refusal_of(call)
    assert (refusal.code, refusal.reason) == ("OUT_OF_RANGE", "TREE_SIZE_UNKNOWN")
    assert refusal.fields == (field,)
