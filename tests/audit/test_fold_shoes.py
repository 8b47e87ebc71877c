"""Shoe openings, reveals and retirements that a signed log may not contain."""

from collections.abc import Callable
from typing import Any

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import check_log, errors, notices
from tests.audit.forge.shoe import scripted_seed
from tests.audit.forge.stories import ONE_ROUND, SHORT, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, install, wager

LAST = 4  # the result of the long story that closes its first shoe
SECOND = 6  # the opening of the long story that opens its second shoe


def refusal(kind: type, count: int, change: Callable[[Any], object]) -> list[Code]:
    """Returns the findings on the long story with one record changed before it was signed."""
    return errors(check_log(long_story(nth(kind, count, change)).log))


Opened = Callable[[pb.RoundOpened], object]
OPENINGS: dict[str, tuple[Opened, Code]] = {
    "number skipped": (lambda r: setattr(r.shoe, "shoe_number", 3), Code.SHOE_OPENING),
    "number again": (lambda r: setattr(r.shoe, "shoe_number", 1), Code.SHOE_OPENING),
    "another game": (lambda r: setattr(r.shoe, "game_id", "shoe-8d"), Code.SHOE_OPENING),
    "another version": (lambda r: setattr(r.shoe, "game_version", 2), Code.SHOE_OPENING),
    "fewer cards": (lambda r: setattr(r.shoe, "cards", 311), Code.SHOE_OPENING),
    "more cards": (lambda r: setattr(r.shoe, "cards", 416), Code.SHOE_OPENING),
    "less reach": (lambda r: setattr(r.shoe, "reach", 311), Code.SHOE_OPENING),
    "short commitment": (lambda r: setattr(r.shoe, "seed_commitment", b"x"), Code.SHOE_OPENING),
    "no cards root": (lambda r: r.shoe.ClearField("cards_root"), Code.SHOE_OPENING),
    "no sealed seed": (lambda r: r.shoe.ClearField("sealed_seed_digest"), Code.SHOE_OPENING),
    "short instance": (lambda r: setattr(r.shoe, "rng_instance", bytes(15)), Code.SHOE_OPENING),
    "no counter": (lambda r: r.shoe.ClearField("shoe_counter"), Code.SHOE_OPENING),
    "no sealing key": (lambda r: r.shoe.ClearField("sealing_key_id"), Code.RECORD_LIMITS),
    "long sealing key": (
        lambda r: setattr(r.shoe, "sealing_key_id", "x" * 65),
        Code.RECORD_LIMITS,
    ),
    "also names a shoe": (lambda r: setattr(r, "shoe_opening_hash", bytes(32)), Code.SHOE_OPENING),
    "not from its start": (lambda r: setattr(r, "first_position", 1), Code.SHOE_STATE),
    "no opening": (lambda r: r.ClearField("shoe"), Code.SHOE_STATE),
}


@pytest.mark.parametrize(("change", "code"), OPENINGS.values(), ids=OPENINGS.keys())
def test_a_shoe_opening_that_is_not_the_next_of_its_game_is_refused(
    change: Opened, code: Code
) -> None:
    assert refusal(pb.RoundOpened, SECOND, change) == [code]


def test_a_new_shoe_is_not_opened_while_one_is_open() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.shoe = None
    table.open()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]


def test_a_shoe_ends_with_its_last_round() -> None:
    assert refusal(pb.RoundDealt, LAST, lambda r: r.ClearField("closing")) == [Code.SHOE_STATE]


def test_a_shoe_is_not_dealt_on_after_its_last_round() -> None:
    table = table_of()
    play_shoe(table)
    shoe = table.rounds[1].shoe
    table.shoe = shoe
    table.open()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]


def test_a_seed_is_not_revealed_before_the_last_round() -> None:
    early = pb.ShoeClosing(seed=scripted_seed(1, 6), cards_dealt=6)
    found = refusal(pb.RoundDealt, 1, lambda r: r.closing.CopyFrom(early))
    assert found == [Code.SHOE_STATE]


def test_a_shoe_is_closed_once() -> None:
    table = table_of()
    play_shoe(table)
    table.shoe = table.rounds[1].shoe
    table.retire()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]


Dealt = Callable[[pb.RoundDealt], object]
CLOSINGS: dict[str, tuple[Dealt, Code]] = {
    "one card more": (
        lambda r: setattr(r.closing, "cards_dealt", r.closing.cards_dealt + 1),
        Code.SHOE_STATE,
    ),
    "no count": (lambda r: r.closing.ClearField("cards_dealt"), Code.SHOE_STATE),
    "another seed": (
        lambda r: setattr(r.closing, "seed", scripted_seed(2, 6)),
        Code.SEED_COMMITMENT,
    ),
    "one bit": (
        lambda r: setattr(r.closing, "seed", r.closing.seed[:-1] + b"\x00"),
        Code.SEED_COMMITMENT,
    ),
    "seed cut": (
        lambda r: setattr(r.closing, "seed", r.closing.seed[:-1]),
        Code.SEED_COMMITMENT,
    ),
    "no seed": (lambda r: r.closing.ClearField("seed"), Code.SEED_COMMITMENT),
}


@pytest.mark.parametrize(("change", "code"), CLOSINGS.values(), ids=CLOSINGS.keys())
def test_a_reveal_that_does_not_match_is_refused(change: Dealt, code: Code) -> None:
    assert refusal(pb.RoundDealt, LAST, change) == [code]


def test_a_cards_root_that_the_seed_does_not_lead_to_is_found_at_the_reveal() -> None:
    found = refusal(pb.RoundOpened, 1, lambda r: setattr(r.shoe, "cards_root", bytes(32)))
    assert found == [Code.CARDS_ROOT]


def test_a_shoe_of_another_table_is_found_at_the_reveal() -> None:
    table = table_of()
    table.name = "8"  # of the shuffle's personalization, not of the records
    log, records = table.log, table.log.tamper
    log.tamper = lambda r: (records(r), "link" in r.DESCRIPTOR.fields_by_name and rename(r))
    play_shoe(table)
    assert errors(check_log(log)) == [Code.CARDS_ROOT]


def rename(record: Any) -> None:
    """Puts a record on table 7."""
    record.link.table = "7"


Retired = Callable[[pb.ShoeRetired], object]
RETIREMENTS: dict[str, tuple[Retired, Code]] = {
    "another shoe": (lambda r: setattr(r, "shoe_opening_hash", bytes(32)), Code.SHOE_STATE),
    "no cause": (lambda r: r.ClearField("cause"), Code.SHOE_STATE),
    "unlisted cause": (lambda r: setattr(r, "cause", 99), Code.SHOE_STATE),
    "nobody": (lambda r: r.ClearField("by"), Code.RECORD_LIMITS),
    "wrong count": (lambda r: setattr(r.closing, "cards_dealt", 0), Code.SHOE_STATE),
    "no seed": (lambda r: r.closing.ClearField("seed"), Code.SHOE_STATE),
    "seed and its loss": (lambda r: setattr(r, "seed_unavailable", True), Code.SHOE_STATE),
    "another seed": (
        lambda r: setattr(r.closing, "seed", scripted_seed(1, 6)),
        Code.SEED_COMMITMENT,
    ),
}


@pytest.mark.parametrize(("change", "code"), RETIREMENTS.values(), ids=RETIREMENTS.keys())
def test_a_retirement_reveals_its_shoe_for_a_listed_cause(change: Retired, code: Code) -> None:
    assert refusal(pb.ShoeRetired, 1, change) == [code]


def test_a_shoe_is_not_retired_under_an_open_round() -> None:
    table = table_of()
    table.open()
    table.retire()
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]


def test_no_shoe_is_retired_where_none_is_open() -> None:
    table = table_of()
    play_shoe(table)
    table.shoe = table.rounds[1].shoe
    table.retire()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]


def test_a_voided_one_round_shoe_is_retired_and_the_next_one_opened() -> None:
    table = table_of(ONE_ROUND)
    table.open()
    table.void()
    table.retire(pb.RETIRE_CAUSE_ROUND_VOIDED)
    play_shoe(table)
    assert check_log(table.log).findings == []


def two_tables(second: Callable[[Any], object]) -> ForgedLog:
    """Returns a log with two tables, one shoe each; the second table's opening is changed."""
    log = ForgedLog()
    install(log, SHORT)
    for name in ("7", "8"):
        table = ForgedTable(log, name, SHORT)
        if name == "8":
            log.tamper = nth(pb.RoundOpened, 1, second)
        table.open()
    return log


@pytest.mark.parametrize("other_table", [False, True])
def test_a_seed_commitment_stands_once_in_a_log(other_table: bool) -> None:
    seen: list[bytes] = []
    log = ForgedLog(lambda r: isinstance(r, pb.RoundOpened) and seen.append(commitment_of(r)))
    install(log, SHORT)
    table = ForgedTable(log, "7", SHORT)
    play_shoe(table)
    log.tamper = nth(pb.RoundOpened, 1, lambda r: setattr(r.shoe, "seed_commitment", seen[0]))
    if other_table:
        table = ForgedTable(log, "8", SHORT)
    table.open()
    assert errors(check_log(log)) == [Code.DUPLICATE_SEED]


def commitment_of(record: pb.RoundOpened) -> bytes:
    """Returns the seed commitment that a record opens, if any."""
    return record.shoe.seed_commitment


def test_a_skipped_shoe_counter_is_noticed_and_the_verdict_stays() -> None:
    table = table_of()
    table.open(counter=4)
    report = check_log(table.log)
    assert report.valid
    assert notices(report) == [Code.SHOE_COUNTER_GAP]
    assert report.findings[0].found == "3 discarded"


def test_counters_of_another_rng_instance_start_again() -> None:
    other = bytes(16)
    log = two_tables(lambda r: (setattr(r.shoe, "rng_instance", other), restart(r)))
    assert check_log(log).findings == []


def restart(record: pb.RoundOpened) -> None:
    """Sets the counter to 1."""
    record.shoe.shoe_counter = 1


def test_a_shoe_counter_that_stands_twice_is_reported() -> None:
    assert Code.SHOE_COUNTER_GAP in [f.code for f in check_log(two_tables(restart)).findings]


def test_an_unavailable_seed_is_noticed_and_the_verdict_stays() -> None:
    table = table_of()
    table.open()
    table.void(pb.VOID_CAUSE_SEED_UNAVAILABLE)
    table.retire(pb.RETIRE_CAUSE_SEED_UNAVAILABLE, unavailable=True)
    report = check_log(table.log)
    assert report.valid
    assert notices(report) == [Code.SEED_UNAVAILABLE]
