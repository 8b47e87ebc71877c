"""Exact odds by enumeration with integers: all ordered six-card sequences of a fresh shoe.

Sequences are counted, not visited: hands are grouped by ranks, third cards by value, and every group
is weighted with the number of sequences it stands for. Nothing is sampled and nothing is rounded.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from math import gcd, lcm, perm

from sealedshoe_audit.baccarat.bets import Bet, BetResult
from sealedshoe_audit.baccarat.cards import RANK_POINTS
from sealedshoe_audit.baccarat.facts import Facts, Scored, facts_of
from sealedshoe_audit.baccarat.rules import banker_draws, outcome_of, player_draws
from sealedshoe_audit.baccarat.settlement import Rounding, settle


def sequences(decks: int) -> int:
    """Number of ordered six-card sequences of a fresh shoe."""
    return perm(52 * decks, 6)


@cache
def round_counts(decks: int) -> dict[Facts, int]:
    """Counts, for every set of facts a round can have, the six-card sequences that lead to it.

    About 0.2 s for any number of decks, then kept.
    """
    counts: Counter[tuple[int, int, int, int, bool, int, int]] = Counter()
    for (player, player_pair, banker, banker_pair), ways in _two_card_hands(decks).items():
        left = [4 * decks] * 10
        left[0] = 16 * decks
        for value in (*player, *banker):
            left[value] -= 1
        for total_p, total_b, cards_p, cards_b, natural, draws in _third_cards(
            sum(player) % 10, sum(banker) % 10, left
        ):
            key = (total_p, total_b, cards_p, cards_b, natural, player_pair, banker_pair)
            counts[key] += ways * draws
    return {
        facts_of(Scored(*key), outcome_of(key[0], key[1])): ways for key, ways in counts.items()
    }


def _two_card_hands(decks: int) -> Counter[tuple[tuple[int, int], int, tuple[int, int], int]]:
    """Ways to deal P1 B1 P2 B2, by both hands' values and pair grades."""
    hands: Counter[tuple[tuple[int, int], int, tuple[int, int], int]] = Counter()
    for player_ranks, player_pair, player_ways in _hands(decks, (), 0):
        player = _values(player_ranks)
        for banker_ranks, banker_pair, banker_ways in _hands(decks, player_ranks, player_pair):
            key = (player, player_pair, _values(banker_ranks), banker_pair)
            hands[key] += player_ways * banker_ways
    return hands


def _values(ranks: tuple[int, int]) -> tuple[int, int]:
    low, high = sorted((RANK_POINTS[ranks[0]], RANK_POINTS[ranks[1]]))
    return low, high


def _hands(
    decks: int, gone: tuple[int, ...], gone_pair: int
) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yields (ranks, pair grade, ordered ways) of a two-card hand when `gone` has left the shoe."""
    for first in range(13):
        left = 4 * decks - gone.count(first)
        perfect = _perfect_ways(decks, gone.count(first), gone_pair)
        if perfect:
            yield (first, first), 2, perfect
        yield (first, first), 1, left * (left - 1) - perfect
        for second in range(first + 1, 13):
            yield (first, second), 0, 2 * left * (4 * decks - gone.count(second))


def _perfect_ways(decks: int, gone: int, gone_pair: int) -> int:
    """Ordered ways to draw two identical cards of a rank of which `gone` cards have left."""
    suits = [decks] * 4
    if gone == 1:
        suits[0] -= 1
    elif gone == 2 and gone_pair == 2:
        suits[0] -= 2
    elif gone == 2:
        suits[0] -= 1
        suits[1] -= 1
    return sum(suit * (suit - 1) for suit in suits)


def _third_cards(
    player: int, banker: int, left: list[int]
) -> Iterator[tuple[int, int, int, int, bool, int]]:
    """Yields final totals, card counts, natural and the ordered ways to draw cards five and six."""
    cards = sum(left)
    if player >= 8 or banker >= 8:
        yield player, banker, 2, 2, True, cards * (cards - 1)
        return
    if not player_draws(player):
        if not banker_draws(banker, None):
            yield player, banker, 2, 2, False, cards * (cards - 1)
            return
        for value in range(10):
            yield player, (banker + value) % 10, 2, 3, False, left[value] * (cards - 1)
        return
    for third in range(10):
        ways = left[third]
        total = (player + third) % 10
        if not banker_draws(banker, third):
            yield total, banker, 3, 2, False, ways * (cards - 1)
            continue
        left[third] -= 1
        for value in range(10):
            yield total, (banker + value) % 10, 3, 3, False, ways * left[value]
        left[third] += 1


@lru_cache(maxsize=256)
def case_counts(bet: Bet, decks: int) -> tuple[int, ...]:
    """Counts the six-card sequences that each case of the bet decides.

    Raises:
        LookupError: some round is decided by no case.
    """
    index = {id(case): position for position, case in enumerate(bet.cases)}
    counts = [0] * len(bet.cases)
    for facts, ways in round_counts(decks).items():
        counts[index[id(bet.case(facts))]] += ways
    return tuple(counts)


def theoretical_return(bet: Bet, decks: int) -> Fraction:
    """Exact return to player per unit staked, before rounding."""
    counts = case_counts(bet, decks)
    net = sum((count * case.net for count, case in zip(counts, bet.cases, strict=True)), Fraction())
    return 1 + net / sequences(decks)


def hit_rate(bet: Bet, decks: int) -> Fraction:
    """Exact probability that the bet wins."""
    counts = case_counts(bet, decks)
    won = sum(n for n, case in zip(counts, bet.cases, strict=True) if case.result is BetResult.WIN)
    return Fraction(won, sequences(decks))


def rounding_period(bet: Bet) -> int:
    """After so many minor units of stake, what rounding does to the bet's payments repeats."""
    pays = (case.pays.denominator for case in bet.cases)
    return 2 * lcm(*pays, *(case.net.denominator for case in bet.cases))


def edge_range(
    bet: Bet, decks: int, rounding: Rounding, minimum: int, maximum: int, step: int
) -> tuple[Fraction, Fraction]:
    """Smallest and largest house edge over all allowed stakes, after rounding.

    Rounding errors repeat with the stake modulo the payments' denominators (halves to even: twice
    them), and weigh less the larger
    the stake: the smallest stake of each residue class is its extreme, and the unrounded edge is the
    limit that larger stakes approach. One period of stakes is therefore enough, and exact.

    Raises:
        settlement.NotWhole: rounding is EXACT and some allowed stake has a payment that is not whole.
    """
    counts = case_counts(bet, decks)
    period = rounding_period(bet)
    first = -(-minimum // step) * step
    last = min(maximum, first + step * (period // gcd(period, step) - 1))
    total = sequences(decks)
    edges: list[Fraction] = []
    for stake in range(first, last + 1, step):
        returned = 0
        for count, case in zip(counts, bet.cases, strict=True):
            returned += count * settle(case, stake, rounding).paid
        edges.append(1 - Fraction(returned, total * stake))
    return min(edges), max(edges)
