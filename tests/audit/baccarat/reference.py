"""A second, plain statement of the drawing rules over card values, typed from the rule books."""

from collections.abc import Sequence

# Rows: Banker's two-card total. Columns: Player's third card 0 to 9, then "Player stood".
CHART = (
    "DDDDDDDDDD D",
    "DDDDDDDDDD D",
    "DDDDDDDDDD D",
    "DDDDDDDDSD D",
    "SSDDDDDDSS D",
    "SSSSDDDDSS D",
    "SSSSSSDDSS S",
    "SSSSSSSSSS S",
)


def chart_draws(banker_total: int, player_third: int | None) -> bool:
    """Whether the chart says that Banker draws."""
    return CHART[banker_total][11 if player_third is None else player_third] == "D"


def reference_round(v: Sequence[int]) -> tuple[int, int, int, int]:
    """Returns final totals and card counts: Player's, Banker's, Player's, Banker's."""
    player, banker = (v[0] + v[2]) % 10, (v[1] + v[3]) % 10
    if player > 7 or banker > 7:
        return player, banker, 2, 2
    if player > 5:
        if chart_draws(banker, None):
            return player, (banker + v[4]) % 10, 2, 3
        return player, banker, 2, 2
    total = (player + v[4]) % 10
    if chart_draws(banker, v[4]):
        return total, (banker + v[5]) % 10, 3, 3
    return total, banker, 3, 2


def cards_worth(values: Sequence[int]) -> bytes:
    """Returns card codes of these values, in changing suits; 0 is a ten, jack, queen or king."""
    return bytes(
        13 * (i % 4) + (value - 1 if value else 9 + i % 4) for i, value in enumerate(values)
    )
