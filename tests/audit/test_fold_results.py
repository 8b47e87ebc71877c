"""A signed result that the committed cards and the rules do not make is refused."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.evidence import result_index
from tests.audit.forge.log import nth
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import SHORT, keep_playing, long_story, table_of
from tests.audit.forge.table import wager

Change = Callable[[pb.RoundDealt], object]


def refusal(change: Change, result: int = 1) -> list[Code]:
    """Returns the findings on a log whose n-th result was changed before it was signed."""
    return errors(check_log(long_story(nth(pb.RoundDealt, result, change)).log))


def add_card(dealt: pb.RoundDealt) -> None:
    """Deals one more card to Player than the rules draw."""
    dealt.cards.add(position=len(dealt.cards), card=0, salt=bytes(16), hand=pb.HAND_PLAYER)


def swap_cards(dealt: pb.RoundDealt) -> None:
    """Exchanges the cards, not the positions, of Player and Banker."""
    codes = [card.card for card in dealt.cards]
    for card, code in zip(dealt.cards, (codes[1], codes[0], codes[3], codes[2]), strict=True):
        card.card = code


def shift_positions(dealt: pb.RoundDealt) -> None:
    """Leaves a gap in front of the round."""
    for card in dealt.cards:
        card.position += 1


def test_an_honest_log_is_valid() -> None:
    report = check_log(long_story().log)
    assert report.valid
    assert not report.findings
    assert report.records == 25


WRONG_DEALS: dict[str, Change] = {
    "player total": lambda r: setattr(r, "player_total", r.player_total + 1),
    "banker total": lambda r: setattr(r, "banker_total", r.banker_total + 1),
    "natural": lambda r: setattr(r, "natural", not r.natural),
    "outcome": lambda r: setattr(r, "outcome", pb.OUTCOME_PLAYER),
    "outcome tie": lambda r: setattr(r, "outcome", pb.OUTCOME_TIE),
    "outcome unknown": lambda r: setattr(r, "outcome", 9),
    "hand": lambda r: setattr(r.cards[4], "hand", pb.HAND_BANKER),
    "hand unspecified": lambda r: r.cards[0].ClearField("hand"),
    "card of another value": lambda r: setattr(r.cards[0], "card", 8),
    "card code 52": lambda r: setattr(r.cards[0], "card", 52),
    "card code 2^32-1": lambda r: setattr(r.cards[0], "card", 2**32 - 1),
    "salt too short": lambda r: setattr(r.cards[0], "salt", bytes(15)),
    "salt too long": lambda r: setattr(r.cards[0], "salt", bytes(17)),
    "position gap": shift_positions,
    "position twice": lambda r: setattr(r.cards[1], "position", 0),
    "one card too many": add_card,
    "one card too few": lambda r: r.cards.pop(),
    "three cards": lambda r: [r.cards.pop() for _ in range(3)],
    "no cards": lambda r: r.ClearField("cards"),
}


@pytest.mark.parametrize("change", WRONG_DEALS.values(), ids=WRONG_DEALS.keys())
def test_a_deal_against_the_rules_is_refused(change: Change) -> None:
    assert refusal(change) == [Code.DEAL]


def test_player_and_banker_are_not_exchanged() -> None:
    assert refusal(swap_cards, 2) == [Code.DEAL]


def other_suit(dealt: pb.RoundDealt) -> None:
    """Replaces the first card by one of the same rank: the same result."""
    dealt.cards[0].card = (dealt.cards[0].card + 13) % 52


def other_salt(dealt: pb.RoundDealt) -> None:
    """Opens the first card with another salt."""
    dealt.cards[0].salt = bytes(16)


@pytest.mark.parametrize("change", [other_suit, other_salt])
def test_a_card_that_is_not_of_the_revealed_shoe_is_found_at_the_reveal(change: Change) -> None:
    table = long_story(nth(pb.RoundDealt, 1, change))
    report = check_log(table.log)
    assert errors(report) == [Code.CARD_MISMATCH]
    reveal = result_index(table, 5)  # the shoe's last round
    assert report.findings[0].record == f"leaf {reveal} of tables/7"


LINK: dict[str, tuple[Change, Code]] = {
    "round number before": (lambda r: setattr(r, "round_number", 2), Code.ROUND_NUMBER),
    "round number after": (lambda r: setattr(r, "round_number", 4), Code.ROUND_NUMBER),
    "opening of another round": (
        lambda r: setattr(r, "opening_hash", bytes(32)),
        Code.OPENING_MISMATCH,
    ),
    "no opening": (lambda r: r.ClearField("opening_hash"), Code.OPENING_MISMATCH),
    "sequence gap": (lambda r: setattr(r.link, "sequence", r.link.sequence + 1), Code.SEQUENCE_GAP),
    "sequence twice": (
        lambda r: setattr(r.link, "sequence", r.link.sequence - 1),
        Code.SEQUENCE_GAP,
    ),
    "another chain": (lambda r: setattr(r.link, "previous_hash", bytes(32)), Code.CHAIN),
    "no previous record": (lambda r: r.link.ClearField("previous_hash"), Code.CHAIN),
    "another table": (lambda r: setattr(r.link, "table", "8"), Code.RECORD_ORDER),
    "time goes back": (
        lambda r: setattr(r.header, "time_us", r.header.time_us - 1_000_001),
        Code.RECORD_TIME,
    ),
    "no time": (lambda r: r.header.ClearField("time_us"), Code.RECORD_TIME),
    "negative time": (lambda r: setattr(r.header, "time_us", -1), Code.RECORD_TIME),
}


@pytest.mark.parametrize(("change", "code"), LINK.values(), ids=LINK.keys())
def test_a_result_out_of_its_place_is_refused(change: Change, code: Code) -> None:
    found = refusal(change, 2)
    assert found[0] is code


def test_equal_times_are_no_step_back() -> None:
    def back_one_second(dealt: pb.RoundDealt) -> None:
        dealt.header.time_us -= 1_000_000

    assert refusal(back_one_second) == []


def test_a_result_without_an_open_round_is_refused() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.deal(wager("b", "player", 100))
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]


def test_a_second_result_of_a_voided_round_is_refused() -> None:
    table = table_of()
    table.open()
    table.void()
    table.deal(wager("b", "player", 100))
    assert errors(check_log(table.log)) == [Code.ROUND_STATE]


@pytest.mark.parametrize(("window_ms", "found"), [(1000, []), (1001, [Code.DEAL])])
def test_no_deal_before_the_betting_window_has_passed(window_ms: int, found: list[Code]) -> None:
    table = table_of(betting_window_ms=window_ms)
    table.open()
    table.deal(wager("a", "player", 100))  # one second after the opening
    assert errors(check_log(table.log)) == found


@pytest.mark.parametrize(("interval_ms", "found"), [(2000, []), (2001, [Code.DEAL])])
def test_no_deal_before_the_round_interval_has_passed(interval_ms: int, found: list[Code]) -> None:
    table = table_of(replace(SHORT, round_interval_ms=interval_ms))
    keep_playing(table)  # results two seconds apart
    assert errors(check_log(table.log)) == found


@pytest.mark.parametrize(
    ("allowed", "dealt", "found"), [(0, 1, [Code.WAGER]), (1, 1, []), (1, 2, [Code.WAGER])]
)
def test_rounds_without_wagers_are_counted(allowed: int, dealt: int, found: list[Code]) -> None:
    table = table_of(replace(SHORT, free_rounds=allowed))
    for _ in range(dealt):
        table.open()
        table.deal()
    assert errors(check_log(table.log)) == found
