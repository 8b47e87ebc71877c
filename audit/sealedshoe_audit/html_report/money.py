"""What each game came to: rounds and voids, and money by currency."""

from dataclasses import astuple
from typing import Any

from sealedshoe_audit.html_report.markup import Html, join, paragraph, text
from sealedshoe_audit.html_report.tables import Column, Row, table
from sealedshoe_audit.html_report.wording import amount, grouped, percent
from sealedshoe_audit.verify.totals import Money

_ROUNDS = (
    Column("Game"),
    Column("Rounds", "number"),
    Column("Voided", "number"),
    Column("Void rate", "number"),
)
_MONEY = (
    Column("Game"),
    Column("Currency"),
    Column("Wagers", "number"),
    Column("Staked", "number"),
    Column("Gross returns", "number"),
    Column("Commission", "number"),
    Column("Paid to players", "number"),
    Column("Return to players", "number"),
)


def rounds(games: dict[str, Any]) -> Html:
    """Returns the rounds dealt and voided of each game, and of all."""
    rows = [_rounds_row(name, game["rounds"], game["voided"]) for name, game in games.items()]
    dealt = sum(game["rounds"] for game in games.values())
    voided = sum(game["voided"] for game in games.values())
    totals = [_rounds_row("All games", dealt, voided)] if len(games) > 1 else []
    return table("Rounds dealt and voided", _ROUNDS, rows, totals)


def _rounds_row(name: str, dealt: int, voided: int) -> Row:
    values = (name, grouped(dealt), grouped(voided), percent(voided, dealt + voided))
    return [text(value) for value in values]


def money(games: dict[str, Any]) -> Html:
    """Returns the money of each game by currency, and of all games by currency."""
    entries = [
        (name, currency, Money(**sums))
        for name, game in games.items()
        for currency, sums in game["money"].items()
    ]
    if not entries:
        return paragraph("No wager was settled.")
    rows = [_money_row(*entry) for entry in entries]
    totals = _totals(entries) if len(entries) > 1 else {}
    footer = [_money_row("All games", currency, sums) for currency, sums in totals.items()]
    note = (
        "Amounts are in the currency's major unit. Gross returns include the stakes of wagers that won "
        "or were pushed; paid to players is gross returns less commission; return to players is paid "
        "to players over staked."
    )
    return join([table("Money", _MONEY, rows, footer), paragraph(note)])


def _totals(entries: list[tuple[str, str, Money]]) -> dict[str, Money]:
    sums: dict[str, Money] = {}
    for _, currency, more in entries:
        so_far = sums.get(currency, Money())
        added = [a + b for a, b in zip(astuple(so_far), astuple(more), strict=True)]
        sums[currency] = Money(*added)
    return dict(sorted(sums.items()))


def _money_row(name: str, currency: str, sums: Money) -> Row:
    paid = sums.returned - sums.commission
    amounts = (sums.staked, sums.returned, sums.commission, paid)
    values = [name, currency, grouped(sums.wagers), *(amount(a, currency) for a in amounts)]
    return [text(value) for value in (*values, percent(paid, sums.staked))]
