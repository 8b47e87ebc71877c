"""What the clients saw, summed up as the verifier sums the log up, so that both can be compared."""

from collections.abc import Sequence
from typing import Any

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.totals import GameTotals, add_result, totals_json

CURRENCY = "USD"


def clients_totals(results: Sequence[pb.RoundDealt], decks: int) -> dict[str, Any]:
    """Returns the totals of acknowledged rounds of one table, in the verifier's form."""
    totals = GameTotals(decks)
    for record in results:
        add_result(totals, CURRENCY, record)
    return totals_json(totals)


def differences(seen: dict[str, Any], logged: dict[str, Any]) -> list[str]:
    """Says where the clients' totals and the log's differ."""
    return [
        f"{key}: clients saw {seen[key]}, the log has {logged[key]}"
        for key in ("rounds", "outcomes", "money")
        if seen[key] != logged[key]
    ]
