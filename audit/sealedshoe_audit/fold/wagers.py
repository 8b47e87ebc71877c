"""Wagers as a verifier can check them: limits that need no player's name."""

from collections.abc import Iterable, Sequence

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.records import MAX_ID_BYTES, MAX_WAGERS, check_text
from sealedshoe_audit.v1 import records_pb2 as pb


def check_new_wagers(
    table: TableState, standing: Sequence[pb.Wager], new: Iterable[pb.Wager]
) -> None:
    """Checks wagers that a record adds to a round.

    Raises:
        VerificationError: WAGER or RECORD_LIMITS.
    """
    limits = table.settings.limits
    ids = {wager.wager_id for wager in standing}
    totals: dict[str, int] = {}
    for wager in standing:
        totals[wager.spot] = totals.get(wager.spot, 0) + wager.stake
    for wager in new:
        check_text(wager.wager_id, MAX_ID_BYTES, "wager_id", least=1)
        if wager.wager_id in ids:
            raise _bad("distinct wager ids", wager.wager_id)
        ids.add(wager.wager_id)
        if table.game.bet(wager.spot) is None:
            raise _bad("a bet of the game", wager.spot[:64])
        if not 0 < wager.stake <= limits.maximum or wager.stake % limits.step:
            raise _bad(f"a multiple of {limits.step} up to {limits.maximum}", str(wager.stake))
        if len(wager.player_commitment) != HASH_BYTES:
            raise _bad("a player commitment of 32 bytes", str(len(wager.player_commitment)))
        totals[wager.spot] = totals.get(wager.spot, 0) + wager.stake
    if len(ids) > MAX_WAGERS:
        raise _bad(f"at most {MAX_WAGERS} wagers", str(len(ids)))
    if limits.spot_maximum and max(totals.values(), default=0) > limits.spot_maximum:
        raise _bad(f"at most {limits.spot_maximum} on a spot", str(max(totals.values())))


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.WAGER, expected=expected, found=found)
