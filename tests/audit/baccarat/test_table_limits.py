"""A table's limits lie inside its game's, and no allowed stake leaves the declared band."""

from dataclasses import replace

import pytest

from sealedshoe_audit.baccarat.definition import (
    GameDefinition,
    GameLimits,
    TableLimits,
    check_definition,
    check_table_limits,
)
from sealedshoe_audit.baccarat.settlement import INT64_MAX, Rounding
from sealedshoe_audit.errors import DefinitionError
from tests.audit.baccarat.games import game

SHOE = game("shoe-8d")
FRESH = game("punto-banco-8d-tie9")
USD = TableLimits("USD", 500, 10_000, 20, 0)


def limits(*values: tuple[str, int, int, int]) -> GameDefinition:
    """The eight-deck game with these limits."""
    return replace(FRESH, limits=tuple(GameLimits(*value) for value in values))


TABLE_TWINS: dict[str, tuple[str, TableLimits]] = {
    "step no multiple": ("limits.step", replace(USD, step=50)),
    "step 0": ("limits.step", replace(USD, step=0)),
    "negative step": ("limits.step", replace(USD, step=-20)),
    "minimum 0": ("limits.minimum", replace(USD, minimum=0)),
    "minimum above maximum": ("limits.minimum", replace(USD, minimum=10_020)),
    "minimum between steps": ("limits.minimum", replace(USD, minimum=510)),
    "maximum between steps": ("limits.maximum", replace(USD, maximum=9_990)),
    "spot below maximum": ("limits.spot_maximum", replace(USD, spot_maximum=9_980)),
    "spot beyond int64": ("limits.spot_maximum", replace(USD, spot_maximum=2**63)),
    "below the game's": ("limits.minimum", replace(USD, minimum=480)),
    "above the game's": ("limits.maximum", replace(USD, maximum=10_020)),
    "other currency": ("limits.currency", replace(USD, currency="EUR")),
}


@pytest.mark.parametrize("twin", TABLE_TWINS)
def test_limits_outside_the_game_are_refused_by_the_name_of_their_field(twin: str) -> None:
    field, table = TABLE_TWINS[twin]
    with pytest.raises(DefinitionError) as refused:
        check_table_limits(FRESH, table, 2)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("digits", "minimum", "maximum", "field"),
    [
        (3, 980, 100_000, "limits.minimum"),
        (3, 1000, 1_000_020, "limits.maximum"),
        (0, 20, 1020, "limits.maximum"),
        (2, 80, 1000, "limits.minimum"),
    ],
)
def test_a_games_limits_hold_in_currencies_of_other_digits(
    digits: int, minimum: int, maximum: int, field: str
) -> None:
    with pytest.raises(DefinitionError) as refused:
        check_table_limits(
            game("classic-8d-tie9"), TableLimits("XTS", minimum, maximum, 20, 0), digits
        )
    assert refused.value.field == field


def test_a_currencys_own_limits_go_before_those_of_any() -> None:
    both = limits(("", 0, 1, 1000), ("USD", 2, 500, 10_000))
    check_table_limits(both, USD, 2)
    check_table_limits(both, replace(USD, currency="EUR", minimum=100), 2)
    with pytest.raises(DefinitionError, match="below the game's"):
        check_table_limits(both, replace(USD, minimum=100), 2)


def test_half_up_from_one_unit_leaves_the_band_and_is_refused() -> None:
    rounded = replace(SHOE, rounding=Rounding.HALF_UP, step_multiple=1)
    check_definition(rounded)
    with pytest.raises(DefinitionError, match=r"bet banker would be -0\.012351"):
        check_table_limits(rounded, TableLimits("USD", 1, 1000, 1, 0), 2)


def test_rounding_down_from_one_unit_leaves_the_band_and_is_refused() -> None:
    rounded = replace(SHOE, rounding=Rounding.DOWN, step_multiple=1)
    with pytest.raises(DefinitionError, match=r"to 0\.446247"):
        check_table_limits(rounded, TableLimits("USD", 1, 1000, 1, 0), 2)


def test_rounding_inside_the_band_is_accepted() -> None:
    rounded = replace(SHOE, rounding=Rounding.HALF_UP, step_multiple=1)
    assert check_table_limits(rounded, TableLimits("USD", 410, 41_000, 410, 0), 2) is None
    with pytest.raises(DefinitionError, match=r"would be 0\.005993"):
        check_table_limits(rounded, TableLimits("USD", 50, 5_000, 50, 0), 2)


def test_the_band_holds_for_the_smallest_single_wager_too() -> None:
    rounded = replace(SHOE, rounding=Rounding.HALF_UP, step_multiple=1)
    with pytest.raises(DefinitionError, match="bet banker"):
        check_table_limits(rounded, TableLimits("USD", 2000, 5000, 1, 0), 2)


def test_an_exact_game_with_a_step_that_is_not_paid_in_whole_units_is_refused() -> None:
    with pytest.raises(DefinitionError, match="bet banker would not pay whole units") as refused:
        check_table_limits(replace(SHOE, step_multiple=1), TableLimits("USD", 10, 1000, 10, 0), 2)
    assert refused.value.field == "limits.step"


LARGEST = INT64_MAX // 9 // 20 * 20  # a tie at 8 to 1 returns nine times the stake


def test_the_largest_maximum_whose_return_fits_int64_is_accepted() -> None:
    assert check_table_limits(SHOE, TableLimits("USD", 20, LARGEST, 20, 0), 2) is None


@pytest.mark.parametrize("maximum", [LARGEST + 20, 2**62, INT64_MAX // 20 * 20])
@pytest.mark.parametrize("minimum", [20, LARGEST, 2**63])
def test_a_maximum_whose_return_could_exceed_int64_is_refused(minimum: int, maximum: int) -> None:
    highest = maximum // 20 * 20
    with pytest.raises(DefinitionError) as refused:
        check_table_limits(SHOE, TableLimits("USD", min(minimum, highest), highest, 20, 0), 2)
    assert refused.value.field == "limits.maximum"
