"""Tables with caption, scoped headings and an end: rows beyond the limit are counted, not dropped."""

from collections.abc import Sequence
from dataclasses import dataclass

from sealedshoe_audit.html_report.markup import NOTHING, Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.wording import grouped

MAX_ROWS = 1000  # as many as a log's report keeps findings; a page with more is beyond reading
STACKED_FROM = 5  # columns: more do not fit a phone side by side, so that each row becomes a block


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading, and the style its cells have: `number`, `code`, `name` or none."""

    heading: str
    style: str = ""


Row = Sequence[Html]


def table(
    caption: str, columns: Sequence[Column], rows: Sequence[Row], totals: Sequence[Row] = ()
) -> Html:
    """Returns a table whose first column heads its rows."""
    kind = "stacked" if len(columns) >= STACKED_FROM else "plain"
    body = tag("tbody", join(_row(columns, row) for row in rows[:MAX_ROWS]))
    foot = tag("tfoot", join(_row(columns, row) for row in totals)) if totals else NOTHING
    title = tag("caption", text(caption))
    whole = tag("table", title, _head(columns), body, foot, class_=kind)
    return join([whole, left_out(len(rows) - MAX_ROWS)])


def left_out(count: int) -> Html:
    """Says how many rows a page does not show, if any."""
    if count <= 0:
        return NOTHING
    return paragraph(f"{grouped(count)} more are left out here; the verifier's --json has them.")


def _head(columns: Sequence[Column]) -> Html:
    cells = [tag("th", text(c.heading), scope="col", class_=c.style) for c in columns]
    return tag("thead", tag("tr", *cells))


def _row(columns: Sequence[Column], row: Row) -> Html:
    first, *others = columns
    cells = [tag("th", row[0], scope="row", class_=first.style)]
    for column, cell in zip(others, row[1:], strict=True):
        content = tag("span", cell)
        cells.append(tag("td", content, class_=column.style, data_label=column.heading))
    return tag("tr", *cells)
