"""The first page: verdict, what it is about, what was checked and what was not."""

from typing import Any

from sealedshoe_audit.html_report.charts import verdict_icon
from sealedshoe_audit.html_report.markup import Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.wording import counted, grouped, hex_groups, moment
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import ERROR

UNKNOWN = "not established"
_NO_TRUST = "the trust file is not readable"


def verdict(result: dict[str, Any]) -> Html:
    """Returns the verdict in a word, a colour, a drawing and a sentence."""
    valid = result["verdict"] == "valid"
    word = tag("p", text("Valid" if valid else "Invalid"), class_="word")
    sentences = paragraph(_summary(result, valid=valid), "summary")
    kind = "verdict valid" if valid else "verdict invalid"
    words = tag("div", word, sentences)
    return tag("section", verdict_icon(valid=valid), words, class_=kind, aria_label="Verdict")


def _summary(result: dict[str, Any], *, valid: bool) -> str:
    severities = [finding["severity"] for finding in result["findings"]]
    errors = severities.count(ERROR)
    notices = len(severities) - errors
    beyond = result.get("findings_left_out", 0)
    more = f", {counted(beyond, 'finding')} left out" if beyond else ""
    found = f"{counted(errors, 'error')}, {counted(notices, 'notice')}{more}."
    if valid:
        return f"Every check that was made holds. {found}"
    return f"This log is not what it must be. {found}"


def facts(result: dict[str, Any], verified_us: int, source: str, trust: Trust | None) -> Html:
    """Returns what was verified beside what it was held against, and when and from where."""
    size = result.get("size")
    tables = result.get("tables")
    named = [
        ("Origin", text(result.get("origin", UNKNOWN))),
        ("Trusted origin", text(trust.origin if trust else _NO_TRUST)),
        ("Checkpoint root", _digest(result.get("root"))),
        ("Trusted root key", _digest(trust.root_key.hex()) if trust else text(_NO_TRUST)),
        ("Size", text(UNKNOWN if size is None else counted(size, "record"))),
        ("Quorum", text(_quorum(trust) if trust else _NO_TRUST)),
        ("Tables", text(UNKNOWN if tables is None else grouped(tables))),
        ("Verified", text(moment(verified_us))),
        ("Read from", text(source)),
    ]
    return tag("dl", *map(_fact, named), class_="facts")


def _quorum(trust: Trust) -> str:
    known = counted(len(trust.witnesses), "known witness", "known witnesses")
    return f"{trust.quorum} of {known}" if trust.quorum else f"no cosignature asked of {known}"


def _digest(digits: str | None) -> Html:
    return tag("code", text(hex_groups(digits))) if digits else text(UNKNOWN)


def _fact(named: tuple[str, Html]) -> Html:
    return tag("div", tag("dt", text(named[0])), tag("dd", named[1]))


def scope(result: dict[str, Any]) -> Html:
    """Returns both lists: what was checked, and what this verification cannot show.

    Only a valid log's checks are ticked: of another, the findings say which did not hold.
    """
    kind = "held" if result["verdict"] == "valid" else "made"
    done = _list("Checked", result["checked"], kind, "Nothing could be checked.")
    not_done = _list("Not checked", result["not_checked"], "open", "Nothing is left open.")
    return tag("div", done, not_done, class_="scope")


def _list(heading: str, items: list[str], kind: str, without: str) -> Html:
    entries = [tag("li", text(item)) for item in items]
    content = tag("ul", join(entries), class_=kind) if entries else paragraph(without)
    return tag("section", tag("h2", text(heading)), content)
