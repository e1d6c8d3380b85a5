"""The distribution functions against scipy, over the parameters that statistics of records can reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy import stats as oracle

from evalsi.stats import distributions as ours

SHAPES = st.floats(-1.0, 6.0).map(lambda exponent: 10.0**exponent)
TAILS = st.one_of(st.sampled_from([0.0005, 0.005, 0.025, 0.5, 0.975, 0.995, 0.9995]), st.floats(1e-4, 1 - 1e-4))


@given(SHAPES, SHAPES, st.floats(-4, 4))
def test_the_beta_distribution_equals_scipy(a: float, b: float, deviations: float) -> None:
    mean, sd = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    x = float(np.clip(mean + deviations * sd, 1e-12, 1 - 1e-12))
    assert ours.beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=2e-10, abs=1e-13)


@given(SHAPES, SHAPES, TAILS)
def test_the_beta_quantile_inverts_the_distribution(a: float, b: float, p: float) -> None:
    # scipy's own inverse is only good to 1e-8 in places, so it is held to that; its distribution is the exact oracle.
    quantile = ours.beta_quantile(p, a, b)
    assert quantile == pytest.approx(special.betaincinv(a, b, p), rel=1e-7, abs=1e-300)
    if 1e-12 < quantile < 0.99:  # closer to 1 a float has too few digits left for the way back
        assert special.betainc(a, b, quantile) == pytest.approx(p, rel=1e-8)


@given(SHAPES)
def test_the_median_of_a_symmetric_beta_is_one_half(shape: float) -> None:
    assert ours.beta_quantile(0.5, shape, shape) == pytest.approx(0.5, rel=1e-14)


@given(st.floats(-0.3, 6.0).map(lambda exponent: 10.0**exponent), TAILS)
def test_the_student_quantile_equals_scipy(df: float, p: float) -> None:
    assert ours.student_t_quantile(p, df) == pytest.approx(oracle.t.ppf(p, df), rel=1e-10, abs=1e-10)


@given(st.floats(-0.3, 6.0).map(lambda exponent: 10.0**exponent), st.floats(-8, 8))
def test_the_student_distribution_equals_scipy_out_into_the_tails(df: float, t: float) -> None:
    # So close to 0 that the curve is a straight line, scipy says exactly 0.5; then the density is the better oracle.
    right = oracle.t.cdf(t, df) if abs(t) > 1e-6 else 0.5 + t * oracle.t.pdf(0.0, df)
    assert ours.student_t_cdf(t, df) == pytest.approx(right, rel=3e-10, abs=1e-14)


@pytest.mark.parametrize("t", [7.464909977576268e-10, -3e-9, 1e-12])
def test_the_student_distribution_keeps_its_digits_close_to_the_middle(t: float) -> None:
    assert ours.student_t_cdf(t, 1.0) == pytest.approx(0.5 + np.arctan(t) / np.pi, rel=1e-15, abs=0)


@given(st.integers(0, 100_000), st.floats(0.001, 0.999), st.floats(-4, 4))
def test_binomial_chances_equal_scipy(n: int, p: float, deviations: float) -> None:
    k = int(np.clip(round(n * p + deviations * np.sqrt(n * p * (1 - p))), 0, n))
    assert ours.binomial_pmf(k, n, p) == pytest.approx(oracle.binom.pmf(k, n, p), rel=1e-9, abs=1e-290)
    assert ours.binomial_cdf(k, n, p) == pytest.approx(oracle.binom.cdf(k, n, p), rel=1e-9, abs=1e-14)


@given(st.floats(-8, 8), TAILS)
def test_the_normal_distribution_equals_scipy(z: float, p: float) -> None:
    assert ours.normal_cdf(z) == pytest.approx(oracle.norm.cdf(z), rel=1e-12)
    assert ours.normal_quantile(p) == pytest.approx(oracle.norm.ppf(p), rel=1e-12, abs=1e-15)


def test_ends_and_infinite_degrees_of_freedom() -> None:
    assert (ours.beta_cdf(0.0, 2, 3), ours.beta_cdf(1.0, 2, 3)) == (0.0, 1.0)
    assert (ours.beta_quantile(0.0, 2, 3), ours.beta_quantile(1.0, 2, 3)) == (0.0, 1.0)
    assert ours.student_t_quantile(0.975, float("inf")) == pytest.approx(1.959963984540054)
    assert ours.student_t_cdf(1.0, float("inf")) == pytest.approx(oracle.norm.cdf(1.0))
    assert ours.student_t_quantile(0.5, 3) == 0.0
    assert [ours.binomial_cdf(k, 5, 0.3) for k in (-1, 5)] == [0.0, 1.0]
    assert [ours.binomial_pmf(k, 5, 0.0) for k in (-1, 0, 1)] == [0.0, 1.0, 0.0]
