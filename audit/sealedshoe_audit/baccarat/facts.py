"""Facts of a finished round: all that a bet's conditions may ask about."""

from typing import NamedTuple

from sealedshoe_audit.baccarat.rules import Outcome, Round


class Facts(NamedTuple):
    """Small integers; a fact that is true or false is 1 or 0.

    Attributes:
        outcome: 1 Player, 2 Banker, 3 Tie.
        player_total, banker_total: final totals, 0 to 9.
        margin: difference of the final totals, 0 to 9.
        player_cards, banker_cards: 2 or 3. cards: their sum, 4 to 6.
        player_natural, banker_natural: 8 or 9 in that hand's first two cards. natural: either.
        player_pair, banker_pair: first two cards of the same rank.
        player_perfect_pair, banker_perfect_pair: and of the same suit.
    """

    outcome: int
    player_total: int
    banker_total: int
    margin: int
    player_cards: int
    banker_cards: int
    cards: int
    natural: int
    player_natural: int
    banker_natural: int
    player_pair: int
    banker_pair: int
    player_perfect_pair: int
    banker_perfect_pair: int


# Ranges of the facts, for checking definitions.
FACT_VALUES: dict[str, range] = {
    "outcome": range(1, 4),
    "player_total": range(10),
    "banker_total": range(10),
    "margin": range(10),
    "player_cards": range(2, 4),
    "banker_cards": range(2, 4),
    "cards": range(4, 7),
    "natural": range(2),
    "player_natural": range(2),
    "banker_natural": range(2),
    "player_pair": range(2),
    "banker_pair": range(2),
    "player_perfect_pair": range(2),
    "banker_perfect_pair": range(2),
}
FACT_INDEX = {name: index for index, name in enumerate(Facts._fields)}


class Scored(NamedTuple):
    """What facts are made of: final totals, card counts and pair grades (0 none, 1 pair, 2 perfect)."""

    player_total: int
    banker_total: int
    player_cards: int
    banker_cards: int
    natural: bool
    player_pair: int
    banker_pair: int


def facts_of(scored: Scored, outcome: Outcome) -> Facts:
    """Works out every fact. A hand that stops on a natural keeps its two-card total."""
    player, banker, player_cards, banker_cards, natural, player_pair, banker_pair = scored
    return Facts(
        int(outcome),
        player,
        banker,
        abs(player - banker),
        player_cards,
        banker_cards,
        player_cards + banker_cards,
        1 if natural else 0,
        1 if natural and player >= 8 else 0,
        1 if natural and banker >= 8 else 0,
        1 if player_pair else 0,
        1 if banker_pair else 0,
        1 if player_pair == 2 else 0,
        1 if banker_pair == 2 else 0,
    )


def round_facts(finished: Round) -> Facts:
    """Returns the facts of a dealt round."""
    scored = Scored(
        finished.player_total,
        finished.banker_total,
        len(finished.player),
        len(finished.banker),
        finished.natural,
        _pair_grade(finished.player),
        _pair_grade(finished.banker),
    )
    return facts_of(scored, finished.outcome)


def _pair_grade(hand: tuple[int, ...]) -> int:
    if hand[0] == hand[1]:
        return 2
    return int(hand[0] % 13 == hand[1] % 13)
