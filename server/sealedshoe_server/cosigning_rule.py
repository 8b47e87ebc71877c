"""What wagers wait for while witnesses cosign."""

from collections import deque

from sealedshoe_server.cosigning import Cosigner
from sealedshoe_server.errors import GameError, Reason

RETRY_MS = 200


class CosigningRule:
    """A new shoe of several rounds must be cosigned before its first wager; no table runs far ahead."""

    def __init__(self, cosigner: Cosigner, lag_s: float, lag_rounds: int) -> None:
        """Takes the limits of the configuration."""
        self._cosigner = cosigner
        self._lag_us = lag_s * 1_000_000
        self._lag_rounds = lag_rounds

    @property
    def head_hash(self) -> bytes:
        """SHA-256 of the newest cosigned checkpoint; b"" before the first."""
        return self._cosigner.newest.hash

    def check(self, shoe_opened_at: int | None, results: deque[int]) -> None:
        """Checks that a table may take wagers; forgets results that are cosigned by now.

        Args:
            shoe_opened_at: leaf index of the shoe's opening; None for shoes of one round.

        Raises:
            GameError: AWAITING_COSIGNATURE or COSIGNING_BEHIND.
        """
        size = self._cosigner.newest.size
        while results and results[0] < size:
            results.popleft()
        if shoe_opened_at is not None and shoe_opened_at >= size:
            raise GameError(
                Reason.AWAITING_COSIGNATURE,
                "the shoe's opening is not cosigned by a quorum of witnesses yet",
                retry_after_ms=RETRY_MS,
            )
        lag_us = self._cosigner.lag_us()
        if lag_us > self._lag_us or len(results) >= self._lag_rounds:
            raise GameError(
                Reason.COSIGNING_BEHIND,
                f"witnesses are {lag_us // 1_000_000} s or {len(results)} rounds behind",
                retry_after_ms=RETRY_MS,
            )
