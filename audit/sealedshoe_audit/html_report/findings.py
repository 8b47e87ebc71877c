"""Every finding, in the order in which the log was read, and a count by code when there are many."""

from collections import Counter
from typing import Any

from sealedshoe_audit.html_report.markup import NOTHING, Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.tables import Column, table
from sealedshoe_audit.html_report.wording import counted, grouped, sentence_case

SUMMARISED_FROM = 12  # findings that no longer fit the first look

_COLUMNS = (
    Column("No."),
    Column("Severity"),
    Column("Code", "name"),
    Column("Record"),
    Column("Expected", "code"),
    Column("Found", "code"),
)
_BY_CODE = (Column("Code", "name"), Column("Severity"), Column("Findings", "number"))


def findings(result: dict[str, Any]) -> Html:
    """Returns the findings, or that there are none."""
    found: list[dict[str, str]] = result["findings"]
    if not found:
        return paragraph("None: nothing speaks against this log.")
    rows = [_row(number, finding) for number, finding in enumerate(found, 1)]
    beyond = result.get("findings_left_out", 0)
    return join(
        [
            paragraph(
                "An error makes the verdict invalid; a notice is for people to weigh. Of a table with "
                "an error, later records are not judged again."
            ),
            _by_code(found) if len(found) >= SUMMARISED_FROM else NOTHING,
            table("Findings in the order of the log", _COLUMNS, rows),
            paragraph(f"{counted(beyond, 'further finding')} left out.") if beyond else NOTHING,
        ]
    )


def _by_code(found: list[dict[str, str]]) -> Html:
    counts = Counter((finding["code"], finding["severity"]) for finding in found)
    rows = [
        (text(code), _severity(severity), text(grouped(count)))
        for (code, severity), count in counts.most_common()
    ]
    return table("Findings by code", _BY_CODE, rows)


def _row(number: int, finding: dict[str, str]) -> tuple[Html, ...]:
    values = [text(finding[key]) for key in ("code", "record", "expected", "found")]
    return (text(grouped(number)), _severity(finding["severity"]), *values)


def _severity(severity: str) -> Html:
    kind = "error" if severity == "error" else "notice"
    return tag("span", text(sentence_case(severity)), class_=f"severity {kind}")
