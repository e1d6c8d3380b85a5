"""Does one slice of the values differ from the rest? A test that takes only counts, means and the values' skewness.

Its own module because reports and analyses ask it of slices that they have only counted. The test of one slice asks:
were the values dealt to slices at random, how often would the slice's mean lie as far from the mean of the rest? With
all N values given, the difference then has mean 0 and variance S^2 (1/n + 1/(N - n)), S^2 their sample variance. A slice
without spread gets no special certainty from this. Scores are skewed (most records are right), and so is that difference
where a slice is small: its skewness follows from that of the values, and Wilson and Hilferty's cube root makes it normal
again. What always holds: slices that are smaller or more skewed than that carries are not tested.

Sources: Cochran (1977), Sampling Techniques, sections 2.3 and 2.15 (variance and skewness of the mean of a simple random
sample); Wilson & Hilferty (1931), PNAS 17:684-688. The false alarms are simulated in the tests.
"""

from dataclasses import dataclass

from evalsi.stats.distributions import student_t_cdf
from evalsi.stats.moments import Moments

TESTED_ROWS = 10
"""Fewest values on either side of a test."""
TESTED_SKEWNESS = 0.8
"""Largest skewness of the difference that the correction carries."""


@dataclass(frozen=True, slots=True)
class SubgroupDifference:
    """The mean of a slice minus the mean of the rest, with its two-sided p-value."""

    difference: float
    p_value: float


def subgroup_difference(n: int, mean: float, everything: Moments, skewness: float) -> SubgroupDifference | None:
    """Tests a slice of independent values against all other values.

    Args:
        n, mean: of the slice, which is part of `everything`.
        skewness: of all values, the third central moment over the cubed standard deviation (see `skewness_of`).
    Returns: None where the test would not hold: a side too small, no spread, too skewed.
    """
    rest, spread = everything.n - n, everything.std
    if min(n, rest) < TESTED_ROWS or not spread or everything.is_constant:
        return None
    share = _skewness_share(n, everything.n) * skewness
    if abs(share) > TESTED_SKEWNESS:
        return None
    rest_mean = (everything.mean_or_zero * everything.n - mean * n) / rest
    difference = mean - rest_mean
    z = _symmetric(difference / (spread * (1 / n + 1 / rest) ** 0.5), share)
    return SubgroupDifference(difference, 2 * student_t_cdf(-abs(z), everything.n - 2))


def skewness_of(n: float, first: float, second: float, third: float) -> float:
    """Of values, from their count and the sums of their first three powers about any point; 0 without spread."""
    mean = first / n
    variance = second / n - mean * mean
    return (third / n - 3 * mean * second / n + 2 * mean**3) / variance**1.5 if variance > 0 else 0.0


def _skewness_share(n: int, everything: int) -> float:
    """Skewness of the mean of `n` values drawn from `everything` without putting back, for values of skewness 1."""
    return (everything - 2 * n) / (everything - 2) * ((everything - 1) / (n * (everything - n))) ** 0.5


def _symmetric(z: float, skewness: float) -> float:
    """A standardised value of a skewed (gamma-shaped) distribution as the normal value of equal rank."""
    if abs(skewness) < 1e-6:
        return z
    base = max(0.0, 1 + skewness * z / 2)
    return 6 / skewness * (base ** (1 / 3) - 1) + skewness / 6
