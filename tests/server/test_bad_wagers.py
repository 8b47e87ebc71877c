"""Wagers that no table takes."""

import pytest

from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.server.bad_input import (
    BAD,
    COLUMNS,
    MUCH,
    RANGE,
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
STAKE = "wagers[0].stake"

case("unknown bet", BAD, "BET_UNKNOWN", "wagers[0].spot", lambda f: f.deal(wager(spot="dragon")))
case("no bet", BAD, "BET_UNKNOWN", "wagers[0].spot", lambda f: f.deal(wager(spot="")))
case("zero stake", BAD, "STAKE_NOT_POSITIVE", STAKE, lambda f: f.deal(wager(stake=0)))
case("negative stake", BAD, "STAKE_NOT_POSITIVE", STAKE, lambda f: f.deal(wager(stake=-100)))
case("least int64", BAD, "STAKE_NOT_POSITIVE", STAKE, lambda f: f.deal(wager(stake=-(2**63))))
case("off step", BAD, "STAKE_OFF_STEP", STAKE, lambda f: f.deal(wager(stake=110)))
case("below", RANGE, "STAKE_BELOW_MINIMUM", STAKE, lambda f: f.deal(wager(stake=80)))
case("above", RANGE, "STAKE_ABOVE_MAXIMUM", STAKE, lambda f: f.deal(wager(stake=1020)))
case("largest int64", RANGE, "STAKE_ABOVE_MAXIMUM", STAKE, lambda f: f.deal(wager(stake=2**63 - 1)))
case(
    "sum of two above",
    RANGE,
    "STAKE_ABOVE_MAXIMUM",
    "wagers[1].stake",
    lambda f: f.deal(wager("a", 600, "tie"), wager("b", 420, "tie")),
)
case(
    "sum with a standing one above",
    RANGE,
    "STAKE_ABOVE_MAXIMUM",
    STAKE,
    lambda f: f.place(wager("a", 120, player="zoe")),
)
case(
    "spot above",
    RANGE,
    "SPOT_ABOVE_MAXIMUM",
    STAKE,
    lambda f: f.place(wager("a", 620, player="bob")),
)
case(
    "spot above within one call",
    RANGE,
    "SPOT_ABOVE_MAXIMUM",
    "wagers[0].stake",
    lambda f: f.place(wager("a", 1000, "tie", "bob"), wager("b", 520, "tie", "carol")),
)
case(
    "wager id twice in a call",
    BAD,
    "WAGER_ID_DUPLICATE",
    "wagers[1].wager_id",
    lambda f: f.deal(wager("a"), wager("a", spot="tie")),
)
case(
    "wager id stands already",
    BAD,
    "WAGER_ID_DUPLICATE",
    "wagers[0].wager_id",
    lambda f: f.deal(wager("standing", spot="tie")),
)
case("no wager id", BAD, "FIELD_INVALID", "wagers[0].wager_id", lambda f: f.deal(wager("")))
case("long id", BAD, "FIELD_INVALID", "wagers[0].wager_id", lambda f: f.deal(wager("x" * 65)))
case(
    "long id in bytes",
    BAD,
    "FIELD_INVALID",
    "wagers[0].wager_id",
    lambda f: f.deal(wager("é" * 33)),
)
case("line feed", BAD, "FIELD_INVALID", "wagers[0].wager_id", lambda f: f.deal(wager("a\nb")))
case("no player", BAD, "FIELD_INVALID", "wagers[0].player", lambda f: f.deal(wager(player="")))
case(
    "long player",
    BAD,
    "FIELD_INVALID",
    "wagers[0].player",
    lambda f: f.deal(wager(player="x" * 65)),
)
case(
    "129 wagers",
    MUCH,
    "TOO_MANY_WAGERS",
    "wagers",
    lambda f: f.deal(*(wager(f"{i}", player=f"{i}") for i in range(129))),
)
case(
    "128 wagers with one that stands",
    MUCH,
    "TOO_MANY_WAGERS",
    "wagers",
    lambda f: f.place(*(wager(f"{i}", player=f"{i}") for i in range(128))),
)
case("place nothing", STATE, "NO_WAGERS", "wagers", lambda f: f.place())


@pytest.mark.parametrize(COLUMNS, table.rows)
async def test_a_bad_wager_is_refused(
    floor: Floor, call: Call, code: str, reason: str, field: str | None
) -> None:
    """With its reason and field, and nothing written."""
    await assert_refused(floor, call, code, reason, field)


async def test_limits_are_named(floor: Floor) -> None:
    """The bound that was broken, and the sum that broke it, stand in the metadata."""
    refusal = await refusal_of(floor.place(wager("a", 120, player="zoe")))
    assert refusal.metadata == {"bound": "1000", "sum": "1020"}
    refusal = await refusal_of(floor.deal(wager(stake=80)))
    assert refusal.metadata == {"bound": "100", "sum": "80"}


async def test_the_largest_good_call_is_taken(floor: Floor) -> None:
    """The twin of the limits: 128 wagers with ids and players of 64 bytes each."""
    limits = game_pb2.Limits(currency="USD", minimum=20, maximum=1000, step=20)
    settings = pb.TableSettings(game_id="shoe-6d", game_version=1, limits=limits)
    await floor.operate("CreateTable", table_id="x" * 40, settings=settings)
    wagers = [wager(f"{i:064d}", 20, player=f"{i:064d}") for i in range(128)]
    assert await floor.at("x" * 40, *wagers)
