"""Counts what was committed, and notes what an operator must hear about."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol

from prometheus_client import Counter

from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.dealing.draft import Draft
from sealedshoe_server.metrics import Metrics


class _HasState(Protocol):
    @property
    def state(self) -> TableState: ...


class Tally:
    """Turns committed drafts into metrics."""

    def __init__(self, metrics: Metrics, on_seed_unavailable: Callable[[str], None]) -> None:
        """Counts into `metrics`; lost seeds are also told to somebody who records them."""
        self._metrics = metrics
        self.seed_unavailable = on_seed_unavailable
        self._rounds = cache(self._rounds_of)  # label children, resolved once
        self._wagers = cache(self._wagers_of)

    def _rounds_of(self, game: str, outcome: pb.Outcome.ValueType) -> Counter:
        name = pb.Outcome.Name(outcome).removeprefix("OUTCOME_").lower()
        return self._metrics.rounds.labels(game, name)

    def _wagers_of(self, game: str, result: game_pb2.BetResult.ValueType) -> Counter:
        name = game_pb2.BetResult.Name(result).removeprefix("BET_RESULT_").lower()
        return self._metrics.wagers.labels(game, name)

    def count_open(self, tables: Iterable[_HasState]) -> None:
        """Sets the gauges from scratch."""
        states = [live.state for live in tables]
        closed = pb.TableState.TABLE_STATE_CLOSED
        self._metrics.open_tables.set(sum(state.state != closed for state in states))
        self._metrics.open_rounds.set(sum(state.round is not None for state in states))

    def replayed(self) -> None:
        """Counts a retry that was answered from the store."""
        self._metrics.replays.inc()

    def committed(self, before: TableState, draft: Draft) -> None:
        """Counts a committed draft; a new table's is given as its own `before`."""
        metrics, after = self._metrics, draft.table
        created = before is after
        opened = (after.round is not None) - (not created and before.round is not None)
        if opened:
            metrics.open_rounds.inc(opened)
        closed = pb.TableState.TABLE_STATE_CLOSED
        if created:
            metrics.open_tables.inc()
        elif after.state == closed and before.state != closed:
            metrics.open_tables.dec()
        for entry in draft.entries:
            if isinstance(entry.record, pb.RoundDealt):
                self._count_result(after.game.game_id, entry.record)
            elif isinstance(entry.record, pb.RoundVoided):
                metrics.voided.labels(pb.VoidCause.Name(entry.record.cause)).inc()
        if draft.new_shoe is not None:
            metrics.shoes.labels(after.game.game_id).inc()

    def _count_result(self, game: str, record: pb.RoundDealt) -> None:
        self._rounds(game, record.outcome).inc()
        for settled in record.settlements:
            self._wagers(game, settled.result).inc()
