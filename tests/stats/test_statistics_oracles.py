"""Our formulas against scipy, statsmodels, krippendorff and scikit-learn, on random and on edge inputs."""

# The oracles' own annotations are partial; what they return is checked by the comparisons.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import itertools
import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.metrics import brier_score_loss, cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from evalsi import stats
from evalsi.stats.quantile import order_ranks

LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
SAMPLES = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=2, max_size=40)
LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60)


@given(st.integers(1, 5000), st.floats(0, 1), LEVELS)
def test_proportion_intervals_equal_statsmodels(n: int, share: float, level: float) -> None:
    k = round(share * n)
    for ours, name in ((stats.wilson, "wilson"), (stats.clopper_pearson, "beta")):
        found = ours(k, n, level)
        assert found is not None
        assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, 1 - level, name), abs=1e-10)


@given(SAMPLES, LEVELS)
def test_the_t_interval_equals_statsmodels(values: list[float], level: float) -> None:
    assume(max(values) - min(values) > 1e-3)
    found = stats.t_interval(values, level)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(DescrStatsW(values).tconfint_mean(1 - level), rel=1e-9, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(-10, 10)), min_size=4, max_size=40))
def test_the_cluster_variance_and_degrees_of_freedom_equal_their_matrix_definition(
    rows: list[tuple[int, float]],
) -> None:
    clusters, values = np.array([c for c, _ in rows]), np.array([v for _, v in rows])
    assume(len(set(clusters.tolist())) > 1)
    means = [values[clusters == c].mean() for c in np.unique(clusters)]
    assume(np.ptp(means) > 1e-3)
    n = values.size
    hat = np.full((n, n), 1 / n)
    residual_maker = np.eye(n) - hat
    columns, variance = [], 0.0
    for c in np.unique(clusters):
        inside = clusters == c
        block = np.eye(inside.sum()) - hat[np.ix_(inside, inside)]
        eigenvalues, vectors = np.linalg.eigh(block)
        adjust = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        column = residual_maker[:, inside] @ adjust @ np.full(inside.sum(), 1 / n)
        columns.append(column)
        variance += float(column @ values) ** 2
    gram = np.array(columns) @ np.array(columns).T
    df = np.trace(gram) ** 2 / np.trace(gram @ gram)
    found = stats.cluster_robust_t(stats.ClusterTotals.of(values, clusters.tolist()))
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-7)
    assert found.interval is not None
    half = scipy_stats.t.ppf(0.975, df) * math.sqrt(variance)
    assert found.interval.width / 2 == pytest.approx(half, rel=1e-6)


@given(SAMPLES)
def test_one_record_per_cluster_is_student(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-3)
    found = stats.cluster_robust_t(stats.ClusterTotals.of(values, list(range(len(values)))))
    plain = stats.mean_estimate(values)
    assert found.interval is not None
    assert plain.interval is not None
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (plain.interval.low, plain.interval.high), rel=1e-6
    )


@pytest.mark.parametrize("kind", ["percentile", "bca"])
@pytest.mark.parametrize("distinct", [5, 1000])
def test_bootstrap_means_agree_with_scipy_to_simulation_noise(kind: str, distinct: int) -> None:
    values = np.round(np.random.default_rng(3).gamma(2.0, size=400) * distinct / 5) / distinct
    plan = stats.Resampling(seed=4, resamples=20_000, kind=kind)
    method = "BCa" if kind == "bca" else "percentile"
    oracle = scipy_stats.bootstrap((values,), np.mean, n_resamples=20_000, method=method, rng=5)
    wanted = (oracle.confidence_interval.low, oracle.confidence_interval.high)
    slack = 0.05 * (wanted[1] - wanted[0])
    direct = stats.bootstrap_mean(values, plan).interval
    by_weights = stats.bootstrap_statistic(lambda weights: weights @ values / values.size, 400, plan).interval
    for found in (direct, by_weights):
        assert found is not None
        assert (found.low, found.high) == pytest.approx(wanted, abs=slack)


def test_a_cluster_bootstrap_is_the_bootstrap_of_cluster_totals() -> None:
    generator = np.random.default_rng(1)
    codes = np.repeat(np.arange(40), generator.integers(1, 9, 40))
    values = generator.normal(size=40)[codes] + generator.normal(size=codes.size)
    plan = stats.Resampling(seed=2, resamples=5000)
    direct = stats.bootstrap_mean(values, plan, clusters=codes)
    by_weights = stats.bootstrap_statistic(lambda w: (w @ values) / w.sum(axis=1), codes.size, plan, clusters=codes)
    robust = stats.cluster_robust_t(stats.ClusterTotals.of(values, codes))
    assert direct.interval is not None
    assert by_weights.interval is not None
    assert (direct.interval.low, direct.interval.high) == pytest.approx(
        (by_weights.interval.low, by_weights.interval.high)
    )
    assert direct.standard_error == pytest.approx(robust.standard_error, rel=0.1)
    assert (direct.clusters, by_weights.clusters) == (40, 40)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_equals_statsmodels(better: int, worse: int) -> None:
    assume(better + worse > 0)
    wanted = float(mcnemar([[0, better], [worse, 0]], exact=True).pvalue)
    assert stats.mcnemar_exact(better, worse) == pytest.approx(wanted, rel=1e-9)
    total, fewer = better + worse, min(better, worse)
    binomial = scipy_stats.binom(total, 0.5)
    middle = min(1.0, 2 * binomial.cdf(fewer) - binomial.pmf(fewer)) if better != worse else 1.0
    assert stats.mcnemar_mid_p(better, worse) == pytest.approx(middle, rel=1e-9)


@given(st.lists(st.floats(0, 1), max_size=20))
@settings(max_examples=25)
def test_adjusted_p_values_equal_statsmodels(p_values: list[float]) -> None:
    if not p_values:
        assert stats.holm([]) == stats.benjamini_hochberg([]) == []
        return
    assert stats.holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    assert stats.benjamini_hochberg(p_values) == pytest.approx(multipletests(p_values, method="fdr_bh")[1])


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
@settings(max_examples=25)
def test_the_exact_permutation_test_equals_scipy(differences: list[int]) -> None:
    after = np.array(differences, dtype=float)
    oracle = scipy_stats.permutation_test(
        (after, np.zeros_like(after)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert stats.paired_permutation(np.zeros_like(after), after, seed=0) == pytest.approx(min(1.0, oracle.pvalue))


def test_the_monte_carlo_permutation_test_agrees_with_the_exact_sign_test() -> None:
    # For differences of one size the permutation test is McNemar's exact test.
    after = np.array([1.0] * 32 + [-1.0] * 18)
    found = stats.paired_permutation(np.zeros(50), after, seed=1, resamples=50_000)
    assert found == pytest.approx(stats.mcnemar_exact(32, 18), abs=0.005)
    certain = stats.paired_permutation(np.zeros(60), np.ones(60), seed=1, resamples=999)
    assert certain == pytest.approx(0.001)


@pytest.mark.parametrize("margin", [1, 101, 201, 281, 381])
def test_many_differences_of_one_size_have_the_p_value_of_the_exact_sign_test(margin: int) -> None:
    # The worst case of the expansion: the sum takes every second whole number only.
    after = np.ones(10_001)
    after[: (after.size - margin) // 2] = -1.0
    exact = scipy_stats.binomtest((after.size + margin) // 2, after.size, 0.5).pvalue
    found = stats.paired_permutation(np.zeros_like(after), after, seed=0)
    assert found == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("sizes", [2, 10])
def test_many_differences_of_few_sizes_have_the_p_value_that_draws_have(sizes: int) -> None:
    generator = np.random.default_rng(7)
    magnitudes = generator.choice(np.linspace(0.01, 1, sizes) ** 2, size=40_000)
    after = magnitudes * generator.choice([-1.0, 1.0], size=magnitudes.size)
    after[:150] = np.abs(after[:150])
    distinct, counts = np.unique(magnitudes, return_counts=True)
    sums = (2 * generator.binomial(counts, 0.5, size=(40_000, sizes)) - counts) @ distinct
    drawn = float((np.abs(sums) >= abs(after.sum())).mean())
    found = stats.paired_permutation(np.zeros_like(after), after, seed=0)
    assert found is not None
    assert drawn - 0.01 < found < drawn + 0.02  # draws vary; half a step more than needed is on the safe side


def test_a_permutation_of_clusters_flips_them_whole() -> None:
    after = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    apart = stats.paired_permutation(np.zeros(6), after, seed=0)
    together = stats.paired_permutation(np.zeros(6), after, seed=0, clusters=["a", "a", "b", "b", "c", "c"])
    assert apart == pytest.approx(2 / 64)
    assert together == pytest.approx(2 / 8)


@given(LABELS)
def test_kappa_equals_statsmodels_and_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    labels = [0, 1, 2, 3]
    table = np.zeros((4, 4))
    for a, b in pairs:
        table[a, b] += 1
    for weights in (None, "linear", "quadratic"):
        found = stats.cohen_kappa(first, second, weights=weights, categories=labels)
        if found.value is None:
            assert len({*first, *second}) == 1
            continue
        assert found.value == pytest.approx(cohen_kappa_score(first, second, labels=labels, weights=weights), abs=1e-12)
        if found.standard_error is not None and found.interval is not None and found.interval.method == "kappa-delta":
            oracle = cohens_kappa(table, wt=weights)
            assert found.standard_error == pytest.approx(oracle.std_kappa, rel=1e-6, abs=1e-9)


def test_ac1_equals_published_and_recomputed_figures() -> None:
    # 118 + 5 + 2 + 0 of 125 (Gwet 2008, table 2 of the paradox): agreement .944, kappa below zero, AC1 .9408.
    first = ["+"] * 118 + ["+"] * 5 + ["-"] * 2
    second = ["+"] * 118 + ["-"] * 5 + ["+"] * 2
    found = stats.gwet_ac1(first, second)
    assert found.value == pytest.approx(0.9408, abs=1e-4)
    kappa = stats.cohen_kappa(first, second).value
    assert kappa is not None
    assert kappa < 0
    # The delta-method error against a jackknife over records.
    cells = list(zip(first, second, strict=True))
    left_out = [
        stats.gwet_ac1([a for a, _ in rest], [b for _, b in rest]).value
        for rest in (cells[:i] + cells[i + 1 :] for i in range(len(cells)))
    ]
    spread = np.array(left_out, dtype=float)
    jackknife = math.sqrt((len(cells) - 1) / len(cells) * float(((spread - spread.mean()) ** 2).sum()))
    assert found.standard_error == pytest.approx(jackknife, rel=0.03)


@given(
    st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=6, max_size=6), min_size=2, max_size=4),
    st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
def test_alpha_equals_the_krippendorff_library(rows: list[list[int | None]], scale: str) -> None:
    numbers = np.array([[np.nan if cell is None else cell for cell in row] for row in rows], dtype=float)
    pairable = (~np.isnan(numbers)).sum(axis=0) >= 2
    found = stats.krippendorff_alpha(rows, scale)
    used = numbers[:, pairable]
    if np.unique(used[~np.isnan(used)]).size < 2:
        assert found.value is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = krippendorff.alpha(reliability_data=numbers, level_of_measurement=scale)
    assert found.value == pytest.approx(wanted, abs=1e-9)
    assert found.n == pairable.sum()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=40))
def test_correlations_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = [float(x) for x, _ in pairs], [float(y) for _, y in pairs]
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert stats.pearson(a, b).value is None
        assert stats.spearman(a, b).reason
        return
    oracle = scipy_stats.pearsonr(a, b)
    found = stats.pearson(a, b)
    assert found.value == pytest.approx(oracle.statistic, abs=1e-12)
    assert stats.spearman(a, b).value == pytest.approx(scipy_stats.spearmanr(a, b).statistic, abs=1e-12)
    if found.interval is not None:
        wanted = oracle.confidence_interval(0.95)
        assert (found.interval.low, found.interval.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@given(st.floats(0.05, 3.0), st.integers(2, 300), st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=40)
def test_t_test_power_equals_statsmodels(effect: float, n: int, alpha: float) -> None:
    wanted = TTestPower().power(effect, n, alpha)
    assume(not math.isnan(wanted))  # scipy's noncentral t gives up near certainty
    assert stats.t_test_power(effect, n, alpha) == pytest.approx(wanted, abs=1e-6)


def test_required_and_detectable_sizes_are_inverse() -> None:
    effect = stats.detectable_mean(64, 2.0)
    assert effect is not None
    assert stats.required_n_mean(effect, 2.0) == 64
    assert stats.required_n_mean(0.5, 1.0) == math.ceil(TTestPower().solve_power(0.5, power=0.8, alpha=0.05))
    paired = stats.detectable_paired_proportion(200, 0.3)
    assert paired is not None
    assert stats.required_n_paired_proportion(paired, 0.3) == 200
    for direction, sign in (("drop", -1), ("rise", 1)):
        size = stats.detectable_proportion(150, 0.7, direction)
        assert size is not None
        assert stats.required_n_proportion(0.7, 0.7 + sign * size) == 150
    assert stats.detectable_paired_proportion(5, 0.2) is None  # one expected discordant pair shows nothing
    assert stats.detectable_mean(1, 1.0) is None
    assert stats.required_n_mean(0.0, 1.0) is None
    assert stats.required_n_unchanged(0.05, 0, 0, 0) == 54
    assert stats.required_n_unchanged(0.10, 0, 0, 8) == 26
    assert stats.required_n_unchanged(0.05, 10, 0, 50) is None


@given(st.integers(1, 400), st.floats(0.01, 0.99), LEVELS)
def test_order_statistics_bracket_the_quantile_with_the_tightest_ranks(n: int, q: float, level: float) -> None:
    tail = (1 - level) / 2
    binomial = scipy_stats.binom(n, q)
    below = binomial.cdf(np.arange(n))
    lows, highs = np.flatnonzero(below <= tail), np.flatnonzero(1 - below <= tail)
    wanted = (lows[-1], highs[0]) if lows.size and highs.size else None
    found = order_ranks(n, q, tail)
    # A tail that equals the limit to rounding may fall on either side.
    near = min(np.abs(below - tail).min(), np.abs(1 - below - tail).min())
    assert found == wanted or near < 1e-9


def test_the_quantile_itself_is_numpys() -> None:
    values = np.random.default_rng(0).exponential(size=500)
    assert stats.quantile_estimate(values, 0.9).value == pytest.approx(np.quantile(values, 0.9))


def test_brier_equals_scikit_learn_and_the_calibration_error_its_definition() -> None:
    generator = np.random.default_rng(7)
    stated = generator.random(300)
    happened = (generator.random(300) < stated**2).astype(float)
    plan = stats.Resampling(seed=1, resamples=500)
    assert stats.brier_score(stated, happened, plan).value == pytest.approx(brier_score_loss(happened, stated))
    for binning in (stats.Binning(bins=10), stats.Binning(bins=7, kind="mass")):
        rows = stats.reliability_table(stated, happened, binning)
        assert sum(row.n for row in rows) == 300
        by_hand = sum(row.n * abs(row.mean_confidence - row.accuracy) for row in rows) / 300
        found = stats.expected_calibration_error(stated, happened, plan, binning)
        assert found.value == pytest.approx(by_hand)
        assert found.interval is not None
        assert all(row.low <= row.mean_confidence <= row.high for row in rows)
    counts = [row.n for row in stats.reliability_table(stated, happened, stats.Binning(bins=7, kind="mass"))]
    assert max(counts) - min(counts) <= 2


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_pass_at_k_equals_counting_every_choice_of_trials(n: int, k: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    trials = [True] * passed + [False] * (n - passed)
    choices = list(itertools.combinations(trials, k))
    if not choices:
        assert stats.pass_at_k(n, passed, k) is stats.pass_hat_k(n, passed, k) is None
        return
    assert stats.pass_at_k(n, passed, k) == pytest.approx(np.mean([any(choice) for choice in choices]))
    assert stats.pass_hat_k(n, passed, k) == pytest.approx(np.mean([all(choice) for choice in choices]))


def test_bonett_price_equals_its_closed_form() -> None:
    found = stats.bonett_price(12, 3, 95)
    up, down = 13 / 97, 4 / 97
    half = scipy_stats.norm.ppf(0.975) * math.sqrt((up + down - (up - down) ** 2) / 97)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((up - down - half, up - down + half))


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_e_value_is_the_integral_of_the_likelihood_over_its_prior(better: int, worse: int) -> None:
    total = better + worse
    wanted = scipy_stats.betabinom(total, 0.5, 0.5).logpmf(better) - scipy_stats.binom(total, 0.5).logpmf(better)
    both = stats.paired_binary_log_e_value(better, worse)
    assert both == pytest.approx(wanted, abs=1e-8)
    sides = [math.exp(stats.paired_binary_log_e_value(better, worse, side)) for side in ("better", "worse")]
    assert sum(sides) / 2 == pytest.approx(math.exp(both), rel=1e-9)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=8), max_size=6))
def test_merged_moments_are_the_moments_of_all_values(batches: list[list[float]]) -> None:
    merged = stats.Moments()
    for batch in batches:
        merged = merged.add(batch)
    values = [value for batch in batches for value in batch]
    assert merged.n == len(values)
    if not values:
        assert merged.mean is merged.std is merged.min is merged.max is merged.standard_error is None
        return
    scale = max(1.0, *map(abs, values))
    assert merged.mean == pytest.approx(np.mean(values), abs=1e-9 * scale)
    assert (merged.min, merged.max) == (min(values), max(values))
    if len(values) > 1:
        assert merged.std == pytest.approx(np.std(values, ddof=1), abs=1e-8 * scale)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=20)
def test_the_chance_of_improvement_on_pass_or_fail_is_a_beta_tail(better: int, worse: int, same: int) -> None:
    differences = [1.0] * better + [-1.0] * worse + [0.0] * same
    found = stats.improvement_posterior(differences, margin=0.05, seed=1)
    assert found.improved == pytest.approx(scipy_stats.beta(better + 1, worse + 1).sf(0.5), abs=0.015)
    assert found.interval is not None


@pytest.mark.parametrize(
    ("better", "worse", "same", "improved", "low", "high"),
    [
        (8, 0, 0, 0.998, 0.33, 0.99),
        (5, 0, 3, 0.984, 0.05, 0.84),
        (6, 1, 9, 0.965, -0.03, 0.56),
        (0, 0, 8, 0.5, -0.28, 0.28),
    ],
)
def test_the_posterior_gives_the_reference_figures(
    better: int, worse: int, same: int, improved: float, low: float, high: float
) -> None:
    differences = [1.0] * better + [-1.0] * worse + [0.0] * same
    found = stats.improvement_posterior(differences, margin=0.05, seed=2)
    assert found.interval is not None
    assert (found.improved, found.interval.low, found.interval.high) == pytest.approx((improved, low, high), abs=0.015)
    if same == 8:
        assert found.not_regressed == pytest.approx(0.69, abs=0.015)
