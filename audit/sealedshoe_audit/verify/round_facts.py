"""A dealt round as JSON values and sentences, for reports."""

from typing import Any

from sealedshoe_audit.baccarat.cards import card_text
from sealedshoe_audit.baccarat.rules import explain
from sealedshoe_audit.fold.result import check_deal, result_name
from sealedshoe_audit.v1 import records_pb2 as pb


def round_json(record: pb.RoundDealt) -> dict[str, Any]:
    """Returns cards, totals, outcome and settlements.

    Raises:
        VerificationError: DEAL, when the record's cards do not make its result.
    """
    finished = check_deal(record.cards[0].position if record.cards else 0, record)
    return {
        "player_cards": [card_text(card) for card in finished.player],
        "banker_cards": [card_text(card) for card in finished.banker],
        "player_total": finished.player_total,
        "banker_total": finished.banker_total,
        "natural": finished.natural,
        "outcome": finished.outcome.name.lower(),
        "settlements": [settlement_json(settled) for settled in record.settlements],
        "steps": explain(finished),
    }


def settlement_json(settled: pb.Settlement) -> dict[str, Any]:
    """Returns one settlement; money in minor units."""
    return {
        "wager_id": settled.wager.wager_id,
        "spot": settled.wager.spot,
        "stake": settled.wager.stake,
        "result": result_name(settled.result),
        "gross_return": settled.gross_return,
        "commission": settled.commission,
        "paid": settled.gross_return - settled.commission,
    }
