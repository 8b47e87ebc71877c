"""A result against the rules: cards, totals, outcome, and every wager's settlement."""

from collections.abc import Iterable, Sequence

from sealedshoe_audit.baccarat.bets import BetResult, Case
from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.baccarat.facts import round_facts
from sealedshoe_audit.baccarat.rules import Round, ShoeExhausted, deal
from sealedshoe_audit.baccarat.settlement import NotWhole, settle
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.state import OpenRound, TableState
from sealedshoe_audit.fold.wagers import check_new_wagers
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb

_RESULTS = {int(result): result.name.lower() for result in BetResult}


def settlements(
    game: GameDefinition, finished: Round, wagers: Iterable[pb.Wager]
) -> list[pb.Settlement]:
    """Settles wagers on a finished round, in their order.

    Raises:
        VerificationError: SETTLEMENT for a wager that the game cannot settle.
    """
    facts = round_facts(finished)
    cases: dict[str, Case] = {bet.id: bet.case(facts) for bet in game.bets}
    settled: list[pb.Settlement] = []
    for wager in wagers:
        try:
            paid = settle(cases[wager.spot], wager.stake, game.rounding)
        except (KeyError, NotWhole, OverflowError) as error:
            raise VerificationError(
                Code.SETTLEMENT, expected="a wager the game settles", found=wager.wager_id
            ) from error
        settled.append(
            pb.Settlement(
                wager=wager,
                result=game_pb2.BetResult.ValueType(paid.result),
                gross_return=paid.gross_return,
                commission=paid.commission,
            )
        )
    return settled


def check_result(table: TableState, opened: OpenRound, record: pb.RoundDealt) -> None:
    """Deals the round again from its cards and settles every wager again.

    Raises:
        VerificationError: DEAL, WAGER or SETTLEMENT.
    """
    finished = check_deal(opened.first_position, record)
    wagers = [settled.wager for settled in record.settlements]
    standing = len(opened.wagers)
    if tuple(wagers[:standing]) != opened.wagers:
        raise VerificationError(
            Code.SETTLEMENT, expected=f"the {standing} standing wagers first", found="others"
        )
    check_new_wagers(table, opened.wagers, wagers[standing:])
    expected = settlements(table.game, finished, wagers)
    for right, found in zip(expected, record.settlements, strict=True):
        if right != found:
            raise VerificationError(
                Code.SETTLEMENT, expected=settlement_text(right), found=settlement_text(found)
            )


def result_name(result: int) -> str:
    """Returns `win`, `push` or `lose`; the number of a result that is none of them."""
    return _RESULTS.get(result, str(result))


def settlement_text(settled: pb.Settlement) -> str:
    """Returns a settlement in one line, for findings."""
    result = result_name(settled.result)
    return (
        f"{settled.wager.wager_id} on {settled.wager.spot}: {result}, "
        f"returned {settled.gross_return}, commission {settled.commission}"
    )


def check_deal(first_position: int, record: pb.RoundDealt) -> Round:
    """Deals the recorded cards by the drawing rules and compares all that follows from them.

    Raises:
        VerificationError: DEAL.
    """
    cards: Sequence[pb.DealtCard] = record.cards
    codes = [card.card for card in cards]
    positions = [card.position for card in cards]
    if positions != list(range(first_position, first_position + len(cards))):
        raise _bad(f"positions from {first_position}", str(positions))
    if any(code >= 52 for code in codes) or any(len(card.salt) != 16 for card in cards):
        raise _bad("card codes below 52 with 16-byte salts", str(codes))
    try:
        finished = deal(codes)
    except ShoeExhausted as error:
        raise _bad("as many cards as the rules draw", str(len(codes))) from error
    expected = (
        [int(hand) for hand in finished.hands],
        finished.player_total,
        finished.banker_total,
        finished.natural,
        int(finished.outcome),
    )
    found = (
        [int(card.hand) for card in cards],
        record.player_total,
        record.banker_total,
        record.natural,
        int(record.outcome),
    )
    if expected != found:
        raise _bad(str(expected), str(found))
    return finished


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.DEAL, expected=expected, found=found)
