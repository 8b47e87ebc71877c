"""A player's receipt shows that the opening stood in the log before the result, or is refused."""

from collections.abc import Callable

import pytest

from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1.evidence_pb2 import Receipt
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import (
    logged,
    make_evidence,
    make_receipt,
    opening_index,
    result_index,
)
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import errors
from tests.audit.forge.stories import long_story
from tests.audit.forge.table import ForgedTable

BEFORE_THE_BET = "that the opening was public before the bet"
SHOWN = "the player's receipt shows the opening under a head without the result"


def verdict(table: ForgedTable, number: int, receipt: bytes) -> Report:
    """Verifies a round's evidence with a receipt."""
    evidence = seal_evidence(make_evidence(table, number))
    return verify_evidence(evidence, table.log.trust(), receipt)


def is_named(report: Report) -> bool:
    """Whether the report says that nothing shows the opening before the bet."""
    return any(text.startswith(BEFORE_THE_BET) for text in report.not_checked)


@pytest.mark.parametrize("name", CASES)
def test_the_right_receipt_moves_the_line_before_the_bet(name: str) -> None:
    table, number = CASES[name]()
    report = verdict(table, number, seal_receipt(make_receipt(table, number)))
    assert report.findings == []
    assert SHOWN in report.checked
    assert not is_named(report)


def test_every_head_from_the_opening_to_the_result_will_do_and_no_later_one() -> None:
    table, number = CASES["first_round"]()
    opening, result = opening_index(table, number), result_index(table, number)
    for size in range(opening + 1, result + 1):
        receipt = make_receipt(table, number, size)
        assert verdict(table, number, seal_receipt(receipt)).valid
    for size in range(result + 1, len(table.log.entries) + 1):
        receipt = make_receipt(table, number, size)
        report = verdict(table, number, seal_receipt(receipt))
        assert errors(report) == [Code.RECEIPT]
        assert is_named(report)


Mutation = Callable[[ForgedTable, Receipt], object]


def of_the_same_round_elsewhere(table: ForgedTable, receipt: Receipt) -> None:
    """The operator shows the player another log in which the round was opened otherwise."""
    log = ForgedLog(lambda r: setattr(r.header, "time_us", r.header.time_us + 1))
    other = long_story(log.tamper)
    receipt.CopyFrom(make_receipt(other, 1))


BAD: dict[str, tuple[Mutation, Code]] = {
    "of another round": (lambda t, r: r.CopyFrom(make_receipt(t, 3)), Code.RECEIPT),
    "of another kind of record": (
        lambda t, r: r.CopyFrom(Receipt(opening=logged(t.log, 2, 4), checkpoint=t.log.note(4))),
        Code.RECEIPT,
    ),
    "of a split view": (of_the_same_round_elsewhere, Code.RECEIPT),
    "of another log": (
        lambda _, r: setattr(r, "checkpoint", ForgedLog(origin="other").note()),
        Code.ORIGIN_MISMATCH,
    ),
    "of another operator": (
        lambda _, r: setattr(r, "checkpoint", ForgedLog(keys=20).note()),
        Code.NOTE_SIGNATURE,
    ),
    "of a head before it": (lambda t, r: setattr(r, "checkpoint", t.log.note(3)), Code.INCLUSION),
    "without a path": (lambda _, r: r.opening.ClearField("inclusion_path"), Code.INCLUSION),
    "without a record": (lambda _, r: r.ClearField("opening"), Code.INCLUSION),
    "at another index": (lambda _, r: setattr(r.opening, "index", 2), Code.INCLUSION),
    "without a head": (lambda _, r: r.ClearField("checkpoint"), Code.PARSE),
}


@pytest.mark.parametrize(("mutate", "code"), BAD.values(), ids=BAD.keys())
def test_another_receipt_is_refused_and_the_line_stays(mutate: Mutation, code: Code) -> None:
    table, number = CASES["first_round"]()
    receipt = make_receipt(table, number)
    mutate(table, receipt)
    report = verdict(table, number, seal_receipt(receipt))
    assert errors(report) == [code]
    assert SHOWN not in report.checked
    assert is_named(report)


def test_a_damaged_receipt_is_refused() -> None:
    table, number = CASES["first_round"]()
    sealed = seal_receipt(make_receipt(table, number))
    flipped = bytes([sealed[0] ^ 1]) + sealed[1:]
    assert errors(verdict(table, number, flipped)) == [Code.DIGEST_MISMATCH]
    assert errors(verdict(table, number, sealed[:-1])) == [Code.PARSE]
    assert errors(verdict(table, number, b"")) == [Code.PARSE]
    evidence = seal_evidence(make_evidence(table, number))
    assert not verdict(table, number, evidence).valid


def test_a_good_receipt_does_not_save_bad_evidence() -> None:
    table, number = CASES["first_round"]()
    evidence = make_evidence(table, number)
    evidence.card_proof = b""
    receipt = seal_receipt(make_receipt(table, number))
    report = verify_evidence(seal_evidence(evidence), table.log.trust(), receipt)
    assert errors(report) == [Code.CARD_PROOF]
    assert is_named(report)
