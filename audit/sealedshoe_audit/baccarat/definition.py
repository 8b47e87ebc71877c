"""A game definition: one version of one game, and what must hold before it may be used."""

import re
from dataclasses import dataclass
from enum import IntEnum

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case
from sealedshoe_audit.baccarat.cards import CARDS_PER_DECK, MAX_DECKS
from sealedshoe_audit.baccarat.facts import FACT_VALUES
from sealedshoe_audit.baccarat.odds import edge_range, rounding_period, theoretical_return
from sealedshoe_audit.baccarat.rules import DEAL_ORDER, MAX_CARDS, RULES
from sealedshoe_audit.baccarat.settlement import INT64_MAX, NotWhole, Rounding
from sealedshoe_audit.errors import DefinitionError

ID = re.compile(r"[a-z0-9-]{1,40}")
MAX_TITLE_BYTES = 64
MAX_BETS = 32
MAX_CASES = 32
MAX_PERIOD = 20_000  # stakes that a verifier looks at for one bet: a few hundredths of a second
MAX_TERM = 10**6  # of a pay or commission ratio: keeps every exact return inside 64 bits


class Shuffle(IntEnum):
    """When a new shoe is shuffled; the numbers are those of the recorded enum."""

    EVERY_ROUND = 1
    CUT_CARD = 2


@dataclass(frozen=True, slots=True)
class GameLimits:
    """Bounds for tables' limits in units of 10^-digits of the currency; "" is any currency."""

    currency: str
    digits: int
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class TableLimits:
    """Stakes a table takes, in minor units.

    Attributes:
        minimum, maximum: bounds of the sum of one player's stakes on a spot in a round.
        step: every single stake is a multiple of it.
        spot_maximum: bound of all players' stakes on a spot in a round; 0 when there is none.
    """

    currency: str
    minimum: int
    maximum: int
    step: int
    spot_maximum: int


@dataclass(frozen=True, slots=True)
class GameDefinition:
    """One version of one game; fields as in game.proto."""

    game_id: str
    version: int
    title: str
    rules: str
    decks: int
    shuffle: Shuffle
    cut_depth: int
    rounds_after_cut: int
    deal_order: str
    bets: tuple[Bet, ...]
    rounding: Rounding
    step_multiple: int
    limits: tuple[GameLimits, ...]
    round_interval_ms: int
    free_rounds: int

    @property
    def cards(self) -> int:
        """n, the number of cards of a shoe."""
        return CARDS_PER_DECK * self.decks

    @property
    def reach(self) -> int:
        """r, the number of positions that can ever be dealt."""
        return MAX_CARDS if self.shuffle is Shuffle.EVERY_ROUND else self.cards

    def bet(self, bet_id: str) -> Bet | None:
        """Returns the bet with this id, if there is one."""
        for bet in self.bets:
            if bet.id == bet_id:
                return bet
        return None

    def rounds_left_after(self, first: int, end: int, rounds_left: int | None) -> int | None:
        """Counts down a shoe's rounds when one has dealt positions [first, end).

        The round in which position n - cut is dealt is followed by exactly `rounds_after_cut` more.

        Args:
            rounds_left: what the round before left; None while the cut card is still in the shoe.

        Returns:
            None while the cut card is in the shoe; else the number of rounds still to be dealt.
        """
        if self.shuffle is Shuffle.EVERY_ROUND:
            return 0
        if rounds_left is not None:
            return rounds_left - 1
        cut = self.cards - self.cut_depth
        return self.rounds_after_cut if first <= cut < end else None


def check_definition(game: GameDefinition) -> None:
    """Checks a definition whole: shape first, then exact returns and bands.

    Raises:
        DefinitionError: naming the field.
    """
    _require(ID.fullmatch(game.game_id) is not None, "game_id", "must be [a-z0-9-]{1,40}")
    _require(1 <= game.version < 2**31, "version", "must be 1 or more")
    _check_title(game.title, "title")
    _require(game.rules == RULES, "rules", f"must be {RULES}")
    _require(1 <= game.decks <= MAX_DECKS, "decks", f"must be 1 to {MAX_DECKS}")
    _require(game.deal_order == DEAL_ORDER, "deal_order", f"must be {DEAL_ORDER}")
    _check_shuffle(game)
    _require(1 <= game.step_multiple <= INT64_MAX, "step_multiple", "must be 1 or more")
    _require(0 <= game.round_interval_ms < 2**31, "round_interval_ms", "must not be negative")
    _require(0 <= game.free_rounds <= 100, "free_rounds", "must be 0 to 100")
    _require(1 <= len(game.bets) <= MAX_BETS, "bets", f"must be 1 to {MAX_BETS}")
    _require(len({bet.id for bet in game.bets}) == len(game.bets), "bets", "ids repeat")
    for index, bet in enumerate(game.bets):
        _check_bet(game, bet, f"bets[{index}]")
    _check_limits(game)


def _require(holds: bool, field: str, problem: str) -> None:
    if not holds:
        raise DefinitionError(field, problem)


def _check_title(title: str, field: str) -> None:
    fits = 0 < len(title.encode()) <= MAX_TITLE_BYTES and title.isprintable()
    _require(fits, field, f"must be 1 to {MAX_TITLE_BYTES} printable bytes")


def _check_shuffle(game: GameDefinition) -> None:
    if game.shuffle is Shuffle.EVERY_ROUND:
        _require(game.cut_depth == 0, "cut_depth", "a shoe of one round has no cut card")
        _require(game.rounds_after_cut == 0, "rounds_after_cut", "there is no cut card")
        return
    _require(game.rounds_after_cut in (0, 1), "rounds_after_cut", "must be 0 or 1")
    least = MAX_CARDS * (game.rounds_after_cut + 1)
    _require(
        least <= game.cut_depth < game.cards, "cut_depth", f"must be {least} to {game.cards - 1}"
    )


def _check_bet(game: GameDefinition, bet: Bet, field: str) -> None:
    _require(ID.fullmatch(bet.id) is not None, f"{field}.id", "must be [a-z0-9-]{1,40}")
    _check_title(bet.title, f"{field}.title")
    _require(1 <= len(bet.cases) <= MAX_CASES, f"{field}.cases", f"must be 1 to {MAX_CASES}")
    for index, case in enumerate(bet.cases):
        _check_case(case, f"{field}.cases[{index}]")
    try:
        exact = theoretical_return(bet, game.decks)
    except LookupError as error:
        raise DefinitionError(f"{field}.cases", "some rounds are decided by no case") from error
    _require(
        bet.declared_return == exact, f"{field}.declared_return", f"the exact return is {exact}"
    )
    _require(exact.denominator < 2**64, f"{field}.cases", "the exact return exceeds 64 bits")
    _require(0 <= bet.edge_minimum <= bet.edge_maximum <= 1, f"{field}.edge", "not a band in 0..1")
    terms = (bet.edge_minimum.denominator, bet.edge_maximum.denominator)
    _require(max(terms) <= MAX_TERM, f"{field}.edge", f"terms must be at most {MAX_TERM}")
    period = rounding_period(bet)
    _require(
        period <= MAX_PERIOD,
        f"{field}.cases",
        f"the pays' denominators have no common multiple of at most {MAX_PERIOD // 2}",
    )
    inside = bet.edge_minimum <= 1 - exact <= bet.edge_maximum
    _require(inside, f"{field}.edge", "the exact edge lies outside the band")


def _check_case(case: Case, field: str) -> None:
    _require(len(case.conditions) <= MAX_CASES, f"{field}.when", f"at most {MAX_CASES} conditions")
    for index, condition in enumerate(case.conditions):
        path = f"{field}.conditions[{index}]"
        _require(condition.fact in FACT_VALUES, path, f"no fact is called {condition.fact!r}")
        _require(
            all(value in FACT_VALUES[condition.fact] for value in condition.values)
            and sorted(set(condition.values)) == list(condition.values)
            and len(condition.values) > 0,
            path,
            "values must be ascending, distinct and in the fact's range",
        )
    if case.result is BetResult.WIN:
        _require(0 < case.pays <= 10_000, f"{field}.pays", "must be above 0 and at most 10000 to 1")
        _require(0 <= case.commission < 1, f"{field}.commission", "must be 0 to below 1")
        terms = (case.pays.numerator, case.pays.denominator, case.commission.denominator)
        _require(max(terms) <= MAX_TERM, f"{field}.pays", f"terms must be at most {MAX_TERM}")
    else:
        none = case.pays == 0 and case.commission == 0
        _require(none, f"{field}.pays", "only a win pays")


def _check_limits(game: GameDefinition) -> None:
    currencies = [limits.currency for limits in game.limits]
    _require(len(set(currencies)) == len(currencies), "limits", "currencies repeat")
    for index, limits in enumerate(game.limits):
        field = f"limits[{index}]"
        known = limits.currency == "" or re.fullmatch("[A-Z]{3}", limits.currency) is not None
        _require(known, f"{field}.currency", "must be three letters, or empty for any currency")
        _require(0 <= limits.digits <= 4, f"{field}.digits", "must be 0 to 4")
        bounds = 0 < limits.minimum <= limits.maximum <= INT64_MAX
        _require(bounds, f"{field}.minimum", "must be above 0 and at most the maximum")


def check_table_limits(game: GameDefinition, limits: TableLimits, digits: int) -> None:
    """Checks a table's limits against its game: step, bounds, and the edge at every allowed stake.

    Args:
        digits: of the table's currency.

    Raises:
        DefinitionError: naming the field.
    """
    step = 0 < limits.step <= INT64_MAX and limits.step % game.step_multiple == 0
    _require(step, "limits.step", f"must be a multiple of {game.step_multiple}")
    bounds = 0 < limits.minimum <= limits.maximum <= INT64_MAX
    _require(bounds, "limits.minimum", "must be above 0 and at most the maximum")
    _require(limits.minimum % limits.step == 0, "limits.minimum", "must be a multiple of the step")
    _require(limits.maximum % limits.step == 0, "limits.maximum", "must be a multiple of the step")
    spot = limits.spot_maximum == 0 or limits.maximum <= limits.spot_maximum <= INT64_MAX
    _require(spot, "limits.spot_maximum", "must be 0 or at least the maximum")
    _check_inside(game, limits, digits)
    for bet in game.bets:
        _check_band(game, bet, limits)


def _check_inside(game: GameDefinition, limits: TableLimits, digits: int) -> None:
    if not game.limits:
        return
    given = {limit.currency: limit for limit in game.limits}
    bound = given.get(limits.currency) or given.get("")
    if bound is None:
        raise DefinitionError("limits.currency", f"the game is not offered in {limits.currency}")
    unit, bound_unit = 10**bound.digits, 10**digits
    _require(
        limits.minimum * unit >= bound.minimum * bound_unit, "limits.minimum", "below the game's"
    )
    _require(
        limits.maximum * unit <= bound.maximum * bound_unit, "limits.maximum", "above the game's"
    )


def _check_band(game: GameDefinition, bet: Bet, limits: TableLimits) -> None:
    """A single wager may be as small as one step: the minimum binds a player's sum on a spot."""
    try:
        low, high = edge_range(
            bet, game.decks, game.rounding, limits.step, limits.maximum, limits.step
        )
    except NotWhole as error:
        raise DefinitionError("limits.step", f"bet {bet.id} would not pay whole units") from error
    except OverflowError as error:
        raise DefinitionError("limits.maximum", f"bet {bet.id} could pay beyond int64") from error
    band = f"the edge of bet {bet.id} would be {float(low):.6f} to {float(high):.6f}"
    _require(bet.edge_minimum <= low and high <= bet.edge_maximum, "limits", band)
    longest = max(1 + case.pays for case in bet.cases)
    _require(
        limits.maximum * longest <= INT64_MAX, "limits.maximum", f"bet {bet.id} could pay too much"
    )
