"""Bets as definitions, named as the published house edges in baccarat_exact.json name them."""

from fractions import Fraction

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case, Condition

LOSE = Case((), BetResult.LOSE)


def win(pays: str, commission: str = "0", **facts: int | tuple[int, ...]) -> Case:
    """A case that pays when all facts hold."""
    return Case(_conditions(facts), BetResult.WIN, Fraction(pays), Fraction(commission))


def push(**facts: int | tuple[int, ...]) -> Case:
    """A case that returns the stake."""
    return Case(_conditions(facts), BetResult.PUSH)


def _conditions(facts: dict[str, int | tuple[int, ...]]) -> tuple[Condition, ...]:
    return tuple(
        Condition(name, values if isinstance(values, tuple) else (values,))
        for name, values in facts.items()
    )


def bet(*cases: Case) -> Bet:
    """A bet that loses when no case holds."""
    anything = Fraction(0), Fraction(1)
    return Bet("bet", "Bet", (*cases, LOSE), Fraction(0), *anything)


PLAYER, BANKER, TIE = 1, 2, 3
ON_TIE = push(outcome=TIE)
LUCKY = {"outcome": BANKER, "banker_total": 6}


def _dragon_bonus(winner: int) -> Bet:
    pays = {9: "30", 8: "10", 7: "6", 6: "4", 5: "2", 4: "1"}
    margins = [win(to_one, outcome=winner, margin=margin) for margin, to_one in pays.items()]
    naturals = win("1", outcome=winner, natural=1), push(outcome=TIE, natural=1)
    return bet(*naturals, *margins)


BETS: dict[str, Bet] = {
    "player_1to1": bet(win("1", outcome=PLAYER), ON_TIE),
    "banker_1to1_less_5pct (0.95 to 1)": bet(win("1", "1/20", outcome=BANKER), ON_TIE),
    "banker_1to1_less_4pct (0.96 to 1)": bet(win("1", "1/25", outcome=BANKER), ON_TIE),
    "banker_5pct_taken_from_2for1_total (0.90 to 1, misreading)": bet(
        win("1", "1/10", outcome=BANKER), ON_TIE
    ),
    "player_2to1 (misreading of '2 for 1')": bet(win("2", outcome=PLAYER), ON_TIE),
    "banker_no_commission_pays_1to1 (misreading)": bet(win("1", outcome=BANKER), ON_TIE),
    "banker_super6_half_on_6": bet(
        win("1/2", outcome=BANKER, banker_total=6), win("1", outcome=BANKER), ON_TIE
    ),
    "banker_ez_push_on_3card_7": bet(
        push(outcome=BANKER, banker_total=7, banker_cards=3), win("1", outcome=BANKER), ON_TIE
    ),
    "tie_8to1 (= 9 for 1)": bet(win("8", outcome=TIE)),
    "tie_9to1 (= 10 for 1)": bet(win("9", outcome=TIE)),
    "player_lose_on_tie (push rule missing)": bet(win("1", outcome=PLAYER)),
    "banker_lose_on_tie (push rule missing)": bet(win("19/20", outcome=BANKER)),
    "dragon7_40to1": bet(win("40", outcome=BANKER, banker_total=7, banker_cards=3)),
    "panda8_25to1": bet(win("25", outcome=PLAYER, player_total=8, player_cards=3)),
    "lucky6_12_20": bet(win("12", **LUCKY, banker_cards=2), win("20", **LUCKY, banker_cards=3)),
    "small_1.5to1 (4 cards)": bet(win("1.5", cards=4)),
    "big_0.54to1 (5 or 6 cards)": bet(win("0.54", cards=(5, 6))),
    "player_natural_4to1": bet(win("4", player_natural=1)),
    "banker_natural_4to1": bet(win("4", banker_natural=1)),
    "dragon_bonus_player": _dragon_bonus(PLAYER),
    "dragon_bonus_banker": _dragon_bonus(BANKER),
    "player_pair_11to1": bet(win("11", player_pair=1)),
    "banker_pair_11to1": bet(win("11", banker_pair=1)),
    "either_pair_5to1": bet(win("5", player_pair=1), win("5", banker_pair=1)),
    "perfect_pair_25_flat (either or both)": bet(
        win("25", player_perfect_pair=1), win("25", banker_perfect_pair=1)
    ),
    "perfect_pair_25_200 (one / two)": bet(
        win("200", player_perfect_pair=1, banker_perfect_pair=1),
        win("25", player_perfect_pair=1),
        win("25", banker_perfect_pair=1),
    ),
}
COMMISSION_BET = BETS["banker_1to1_less_5pct (0.95 to 1)"]
