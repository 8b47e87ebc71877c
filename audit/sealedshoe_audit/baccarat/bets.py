"""The bet catalogue: a bet is an ordered list of cases, and the first case that holds decides.

A new bet is data: conditions on the facts of the finished round, and a result for each case.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from sealedshoe_audit.baccarat.facts import FACT_INDEX, Facts


class BetResult(IntEnum):
    """What becomes of a wager; the numbers are those of the recorded enum."""

    WIN = 1
    PUSH = 2
    LOSE = 3


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds when the named fact has one of `values` (ascending)."""

    fact: str
    values: tuple[int, ...]

    def holds(self, facts: Facts) -> bool:
        """Whether it holds for a round."""
        return facts[FACT_INDEX[self.fact]] in self.values


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a bet.

    Attributes:
        conditions: all must hold; none means always.
        pays: gross winnings per unit staked ("to 1"); 0 unless the result is WIN.
        commission: part of the winnings kept by the house, 0 to below 1.
        net: winnings per unit staked after commission; -1 on a loss, 0 on a push.
    """

    conditions: tuple[Condition, ...]
    result: BetResult
    pays: Fraction = Fraction(0)
    commission: Fraction = Fraction(0)
    net: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lost = self.result is BetResult.LOSE
        net = Fraction(-1) if lost else self.pays * (1 - self.commission)
        object.__setattr__(self, "net", net)

    def holds(self, facts: Facts) -> bool:
        """Whether every condition holds for a round."""
        for condition in self.conditions:  # noqa: SIM110 - a generator costs more than the checks
            if not condition.holds(facts):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Bet:
    """A spot on the table.

    Attributes:
        declared_return: exact return to player per unit staked, fresh shoe, before rounding.
        edge_minimum, edge_maximum: band in which the edge after rounding lies at every allowed stake.
    """

    id: str
    title: str
    cases: tuple[Case, ...]
    declared_return: Fraction
    edge_minimum: Fraction
    edge_maximum: Fraction

    def case(self, facts: Facts) -> Case:
        """Returns the first case that holds.

        Raises:
            LookupError: none does; definitions are checked for it when installed.
        """
        for case in self.cases:
            if case.holds(facts):
                return case
        raise LookupError(f"bet {self.id} has no case for {facts}")
