"""No name of a log, a table or a player reaches beyond the text it is shown in."""

import shlex
from typing import Any

import pytest

from sealedshoe_audit.html_report import render
from sealedshoe_audit.html_report.markup import tag
from tests.audit.html_page import (
    FULL,
    WHEN_US,
    Element,
    example,
    finding,
    game,
    page_of,
    read_page,
    rows_of,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=https://evil.example onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title></table></main><iframe src=//evil.example>",
    "<!-- ",
    "]]><svg onload=alert(1)>",
    "&lt;script&gt;",
    "\u202egnp.exe",
    "\x1b[2J\x00\r\n",
    "\ud800",
]


def poisoned(value: object, name: str) -> Any:
    """Puts a hostile text in the place of every string of a result, keys of games included."""
    if isinstance(value, str):
        return name
    if isinstance(value, list):
        return [poisoned(item, name) for item in value]
    if isinstance(value, dict):
        return {key: poisoned(item, name) for key, item in value.items()}
    return value


def hostile_result(name: str) -> dict[str, Any]:
    """Returns a result with every part, all of whose texts are hostile."""
    few = FULL | {"findings": [finding(1)]}
    money = {name: game()["money"]["USD"]}
    outcomes = {name: 50, "tie": 50}
    expected = {name: "0.5", "tie": "0.5"}
    hostile = game(money=money, outcomes=outcomes, expected=expected)
    return poisoned(few, name) | {"games": {name: hostile}}


def shape(element: Element) -> list[tuple[str, list[str]]]:
    """Returns a page's elements with the names of their attributes: its structure without texts."""
    return [(inner.name, list(inner.attributes)) for inner in element.walk()]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_change_no_element_and_no_attribute(name: str) -> None:
    expected = shape(page_of(hostile_result("harmless"), "harmless"))
    assert shape(page_of(hostile_result(name), name)) == expected


@pytest.mark.parametrize("name", HOSTILE[:8])
def test_hostile_names_are_shown_as_they_are(name: str) -> None:
    page = page_of(example(findings=[finding(1, record=name)], broken_tables=[name]))
    assert rows_of(page, "Findings in the order of the log")[0][3] == name.strip()
    assert rows_of(page, "Tables with a record that does not hold") == [[f"tables/{name}".strip()]]


@pytest.mark.parametrize("name", HOSTILE[:8])
def test_attributes_are_escaped_too(name: str) -> None:
    (document,) = read_page(tag("p", title=name)).children
    assert (document.attributes, document.text) == ({"title": name}, "")


def test_the_command_to_repeat_it_can_be_pasted_into_a_shell() -> None:
    page = page_of(example(), source="my log; rm -r '*'")
    (command,) = page.all("pre")
    given = ["sealedshoe-audit", "log", "my log; rm -r '*'", "--trust", "trust.json"]
    assert shlex.split(command.text) == given


def test_what_does_not_print_is_shown_as_an_escape() -> None:
    page = page_of(example(findings=[finding(1, found="a\u202eb\x1b\x00\ud800\n")]))
    shown = rows_of(page, "Findings in the order of the log")[0][5]
    assert shown == r"a\x202eb\x1b\x00\xd800\x0a"


def test_a_page_can_always_be_written_as_utf_8() -> None:
    page = render(hostile_result("\ud800"), verified_us=WHEN_US, source="\udcff", trust=None)
    assert page.encode("utf-8").decode("utf-8") == page


def test_a_long_name_is_cut() -> None:
    page = page_of(example(findings=[finding(1, record="x" * 10_000)]))
    assert rows_of(page, "Findings in the order of the log")[0][3] == "x" * 300 + "…"
