"""Verdicts of gates on runs whose figures are known, cases D01 and D02 among them."""

from typing import Any

import pytest

from evalsi.core.errors import NotFoundError
from evalsi.results.graded_run import GradedRun
from evalsi.run.gates.decide import decide_gates
from evalsi.run.gates.exit_status import exit_status
from evalsi.run.gates.gate_plan import GatePlan
from evalsi.schema import Gate, GateResult, GateStat, GateVerdict, OnInconclusive, Usage
from tests.case_files import case
from tests.run.gates.graded_runs import CANCELLED, ERROR, SKIPPED, Made, graded

Stat, Verdict = GateStat, GateVerdict


def decided(gate: Gate, run: GradedRun, baseline: GradedRun | None = None, **plan: Any) -> GateResult:
    def open_baseline(name: str) -> GradedRun:
        if baseline is None:
            raise NotFoundError(f"no run {name!r}")
        return baseline

    (result,) = decide_gates([gate], run, GatePlan(**plan), open_baseline=open_baseline)
    return result


def checks(*values: Any, **more: Any) -> GradedRun:
    return graded(Made(values={"check": values}, **more))


def values_of_case(results: list[Any]) -> list[Any]:
    pairs = [(each["status"], each["score"]) if isinstance(each, dict) else tuple(each) for each in results]
    return [score == 1 if status == "SCORED" else status for status, score in pairs]


def test_case_d01_errors_stay_out_of_the_mean_and_fail_their_own_gate() -> None:
    given, expected = case("D01")["input"], case("D01")["expected"]
    run = checks(*values_of_case(given["results"]))
    gates = [
        Gate(metric=each["metric"], stat=GateStat(each["stat"]), min=each.get("min"), max=each.get("max"))
        for each in given["gates"]
    ]
    mean, errors = decide_gates(gates, run, GatePlan())
    assert [result.verdict for result in (mean, errors)] == [Verdict.PASSED, Verdict.FAILED]
    assert mean.value == pytest.approx(expected["mean"], abs=1e-6)
    assert mean.ci is not None
    assert [mean.ci.low, mean.ci.high] == pytest.approx(expected["wilson95"], abs=1e-6)
    assert (mean.n, errors.value) == (expected["n_scored"], expected["error_rate"]["value"])
    assert exit_status([mean, errors], OnInconclusive.UNSPECIFIED) == 3


@pytest.mark.parametrize("index", range(4))
def test_case_d02_nothing_scored_is_never_a_pass(index: int) -> None:
    given, expected = case("D02")["input"], case("D02")["expected"]["rows"][index]
    run = checks(*values_of_case(given["runs"][index]["results"]))
    result = decided(Gate(metric="check", min=given["gate"]["min"]), run)
    if expected["n"] == 0:
        assert (result.verdict, result.passed, result.value) == (Verdict.NO_DATA, False, None)
        assert result.reason.startswith("no data: mean of check: nothing was scored")
        assert exit_status([result], OnInconclusive.PASS) == 3
    else:
        assert (result.verdict, result.value, result.n) == (Verdict.PASSED, 1.0, 1)
        coverage = decided(Gate(metric="check", stat=Stat.COVERAGE, min=0.9), run)
        assert (coverage.value, coverage.verdict) == (0.2, Verdict.FAILED)
        bound = decided(Gate(metric="check", stat=Stat.CI_LOW, min=0.9), run)
        assert bound.value == pytest.approx(expected["wilson95"][0], abs=1e-6)
        assert not bound.passed
        assert exit_status([bound], OnInconclusive.UNSPECIFIED) == 3


def test_a_gate_on_a_metric_that_the_run_lacks_has_no_data() -> None:
    result = decided(Gate(metric="other", min=0.5), checks(True))
    assert (result.verdict, result.reason) == (
        Verdict.NO_DATA,
        "no data: mean of other: the run has no metric 'other'",
    )


MIXED = [True] * 16 + [False] * 4
"""Mean 0.8, Wilson 95% [0.584, 0.919]."""


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        (Gate(metric="check", min=0.8), Verdict.PASSED),
        (Gate(metric="check", min=0.81), Verdict.FAILED),
        (Gate(metric="check", max=0.8), Verdict.PASSED),
        (Gate(metric="check", max=0.79), Verdict.FAILED),
        (Gate(metric="check", min=0.7, max=0.9), Verdict.PASSED),
        (Gate(metric="check", stat=Stat.CI_LOW, min=0.58), Verdict.PASSED),
        (Gate(metric="check", stat=Stat.CI_LOW, min=0.59), Verdict.INCONCLUSIVE),
        (Gate(metric="check", stat=Stat.CI_LOW, min=0.9), Verdict.INCONCLUSIVE),
        (Gate(metric="check", stat=Stat.CI_LOW, min=0.93), Verdict.FAILED),
        (Gate(metric="check", stat=Stat.CI_HIGH, max=0.92), Verdict.PASSED),
        (Gate(metric="check", stat=Stat.CI_HIGH, max=0.9), Verdict.INCONCLUSIVE),
        (Gate(metric="check", stat=Stat.CI_HIGH, max=0.5), Verdict.FAILED),
        (Gate(metric="check", stat=Stat.CI_HIGH, min=0.95), Verdict.FAILED),
        (Gate(metric="check", stat=Stat.ERROR_RATE, max=0.0), Verdict.PASSED),
        (Gate(metric="check", stat=Stat.N, min=21), Verdict.FAILED),
        (Gate(stat=Stat.N, min=20), Verdict.PASSED),
        (Gate(stat=Stat.ERROR_RATE, max=0.05), Verdict.PASSED),
        (Gate(stat=Stat.COVERAGE, min=1.0), Verdict.PASSED),
    ],
)
def test_a_figure_is_compared_with_both_ends(gate: Gate, verdict: GateVerdict) -> None:
    result = decided(gate, checks(*MIXED))
    assert result.verdict is verdict, result.reason
    assert result.passed is (verdict is Verdict.PASSED)


def test_the_sentence_says_the_number_its_interval_and_what_was_asked() -> None:
    result = decided(Gate(metric="check", min=0.9), checks(*MIXED))
    assert result.reason == "mean of check is 0.8 [0.584, 0.9193], n = 20; at least 0.9 was asked"
    undecided = decided(Gate(metric="check", stat=Stat.CI_LOW, min=0.7), checks(*MIXED))
    assert undecided.reason.startswith("inconclusive: lower bound of check is 0.584")


def test_a_bound_of_one_number_is_inconclusive_because_it_has_no_interval() -> None:
    run = graded(Made(values={"rating": [7.0]}))
    assert decided(Gate(metric="rating", min=7.0), run).verdict is Verdict.PASSED
    result = decided(Gate(metric="rating", stat=Stat.CI_LOW, min=5.0), run)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith("inconclusive: the lower bound of rating is not known")


@pytest.mark.parametrize(
    ("on_inconclusive", "passed", "status"),
    [
        (OnInconclusive.UNSPECIFIED, False, 3),
        (OnInconclusive.FAIL, False, 3),
        (OnInconclusive.PASS, True, 0),
        (OnInconclusive.EXIT4, False, 4),
    ],
)
def test_what_an_undecided_bound_means_is_said_by_the_spec(
    on_inconclusive: OnInconclusive, passed: bool, status: int
) -> None:
    gate = Gate(metric="check", stat=Stat.CI_LOW, min=0.7)
    result = decided(gate, checks(*MIXED), on_inconclusive=on_inconclusive)
    assert (result.verdict, result.passed) == (Verdict.INCONCLUSIVE, passed)
    assert exit_status([result], on_inconclusive) == status


TRIALS = {"ids": ["a", "a", "a", "b", "b", "b", "c", "c", "c"], "trials": 3}


@pytest.mark.parametrize(
    ("gate", "value"),
    [
        (Gate(metric="check", stat=Stat.PASS_AT_K, min=0.5), 2 / 3),
        (Gate(metric="check", stat=Stat.PASS_HAT_K, min=0.3), 1 / 3),
        (Gate(metric="check", stat=Stat.PASS_AT_K, k=2, min=0.5), (1 + 2 / 3 + 0) / 3),
        (Gate(metric="check.pass^3", min=0.3), 1 / 3),
        (Gate(metric="check.pass@1", stat=Stat.MEAN, min=0.3), (1 + 1 / 3 + 0) / 3),
        (Gate(cel="metric('check').passHatK(3) >= 0.3"), 1 / 3),
        (Gate(cel="metric('check').pass_at_k(2) >= 0.5"), (1 + 2 / 3 + 0) / 3),
        (Gate(cel="metric('check.pass@3').mean >= 0.5"), 2 / 3),
    ],
)
def test_pass_at_k_and_pass_hat_k_are_unbiased_over_scored_trials(gate: Gate, value: float) -> None:
    run = checks(True, True, True, True, False, False, False, False, False, **TRIALS)
    result = decided(gate, run, trials=3)
    assert result.value == pytest.approx(value)
    assert result.verdict is Verdict.PASSED
    assert result.n == 3


def test_an_errored_trial_is_neither_a_pass_nor_a_failure() -> None:
    run = checks(True, True, ERROR, True, True, True, False, False, False, **TRIALS)
    two = decided(Gate(metric="check", stat=Stat.PASS_HAT_K, k=2, min=0.5), run, trials=3)
    assert (two.value, two.n) == (pytest.approx(2 / 3), 3)
    three = decided(Gate(metric="check", stat=Stat.PASS_HAT_K, k=3, min=0.5), run, trials=3)
    assert (three.value, three.n) == (0.5, 2)
    four = decided(Gate(metric="check", stat=Stat.PASS_HAT_K, k=4, min=0.5), run, trials=3)
    assert (four.verdict, four.value) == (Verdict.NO_DATA, None)


def test_a_slice_has_its_own_figures() -> None:
    run = graded(
        Made(
            values={"check": [True, False, ERROR, True, True], "rating": [1.0, 2.0, 3.0, 4.0, 9.0]},
            topics=["a", "a", "a", "b", "b"],
        )
    )
    in_a = {"metadata.topic": "a"}
    assert decided(Gate(metric="check", slice=in_a, min=0.5), run).value == 0.5
    assert decided(Gate(metric="check", slice={"metadata.topic": "b"}, min=0.5), run).value == 1.0
    assert decided(Gate(metric="check", slice=in_a, stat=Stat.ERROR_RATE, max=1), run).value == pytest.approx(1 / 3)
    assert decided(Gate(metric="rating", slice=in_a, max=3), run).value == 2.0
    assert decided(Gate(stat=Stat.ERROR_RATE, slice=in_a, max=1), run).value == pytest.approx(1 / 6)
    assert decided(Gate(stat=Stat.N, slice=in_a, min=1), run).value == 3.0
    assert decided(Gate(cel="slice('metadata.topic', 'a').metric('check').mean >= 0.5"), run).value == 0.5
    nobody = decided(Gate(metric="check", slice={"metadata.topic": "c"}, min=0.5), run)
    assert (nobody.verdict, nobody.reason) == (
        Verdict.NO_DATA,
        "no data: mean of check where metadata.topic is c: no record is in the slice",
    )


def test_trials_of_one_record_are_not_independent_in_a_slice() -> None:
    values = [True] * 12 + [False] * 12
    ids = [f"r{number // 4}" for number in range(24)]
    clustered = checks(*values, ids=ids, topics=["a"] * 24, trials=4)
    single = checks(*values, topics=["a"] * 24)
    gate = Gate(metric="check", slice={"metadata.topic": "a"}, min=0.5)
    widths: list[float] = []
    for run in (clustered, single):
        interval = decided(gate, run).ci
        assert interval is not None
        widths.append(interval.high - interval.low)
    assert widths[0] > 1.5 * widths[1]


def test_records_that_a_run_groups_are_not_independent_in_a_slice_nor_over_trials() -> None:
    values = [True] * 12 + [False] * 12
    talks = [f"c{number // 4}" for number in range(24)]
    grouped = checks(*values, topics=["a"] * 24, talks=talks)
    single = checks(*values, topics=["a"] * 24)
    for gate in (
        Gate(metric="check", slice={"metadata.topic": "a"}, min=0.5),
        Gate(metric="check", stat=Stat.PASS_HAT_K, k=1, min=0.5),
    ):
        wide, narrow = decided(gate, grouped).ci, decided(gate, single).ci
        assert wide is not None
        assert narrow is not None
        assert wide.method == "clustered-t"
        assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def usages(*pairs: tuple[float | None, float | None]) -> list[Usage | None]:
    return [Usage(latency=latency, cost_usd=cost) for latency, cost in pairs]


@pytest.mark.parametrize(
    ("gate", "value"),
    [
        (Gate(stat=Stat.LATENCY_MEAN, max=3), 2.5),
        (Gate(stat=Stat.LATENCY_P50, max=3), 2.5),
        (Gate(stat=Stat.LATENCY_P95, max=4), 3.85),
        (Gate(stat=Stat.COST_MEAN, max=0.1), 0.025),
        (Gate(stat=Stat.COST_TOTAL, max=0.1), 0.1),
        (Gate(cel="run.latencyP95 < 4.0 && run.latency_mean < 3"), None),
        (Gate(cel="run.costUsd <= 0.1000001"), 0.1),
    ],
)
def test_time_and_money_are_read_off_the_answers(gate: Gate, value: float | None) -> None:
    run = checks(True, True, True, True, usages=usages((1, 0.01), (2, 0.02), (3, 0.03), (4, 0.04)))
    result = decided(gate, run)
    assert result.verdict is Verdict.PASSED, result.reason
    assert result.value == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Made(values={"check": [True, True]}), "no cost is known"),
        (
            Made(values={"check": [True, True]}, usages=usages((1, 0.01), (1, None))),
            "the cost of 1 of 2 records is not",
        ),
        (
            Made(values={"check": [True]}, usages=[Usage(cost_usd=0.01, unpriced_requests=1)]),
            "no cost is known",
        ),
        (
            Made(values={"check": [True]}, target_usage=Usage(cost_usd=0.01, unpriced_requests=1)),
            "the cost of the answers is not known",
        ),
        (
            Made(values={"check": [True]}, usages=usages((1, 0.01)), judge_usage=Usage(input_tokens=5)),
            "the cost of the judgements is not known",
        ),
    ],
)
@pytest.mark.parametrize("gate", [Gate(stat=Stat.COST_TOTAL, max=100), Gate(cel="run.costUsd < 100")])
def test_an_unknown_cost_passes_no_gate(gate: Gate, made: Made, said: str) -> None:
    result = decided(gate, graded(made), on_inconclusive=OnInconclusive.PASS)
    assert (result.verdict, result.passed) == (Verdict.NO_DATA, False)
    assert said in result.reason


def test_the_total_cost_holds_answers_and_judgements() -> None:
    made = Made(values={"check": [True]}, target_usage=Usage(cost_usd=0.25), judge_usage=Usage(cost_usd=0.5))
    assert decided(Gate(stat=Stat.COST_TOTAL, max=1), graded(made)).value == 0.75


def test_latency_that_nobody_measured_is_no_data() -> None:
    assert decided(Gate(stat=Stat.LATENCY_P95, max=9), checks(True)).reason.endswith("no latency was measured")


DROP = Gate(metric="check", max_drop=0.02, baseline="latest")


def test_equal_runs_pass_every_comparison() -> None:
    run = checks(*MIXED)
    result = decided(DROP, run, run)
    assert (result.verdict, result.passed, result.baseline_value, result.value) == (Verdict.PASSED, True, 0.8, 0.8)
    zero = Gate(metric="check", max_drop=0, baseline="latest")
    assert decided(zero, run, run).verdict is Verdict.PASSED


def test_a_significant_loss_fails_and_a_gain_passes() -> None:
    good, bad = checks(*[True] * 30), checks(*[True] * 15 + [False] * 15)
    lost = decided(DROP, bad, good)
    assert lost.verdict is Verdict.FAILED
    assert "check went from 1 to 0.5 (-0.5 [" in lost.reason
    assert "a loss of at most 0.02 was allowed" in lost.reason
    assert decided(DROP, good, bad).verdict is Verdict.PASSED


def test_a_loss_that_may_be_chance_is_inconclusive_and_by_default_passes() -> None:
    before, after = checks(*[True] * 10), checks(*[True] * 9 + [False])
    result = decided(DROP, after, before)
    assert (result.verdict, result.passed) == (Verdict.INCONCLUSIVE, True)
    assert exit_status([result], OnInconclusive.UNSPECIFIED) == 0
    strict = decided(DROP, after, before, on_inconclusive=OnInconclusive.FAIL)
    assert not strict.passed
    assert exit_status([strict], OnInconclusive.FAIL) == 3
    assert exit_status([strict], OnInconclusive.EXIT4) == 4


def test_the_significance_that_is_asked_for_decides() -> None:
    before, after = checks(*[True] * 10), checks(*[True] * 6 + [False] * 4)
    loose = Gate(metric="check", max_drop=0.0, baseline="latest", significance=0.2)
    assert decided(loose, after, before).verdict is Verdict.FAILED
    assert decided(Gate(metric="check", max_drop=0.0, baseline="latest"), after, before).verdict is Verdict.INCONCLUSIVE


def test_a_loss_of_a_metric_of_which_less_is_better_is_a_rise() -> None:
    low = graded(Made(values={"waste": [1.0 + row / 100 for row in range(20)]}))
    high = graded(Made(values={"waste": [5.0 + row / 100 for row in range(20)]}))
    gate = Gate(metric="waste", max_drop=0.5, baseline="latest")
    assert decided(gate, high, low).verdict is Verdict.FAILED
    assert decided(gate, low, high).verdict is Verdict.PASSED


def test_a_comparison_in_a_slice_looks_at_its_records_only() -> None:
    topics = ["a"] * 20 + ["b"] * 20
    before = checks(*[True] * 40, topics=topics)
    after = checks(*[True] * 20 + [False] * 20, topics=topics)
    for topic, verdict in (("a", Verdict.PASSED), ("b", Verdict.FAILED)):
        gate = Gate(metric="check", max_drop=0.1, baseline="latest", slice={"metadata.topic": topic})
        assert decided(gate, after, before).verdict is verdict


def test_a_baseline_that_is_missing_or_shares_nothing_is_no_data() -> None:
    run = checks(*MIXED)
    assert decided(DROP, run).reason == "no data: the baseline 'latest' cannot be read: no run 'latest'"
    others = checks(True, True, ids=["x", "y"])
    assert decided(DROP, run, others).reason == "no data: no record of both runs was scored by check"
    unnamed = Gate(metric="check", max_drop=0.1)
    assert decided(unnamed, run).reason == "no data: no baseline is named"
    no_metric = graded(Made(values={"rating": [1.0]}))
    assert decided(DROP, no_metric, no_metric).reason == "no data: neither run has a metric 'check'"


def test_each_baseline_is_opened_once() -> None:
    opened: list[str] = []
    run = checks(*MIXED)

    def open_baseline(name: str) -> GradedRun:
        opened.append(name)
        return run

    gates = [DROP, DROP, Gate(cel="metric('check').mean >= baseline.metric('check').mean")]
    results = decide_gates(gates, run, GatePlan(baseline="latest"), open_baseline=open_baseline)
    assert [result.verdict for result in results] == [Verdict.PASSED] * 3
    assert opened == ["latest"]


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("metric('check').mean >= 0.8", Verdict.PASSED),
        ("metric('check').mean > 0.8", Verdict.FAILED),
        ("metric('check').ciLow > 0.5 && metric('check').ci_high < 1", Verdict.PASSED),
        ("metric('check').n == 20", Verdict.PASSED),
        ("metric('check').mean * 2 >= 1.6 - 1", Verdict.PASSED),
        ("metric('other').mean > 0.5", Verdict.NO_DATA),
        ("metric('other').mean > 0.5 || metric('check').mean > 0.5", Verdict.PASSED),
        ("metric('other').mean > 0.5 && metric('check').mean > 0.9", Verdict.FAILED),
        ("metric('other').mean > 0.5 && metric('check').mean > 0.5", Verdict.NO_DATA),
        ("!(metric('other').mean > 0.5)", Verdict.NO_DATA),
        ("run.errorRate < 0.05", Verdict.PASSED),
        ("1 / metric('check').errorRate > 1", Verdict.PASSED),
        ("metric('check').mean > 0.5 ? run.records >= 20 : false", Verdict.PASSED),
        ("[0.8, 0.9].exists(x, x == metric('check').mean)", Verdict.PASSED),
        ("metric('check').mean >= baseline.metric('check').mean - 0.02", Verdict.NO_DATA),
    ],
)
def test_a_condition_is_decided_by_its_figures(condition: str, verdict: GateVerdict) -> None:
    result = decided(Gate(cel=condition), checks(*MIXED))
    assert result.verdict is verdict, result.reason


def test_a_condition_says_every_figure_it_read() -> None:
    result = decided(Gate(cel="metric('check').mean > 0.9 && run.errorRate < 0.1"), checks(*MIXED))
    assert result.reason == "mean of check is 0.8, error rate is 0"


def test_no_gates_pass_and_one_failure_fails_all() -> None:
    run = checks(*MIXED)
    assert decide_gates([], run, GatePlan()) == []
    assert exit_status([], OnInconclusive.FAIL) == 0
    good, bad = (decided(Gate(metric="check", min=least), run) for least in (0.5, 0.9))
    open_one = decided(Gate(metric="check", stat=Stat.CI_LOW, min=0.7), run)
    assert exit_status([good], OnInconclusive.EXIT4) == 0
    assert exit_status([good, open_one], OnInconclusive.EXIT4) == 4
    assert exit_status([good, open_one, bad], OnInconclusive.EXIT4) == 3
    assert exit_status([good], OnInconclusive.EXIT4, finished=False) == 1


def test_cancelled_and_skipped_are_counted_in_the_reason() -> None:
    result = decided(Gate(metric="check", min=0.1), checks(ERROR, SKIPPED, SKIPPED, CANCELLED))
    assert result.reason.endswith("nothing was scored (1 errors, 2 skipped, 1 cancelled)")
