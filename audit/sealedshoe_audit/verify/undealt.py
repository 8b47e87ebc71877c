"""Wagered rounds that were voided, and what they would have paid: known once their shoe is revealed.

A void leaves the shoe's position where it is, so the cards that lay ready can be dealt afterwards.
"""

from dataclasses import dataclass
from typing import Any

from sealedshoe_audit.baccarat.rules import deal
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.log import Applied, Reveal
from sealedshoe_audit.fold.result import settlements
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.names import round_name
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.round_facts import settlement_json

MAX_LISTED = 1000


@dataclass(slots=True)
class _Undealt:
    table: TableState
    cause: str
    would_have: dict[str, Any] | None = None


class UndealtRounds:
    """Collects voided rounds with wagers and settles them when the shoe is revealed.

    Attributes:
        left_out: how many beyond the first 1,000 were only counted.
    """

    def __init__(self, origin: str) -> None:
        """Starts with none, in a log of this origin."""
        self._origin = origin
        self.left_out = 0
        self._rounds: list[_Undealt] = []
        self._waiting: dict[str, list[_Undealt]] = {}

    def take(self, applied: Applied) -> None:
        """Looks at one applied record."""
        before, record = applied.before, applied.record
        if before is None:
            return
        opened = before.round
        if isinstance(record, pb.RoundVoided) and opened is not None and opened.wagers:
            cause = pb.VoidCause.Name(record.cause).removeprefix("VOID_CAUSE_").lower()
            if len(self._rounds) == MAX_LISTED:
                self.left_out += 1
                return
            found = _Undealt(before, cause)
            self._rounds.append(found)
            self._waiting.setdefault(before.table, []).append(found)
        if before.shoe is not None and applied.after is not None and applied.after.shoe is None:
            for waiting in self._waiting.pop(before.table, []):
                waiting.would_have = self._settle(waiting.table, applied.reveal)

    def _settle(self, table: TableState, reveal: Reveal | None) -> dict[str, Any] | None:
        try:
            return None if reveal is None else _settle(table, reveal.check(self._origin).order)
        except VerificationError:
            return None  # a finding of its own

    def json(self) -> list[dict[str, Any]]:
        """Returns every voided wagered round; `would_have_paid` is null unless its shoe was revealed."""
        return [
            {
                "round": round_name(undealt.table.table, undealt.table.round_number),
                "cause": undealt.cause,
                "currency": undealt.table.settings.limits.currency,
                "would_have_paid": undealt.would_have,
            }
            for undealt in self._rounds
        ]


def _settle(table: TableState, order: bytes) -> dict[str, Any]:
    opened = table.round
    if opened is None:
        return {}
    first = opened.first_position
    finished = deal(order[first : first + 6])
    settled = settlements(table.game, finished, opened.wagers)
    return {
        "outcome": finished.outcome.name.lower(),
        "settlements": [settlement_json(settlement) for settlement in settled],
    }
