"""A report page as a reader's browser sees it: elements, attributes and texts, by the standard parser."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from sealedshoe_audit.html_report import render
from tests.audit.forge.log import ForgedLog

WHEN_US = 1_790_000_000_000_000  # 2026-09-21 14:13:20 UTC
TRUST = ForgedLog().trust()
VOID = {"meta", "br", "hr", "img", "input", "link", "base", "col", "area", "embed", "source", "wbr"}


@dataclass
class Element:
    """One element: its name, attributes, what is in it, and the pieces of all text in it."""

    name: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=lambda: [])
    texts: list[str] = field(default_factory=lambda: [])

    def walk(self) -> list["Element"]:
        """Returns the element and all in it, in the order of the page."""
        return [self, *(inner for child in self.children for inner in child.walk())]

    def all(self, name: str) -> list["Element"]:
        """Returns every element of a name."""
        return [element for element in self.walk() if element.name == name]

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(self.texts)

    @property
    def classes(self) -> set[str]:
        """The element's style classes."""
        return set(self.attributes.get("class", "").split())


class _Reader(HTMLParser):
    """Refuses what a lenient browser would mend: unclosed, crossed and surplus tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        assert len(attributes) == len(attrs), f"an attribute twice in {tag}"
        element = Element(tag, attributes)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read_page(page: str) -> Element:
    """Returns a page's root; every tag must be closed where it should be."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].name}> is not closed"
    return reader.root


def rows_of(page: Element, caption: str) -> list[list[str]]:
    """Returns the texts of the body and foot of the table with this caption."""
    (table,) = [t for t in page.all("table") if t.all("caption")[0].text == caption]
    parts = table.all("tbody") + table.all("tfoot")
    rows = [row for part in parts for row in part.all("tr")]
    return [[cell.text.strip() for cell in row.children] for row in rows]


def fact(page: Element, name: str) -> str:
    """Returns what stands beside a term of the list of facts."""
    pairs = {div.all("dt")[0].text: div.all("dd")[0].text for div in page.all("dl")[0].children}
    return pairs[name]


def example(**changes: Any) -> dict[str, Any]:
    """Returns a result of `sealedshoe-audit log --json`, written by hand."""
    result: dict[str, Any] = {
        "verdict": "valid",
        "findings": [],
        "checked": ["the checkpoint of example.org/log at size 1234567"],
        "not_checked": ["that the operator shows everybody this same log: needs witnesses"],
        "origin": "example.org/log",
        "root": "0123456789abcdef" * 4,
        "size": 1_234_567,
        "games": {"shoe-8d version 1": game()},
        "tables": 3,
        "broken_tables": [],
        "unclosed_shoes": [],
        "unfinished_rounds": [],
        "undealt": [],
        "findings_left_out": 0,
    }
    return result | changes


def game(**changes: Any) -> dict[str, Any]:
    """Returns a game's totals: 100 rounds, of them 50 of Player's, in two currencies."""
    totals: dict[str, Any] = {
        "rounds": 100,
        "voided": 25,
        "outcomes": {"player": 50, "banker": 40, "tie": 10},
        "expected": {"player": "0.446247", "banker": "0.458597", "tie": "0.095156"},
        "money": {
            "JPY": {"wagers": 2, "staked": 3000, "returned": 1500, "commission": 0},
            "USD": {"wagers": 1200, "staked": 200_000, "returned": 190_050, "commission": 1050},
        },
    }
    return totals | changes


def finding(number: int, **changes: str) -> dict[str, str]:
    """Returns one finding with texts of its own."""
    return {
        "code": "SETTLEMENT",
        "record": f"leaf {number} of tables/7",
        "expected": f"expected {number}",
        "found": f"found {number}",
        "severity": "error",
    } | changes


SETTLED = {"wager_id": "w1", "spot": "tie", "stake": 500, "result": "win", "paid": 4500}
KNOWN = {"outcome": "tie", "settlements": [SETTLED]}

FULL = example(
    verdict="invalid",
    findings=[finding(n, severity="notice" if n % 5 == 0 else "error") for n in range(1000)],
    findings_left_out=3,
    broken_tables=["7"],
    unclosed_shoes=[{"table": "tables/7", "shoe_number": 2, "cards_dealt": 9, "age_s": 61}],
    unfinished_rounds=[{"round": "tables/7/rounds/9", "wagers": 2, "age_s": 5}],
    undealt=[
        {"round": "tables/7/rounds/8", "cause": "operator_error", "would_have_paid": KNOWN},
        {"round": "tables/7/rounds/9", "cause": "shoe_retired", "would_have_paid": None},
    ],
    growth={"start_us": WHEN_US, "bin_us": 1_000_000, "records": [3, 0, 4]},
    witnesses=[{"name": "witness.example/one", "time_s": 1_790_000_000}],
    time_stamps=[{"authority": "Example TSA", "time_us": WHEN_US, "size": 1000}],
)


def page_of(result: dict[str, Any], source: str = "exported/log") -> Element:
    """Renders a result and reads it as a page."""
    return read_page(render(result, verified_us=WHEN_US, source=source, trust=TRUST))
