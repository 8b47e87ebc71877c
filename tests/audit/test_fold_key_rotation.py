"""Checkpoint, sealing and statement keys change and are revoked as the root key says, at their leaf."""

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogReport, verify_log
from tests.audit.forge.log import ForgedLog, key, key_change, nth, public, sign_head
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.rotation import (
    CHECKPOINT,
    Change,
    change_of,
    trust_in,
)

OLD, NEW, THIRD = 3, 8, 7  # checkpoint keys by number
BOTH = (OLD, NEW, THIRD)


def headed(log: ForgedLog, number: int, trusted: tuple[int, ...] = BOTH) -> LogReport:
    """Verifies a log whose head one of the test keys signed."""
    files = publish(log) | {"checkpoint": sign_head(log.leaves, log.origin, key(number))}
    source = MemorySource(files)
    return verify_log(source, trust_in(log, trusted), log.time_us, lambda *_: None)


def rotated() -> ForgedLog:
    """Returns a log whose last leaf changed the checkpoint key."""
    log = ForgedLog()
    log.event()
    log.change_key(NEW, CHECKPOINT)
    return log


def test_a_head_from_the_change_on_is_signed_by_the_new_checkpoint_key() -> None:
    log = rotated()
    assert headed(log, NEW).findings == []
    log.event()
    assert headed(log, NEW).findings == []


def test_a_head_before_the_change_is_signed_by_the_old_checkpoint_key() -> None:
    log = ForgedLog()
    log.event()
    assert headed(log, OLD).findings == []
    assert errors(headed(log, NEW)) == [Code.NOTE_SIGNATURE]


@pytest.mark.parametrize("more", [0, 1, 5])
def test_a_head_by_the_old_checkpoint_key_after_the_change_is_refused(more: int) -> None:
    log = rotated()
    for _ in range(more):
        log.event()
    assert errors(headed(log, OLD)) == [Code.NOTE_SIGNATURE]
    assert errors(headed(log, THIRD)) == [Code.NOTE_SIGNATURE]


def test_a_reader_who_does_not_know_the_new_checkpoint_key_refuses_its_heads() -> None:
    assert errors(headed(rotated(), NEW, (OLD,))) == [Code.NOTE_SIGNATURE]


def test_two_changes_leave_the_last_checkpoint_key_in_force() -> None:
    log = rotated()
    log.change_key(THIRD, CHECKPOINT)
    assert headed(log, THIRD).findings == []
    assert errors(headed(log, NEW)) == [Code.NOTE_SIGNATURE]


def test_a_head_with_both_keys_lines_is_taken_around_a_change() -> None:
    log = rotated()
    files = publish(log)
    old_line = sign_head(log.leaves, log.origin, key(OLD)).split(b"\n\n")[1]
    files["checkpoint"] += old_line
    trust = trust_in(log, BOTH)
    report = verify_log(MemorySource(files), trust, log.time_us, lambda *_: None)
    assert report.findings == []


def install_itself(record: pb.KeyChanged) -> None:
    """A stolen statement key signs for the root key."""
    record.root_signature = key(2).sign(key_change(record))


FORGED: dict[str, Change] = {
    "by the statement key itself": install_itself,
    "by the new key itself": lambda r: setattr(r, "root_signature", key(NEW).sign(key_change(r))),
    "by the old key": lambda r: setattr(r, "root_signature", key(OLD).sign(key_change(r))),
    "by nobody": lambda r: r.ClearField("root_signature"),
    "for another log": lambda r: setattr(
        r,
        "root_signature",
        key(1).sign(key_change(r).replace(b"log.example", b"LOG.example")),
    ),
    "without possession": lambda r: r.ClearField("possession_signature"),
    "with the old key's possession": lambda r: setattr(
        r, "possession_signature", key(OLD).sign(key_change(r))
    ),
    "of another purpose": lambda r: setattr(r, "purpose", pb.KEY_PURPOSE_STATEMENT),
    "to another key": lambda r: setattr(r, "new_key", public(key(THIRD))),
    "from another key": lambda r: setattr(r, "old_key", public(key(THIRD))),
    "at another leaf": lambda r: setattr(r, "first_leaf", r.first_leaf + 1),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED.keys())
def test_a_forged_change_of_the_checkpoint_key_is_refused_and_changes_nothing(
    change: Change,
) -> None:
    log = ForgedLog(nth(pb.KeyChanged, 1, change))
    log.change_key(NEW, CHECKPOINT)
    assert errors(headed(log, OLD)) == [Code.KEY_CHANGE]
    assert sorted(errors(headed(log, NEW))) == [Code.KEY_CHANGE, Code.NOTE_SIGNATURE]


OUT_OF_PLACE: dict[str, Change] = {
    "at its own leaf": lambda r: setattr(r, "first_leaf", 1),
    "later than the next leaf": lambda r: setattr(r, "first_leaf", 3),
    "at no leaf": lambda r: r.ClearField("first_leaf"),
    "from a key that is not in force": lambda r: setattr(r, "old_key", public(key(THIRD))),
    "from no key": lambda r: r.ClearField("old_key"),
    "from the statement key": lambda r: setattr(r, "old_key", public(key(2))),
}


@pytest.mark.parametrize("change", OUT_OF_PLACE.values(), ids=OUT_OF_PLACE.keys())
def test_an_authorised_change_that_is_out_of_place_is_refused(change: Change) -> None:
    log = ForgedLog()
    log.append(change_of(log, CHECKPOINT, public(key(OLD)), key(NEW), change))
    assert errors(headed(log, OLD)) == [Code.KEY_CHANGE]


def test_a_change_is_not_replayed_at_a_later_leaf() -> None:
    log = rotated()
    log.change_key(THIRD, CHECKPOINT)
    log.add(log.entries[2], log.records[2])
    assert errors(headed(log, THIRD)) == [Code.KEY_CHANGE]


@pytest.mark.parametrize("number", [1, 2, OLD])
def test_a_checkpoint_key_is_distinct_from_every_key_in_force(number: int) -> None:
    log = ForgedLog()
    log.append(change_of(log, CHECKPOINT, public(key(OLD)), key(number)))
    assert errors(headed(log, OLD)) == [Code.KEY_CHANGE]
