"""The whole document: one file with its style inside, that asks for nothing else and runs nothing.

The page's own policy forbids every request, so that even a fault in escaping could not phone home.
It proves nothing by itself: it says what a verification found, and how to repeat it.
"""

import shlex
from importlib.resources import files
from typing import Any

from sealedshoe_audit.html_report import money, open_matters, overview, vouchers
from sealedshoe_audit.html_report.findings import findings
from sealedshoe_audit.html_report.growth import growth
from sealedshoe_audit.html_report.markup import NOTHING, Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.outcomes import outcomes
from sealedshoe_audit.trust import Trust

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
TITLE = "Log verification report"


def render(result: dict[str, Any], *, verified_us: int, source: str, trust: Trust | None) -> str:
    """Returns the report of a log's verification as an HTML document.

    Args:
        result: the object of `sealedshoe-audit log --json`; its strings need not be trusted. The keys
            `root`, `growth`, `witnesses` and `time_stamps` are shown when present.
        verified_us: when the verification was made; microseconds since 1970 UTC.
        source: directory or URL that the log was read from, as the reader gave it.
        trust: what the log was held against; None if the trust file could not be read.
    """
    body = [
        tag("header", paragraph("Sealed Shoe", "maker"), tag("h1", text(TITLE))),
        overview.verdict(result),
        overview.facts(result, verified_us, source, trust),
        overview.scope(result),
        _section("Findings", findings(result)),
        *_totals(result),
        *_vouchers(result, trust),
        _how_to_repeat(source),
    ]
    page = tag("html", _head(result), tag("body", tag("main", join(body))), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _head(result: dict[str, Any]) -> Html:
    title = f"{TITLE}: {result.get('origin', overview.UNKNOWN)}, {result['verdict']}"
    style = files("sealedshoe_audit.html_report").joinpath("style.css").read_text(encoding="utf-8")
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", text(title)),
        tag("style", Html(style)),
    )


def _section(heading: str, *content: Html) -> Html:
    return tag("section", tag("h2", text(heading)), join(content))


def _totals(result: dict[str, Any]) -> list[Html]:
    """Returns what the records add up to; nothing is known of a log that was not read to its end."""
    if "games" not in result:
        end = "The verification ended before the last record, so that there are no totals."
        return [_section("Totals", paragraph(end))]
    games: dict[str, Any] = result["games"]
    partial = paragraph("Only records that passed every check are counted.")
    note = NOTHING if result["verdict"] == "valid" else partial
    return [
        _section("Outcomes", note, outcomes(games)),
        _section("Games", note, money.rounds(games), money.money(games)),
        _section("Growth", growth(result["growth"])) if "growth" in result else NOTHING,
        _section(
            "Open matters",
            open_matters.broken_tables(result["broken_tables"]),
            open_matters.unfinished_rounds(result["unfinished_rounds"]),
            open_matters.voided_rounds(result["undealt"]),
            open_matters.unclosed_shoes(result["unclosed_shoes"]),
        ),
    ]


def _vouchers(result: dict[str, Any], trust: Trust | None) -> list[Html]:
    parts: list[Html] = []
    if "witnesses" in result:
        parts.append(vouchers.witnesses(result["witnesses"], trust))
    if "time_stamps" in result:
        parts.append(vouchers.time_stamps(result["time_stamps"]))
    return [_section("Witnesses and time stamps", *parts)] if parts else []


def _how_to_repeat(source: str) -> Html:
    words = (
        "This page says what a verification found and proves nothing by itself. Whoever has the trust "
        "file can repeat it:"
    )
    command = tag("code", text(f"sealedshoe-audit log {shlex.quote(source)} --trust trust.json"))
    return tag("footer", paragraph(words), tag("pre", command))
