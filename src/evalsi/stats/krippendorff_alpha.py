"""Krippendorff's alpha: agreement of any number of raters, with missing ratings, on four scales of measurement.

Its own module because it is one coefficient for all of these. What always holds: a unit that fewer than two raters
rated says nothing and is left out; without variation alpha is undefined, which is None with a reason.

Each scale reduces to sums over units, which makes the bootstrap a matrix product: nominal needs counts per value,
interval the first two moments, ordinal is interval on mid-ranks, and ratio needs counts and one table of distances.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalsi.stats.bootstrap import Resampling, bootstrap_statistic
from evalsi.stats.distributions import beta_quantile
from evalsi.stats.interval import Estimate, interval_or_none
from evalsi.stats.sample import FloatArray, IntArray, label_codes

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
Ratings = Sequence[Sequence[Hashable | None]] | npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _UnitSums:
    """Per-unit sums, shape (units, features), and how expected disagreement follows from their totals.

    The first feature is the unit's disagreement over its pairs, the second its number of ratings.
    """

    features: FloatArray
    expected: Callable[[FloatArray], FloatArray]
    """Takes totals of shape (rows, features); returns the summed squared distance of all ordered pairs, (rows,)."""
    largest_distance: float

    def alpha(self, weights: IntArray) -> FloatArray:
        totals = weights @ self.features
        pairs = self.expected(totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0.0, 1.0 - totals[:, 0] * (totals[:, 1] - 1.0) / pairs, np.nan)


def krippendorff_alpha(ratings: Ratings, scale: Scale = "nominal", plan: Resampling | None = None) -> Estimate:
    """Alpha = 1 - observed / expected disagreement, with a bootstrap interval over units when `plan` is given.

    Args:
        ratings: shape (raters, units); None or NaN is a missing rating. Labels of any kind for `nominal`, numbers
            for the other scales (non-negative for `ratio`).
        plan: resamples units; mid-ranks of the ordinal scale stay those of the data.
    Returns: the estimate with `n` = units that two or more raters rated. No value when no unit has two ratings or when
        all ratings are equal. At perfect agreement the interval bounds unseen disagreement (Clopper-Pearson over units).
    Raises: ValueError: raters of different lengths, text on a numeric scale.
    Source: Krippendorff (2019), Content Analysis, 4th ed., ch. 12; resampling units, Zapf et al. (2016), BMC Medical
        Research Methodology 16:93.
    """
    codes, values, missing = _coded(ratings)
    pairable = (~missing).sum(axis=0) >= 2
    codes, missing = codes[:, pairable], missing[:, pairable]
    units = codes.shape[1]
    if units == 0:
        return Estimate(None, 0, reason="no unit has ratings by two raters")
    sums = _unit_sums(codes, values, missing, scale)
    estimate = float(sums.alpha(np.ones((1, units), dtype=np.int64))[0])
    if np.isnan(estimate):
        return Estimate(None, units, reason="all ratings are equal, so alpha is 0/0")
    if plan is None:
        return Estimate(estimate, units, reason="no resampling was asked for")
    if float(sums.features[:, 0].sum()) <= 0.0:
        return _perfect_agreement(sums, units, plan.level)
    return bootstrap_statistic(sums.alpha, units, plan)


def _perfect_agreement(sums: _UnitSums, units: int, level: float) -> Estimate:
    """A share of units up to the Clopper-Pearson bound may disagree by the largest distance seen."""
    totals = sums.features.sum(axis=0, keepdims=True)
    ratings = float(totals[0, 1])
    expected = float(sums.expected(totals)[0]) / (ratings * (ratings - 1.0))
    unseen = beta_quantile(0.5 + level / 2, 1.0, float(units))
    low = max(-1.0, 1.0 - unseen * sums.largest_distance / expected)
    return Estimate(1.0, units, interval_or_none(low, 1.0, level, "unseen-mass"))


def _coded(ratings: Ratings) -> tuple[IntArray, list[Hashable], npt.NDArray[np.bool_]]:
    """Codes of shape (raters, units), the distinct ratings, and where a rating is missing (its code means nothing)."""
    rows = [list(row) for row in ratings]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"each rater needs one entry per unit, not {[len(row) for row in rows]}")
    flat: list[Any] = [rating for row in rows for rating in row]
    absent = np.array([rating is None or rating != rating for rating in flat], dtype=bool)
    present_codes, values = label_codes([rating for rating, gone in zip(flat, absent, strict=True) if not gone])
    codes = np.zeros(len(flat), dtype=np.int64)
    codes[~absent] = present_codes
    shape = (len(rows), len(rows[0]) if rows else 0)
    return codes.reshape(shape), values, absent.reshape(shape)


def _unit_sums(codes: IntArray, values: list[Hashable], missing: npt.NDArray[np.bool_], scale: Scale) -> _UnitSums:
    ratings_per_unit = (~missing).sum(axis=0).astype(np.float64)
    if scale == "nominal":
        counts = _counts(codes, missing, len(values))
        disagreement = (ratings_per_unit**2 - (counts**2).sum(axis=1)) / (ratings_per_unit - 1.0)
        return _UnitSums(
            np.column_stack([disagreement, ratings_per_unit, counts]),
            lambda totals: totals[:, 1] ** 2 - (totals[:, 2:] ** 2).sum(axis=1),
            1.0,
        )
    numbers = _numbers(values, scale)
    if scale == "ratio":
        return _ratio_sums(codes, missing, numbers, ratings_per_unit)
    if scale == "ordinal":
        frequency = np.bincount(codes[~missing], minlength=numbers.size).astype(np.float64)
        order = np.argsort(numbers)
        numbers[order] = np.cumsum(frequency[order]) - frequency[order] / 2.0
    present = np.where(missing, 0.0, numbers[codes])
    centre = present.sum() / ratings_per_unit.sum()  # moments about the mean keep their digits
    deviations = np.where(missing, 0.0, numbers[codes] - centre)
    first, second = deviations.sum(axis=0), (deviations**2).sum(axis=0)
    spread = np.where(_range_per_unit(codes, missing, numbers) > 0.0, ratings_per_unit * second - first**2, 0.0)
    used = numbers[codes[~missing]]
    return _UnitSums(
        np.column_stack([2.0 * spread / (ratings_per_unit - 1.0), ratings_per_unit, first, second]),
        lambda totals: _zero_if_rounding(2.0 * (totals[:, 1] * totals[:, 3] - totals[:, 2] ** 2), totals),
        float(np.ptp(used)) ** 2,
    )


def _zero_if_rounding(pairs: FloatArray, totals: FloatArray) -> FloatArray:
    """Differences of squares that cancel to rounding are zero: all drawn ratings are equal."""
    return np.where(pairs > 1e-10 * totals[:, 1] * totals[:, 3], pairs, 0.0)


def _range_per_unit(codes: IntArray, missing: npt.NDArray[np.bool_], numbers: FloatArray) -> FloatArray:
    lowest = np.where(missing, np.inf, numbers[codes]).min(axis=0)
    highest = np.where(missing, -np.inf, numbers[codes]).max(axis=0)
    return highest - lowest


def _counts(codes: IntArray, missing: npt.NDArray[np.bool_], size: int) -> FloatArray:
    """How often each value was given to each unit, shape (units, values)."""
    units = codes.shape[1]
    place: IntArray = (np.arange(units, dtype=np.int64)[None, :] * size + codes)[~missing]
    return np.bincount(place, minlength=units * size).reshape(units, size).astype(np.float64)


def _numbers(values: list[Hashable], scale: Scale) -> FloatArray:
    wrong = [value for value in values if not isinstance(value, int | float | np.number)]
    if wrong:
        raise ValueError(f"the {scale} scale needs numbers, not {wrong[0]!r}")
    numbers = np.array(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("ratings are finite numbers; a missing one is None")
    if scale == "ratio" and (numbers < 0.0).any():
        raise ValueError("ratings on the ratio scale are not negative")
    return numbers


def _ratio_sums(
    codes: IntArray, missing: npt.NDArray[np.bool_], numbers: FloatArray, ratings_per_unit: FloatArray
) -> _UnitSums:
    counts = _counts(codes, missing, numbers.size)
    total = np.add.outer(numbers, numbers)
    distance = (np.subtract.outer(numbers, numbers) / np.where(total == 0.0, 1.0, total)) ** 2
    disagreement = ((counts @ distance) * counts).sum(axis=1) / (ratings_per_unit - 1.0)
    return _UnitSums(
        np.column_stack([disagreement, ratings_per_unit, counts]),
        lambda totals: ((totals[:, 2:] @ distance) * totals[:, 2:]).sum(axis=1),
        float(distance.max()),
    )
