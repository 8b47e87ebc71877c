"""What a process holds of one table: the newest state, the cards, who watches."""

import asyncio
from collections import deque

from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.shoe.commitment import Shoe


class LiveTable:
    """One table's cache.

    Attributes:
        lock: held while a command runs.
        shoe: the open shoe's cards, once they were needed; None when no shoe is open.
        players: reference of each standing wager's player, by wager id.
        shoe_opened_at: leaf index of the open shoe's opening, once it was needed; None when unknown.
        results: leaf indexes of rounds dealt that no cosigned head covers, as far as this process knows.
        changed: set anew at each commit, for those who watch.
    """

    def __init__(self, state: TableState, no_round_reason: str) -> None:
        """Starts from a stored state, without cards."""
        self.lock = asyncio.Lock()
        self.state = state
        self.no_round_reason = no_round_reason
        self.shoe: Shoe | None = None
        self.players: dict[str, str] = {}
        self.stale = False
        self.shoe_opened_at: int | None = None
        self.results: deque[int] = deque()
        self.changed = asyncio.Event()
