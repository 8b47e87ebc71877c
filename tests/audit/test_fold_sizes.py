"""The largest records that the limits allow fit an entry of the log."""

from dataclasses import replace

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.game_pb2 import Limits
from tests.audit.forge.log import ForgedLog, Tamper, nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.shoe import TIE
from tests.audit.forge.stories import ONE_ROUND, table_of
from tests.audit.forge.table import ForgedTable, install, wager

MAX_ENTRY_BYTES = 65_535
FULL = pb.Accountability(actor="a" * 64, authorised_by="b" * 64, reason="é" * 256)
# Names and amounts at their limits: a bet of 40 characters, a table of 40, an origin of 100.
LONG_BET = "t" * 40
LONG_ORIGIN = "log.example/" + "o" * 88
MAXIMUM = 2**59 // 20 * 20


def largest_table(tamper: Tamper = lambda _: None) -> ForgedTable:
    """Returns a table with the longest names and the largest stakes that its game can pay."""
    bet = replace(ONE_ROUND.bets[2], id=LONG_BET)
    game = replace(ONE_ROUND, game_id="g" * 40, bets=(*ONE_ROUND.bets[:2], bet))
    log = ForgedLog(tamper, origin=LONG_ORIGIN)
    install(log, game)
    limits = Limits(currency="EUR", minimum=20, maximum=MAXIMUM, step=20)
    return ForgedTable(log, "x" * 40, game, limits, dealer="d" * 64)


def largest_wagers() -> list[pb.Wager]:
    """Returns 128 wagers with ids of 64 bytes."""
    made = [wager(f"{n:03d}" + "é" * 30 + "x", "tie", MAXIMUM) for n in range(128)]
    for placed in made:
        placed.spot = LONG_BET
    assert {len(placed.wager_id.encode()) for placed in made} == {64}
    return made


def settled_by_hand(record: pb.RoundDealt) -> None:
    """Settles the wagers on the long bet: Tie, 8 to 1."""
    tie = record.outcome == TIE
    for placed in largest_wagers():
        gross = 9 * placed.stake if tie else 0
        record.settlements.add(wager=placed, result=1 if tie else 3, gross_return=gross)


@pytest.mark.parametrize("rounds", [1, 40])
def test_a_result_with_128_of_the_longest_wagers_fits_an_entry(rounds: int) -> None:
    table = largest_table(
        lambda r: isinstance(r, pb.RoundDealt) and settled_by_hand(r)  # 40 rounds: ties among them
    )
    for _ in range(rounds):
        table.open()
        table.deal()
    report = check_log(table.log)
    assert report.findings == []
    assert max(map(len, table.log.entries)) < MAX_ENTRY_BYTES
    assert (rounds == 1) or report.facts["games"]["g" * 40 + " version 1"]["outcomes"]["tie"] > 0


def test_128_of_the_longest_wagers_fit_their_own_record_and_their_void() -> None:
    def full(record: pb.RoundVoided) -> None:
        record.by.CopyFrom(FULL)

    table = largest_table(nth(pb.RoundVoided, 1, full))
    table.open()
    table.accept(*largest_wagers())
    table.void()
    assert check_log(table.log).findings == []
    assert max(map(len, table.log.entries)) < MAX_ENTRY_BYTES


def test_the_origin_of_a_successor_is_limited() -> None:
    log = ForgedLog(nth(pb.LogClosed, 1, lambda r: setattr(r, "successor_origin", "x" * 600)))
    log.close()
    assert errors(check_log(log)) == [Code.RECORD_LIMITS]


def test_a_predecessor_is_named_with_a_listed_reason() -> None:
    named = pb.Predecessor(origin="old", size=1, root=bytes(32), reason="boredom")
    log = ForgedLog(nth(pb.LogStarted, 1, lambda r: r.predecessor.CopyFrom(named)))
    assert not check_log(log).valid


def test_a_cosigned_head_is_named_by_32_bytes() -> None:
    short = nth(pb.RoundOpened, 1, lambda r: setattr(r, "cosigned_head_hash", b"x"))
    table = table_of(log=ForgedLog(short))
    table.open()
    assert not check_log(table.log).valid
