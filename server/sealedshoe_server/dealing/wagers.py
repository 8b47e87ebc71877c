"""Wagers as front-ends offer them, checked against the table's limits, player by player."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.records import MAX_ID_BYTES, MAX_WAGERS, player_commitment
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.errors import GameError, Reason, invalid


@dataclass(frozen=True, slots=True, repr=False)
class Offer:
    """A stake on offer. The player's reference stays out of the log, and so does the salt.

    Attributes:
        stake: minor units.
        salt: 16 bytes, fresh for every wager.
    """

    wager_id: str
    spot: str
    stake: int
    player: str
    salt: bytes

    def wager(self) -> pb.Wager:
        """Returns what the log records."""
        return pb.Wager(
            wager_id=self.wager_id,
            spot=self.spot,
            stake=self.stake,
            player_commitment=player_commitment(self.salt, self.player),
        )


def check_offers(table: TableState, offers: Sequence[Offer], players: Mapping[str, str]) -> None:
    """Refuses wagers that the table does not take, naming the field.

    Args:
        players: reference of each standing wager's player, by wager id.

    Raises:
        GameError: the first thing wrong.
    """
    standing = table.round.wagers if table.round is not None else ()
    if len(standing) + len(offers) > MAX_WAGERS:
        raise GameError(
            Reason.TOO_MANY_WAGERS,
            f"a round takes at most {MAX_WAGERS} wagers",
            fields=[("wagers", f"{len(standing)} stand already")],
            metadata={"limit": str(MAX_WAGERS)},
        )
    ids = {wager.wager_id for wager in standing}
    for index, offer in enumerate(offers):
        _check_offer(table, offer, f"wagers[{index}]", ids)
        ids.add(offer.wager_id)
    _check_sums(table, offers, standing, players)


def _check_offer(table: TableState, offer: Offer, field: str, ids: set[str]) -> None:
    check_reference(offer.wager_id, f"{field}.wager_id")
    check_reference(offer.player, f"{field}.player")
    if offer.wager_id in ids:
        raise invalid(
            Reason.WAGER_ID_DUPLICATE, f"{field}.wager_id", "stands already in this round"
        )
    if table.game.bet(offer.spot) is None:
        spots = ", ".join(bet.id for bet in table.game.bets)
        raise invalid(Reason.BET_UNKNOWN, f"{field}.spot", f"must be one of {spots}")
    if offer.stake <= 0:
        raise invalid(Reason.STAKE_NOT_POSITIVE, f"{field}.stake", "must be above 0")
    limits = table.settings.limits
    if offer.stake > limits.maximum:
        raise _out_of_range(
            Reason.STAKE_ABOVE_MAXIMUM, f"{field}.stake", offer.stake, limits.maximum
        )
    if offer.stake % limits.step:
        problem = f"must be a multiple of {limits.step}"
        raise invalid(Reason.STAKE_OFF_STEP, f"{field}.stake", problem)


def check_reference(text: str, field: str) -> None:
    """Checks an id or reference that a caller chose.

    Raises:
        GameError: FIELD_INVALID.
    """
    if not 1 <= len(text.encode()) <= MAX_ID_BYTES or not text.isprintable():
        problem = f"must be 1 to {MAX_ID_BYTES} printable bytes"
        raise invalid(Reason.FIELD_INVALID, field, problem)


def _check_sums(
    table: TableState,
    offers: Sequence[Offer],
    standing: Sequence[pb.Wager],
    players: Mapping[str, str],
) -> None:
    """Minimum and maximum bind the sum of one player's stakes on a spot; a third limit, the spot's."""
    limits = table.settings.limits
    own: dict[tuple[str, str], int] = {}
    spots: dict[str, int] = {}
    for wager in standing:
        key = (players.get(wager.wager_id, ""), wager.spot)
        own[key] = own.get(key, 0) + wager.stake
        spots[wager.spot] = spots.get(wager.spot, 0) + wager.stake
    fields: dict[tuple[str, str], str] = {}
    for index, offer in enumerate(offers):
        key = (offer.player, offer.spot)
        fields[key] = f"wagers[{index}].stake"
        own[key] = own.get(key, 0) + offer.stake
        spots[offer.spot] = spots.get(offer.spot, 0) + offer.stake
    for key, field in fields.items():
        if own[key] < limits.minimum:
            raise _out_of_range(Reason.STAKE_BELOW_MINIMUM, field, own[key], limits.minimum)
        if own[key] > limits.maximum:
            raise _out_of_range(Reason.STAKE_ABOVE_MAXIMUM, field, own[key], limits.maximum)
        if limits.spot_maximum and spots[key[1]] > limits.spot_maximum:
            raise _out_of_range(
                Reason.SPOT_ABOVE_MAXIMUM, field, spots[key[1]], limits.spot_maximum
            )


def _out_of_range(reason: Reason, field: str, amount: int, bound: int) -> GameError:
    below = reason is Reason.STAKE_BELOW_MINIMUM
    problem = f"the sum {amount} is {'below' if below else 'above'} {bound}"
    return GameError(
        reason,
        problem,
        fields=[(field, problem)],
        metadata={"bound": str(bound), "sum": str(amount)},
    )
