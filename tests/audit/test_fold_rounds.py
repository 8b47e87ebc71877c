"""A table's states, its openings, voids and their order: what a signed record may not do to them."""

from collections.abc import Callable
from typing import Any

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.heads import HEAD_WINDOW
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import ONE_ROUND, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, wager
from tests.audit.forge.tree import root_of

ENABLED, SUSPENDED = pb.TABLE_STATE_ENABLED, pb.TABLE_STATE_SUSPENDED
DRAINING, CLOSED = pb.TABLE_STATE_DRAINING, pb.TABLE_STATE_CLOSED


def refusal(kind: type, count: int, change: Callable[[Any], object]) -> list[Code]:
    """Returns the findings on the long story with one record changed before it was signed."""
    return errors(check_log(long_story(nth(kind, count, change)).log))


def act(table: ForgedTable, what: str) -> None:
    """Makes one record on a table whose round is open."""
    match what:
        case "accept":
            table.accept(wager("a", "player", 100))
        case "deal":
            table.deal(wager("a", "player", 100))
        case "void":
            table.void()
        case "open":
            table.void()
            table.open()


STATES = [
    (SUSPENDED, "accept", [Code.TABLE_STATE]),
    (SUSPENDED, "deal", [Code.TABLE_STATE]),
    (SUSPENDED, "void", []),
    (SUSPENDED, "open", [Code.TABLE_STATE]),
    (DRAINING, "accept", []),
    (DRAINING, "deal", []),
    (DRAINING, "void", []),
    (DRAINING, "open", [Code.TABLE_STATE]),
]


@pytest.mark.parametrize(("state", "what", "found"), STATES)
def test_a_table_does_only_what_its_state_allows(state: Any, what: str, found: list[Code]) -> None:
    table = table_of()
    table.open()
    table.change(state)
    act(table, what)
    assert errors(check_log(table.log)) == found


def ended(table: ForgedTable) -> None:
    """Closes a table that has had one shoe."""
    play_shoe(table)
    table.change(CLOSED)


@pytest.mark.parametrize("what", ["open", "accept", "deal", "void", "enable"])
def test_a_closed_table_does_not_go_on(what: str) -> None:
    table = table_of()
    ended(table)
    if what == "open":
        table.open()
    elif what == "enable":
        table.change(ENABLED)
    else:
        table.void() if what == "void" else act(table, what)
    codes = {"accept": Code.TABLE_STATE, "deal": Code.TABLE_STATE, "void": Code.ROUND_STATE}
    assert errors(check_log(table.log)) == [codes.get(what, Code.TABLE_STATE)]


ALLOWED = {
    (ENABLED, SUSPENDED),
    (ENABLED, DRAINING),
    (ENABLED, CLOSED),
    (SUSPENDED, ENABLED),
    (SUSPENDED, DRAINING),
    (SUSPENDED, CLOSED),
    (DRAINING, ENABLED),
    (DRAINING, SUSPENDED),
    (DRAINING, CLOSED),
}
ALL = (0, ENABLED, SUSPENDED, DRAINING, CLOSED, 7)


@pytest.mark.parametrize("before", [ENABLED, SUSPENDED, DRAINING, CLOSED])
@pytest.mark.parametrize("after", ALL)
def test_a_table_changes_its_state_only_as_listed(before: Any, after: Any) -> None:
    table = table_of()
    if before != ENABLED:
        table.change(before)
    table.change(after)
    found = [] if (before, after) in ALLOWED else [Code.TABLE_STATE]
    assert errors(check_log(table.log)) == found


def test_a_change_states_the_state_before_it() -> None:
    assert refusal(pb.TableChanged, 2, lambda r: setattr(r, "before", DRAINING)) == [
        Code.TABLE_STATE
    ]


@pytest.mark.parametrize("round_open", [False, True])
def test_a_table_does_not_close_over_an_open_shoe_or_round(round_open: bool) -> None:
    table = table_of()
    table.open()
    if not round_open:
        table.void()
    table.change(CLOSED)
    assert errors(check_log(table.log)) == [Code.TABLE_STATE]


def test_a_round_is_not_opened_while_one_is_open() -> None:
    table = table_of()
    table.open()
    table.open()
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]


Opened = Callable[[pb.RoundOpened], object]
# The second opening of the long story: the same shoe, nothing special.
OPENINGS: dict[str, tuple[Opened, Code]] = {
    "number again": (lambda r: setattr(r, "round_number", 1), Code.ROUND_NUMBER),
    "number skipped": (lambda r: setattr(r, "round_number", 3), Code.ROUND_NUMBER),
    "position gap": (lambda r: setattr(r, "first_position", 7), Code.SHOE_STATE),
    "position again": (lambda r: setattr(r, "first_position", 0), Code.SHOE_STATE),
    "another shoe": (lambda r: setattr(r, "shoe_opening_hash", bytes(32)), Code.SHOE_OPENING),
    "no shoe": (lambda r: r.ClearField("shoe_opening_hash"), Code.SHOE_OPENING),
    "another head": (lambda r: setattr(r, "head_root", bytes(32)), Code.HEAD_MISMATCH),
    "no head": (lambda r: r.ClearField("head_root"), Code.HEAD_MISMATCH),
    "root of another size": (lambda r: setattr(r, "head_size", 1), Code.HEAD_MISMATCH),
    "head to come": (lambda r: setattr(r, "head_size", r.head_size + 1), Code.HEAD_MISMATCH),
    "size 2^64-1": (lambda r: setattr(r, "head_size", 2**64 - 1), Code.HEAD_MISMATCH),
}


@pytest.mark.parametrize(("change", "code"), OPENINGS.values(), ids=OPENINGS.keys())
def test_an_opening_that_does_not_follow_is_refused(change: Opened, code: Code) -> None:
    assert refusal(pb.RoundOpened, 2, change) == [code]


def name_head(table: ForgedTable, size: int) -> None:
    """Opens a round that names the head of `size` leaves."""
    root = root_of(table.log.leaves[:size])
    table.log.tamper = nth(
        pb.RoundOpened, 1, lambda r: (setattr(r, "head_size", size), setattr(r, "head_root", root))
    )
    table.open()


def test_an_older_head_may_be_named() -> None:
    table = table_of()
    name_head(table, 1)
    assert errors(check_log(table.log)) == []


def test_a_head_beyond_the_window_is_stale() -> None:
    table = table_of()
    fold = LogFold(table.log.origin, table.log.trust().root_key)
    for entry in table.log.entries:
        fold.apply(entry)
    known = len(table.log.entries)
    name_head(table, known)
    for _ in range(HEAD_WINDOW):
        with pytest.raises(VerificationError):
            fold.apply(b"")
    with pytest.raises(VerificationError) as caught:
        fold.apply(table.log.entries[-1])
    assert caught.value.code is Code.HEAD_MISMATCH


Voided = Callable[[pb.RoundVoided], object]
VOIDS: dict[str, tuple[Voided, Code]] = {
    "another round": (lambda r: setattr(r, "round_number", 1), Code.ROUND_NUMBER),
    "another opening": (lambda r: setattr(r, "opening_hash", bytes(32)), Code.OPENING_MISMATCH),
    "no cause": (lambda r: r.ClearField("cause"), Code.VOID),
    "unlisted cause": (lambda r: setattr(r, "cause", 99), Code.VOID),
    "nobody": (lambda r: r.ClearField("by"), Code.RECORD_LIMITS),
    "stake kept": (lambda r: r.ClearField("returned"), Code.VOID),
    "less returned": (lambda r: setattr(r.returned[0], "stake", 580), Code.VOID),
    "another wager's": (lambda r: setattr(r.returned[0], "wager_id", "b"), Code.VOID),
    "returned twice": (lambda r: r.returned.append(r.returned[0]), Code.VOID),
    "reason of 513 bytes": (lambda r: setattr(r.by, "reason", "x" * 513), Code.RECORD_LIMITS),
    "actor of 65 bytes": (lambda r: setattr(r.by, "actor", "x" * 65), Code.RECORD_LIMITS),
}


@pytest.mark.parametrize(("change", "code"), VOIDS.values(), ids=VOIDS.keys())
def test_a_void_returns_every_stake_for_a_listed_cause(change: Voided, code: Code) -> None:
    assert refusal(pb.RoundVoided, 1, change) == [code]


def test_a_dealt_round_is_not_voided() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.void()
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]


def test_a_void_moves_no_card() -> None:
    table = table_of()
    table.open()
    table.void()
    table.position = 4
    table.open()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]


def test_a_one_round_shoe_does_not_serve_another_round_after_a_void() -> None:
    table = table_of(ONE_ROUND)
    table.open()
    table.void()
    table.open()
    assert errors(check_log(table.log)) == [Code.SHOE_STATE]
