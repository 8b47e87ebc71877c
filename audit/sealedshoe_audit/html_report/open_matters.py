"""What a reader must follow up: open rounds and shoes, voids that cost somebody, broken tables."""

from collections.abc import Iterator
from typing import Any

from sealedshoe_audit.html_report.markup import Html, join, paragraph, tag, text
from sealedshoe_audit.html_report.tables import Column, Row, table
from sealedshoe_audit.html_report.wording import NONE, amount, duration, grouped, sentence_case
from sealedshoe_audit.names import table_name

_UNFINISHED = (Column("Round"), Column("Wagers", "number"), Column("Age", "number"))
_UNCLOSED = (
    Column("Table"),
    Column("Shoe", "number"),
    Column("Cards dealt", "number"),
    Column("Last record", "number"),
)
_VOIDED = (
    Column("Round"),
    Column("Cause"),
    Column("Would have been"),
    Column("Wager"),
    Column("Spot"),
    Column("Stake", "number"),
    Column("Result"),
    Column("Would have paid", "number"),
)


def unfinished_rounds(rounds: list[dict[str, Any]]) -> Html:
    """Returns the rounds that took wagers and have no result."""
    rows = [
        (text(r["round"]), text(grouped(r["wagers"])), text(duration(r["age_s"]))) for r in rounds
    ]
    return _table_or_none("Rounds with wagers and no result", _UNFINISHED, rows)


def unclosed_shoes(shoes: list[dict[str, Any]]) -> Html:
    """Returns the shoes whose seed is not revealed."""
    rows = [
        (
            text(shoe["table"]),
            text(grouped(shoe["shoe_number"])),
            text(grouped(shoe["cards_dealt"])),
            text(f"{duration(shoe['age_s'])} ago"),
        )
        for shoe in shoes
    ]
    return _table_or_none("Shoes that are not revealed yet", _UNCLOSED, rows)


def voided_rounds(undealt: list[dict[str, Any]]) -> Html:
    """Returns the voided rounds that had wagers, a row for each wager whose settlement is known."""
    rows = [row for voided in undealt for row in _voided_rows(voided)]
    return _table_or_none("Voided rounds that had wagers", _VOIDED, rows)


def _voided_rows(voided: dict[str, Any]) -> Iterator[Row]:
    head = [text(voided["round"]), text(sentence_case(voided["cause"]))]
    known = voided["would_have_paid"]
    if not known:
        yield [*head, text("unknown until the reveal"), *[text(NONE)] * 5]
        return
    currency = voided.get("currency")
    for settled in known["settlements"]:
        yield [
            *head,
            text(sentence_case(known["outcome"])),
            text(settled["wager_id"]),
            text(settled["spot"]),
            text(_money(settled["stake"], currency)),
            text(settled["result"]),
            text(_money(settled["paid"], currency)),
        ]


def _money(minor_units: int, currency: str | None) -> str:
    written = amount(minor_units, currency)
    return f"{written} {currency}" if currency else written


def broken_tables(tables: list[str]) -> Html:
    """Returns the tables that have a record which does not hold."""
    rows = [(text(table_name(name)),) for name in tables]
    return _table_or_none("Tables with a record that does not hold", (Column("Table"),), rows)


def _table_or_none(caption: str, columns: tuple[Column, ...], rows: list[Any]) -> Html:
    if rows:
        return table(caption, columns, rows)
    return join([tag("p", text(caption), class_="caption"), paragraph("None.")])
