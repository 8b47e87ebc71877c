"""Vectors of dealing, settlement, definitions and settings."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.definition_record import definition_message
from sealedshoe_audit.v1 import game_pb2 as pb
from sealedshoe_audit.v1.records_pb2 import TableSettings
from tests.audit.baccarat.games import GAMES, game
from tests.audit.baccarat.reference import cards_worth, reference_round
from tests.differential.games import made_up
from tests.vectors.make.suite import Suite

Change = Callable[[Any], object]
OUTCOMES = ("player", "banker", "tie")


def deal() -> Suite:
    """Every pair of two-card totals with every third card that matters, and Banker's third beside."""
    suite = Suite("deal", "tests/audit/baccarat/reference.py: the drawing chart of the rule books")
    for player, banker, third in product(range(10), range(10), range(10)):
        values = [_half(player), _half(banker), player, banker, third, (third * 7 + 3) % 10]
        values[2] = (player - values[0]) % 10
        values[3] = (banker - values[1]) % 10
        cards = cards_worth(values)
        name = f"Player {player}, Banker {banker}, then a {third}"
        suite.good(name, {"cards": cards.hex()}, _dealt(cards, values))
    return suite


def _half(total: int) -> int:
    return (total * 3 + 4) % 10


def _dealt(cards: bytes, values: list[int]) -> dict[str, Any]:
    player_total, banker_total, players, bankers = reference_round(values)
    player = [cards[0], cards[2], *([cards[4]] if players == 3 else [])]
    last = cards[4 + players - 2]
    banker = [cards[1], cards[3], *([last] if bankers == 3 else [])]
    two = ((values[0] + values[2]) % 10, (values[1] + values[3]) % 10)
    outcome = (player_total < banker_total) + 2 * (player_total == banker_total)
    return {
        "player": player,
        "banker": banker,
        "player_total": player_total,
        "banker_total": banker_total,
        "natural": max(two) >= 8,
        "outcome": OUTCOMES[outcome],
    }


def encoded(definition: GameDefinition) -> str:
    """Returns a definition as it is recorded, in hex."""
    return definition_message(definition).SerializeToString(deterministic=True).hex()


# Rounds that decide bets differently, as card values in dealing order.
ROUNDS = {
    "Player wins with a natural": (9, 2, 0, 5),
    "Banker wins with a natural": (2, 8, 5, 0),
    "naturals tie": (9, 4, 0, 5),
    "Banker wins with 6 in two cards": (1, 6, 5, 0, 0),
    "Banker wins with 6 in three cards": (0, 1, 6, 4, 1),
    "Banker wins with 7 in three cards": (1, 2, 5, 0, 5),
    "Player wins with 8 in three cards": (2, 2, 1, 5, 5),
    "a tie in five cards": (1, 3, 2, 4, 4),
    "a tie in six cards": (0, 0, 1, 1, 5, 5),
    "Player wins by nine": (1, 0, 3, 0, 5, 0),
    "pairs on both sides": (3, 4, 3, 4),
    "Banker wins by one": (1, 3, 1, 3, 3),
}
STAKES = (1, 2, 3, 10, 25, 30, 50, 99, 333, 10**6 + 1)


def settle() -> Suite:
    """Every bet of every game on rounds that decide them differently, with every rounding."""
    suite = Suite("settle", "docs/protocol.md, 2, by fractions in tests/vectors/make/games.py")
    for definition in _settled_games():
        for name, values in ROUNDS.items():
            cards = cards_worth(values)
            given: dict[str, Any] = {"definition": encoded(definition), "cards": cards.hex()}
            facts = _facts(cards, list(values))
            found: list[Any] = []
            given["wagers"] = wagers = []
            for stake, bet in product(_stakes(definition), definition.bets):
                wagers.append({"spot": bet.id, "stake": str(stake)})
                found.append(_settled(definition, bet.id, facts, stake))
            suite.good(f"{definition.game_id}: {name}", given, {"settlements": found})
    _refused(suite)
    return suite


def _settled_games() -> Iterator[GameDefinition]:
    yield from (game(name) for name in GAMES)
    for rounding in Rounding:
        offers = [o.game for o in made_up() if o.game.rounding is rounding]
        yield from offers[:2]


def _stakes(definition: GameDefinition) -> list[int]:
    if definition.rounding is Rounding.EXACT:
        step = definition.step_multiple
        return [step, 2 * step, 3 * step, 999 * step, 10**12 * step]
    return list(STAKES)


def _facts(cards: bytes, values: list[int]) -> dict[str, int]:
    """The facts of docs/protocol.md, 2, once more."""
    padded = [*values, *([0] * (6 - len(values)))]
    player, banker, players, bankers = reference_round(padded)
    natural = max((values[0] + values[2]) % 10, (values[1] + values[3]) % 10) >= 8
    ranks = [card % 13 for card in cards]
    return {
        "outcome": 1 if player > banker else 2 if banker > player else 3,
        "player_total": player,
        "banker_total": banker,
        "margin": abs(player - banker),
        "player_cards": players,
        "banker_cards": bankers,
        "cards": players + bankers,
        "natural": natural,
        "player_natural": natural and player >= 8,
        "banker_natural": natural and banker >= 8,
        "player_pair": ranks[0] == ranks[2],
        "banker_pair": ranks[1] == ranks[3],
        "player_perfect_pair": cards[0] == cards[2],
        "banker_perfect_pair": cards[1] == cards[3],
    }


def _settled(
    definition: GameDefinition, bet_id: str, facts: dict[str, int], stake: int
) -> dict[str, str]:
    bet = next(b for b in definition.bets if b.id == bet_id)
    case = next(
        c for c in bet.cases if all(int(facts[x.fact]) in x.values for x in c.conditions)
    )
    result = ("win", "push", "lose")[case.result - 1]
    gross = net = 0
    if result == "win":
        gross = _rounded(stake * case.pays, definition.rounding)
        net = _rounded(stake * case.pays * (1 - case.commission), definition.rounding)
    returned = 0 if result == "lose" else stake + gross
    paid = returned - (gross - net)
    amounts = {"gross_return": returned, "commission": gross - net, "paid": paid}
    return {"result": result, **{name: str(value) for name, value in amounts.items()}}


def _rounded(exact: Fraction, rounding: Rounding) -> int:
    below = exact.numerator // exact.denominator
    rest = exact - below
    half = Fraction(1, 2)
    up = {
        Rounding.EXACT: False,
        Rounding.DOWN: False,
        Rounding.HALF_UP: rest >= half,
        Rounding.HALF_EVEN: rest > half or (rest == half and below % 2 == 1),
        Rounding.UP: rest > 0,
    }[rounding]
    assert rounding is not Rounding.EXACT or not rest
    return below + up


def _refused(suite: Suite) -> None:
    banker_wins = cards_worth((2, 8, 5, 0)).hex()
    given = {"definition": encoded(game("punto-banco-6d")), "cards": banker_wins}
    for name, stake in (("not whole", 30), ("beyond int64", 20 * (2**62 // 10))):
        wagers = [{"spot": "banker", "stake": str(stake)}]
        suite.bad(f"a payment {name}", given | {"wagers": wagers}, "SETTLEMENT")


def definition() -> Suite:
    """The shipped and the made-up games with their exact odds, and a broken twin for every rule."""
    source = "odds as the games' files declare them, checked by tests/audit/baccarat; broken by hand"
    suite = Suite("definition", source)
    for given in [*(game(name) for name in GAMES), *(o.game for o in made_up())]:
        declared = [{"bet": b.id, "return": _text(b.declared_return)} for b in given.bets]
        name = f"{given.game_id} version {given.version}, {len(suite.cases)}"
        suite.good(name, {"definition": encoded(given)}, {"odds": declared})
    for name, change in BROKEN.items():
        message = definition_message(game("shoe-6d"))
        change(message)
        data = message.SerializeToString(deterministic=True).hex()
        suite.bad(name, {"definition": data}, "GAME_DEFINITION")
    return suite


def _text(ratio: Fraction) -> str:
    return f"{ratio.numerator}/{ratio.denominator}"


def _set(name: str, value: Any) -> Change:
    """Sets a field by its path, as `bets.0.title`."""
    *way, last = name.split(".")

    def change(message: Any) -> None:
        for step in way:
            message = message[int(step)] if step.isdigit() else getattr(message, step)
        setattr(message, last, value)

    return change


def _limits(**values: Any) -> Change:
    usual = {"currency": "USD", "digits": 2, "minimum": 100, "maximum": 200}
    return lambda m: m.limits.add(**(usual | values))


def _twice(change: Change) -> Change:
    return lambda m: (change(m), change(m))


BROKEN: dict[str, Change] = {
    **{f"game id {x!r}": _set("game_id", x) for x in ("", "A", "a" * 41, "a b", "ä", "a\n")},
    **{f"version {x}": _set("version", x) for x in (0, 2**31, 2**32 - 1)},
    **{f"title {x!r}": _set("title", x) for x in ("", "x" * 65, "é" * 33, "a\n", "\u200b", "\u00a0")},
    "other rules": _set("rules", "baccarat/2"),
    "other deal order": _set("deal_order", "ppbb/1"),
    **{f"{x} decks": _set("decks", x) for x in (0, 9, 5, 2**32 - 1)},
    **{f"shuffle {x}": _set("shuffle", x) for x in (0, 1, 3)},
    **{f"rounding {x}": _set("rounding", x) for x in (0, 6)},
    **{f"cut depth {x}": _set("cut_depth", x) for x in (0, 11, 312, 2**32 - 1)},
    "two rounds after the cut": _set("rounds_after_cut", 2),
    **{f"step multiple {x}": _set("step_multiple", x) for x in (0, -1)},
    "round interval 2^31": _set("round_interval_ms", 2**31),
    "101 free rounds": _set("free_rounds", 101),
    "no bet": lambda m: m.ClearField("bets"),
    "33 bets": lambda m: m.bets.extend([m.bets[0]] * 30),
    "a bet twice": lambda m: m.bets.append(m.bets[0]),
    **{f"bet id {x!r}": _set("bets.0.id", x) for x in ("", "A", "a" * 41, "_")},
    **{f"bet title {x!r}": _set("bets.0.title", x) for x in ("", "x" * 65, "\t")},
    "a bet without cases": lambda m: m.bets[0].ClearField("cases"),
    "33 cases": lambda m: m.bets[0].cases.extend([m.bets[0].cases[2]] * 30),
    "33 conditions": lambda m: m.bets[0].cases[0].conditions.extend(
        [m.bets[0].cases[0].conditions[0]] * 32
    ),
    "rounds that no case decides": lambda m: m.bets[0].cases.pop(),
    **{f"result {x}": _set("bets.0.cases.2.result", x) for x in (0, 1, 4)},
    "an unknown fact": _set("bets.0.cases.0.conditions.0.fact", "weather"),
    "no fact": _set("bets.0.cases.0.conditions.0.fact", ""),
    "no values": lambda m: m.bets[0].cases[0].conditions[0].ClearField("values"),
    "values not ascending": lambda m: m.bets[0].cases[0].conditions[0].values.append(1),
    "a value out of range": lambda m: m.bets[0].cases[0].conditions[0].values.append(4),
    "a value below the range": lambda m: m.bets[0].cases[0].conditions[0].values.insert(0, 0),
    **{
        f"pays {n}/{d}": lambda m, n=n, d=d: m.bets[0].cases[0].pays.MergeFrom(
            pb.Ratio(numerator=n, denominator=d)
        )
        for n, d in ((2, 2), (10_001, 1), (3, 1), (1, 10**6 + 1), (2**64 - 1, 1), (2**64 - 1, 2))
    },
    "pays over zero": _set("bets.0.cases.0.pays.denominator", 0),
    "pays nothing": lambda m: m.bets[0].cases[0].pays.Clear() or m.bets[0].cases[0].pays.SetInParent(),
    "pays 0 of 1": _set("bets.0.cases.0.pays.numerator", 0),
    "a win without pays": lambda m: m.bets[0].cases[0].ClearField("pays"),
    "a push that pays": _set("bets.0.cases.1.pays.numerator", 1),
    "commission 1": lambda m: m.bets[1].cases[0].commission.MergeFrom(
        pb.Ratio(numerator=1, denominator=1)
    ),
    "commission 2/40": lambda m: m.bets[1].cases[0].commission.MergeFrom(
        pb.Ratio(numerator=2, denominator=40)
    ),
    "commission 0 of 1": lambda m: m.bets[1].cases[0].commission.MergeFrom(
        pb.Ratio(numerator=0, denominator=1)
    ),
    "commission 1/21": _set("bets.1.cases.0.commission.denominator", 21),
    "commission with a period too long": _set("bets.1.cases.0.commission.denominator", 999_983),
    "no commission": lambda m: m.bets[1].cases[0].ClearField("commission"),
    "another return": _set("bets.0.declared_return.numerator", 1),
    "a return over zero": _set("bets.0.declared_return.denominator", 0),
    "no return": lambda m: m.bets[0].ClearField("declared_return"),
    "an edge above the band": _set("bets.0.edge_maximum.numerator", 1),
    "an edge below the band": lambda m: m.bets[0].edge_minimum.MergeFrom(
        pb.Ratio(numerator=1, denominator=70)
    ),
    "a band over zero": _set("bets.0.edge_minimum.denominator", 0),
    "no band": lambda m: m.bets[0].ClearField("edge_minimum"),
    "a band above 1": lambda m: m.bets[0].edge_maximum.MergeFrom(
        pb.Ratio(numerator=201, denominator=200)
    ),
    **{f"limits in {x!r}": _limits(currency=x) for x in ("usd", "US", "USDX", "U1D", "ÄÖÜ")},
    "limits with 5 digits": _limits(digits=5),
    "limits from 0": _limits(minimum=0),
    "limits from -1": _limits(minimum=-1),
    "limits upside down": _limits(maximum=99),
    "limits twice": _twice(_limits()),
}


def settings() -> Suite:
    """Table settings that fit their game, and one broken twin for every rule."""
    suite = Suite("settings", "docs/protocol.md, 7.5, by hand")
    for name in GAMES:
        given = _setting(name)
        suite.good(name, given, {})
    for name, changes in BAD_SETTINGS.items():
        suite.bad(name, _setting("mini-baccarat-8d", **changes), "TABLE_SETTINGS")
    suite.bad("a dealer too long", _setting("shoe-8d", dealer="d" * 65), "RECORD_LIMITS")
    return suite


def _setting(name: str, **changes: Any) -> dict[str, str]:
    limits = {"currency": "USD", "minimum": 500, "maximum": 10_000, "step": 20, "spot_maximum": 0}
    more = {"currency_digits": 2, "dealer": ""}
    for key, value in changes.items():
        (limits if key in limits else more)[key] = value
    chosen = game(name)
    message = TableSettings(
        game_id=chosen.game_id, game_version=chosen.version, limits=pb.Limits(**limits), **more
    )
    data = message.SerializeToString(deterministic=True)
    return {"definition": encoded(chosen), "settings": data.hex()}


BAD_SETTINGS: dict[str, dict[str, Any]] = {
    **{f"currency {x!r}": {"currency": x} for x in ("", "EUR", "usd", "XAU", "JPY")},
    **{f"{x} digits": {"currency_digits": x} for x in (0, 1, 3)},
    **{f"step {x}": {"step": x} for x in (0, -20, 10, 30)},
    **{f"minimum {x}": {"minimum": x} for x in (0, -500, 480, 510, 10_020)},
    **{f"maximum {x}": {"maximum": x} for x in (0, 480, 9_990, 50_020)},
    **{f"spot maximum {x}": {"spot_maximum": x} for x in (-1, 1, 9_999)},
}
