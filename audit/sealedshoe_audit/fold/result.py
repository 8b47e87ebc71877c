"""A result against the rules: cards, totals, outcome, and every wager's settlement."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sealedshoe_audit.baccarat.bets import BetResult, Case
from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.baccarat.facts import round_facts
from sealedshoe_audit.baccarat.rules import Round, ShoeExhausted, deal
from sealedshoe_audit.baccarat.settlement import NotWhole, Settlement, settle
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.state import OpenRound, TableState
from sealedshoe_audit.fold.wagers import check_new_wagers
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb

# Hands, final totals, natural and outcome; recorded enums and ours have the same numbers.
_Result: TypeAlias = tuple[Sequence[int], int, int, bool, int]
_Money: TypeAlias = tuple[int, int, int]  # result, gross return, commission
_RESULTS = {int(result): result.name.lower() for result in BetResult}


def settle_wagers(
    game: GameDefinition, finished: Round, wagers: Iterable[pb.Wager]
) -> list[Settlement]:
    """Settles wagers on a finished round, in their order.

    Raises:
        VerificationError: SETTLEMENT for a wager that the game cannot settle.
    """
    facts = round_facts(finished)
    cases: dict[str, Case] = {}
    settled: list[Settlement] = []
    for wager in wagers:
        case = cases.get(wager.spot)
        if case is None:
            bet = game.bet(wager.spot)
            if bet is None:
                raise _unsettled(wager)
            case = cases[wager.spot] = bet.case(facts)
        try:
            settled.append(settle(case, wager.stake, game.rounding))
        except (NotWhole, OverflowError) as error:
            raise _unsettled(wager) from error
    return settled


def _unsettled(wager: pb.Wager) -> VerificationError:
    return VerificationError(
        Code.SETTLEMENT, expected="a wager the game settles", found=wager.wager_id[:64]
    )


def settlements(
    game: GameDefinition, finished: Round, wagers: Sequence[pb.Wager]
) -> list[pb.Settlement]:
    """Settles wagers on a finished round as they are recorded.

    Raises:
        VerificationError: SETTLEMENT for a wager that the game cannot settle.
    """
    return [
        pb.Settlement(
            wager=wager,
            result=game_pb2.BetResult.ValueType(paid.result),
            gross_return=paid.gross_return,
            commission=paid.commission,
        )
        for wager, paid in zip(wagers, settle_wagers(game, finished, wagers), strict=True)
    ]


def check_result(table: TableState, opened: OpenRound, record: pb.RoundDealt) -> None:
    """Deals the round again from its cards and settles every wager again.

    Raises:
        VerificationError: DEAL, WAGER or SETTLEMENT.
    """
    finished = check_deal(opened.first_position, record)
    recorded = list(record.settlements)
    wagers = [settled.wager for settled in recorded]
    standing = len(opened.wagers)
    if tuple(wagers[:standing]) != opened.wagers:
        raise VerificationError(
            Code.SETTLEMENT, expected=f"the {standing} standing wagers first", found="others"
        )
    check_new_wagers(table, opened.wagers, wagers[standing:])
    for right, found in zip(settle_wagers(table.game, finished, wagers), recorded, strict=True):
        expected: _Money = (right.result, right.gross_return, right.commission)
        stated: _Money = (found.result, found.gross_return, found.commission)
        if expected != stated:
            name = f"{found.wager.wager_id} on {found.wager.spot}"
            raise VerificationError(
                Code.SETTLEMENT,
                expected=f"{name}: {_money_text(*expected)}",
                found=f"{name}: {_money_text(*stated)}",
            )


def result_name(result: int) -> str:
    """Returns `win`, `push` or `lose`; the number of a result that is none of them."""
    return _RESULTS.get(result, str(result))


def _money_text(result: int, gross_return: int, commission: int) -> str:
    return f"{result_name(result)}, returned {gross_return}, commission {commission}"


def check_deal(first_position: int, record: pb.RoundDealt) -> Round:
    """Deals the recorded cards by the drawing rules and compares all that follows from them.

    Raises:
        VerificationError: DEAL.
    """
    cards = [(card.position, card.card, card.salt, card.hand) for card in record.cards]
    codes = [code for _, code, _, _ in cards]
    positions = [position for position, _, _, _ in cards]
    if positions != list(range(first_position, first_position + len(cards))):
        raise _bad(f"positions from {first_position}", str(positions))
    if max(codes, default=0) >= 52 or {len(salt) for _, _, salt, _ in cards} - {16}:
        raise _bad("card codes below 52 with 16-byte salts", str(codes))
    try:
        finished = deal(codes)
    except ShoeExhausted as error:
        raise _bad("as many cards as the rules draw", str(len(codes))) from error
    totals = (finished.player_total, finished.banker_total, finished.natural)
    expected: _Result = (list(finished.hands), *totals, finished.outcome)
    hands = [hand for _, _, _, hand in cards]
    found: _Result = (
        hands,
        record.player_total,
        record.banker_total,
        record.natural,
        record.outcome,
    )
    if expected != found:
        in_numbers = ([int(hand) for hand in finished.hands], *totals, int(finished.outcome))
        raise _bad(str(in_numbers), str(found))
    return finished


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.DEAL, expected=expected, found=found)
