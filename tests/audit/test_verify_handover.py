"""A successor takes over exactly where its predecessor ended, and gives back what was open there."""

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.report import Finding
from tests.audit.forge.log import ForgedLog, key, nth, public
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.shoe import scripted_seed
from tests.audit.forge.stories import SHORT, long_story, table_of
from tests.audit.forge.successor import (
    NEXT,
    RECOVERY,
    ROTATION,
    Change,
    close_for,
    hand_over,
    reveal_shoe,
    successor_of,
    unchanged,
)
from tests.audit.forge.table import ForgedTable, wager


def codes(findings: list[Finding], severity: str = "error") -> list[Code]:
    """Returns the codes of one severity."""
    return [finding.code for finding in findings if finding.severity == severity]


def closed_log() -> ForgedLog:
    """Returns a log that ended and names its successor."""
    log = long_story().log
    close_for(log)
    return log


def test_a_closed_log_hands_over_to_the_successor_that_it_names() -> None:
    old = closed_log()
    new = successor_of(old, ROTATION)
    new.event()
    assert hand_over(old, new) == []


def test_a_successor_deals_on_after_the_hand_over() -> None:
    old = closed_log()
    new = successor_of(old, ROTATION)
    table = table_of(SHORT, new)
    table.open()
    table.deal(wager("a", "player", 100))
    assert hand_over(old, new) == []


NAMED: dict[str, Change] = {
    "another root": lambda p: setattr(p, "root", bytes(32)),
    "another origin": lambda p: setattr(p, "origin", "log.example/other"),
    "a size before the end": lambda p: setattr(p, "size", p.size - 1),
    "a size beyond the end": lambda p: setattr(p, "size", p.size + 1),
    "the empty log": lambda p: setattr(p, "size", 0),
}


@pytest.mark.parametrize("change", NAMED.values(), ids=NAMED.keys())
@pytest.mark.parametrize("reason", [ROTATION, RECOVERY])
def test_a_successor_of_another_head_is_refused(change: Change, reason: str) -> None:
    old = closed_log()
    assert codes(hand_over(old, successor_of(old, reason, change))) == [Code.PREDECESSOR]


def test_a_rotation_needs_a_predecessor_that_was_closed() -> None:
    old = long_story().log
    assert codes(hand_over(old, successor_of(old, ROTATION))) == [Code.PREDECESSOR]


def test_a_head_before_the_log_was_closed_is_no_rotations() -> None:
    old = long_story().log
    new = successor_of(old, ROTATION)
    close_for(old)
    assert codes(hand_over(old, new)) == [Code.PREDECESSOR]


@pytest.mark.parametrize(
    ("origin", "root_key"),
    [("log.example/other", None), (NEXT, public(key(1))), (NEXT, b""), ("", b"")],
)
def test_a_rotation_to_another_log_or_root_key_than_was_named_is_refused(
    origin: str, root_key: bytes | None
) -> None:
    old = long_story().log
    close_for(old, origin, root_key)
    assert codes(hand_over(old, successor_of(old, ROTATION))) == [Code.PREDECESSOR]


def test_a_log_without_a_predecessor_is_no_successor() -> None:
    assert codes(hand_over(closed_log(), ForgedLog())) == [Code.PREDECESSOR]


class Lost:
    """A log that was lost with shoes open: at 7 a round with wagers, at 8 between rounds; 9 is idle."""

    def __init__(self, tamper: Change = unchanged) -> None:
        self.log = ForgedLog(tamper)
        self.seven = table_of(SHORT, self.log, "7")
        self.eight = ForgedTable(self.log, "8", SHORT)
        self.nine = ForgedTable(self.log, "9", SHORT)
        for table in (self.seven, self.eight):
            table.open()
            table.deal(wager("x", "banker", 400))
        self.seven.open()
        self.seven.accept(wager("a", "player", 100), wager("b", "tie", 200))
        self.nine.open()
        self.nine.void()
        self.nine.retire()

    def recovered(self, change: Change = unchanged, predecessor: Change = unchanged) -> ForgedLog:
        """Returns the successor, in which the reveal of table 7 may be changed."""
        new = successor_of(self.log, RECOVERY, predecessor)
        reveal_shoe(new, self.seven, change)
        reveal_shoe(new, self.eight)
        return new


def test_a_recovered_log_reveals_every_open_shoe_and_returns_every_stake() -> None:
    lost = Lost()
    new = lost.recovered()
    table_of(SHORT, new).open()
    assert hand_over(lost.log, new) == []


def test_a_recovered_log_with_no_open_shoe_reveals_none() -> None:
    old = long_story().log
    new = successor_of(old, RECOVERY)
    new.event()
    assert hand_over(old, new) == []


def test_what_happened_behind_the_restored_head_is_no_part_of_the_hand_over() -> None:
    lost = Lost()
    new = lost.recovered()
    lost.seven.deal()
    assert hand_over(lost.log, new) == []


def drop_stake(record: pb.PredecessorShoeRevealed) -> None:
    """Keeps the second player's stake."""
    del record.returned[1]


def swap_stakes(record: pb.PredecessorShoeRevealed) -> None:
    """Gives each player the other's stake."""
    first, second = record.returned
    first.stake, second.stake = second.stake, first.stake


REVEALS: dict[str, Change] = {
    "another opening's hash": lambda r: setattr(r, "shoe_opening_hash", bytes(32)),
    "another sealing key in the opening": lambda r: setattr(r.opening, "sealing_key_id", "seal-2"),
    "another counter in the opening": lambda r: setattr(r.opening, "shoe_counter", 9),
    "fewer cards dealt": lambda r: setattr(r.closing, "cards_dealt", r.closing.cards_dealt - 1),
    "more cards dealt": lambda r: setattr(r.closing, "cards_dealt", r.closing.cards_dealt + 1),
    "a stake kept": drop_stake,
    "all stakes kept": lambda r: r.ClearField("returned"),
    "a stake cut": lambda r: setattr(r.returned[0], "stake", 99),
    "stakes swapped": swap_stakes,
    "a stake to another wager": lambda r: setattr(r.returned[0], "wager_id", "c"),
    "a stake twice": lambda r: r.returned.append(r.returned[0]),
    "another round": lambda r: setattr(r, "round_number", r.round_number - 1),
}


@pytest.mark.parametrize("change", REVEALS.values(), ids=REVEALS.keys())
def test_an_open_shoe_is_handed_over_as_it_was(change: Change) -> None:
    lost = Lost()
    assert codes(hand_over(lost.log, lost.recovered(change))) == [Code.PREDECESSOR]


def refused_alone(change: Change) -> list[Code]:
    """Returns what the successor alone shows to be wrong with a changed reveal."""
    return errors(check_log(Lost().recovered(change)))


ALONE: dict[str, tuple[Change, Code]] = {
    "another seed": (
        lambda r: setattr(r.closing, "seed", scripted_seed(77, 6)),
        Code.SEED_COMMITMENT,
    ),
    "a seed cut": (
        lambda r: setattr(r.closing, "seed", r.closing.seed[:-1]),
        Code.SEED_COMMITMENT,
    ),
    "another cards root": (lambda r: setattr(r.opening, "cards_root", bytes(32)), Code.CARDS_ROOT),
    "another shoe number": (lambda r: setattr(r.opening, "shoe_number", 2), Code.CARDS_ROOT),
    "another table": (lambda r: setattr(r, "table", "8"), Code.CARDS_ROOT),
    "a table that is none": (lambda r: setattr(r, "table", "A b"), Code.RECORD_LIMITS),
    "a short opening hash": (
        lambda r: setattr(r, "shoe_opening_hash", bytes(31)),
        Code.PREDECESSOR,
    ),
    "cards of no deck": (lambda r: setattr(r.opening, "cards", 311), Code.PREDECESSOR),
    "cards of nine decks": (lambda r: setattr(r.opening, "cards", 468), Code.PREDECESSOR),
    "no cards": (lambda r: setattr(r.opening, "cards", 0), Code.PREDECESSOR),
    "another reach": (lambda r: setattr(r.opening, "reach", 7), Code.PREDECESSOR),
    "more cards dealt than there are": (
        lambda r: setattr(r.closing, "cards_dealt", 313),
        Code.PREDECESSOR,
    ),
    "stakes of no round": (lambda r: setattr(r, "round_number", 0), Code.PREDECESSOR),
    "no seed": (lambda r: r.closing.ClearField("seed"), Code.SHOE_STATE),
    "a seed that is said to be lost": (
        lambda r: setattr(r, "seed_unavailable", True),
        Code.SHOE_STATE,
    ),
}


@pytest.mark.parametrize(("change", "code"), ALONE.values(), ids=ALONE.keys())
def test_a_reveal_that_cannot_be_is_refused_without_the_predecessor(
    change: Change, code: Code
) -> None:
    assert refused_alone(change) == [code]


def test_a_shoe_left_unrevealed_is_refused() -> None:
    lost = Lost()
    new = successor_of(lost.log, RECOVERY)
    reveal_shoe(new, lost.seven)
    assert codes(hand_over(lost.log, new)) == [Code.PREDECESSOR]


def test_a_shoe_revealed_twice_is_refused() -> None:
    lost = Lost()
    new = lost.recovered()
    reveal_shoe(new, lost.eight)
    assert codes(hand_over(lost.log, new)) == [Code.PREDECESSOR]


def test_a_reveal_of_a_shoe_that_was_closed_is_refused() -> None:
    lost = Lost()
    new = successor_of(lost.log, RECOVERY)
    for table in (lost.seven, lost.eight):
        reveal_shoe(new, table)
    lost.nine.open()
    reveal_shoe(new, lost.nine)
    assert codes(hand_over(lost.log, new)) == [Code.PREDECESSOR]


def other_suit(record: pb.RoundDealt) -> None:
    """Deals another suit than the shoe held: the totals stay."""
    record.cards[0].card = (record.cards[0].card + 13) % 52


def test_a_card_that_the_predecessor_dealt_otherwise_comes_out() -> None:
    lost = Lost(nth(pb.RoundDealt, 1, other_suit))
    assert errors(check_log(lost.log)) == []
    assert codes(hand_over(lost.log, lost.recovered())) == [Code.CARD_MISMATCH]


def lose_seed(record: pb.PredecessorShoeRevealed) -> None:
    """Admits that the seed is lost."""
    record.seed_unavailable = True
    record.closing.ClearField("seed")


def test_a_lost_seed_is_a_notice_and_the_stakes_still_go_back() -> None:
    lost = Lost()
    found = hand_over(lost.log, lost.recovered(lose_seed))
    assert [(f.code, f.severity) for f in found] == [(Code.SEED_UNAVAILABLE, "notice")]
    kept = lost.recovered(lambda record: (lose_seed(record), drop_stake(record)))
    assert codes(hand_over(lost.log, kept)) == [Code.PREDECESSOR]
