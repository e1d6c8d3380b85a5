"""Adjusted p-values for many comparisons at once: Holm (any false alarm) and Benjamini-Hochberg (share of them).

Its own module because ten tasks at 5% each raise a false alarm in four runs of ten. What always holds: order is kept,
adjusted values are at least the raw ones, at most 1, and monotone in them.
"""

from collections.abc import Sequence

import numpy as np

from evalsi.stats.sample import FloatArray, checked_values


def _checked_p_values(p_values: Sequence[float]) -> FloatArray:
    array = checked_values(p_values)
    if ((array < 0.0) | (array > 1.0)).any():
        raise ValueError("p-values lie between 0 and 1")
    return array


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, same order; rejecting those <= alpha keeps the chance of any false alarm <= alpha.

    Holds for any dependence between the tests. Raises ValueError for a p-value outside [0, 1].
    Source: Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    array = _checked_p_values(p_values)
    order = np.argsort(array, kind="stable")
    raised = np.minimum(1.0, np.maximum.accumulate(array[order] * np.arange(array.size, 0, -1)))
    adjusted = np.empty_like(array)
    adjusted[order] = raised
    return adjusted.tolist()


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, same order; rejecting those <= alpha keeps the expected share of false alarms <= alpha.

    Holds for independent or positively dependent tests. Raises ValueError for a p-value outside [0, 1].
    Source: Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300.
    """
    array = _checked_p_values(p_values)
    order = np.argsort(array, kind="stable")
    scaled = array[order] * array.size / np.arange(1, array.size + 1)
    adjusted = np.empty_like(array)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted.tolist()
