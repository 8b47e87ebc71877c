"""Rounds of every kind, for evidence: each case is a table and the number of a round."""

from collections.abc import Callable
from functools import cache

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.stories import ONE_ROUND, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, wager

Case = tuple[ForgedTable, int]


def _first_round() -> Case:
    return long_story(), 1


def _voided_round() -> Case:
    return long_story(), 2


def _after_a_void() -> Case:
    return long_story(), 3


def _middle_of_a_shoe() -> Case:
    return long_story(), 4


def _last_of_a_shoe() -> Case:
    return long_story(), 5


def _first_of_the_second_shoe() -> Case:
    return long_story(), 6


def _voided_and_retired() -> Case:
    return long_story(), 7


def _open_shoe() -> Case:
    table = table_of()
    table.open()
    table.deal(wager("a", "banker", 400))
    table.open()
    table.accept(wager("a", "tie", 100))
    table.deal(wager("b", "banker", 400))
    return table, 2


def _after_a_retirement() -> Case:
    table = table_of()
    table.open()
    table.deal(wager("a", "banker", 400))
    table.open()
    table.void()
    table.retire()
    play_shoe(table)
    return table, 3


def _every_round() -> Case:
    table = table_of(ONE_ROUND)
    for _ in range(3):
        play_shoe(table)
    return table, 2


def _voided_one_round_shoe() -> Case:
    table = table_of(ONE_ROUND)
    play_shoe(table)
    table.open()
    table.accept(wager("a", "player", 100))
    table.void()
    table.retire(pb.RETIRE_CAUSE_ROUND_VOIDED)
    play_shoe(table)
    return table, 2


def _draining() -> Case:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.open()
    table.change(pb.TABLE_STATE_DRAINING)
    table.deal(wager("a", "player", 100))
    table.retire(pb.RETIRE_CAUSE_TABLE_CLOSED)
    table.change(pb.TABLE_STATE_CLOSED)
    return table, 2


def _resumed_from_draining() -> Case:
    table = table_of()
    table.open()
    table.change(pb.TABLE_STATE_DRAINING)
    table.deal(wager("a", "player", 100))
    table.change(pb.TABLE_STATE_ENABLED)
    table.open()
    table.deal(wager("a", "player", 100))
    return table, 2


def _after_a_rotation() -> Case:
    table = table_of()
    table.open()
    table.log.change_key(9)
    table.accept(wager("a", "player", 100))
    table.deal()
    return table, 1


CASES: dict[str, Callable[[], Case]] = {
    maker.__name__.strip("_"): cache(maker)
    for maker in (
        _first_round,
        _voided_round,
        _after_a_void,
        _middle_of_a_shoe,
        _last_of_a_shoe,
        _first_of_the_second_shoe,
        _voided_and_retired,
        _open_shoe,
        _after_a_retirement,
        _every_round,
        _voided_one_round_shoe,
        _draining,
        _resumed_from_draining,
        _after_a_rotation,
    )
}
