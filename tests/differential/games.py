"""Games for random stories: the shipped seven, and made-up ones of every bet, rounding and shuffle."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random

from sealedshoe_audit.baccarat.bets import Bet
from sealedshoe_audit.baccarat.definition import (
    GameDefinition,
    GameLimits,
    Shuffle,
    TableLimits,
    check_definition,
    check_table_limits,
)
from sealedshoe_audit.baccarat.odds import theoretical_return
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.errors import DefinitionError
from sealedshoe_audit.v1 import game_pb2 as pb
from tests.audit.baccarat.bets_data import BETS
from tests.audit.baccarat.games import GAMES, game

MADE_UP = 40


@dataclass(frozen=True, slots=True)
class Offer:
    """A game, and the limits of a table that may offer it."""

    game: GameDefinition
    limits: pb.Limits
    digits: int


def offer(random: Random) -> Offer:
    """Returns a game that a table may offer, often with a cut card near the front."""
    if random.random() < 0.4:
        return random.choice(made_up())
    chosen = game(random.choice(GAMES))
    if chosen.shuffle is Shuffle.CUT_CARD and random.random() < 0.8:
        chosen = _short(chosen, random)
    limits = pb.Limits(currency="USD", minimum=500, maximum=10_000, step=20)
    return Offer(chosen, limits, 2)


def _short(chosen: GameDefinition, random: Random) -> GameDefinition:
    depth = chosen.cards - random.randrange(1, 30)
    after, free = random.choice((0, 1)), random.choice((0, 0, 3))
    return replace(chosen, game_id="s", cut_depth=depth, rounds_after_cut=after, free_rounds=free)


@cache
def made_up() -> list[Offer]:
    """Few enough that exact odds are worked out once for each."""
    found: list[Offer] = []
    for candidate in _candidates(Random("made-up games")):
        if _is_sound(candidate):
            found.append(candidate)
        if len(found) == MADE_UP:
            return found
    raise AssertionError("endless candidates came to an end")


def _candidates(random: Random) -> Iterator[Offer]:
    while True:
        decks = random.randint(1, 8)
        names = random.sample(sorted(BETS), random.randint(1, 6))
        bets = tuple(_bet(BETS[name], n, decks) for n, name in enumerate(names))
        shuffle = random.choice(tuple(Shuffle))
        cut = shuffle is Shuffle.CUT_CARD
        step = random.choice((1, 5, 20, 100))
        made = GameDefinition(
            game_id=f"made-up-{decks}",
            version=random.randint(1, 9),
            title="Made up – Bära",
            rules="baccarat/1",
            decks=decks,
            shuffle=shuffle,
            cut_depth=random.randrange(12, 52 * decks) if cut else 0,
            rounds_after_cut=random.randrange(2) if cut else 0,
            deal_order="pbpb/1",
            bets=bets,
            rounding=random.choice(tuple(Rounding)),
            step_multiple=step,
            limits=random.choice(((), (GameLimits("", 0, 1, 10**6),))),
            round_interval_ms=random.choice((0, 1000)),
            free_rounds=random.choice((0, 2)),
        )
        currency, digits = random.choice((("USD", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4)))
        most = step * 10**digits * random.randint(2, 50)
        yield Offer(
            made,
            pb.Limits(
                currency=currency,
                minimum=step * 10**digits,
                maximum=most,
                step=step,
                spot_maximum=random.choice((0, 10 * most)),
            ),
            digits,
        )


def _bet(known: Bet, n: int, decks: int) -> Bet:
    exact = theoretical_return(known, decks)
    return replace(
        known,
        id=f"bet-{n}",
        declared_return=exact,
        edge_minimum=Fraction(0),
        edge_maximum=Fraction(1),
    )


def _is_sound(candidate: Offer) -> bool:
    limits = candidate.limits
    given = TableLimits(
        limits.currency, limits.minimum, limits.maximum, limits.step, limits.spot_maximum
    )
    try:
        check_definition(candidate.game)
        check_table_limits(candidate.game, given, candidate.digits)
    except DefinitionError:
        return False
    return True
