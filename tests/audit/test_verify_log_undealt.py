"""Voided rounds with wagers: the log's report says what they would have paid once the shoe is revealed.

The cards lay where the void left them; each expectation is settled by hand from the scripted shoe.
"""

from typing import Any

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.published import check_log
from tests.audit.forge.shoe import BANKER, PLAYER
from tests.audit.forge.stories import ONE_ROUND, SHORT, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, wager

WAGERS = (wager("p", "player", 1000), wager("b", "banker", 2000), wager("t", "tie", 200))


def by_hand(table: ForgedTable, number: int) -> dict[str, Any]:
    """Settles WAGERS at 1:1, 19:20 and 8:1."""
    outcome = table.rounds[number].dealt.outcome
    rows = {
        PLAYER: [("win", 2000, 0), ("lose", 0, 0), ("lose", 0, 0)],
        BANKER: [("lose", 0, 0), ("win", 4000, 100), ("lose", 0, 0)],
    }.get(outcome, [("push", 1000, 0), ("push", 2000, 0), ("win", 1800, 0)])
    return {
        "outcome": ["player", "banker", "tie"][outcome - 1],
        "settlements": [
            {
                "wager_id": placed.wager_id,
                "spot": placed.spot,
                "stake": placed.stake,
                "result": result,
                "gross_return": gross,
                "commission": commission,
                "paid": gross - commission,
            }
            for placed, (result, gross, commission) in zip(WAGERS, rows, strict=True)
        ],
    }


def undealt(table: ForgedTable) -> list[dict[str, Any]]:
    """Returns the report's list; the log itself is valid."""
    report = check_log(table.log)
    assert report.valid
    return report.facts["undealt"]


def void_wagered(table: ForgedTable, cause: Any = pb.VOID_CAUSE_OPERATOR_ERROR) -> None:
    """Opens a round, takes wagers and voids it."""
    table.open()
    table.accept(*WAGERS[:2])
    table.accept(WAGERS[2])
    table.void(cause)


def test_a_voided_round_is_settled_when_its_shoe_is_done() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    void_wagered(table)
    play_shoe(table)
    assert undealt(table) == [
        {
            "round": "tables/7/rounds/2",
            "cause": "operator_error",
            "currency": "EUR",
            "would_have_paid": by_hand(table, 2),
        }
    ]


def test_rounds_voided_with_a_retirement_are_settled_at_once() -> None:
    table = table_of(ONE_ROUND)
    for _ in range(40):  # all three outcomes come up
        void_wagered(table, pb.VOID_CAUSE_SHOE_RETIRED)
        table.retire(pb.RETIRE_CAUSE_ROUND_VOIDED)
    found = undealt(table)
    assert [row["would_have_paid"] for row in found] == [by_hand(table, n) for n in range(1, 41)]
    assert {row["would_have_paid"]["outcome"] for row in found} == {"player", "banker", "tie"}
    assert {row["cause"] for row in found} == {"shoe_retired"}


def test_a_round_voided_twice_from_one_position_would_have_had_the_same_cards() -> None:
    table = table_of()
    void_wagered(table)
    void_wagered(table, pb.VOID_CAUSE_REGULATOR_ORDER)
    table.retire()
    first, second = undealt(table)
    assert first["would_have_paid"] == second["would_have_paid"] == by_hand(table, 1)
    assert second["cause"] == "regulator_order"


def test_what_a_void_would_have_paid_is_unknown_until_the_reveal() -> None:
    table = table_of()
    void_wagered(table)
    assert [row["would_have_paid"] for row in undealt(table)] == [None]


def test_a_voided_round_without_wagers_is_not_listed() -> None:
    table = table_of()
    table.open()
    table.void()
    table.retire()
    assert undealt(table) == []


def test_a_void_of_a_shoe_whose_seed_is_lost_stays_unknown() -> None:
    table = table_of(SHORT)
    void_wagered(table, pb.VOID_CAUSE_SEED_UNAVAILABLE)
    table.retire(pb.RETIRE_CAUSE_SEED_UNAVAILABLE, unavailable=True)
    play_shoe(table)
    assert [row["would_have_paid"] for row in undealt(table)] == [None]
