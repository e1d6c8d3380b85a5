"""Paired permutation test: would the observed mean difference be unusual if the two labels meant nothing?

Its own module because it needs no assumption on the shape of the differences, only that pairs (or clusters) are
exchangeable. What always holds: the p-value is never zero; small samples are enumerated, larger ones drawn by seed,
and where thousands of different sums make drawing slow, their distribution is known better than draws would tell it.
"""

from itertools import pairwise
from math import exp, pi, sqrt

import numpy as np
import numpy.typing as npt

from evalsi.stats.cluster import ClusterTotals
from evalsi.stats.distributions import normal_cdf
from evalsi.stats.sample import FloatArray, Labels, checked_pair

_EXACT_UNITS = 16
"""2^16 sign patterns are enumerated in about ten milliseconds."""
_CHUNK_ELEMENTS = 2_000_000
_EXPANDED_UNITS = 2_000
"""Distinct magnitudes from which the distribution of the sum is expanded instead of drawn."""
_EVEN_SHARE = 0.01
"""Most of the fourth moment that may sit in few units for the expansion to hold: sum of m^4 over (sum of m^2)^2."""

_FINE_STEP = 1e-4
"""As `_EVEN_SHARE`, from which on the magnitudes need not differ: in the worst case, 10,000 equal ones, the sum has steps
of a fiftieth of its standard deviation."""


def paired_permutation(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    seed: int,
    resamples: int = 9_999,
    clusters: Labels | None = None,
) -> float | None:
    """Two-sided p-value of the mean of after - before under random swaps of before and after.

    Args:
        before, after: shape (n,), the same records in the same order.
        seed, resamples: for Monte Carlo, used above 16 pairs that differ; then p = (1 + hits) / (1 + resamples). Above
            2,000 different magnitudes, none of which dominates, or 10,000 of any, p comes from the Edgeworth expansion of
            the sum, whose error is far below the noise of the draws; it is never below 1 / (1 + resamples) either.
        clusters: one label per record; a whole cluster is swapped at once.
    Returns: p in (0, 1]; 1 when no pair differs; None for n = 0.
    Raises: ValueError: lengths differ, NaN or infinity.
    Source: Fisher (1935), The Design of Experiments, section 21; Phipson & Smyth (2010), Statistical Applications in
        Genetics and Molecular Biology 9:39 (why one is added); Feller (1971), An Introduction to Probability Theory and
        Its Applications, volume II, section XVI.4 (the expansion; odd cumulants of a sum of random signs are zero).
    """
    first, second = checked_pair(before, after)
    if first.size == 0:
        return None
    differences = second - first
    if clusters is not None:
        differences = ClusterTotals.of(differences, clusters).sums
    # A pair without a difference has the same sum under both signs.
    moving = differences[np.abs(differences) > 1e-12 * np.abs(differences).max(initial=0.0)]
    if moving.size == 0:
        return 1.0
    # Sums that are equal in real numbers must count as ties in floats.
    threshold = abs(float(moving.sum())) - 1e-10 * float(np.abs(moving).sum())
    if moving.size <= _EXACT_UNITS:
        return float((np.abs(_all_signed_sums(moving)) >= threshold).mean())
    magnitudes = np.abs(moving)
    squares = magnitudes * magnitudes
    evenness = float((squares * squares).sum()) / float(squares.sum()) ** 2
    z = abs(float(moving.sum())) / sqrt(float(squares.sum()))
    if evenness <= _EVEN_SHARE and _differ_much(magnitudes):
        return max(_expanded(z, evenness), 1 / (1 + resamples))
    if evenness <= _FINE_STEP:
        # Were all magnitudes equal, sums would be two of them apart: half a step back, so that no tie is missed.
        return max(_expanded(max(0.0, z - sqrt(evenness)), evenness), 1 / (1 + resamples))
    return _monte_carlo(magnitudes, threshold, seed, resamples)


def _differ_much(magnitudes: FloatArray) -> bool:
    """Whether more than `_EXPANDED_UNITS` of them differ; the first ones tell, as a rule."""
    for part in (magnitudes[: 5 * _EXPANDED_UNITS], magnitudes):
        ordered = np.sort(part)
        if 1 + np.count_nonzero(ordered[1:] != ordered[:-1]) > _EXPANDED_UNITS:
            return True
    return False


def _expanded(z: float, evenness: float) -> float:
    """P(|sum of signed magnitudes| >= z standard deviations), to the order of the fourth cumulant, -2 `evenness`."""
    density = exp(-z * z / 2) / sqrt(2 * pi)
    tail = normal_cdf(-z) - density * (2 * evenness / 24) * (z**3 - 3 * z)
    return min(1.0, 2 * tail)


def _all_signed_sums(values: FloatArray) -> FloatArray:
    """Sums under each of the 2^n sign patterns, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _monte_carlo(magnitudes: FloatArray, threshold: float, seed: int, resamples: int) -> float:
    """Equal magnitudes are drawn together: the number of plus signs among c of them is Binomial(c, 1/2)."""
    generator = np.random.default_rng(seed)
    distinct, counts = np.unique(magnitudes, return_counts=True)
    hits = 0
    edges = [*range(0, resamples, max(1, _CHUNK_ELEMENTS // distinct.size)), resamples]
    for start, end in pairwise(edges):
        plus = generator.binomial(counts, 0.5, size=(end - start, distinct.size))
        hits += int((np.abs((2 * plus - counts) @ distinct) >= threshold).sum())
    return (1 + hits) / (1 + resamples)
