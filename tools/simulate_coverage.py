"""Measures the coverage of every interval and the false-alarm rate of every test in `evalsi.stats`, and publishes it.

`python tools/simulate_coverage.py` writes the table between the markers of docs/reference/statistics.md; `--check`
tells whether the table there is the one this code makes. Each row has a seed of its own (from its name), so any row
can be measured alone: the tests measure a few on every run and all of them in the slow run.
"""

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import asin, exp, log, pi, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evalsi import stats
from evalsi.stats import Interval
from evalsi.stats.distributions import binomial_pmf, student_t_quantile

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "statistics.md"
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
Generator = np.random.Generator
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Measured:
    rate: float
    """Coverage, false-alarm rate or power."""
    error: float = 0.0
    """Monte Carlo standard error of the rate; 0 where all outcomes were enumerated."""
    width: float | None = None
    without: float = 0.0
    """Share of samples for which no interval exists; the rate is over the others."""


@dataclass(frozen=True)
class Row:
    group: str
    method: str
    data: str
    n: str
    measure: Callable[[Generator], Measured]
    at_least: float | None = 0.93
    """The coverage or power claimed; None claims nothing (a method shown as a warning)."""
    at_most: float | None = None
    """The false-alarm rate claimed."""

    @property
    def name(self) -> str:
        return f"{self.group}/{self.method}/{self.data}/{self.n}"

    def measured(self) -> Measured:
        return self.measure(np.random.default_rng(zlib.crc32(self.name.encode())))

    def line(self) -> str:
        found = self.measured()
        width = "" if found.width is None else f"{found.width:.3f}"
        without = f"{found.without:.0%}" if found.without >= 0.005 else ""
        short = RATE_NAMES.get(self.group) is None and found.rate < 0.93
        rate = f"**{found.rate:.3f}**" if short else f"{found.rate:.3f}"
        source = "simulated" if found.error else "exact"
        return f"| {self.method} | {self.data} | {self.n} | {rate} | {width} | {without} | {source} |"


RATE_NAMES = {"Tests": "false alarms", "Anytime": "false alarms", "Power": "power"}


def rate_of(hits: list[bool], width: float | None = None, without: float = 0.0) -> Measured:
    rate = float(np.mean(hits))
    return Measured(rate, sqrt(max(rate * (1 - rate), 0.25 / len(hits)) / len(hits)), width, without)


def coverage(
    draw: Callable[[Generator], Interval | None], truth: float, samples: int
) -> Callable[[Generator], Measured]:
    def measure(generator: Generator) -> Measured:
        intervals = [found for _ in range(samples) if (found := draw(generator)) is not None]
        if not intervals:
            return Measured(1.0, without=1.0)
        hits = [found.low - 1e-12 <= truth <= found.high + 1e-12 for found in intervals]
        return rate_of(hits, float(np.mean([found.width for found in intervals])), 1 - len(intervals) / samples)

    return measure


def how_often(draw: Callable[[Generator], bool], samples: int) -> Callable[[Generator], Measured]:
    return lambda generator: rate_of([draw(generator) for _ in range(samples)])


def plan_from(generator: Generator, kind: str = "percentile", resamples: int = 1000) -> stats.Resampling:
    kinds: dict[str, Literal["percentile", "bca"]] = {"percentile": "percentile", "bca": "bca"}
    return stats.Resampling(seed=int(generator.integers(2**32)), resamples=resamples, kind=kinds[kind])


def enumerated_proportion(
    method: Callable[[int, int], Interval | None], n: int, p: float
) -> Callable[[Generator], Measured]:
    """Exact coverage: the chances of all counts whose interval holds the truth, added up."""

    def measure(_: Generator) -> Measured:
        rate = width = 0.0
        for k in range(n + 1):
            chance = binomial_pmf(k, n, p)
            interval = method(k, n) if chance > 1e-12 else None
            if interval is not None:
                rate += chance * (p in interval)
                width += chance * interval.width
        return Measured(rate, width=width)

    return measure


def worst(measures: list[Callable[[Generator], Measured]]) -> Callable[[Generator], Measured]:
    return lambda generator: min((measure(generator) for measure in measures), key=lambda found: found.rate)


def discordant_tables(n: int, up: float, down: float) -> Iterator[tuple[int, int, float]]:
    """(better, worse, chance) of every table of `n` pairs that matters."""
    for discordant in range(n + 1):
        outer = binomial_pmf(discordant, n, up + down)
        for better in range(discordant + 1) if outer > 1e-10 else ():
            chance = outer * binomial_pmf(better, discordant, up / (up + down))
            if chance > 1e-10:
                yield better, discordant - better, chance


def enumerated_paired(
    method: Callable[[int, int, int], Interval | None], n: int, up: float, down: float
) -> Callable[[Generator], Measured]:
    def measure(_: Generator) -> Measured:
        rate = width = without = 0.0
        for better, worse, chance in discordant_tables(n, up, down):
            interval = method(better, worse, n)
            if interval is None:
                without += chance
            else:
                rate += chance * (up - down in interval)
                width += chance * interval.width
        return Measured(rate / (1 - without), width=width / (1 - without), without=without)

    return measure


def enumerated_rejections(
    p_value: Callable[[int, int], float | None], n: int, up: float, down: float
) -> Callable[[Generator], Measured]:
    def measure(_: Generator) -> Measured:
        rate = 0.0
        for better, worse, chance in discordant_tables(n, up, down):
            p = p_value(better, worse)
            rate += chance * (p is not None and p <= 0.05)
        return Measured(rate)

    return measure


# --- populations ---


@dataclass(frozen=True)
class Population:
    name: str
    mean: float
    draw: Callable[[Generator, int], Array]
    bounds: tuple[float, float] | None = (0.0, 1.0)


UNIFORM = Population("uniform on [0, 1]", 0.5, lambda g, n: g.random(n))
SKEWED = Population("Beta(8, 2)", 0.8, lambda g, n: g.beta(8, 2, n))
RARE = Population("1, but 5% uniform", 0.975, lambda g, n: np.where(g.random(n) < 0.05, g.random(n), 1.0))
SHARP = Population("0.9, but 10% zero", 0.81, lambda g, n: np.where(g.random(n) < 0.1, 0.0, 0.9))
LOGNORMAL = Population("lognormal(0, 1)", exp(0.5), lambda g, n: g.lognormal(0, 1, n), None)


def cluster_sizes(kind: str, clusters: int, generator: Generator) -> Array:
    match kind:
        case "equal":
            return np.full(clusters, 10)
        case "geometric":
            return generator.geometric(0.1, clusters)
        case _:
            return np.concatenate([[5 * clusters], np.full(clusters - 1, 5)])


def binary_clusters(kind: str, clusters: int, icc: float, generator: Generator) -> stats.ClusterTotals:
    """0/1 scores of mean .6; each cluster has a success rate of its own, from the beta with that mean and ICC."""
    sizes = cluster_sizes(kind, clusters, generator)
    spread = 1 / icc - 1
    rates = generator.beta(0.6 * spread, 0.4 * spread, clusters)
    return stats.ClusterTotals(generator.binomial(sizes, rates).astype(float), sizes.astype(np.int64))


def normal_clusters(kind: str, clusters: int, icc: float, generator: Generator) -> tuple[Array, Array]:
    """Values of mean 0, and their clusters."""
    codes = np.repeat(np.arange(clusters), cluster_sizes(kind, clusters, generator))
    own = sqrt(1 - icc) * generator.normal(size=codes.size)
    return own + sqrt(icc) * generator.normal(size=clusters)[codes], codes


# --- rows ---


def proportion_rows() -> Iterator[Row]:
    for n in (1, 3, 10, 30, 100, 1000):
        for p in (0.5, 0.9, 0.99):
            measure = enumerated_proportion(stats.wilson, n, p)
            yield Row("Proportions", "wilson", f"p = {p}", str(n), measure, 0.90)
            exact = enumerated_proportion(stats.clopper_pearson, n, p)
            yield Row("Proportions", "clopper-pearson", f"p = {p}", str(n), exact, 0.95)
    shares = [i / 200 for i in range(1, 200)]
    for n in (3, 10, 30, 100):
        data = "the worst p from .005 to .995"
        measure = worst([enumerated_proportion(stats.wilson, n, p) for p in shares])
        yield Row("Proportions", "wilson", data, str(n), measure, 0.82)
        measure = worst([enumerated_proportion(stats.clopper_pearson, n, p) for p in shares])
        yield Row("Proportions", "clopper-pearson", data, str(n), measure, 0.95)


def mean_rows() -> Iterator[Row]:
    claims = {SKEWED.name: 0.92, RARE.name: 0.87, SHARP.name: 0.91, LOGNORMAL.name: 0.81}
    for population in (UNIFORM, SKEWED, RARE, SHARP, LOGNORMAL):
        for n in (3, 10, 30, 100, 1000):

            def student(g: Generator, n: int = n, p: Population = population) -> Interval | None:
                return stats.t_interval(p.draw(g, n), bounds=p.bounds)

            claim = claims.get(population.name, 0.92)
            yield Row("Means", "t", population.name, str(n), coverage(student, population.mean, 2000), claim)
    for n in (3, 10, 30):

        def constant(g: Generator, n: int = n) -> Interval | None:
            values = SHARP.draw(g, n)
            return stats.unseen_mass(float(values[0]), n, (0.0, 1.0)) if np.ptp(values) == 0 else None

        measure = coverage(constant, SHARP.mean, 3000)
        yield Row("Means", "unseen-mass, where t meets a constant", SHARP.name, str(n), measure, 0.95)
    for population in (UNIFORM, RARE, SHARP):
        for n in (3, 30, 300):

            def bet(g: Generator, n: int = n, p: Population = population) -> Interval | None:
                return stats.betting_interval(p.draw(g, n), (0.0, 1.0))

            yield Row("Means", "betting", population.name, str(n), coverage(bet, population.mean, 300), 0.95)


def cluster_rows() -> Iterator[Row]:
    for clusters in (2, 3, 5, 10, 30, 100):
        for kind in ("equal", "geometric", "one of half"):
            for icc in (0.05, 0.5):

                def robust(g: Generator, c: int = clusters, k: str = kind, i: float = icc) -> Interval | None:
                    values, codes = normal_clusters(k, c, i, g)
                    return stats.cluster_robust_t(stats.ClusterTotals.of(values, codes)).interval

                measure = coverage(robust, 0.0, 1000)
                yield Row(
                    "Clusters", "cluster-t", f"normal, {kind} sizes, ICC {icc}", f"{clusters} clusters", measure, 0.92
                )
    for clusters in (3, 10, 30):
        for icc in (0.05, 0.5):

            def binary(g: Generator, c: int = clusters, i: float = icc) -> Interval | None:
                return stats.cluster_robust_t(binary_clusters("geometric", c, i, g), bounds=(0.0, 1.0)).interval

            measure = coverage(binary, 0.6, 1000)
            yield Row(
                "Clusters", "cluster-t", f"0/1, geometric sizes, ICC {icc}", f"{clusters} clusters", measure, 0.90
            )
    for clusters in (5, 30):
        for kind in ("equal", "one of half"):

            def usual(g: Generator, c: int = clusters, k: str = kind) -> Interval | None:
                """The CR1 variance with clusters - 1 degrees of freedom, to show why it is not offered."""
                values, codes = normal_clusters(k, c, 0.5, g)
                residuals = np.bincount(codes, weights=values - values.mean())
                error = sqrt(float(residuals @ residuals) * c / (c - 1)) / values.size
                half = student_t_quantile(0.975, c - 1) * error
                return Interval(float(values.mean()) - half, float(values.mean()) + half, 0.95, "cr1")

            measure = coverage(usual, 0.0, 1000)
            data = f"normal, {kind} sizes, ICC 0.5"
            yield Row("Clusters", "CR1, clusters - 1 df", data, f"{clusters} clusters", measure, None)
    for clusters in (5, 30):

        def ignored(g: Generator, c: int = clusters) -> Interval | None:
            totals = binary_clusters("equal", c, 0.5, g)
            return stats.wilson(int(totals.sums.sum()), int(totals.counts.sum()))

        measure = coverage(ignored, 0.6, 1000)
        yield Row(
            "Clusters", "wilson, clusters ignored", "0/1, equal sizes, ICC 0.5", f"{clusters} clusters", measure, None
        )


def bootstrap_rows() -> Iterator[Row]:
    for kind in ("percentile", "bca"):
        for population in (UNIFORM, RARE, LOGNORMAL):
            for n in (5, 10, 30, 100):

                def mean(g: Generator, n: int = n, p: Population = population, kind: str = kind) -> Interval | None:
                    return stats.bootstrap_mean(p.draw(g, n), plan_from(g, kind), bounds=p.bounds).interval

                claim = {5: 0.72, 10: 0.83, 30: 0.87, 100: 0.89}[n]
                measure = coverage(mean, population.mean, 400)
                yield Row("Bootstrap", f"bootstrap-{kind}", population.name, str(n), measure, claim)
    for clusters in (5, 30):

        def whole(g: Generator, c: int = clusters) -> Interval | None:
            values, codes = normal_clusters("geometric", c, 0.5, g)
            return stats.bootstrap_mean(values, plan_from(g), clusters=codes).interval

        measure = coverage(whole, 0.0, 300)
        claim = 0.79 if clusters == 5 else 0.91
        data = "normal, geometric sizes, ICC 0.5"
        yield Row("Bootstrap", "bootstrap-percentile, clusters", data, f"{clusters} clusters", measure, claim)
    for n in (10, 30, 100):
        for kind in ("percentile", "bca"):

            def corpus(g: Generator, n: int = n, kind: str = kind) -> Interval | None:
                counts = g.poisson((1.6, 0.4, 0.4), (n, 3))

                def f1(weights: Array) -> Array:
                    hit, extra, missed = (weights @ counts).T
                    return 2 * hit / np.maximum(2 * hit + extra + missed, 1)

                return stats.bootstrap_statistic(f1, n, plan_from(g, kind)).interval

            measure = coverage(corpus, 0.8, 300)
            claim = 0.84 if n == 10 else 0.90
            yield Row("Bootstrap", f"bootstrap-{kind}, corpus metric", "micro F1 of .8", str(n), measure, claim)


def paired_rows() -> Iterator[Row]:
    def wald(better: int, worse: int, n: int) -> Interval | None:
        return stats.paired_wald(better, worse, n).interval

    for n in (3, 10, 30, 100):
        for up, down in ((0.02, 0.02), (0.1, 0.1), (0.2, 0.05), (0.5, 0.2)):
            data = f"better {up:.0%}, worse {down:.0%}"
            yield Row("Paired", "bonett-price", data, str(n), enumerated_paired(stats.bonett_price, n, up, down))
            yield Row("Paired", "paired-wald", data, str(n), enumerated_paired(wald, n, up, down), None)
    grid = [(up, down) for up in (0.01, 0.05, 0.1, 0.2, 0.3, 0.5) for down in (0.01, 0.05, 0.1, 0.2, 0.3)]
    for n in (10, 30):
        measure = worst([enumerated_paired(stats.bonett_price, n, up, down) for up, down in grid])
        yield Row("Paired", "bonett-price", "the worst of 30 pairs of rates", str(n), measure, 0.94)
    for n in (3, 10, 100):

        def student(g: Generator, n: int = n) -> Interval | None:
            before = g.beta(4, 2, n)
            return stats.paired_difference(before, before + g.normal(0.05, 0.1, n)).interval

        yield Row("Paired", "t of differences", "normal, 0.05 better", str(n), coverage(student, 0.05, 2000))

        def resampled(g: Generator, n: int = n) -> Interval | None:
            before = g.beta(4, 2, n)
            return stats.paired_bootstrap(before, before + g.normal(0.05, 0.1, n), plan_from(g)).interval

        claim = {3: 0.72, 10: 0.87, 100: 0.93}[n]
        yield Row("Paired", "paired bootstrap", "normal, 0.05 better", str(n), coverage(resampled, 0.05, 400), claim)


def posterior_rows() -> Iterator[Row]:
    def differences(g: Generator, n: int) -> Array:
        return np.where(g.random(n) < 0.4, g.choice([-0.5, 0.5, 1.0], n), 0.0)

    for n in (8, 30, 100):

        def posterior(g: Generator, n: int = n) -> Interval | None:
            seed = int(g.integers(2**32))
            return stats.improvement_posterior(differences(g, n), margin=0.05, seed=seed, draws=2000).interval

        measure = coverage(posterior, 0.4 / 3, 500)
        yield Row("Paired", "improvement_posterior", "graded, 40% change, 0.13 better", str(n), measure, 0.92)


def pass_rows() -> Iterator[Row]:
    # Success rates from Beta(1/2, 1/2): most records pass nearly always or nearly never.
    for records in (5, 20, 100):
        for k, truth in ((1, 0.5), (3, 0.6875)):

            def over_records(g: Generator, records: int = records, k: int = k) -> Interval | None:
                passed = g.binomial(5, g.beta(0.5, 0.5, records))
                return stats.pass_rate([(5, int(c)) for c in passed], k).estimate.interval

            measure = coverage(over_records, truth, 1000)
            claim = 0.88 if records == 5 else 0.92
            yield Row("pass@k", "t over records", f"5 trials, k = {k}", f"{records} records", measure, claim)


def agreement_rows() -> Iterator[Row]:
    confusion = np.array([0.2, 0.1, 0.1, 0.6])
    chance_disagreement = 2 * 0.3 * 0.7
    kappa = 1 - 0.2 / chance_disagreement
    ac1 = (0.8 - chance_disagreement) / (1 - chance_disagreement)

    def labels(g: Generator, n: int) -> tuple[Array, Array]:
        cells = g.choice(4, size=n, p=confusion)
        return cells // 2, cells % 2

    def numbers(g: Generator, n: int) -> tuple[Array, Array]:
        x = g.normal(size=n)
        return x, 0.6 * x + 0.8 * g.normal(size=n)

    for n in (10, 30, 100):

        def by_kappa(g: Generator, n: int = n) -> Interval | None:
            return stats.cohen_kappa(*labels(g, n)).interval

        def by_ac1(g: Generator, n: int = n) -> Interval | None:
            return stats.gwet_ac1(*labels(g, n)).interval

        def by_alpha(g: Generator, n: int = n) -> Interval | None:
            return stats.krippendorff_alpha(np.array(labels(g, n)), "nominal", plan_from(g)).interval

        def by_pearson(g: Generator, n: int = n) -> Interval | None:
            return stats.pearson(*numbers(g, n)).interval

        def by_spearman(g: Generator, n: int = n) -> Interval | None:
            return stats.spearman(*numbers(g, n)).interval

        rank = 6 / pi * asin(0.3)
        yield Row("Agreement", "kappa-delta", "agreement .8, kappa .52", str(n), coverage(by_kappa, kappa, 1000), 0.92)
        yield Row("Agreement", "ac1-delta", "agreement .8, AC1 .66", str(n), coverage(by_ac1, ac1, 1000), 0.92)
        yield Row("Agreement", "alpha, bootstrap", "2 raters, alpha .52", str(n), coverage(by_alpha, kappa, 400), 0.91)
        yield Row("Agreement", "fisher-z", "normal, r = .6", str(n), coverage(by_pearson, 0.6, 1000), 0.93)
        yield Row("Agreement", "bonett-wright", "normal, rho = .58", str(n), coverage(by_spearman, rank, 1000), 0.92)


def calibration_rows() -> Iterator[Row]:
    # Overconfident: stated c comes true with chance 1/2 + (c - 1/2)/2, so a bin around c is off by |c - 1/2|/2.
    for name, slope, truth in (("calibrated", 1.0, 0.0), ("overconfident", 0.5, 0.125)):
        for n in (100, 500):

            def ece(g: Generator, n: int = n, slope: float = slope) -> Interval | None:
                stated = g.random(n)
                happened = g.random(n) < 0.5 + (stated - 0.5) * slope
                plan = plan_from(g, resamples=500)
                return stats.expected_calibration_error(stated, happened, plan).interval

            yield Row("Calibration", "ECE, bootstrap-norm", name, str(n), coverage(ece, truth, 300), 0.92)

            def percentile(g: Generator, n: int = n, slope: float = slope) -> Interval | None:
                stated = g.random(n)
                happened = g.random(n) < 0.5 + (stated - 0.5) * slope
                gaps = np.zeros((n, 10))
                gaps[np.arange(n), (stated * 10).astype(int)] = stated - happened
                plan = plan_from(g, resamples=500)
                return stats.bootstrap_statistic(lambda w: np.abs(w @ gaps / n).sum(axis=1), n, plan).interval

            measure = coverage(percentile, truth, 300)
            yield Row("Calibration", "ECE, percentiles of itself", name, str(n), measure, None)
    for n in (10, 30, 300):

        def brier(g: Generator, n: int = n) -> Interval | None:
            stated = g.random(n)
            return stats.brier_score(stated, g.random(n) < stated, plan_from(g)).interval

        yield Row(
            "Calibration",
            "Brier, percentile",
            "calibrated",
            str(n),
            coverage(brier, 1 / 6, 400),
            0.86 if n < 300 else 0.92,
        )


def quantile_rows() -> Iterator[Row]:
    for q in (0.5, 0.9, 0.99):
        for n in (10, 100, 1000):

            def ranks(g: Generator, q: float = q, n: int = n) -> Interval | None:
                return stats.quantile_estimate(g.exponential(size=n), q).interval

            measure = coverage(ranks, -log(1 - q), 1000)
            yield Row("Quantiles", "order-statistics", f"exponential, q = {q}", str(n), measure, 0.95)


def test_rows() -> Iterator[Row]:
    for n in (10, 30, 100, 300):
        for share in (0.1, 0.4):
            data = f"no change, {share:.0%} discordant"
            exact = enumerated_rejections(stats.mcnemar_exact, n, share / 2, share / 2)
            middle = enumerated_rejections(stats.mcnemar_mid_p, n, share / 2, share / 2)
            yield Row("Tests", "mcnemar-exact", data, str(n), exact, None, 0.05)
            yield Row("Tests", "mcnemar-mid-p", data, str(n), middle, None, 0.055)
    for n in (6, 12, 40):

        def swapped(g: Generator, n: int = n) -> bool:
            base = g.random(n)
            p = stats.paired_permutation(base, base + g.laplace(size=n), seed=int(g.integers(2**32)), resamples=499)
            return p is not None and p <= 0.05

        measure = how_often(swapped, 1000)
        yield Row("Tests", "paired permutation", "no change, Laplace differences", str(n), measure, None, 0.05)
    for method, adjust in (("holm", stats.holm), ("benjamini-hochberg", stats.benjamini_hochberg)):

        def family(g: Generator, adjust: Callable[..., list[float]] = adjust) -> bool:
            return min(adjust(g.random(10).tolist())) <= 0.05

        yield Row(
            "Tests", method, "10 tests without effect, any alarm", "10 tests", how_often(family, 4000), None, 0.05
        )


def anytime_rows() -> Iterator[Row]:
    for p in (0.1, 0.5):

        def ever_missed(g: Generator, p: float = p) -> bool:
            # The interval only shrinks, so the last one holds the truth only if all did.
            interval = stats.betting_interval((g.random(1000) < p).astype(float), (0.0, 1.0))
            return interval is None or p not in interval

        measure = how_often(ever_missed, 100)
        yield Row("Anytime", "betting, after each record", f"0/1, p = {p}", "1000", measure, None, 0.05)

    def e_alarm(g: Generator) -> bool:
        ups = np.cumsum(g.random(1000) < 0.5).tolist()
        return any(stats.paired_binary_log_e_value(up, t - up) >= log(20) for t, up in enumerate(ups, 1))

    def p_alarm(g: Generator) -> bool:
        ups = np.cumsum(g.random(1000) < 0.5).tolist()
        return any(stats.mcnemar_exact(up, t - up) <= 0.05 for t, up in enumerate(ups, 1) if t % 20 == 0)

    pairs = "1000 discordant"
    yield Row("Anytime", "e-value >= 20, after each pair", "no change", pairs, how_often(e_alarm, 500), None, 0.05)
    yield Row("Anytime", "mcnemar-exact, looked at 50 times", "no change", pairs, how_often(p_alarm, 500), None)


def power_rows() -> Iterator[Row]:
    for n in (50, 200):
        for share in (0.2, 0.5):
            effect = stats.detectable_paired_proportion(n, share)
            if effect is not None:
                data = f"{share:.0%} discordant, effect {effect:.3f}"
                up, down = (share + effect) / 2, (share - effect) / 2
                measure = enumerated_rejections(stats.mcnemar_mid_p, n, up, down)
                yield Row("Power", "detectable_paired_proportion", data, str(n), measure, 0.75)
    for n in (5, 30):
        effect = stats.detectable_mean(n, 1.0) or 0.0

        def found(g: Generator, n: int = n, effect: float = effect) -> bool:
            interval = stats.t_interval(g.normal(effect, 1.0, n))
            return interval is not None and 0.0 not in interval

        data = f"normal, effect {effect:.3f} sd"
        yield Row("Power", "detectable_mean", data, str(n), how_often(found, 2000), 0.79)
    for n in (30, 200):
        effect = stats.detectable_proportion(n, 0.8, "drop") or 0.0

        def dropped(g: Generator, n: int = n, effect: float = effect) -> bool:
            interval = stats.wilson(int(g.binomial(n, 0.8 - effect)), n)
            return interval is not None and interval.high < 0.8

        data = f"baseline .8, drop {effect:.3f}"
        yield Row("Power", "detectable_proportion", data, str(n), how_often(dropped, 2000), 0.75)


GROUPS: tuple[Callable[[], Iterator[Row]], ...] = (
    proportion_rows,
    mean_rows,
    cluster_rows,
    bootstrap_rows,
    paired_rows,
    posterior_rows,
    pass_rows,
    agreement_rows,
    calibration_rows,
    quantile_rows,
    test_rows,
    anytime_rows,
    power_rows,
)


def all_rows() -> list[Row]:
    return [row for group in GROUPS for row in group()]


def table(rows: list[Row]) -> str:
    lines: list[str] = []
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            rate = RATE_NAMES.get(group, "coverage")
            lines += ["", f"### {group}", "", f"| method | data | n | {rate} | mean width | no interval | how |"]
            lines += ["|---|---|---|---|---|---|---|"]
        lines.append(row.line())
    return "\n".join(lines).strip()


def published() -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 when the published table differs")
    check: bool = parser.parse_args().check
    found = table(all_rows())
    if check:
        return 0 if found == published() else 1
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n\n{found}\n\n{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
