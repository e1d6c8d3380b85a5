"""Tests of two independent samples agree with scipy and statsmodels."""

from math import log

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats import proportion as reference

from evalsi.stats import (
    kolmogorov_smirnov,
    mean_estimate,
    proportion_difference,
    stability_index,
    welch_difference,
)
from evalsi.stats.interval import Estimate


@pytest.mark.parametrize(("first", "second"), [(30, 40), (200, 25), (12, 12)])
def test_the_difference_of_means_is_that_of_scipy(first: int, second: int) -> None:
    chance = np.random.default_rng(first)
    a, b = chance.normal(1, 1, first), chance.normal(1.4, 2, second)
    found = welch_difference(mean_estimate(a), mean_estimate(b))
    expected = scipy_stats.ttest_ind(b, a, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found is not None
    assert found.interval is not None
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(("successes", "n"), [((8, 15), (10, 20)), ((90, 60), (100, 100)), ((0, 3), (30, 40))])
def test_the_difference_of_proportions_is_that_of_statsmodels(successes: tuple[int, int], n: tuple[int, int]) -> None:
    found = proportion_difference(successes, n)
    low, high = reference.confint_proportions_2indep(
        successes[1], n[1], successes[0], n[0], method="newcomb", compare="diff"
    )
    _, p_value = reference.proportions_ztest(np.asarray(successes), np.asarray(n))
    assert found is not None
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.p_value == pytest.approx(p_value)


def test_equal_verdicts_everywhere_have_an_interval_and_no_p_value() -> None:
    found = proportion_difference((20, 30), (20, 30))
    assert found is not None
    assert found.p_value is None
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high


def test_an_empty_sample_has_no_difference() -> None:
    assert proportion_difference((0, 3), (0, 9)) is None
    assert welch_difference(Estimate(None, 0), mean_estimate([1.0, 2.0])) is None


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0])
def test_the_distance_of_distributions_is_that_of_scipy(shift: float) -> None:
    chance = np.random.default_rng(9)
    a, b = chance.normal(0, 1, 400), chance.normal(shift, 1, 300)
    edges = np.unique(np.concatenate([a, b]))
    first = np.histogram(a, [*edges, np.inf])[0]
    second = np.histogram(b, [*edges, np.inf])[0]
    distance, p_value = kolmogorov_smirnov(first, second)
    expected = scipy_stats.ks_2samp(a, b, method="asymp")
    assert distance == pytest.approx(expected.statistic)
    assert p_value == pytest.approx(expected.pvalue, rel=0.1, abs=1e-6)


def test_the_stability_index_is_its_formula() -> None:
    expected = (0.4 - 0.5) * log(0.4 / 0.5) + (0.6 - 0.5) * log(0.6 / 0.5)
    assert stability_index([50, 50], [40, 60]) == pytest.approx(expected)
    assert stability_index([3, 7], [30, 70]) == pytest.approx(0.0)
    assert stability_index([10, 0], [0, 10]) > 5
