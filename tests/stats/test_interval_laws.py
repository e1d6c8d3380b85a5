"""Laws that hold for every interval, whatever the data: no lies at the edges, symmetry, order, width, refusal."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import stats
from evalsi.stats import Estimate, Interval

SCORES = st.lists(st.floats(0, 1).map(lambda x: round(x, 4)), min_size=1, max_size=30)
PLAN = stats.Resampling(seed=11, resamples=500)
PLAN_BCA = stats.Resampling(seed=11, resamples=500, kind="bca")
UNIT = (0.0, 1.0)

MEANS: dict[str, Callable[[list[float]], Estimate]] = {
    "t": lambda x: stats.mean_estimate(x, bounds=UNIT),
    "cluster-t": lambda x: stats.cluster_robust_t(
        stats.ClusterTotals.of(x, [i // 2 for i in range(len(x))]), bounds=UNIT
    ),
    "percentile": lambda x: stats.bootstrap_mean(x, PLAN, bounds=UNIT),
    "bca": lambda x: stats.bootstrap_mean(x, PLAN_BCA, bounds=UNIT),
    "cluster percentile": lambda x: stats.bootstrap_mean(
        x, PLAN, clusters=[i // 2 for i in range(len(x))], bounds=UNIT
    ),
}


@pytest.mark.parametrize("method", MEANS)
@given(scores=SCORES)
def test_an_interval_of_a_mean_has_width_and_stays_in_bounds_or_says_why_not(method: str, scores: list[float]) -> None:
    found = MEANS[method](scores)
    assert found.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert (found.interval is None) == (found.reason is not None)
    if found.interval is not None:
        assert 0.0 <= found.interval.low < found.interval.high <= 1.0
    if len(scores) == 1:
        assert found.interval is None
    elif found.clusters is None:
        assert found.interval is not None


@pytest.mark.parametrize("method", ["t", "cluster-t"])
@given(scores=SCORES)
def test_an_interval_contains_its_mean_and_mirrors_with_the_scores(method: str, scores: list[float]) -> None:
    found, mirrored = MEANS[method](scores), MEANS[method]([1.0 - x for x in scores])
    assert found.value is not None
    if found.interval is None:
        assert mirrored.interval is None
        return
    assert mirrored.interval is not None
    assert found.interval.low - 1e-12 <= found.value <= found.interval.high + 1e-12
    assert mirrored.interval.low == pytest.approx(1.0 - found.interval.high, abs=1e-9)
    assert mirrored.interval.high == pytest.approx(1.0 - found.interval.low, abs=1e-9)


@given(SCORES.flatmap(lambda scores: st.tuples(st.just(scores), st.permutations(scores))))
def test_the_order_of_records_does_not_matter(orders: tuple[list[float], list[float]]) -> None:
    scores, shuffled = orders
    for method in ("t", "percentile"):
        one, other = MEANS[method](scores), MEANS[method](shuffled)
        if one.interval is None:
            assert other.interval is None
        else:
            assert other.interval is not None
            assert (one.interval.low, one.interval.high) == pytest.approx(
                (other.interval.low, other.interval.high), abs=1e-9
            )


@given(st.integers(1, 300), st.data())
def test_proportion_intervals_nest_mirror_and_hold_the_share(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    for method in (stats.wilson, stats.clopper_pearson):
        inner, outer, mirrored = method(k, n, 0.8), method(k, n, 0.99), method(n - k, n, 0.8)
        assert inner is not None
        assert outer is not None
        assert mirrored is not None
        assert outer.low <= inner.low <= k / n <= inner.high <= outer.high
        assert (inner.low, inner.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-12)
        assert inner.width > 0


@given(st.integers(1, 200), st.data())
def test_bonett_price_mirrors_and_widens_with_the_level(n: int, data: st.DataObject) -> None:
    better = data.draw(st.integers(0, n))
    worse = data.draw(st.integers(0, n - better))
    inner, outer = stats.bonett_price(better, worse, n, 0.8), stats.bonett_price(better, worse, n, 0.99)
    mirrored = stats.bonett_price(worse, better, n, 0.8)
    assert inner is not None
    assert outer is not None
    assert mirrored is not None
    assert -1 <= outer.low <= inner.low < inner.high <= outer.high <= 1
    assert (inner.low, inner.high) == pytest.approx((-mirrored.high, -mirrored.low))


@given(st.floats(0, 1), st.integers(1, 1000))
def test_equal_values_leave_room_for_what_was_not_seen(value: float, n: int) -> None:
    found = stats.unseen_mass(value, n, UNIT)
    assert found is not None
    assert 0.0 <= found.low <= value <= found.high <= 1.0
    assert found.width == pytest.approx(1 - 0.025 ** (1 / n))
    at_the_end, exact = stats.unseen_mass(1.0, n, UNIT), stats.clopper_pearson(n, n)
    assert at_the_end is not None
    assert exact is not None
    assert at_the_end.low == pytest.approx(exact.low)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 50])
def test_a_constant_sample_misses_at_most_five_times_in_a_hundred_for_any_two_values(n: int) -> None:
    for share in np.linspace(0.01, 0.99, 99):
        for low, high in ((0.0, 1.0), (0.3, 1.0), (0.2, 0.9)):
            mean = share * high + (1 - share) * low
            miss = 0.0
            for value, chance in ((high, share**n), (low, (1 - share) ** n)):
                interval = stats.unseen_mass(value, n, UNIT)
                assert interval is not None
                miss += chance * (mean not in interval)
            assert miss <= 0.05 + 1e-12


@pytest.mark.parametrize("scores", [[0.7, 0.7, 0.7], [1.0] * 8, [0.1 + 0.2] * 5])
def test_a_constant_sample_without_bounds_has_no_interval_and_says_why(scores: list[float]) -> None:
    clusters = ["a", "b", "c", "a", "b", "c", "a", "b"][: len(scores)]
    for found in (
        stats.mean_estimate(scores),
        stats.bootstrap_mean(scores, PLAN),
        stats.bootstrap_mean(scores, PLAN, clusters=clusters),
        stats.cluster_robust_t(stats.ClusterTotals.of(scores, clusters)),
        stats.paired_difference(scores, scores),
        stats.bootstrap_statistic(lambda weights: weights @ np.array(scores) / weights.sum(axis=1), len(scores), PLAN),
    ):
        assert found.interval is None
        assert found.reason


def test_nothing_measured_is_none_everywhere() -> None:
    assert (
        stats.wilson(0, 0) is stats.clopper_pearson(0, 0) is stats.bonett_price(0, 0, 0) is stats.t_interval([]) is None
    )
    assert stats.betting_interval([], UNIT) is stats.unseen_mass(0.5, 0, UNIT) is None
    assert stats.paired_permutation([], [], seed=0) is None
    assert stats.reliability_table([], []) == []
    for found in (
        stats.mean_estimate([]),
        stats.proportion_estimate(0, 0),
        stats.bootstrap_mean([], PLAN),
        stats.bootstrap_mean([], PLAN, clusters=[]),
        stats.bootstrap_statistic(lambda weights: weights.sum(axis=1), 0, PLAN),
        stats.cluster_robust_t(stats.ClusterTotals.of([], [])),
        stats.paired_difference([], []),
        stats.paired_bootstrap([], [], PLAN),
        stats.paired_wald(0, 0, 0),
        stats.paired_proportions(0, 0, 0),
        stats.pass_rate([], 1).estimate,
        stats.cohen_kappa([], []),
        stats.gwet_ac1([], []),
        stats.observed_agreement([], []),
        stats.krippendorff_alpha([[], []]),
        stats.pearson([], []),
        stats.quantile_estimate([], 0.5),
        stats.brier_score([], [], PLAN),
        stats.expected_calibration_error([], [], PLAN),
    ):
        assert (found.value, found.interval, found.n) == (None, None, 0)
        assert found.reason


def test_one_cluster_and_one_record_have_a_value_but_no_interval() -> None:
    for found in (
        stats.cluster_robust_t(stats.ClusterTotals.of([0.0, 1.0], ["a", "a"]), bounds=UNIT),
        stats.bootstrap_mean([0.0, 1.0], PLAN, clusters=["a", "a"], bounds=UNIT),
        stats.bootstrap_statistic(lambda w: w @ np.array([0, 1]) / w.sum(axis=1), 2, PLAN, clusters=["a", "a"]),
        stats.paired_difference([0.2], [0.7], bounds=UNIT),
    ):
        assert found.value == pytest.approx(0.5)
        assert found.interval is None
        assert found.reason


def test_perfect_agreement_is_no_certainty() -> None:
    labels = ["pass", "fail"] * 5
    for found in (
        stats.cohen_kappa(labels, labels),
        stats.cohen_kappa(labels, labels, weights="linear"),
        stats.gwet_ac1(labels, labels),
        stats.krippendorff_alpha([labels, labels], "nominal", PLAN),
        stats.krippendorff_alpha([[1, 2, 3], [1, 2, 3]], "interval", PLAN),
        stats.krippendorff_alpha([[1, 2, 3], [1, 2, 3]], "ratio", PLAN),
    ):
        assert found.value == 1.0
        assert found.interval is not None
        assert found.interval.high == 1.0
        assert found.interval.low < 0.5


@pytest.mark.parametrize("bad", [[0.1, math.nan], [math.inf], [[0.1, 0.2]]])
def test_failed_scores_and_wrong_shapes_are_refused_by_name(bad: list[float]) -> None:
    for call in (stats.mean_estimate, stats.Moments.of, lambda x: stats.bootstrap_mean(x, PLAN)):
        with pytest.raises(ValueError, match=r"value|dimension"):
            call(bad)


def test_contradictory_arguments_are_refused() -> None:
    refused: list[Callable[[], object]] = [
        lambda: stats.wilson(3, 2),
        lambda: stats.wilson(1, 2, level=95),
        lambda: stats.bonett_price(2, 2, 3),
        lambda: stats.mcnemar_exact(-1, 2),
        lambda: stats.paired_binary_e_value(-1, 2),
        lambda: stats.mean_estimate([0.5, 1.5], bounds=UNIT),
        lambda: stats.mean_estimate([0.5, 0.6], bounds=(1.0, 0.0)),
        lambda: stats.betting_interval([2.0], UNIT),
        lambda: stats.paired_difference([1.0], [1.0, 2.0]),
        lambda: stats.ClusterTotals.of([1.0, 2.0], ["a"]),
        lambda: stats.ClusterTotals(np.array([1.0]), np.array([0])),
        lambda: stats.bootstrap_statistic(lambda w: w.sum(axis=1), 3, PLAN, clusters=["a"]),
        lambda: stats.Resampling(seed=1, resamples=10),
        lambda: stats.pass_at_k(3, 4, 1),
        lambda: stats.pass_at_k(3, 1, 0),
        lambda: stats.cohen_kappa([1], [1, 2]),
        lambda: stats.cohen_kappa([1, None], [1, 1]),
        lambda: stats.cohen_kappa([1], [2], categories=[1]),
        lambda: stats.cohen_kappa([1, "a"], ["a", 1], weights="linear"),
        lambda: stats.krippendorff_alpha([["a", "b"], ["a", "b"]], "interval"),
        lambda: stats.krippendorff_alpha([[1, 2], [1]], "nominal"),
        lambda: stats.krippendorff_alpha([[-1, 2], [1, 2]], "ratio"),
        lambda: stats.holm([1.2]),
        lambda: stats.quantile_estimate([1.0], 1.0),
        lambda: stats.brier_score([1.2], [1.0], PLAN),
        lambda: stats.brier_score([0.2], [0.5], PLAN),
        lambda: stats.Binning(bins=0),
        lambda: stats.Sensitivity(alpha=0.9),
        lambda: stats.detectable_mean(10, 0.0),
        lambda: stats.detectable_proportion(10, 1.0),
        lambda: stats.detectable_paired_proportion(10, 0.0),
        lambda: stats.required_n_paired_proportion(0.4, 0.2),
        lambda: stats.anytime_p_value(-1.0),
        lambda: stats.improvement_posterior([2.0], margin=0.05, seed=1),
        lambda: stats.improvement_posterior([0.5], margin=2.0, seed=1),
        lambda: Interval(0.5, 0.5, 0.95, "none"),
        lambda: Interval(0.0, math.nan, 0.95, "none"),
    ]
    for call in refused:
        with pytest.raises(ValueError):
            call()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_a_confidence_sequence_does_not_depend_on_its_batches_and_only_shrinks(
    first: list[float], second: list[float]
) -> None:
    values, cut = first + second, len(first)
    start = stats.ConfidenceSequence(bounds=UNIT)
    halfway = start.update(values[:cut])
    two_steps, at_once = halfway.update(values[cut:]), start.update(values)
    assert two_steps.interval is not None
    assert at_once.interval is not None
    assert halfway.interval is not None
    assert (two_steps.low_index, two_steps.high_index) == (at_once.low_index, at_once.high_index)
    assert halfway.interval.low <= two_steps.interval.low < two_steps.interval.high <= halfway.interval.high
    assert two_steps.n == len(values)
    assert start.n == 0  # a sequence is a value


def test_a_betting_interval_narrows_around_the_mean_in_the_metrics_unit() -> None:
    values = np.random.default_rng(0).normal(7.0, 0.5, 4000).clip(1, 10)
    found = stats.betting_interval(values, (1.0, 10.0))
    assert found is not None
    assert 7.0 in found
    assert found.width < 0.25


def test_evidence_grows_with_one_sided_change_only() -> None:
    assert stats.paired_binary_e_value(0, 0) == 1.0
    assert stats.paired_binary_e_value(9, 0) > 20 > stats.paired_binary_e_value(6, 1)
    assert stats.paired_binary_e_value(50, 50) < 1
    assert stats.paired_binary_e_value(20, 2, "better") > 20 > 1 > stats.paired_binary_e_value(20, 2, "worse")
    assert math.isfinite(stats.paired_binary_e_value(10**6, 0))
    assert stats.anytime_p_value(20.0) == 0.05
    assert stats.anytime_p_value(0.5) == stats.anytime_p_value(0.0) == 1.0


def test_a_corpus_metric_says_when_too_many_resamples_leave_it_undefined() -> None:
    positives = np.array([1] + [0] * 9)

    def recall(weights: np.ndarray) -> np.ndarray:
        drawn = weights @ positives
        return np.where(drawn > 0, drawn / np.maximum(drawn, 1), np.nan)

    found = stats.bootstrap_statistic(recall, 10, PLAN)
    assert (found.value, found.interval) == (1.0, None)
    assert found.reason is not None
    assert "undefined" in found.reason


def test_a_quantile_needs_enough_values_and_widens_over_ties() -> None:
    assert stats.quantile_estimate(range(5), 0.5).interval is None
    assert stats.quantile_estimate(range(6), 0.5).interval is not None
    assert stats.quantile_estimate(range(367), 0.99).interval is None
    assert stats.quantile_estimate(range(368), 0.99).interval is not None
    tied = stats.quantile_estimate([1.0] + [2.0] * 50 + [3.0], 0.5)
    assert tied.interval is not None
    assert (tied.interval.low, tied.interval.high) == (1.0, 3.0)
    assert stats.quantile_estimate([2.0] * 50, 0.5).interval is None


def test_huge_values_give_a_reason_and_no_infinity() -> None:
    with np.errstate(over="ignore"):
        found = stats.mean_estimate([1e308, -1e308, 1e308])
    assert found.interval is None
    assert found.standard_error is None
    assert found.reason


def test_importing_the_package_costs_numpy_and_nothing_heavier() -> None:
    import subprocess
    import sys

    code = "import sys, evalsi.stats; print([m for m in ('scipy', 'statsmodels', 'sklearn', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
