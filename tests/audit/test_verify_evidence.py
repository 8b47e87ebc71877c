"""Evidence of every kind of round is valid, says what the cards were, and names what it cannot show."""

import pytest

from sealedshoe_audit.baccarat.cards import RANKS, SUITS
from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import make_evidence
from tests.audit.forge.log import key
from tests.audit.forge.shoe import PLAYER
from tests.audit.forge.table import ForgedTable

NOT_REVEALED = "seed, shuffle and composition of the shoe: it is not revealed in this file"
REPLAYED = "the revealed seed replays the whole shoe and every card dealt here"
BEFORE_THE_BET = "that the opening was public before the bet"
STILL_OPEN = {"open_shoe", "after_a_rotation", "resumed_from_draining"}
VOIDED = {"voided_round", "voided_and_retired", "voided_one_round_shoe"}


def verdict(table: ForgedTable, number: int) -> Report:
    """Verifies a round's honest evidence."""
    return verify_evidence(seal_evidence(make_evidence(table, number)), table.log.trust())


@pytest.mark.parametrize("name", CASES)
def test_honest_evidence_is_valid(name: str) -> None:
    table, number = CASES[name]()
    report = verdict(table, number)
    assert report.findings == []
    assert report.valid
    assert report.json()["verdict"] == "valid"
    assert report.facts["round"] == f"tables/7/rounds/{number}"


@pytest.mark.parametrize("name", sorted(set(CASES) - VOIDED))
def test_the_report_shows_the_cards_that_the_script_dealt(name: str) -> None:
    table, number = CASES[name]()
    facts, dealt = verdict(table, number).facts, table.rounds[number].dealt
    texts = [RANKS[card % 13] + SUITS[card // 13] for card in dealt.cards]
    hands = list(zip(texts, dealt.hands, strict=True))
    assert facts["player_cards"] == [text for text, hand in hands if hand == PLAYER]
    assert facts["banker_cards"] == [text for text, hand in hands if hand != PLAYER]
    assert facts["player_total"] == dealt.player_total
    assert facts["banker_total"] == dealt.banker_total
    assert facts["outcome"] == ["player", "banker", "tie"][dealt.outcome - 1]


@pytest.mark.parametrize("name", sorted(VOIDED))
def test_a_voided_round_shows_no_cards(name: str) -> None:
    facts = verdict(*CASES[name]()).facts
    assert facts["outcome"] == "void"
    assert "player_cards" not in facts


@pytest.mark.parametrize("name", CASES)
def test_the_shuffle_is_checked_when_the_shoe_is_closed_and_named_when_not(name: str) -> None:
    report = verdict(*CASES[name]())
    closed = name not in STILL_OPEN
    assert (REPLAYED in report.checked) is closed
    assert (NOT_REVEALED in report.not_checked) is not closed


def test_settlements_are_shown_in_minor_units() -> None:
    table, number = CASES["first_round"]()
    # Banker won 5 to 0: a on Player and b on Tie lost, c and d on Banker won less 5 %.
    assert [
        (s["wager_id"], s["result"], s["gross_return"], s["commission"], s["paid"])
        for s in verdict(table, number).facts["settlements"]
    ] == [
        ("a", "lose", 0, 0, 0),
        ("b", "lose", 0, 0, 0),
        ("c", "win", 4000, 100, 3900),
        ("d", "win", 800, 20, 780),
    ]


@pytest.mark.parametrize("name", CASES)
def test_what_no_file_can_show_is_always_named(name: str) -> None:
    texts = verdict(*CASES[name]()).not_checked
    starts = ["that no other result or void", "positions before the previous result", "the head"]
    for start in [*starts, BEFORE_THE_BET]:
        assert sum(text.startswith(start) for text in texts) == 1


def test_players_are_named_only_by_their_openings() -> None:
    table, number = CASES["first_round"]()
    evidence = make_evidence(table, number)
    del evidence.players[1:]
    report = verify_evidence(seal_evidence(evidence), table.log.trust())
    assert report.valid
    assert report.facts["players"] == {"a": "player of a"}


def test_the_reveal_may_be_left_out_but_that_is_said() -> None:
    for name in ("middle_of_a_shoe", "voided_and_retired", "draining"):
        table, number = CASES[name]()
        evidence = make_evidence(table, number)
        del evidence.records[-1]
        report = verify_evidence(seal_evidence(evidence), table.log.trust())
        assert report.valid
        assert NOT_REVEALED in report.not_checked
        assert REPLAYED not in report.checked


def test_evidence_proves_nothing_to_a_reader_who_trusts_another_root_key() -> None:
    table, number = CASES["first_round"]()
    table.log.root, kept = key(7), table.log.root
    other = table.log.trust()
    table.log.root = kept
    report = verify_evidence(seal_evidence(make_evidence(table, number)), other)
    assert [f.code for f in report.findings] == ["ROOT_KEY"]
    assert report.json()["verdict"] == "invalid"
