"""Heads of the past count by the log's own key at their size, whatever became of that key since."""

from collections.abc import Callable

import pytest

from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.errors import Code
from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from tests.audit.forge.evidence import make_evidence, make_receipt
from tests.audit.forge.log import ForgedLog, key, public, sign_head
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.rotation import CHECKPOINT, replace_revoked, revoke
from tests.audit.forge.stories import long_story
from tests.audit.test_times import add_stamp, cosigned, stand_in_check

OLD, NEW = 3, 9
WITNESS = VerifierKey("w.example", 4, public(key(20)))
Change = Callable[[ForgedLog], None]


def revoked_and_replaced(log: ForgedLog) -> None:
    """The old key was stolen."""
    revoke(log, CHECKPOINT)
    replace_revoked(log, CHECKPOINT, NEW)


def replaced(log: ForgedLog) -> None:
    """The old key had served its time."""
    log.change_key(NEW, CHECKPOINT)


CHANGES = pytest.mark.parametrize("change", [revoked_and_replaced, replaced])


def verified(log: ForgedLog, *heads: bytes) -> LogReport:
    """Verifies a log by a trust file with the newest key alone."""
    options = LogOptions(heads=heads, check_stamp=stand_in_check)
    source = MemorySource(publish(log))
    return verify_log(source, log.trust(), log.time_us, lambda *_: None, options)


@CHANGES
def test_kept_heads_of_before_the_change_are_compared(change: Change) -> None:
    log = ForgedLog()
    log.event()
    head, fork = log.note(), sign_head([bytes(32)], log.origin, key(OLD))
    change(log)
    report = verified(log, head, log.note())
    assert report.findings == []
    assert report.facts["older_heads"] == 2
    assert errors(verified(log, fork)) == [Code.SPLIT_VIEW]


@pytest.mark.parametrize(
    ("change", "code"), [(revoked_and_replaced, Code.KEY_REVOKED), (replaced, Code.NOTE_SIGNATURE)]
)
def test_a_kept_head_by_the_old_key_behind_the_change_is_refused(
    change: Change, code: Code
) -> None:
    log = ForgedLog()
    change(log)
    log.event()
    assert errors(verified(log, sign_head(log.leaves, log.origin, key(OLD)))) == [code]


def test_a_kept_head_that_is_larger_than_the_log_and_by_no_known_key_proves_nothing() -> None:
    log = ForgedLog()
    longer = sign_head([bytes(32)] * 9, log.origin, key(OLD))
    replaced(log)
    assert errors(verified(log, longer)) == [Code.NOTE_SIGNATURE]


@CHANGES
def test_a_stamped_head_of_before_the_change_stays_good(change: Change) -> None:
    log = ForgedLog()
    log.event()
    head = log.note()
    add_stamp(log, head)
    change(log)
    add_stamp(log, head)
    assert verified(log).findings == []


def test_a_stamped_head_by_a_revoked_key_has_its_own_verdict() -> None:
    log = ForgedLog()
    revoked_and_replaced(log)
    add_stamp(log, sign_head(log.leaves, log.origin, key(OLD)))
    assert errors(verified(log)) == [Code.KEY_REVOKED]


@CHANGES
def test_a_receipt_outlives_the_key_that_signed_it(change: Change) -> None:
    table, number = long_story(), 1
    receipt = seal_receipt(make_receipt(table, number))
    change(table.log)
    evidence = make_evidence(table, number)
    report = verify_evidence(seal_evidence(evidence), table.log.trust(), receipt)
    assert report.findings == []


def test_a_receipt_needs_no_cosignatures() -> None:
    """Answers leave at once, and cosignatures come later."""
    table, number = long_story(), 1
    evidence = make_evidence(table, number)
    evidence.checkpoint = cosigned(evidence.checkpoint, 1_767_225_700)
    plain = table.log.trust()
    trust = Trust(plain.origin, plain.root_key, plain.checkpoint_keys, (WITNESS,), 1)
    receipt = seal_receipt(make_receipt(table, number))
    assert verify_evidence(seal_evidence(evidence), trust, receipt).findings == []
