"""Game definitions as recorded messages, both ways."""

from fractions import Fraction

from sealedshoe_audit.baccarat.bets import Bet, BetResult, Case, Condition
from sealedshoe_audit.baccarat.definition import GameDefinition, GameLimits, Shuffle, TableLimits
from sealedshoe_audit.baccarat.odds import hit_rate, theoretical_return
from sealedshoe_audit.baccarat.settlement import Rounding
from sealedshoe_audit.errors import DefinitionError
from sealedshoe_audit.v1 import game_pb2 as pb


def definition_message(game: GameDefinition) -> pb.GameDefinition:
    """Returns the message that records a definition."""
    return pb.GameDefinition(
        game_id=game.game_id,
        version=game.version,
        title=game.title,
        rules=game.rules,
        decks=game.decks,
        shuffle=pb.ShufflePolicy.ValueType(game.shuffle),
        cut_depth=game.cut_depth,
        rounds_after_cut=game.rounds_after_cut,
        deal_order=game.deal_order,
        bets=[_bet_message(bet) for bet in game.bets],
        rounding=pb.Rounding.ValueType(game.rounding),
        step_multiple=game.step_multiple,
        limits=[
            pb.GameLimits(
                currency=limits.currency,
                digits=limits.digits,
                minimum=limits.minimum,
                maximum=limits.maximum,
            )
            for limits in game.limits
        ],
        round_interval_ms=game.round_interval_ms,
        free_rounds=game.free_rounds,
    )


def _bet_message(bet: Bet) -> pb.Bet:
    return pb.Bet(
        id=bet.id,
        title=bet.title,
        cases=[_case_message(case) for case in bet.cases],
        declared_return=ratio_message(bet.declared_return),
        edge_minimum=ratio_message(bet.edge_minimum),
        edge_maximum=ratio_message(bet.edge_maximum),
    )


def _case_message(case: Case) -> pb.BetCase:
    return pb.BetCase(
        conditions=[pb.Condition(fact=c.fact, values=c.values) for c in case.conditions],
        result=pb.BetResult.ValueType(case.result),
        pays=ratio_message(case.pays) if case.pays else None,
        commission=ratio_message(case.commission) if case.commission else None,
    )


def ratio_message(ratio: Fraction) -> pb.Ratio:
    """Returns a fraction in lowest terms."""
    return pb.Ratio(numerator=ratio.numerator, denominator=ratio.denominator)


def _ratio(message: pb.Ratio, field: str) -> Fraction:
    if message.denominator == 0:
        raise DefinitionError(field, "divides by zero")
    ratio = Fraction(message.numerator, message.denominator)
    if ratio.denominator != message.denominator:
        raise DefinitionError(field, "is not in lowest terms")
    return ratio


def _positive(message: pb.Ratio, field: str) -> Fraction:
    """A ratio that is present is above zero: there is one way to say none."""
    ratio = _ratio(message, field)
    if not ratio:
        raise DefinitionError(field, "is present and zero")
    return ratio


def read_definition(message: pb.GameDefinition) -> GameDefinition:
    """Returns the definition that a message records; `check_definition` says whether it may be used.

    Raises:
        DefinitionError: an unknown enum value or a ratio that is none.
    """
    try:
        shuffle, rounding = Shuffle(message.shuffle), Rounding(message.rounding)
    except ValueError as error:
        raise DefinitionError("shuffle", "or rounding is unknown") from error
    return GameDefinition(
        game_id=message.game_id,
        version=message.version,
        title=message.title,
        rules=message.rules,
        decks=message.decks,
        shuffle=shuffle,
        cut_depth=message.cut_depth,
        rounds_after_cut=message.rounds_after_cut,
        deal_order=message.deal_order,
        bets=tuple(_read_bet(bet, f"bets[{n}]") for n, bet in enumerate(message.bets)),
        rounding=rounding,
        step_multiple=message.step_multiple,
        limits=tuple(
            GameLimits(limits.currency, limits.digits, limits.minimum, limits.maximum)
            for limits in message.limits
        ),
        round_interval_ms=message.round_interval_ms,
        free_rounds=message.free_rounds,
    )


def _read_bet(message: pb.Bet, field: str) -> Bet:
    return Bet(
        id=message.id,
        title=message.title,
        cases=tuple(_read_case(c, f"{field}.cases[{n}]") for n, c in enumerate(message.cases)),
        declared_return=_ratio(message.declared_return, f"{field}.declared_return"),
        edge_minimum=_ratio(message.edge_minimum, f"{field}.edge_minimum"),
        edge_maximum=_ratio(message.edge_maximum, f"{field}.edge_maximum"),
    )


def _read_case(message: pb.BetCase, field: str) -> Case:
    try:
        result = BetResult(message.result)
    except ValueError as error:
        raise DefinitionError(f"{field}.result", "is unknown") from error
    zero = Fraction(0)
    pays = _positive(message.pays, f"{field}.pays") if message.HasField("pays") else zero
    commission = zero
    if message.HasField("commission"):
        commission = _positive(message.commission, f"{field}.commission")
    conditions = tuple(Condition(c.fact, tuple(c.values)) for c in message.conditions)
    return Case(conditions, result, pays, commission)


def odds_messages(game: GameDefinition) -> list[pb.BetOdds]:
    """Returns the exact odds of every bet, in the definition's order."""
    return [
        pb.BetOdds(
            bet=bet.id,
            theoretical_return=ratio_message(theoretical_return(bet, game.decks)),
            hit_rate=ratio_message(hit_rate(bet, game.decks)),
        )
        for bet in game.bets
    ]


def read_limits(message: pb.Limits) -> TableLimits:
    """Returns a table's limits."""
    return TableLimits(
        message.currency, message.minimum, message.maximum, message.step, message.spot_maximum
    )
