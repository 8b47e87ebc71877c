"""Going on from a position finds what a verification from the first leaf finds, and refuses a damaged one."""

import io
from functools import cache

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from tests.audit.forge.log import ForgedLog, nth
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.stories import SHORT, every_kind, play_shoe, table_of
from tests.audit.forge.successor import RECOVERY, reveal_shoe, successor_of
from tests.audit.forge.table import ForgedTable, wager


def published(log: ForgedLog, size: int) -> MemorySource:
    """Returns the log's files as they stood at a size."""
    older = ForgedLog(origin=log.origin)
    older.checkpoint_key = log.checkpoint_key
    older.entries = log.entries[:size]
    return MemorySource(publish(older))


def verified(
    log: ForgedLog,
    size: int | None = None,
    position: bytes = b"",
    seeds: io.BytesIO | None = None,
    heads: tuple[bytes, ...] = (),
) -> LogReport:
    """Verifies the log as it stood at a size, from a position on."""
    source = published(log, len(log.entries) if size is None else size)
    options = LogOptions(position=position, seeds=seeds, heads=heads)
    return verify_log(source, log.trust(), log.time_us, lambda *_: None, options)


@cache
def story() -> ForgedLog:
    """Returns a log with a record of every kind, tables in every state, and a second tile."""
    log = ForgedLog()
    table = table_of(SHORT, log, "7")
    other = ForgedTable(log, "8", SHORT)
    table.open()
    table.accept(wager("a", "player", 1000))
    other.open()
    table.deal(wager("b", "banker", 400))
    log.event()
    other.void()
    play_shoe(table)
    log.change_key(9)
    other.open()
    other.accept(wager("c", "tie", 200))
    other.change(pb.TABLE_STATE_SUSPENDED)
    log.change_key(2, pb.KEY_PURPOSE_SEALING, b"seal-1")
    other.void()
    other.retire()
    other.change(pb.TABLE_STATE_DRAINING)
    other.change(pb.TABLE_STATE_CLOSED)
    while len(log.entries) < 254:
        log.event()
    log.close()
    return log


@cache
def positions() -> dict[int, tuple[bytes, bytes]]:
    """Returns position and seed register at every size of the story's first 40 leaves and its end."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for size in [*range(1, 40), len(story().entries) - 1]:
        seeds = io.BytesIO()
        report = verified(story(), size, seeds=seeds)
        assert report.findings == []
        found[size] = report.position, seeds.getvalue()
    return found


def test_the_story_is_a_valid_log() -> None:
    assert verified(story()).findings == []
    assert len(positions()) == 40


@pytest.mark.parametrize("size", range(1, 40))
def test_going_on_from_any_leaf_ends_where_a_whole_verification_ends(size: int) -> None:
    log = story()
    position, register = positions()[size]
    seeds, whole_seeds = io.BytesIO(register), io.BytesIO()
    found = verified(log, position=position, seeds=seeds)
    whole = verified(log, seeds=whole_seeds)
    assert found.findings == []
    assert (found.position, seeds.getvalue()) == (whole.position, whole_seeds.getvalue())
    assert found.facts["from"] == size
    assert found.records == len(log.entries) - size
    for same in ("root", "tables", "unclosed_shoes", "unfinished_rounds", "closed"):
        assert found.facts[same] == whole.facts[same]


def test_leaf_by_leaf_is_the_same_as_at_once() -> None:
    log, position, seeds = every_kind(), b"", io.BytesIO()
    for size in range(1, len(log.entries) + 1):
        report = verified(log, size, position, seeds)
        assert report.findings == []
        assert report.records == 1
        position = report.position
    whole_seeds = io.BytesIO()
    assert position == verified(log, seeds=whole_seeds).position
    assert seeds.getvalue() == whole_seeds.getvalue()


def test_a_log_that_has_not_grown_gives_the_same_position_again() -> None:
    position, register = positions()[30]
    again = verified(story(), 30, position, io.BytesIO(register))
    assert (again.findings, again.records, again.position) == ([], 0, position)


def test_a_position_goes_over_a_full_tile() -> None:
    log = ForgedLog()
    while len(log.entries) < 300:
        log.event()
    for size in (255, 256, 257, 299):
        assert verified(log, position=verified(log, size).position).findings == []


def test_a_successors_inheritance_is_part_of_its_position() -> None:
    old = table_of(SHORT)
    old.open()
    new = successor_of(old.log, RECOVERY)
    start = verified(new).position
    reveal_shoe(new, old)
    middle = verified(new, position=start)
    new.event()
    reveal_shoe(new, old)
    assert middle.findings == []
    assert errors(verified(new, position=middle.position)) == [Code.RECORD_ORDER]
    assert errors(verified(new, position=start)) == [Code.RECORD_ORDER]


TAMPERS = {
    "a total": nth(pb.RoundDealt, 2, lambda r: setattr(r, "player_total", r.player_total ^ 1)),
    "a payout": nth(
        pb.RoundDealt, 1, lambda r: setattr(r.settlements[0], "gross_return", 1_000_000)
    ),
    "a chain": nth(pb.RoundOpened, 2, lambda r: setattr(r.link, "previous_hash", bytes(32))),
    "a card": nth(
        pb.RoundDealt, 2, lambda r: setattr(r.cards[0], "card", (r.cards[0].card + 13) % 52)
    ),
    "a seed": nth(
        pb.ShoeRetired, 1, lambda r: setattr(r.closing, "seed", bytes(len(r.closing.seed)))
    ),
    "a head": nth(pb.RoundOpened, 3, lambda r: setattr(r, "head_root", bytes(32))),
    "a counted shoe": nth(pb.RoundOpened, 1, lambda r: setattr(r.shoe, "cards_root", bytes(32))),
}


@pytest.mark.parametrize("name", TAMPERS)
def test_a_lie_behind_a_position_is_found_as_from_the_first_leaf(name: str) -> None:
    log = every_kind(TAMPERS[name])
    whole = verified(log)
    assert not whole.valid
    assert whole.position == b""
    position, seeds, size = b"", io.BytesIO(), 0
    for size in range(1, len(log.entries) + 1):
        report = verified(log, size, position, seeds)
        if not report.valid:
            break
        position = report.position
    found = verified(log, position=position, seeds=seeds)
    assert found.findings[0] == whole.findings[0]
    assert found.position == b""
