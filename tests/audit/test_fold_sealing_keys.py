"""Shoes are sealed with the key that the log named last, and sealing keys follow one another."""

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.rotation import SEALING, Change, change_of, unchanged
from tests.audit.forge.stories import ONE_ROUND, table_of
from tests.audit.forge.table import wager
from tests.audit.test_fold_key_rotation import install_itself


def seal(log: ForgedLog, old: bytes, new: bytes, change: Change = unchanged) -> None:
    """Names another sealing key."""
    log.append(change_of(log, SEALING, old, new, change))


def sealed_with(log: ForgedLog) -> list[Code]:
    """Returns the findings on a log once a shoe, sealed with `seal-1`, is opened and dealt."""
    table = table_of(ONE_ROUND, log)
    table.open()
    table.deal(wager("a", "player", 100))
    return errors(check_log(log))


def test_a_shoe_is_sealed_with_the_key_that_was_named_last() -> None:
    log = ForgedLog()
    seal(log, b"seal-0", b"seal-1")
    assert sealed_with(log) == []


def test_a_shoe_that_is_sealed_with_a_key_out_of_force_is_refused() -> None:
    log = ForgedLog()
    seal(log, b"seal-1", b"seal-2")
    assert sealed_with(log)[0] is Code.SHOE_OPENING


def test_a_shoe_that_was_open_at_the_change_stays() -> None:
    log = ForgedLog()
    table = table_of(ONE_ROUND, log)
    table.open()
    seal(log, b"seal-1", b"seal-2")
    table.deal(wager("a", "player", 100))
    assert check_log(log).findings == []


def test_sealing_keys_follow_one_another() -> None:
    log = ForgedLog()
    seal(log, b"seal-1", b"seal-2")
    seal(log, b"seal-2", b"seal-1")
    assert sealed_with(log) == []


SEALINGS: dict[str, tuple[bytes, bytes]] = {
    "from another than in force": (b"seal-9", b"seal-3"),
    "from none": (b"", b"seal-3"),
    "to the same": (b"seal-2", b"seal-2"),
    "to none": (b"seal-2", b""),
    "to one that is too long": (b"seal-2", b"s" * 65),
    "to one that is no text": (b"seal-2", b"\xff\xfe"),
}


@pytest.mark.parametrize(("old", "new"), SEALINGS.values(), ids=SEALINGS.keys())
def test_a_change_of_the_sealing_key_that_does_not_follow_is_refused(
    old: bytes, new: bytes
) -> None:
    log = ForgedLog()
    seal(log, b"seal-1", b"seal-2")
    seal(log, old, new)
    assert errors(check_log(log)) == [Code.KEY_CHANGE]


def test_a_sealing_key_needs_the_root_key_and_the_next_leaf() -> None:
    log = ForgedLog(nth(pb.KeyChanged, 1, install_itself))
    seal(log, b"seal-1", b"seal-2")
    seal(log, b"seal-1", b"seal-2", lambda r: setattr(r, "first_leaf", 9))
    assert errors(check_log(log)) == [Code.KEY_CHANGE, Code.KEY_CHANGE]
