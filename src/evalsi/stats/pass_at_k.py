"""pass@k (at least one of k trials passes) and pass^k (all k pass), unbiased, over scored trials only.

Its own module because both are easily confused with their biased plug-in forms 1-(1-c/n)^k and (c/n)^k, which this
project never reports. What always holds: errored and skipped trials are not among the n; k above n has no value.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Literal

from evalsi.stats.cluster import ClusterTotals, cluster_robust_t
from evalsi.stats.interval import Estimate
from evalsi.stats.mean import mean_estimate
from evalsi.stats.proportion import proportion_estimate


def _check_trials(n: int, passed: int, k: int) -> None:
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"0 <= passed <= n and k >= 1 are needed, not {passed} of {n} at k = {k}")


@lru_cache(maxsize=65_536)
def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """Unbiased chance that at least one of `k` trials passes: 1 - C(n - passed, k) / C(n, k).

    Args:
        n: scored trials of one record. passed: those that passed. k: at least 1.
    Returns: a fraction, correctly rounded (the counts are exact integers); None for k > n.
    Raises: ValueError: counts out of range.
    Source: Chen et al. (2021), arXiv:2107.03374, equation 1.
    """
    _check_trials(n, passed, k)
    if k > n:
        return None
    ways = comb(n, k)
    return (ways - comb(n - passed, k)) / ways


@lru_cache(maxsize=65_536)
def pass_hat_k(n: int, passed: int, k: int) -> float | None:
    """Unbiased chance that all of `k` trials pass: C(passed, k) / C(n, k).

    Args, Returns, Raises: as `pass_at_k`.
    Source: Yao et al. (2024), tau-bench, arXiv:2406.12045, section 3.
    """
    _check_trials(n, passed, k)
    return None if k > n else comb(passed, k) / comb(n, k)


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass@k or pass^k over a dataset."""

    k: int
    estimate: Estimate
    """`n` counts records, not trials: a record is one draw from the dataset."""
    records_short: int
    """Records with fewer than k scored trials, which have no value and are left out."""


def pass_rate(
    trials: Sequence[tuple[int, int]],
    k: int,
    kind: Literal["any", "all"] = "any",
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> PassRate:
    """Mean over records of pass@k (`any`) or pass^k (`all`), with an interval over records.

    Args:
        trials: (scored trials, passed trials) of each record.
        k: trials looked at.
        clusters: a label for each record, where records of one group are not independent; the interval is then that of
            `cluster_robust_t`.
    Returns: the estimate, with Student's t interval over records cut to [0, 1]. Where every record has exactly k
        trials its value is 0 or 1, and the interval is Wilson's. Trials of one record are never counted as
        independent. No value when no record has k scored trials.
    Raises: ValueError: counts out of range.
    Source: as `pass_at_k`, `pass_hat_k`; the record as the unit, Miller (2024), arXiv:2411.00640.
    """
    of_record = pass_at_k if kind == "any" else pass_hat_k
    of_records = [of_record(n, passed, k) for n, passed in trials]
    values = [value for value in of_records if value is not None]
    short = len(trials) - len(values)
    if not values:
        reason = f"no record has {k} scored trials" if trials else "nothing was scored"
        return PassRate(k, Estimate(None, 0, reason=reason), short)
    if clusters is not None:
        groups = [group for value, group in zip(of_records, clusters, strict=True) if value is not None]
        return PassRate(k, cluster_robust_t(ClusterTotals.of(values, groups), level, (0.0, 1.0)), short)
    if all(n <= k for n, _ in trials):
        return PassRate(k, proportion_estimate(round(sum(values)), len(values), level), short)
    return PassRate(k, mean_estimate(values, level, (0.0, 1.0)), short)
