"""The edge after rounding is bounded over every allowed stake."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.baccarat.bets import Bet
from sealedshoe_audit.baccarat.odds import edge_range, round_counts, sequences
from sealedshoe_audit.baccarat.settlement import NotWhole, Rounding
from tests.audit.baccarat.bets_data import BETS, COMMISSION_BET
from tests.audit.baccarat.test_settlement import net_of

PAYS_IN_FRACTIONS = [
    "banker_1to1_less_5pct (0.95 to 1)",
    "banker_1to1_less_4pct (0.96 to 1)",
    "banker_super6_half_on_6",
    "small_1.5to1 (4 cards)",
    "big_0.54to1 (5 or 6 cards)",
]
PERIODIC = [Rounding.DOWN, Rounding.HALF_UP, Rounding.UP]
EXACT_BANKER = Fraction(114753351728, 10847218479825)


def nets(bet: Bet) -> dict[Fraction, int]:
    """Sequences of eight decks by what the bet brings a unit."""
    found: dict[Fraction, int] = {}
    for facts, ways in round_counts(8).items():
        net = bet.case(facts).net
        found[net] = found.get(net, 0) + ways
    return found


NETS = {name: nets(BETS[name]) for name in PAYS_IN_FRACTIONS}


def edge_at(name: str, stake: int, rule: Rounding) -> Fraction:
    """The edge at one stake, straight from its meaning."""
    won = sum(ways * net_of(stake, net, rule) for net, ways in NETS[name].items())
    return -Fraction(won, sequences(8) * stake)


@settings(deadline=None, max_examples=120)
@given(
    st.sampled_from(PAYS_IN_FRACTIONS),
    st.sampled_from(PERIODIC),
    st.integers(1, 60),
    st.integers(0, 150),
    st.integers(1, 30),
)
def test_the_range_is_that_of_every_single_stake(
    name: str, rule: Rounding, minimum: int, width: int, step: int
) -> None:
    stakes = [s for s in range(minimum, minimum + width + 1) if s % step == 0]
    if not stakes:
        stakes = [-(-minimum // step) * step]
    edges = [edge_at(name, stake, rule) for stake in stakes]
    found = edge_range(BETS[name], 8, rule, stakes[0], stakes[-1], step)
    assert found == (min(edges), max(edges))


def test_the_range_with_halves_to_even_is_that_of_every_single_stake() -> None:
    name = PAYS_IN_FRACTIONS[0]
    edges = [edge_at(name, stake, Rounding.HALF_EVEN) for stake in (30, 40, 50, 60)]
    found = edge_range(BETS[name], 8, Rounding.HALF_EVEN, 30, 60, 10)
    assert found == (min(edges), max(edges))


def test_half_up_gives_the_player_an_edge_at_every_stake_of_1_to_10() -> None:
    for stake in range(1, 11):
        low, high = edge_range(COMMISSION_BET, 8, Rounding.HALF_UP, stake, stake, stake)
        assert low == high == -Fraction(241149546272, 19524993263685)
    low, _ = edge_range(COMMISSION_BET, 8, Rounding.HALF_UP, 11, 11, 11)
    assert low > 0


def test_rounding_down_costs_up_to_44_percent() -> None:
    low, high = edge_range(COMMISSION_BET, 8, Rounding.DOWN, 1, 100_000, 1)
    assert low == EXACT_BANKER
    assert f"{float(high):.4f}" == "0.4462"


def test_a_step_of_20_makes_every_payment_exact() -> None:
    found = edge_range(COMMISSION_BET, 8, Rounding.EXACT, 20, 2**40 * 20, 20)
    assert found == (EXACT_BANKER, EXACT_BANKER)


@pytest.mark.parametrize("step", [1, 5, 10, 19, 30])
def test_exact_is_refused_when_some_stake_is_not_paid_in_whole_units(step: int) -> None:
    with pytest.raises(NotWhole, match="not whole"):
        edge_range(COMMISSION_BET, 8, Rounding.EXACT, step, 1000 * step, step)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(PERIODIC), st.integers(1, 50), st.integers(1, 25))
def test_more_stakes_never_narrow_the_range(rule: Rounding, periods: int, step: int) -> None:
    low, high = edge_range(COMMISSION_BET, 8, rule, step, step * periods, step)
    wider = edge_range(COMMISSION_BET, 8, rule, step, 10**9 * step, step)
    assert wider[0] <= low
    assert high <= wider[1]
