"""What a log leaves open at its end: shoes that are not revealed, rounds with wagers that are not dealt."""

from collections.abc import Mapping
from typing import Any

from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.names import round_name, table_name


def unclosed_shoes(tables: Mapping[str, TableState], now_us: int) -> list[dict[str, Any]]:
    """Returns every open shoe with the time since its table's last record, in seconds."""
    return [
        {
            "table": table_name(name),
            "shoe_number": state.shoe.opening.shoe_number,
            "cards_dealt": state.shoe.position,
            "age_s": max(0, now_us - state.time_us) // 1_000_000,
        }
        for name, state in sorted(tables.items())
        if state.shoe is not None
    ]


def unfinished_rounds(tables: Mapping[str, TableState], now_us: int) -> list[dict[str, Any]]:
    """Returns every open round that has wagers, with its age in seconds."""
    return [
        {
            "round": round_name(name, state.round_number),
            "wagers": len(state.round.wagers),
            "age_s": max(0, now_us - state.round.opened_us) // 1_000_000,
        }
        for name, state in sorted(tables.items())
        if state.round is not None and state.round.wagers
    ]
