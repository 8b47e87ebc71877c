"""Totals of a game over a log: outcomes and money."""

from dataclasses import dataclass, field
from typing import Any

from sealedshoe_audit.baccarat.odds import round_counts, sequences
from sealedshoe_audit.baccarat.rules import Outcome
from sealedshoe_audit.v1 import records_pb2 as pb

_NAMES = {int(outcome): outcome.name.lower() for outcome in Outcome}


@dataclass(slots=True)
class Money:
    """Sums in minor units of one currency. returned: gross returns; paid to players is less commission."""

    wagers: int = 0
    staked: int = 0
    returned: int = 0
    commission: int = 0


@dataclass(slots=True)
class GameTotals:
    """What a game's rounds came to."""

    decks: int
    rounds: int = 0
    voided: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_NAMES.values(), 0))
    money: dict[str, Money] = field(default_factory=lambda: {})


def add_result(totals: GameTotals, currency: str, record: pb.RoundDealt | pb.RoundVoided) -> None:
    """Counts one result or void."""
    if isinstance(record, pb.RoundVoided):
        totals.voided += 1
        return
    totals.rounds += 1
    totals.outcomes[_NAMES[record.outcome]] += 1
    money = totals.money.setdefault(currency, Money())
    for settled in record.settlements:
        money.wagers += 1
        money.staked += settled.wager.stake
        money.returned += settled.gross_return
        money.commission += settled.commission


def totals_json(totals: GameTotals) -> dict[str, Any]:
    """Returns the totals with each outcome's exact probability beside it."""
    exact = dict.fromkeys(_NAMES.values(), 0)
    for facts, ways in round_counts(totals.decks).items():
        exact[_NAMES[facts.outcome]] += ways
    return {
        "rounds": totals.rounds,
        "voided": totals.voided,
        "outcomes": totals.outcomes,
        "expected": {name: f"{ways / sequences(totals.decks):.6f}" for name, ways in exact.items()},
        "money": {
            currency: {
                "wagers": money.wagers,
                "staked": money.staked,
                "returned": money.returned,
                "commission": money.commission,
            }
            for currency, money in sorted(totals.money.items())
        },
    }
