"""The HTML report's numbers, against values worked by hand."""

from dataclasses import replace
from typing import Any

import pytest

from sealedshoe_audit.html_report import render
from sealedshoe_audit.log.note import TYPE_COSIGNATURE, VerifierKey
from sealedshoe_audit.trust import Trust
from tests.audit.forge.log import ORIGIN, ForgedLog
from tests.audit.html_page import Element, example, fact, game, read_page, rows_of

WHEN_US = 1_790_000_000_000_000  # 2026-09-21 14:13:20 UTC: `date -u -d @1790000000`
S = "\u202f"
TRUST = ForgedLog().trust()
WITNESSES = tuple(
    VerifierKey(f"witness.example/{name}", TYPE_COSIGNATURE, bytes([number]) * 32)
    for number, name in enumerate(("one", "two"))
)


def page_of(trust: Trust | None = TRUST, **changes: Any) -> Element:
    """Renders the example with changes and reads it as a page."""
    page = render(example(**changes), verified_us=WHEN_US, source="exported/log", trust=trust)
    return read_page(page)


def test_the_facts_say_what_was_held_against_what() -> None:
    page = page_of()
    key = TRUST.root_key.hex()
    assert fact(page, "Origin") == "example.org/log"
    assert fact(page, "Size") == f"1{S}234{S}567 records"
    assert fact(page, "Tables") == "3"
    assert fact(page, "Checkpoint root") == " ".join(["0123", "4567", "89ab", "cdef"] * 4)
    assert fact(page, "Trusted origin") == ORIGIN
    assert fact(page, "Trusted root key").replace(" ", "") == key
    assert fact(page, "Verified") == "2026-09-21 14:13:20 UTC"
    assert fact(page, "Read from") == "exported/log"


def test_without_a_trust_file_nothing_is_claimed_of_it() -> None:
    page = page_of(trust=None)
    named = ("Trusted origin", "Trusted root key", "Quorum")
    assert {fact(page, name) for name in named} == {"the trust file is not readable"}


@pytest.mark.parametrize(
    ("quorum", "known", "text"),
    [
        (0, 0, "no cosignature asked of 0 known witnesses"),
        (0, 1, "no cosignature asked of 1 known witness"),
        (1, 2, "1 of 2 known witnesses"),
    ],
)
def test_the_quorum_is_said_with_the_number_of_witnesses(
    quorum: int, known: int, text: str
) -> None:
    page = page_of(trust=replace(TRUST, witnesses=WITNESSES[:known], quorum=quorum))
    assert fact(page, "Quorum") == text


def test_the_rounds_of_games_are_added_up() -> None:
    other = game(rounds=1900, voided=0)
    page = page_of(games={"a version 1": game(), "b version 2": other})
    # 25 of 125 is 20 %; 25 of 2025 is 1.2346 %
    assert rows_of(page, "Rounds dealt and voided") == [
        ["a version 1", "100", "25", f"20.00{S}%"],
        ["b version 2", f"1{S}900", "0", f"0.00{S}%"],
        ["All games", f"2{S}000", "25", f"1.23{S}%"],
    ]


def test_a_single_game_is_not_added_up_again() -> None:
    assert len(rows_of(page_of(), "Rounds dealt and voided")) == 1


def test_money_has_its_currency_s_digits_and_is_added_by_currency() -> None:
    page = page_of(games={"a version 1": game(), "b version 1": game()})
    # USD: 1900.50 less 10.50 is 1890.00 of 2000.00; JPY has no minor unit
    yen = ["JPY", "2", f"3{S}000", f"1{S}500", "0", f"1{S}500", f"50.00{S}%"]
    dollars = ["USD", f"1{S}200", f"2{S}000.00", f"1{S}900.50", "10.50", f"1{S}890.00"]
    both = ["USD", f"2{S}400", f"4{S}000.00", f"3{S}801.00", "21.00", f"3{S}780.00"]
    assert rows_of(page, "Money") == [
        ["a version 1", *yen],
        ["a version 1", *dollars, f"94.50{S}%"],
        ["b version 1", *yen],
        ["b version 1", *dollars, f"94.50{S}%"],
        ["All games", "JPY", "4", f"6{S}000", f"3{S}000", "0", f"3{S}000", f"50.00{S}%"],
        ["All games", *both, f"94.50{S}%"],
    ]


def test_a_game_without_wagers_has_no_return() -> None:
    free = {"USD": {"wagers": 0, "staked": 0, "returned": 0, "commission": 0}}
    page = page_of(games={"a version 1": game(money=free)})
    assert rows_of(page, "Money") == [
        ["a version 1", "USD", "0", "0.00", "0.00", "0.00", "0.00", "–"]
    ]


def test_outcomes_stand_beside_their_exact_odds() -> None:
    group, *rows = rows_of(page_of(), "Outcomes of every game against the exact odds of its rules")
    assert group[0] == "shoe-8d version 1"
    # 50 of 100: Wilson's interval is 40.38 % to 59.62 %, and 40 of 100 30.94 % to 49.80 %
    assert rows[0][:5] == ["Player", "50", f"50.00{S}%", f"40.38 – 59.62{S}%", f"44.62{S}%"]
    assert rows[1][:5] == ["Banker", "40", f"40.00{S}%", f"30.94 – 49.80{S}%", f"45.86{S}%"]
    assert [row[0] for row in rows] == ["Player", "Banker", "Tie"]


def test_a_drawing_puts_the_interval_where_the_scale_says() -> None:
    outcomes, odds = {"player": 50, "tie": 50}, {"player": "0.5", "tie": "0.5"}
    page = page_of(games={"a version 1": game(outcomes=outcomes, expected=odds)})
    strip = next(svg for svg in page.all("svg") if "strip" in svg.classes)
    interval = next(line for line in strip.all("line") if "interval" in line.classes)
    # 9.617 points either way on a scale to 10 points, of which 1 % is margin: 50 -+ 49 * 0.9617
    assert (interval.attributes["x1"], interval.attributes["x2"]) == ("2.88%", "97.12%")
    assert strip.all("circle")[0].attributes["cx"] == "50.00%"
    assert "−10" in page.text
    assert "+10 points" in page.text


def test_an_interval_that_misses_the_exact_odds_is_marked_and_counted() -> None:
    outcomes = {"player": 60, "banker": 30, "tie": 10}
    page = page_of(games={"a version 1": game(outcomes=outcomes)})
    strips = [svg for svg in page.all("svg") if "strip" in svg.classes]
    assert ["missed" in strip.classes for strip in strips] == [True, True, False]
    assert "does not contain" in strips[0].all("desc")[0].text
    assert "1 of 3 intervals hold the exact probability" in page.text


def test_growth_is_drawn_bin_by_bin() -> None:
    page = page_of(growth={"start_us": WHEN_US, "bin_us": 4_000_000, "records": [3, 0, 5]})
    (figure,) = page.all("figure")
    line, bars = figure.all("svg")
    # 0, 3, 3 and 8 records so far, of 8 at the upper edge
    (path,) = [p for p in line.all("path") if "line" in p.classes]
    assert path.attributes["d"] == "M0 100.000L1 62.500L2 62.500L3 0.000"
    # 3 and 5 of 6; the empty bin has no bar
    heights = [bar.attributes["height"] for bar in bars.all("rect")]
    assert heights == ["50.000", "83.333"]
    scales = [[s.text for s in d.children] for d in figure.all("div") if "scale" in d.classes]
    assert scales == [["8", "4", "0"], ["6", "3", "0"]]
    assert "in bins of 4" + S + "s" in figure.text
    ends = [s.text for d in figure.all("div") if "times" in d.classes for s in d.children]
    assert ends == ["2026-09-21 14:13:20 UTC", "2026-09-21 14:13:32 UTC"]


def test_bins_of_a_part_of_a_second_are_said_in_milliseconds() -> None:
    page = page_of(growth={"start_us": 0, "bin_us": 64_000, "records": [1]})
    assert f"in bins of 64{S}ms" in page.text


def test_open_matters_are_listed_with_age() -> None:
    page = page_of(
        unfinished_rounds=[{"round": "tables/7/rounds/9", "wagers": 1500, "age_s": 90_061}],
        unclosed_shoes=[{"table": "tables/7", "shoe_number": 2, "cards_dealt": 9, "age_s": 61}],
    )
    rounds = rows_of(page, "Rounds with wagers and no result")
    assert rounds == [["tables/7/rounds/9", f"1{S}500", f"1{S}d 1{S}h"]]
    shoes = rows_of(page, "Shoes that are not revealed yet")
    assert shoes == [["tables/7", "2", "9", f"1{S}min 1{S}s ago"]]


SETTLED = {"wager_id": "w1", "spot": "tie", "stake": 500, "result": "win", "paid": 4500}


@pytest.mark.parametrize(
    ("currency", "stake", "paid"),
    [
        ({"currency": "USD"}, "5.00 USD", "45.00 USD"),
        ({"currency": "KWD"}, "0.500 KWD", "4.500 KWD"),
        ({}, "500 minor units", f"4{S}500 minor units"),
    ],
)
def test_a_voided_round_says_what_it_would_have_paid(
    currency: dict[str, str], stake: str, paid: str
) -> None:
    known = {"outcome": "tie", "settlements": [SETTLED, SETTLED | {"wager_id": "w2"}]}
    voided = {"round": "tables/7/rounds/8", "cause": "operator_error", "would_have_paid": known}
    rows = rows_of(page_of(undealt=[voided | currency]), "Voided rounds that had wagers")
    head, tail = ["tables/7/rounds/8", "Operator error", "Tie"], ["tie", stake, "win", paid]
    assert rows == [[*head, "w1", *tail], [*head, "w2", *tail]]


def test_a_voided_round_of_an_open_shoe_is_unknown() -> None:
    voided = {"round": "tables/7/rounds/8", "cause": "shoe_retired", "would_have_paid": None}
    (row,) = rows_of(page_of(undealt=[voided]), "Voided rounds that had wagers")
    assert row[:3] == ["tables/7/rounds/8", "Shoe retired", "unknown until the reveal"]
    assert row[3:] == ["–"] * 5


def test_those_who_vouch_are_shown_with_their_times() -> None:
    page = page_of(
        trust=replace(TRUST, witnesses=WITNESSES, quorum=1),
        witnesses=[{"name": "witness.example/one", "time_s": 1_790_000_000}],
        time_stamps=[{"authority": "Example TSA", "time_us": WHEN_US, "size": 1000}],
    )
    when = "2026-09-21 14:13:20 UTC"
    assert rows_of(page, "Witnesses") == [
        ["witness.example/one", when],
        ["witness.example/two", "– did not cosign"],
    ]
    assert rows_of(page, "Time stamps") == [["Example TSA", when, f"1{S}000"]]
    assert "Witnesses and time stamps" not in page_of().text
