"""Settlement in integer minor units, exact, with a named rounding rule."""

from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

from sealedshoe_audit.baccarat.bets import BetResult, Case

INT64_MAX = 2**63 - 1


class Rounding(IntEnum):
    """How a payment that is not whole is rounded; the numbers are those of the recorded enum."""

    EXACT = 1
    DOWN = 2
    HALF_UP = 3
    HALF_EVEN = 4
    UP = 5


class NotWhole(Exception):
    """The rule is EXACT and the payment is not a whole number of minor units."""


class Settlement(NamedTuple):
    """What a wager came to, in minor units.

    Attributes:
        gross_return: stake plus winnings before commission; the stake on a push; 0 on a loss.
        commission: kept by the house out of the winnings.
    """

    result: BetResult
    stake: int
    gross_return: int
    commission: int

    @property
    def paid(self) -> int:
        """What goes back to the player."""
        return self.gross_return - self.commission


def settle(case: Case, stake: int, rounding: Rounding) -> Settlement:
    """Settles one wager by the case that decides it.

    Gross and net winnings are rounded by the same rule; the commission is their difference, so that
    stake, paid amount and commission always add up.

    Raises:
        NotWhole: the rule is EXACT and a payment is not whole.
        OverflowError: the return does not fit int64.
    """
    if case.result is BetResult.LOSE:
        return Settlement(case.result, stake, 0, 0)
    if case.result is BetResult.PUSH:
        return Settlement(case.result, stake, stake, 0)
    gross = _rounded(stake, case.pays, rounding)
    net = _rounded(stake, case.net, rounding) if case.commission else gross
    if stake + gross > INT64_MAX:
        raise OverflowError("the return does not fit int64")
    return Settlement(case.result, stake, stake + gross, gross - net)


def _rounded(stake: int, ratio: Fraction, rounding: Rounding) -> int:
    whole, rest = divmod(stake * ratio.numerator, ratio.denominator)
    if rest == 0 or rounding is Rounding.DOWN:
        return whole
    if rounding is Rounding.EXACT:
        raise NotWhole(f"{stake} times {ratio} is not whole")
    if rounding is Rounding.UP:
        return whole + 1
    twice = 2 * rest
    if rounding is Rounding.HALF_UP:
        return whole + (twice >= ratio.denominator)
    return whole + (twice > ratio.denominator or (twice == ratio.denominator and whole % 2))
