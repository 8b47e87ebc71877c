"""The rules and paytable as players read them, made from the definition that settles the bets."""

from fractions import Fraction

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case
from sealedshoe_audit.baccarat.definition import GameDefinition, GameLimits, Shuffle
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.currencies import format_amount

_DRAWING = """\
Card values: ace 1, two to nine face value, ten, jack, queen and king 0. A hand's total is the last
digit of the sum of its cards. Player and Banker get two cards each, in the order Player, Banker,
Player, Banker. A natural, 8 or 9 in the first two cards of either hand, stops both hands.
Otherwise Player draws a third card on 0 to 5 and stands on 6 and 7. If Player stood, Banker draws
on 0 to 5 and stands on 6 and 7. If Player drew, Banker's total and Player's third card decide:
  0 to 2: Banker draws.
  3: Banker draws unless the third card is an 8.
  4: Banker draws on a third card of 2 to 7.
  5: Banker draws on a third card of 4 to 7.
  6: Banker draws on a third card of 6 or 7.
  7: Banker stands.
The higher total wins; equal totals are a tie. Every bet is settled separately."""

_ROUNDING = {
    Rounding.EXACT: "is never rounded: the bet step makes every payment whole",
    Rounding.DOWN: "is rounded down to the minor unit",
    Rounding.HALF_UP: "is rounded to the nearest minor unit, halves up",
    Rounding.HALF_EVEN: "is rounded to the nearest minor unit, halves to even",
    Rounding.UP: "is rounded up to the minor unit",
}


def rules_text(game: GameDefinition) -> str:
    """Returns the whole text, lines of at most 100 characters."""
    lines = [
        f"{game.title} (version {game.version})",
        "",
        *_shoe_lines(game),
        "",
        _DRAWING,
        "",
        "Bets",
    ]
    for bet in game.bets:
        lines += _bet_lines(bet)
    lines += ["", *_money_lines(game)]
    return "\n".join(lines) + "\n"


def _shoe_lines(game: GameDefinition) -> list[str]:
    shoe = f"{game.decks} decks of 52 cards" if game.decks > 1 else "1 deck of 52 cards"
    if game.shuffle is Shuffle.EVERY_ROUND:
        return [f"{shoe}, shuffled anew for every round."]
    after = "one more round is dealt" if game.rounds_after_cut else "no further round is dealt"
    return [
        f"{shoe}, dealt through to a cut card {game.cut_depth} cards from the end. No card is burned.",
        f"The round that deals the card behind the cut card is finished and {after};",
        "then a new shoe is shuffled.",
    ]


def _bet_lines(bet: Bet) -> list[str]:
    lines = [f"  {bet.title}: exact return {percent(bet.declared_return)} %"]
    lines += [f"    {case_text(case)}" for case in bet.cases]
    return lines


def case_text(case: Case) -> str:
    """Says in words when a case holds and what it brings."""
    when = " and ".join(_condition_text(c.fact, c.values) for c in case.conditions) or "otherwise"
    if case.result is BetResult.LOSE:
        return f"{when}: the stake is lost"
    if case.result is BetResult.PUSH:
        return f"{when}: the stake is returned"
    text = f"{when}: pays {_to_one(case.pays)} ({_for_one(case.pays)})"
    if case.commission:
        text = f"{when}: pays {_to_one(case.pays)} less {percent(case.commission)} % commission"
        text += f" on the winnings = {_to_one(case.net)} ({_for_one(case.net)})"
    return text


_OUTCOME_TEXT = {1: "Player wins", 2: "Banker wins", 3: "a tie"}


def _condition_text(fact: str, values: tuple[int, ...]) -> str:
    name = fact.replace("_", " ")
    if fact == "outcome":
        return " or ".join(_OUTCOME_TEXT[value] for value in values)
    if fact.endswith(("pair", "natural")):
        return name if values == (1,) else f"no {name}"
    return f"{name} {' or '.join(str(value) for value in values)}"


def _to_one(ratio: Fraction) -> str:
    return f"{ratio.numerator} to {ratio.denominator}"


def _for_one(ratio: Fraction) -> str:
    return f"{ratio.numerator + ratio.denominator} for {ratio.denominator}"


def percent(ratio: Fraction, places: int = 6) -> str:
    """Writes a non-negative ratio in percent, rounded half up; trailing zeros go when it is whole."""
    scaled = (ratio * 100 * 10**places + Fraction(1, 2)).__floor__()
    whole, rest = divmod(scaled, 10**places)
    return f"{whole}.{rest:0{places}d}" if rest else str(whole)


def _money_lines(game: GameDefinition) -> list[str]:
    lines = [f"A payment {_ROUNDING[game.rounding]}."]
    lines.append(
        f"Stakes are multiples of {game.step_multiple} minor units of the currency or more."
    )
    if not game.limits:
        lines.append("The table sets the limits of a player's stake on a spot.")
    lines += [_limit_text(limits) for limits in game.limits]
    if game.free_rounds:
        lines.append(f"Up to {game.free_rounds} rounds a shoe may be dealt without a bet.")
    if game.round_interval_ms:
        lines.append(f"At least {game.round_interval_ms} ms pass between two results.")
    return lines


def _limit_text(limits: GameLimits) -> str:
    low, high = (format_amount(m, limits.digits) for m in (limits.minimum, limits.maximum))
    return f"A player's stake on a spot: {low} to {high} {limits.currency or 'units'}."
