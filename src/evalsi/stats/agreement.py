"""Agreement of two raters on labels: observed agreement, Cohen's kappa and Gwet's AC1.

Its own module because a judge is calibrated by it. What always holds: kappa without variation is undefined, which is
None with a reason, never NaN, 0 or 1; agreement and kappa are shown together, since a rare label makes kappa low at
high agreement.
"""

from collections.abc import Hashable, Sequence
from math import isfinite, sqrt
from typing import Any, Literal

import numpy as np

from evalsi.stats.distributions import student_t_quantile
from evalsi.stats.interval import Estimate, check_level, interval_or_none
from evalsi.stats.proportion import clopper_pearson, proportion_estimate
from evalsi.stats.sample import FloatArray, Labels, label_codes


def _table(first: Labels, second: Labels, categories: Sequence[Hashable] | None) -> FloatArray:
    """Counts of label pairs, shape (labels, labels), rows for the first rater."""
    a, b = _as_list(first), _as_list(second)
    if len(a) != len(b):
        raise ValueError(f"both raters need the same records: {len(a)} and {len(b)} labels")
    for position, label in enumerate([*a, *b]):
        if label is None or label != label:  # NaN alone differs from itself
            raise ValueError(f"record {position % len(a)} has no label from one rater; leave it out before asking")
    known = list(categories) if categories is not None else []
    codes, distinct = label_codes([*known, *a, *b])
    if categories is not None and len(distinct) > len(known):
        raise ValueError(f"label {distinct[len(known)]!r} is not among the categories {known!r}")
    pairs = codes[len(known) :]
    size = len(distinct)
    flat = np.bincount(pairs[: len(a)] * size + pairs[len(a) :], minlength=size * size)
    return flat.reshape(size, size).astype(np.float64)


def _as_list(labels: Labels) -> list[Hashable]:
    return list(labels.tolist()) if isinstance(labels, np.ndarray) else list(labels)


def observed_agreement(first: Labels, second: Labels, level: float = 0.95) -> Estimate:
    """Share of records on which both raters give the same label, with Wilson's interval.

    Args:
        first, second: labels of shape (n,), the same records in the same order.
    Returns: the estimate; no value for n = 0.
    Raises: ValueError: lengths differ.
    """
    table = _table(first, second, None)
    return proportion_estimate(round(float(np.trace(table))), round(float(table.sum())), level)


def _disagreement_weights(size: int, weights: Literal["linear", "quadratic"] | None) -> FloatArray:
    if weights is None:
        return 1.0 - np.eye(size)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    return distance if weights == "linear" else distance * distance


def cohen_kappa(
    first: Labels,
    second: Labels,
    level: float = 0.95,
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    categories: Sequence[Hashable] | None = None,
) -> Estimate:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e), plain or weighted.

    Args:
        first, second: labels of shape (n,), the same records in the same order.
        weights: penalty by distance in `categories`; None counts every disagreement alike.
        categories: the labels in order; needed for `weights` unless the labels sort (numbers, or all text).
    Returns: kappa in [-1, 1] with a delta-method interval. No value for n = 0 or when both raters gave one and the same
        label throughout. At perfect agreement the interval comes from the Clopper-Pearson bound on unseen disagreement.
    Raises: ValueError: lengths differ, a label outside the categories, weights without an order.
    Source: Cohen (1960), Educational and Psychological Measurement 20:37-46; Cohen (1968), Psychological Bulletin
        70:213-220; standard error, Fleiss, Cohen & Everitt (1969), Psychological Bulletin 72:323-327.
    """
    check_level(level)
    if weights is not None and categories is None:
        categories = _sorted_categories([*_as_list(first), *_as_list(second)])
    table = _table(first, second, categories)
    n = round(float(table.sum()))
    if n == 0:
        return Estimate(None, 0, reason="no record has both labels")
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    penalty = _disagreement_weights(shares.shape[0], weights)
    expected = float(rows @ penalty @ columns)
    if expected <= 0.0:
        return Estimate(None, n, reason="both raters gave one and the same label throughout, so kappa is 0/0")
    observed = float((shares * penalty).sum())
    kappa = 1.0 - observed / expected
    if observed <= 0.0:
        return _perfect(n, 1.0 / expected * float(penalty.max()), level)
    # Delta method in terms of disagreement: d kappa / d p_ij of each cell, centred.
    slope = (-penalty + (observed / expected) * ((penalty @ columns)[:, None] + (rows @ penalty)[None, :])) / expected
    centre = float((shares * slope).sum())
    error = sqrt(max(0.0, float((shares * (slope - centre) ** 2).sum())) / n)
    return _around(kappa, n, error, level, "kappa-delta")


def _sorted_categories(labels: list[Any]) -> list[Hashable]:
    try:
        return sorted(set(labels))
    except TypeError as error:
        raise ValueError("weights need an order of the labels; pass `categories` in order") from error


def _perfect(n: int, loss_per_share: float, level: float) -> Estimate:
    """Complete agreement: a share of disagreement up to the Clopper-Pearson bound may have stayed unseen."""
    unseen = clopper_pearson(0, n, level)
    low = max(-1.0, 1.0 - loss_per_share * unseen.high) if unseen else -1.0
    return Estimate(1.0, n, interval_or_none(low, 1.0, level, "unseen-mass"))


def _around(value: float, n: int, error: float, level: float, method: str) -> Estimate:
    if n < 2 or not isfinite(error) or error <= 1e-12:
        return Estimate(value, n, reason="these labels show no spread, so the estimate has no interval")
    half = student_t_quantile(0.5 + level / 2, n - 1) * error
    interval = interval_or_none(max(-1.0, value - half), min(1.0, value + half), level, method)
    return Estimate(value, n, interval, error)


def gwet_ac1(
    first: Labels, second: Labels, level: float = 0.95, *, categories: Sequence[Hashable] | None = None
) -> Estimate:
    """Chance-corrected agreement that stays high when one label is rare, unlike kappa.

    Args:
        first, second: labels of shape (n,). categories: all labels that could be given, at least those seen.
    Returns: AC1 with Gwet's interval; no value for n = 0 or for fewer than two labels. Perfect agreement as in kappa.
    Raises: ValueError: lengths differ, a label outside the categories.
    Source: Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29-48.
    """
    check_level(level)
    table = _table(first, second, categories)
    n, size = round(float(table.sum())), table.shape[0]
    if n == 0:
        return Estimate(None, 0, reason="no record has both labels")
    if size < 2:
        return Estimate(None, n, reason="only one label is known; pass `categories` with all labels")
    shares = table / n
    mean_share = (shares.sum(axis=0) + shares.sum(axis=1)) / 2.0
    agreement = float(np.trace(shares))
    chance = float((mean_share * (1.0 - mean_share)).sum()) / (size - 1)
    value = (agreement - chance) / (1.0 - chance)
    if agreement >= 1.0 - 1e-12:
        return _perfect(n, 1.0 / (1.0 - chance), level)
    # Delta method: d AC1 / d p_ij, with pi_k the mean of the two marginals.
    chance_slope = (1.0 - 2.0 * mean_share) / (size - 1)
    pull = (chance_slope[:, None] + chance_slope[None, :]) / 2.0
    slope = np.eye(size) / (1.0 - chance) - pull * (1.0 - agreement) / (1.0 - chance) ** 2
    centre = float((shares * slope).sum())
    error = sqrt(max(0.0, float((shares * (slope - centre) ** 2).sum())) / n)
    return _around(value, n, error, level, "ac1-delta")
