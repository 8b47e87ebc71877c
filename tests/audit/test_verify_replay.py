"""A replay shows the shoe and the deal of one round, and only out of a log that holds."""

from typing import Any

import pytest

from sealedshoe_audit.baccarat.cards import RANKS, SUITS
from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.replay import replay_round
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.evidence import result_index
from tests.audit.forge.log import ORIGIN, ForgedLog, nth
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.forge.shoe import PLAYER
from tests.audit.forge.stories import ONE_ROUND, SHORT, long_story, play_shoe, table_of
from tests.audit.forge.table import ForgedTable, install, wager


def replayed(table: ForgedTable, number: int, name: str | None = None) -> Report:
    """Replays a round of a forged log."""
    log = table.log
    round_name = name or f"tables/{table.name}/rounds/{number}"
    return replay_round(MemorySource(publish(log)), log.trust(), round_name, lambda *_: None)


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6])
def test_a_closed_shoe_replays_as_it_was_scripted(number: int) -> None:
    table = long_story()
    report, script = replayed(table, number), table.rounds[number]
    texts = [RANKS[card % 13] + SUITS[card // 13] for card in script.dealt.cards]
    hands = list(zip(texts, script.dealt.hands, strict=True))
    assert report.findings == []
    expected: dict[str, Any] = {
        "round": f"tables/7/rounds/{number}",
        "origin": ORIGIN,
        "table": "tables/7",
        "game": "short-6d version 1",
        "shoe_number": script.shoe_number,
        "decks": 6,
        "reach": 312,
        "first_position": script.first,
        "seed_commitment": script.shoe.commitment.hex(),
        "cards_root": script.shoe.root.hex(),
        "seed": script.shoe.seed.hex(),
        "order": list(script.shoe.order),
        "result_index": result_index(table, number),
        "player_cards": [text for text, hand in hands if hand == PLAYER],
        "banker_cards": [text for text, hand in hands if hand != PLAYER],
        "player_total": script.dealt.player_total,
        "banker_total": script.dealt.banker_total,
        "natural": script.dealt.natural,
        "outcome": ["player", "banker", "tie"][script.dealt.outcome - 1],
    }
    assert {key: report.facts[key] for key in expected} == expected


def test_a_shoe_of_one_round_reaches_six_cards() -> None:
    table = table_of(ONE_ROUND)
    play_shoe(table)
    facts = replayed(table, 1).facts
    assert (facts["reach"], facts["decks"], len(facts["order"])) == (6, 6, 312)


def test_an_open_shoe_shows_no_seed() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    report = replayed(table, 1)
    assert report.valid
    assert "seed" not in report.facts
    assert "order" not in report.facts
    assert any("is not revealed" in text for text in report.not_checked)


def test_a_later_shoe_of_the_table_is_not_shown_for_an_earlier_round() -> None:
    table = long_story()
    assert replayed(table, 4).facts["seed"] != replayed(table, 6).facts["seed"]


def test_a_voided_round_replays_without_cards() -> None:
    report = replayed(long_story(), 2)
    assert report.valid
    assert report.facts["outcome"] == "void"
    assert report.facts["player_cards"] == report.facts["banker_cards"] == []
    assert report.facts["settlements"] == []
    assert report.facts["first_position"] == 6


@pytest.mark.parametrize("name", ["tables/7/rounds/99", "tables/8/rounds/1", "7/1", "", "tables/7"])
def test_a_round_that_the_log_does_not_have_is_unknown(name: str) -> None:
    report = replayed(long_story(), 1, name or "tables/7/rounds/")
    assert errors(report) == [Code.ROUND_UNKNOWN]


def test_a_round_that_is_still_open_is_unknown() -> None:
    table = table_of()
    table.open()
    assert errors(replayed(table, 1)) == [Code.ROUND_UNKNOWN]


def test_a_fault_of_the_rounds_own_table_ends_the_replay() -> None:
    table = long_story(nth(pb.RoundDealt, 2, lambda r: setattr(r, "outcome", pb.OUTCOME_TIE)))
    report = replayed(table, 4)
    assert not report.valid
    assert errors(report)[0] is Code.DEAL


def test_a_fault_of_another_table_is_a_finding_and_the_replay_goes_on() -> None:
    log = ForgedLog(nth(pb.RoundDealt, 1, lambda r: setattr(r, "player_total", 77)))
    install(log, SHORT)
    bad, good = ForgedTable(log, "8", SHORT), ForgedTable(log, "7", SHORT)
    bad.open()
    bad.deal(wager("a", "player", 100))
    play_shoe(good)
    report = replayed(good, 1)
    assert errors(report) == [Code.DEAL]
    assert report.facts["seed"] == good.rounds[1].shoe.seed.hex()


def test_a_log_with_another_root_is_refused() -> None:
    table = long_story()
    other = ForgedLog()
    files = publish(table.log)
    table.log.entries[-1] = table.log.entries[-2]
    files["checkpoint"] = table.log.note()
    report = replay_round(MemorySource(files), other.trust(), "tables/7/rounds/1", lambda *_: None)
    assert errors(report) == [Code.ROOT_MISMATCH]


def test_an_admitted_loss_of_the_seed_is_reported() -> None:
    table = table_of()
    table.open()
    table.deal(wager("a", "player", 100))
    table.retire(pb.RETIRE_CAUSE_SEED_UNAVAILABLE, unavailable=True)
    report = replayed(table, 1)
    assert report.valid
    assert Code.SEED_UNAVAILABLE in [finding.code for finding in report.findings]
