"""How far an observed share may lie from the true probability: Wilson's score interval.

Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
(1927), 209-212. It stays within 0 and 1 and holds for small counts, where the textbook interval fails.
"""

from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959964  # the normal distribution's 97.5 % point
_STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Share:
    """An outcome's observed share of at least one round, beside its exact probability."""

    count: int
    rounds: int
    exact: float

    @property
    def observed(self) -> float:
        """The observed share."""
        return self.count / self.rounds

    def interval(self) -> tuple[float, float]:
        """Returns the 95 % interval around the observed share."""
        n, p, z2 = self.rounds, self.observed, Z_95**2
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def covers_exact(self) -> bool:
        """Whether the interval holds the exact probability."""
        low, high = self.interval()
        return low <= self.exact <= high


def round_up(value: float) -> float:
    """Returns the end of a scale: a step times a power of ten that is at least `value` > 0."""
    power = 1.0
    while power * 10 < value:
        power *= 10
    while power >= value:
        power /= 10
    return next(step * power for step in _STEPS if step * power >= value)
