"""The HTML report is a sound page that loads and runs nothing, whatever a log's names say."""

import re
from importlib.resources import files
from typing import Any

import pytest

from tests.audit.html_page import FULL, Element, example, finding, game, page_of, rows_of

STOPPED = {
    "verdict": "invalid",
    "findings": [finding(1, code="MISSING_FILE")],
    "checked": [],
    "not_checked": [],
}
PAGES = {
    "valid": example(),
    "full": FULL,
    "stopped": STOPPED,
    "empty": example(games={}, growth={"start_us": 0, "bin_us": 1000, "records": []}),
    "no rounds": example(games={"a version 1": game(rounds=0, money={})}),
}


@pytest.fixture(params=PAGES.values(), ids=PAGES)
def result(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each kind of result."""
    return request.param


def test_a_page_is_one_document_with_title_language_and_one_heading(result: dict[str, Any]) -> None:
    page = page_of(result)
    (html,) = page.all("html")
    assert html.attributes["lang"] == "en"
    assert [len(page.all(name)) for name in ("head", "body", "main", "h1", "title")] >= [1] * 4
    assert len(page.all("h1")) == 1
    assert result["verdict"] in page.all("title")[0].text


def test_a_page_forbids_itself_every_request(result: dict[str, Any]) -> None:
    policies = [
        meta.attributes["content"]
        for meta in page_of(result).all("meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


ALLOWED = {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer"}
ALLOWED |= {"h1", "h2", "p", "div", "span", "code", "pre", "dl", "dt", "dd", "ul", "li"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "figure", "figcaption"}
ALLOWED |= {"svg", "desc", "circle", "line", "path", "rect"}


def test_a_page_has_no_element_that_loads_runs_or_sends(result: dict[str, Any]) -> None:
    elements = page_of(result).walk()[1:]
    assert {element.name for element in elements} <= ALLOWED
    names = {name for element in elements for name in element.attributes}
    assert not names & {"src", "href", "xlink:href", "action", "style", "background", "srcset"}
    assert not [name for name in names if name.startswith("on")]


def test_the_style_reaches_for_nothing() -> None:
    style = files("sealedshoe_audit.html_report").joinpath("style.css").read_text("utf-8")
    assert not re.search(r"url\(|@import|@font-face|https?:|//|expression|<", style)


def test_every_drawing_says_what_it_shows_and_every_table_is_captioned_and_scoped(
    result: dict[str, Any],
) -> None:
    page = page_of(result)
    for drawing in page.all("svg"):
        assert drawing.attributes["role"] == "img"
        assert drawing.children[0].name == "title"
        assert drawing.children[0].text
    for table in page.all("table"):
        assert table.children[0].name == "caption"
        assert all("scope" in heading.attributes for heading in table.all("th"))
        widths = {width(row) for row in table.all("tr")}
        assert len(widths) == 1


def width(row: Element) -> int:
    """Returns the number of columns that a row takes."""
    return sum(int(cell.attributes.get("colspan", "1")) for cell in row.children)


@pytest.mark.parametrize(("verdict", "word"), [("valid", "Valid"), ("invalid", "Invalid")])
def test_the_verdict_is_a_word_a_drawing_and_a_style(verdict: str, word: str) -> None:
    page = page_of(example(verdict=verdict))
    (shown,) = [section for section in page.all("section") if "verdict" in section.classes]
    assert shown.classes == {"verdict", verdict}
    assert shown.all("p")[0].text == word
    assert shown.all("title")[0].text == word


@pytest.mark.parametrize(("verdict", "mark"), [("valid", "held"), ("invalid", "made")])
def test_only_a_valid_log_s_checks_are_ticked(verdict: str, mark: str) -> None:
    page = page_of(example(verdict=verdict, checked=["this"], not_checked=["that"]))
    lists = [(element.classes, element.text.strip()) for element in page.all("ul")]
    assert lists == [({mark}, "this"), ({"open"}, "that")]


def test_totals_of_an_invalid_log_say_what_they_leave_out() -> None:
    note = "Only records that passed every check are counted."
    assert note in page_of(FULL).text
    assert note not in page_of(example()).text


def test_a_log_that_was_not_read_to_its_end_has_no_totals() -> None:
    page = page_of(STOPPED)
    assert "there are no totals" in page.text
    assert [t.all("caption")[0].text for t in page.all("table")] == [
        "Findings in the order of the log"
    ]


def test_every_one_of_a_thousand_findings_is_shown_and_those_beyond_are_counted() -> None:
    page = page_of(FULL)
    expected = [
        [
            f"{n + 1}" if n < 999 else "1\u202f000",
            "Notice" if n % 5 == 0 else "Error",
            "SETTLEMENT",
            f"leaf {n} of tables/7",
            f"expected {n}",
            f"found {n}",
        ]
        for n in range(1000)
    ]
    assert rows_of(page, "Findings in the order of the log") == expected
    assert "3 further findings left out." in page.text
    assert "800 errors, 200 notices, 3 findings left out." in page.text


def test_many_findings_are_counted_by_code_and_few_are_not() -> None:
    by_code = rows_of(page_of(FULL), "Findings by code")
    assert by_code == [["SETTLEMENT", "Error", "800"], ["SETTLEMENT", "Notice", "200"]]
    few = page_of(example(findings=[finding(n) for n in range(11)]))
    assert "Findings by code" not in few.text


def test_the_thousand_and_first_row_of_a_list_is_counted_only() -> None:
    page = page_of(example(broken_tables=[str(n) for n in range(2234)]))
    rows = rows_of(page, "Tables with a record that does not hold")
    assert rows == [[f"tables/{n}"] for n in range(1000)]
    assert "1\u202f234 more are left out here" in page.text


def test_games_beyond_the_thousandth_are_counted_only() -> None:
    page = page_of(example(games={f"g{n} version 1": game() for n in range(1001)}))
    assert "\n1 more are left out here" in page.text
