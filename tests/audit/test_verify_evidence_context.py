"""Evidence that is right about its round and wrong about what the round rests on is refused.

The operator signs with the real keys; every file is whole, canonical and proved.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.evidence import make_evidence
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import SHORT, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, install, wager

Change = Callable[[Any], object]


def verdict(table: ForgedTable, number: int) -> Report:
    """Verifies a round's evidence as the operator hands it out."""
    return verify_evidence(seal_evidence(make_evidence(table, number)), table.log.trust())


def first_of_its_table(dealt: pb.RoundDealt) -> None:
    """Claims to be a table's first record, and pays nobody."""
    dealt.link.sequence = 1
    for settled in dealt.settlements:
        settled.gross_return = settled.commission = 0
        settled.result = 3


@pytest.mark.parametrize("sequence", [0, 1])
def test_a_result_that_claims_to_be_its_tables_first_record_is_refused(sequence: int) -> None:
    def lie(dealt: pb.RoundDealt) -> None:
        first_of_its_table(dealt)
        dealt.link.sequence = sequence

    table = table_of(log=ForgedLog(nth(pb.RoundDealt, 1, lie)))
    table.open()
    table.accept(wager("a", "player", 1000), wager("b", "banker", 1000), wager("c", "tie", 1000))
    table.deal()
    evidence = make_evidence(table, 1)
    del evidence.records[4]  # the wagers accepted: leaves creation, opening, "result"
    report = verify_evidence(seal_evidence(evidence), table.log.trust())
    assert not check_log(table.log).valid
    assert not report.valid


def test_a_shoes_last_round_that_reveals_no_seed_is_refused() -> None:
    table = long_story(nth(pb.RoundDealt, 4, lambda r: r.closing.ClearField("seed")))
    assert errors(verdict(table, 5)) == [Code.SEED_COMMITMENT]
    assert errors(verdict(table, 4)) == [Code.SEED_COMMITMENT]  # whose evidence ends in it


def test_a_retirement_that_neither_reveals_nor_admits_the_loss_is_refused() -> None:
    table = long_story(nth(pb.ShoeRetired, 1, lambda r: r.closing.ClearField("seed")))
    assert errors(verdict(table, 6)) != []


def test_an_admitted_loss_of_the_seed_is_reported() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.retire(pb.RETIRE_CAUSE_SEED_UNAVAILABLE, unavailable=True)
    report = verdict(table, 1)
    assert report.valid
    assert Code.SEED_UNAVAILABLE in [finding.code for finding in report.findings]


def test_a_shoe_of_fewer_decks_than_its_games_is_refused_in_every_rounds_evidence() -> None:
    table = table_of()
    table.open(decks=5)
    table.deal(wager("a", "player", 100))
    table.open()
    table.deal(wager("a", "player", 100))
    table.retire()
    assert errors(verdict(table, 1)) == [Code.SHOE_OPENING]
    assert errors(verdict(table, 2)) == [Code.SHOE_OPENING]


@pytest.mark.parametrize(("cards", "reach"), [(0, 312), (9 * 52, 311)])
def test_a_shoe_of_impossible_size_is_a_finding(cards: int, reach: int) -> None:
    seed = bytes(48 + 128 * (cards // 112 + 1))

    def lie(record: Any) -> None:
        if isinstance(record, pb.RoundOpened) and record.HasField("shoe"):
            record.shoe.cards, record.shoe.reach = cards, reach
            record.shoe.seed_commitment = commitment(seed)
        elif isinstance(record, pb.ShoeRetired):
            record.closing.seed = seed

    table = table_of(log=ForgedLog(lie))
    for _ in range(2):
        table.open()
        table.deal(wager("a", "player", 100))
    table.retire()
    assert errors(verdict(table, 2)) != []


def commitment(seed: bytes) -> bytes:
    """Returns the commitment to a seed."""
    return sha256(b"sealedshoe/v1/seed\x00" + seed).digest()


def test_a_card_burned_by_the_previous_result_is_found() -> None:
    def burn(dealt: pb.RoundDealt) -> None:
        dealt.cards.add(position=6, card=table.rounds[1].shoe.order[6], salt=bytes(16), hand=1)
        table.position += 1

    log = ForgedLog()
    table = table_of(log=log)
    log.tamper = nth(pb.RoundDealt, 1, burn)
    table.open()
    table.deal(wager("a", "player", 100))
    table.open()
    table.deal(wager("a", "player", 100))
    assert errors(check_log(log)) == [Code.DEAL]
    assert errors(verdict(table, 2)) == [Code.DEAL]


def test_rules_that_were_installed_after_the_round_are_refused() -> None:
    log = ForgedLog()
    table = ForgedTable(log, "7", SHORT)
    play_shoe(table)
    install(log, SHORT)
    assert not check_log(log).valid
    assert errors(verdict(table, 1)) != []


def test_a_key_change_left_out_is_refused_or_named_as_not_checked() -> None:
    table = table_of()
    table.open()
    table.log.change_key(9, pb.KEY_PURPOSE_CHECKPOINT)
    table.deal(wager("a", "player", 100))
    evidence = make_evidence(table, 1)
    del evidence.records[4]
    report = verify_evidence(seal_evidence(evidence), table.log.trust())
    assert not report.valid or any("key" in text for text in report.not_checked)


def test_an_unlisted_bet_result_is_a_finding() -> None:
    table = long_story(nth(pb.RoundDealt, 1, lambda r: setattr(r.settlements[0], "result", 99)))
    assert errors(verdict(table, 1)) == [Code.SETTLEMENT]


def test_a_key_purpose_beyond_a_byte_is_a_finding() -> None:
    log = ForgedLog(nth(pb.KeyChanged, 1, lambda r: setattr(r, "purpose", 300)))
    log.change_key(9)
    log.statement = ForgedLog().statement
    table = table_of(log=log)
    play_shoe(table)
    assert errors(verdict(table, 1)) == [Code.KEY_CHANGE]


def test_a_record_larger_than_an_entry_is_a_finding() -> None:
    def swell(dealt: pb.RoundDealt) -> None:
        for _ in range(70_000):
            dealt.cards.add()

    log = ForgedLog(nth(pb.RoundDealt, 1, swell))
    table = table_of(log=log)
    table.open()
    table.deal(wager("a", "player", 100))
    end = 70_000 + len(table.rounds[1].dealt.cards)
    log.tamper = lambda r: move(r, end)
    table.open()
    table.deal(wager("a", "player", 100))
    evidence = make_evidence(table, 2)
    assert max(len(record.envelope) for record in evidence.records) > 65_535
    assert errors(verify_evidence(seal_evidence(evidence), log.trust())) != []


def move(record: Any, first: int) -> None:
    """Moves a shoe's last round to another position."""
    if isinstance(record, pb.RoundOpened):
        record.first_position = first
    for offset, card in enumerate(getattr(record, "cards", ())):
        card.position = first + offset
    if isinstance(record, pb.RoundDealt):  # the cut card lay before `first`
        record.closing.cards_dealt = first + len(record.cards)
