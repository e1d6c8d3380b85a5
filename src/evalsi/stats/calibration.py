"""Do stated confidences come true? Brier score, expected calibration error, and the reliability table behind them.

Its own module because these compare two columns, a probability and what happened. What always holds: bins are fixed by
the data once and not moved by resampling; empty bins have no row rather than a zero.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalsi.stats.bootstrap import Resampling, bootstrap_mean, resampled_statistic
from evalsi.stats.interval import Estimate, Interval, interval_or_none
from evalsi.stats.proportion import wilson
from evalsi.stats.sample import FloatArray, IntArray, Labels, checked_pair, label_codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Binning:
    """How confidences in [0, 1] are grouped."""

    bins: int = 10
    kind: Literal["width", "mass"] = "width"
    """`width`: bins of equal width; `mass`: of as equal a count as ties allow."""

    def __post_init__(self) -> None:
        if self.bins < 1:
            raise ValueError(f"at least one bin is needed, not {self.bins}")


@dataclass(frozen=True, slots=True)
class ReliabilityRow:
    """One bin with at least one record."""

    low: float
    high: float
    n: int
    mean_confidence: float
    accuracy: float
    accuracy_interval: Interval | None


_TEN_EQUAL_WIDTHS = Binning()


def _checked(confidences: npt.ArrayLike, outcomes: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    stated, happened = checked_pair(confidences, outcomes)
    if ((stated < 0.0) | (stated > 1.0)).any():
        raise ValueError("confidences lie between 0 and 1")
    if not np.isin(happened, (0.0, 1.0)).all():
        raise ValueError("outcomes are 0 or 1")
    return stated, happened


def _bin_of(stated: FloatArray, binning: Binning) -> tuple[IntArray, FloatArray]:
    """Bin of each record, shape (n,), and the edges, ascending. A bin includes its upper edge, as the first its lower."""
    if binning.kind == "width":
        edges = np.linspace(0.0, 1.0, binning.bins + 1)
    else:
        edges = np.unique(np.quantile(stated, np.linspace(0.0, 1.0, binning.bins + 1), method="inverted_cdf"))
        edges = np.concatenate([edges, edges]) if edges.size == 1 else edges
    place = np.searchsorted(edges[1:-1], stated, side="left")
    return place.astype(np.int64), edges


def reliability_table(
    confidences: npt.ArrayLike, outcomes: npt.ArrayLike, binning: Binning = _TEN_EQUAL_WIDTHS, level: float = 0.95
) -> list[ReliabilityRow]:
    """One row per bin that holds records, with Wilson's interval of its accuracy.

    Args:
        confidences: shape (n,), fractions in [0, 1]. outcomes: shape (n,), 0 or 1.
    Returns: rows in order of confidence; an empty list for n = 0.
    Raises: ValueError: lengths differ, values out of range.
    Source: Murphy & Winkler (1977), Applied Statistics 26:41-47.
    """
    stated, happened = _checked(confidences, outcomes)
    if stated.size == 0:
        return []
    place, edges = _bin_of(stated, binning)
    rows: list[ReliabilityRow] = []
    for index in np.unique(place).tolist():
        inside = place == index
        n, hits = int(inside.sum()), int(happened[inside].sum())
        rows.append(
            ReliabilityRow(
                float(edges[index]),
                float(edges[index + 1]),
                n,
                float(stated[inside].mean()),
                hits / n,
                wilson(hits, n, level),
            )
        )
    return rows


def brier_score(
    confidences: npt.ArrayLike, outcomes: npt.ArrayLike, plan: Resampling, *, clusters: Labels | None = None
) -> Estimate:
    """Mean squared gap between confidence and outcome, with a bootstrap interval over records (or clusters).

    Args, Raises: as `reliability_table`.
    Returns: a number in [0, 1], lower is better; no value for n = 0, no interval for n = 1.
    Source: Brier (1950), Monthly Weather Review 78:1-3.
    """
    stated, happened = _checked(confidences, outcomes)
    return bootstrap_mean((stated - happened) ** 2, plan, clusters=clusters, bounds=(0.0, 1.0))


def expected_calibration_error(
    confidences: npt.ArrayLike,
    outcomes: npt.ArrayLike,
    plan: Resampling,
    binning: Binning = _TEN_EQUAL_WIDTHS,
    *,
    clusters: Labels | None = None,
) -> Estimate:
    """Mean over records of |mean confidence - accuracy| of their bin, with a bootstrap interval that may hold zero.

    The plain estimate is biased upwards (noise in a bin never cancels below zero), so percentiles of its resamples miss
    a small true error nearly always. Instead the summed |resampled gap - observed gap| over bins is bootstrapped: by the
    triangle inequality the estimate is off by at most the true such sum. The interval is wide, and it is honest.

    Args, Raises: as `reliability_table`; `plan.kind` plays no part.
    Returns: a number in [0, 1]; the interval is cut to it. No value for n = 0, no interval below two records or
        clusters, or where every resample gives the same gaps.
    Source: Naeini, Cooper & Hauskrecht (2015), AAAI, 2901-2907; equal mass and bias, Roelofs et al. (2022), AISTATS;
        bootstrap of the norm of a mean, van der Vaart & Wellner (1996), Weak Convergence and Empirical Processes, 3.6.
    """
    stated, happened = _checked(confidences, outcomes)
    n = stated.size
    if n == 0:
        return Estimate(None, 0, reason="nothing was scored")
    place, edges = _bin_of(stated, binning)
    gaps = np.zeros((n, max(1, edges.size - 1)))
    gaps[np.arange(n), place] = stated - happened
    observed = gaps.mean(axis=0)
    estimate = float(np.abs(observed).sum())
    groups = None if clusters is None else len(label_codes(clusters)[1])

    def distance(weights: IntArray) -> FloatArray:
        return np.abs(weights @ gaps / weights.sum(axis=1, keepdims=True) - observed).sum(axis=1)

    reach = float(np.quantile(resampled_statistic(distance, n, plan, clusters=clusters), plan.level))
    if reach <= 1e-12:
        reason = "every resample gives the same calibration, so the records show no spread"
        return Estimate(estimate, n, clusters=groups, reason=reason)
    interval = interval_or_none(max(0.0, estimate - reach), min(1.0, estimate + reach), plan.level, "bootstrap-norm")
    return Estimate(estimate, n, interval, clusters=groups)
