"""What a log says of its predecessor in its first records, and where it may say it."""

from collections.abc import Callable

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import SHORT, table_of
from tests.audit.forge.successor import (
    NEXT,
    RECOVERY,
    ROTATION,
    Change,
    hand_over,
    reveal_shoe,
    successor_of,
)
from tests.audit.test_verify_handover import Lost, closed_log, codes


def newest(more: int, root: bytes = bytes(32)) -> Change:
    """Returns a predecessor of which a witness knew a larger head."""

    def change(named: pb.Predecessor) -> None:
        named.newest_size = named.size + more
        named.newest_root = root

    return change


def test_records_that_were_lost_behind_the_restored_head_are_a_notice() -> None:
    lost = Lost()
    found = hand_over(lost.log, lost.recovered(predecessor=newest(3)))
    assert [(f.code, f.severity) for f in found] == [(Code.TAIL_LOST, "notice")]
    assert found[0].found == f"3 records behind leaf {len(lost.log.entries)} are not there"


def test_a_newest_head_that_is_the_restored_one_lost_nothing() -> None:
    lost = Lost()

    def same(named: pb.Predecessor) -> None:
        named.newest_size, named.newest_root = named.size, named.root

    assert hand_over(lost.log, lost.recovered(predecessor=same)) == []


def test_a_newest_head_of_the_restored_size_and_another_root_is_another_history() -> None:
    lost = Lost()
    assert codes(hand_over(lost.log, lost.recovered(predecessor=newest(0)))) != []


LIMITS: dict[str, Change] = {
    "no reason": lambda p: p.ClearField("reason"),
    "another reason": lambda p: setattr(p, "reason", "merger"),
    "no origin": lambda p: p.ClearField("origin"),
    "an origin that is none": lambda p: setattr(p, "origin", "a b"),
    "itself": lambda p: setattr(p, "origin", NEXT),
    "a short root": lambda p: setattr(p, "root", bytes(31)),
    "no root": lambda p: p.ClearField("root"),
    "a newest size before its own": newest(-1),
    "a newest root of no hash": newest(1, bytes(31)),
    "a newest size without a root": newest(1, b""),
    "a newest root without a size": lambda p: setattr(p, "newest_root", bytes(32)),
}


@pytest.mark.parametrize("change", LIMITS.values(), ids=LIMITS.keys())
def test_a_predecessor_that_cannot_be_is_refused_in_the_first_record(change: Change) -> None:
    found = errors(check_log(successor_of(Lost().log, RECOVERY, change)))
    assert found == [Code.RECORD_LIMITS]


def test_a_rotation_has_lost_nothing() -> None:
    found = errors(check_log(successor_of(closed_log(), ROTATION, newest(1))))
    assert found == [Code.RECORD_LIMITS]


def with_reveal(prepare: Callable[[Lost], ForgedLog]) -> list[Code]:
    """Returns what is wrong with a log to which table 7's reveal is added last."""
    lost = Lost()
    new = prepare(lost)
    reveal_shoe(new, lost.seven)
    return errors(check_log(new))


def after_an_event(lost: Lost) -> ForgedLog:
    """A recovered log that has begun to work."""
    new = successor_of(lost.log, RECOVERY)
    new.event()
    return new


def after_a_game(lost: Lost) -> ForgedLog:
    """A recovered log with a table that deals."""
    new = successor_of(lost.log, RECOVERY)
    table_of(SHORT, new).open()
    return new


PLACES: dict[str, Callable[[Lost], ForgedLog]] = {
    "a log without a predecessor": lambda _: ForgedLog(),
    "a rotated log": lambda lost: successor_of(lost.log, ROTATION),
    "after an event": after_an_event,
    "after the first table": after_a_game,
}


@pytest.mark.parametrize("prepare", PLACES.values(), ids=PLACES.keys())
def test_a_reveal_stands_nowhere_but_at_a_recovered_logs_start(
    prepare: Callable[[Lost], ForgedLog],
) -> None:
    assert with_reveal(prepare) == [Code.RECORD_ORDER]
    assert with_reveal(lambda lost: successor_of(lost.log, RECOVERY)) == []
