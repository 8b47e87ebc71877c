"""A revoked key signs nothing more and never comes back; the root key alone can take it out."""

import pytest

from sealedshoe_audit.errors import Code
from tests.audit.forge.log import ForgedLog, key, key_change, public
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.rotation import (
    CHECKPOINT,
    STATEMENT,
    append_by,
    change_of,
    replace_revoked,
    revoke,
)
from tests.audit.test_fold_key_rotation import NEW, OLD, headed, rotated


def test_a_revoked_checkpoint_key_signs_no_head() -> None:
    log = ForgedLog()
    revoke(log, CHECKPOINT)
    assert errors(headed(log, OLD)) == [Code.KEY_REVOKED]
    assert errors(headed(log, NEW)) == [Code.NOTE_SIGNATURE]
    replace_revoked(log, CHECKPOINT, NEW)
    assert errors(headed(log, OLD)) == [Code.KEY_REVOKED]
    assert headed(log, NEW).findings == []


def test_a_revoked_checkpoint_key_never_comes_back() -> None:
    log = ForgedLog()
    revoke(log, CHECKPOINT)
    log.append(change_of(log, CHECKPOINT, b"", key(OLD)))
    assert sorted(errors(headed(log, OLD))) == [Code.KEY_CHANGE, Code.KEY_REVOKED]


def test_a_revoked_checkpoint_key_becomes_no_statement_key() -> None:
    log = ForgedLog()
    revoke(log, CHECKPOINT)
    log.append(change_of(log, STATEMENT, public(key(2)), key(OLD)))
    replace_revoked(log, CHECKPOINT, NEW)
    assert errors(headed(log, NEW)) == [Code.KEY_CHANGE]


def test_a_key_that_served_another_purpose_before_is_refused() -> None:
    log = rotated()
    log.append(change_of(log, STATEMENT, public(key(2)), key(OLD)))
    assert errors(headed(log, NEW)) == [Code.KEY_CHANGE]


@pytest.mark.parametrize("purpose", [STATEMENT, CHECKPOINT])
def test_a_key_that_is_out_already_is_not_revoked_again(purpose: int) -> None:
    log = ForgedLog()
    revoke(log, purpose, by_root=True)
    append_by(log, change_of(log, purpose, b"", b""), log.root)
    found = errors(check_log(log))
    assert Code.KEY_CHANGE in found


def test_the_root_key_alone_revokes_a_stolen_statement_key_and_installs_another() -> None:
    log = ForgedLog()
    revoke(log, STATEMENT, by_root=True)
    assert check_log(log).findings == []
    replace_revoked(log, STATEMENT, 9, by_root=True)
    log.event()
    assert check_log(log).findings == []


def test_the_root_key_alone_revokes_a_checkpoint_key() -> None:
    log = ForgedLog()
    revoke(log, CHECKPOINT, by_root=True)
    replace_revoked(log, CHECKPOINT, NEW)
    assert headed(log, NEW).findings == []


def test_the_root_key_replaces_no_key_that_is_in_force() -> None:
    log = ForgedLog()
    append_by(log, change_of(log, STATEMENT, public(log.statement), key(9)), log.root)
    append_by(log, change_of(log, CHECKPOINT, public(key(OLD)), key(NEW)), log.root)
    assert errors(headed(log, OLD)) == [Code.RECORD_KEY, Code.RECORD_KEY]


def test_the_root_key_signs_no_other_record() -> None:
    log = ForgedLog()
    log.statement = log.root
    log.event()
    assert errors(check_log(log)) == [Code.RECORD_KEY]


def test_a_revocation_by_a_stranger_is_refused() -> None:
    log = ForgedLog()
    append_by(log, change_of(log, STATEMENT, public(log.statement), b""), key(77))
    assert errors(check_log(log)) == [Code.RECORD_KEY]


def test_a_stolen_statement_key_revokes_nothing_without_the_root_key() -> None:
    log = ForgedLog()
    record = change_of(log, CHECKPOINT, public(key(OLD)), b"")
    record.root_signature = log.statement.sign(key_change(record))
    log.append(record)
    assert errors(headed(log, OLD)) == [Code.KEY_CHANGE]


def test_a_revoked_statement_key_signs_nothing_more_and_installs_no_successor() -> None:
    log = ForgedLog()
    stolen = log.statement
    revoke(log, STATEMENT)
    log.event()
    append_by(log, change_of(log, STATEMENT, b"", key(9)), stolen)
    assert errors(check_log(log)) == [Code.KEY_REVOKED, Code.KEY_REVOKED]


def test_a_revoked_statement_key_signs_nothing_after_its_successor_is_in_force() -> None:
    log = ForgedLog()
    stolen = log.statement
    revoke(log, STATEMENT, by_root=True)
    replace_revoked(log, STATEMENT, 9, by_root=True)
    log.statement = stolen
    log.event()
    assert errors(check_log(log)) == [Code.KEY_REVOKED]


def test_a_revoked_statement_key_never_comes_back() -> None:
    log = ForgedLog()
    revoke(log, STATEMENT, by_root=True)
    append_by(log, change_of(log, STATEMENT, b"", key(2)), log.root)
    assert errors(check_log(log)) == [Code.KEY_CHANGE]
