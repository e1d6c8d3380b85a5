"""Variance between records and between trials of one record: against mixed models, and unbiased by simulation."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import statsmodels.formula.api as formula

from evalsi.stats import VarianceComponents, variance_components

Values = list[npt.NDArray[np.float64]]


def components(records: Values) -> VarianceComponents:
    found = variance_components(
        np.array([values.size for values in records]),
        np.array([values.mean() for values in records]),
        np.array([((values - values.mean()) ** 2).sum() for values in records]),
    )
    assert found is not None
    return found


def drawn(seed: int, sizes: list[int], *, between: float, within: float) -> Values:
    rng = np.random.default_rng(seed)
    return [rng.normal(rng.normal(5, between**0.5), within**0.5, size) for size in sizes]


@pytest.mark.parametrize(("seed", "between", "within"), [(1, 4.0, 1.0), (2, 1.0, 4.0), (3, 0.3, 0.3)])
def test_with_equal_trials_the_estimates_are_those_of_a_mixed_model(seed: int, between: float, within: float) -> None:
    records = drawn(seed, [4] * 40, between=between, within=within)
    frame = pd.DataFrame(
        [(record, value) for record, values in enumerate(records) for value in values], columns=["record", "value"]
    )
    fitted = formula.mixedlm("value ~ 1", frame, groups=frame["record"]).fit(reml=True)
    ours = components(records)
    assert ours.within == pytest.approx(float(fitted.scale), rel=1e-4)
    assert ours.between == pytest.approx(float(fitted.cov_re.iloc[0, 0]), rel=1e-3)
    # Of the mean: what the model says, and with equal trials what a t interval over records would use.
    assert ours.standard_error(40, 4) == pytest.approx(float(fitted.bse["Intercept"]), rel=1e-3)
    assert ours.standard_error(40, 4) == pytest.approx(np.std([each.mean() for each in records], ddof=1) / 40**0.5)


def test_unequal_trials_are_estimated_without_bias() -> None:
    sizes = [1, 2, 2, 3, 5, 8] * 4
    found = [components(drawn(seed, sizes, between=2.0, within=1.0)) for seed in range(1500)]
    # Four standard errors of the simulation: 0.74 and 0.17 spread over 1,500 draws.
    assert np.mean([each.within for each in found]) == pytest.approx(1.0, abs=0.02)
    assert np.mean([each.between for each in found]) == pytest.approx(2.0, abs=0.08)


def test_the_promised_standard_error_is_that_of_drawn_means() -> None:
    for records, trials in ((30, 1), (30, 6), (60, 3)):
        means = [np.mean(drawn(seed, [trials] * records, between=2.0, within=1.0)) for seed in range(1500)]
        promised = VarianceComponents(records=1, trials=1, between=2.0, within=1.0).standard_error(records, trials)
        assert np.std(means) == pytest.approx(promised, rel=0.06)


def test_more_records_narrow_always_more_trials_only_where_trials_differ() -> None:
    steady = VarianceComponents(records=100, trials=300, between=1.0, within=0.0)
    wavering = VarianceComponents(records=100, trials=300, between=0.0, within=1.0)
    assert steady.narrowing(trials=2) == pytest.approx(0.0)
    assert wavering.narrowing(trials=2) == pytest.approx(1 - 0.5**0.5)
    for each in (steady, wavering):
        assert each.narrowing(records=2) == pytest.approx(1 - 0.5**0.5)
    assert (steady.intraclass_correlation, wavering.intraclass_correlation) == (1.0, 0.0)


def test_where_nothing_varies_there_is_no_correlation_and_nothing_to_gain() -> None:
    constant = components([np.ones(3), np.ones(3)])
    assert (constant.between, constant.within) == (0.0, 0.0)
    assert constant.intraclass_correlation is None
    assert constant.narrowing(trials=2) is None


def test_a_variance_is_never_below_zero() -> None:
    found = components([np.array([0.0, 1.0]), np.array([1.0, 0.0])])
    assert (found.between, found.within) == (0.0, 0.5)


@pytest.mark.parametrize("sizes", [[5], [1, 1, 1]])
def test_one_record_or_one_trial_each_tells_nothing_apart(sizes: list[int]) -> None:
    count = len(sizes)
    assert variance_components(np.array(sizes), np.zeros(count), np.zeros(count)) is None
