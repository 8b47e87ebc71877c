"""What operators cannot do: bad tables, bad games, states out of reach."""

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.server.bad_input import (
    BAD,
    COLUMNS,
    NONE,
    STATE,
    TAKEN,
    Call,
    Floor,
    Table,
    assert_refused,
)
from tests.server.games import game_text

pytestmark = pytest.mark.asyncio(loop_scope="module")
table = Table()
case = table.case

case("table exists", TAKEN, "TABLE_EXISTS", None, lambda f: f.create("t"))
case("capitals", BAD, "FIELD_INVALID", "table_id", lambda f: f.create("Main"))
case("empty table id", BAD, "FIELD_INVALID", "table_id", lambda f: f.create(""))
case("long table id", BAD, "FIELD_INVALID", "table_id", lambda f: f.create("x" * 41))
case(
    "the id that stands for all tables",
    BAD,
    "FIELD_INVALID",
    "table_id",
    lambda f: f.create("-"),
)
case("unknown game", NONE, "GAME_NOT_FOUND", None, lambda f: f.create(game="poker"))
case("unknown version", NONE, "GAME_NOT_FOUND", None, lambda f: f.create(game_version=2))
case(
    "unknown currency",
    BAD,
    "CURRENCY_UNKNOWN",
    "settings.limits.currency",
    lambda f: f.create(currency="XBT"),
)
for name, settings in {
    "minimum above maximum": {"minimum": 2000, "maximum": 1000},
    "no minimum": {"minimum": 0},
    "step off the game's": {"step": 30},
    "no step": {"step": 0},
    "minimum off step": {"minimum": 110},
    "spot below maximum": {"spot_maximum": 500},
    "a maximum that could pay too much": {"maximum": 2**63 - 8},
    "negative maximum": {"maximum": -20},
}.items():
    case(name, BAD, "TABLE_SETTINGS_INVALID", "settings", lambda f, s=settings: f.create(**s))
case(
    "limits outside the game's",
    BAD,
    "TABLE_SETTINGS_INVALID",
    "settings",
    lambda f: f.create(game="mini-baccarat-8d", minimum=20, maximum=20),
)
case(
    "long dealer",
    BAD,
    "TABLE_SETTINGS_INVALID",
    "settings.dealer",
    lambda f: f.create(dealer="x" * 65),
)
DEFINITION = "definition_toml"
case("game exists", TAKEN, "GAME_EXISTS", f"{DEFINITION}.version", lambda f: f.install(game_text()))
case(
    "wrong return",
    BAD,
    "GAME_DEFINITION_INVALID",
    f"{DEFINITION}.bets[0].declared_return",
    lambda f: f.install(game_text(version=2).replace("1506933938177/1525814595305", "99/100", 1)),
)
case("no TOML", BAD, "GAME_DEFINITION_INVALID", DEFINITION, lambda f: f.install("= ="))
case("no text", BAD, "GAME_DEFINITION_INVALID", None, lambda f: f.install(""))
case(
    "unknown key",
    BAD,
    "GAME_DEFINITION_INVALID",
    f"{DEFINITION}.burn_cards",
    lambda f: f.install("burn_cards = 1\n" + game_text(version=2)),
)
case(
    "endless nesting",
    BAD,
    "GAME_DEFINITION_INVALID",
    DEFINITION,
    lambda f: f.install("x = " + "[" * 30_000),
)
case(
    "cut too shallow",
    BAD,
    "GAME_DEFINITION_INVALID",
    None,
    lambda f: f.install(game_text(version=2, cut_depth=11)),
)
case(
    "state 0",
    BAD,
    "ENUM_UNSPECIFIED",
    "state",
    lambda f: f.operate("SetTableState", table="tables/t"),
)
case(
    "unknown state",
    BAD,
    "FIELD_INVALID",
    "state",
    lambda f: f.operate("SetTableState", table="tables/t", state=99),
)
case(
    "negative state",
    BAD,
    "FIELD_INVALID",
    "state",
    lambda f: f.operate("SetTableState", table="tables/t", state=-1),
)
case(
    "enable what is enabled",
    STATE,
    "TABLE_STATE_UNREACHABLE",
    "state",
    lambda f: f.operate("SetTableState", table="tables/t", state=1),
)
case(
    "open what is closed",
    STATE,
    "TABLE_STATE_UNREACHABLE",
    "state",
    lambda f: f.operate("SetTableState", table="tables/closed", state=1),
)
case(
    "void without cause",
    BAD,
    "ENUM_UNSPECIFIED",
    "cause",
    lambda f: f.operate("VoidRound", round="tables/t/rounds/2"),
)
case(
    "void for an unknown cause",
    BAD,
    "FIELD_INVALID",
    "cause",
    lambda f: f.operate("VoidRound", round="tables/t/rounds/2", cause=99),
)
case(
    "void a past round",
    STATE,
    "ROUND_NOT_OPEN",
    None,
    lambda f: f.operate("VoidRound", round="tables/t/rounds/1", cause=1),
)
case(
    "void at a closed table",
    STATE,
    "ROUND_NOT_OPEN",
    None,
    lambda f: f.operate("VoidRound", round="tables/closed/rounds/1", cause=1),
)
case(
    "retire without cause",
    BAD,
    "ENUM_UNSPECIFIED",
    "cause",
    lambda f: f.operate("RetireShoe", table="tables/t"),
)
case(
    "retire under standing wagers",
    STATE,
    "WAGERS_STANDING",
    "void_cause",
    lambda f: f.operate("RetireShoe", table="tables/t", cause=1),
)
case(
    "retire with an unknown void cause",
    BAD,
    "FIELD_INVALID",
    "void_cause",
    lambda f: f.operate("RetireShoe", table="tables/t", cause=1, void_cause=99),
)
case(
    "retire where no shoe is",
    STATE,
    "SHOE_NOT_OPEN",
    None,
    lambda f: f.operate("RetireShoe", table="tables/closed", cause=1),
)
case(
    "long reason",
    BAD,
    "FIELD_INVALID",
    "by.reason",
    lambda f: f.operate(
        "SetTableState", table="tables/t", state=2, by=pb.Accountability(reason="x" * 513)
    ),
)
case(
    "long actor",
    BAD,
    "FIELD_INVALID",
    "by.actor",
    lambda f: f.operate(
        "SetTableState", table="tables/t", state=2, by=pb.Accountability(actor="x" * 65)
    ),
)


@pytest.mark.parametrize(COLUMNS, table.rows)
async def test_a_bad_operation_is_refused(
    floor: Floor, call: Call, code: str, reason: str, field: str | None
) -> None:
    """With its reason and field, and nothing written."""
    await assert_refused(floor, call, code, reason, field)
