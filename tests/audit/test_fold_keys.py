"""Statement keys change only as the root key says, and a key that is out signs nothing more."""

from collections.abc import Callable

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, key, key_change, nth, public, sign_payload
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import every_kind

NEW = 9
Change = Callable[[pb.KeyChanged], object]


def signed(change: Change, *, root: bool = True, new: bool = True) -> Change:
    """Returns a change after which root key and new key sign again."""

    def resigned(record: pb.KeyChanged) -> None:
        change(record)
        if root:
            record.root_signature = key(1).sign(key_change(record))
        if new:
            record.possession_signature = key(NEW).sign(key_change(record))

    return resigned


def rotated(change: Change) -> list[Code]:
    """Returns the findings on a log whose rotation was changed before the old key signed it."""
    log = ForgedLog(nth(pb.KeyChanged, 1, change))
    log.change_key(NEW)
    return errors(check_log(log))


def test_records_after_a_rotation_are_signed_by_the_new_key() -> None:
    log = ForgedLog()
    log.event()
    log.change_key(NEW)
    log.event()
    log.change_key(8)
    log.event()
    assert check_log(log).findings == []


def test_the_old_key_signs_nothing_after_a_rotation() -> None:
    log = ForgedLog()
    old = log.statement
    log.change_key(NEW)
    log.statement = old
    log.event()
    assert errors(check_log(log)) == [Code.RECORD_KEY]


def test_the_new_key_signs_nothing_before_its_rotation() -> None:
    log = ForgedLog()
    log.statement = key(NEW)
    log.change_key(NEW, old=public(key(2)))
    assert errors(check_log(log)) == [Code.RECORD_KEY]


def install_itself(record: pb.KeyChanged) -> None:
    """A stolen statement key that signs for the root key."""
    record.root_signature = key(2).sign(key_change(record))


CHANGES: dict[str, Change] = {
    "root signature by the statement key": install_itself,
    "root signature by the new key": lambda r: setattr(
        r, "root_signature", key(NEW).sign(key_change(r))
    ),
    "no root signature": lambda r: r.ClearField("root_signature"),
    "no possession": lambda r: r.ClearField("possession_signature"),
    "possession of the old key": lambda r: setattr(
        r, "possession_signature", key(2).sign(key_change(r))
    ),
    "first leaf is itself": signed(lambda r: setattr(r, "first_leaf", 1)),
    "first leaf is later": signed(lambda r: setattr(r, "first_leaf", 3)),
    "no first leaf": signed(lambda r: r.ClearField("first_leaf")),
    "another old key": signed(lambda r: setattr(r, "old_key", bytes(32))),
    "no old key": signed(lambda r: r.ClearField("old_key")),
    "signed for another purpose": lambda r: setattr(r, "purpose", pb.KEY_PURPOSE_CHECKPOINT),
    "no purpose": signed(lambda r: r.ClearField("purpose")),
    "unlisted purpose": signed(lambda r: setattr(r, "purpose", 4)),
    "new key too short": signed(lambda r: setattr(r, "new_key", bytes(31))),
    "revoked with a possession": signed(lambda r: r.ClearField("new_key")),
    "sealing key with a possession": signed(
        lambda r: setattr(r, "purpose", pb.KEY_PURPOSE_SEALING)
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_key_change_that_is_not_as_it_must_be_is_refused(change: Change) -> None:
    assert rotated(change) == [Code.KEY_CHANGE]


@pytest.mark.parametrize("purpose", [-1, 256, 2**31 - 1])
def test_a_purpose_beyond_a_byte_is_a_finding(purpose: int) -> None:
    assert rotated(lambda r: setattr(r, "purpose", purpose)) == [Code.KEY_CHANGE]


@pytest.mark.parametrize("number", [1, 3])
def test_a_statement_key_is_distinct_from_root_and_checkpoint_keys(number: int) -> None:
    log = ForgedLog()
    log.change_key(number)
    assert errors(check_log(log)) == [Code.KEY_CHANGE]


@pytest.mark.parametrize("purpose", [pb.KEY_PURPOSE_CHECKPOINT, pb.KEY_PURPOSE_SEALING])
def test_another_keys_change_leaves_the_statement_key_in_force(purpose: int) -> None:
    log = ForgedLog()
    log.change_key(NEW, purpose)
    log.event()
    assert check_log(log).findings == []


def test_nothing_is_signed_after_a_revocation() -> None:
    def revoke(record: pb.KeyChanged) -> None:
        record.ClearField("new_key")
        record.ClearField("possession_signature")
        record.root_signature = key(1).sign(key_change(record))

    log = ForgedLog(nth(pb.KeyChanged, 1, revoke))
    old = log.statement
    log.change_key(NEW)
    assert check_log(log).findings == []
    log.statement = old
    log.event()
    assert errors(check_log(log)) == [Code.KEY_REVOKED]


def started(change: Callable[[pb.LogStarted], object]) -> list[Code]:
    """Returns the findings on a log whose first record was changed before it was signed."""
    return errors(check_log(ForgedLog(nth(pb.LogStarted, 1, change))))


STARTS: dict[str, tuple[Callable[[pb.LogStarted], object], Code]] = {
    "another origin": (lambda r: setattr(r.header, "origin", "other"), Code.RECORD_ORIGIN),
    "another root key": (lambda r: setattr(r, "root_key", public(key(NEW))), Code.ROOT_KEY),
    "no root signature": (lambda r: r.ClearField("root_signature"), Code.ROOT_KEY),
    "other statement key": (lambda r: setattr(r, "statement_key", bytes(32)), Code.ROOT_KEY),
    "short statement key": (lambda r: setattr(r, "statement_key", bytes(31)), Code.ROOT_KEY),
    "other checkpoint key": (lambda r: setattr(r, "checkpoint_key", bytes(32)), Code.ROOT_KEY),
    "one key for both": (lambda r: setattr(r, "checkpoint_key", r.statement_key), Code.ROOT_KEY),
    "no manifest": (lambda r: r.ClearField("software_manifest"), Code.ROOT_KEY),
}


@pytest.mark.parametrize(("change", "code"), STARTS.values(), ids=STARTS.keys())
def test_a_log_starts_with_keys_that_the_root_key_authorised(
    change: Callable[[pb.LogStarted], object], code: Code
) -> None:
    assert started(change)[0] is code


def test_a_first_record_signed_by_another_statement_key_is_refused() -> None:
    log = every_kind()
    envelope = pb.Envelope.FromString(log.entries[0])
    forged = sign_payload(envelope.payload_type, envelope.payload, key(NEW))
    log.entries[0] = forged.SerializeToString()
    assert Code.RECORD_KEY in errors(check_log(log))
