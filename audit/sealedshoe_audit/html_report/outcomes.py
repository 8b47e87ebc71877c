"""Outcomes of each game: the observed share beside the exact probability, in numbers and drawn."""

from typing import Any

from sealedshoe_audit.html_report.charts import deviation_strip
from sealedshoe_audit.html_report.intervals import Share, round_up
from sealedshoe_audit.html_report.markup import Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.tables import MAX_ROWS, left_out
from sealedshoe_audit.html_report.wording import (
    MINUS,
    counted,
    grouped,
    sentence_case,
    share_percent,
)

_HEADINGS = ("Outcome", "Rounds", "Observed", "95 % interval", "Exact", "Observed against exact")
_STYLES = ("", "number", "number", "number interval", "number", "drawn")
Shares = dict[str, Share]


def outcomes(games: dict[str, Any]) -> Html:
    """Returns one table for all games that have rounds."""
    played = {name: _shares(game) for name, game in games.items() if game["rounds"]}
    if not played:
        return paragraph("No round was dealt.")
    shown = list(played.items())[:MAX_ROWS]
    whole = tag(
        "table",
        tag("caption", text("Outcomes of every game against the exact odds of its rules")),
        tag("thead", tag("tr", *_headings())),
        *(_group(name, shares) for name, shares in shown),
        class_="outcomes",
    )
    return join([paragraph(_reading(played)), whole, left_out(len(played) - MAX_ROWS)])


def _shares(game: dict[str, Any]) -> Shares:
    return {
        outcome: Share(count, game["rounds"], float(game["expected"][outcome]))
        for outcome, count in game["outcomes"].items()
    }


def _headings() -> list[Html]:
    cells = zip(_HEADINGS, _STYLES, strict=True)
    return [tag("th", text(heading), scope="col", class_=style) for heading, style in cells]


def _group(name: str, shares: Shares) -> Html:
    reach = _reach(shares)
    edge = f"{100 * reach:g}"
    scale = [tag("span", text(label)) for label in (f"{MINUS}{edge}", "0", f"+{edge} points")]
    heading = tag("th", text(name), scope="rowgroup", colspan="5")
    axis = tag("td", tag("div", *scale, class_="axis"), class_="drawn")
    rows = [_row(name, outcome, share, reach) for outcome, share in shares.items()]
    return tag("tbody", tag("tr", heading, axis, class_="group"), *rows)


def _reach(shares: Shares) -> float:
    ends = [abs(end - share.exact) for share in shares.values() for end in share.interval()]
    return round_up(100 * max(ends)) / 100


def _row(game: str, outcome: str, share: Share, reach: float) -> Html:
    low, high = share.interval()
    label = sentence_case(outcome)
    values = (
        grouped(share.count),
        share_percent(share.observed),
        f"{100 * low:.2f} – {share_percent(high)}",
        share_percent(share.exact),
    )
    title = f"{label} in {game}: observed {values[1]}, exact {values[3]}"
    cells = [tag("td", text(v), class_=s) for v, s in zip(values, _STYLES[1:5], strict=True)]
    strip = tag("td", deviation_strip(title, share, reach), class_=_STYLES[5])
    return tag("tr", tag("th", text(label), scope="row"), *cells, strip)


def _reading(played: dict[str, Shares]) -> str:
    shares = [share for game in played.values() for share in game.values()]
    within = sum(share.covers_exact for share in shares)
    return (
        "Dot: observed share; bar: its 95 % interval (Wilson); upright line: exact probability. The dot "
        "is hollow where the interval misses the exact probability. Each game has its own scale, in "
        f"percentage points. {grouped(within)} of {counted(len(shares), 'interval')} hold the exact "
        "probability; with fair cards about 19 in 20 do."
    )
