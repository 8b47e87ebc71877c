"""Drawing rules of punto banco, deal order `pbpb/1`.

Cards leave the shoe Player, Banker, Player, Banker, then Player's and Banker's third card as the
rules say. A natural (8 or 9 in the first two cards of either hand) stops both hands.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from sealedshoe_audit.baccarat.cards import POINTS

DEAL_ORDER = "pbpb/1"
RULES = "baccarat/1"
MAX_CARDS = 6

# Banker's total -> the values of Player's third card on which Banker draws.
BANKER_DRAWS: tuple[frozenset[int], ...] = (
    frozenset(range(10)),
    frozenset(range(10)),
    frozenset(range(10)),
    frozenset(range(10)) - {8},
    frozenset(range(2, 8)),
    frozenset(range(4, 8)),
    frozenset({6, 7}),
    frozenset(),
)


class Outcome(IntEnum):
    """Who won; the numbers are those of the recorded enum."""

    PLAYER = 1
    BANKER = 2
    TIE = 3


class Hand(IntEnum):
    """To whom a card goes; the numbers are those of the recorded enum."""

    PLAYER = 1
    BANKER = 2


class ShoeExhausted(Exception):
    """Fewer cards are left than the round needs: a definition that allows it is refused at install."""


class Round(NamedTuple):
    """A finished round.

    Attributes:
        player, banker: card codes in the order received, two or three each.
        hands: to whom each card leaving the shoe went, in dealing order.
    """

    player: tuple[int, ...]
    banker: tuple[int, ...]
    player_total: int
    banker_total: int
    natural: bool
    outcome: Outcome
    hands: tuple[Hand, ...]


def player_draws(player_total: int) -> bool:
    """Whether Player takes a third card on a two-card total of 0 to 7."""
    return player_total <= 5


def banker_draws(banker_total: int, player_third: int | None) -> bool:
    """Whether Banker takes a third card.

    Args:
        banker_total: two-card total, 0 to 7.
        player_third: value 0 to 9 of Player's third card; None when Player stood.
    """
    if player_third is None:
        return banker_total <= 5
    return player_third in BANKER_DRAWS[banker_total]


_FOUR = (Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER)
_DEALT_HANDS = {
    (False, False): _FOUR,
    (True, False): (*_FOUR, Hand.PLAYER),
    (False, True): (*_FOUR, Hand.BANKER),
    (True, True): (*_FOUR, Hand.PLAYER, Hand.BANKER),
}


def deal(cards: Sequence[int]) -> Round:
    """Deals one round from the front of `cards`; those left over stay in the shoe.

    Raises:
        ShoeExhausted: the round needs more cards than there are; nothing was dealt.
    """
    if len(cards) < 4:
        raise ShoeExhausted(f"{len(cards)} cards left, a round needs at least 4")
    player = [cards[0], cards[2]]
    banker = [cards[1], cards[3]]
    player_total = (POINTS[player[0]] + POINTS[player[1]]) % 10
    banker_total = (POINTS[banker[0]] + POINTS[banker[1]]) % 10
    natural = player_total >= 8 or banker_total >= 8
    used = 4
    third: int | None = None
    if not natural and player_draws(player_total):
        card = _next(cards, used)
        used += 1
        player.append(card)
        third = POINTS[card]
        player_total = (player_total + third) % 10
    if not natural and banker_draws(banker_total, third):
        card = _next(cards, used)
        banker.append(card)
        banker_total = (banker_total + POINTS[card]) % 10
    return Round(
        tuple(player),
        tuple(banker),
        player_total,
        banker_total,
        natural,
        outcome_of(player_total, banker_total),
        _DEALT_HANDS[len(player) == 3, len(banker) == 3],
    )


def _next(cards: Sequence[int], used: int) -> int:
    if used >= len(cards):
        raise ShoeExhausted(f"{len(cards)} cards left, the round needs card {used + 1}")
    return cards[used]


def outcome_of(player_total: int, banker_total: int) -> Outcome:
    """Compares two final totals."""
    if player_total > banker_total:
        return Outcome.PLAYER
    return Outcome.BANKER if banker_total > player_total else Outcome.TIE


def explain(finished: Round) -> list[str]:
    """Says which drawing rule applied, a sentence a decision, for people."""
    player = sum(POINTS[card] for card in finished.player[:2]) % 10
    banker = sum(POINTS[card] for card in finished.banker[:2]) % 10
    steps = [f"Player has {player}, Banker has {banker} in two cards."]
    if finished.natural:
        return [*steps, "A natural (8 or 9 in two cards): both hands stand."]
    if len(finished.player) == 3:
        third = POINTS[finished.player[2]]
        steps.append(f"Player draws on {player}: third card worth {third}.")
        verb = "draws" if len(finished.banker) == 3 else "stands"
        steps.append(f"Banker {verb} on {banker} against a third card worth {third}.")
    else:
        steps.append(f"Player stands on {player}.")
        verb = "draws" if len(finished.banker) == 3 else "stands"
        steps.append(f"Banker {verb} on {banker}, as Player stood.")
    return steps
