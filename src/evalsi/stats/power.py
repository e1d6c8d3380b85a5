"""What a sample can see: the smallest effect found with a given chance, and the sample that a given effect needs.

Its own module because "no change found" means nothing without it. What always holds: power rises with n and with the
effect; where even the largest possible effect would be missed, the answer is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, isinf, sqrt
from typing import Literal

import numpy as np

from evalsi.stats.distributions import normal_cdf, normal_quantile, student_t_quantile
from evalsi.stats.sample import FloatArray


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The test whose power is asked: two-sided at `alpha`, finding the effect with chance `power`."""

    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < self.power < 1.0:
            raise ValueError(f"0 < alpha < power < 1 is needed, not alpha {self.alpha} and power {self.power}")


_DEFAULT = Sensitivity()
_MOST_RECORDS = 10**12


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [-1, 1] of order 200, shape (200,) each."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return nodes, weights


def _smallest(found: Callable[[float], bool], low: float, high: float) -> float | None:
    """Smallest effect in (low, high] that is found; None when `high` is not. `found` is monotone."""
    if not found(high):
        return None
    for _ in range(200):
        middle = 0.5 * (low + high)
        if high - low <= 1e-13 * high:
            break
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _smallest_n(found: Callable[[int], bool], least: int) -> int | None:
    high = least
    while not found(high):
        if high > _MOST_RECORDS:
            return None
        high *= 2
    low = max(least - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def t_test_power(effect_in_sds: float, n: int, alpha: float = 0.05) -> float:
    """Chance that a two-sided one-sample (or paired) t test of `n` values rejects.

    Args:
        effect_in_sds: true mean (of the differences) over its standard deviation.
    Returns: a fraction; 0 for n < 2. Exact for normal values: the noncentral t tail, integrated over the chi
        distribution of the standard deviation.
    Source: Cohen (1988), Statistical Power Analysis, 2nd ed., ch. 2; noncentral t as in Johnson & Kotz (1970), ch. 31.
    """
    if n < 2:
        return 0.0
    df = n - 1
    critical = student_t_quantile(1.0 - alpha / 2, df)
    shift = abs(effect_in_sds) * sqrt(n)
    if isinf(shift):
        return 1.0
    # s / sigma has density ~ s^(df-1) exp(-df s^2 / 2): negligible outside ten of its standard deviations.
    spread = 10.0 / sqrt(2.0 * df)
    nodes, weights = _gauss_legendre()
    low, high = max(0.0, 1.0 - spread), 1.0 + spread
    s = low + (nodes + 1.0) / 2.0 * (high - low)
    log_density = (df - 1) * np.log(s) - 0.5 * df * (s * s - 1.0)
    density = weights * np.exp(log_density - log_density.max())
    tails = np.array([normal_cdf(shift - critical * x) + normal_cdf(-shift - critical * x) for x in s.tolist()])
    return float(density @ tails / density.sum())


def detectable_mean(n: int, sd: float, sensitivity: Sensitivity = _DEFAULT) -> float | None:
    """Smallest true mean (paired: mean difference) that a t test of `n` values finds.

    Args:
        n: values, or pairs. sd: standard deviation of the values, or of the paired differences, > 0.
    Returns: an effect in the metric's unit; None for n < 2.
    Source: as `t_test_power`.
    """
    if sd <= 0.0:
        raise ValueError(f"a standard deviation is above 0, not {sd!r}")
    if n < 2:
        return None
    smallest = _detectable_in_sds(n, sensitivity)
    return None if smallest is None else smallest * sd


@lru_cache(maxsize=64)
def _detectable_in_sds(n: int, sensitivity: Sensitivity) -> float | None:
    """Kept, because the metrics of one comparison mostly have the same n."""
    # With two values at alpha .05 the test needs about 19 standard deviations; no other case needs more.
    most = 100.0 * student_t_quantile(1.0 - sensitivity.alpha / 2, 1.0)
    return _smallest(lambda d: t_test_power(d, n, sensitivity.alpha) >= sensitivity.power, 0.0, most)


def required_n_mean(effect: float, sd: float, sensitivity: Sensitivity = _DEFAULT) -> int | None:
    """Values (or pairs) a t test needs to find a true mean of `effect`; None for an effect of zero.

    Args:
        effect, sd: in the metric's unit; sd > 0.
    Source: as `t_test_power`.
    """
    if sd <= 0.0:
        raise ValueError(f"a standard deviation is above 0, not {sd!r}")
    if effect == 0.0:
        return None
    ratio = effect / sd
    return _smallest_n(lambda n: t_test_power(ratio, n, sensitivity.alpha) >= sensitivity.power, 2)


def _paired_binary_found(n: float, difference: float, discordant: float, sensitivity: Sensitivity) -> bool:
    z_alpha = normal_quantile(1.0 - sensitivity.alpha / 2)
    z_power = normal_quantile(sensitivity.power)
    spread = sqrt(max(0.0, discordant - difference * difference))
    return sqrt(n) * difference >= z_alpha * sqrt(discordant) + z_power * spread


def detectable_paired_proportion(n: int, discordant: float, sensitivity: Sensitivity = _DEFAULT) -> float | None:
    """Smallest difference of two paired success rates that McNemar's test on `n` pairs finds.

    Args:
        n: pairs. discordant: expected share of pairs that change in either direction, in (0, 1].
    Returns: a difference in (0, discordant]; None where even all changes going one way would be missed. Normal
        approximation; below about 15 discordant pairs the exact test sees a little less.
    Source: Connor (1987), Biometrics 43:207-211; Miettinen (1968), Biometrics 24:339-352.
    """
    if not 0.0 < discordant <= 1.0:
        raise ValueError(f"the discordant share lies in (0, 1], not {discordant!r}")
    if n < 1:
        return None
    return _smallest(lambda d: _paired_binary_found(n, d, discordant, sensitivity), 0.0, discordant)


def required_n_paired_proportion(
    difference: float, discordant: float, sensitivity: Sensitivity = _DEFAULT
) -> int | None:
    """Pairs McNemar's test needs to find `difference`; None for a difference of zero.

    Args:
        difference: of the two success rates, |difference| <= discordant.
        discordant: expected share of pairs that change, in (0, 1].
    Source: as `detectable_paired_proportion`.
    """
    size = abs(difference)
    if not 0.0 < discordant <= 1.0 or size > discordant:
        raise ValueError(f"|difference| <= discordant <= 1 is needed, not {difference!r} and {discordant!r}")
    if size == 0.0:
        return None
    return _smallest_n(lambda n: _paired_binary_found(n, size, discordant, sensitivity), 1)


def _proportion_found(n: float, baseline: float, size: float, sign: float, sensitivity: Sensitivity) -> bool:
    other = baseline + sign * size
    z_alpha = normal_quantile(1.0 - sensitivity.alpha / 2)
    z_power = normal_quantile(sensitivity.power)
    needed = z_alpha * sqrt(baseline * (1 - baseline)) + z_power * sqrt(max(0.0, other * (1 - other)))
    return sqrt(n) * size >= needed


def detectable_proportion(
    n: int, baseline: float, direction: Literal["drop", "rise"] = "drop", sensitivity: Sensitivity = _DEFAULT
) -> float | None:
    """Smallest change from a fixed success rate `baseline` that a score test on `n` records finds.

    Args:
        baseline: the rate under no change, in (0, 1).
    Returns: a positive change; None where even a change to 0 (drop) or 1 (rise) would be missed. Normal approximation.
    Source: Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., 2.5.
    """
    if not 0.0 < baseline < 1.0:
        raise ValueError(f"the baseline lies between 0 and 1, not {baseline!r}")
    if n < 1:
        return None
    most, sign = (baseline, -1.0) if direction == "drop" else (1.0 - baseline, 1.0)
    return _smallest(lambda size: _proportion_found(n, baseline, size, sign, sensitivity), 0.0, most)


def required_n_proportion(baseline: float, alternative: float, sensitivity: Sensitivity = _DEFAULT) -> int | None:
    """Records a score test needs to tell success rate `alternative` from `baseline`; None when they are equal.

    Args:
        baseline: in (0, 1). alternative: in [0, 1].
    Source: as `detectable_proportion`.
    """
    if not (0.0 < baseline < 1.0 and 0.0 <= alternative <= 1.0):
        raise ValueError(f"rates lie between 0 and 1, not {baseline!r} and {alternative!r}")
    size = abs(alternative - baseline)
    if size == 0.0:
        return None
    sign = 1.0 if alternative > baseline else -1.0
    return _smallest_n(lambda n: _proportion_found(n, baseline, size, sign, sensitivity), 1)


def required_n_unchanged(margin: float, better: int, worse: int, n: int, level: float = 0.95) -> int | None:
    """Pairs in all after which Bonett-Price would lie inside +-margin, if pairs go on changing as often as so far.

    Args:
        margin: a difference of rates in (0, 1). better, worse, n: counts so far, as for `bonett_price`.
    Returns: at least `n`; None where the difference seen so far is not inside the margin. 54 for margin 0.05 with no
        discordant pair.
    Source: Bonett & Price (2012) solved for n.
    """
    if not 0.0 < margin < 1.0 or better < 0 or worse < 0 or better + worse > n:
        raise ValueError(f"a margin in (0, 1) and counts of n pairs are needed, not {margin!r}, {better}, {worse}, {n}")
    rate_up, rate_down = (better / n, worse / n) if n else (0.0, 0.0)
    if abs(rate_up - rate_down) >= margin:
        return None
    z = normal_quantile(0.5 + level / 2)

    def inside(pairs: int) -> bool:
        up, down = (rate_up * pairs + 1) / (pairs + 2), (rate_down * pairs + 1) / (pairs + 2)
        centre = up - down
        return abs(centre) + z * sqrt((up + down - centre * centre) / (pairs + 2)) <= margin

    needed = _smallest_n(inside, 1)
    return None if needed is None else max(n, ceil(needed))
