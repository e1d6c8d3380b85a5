"""A matrix equals the same figures computed by pandas, scipy and statsmodels on the records that all runs share."""

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from evalsi.compare.matrix import MatrixPlan, check_regressions, compare_many
from evalsi.compare.run_values import collect_values
from evalsi.core.errors import GateFailedError, NothingScoredError, UnknownNameError, UsageError
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Usage
from tests.analyze.made_runs import drawn_values, made_record, made_run


def three_runs(n: int = 300) -> tuple[list[GradedRun], list[dict[str, Any]]]:
    """Runs of records r0…, the second without the first ten, the third without the last ten."""
    values = [drawn_values(n, seed=seed, share=share) for seed, share in ((1, 0.8), (2, 0.75), (3, 0.4))]
    cuts = [slice(0, n), slice(10, n), slice(0, n - 10)]
    runs = [
        made_run(
            {name: array[cut] for name, array in drawn.items()},
            records=[made_record(row) for row in range(n)[cut]],
            run_id=f"run-{place}",
        )
        for place, (drawn, cut) in enumerate(zip(values, cuts, strict=True))
    ]
    return runs, values


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_scores_equal_scipy_on_the_records_that_all_runs_share(level: float) -> None:
    runs, values = three_runs()
    found = compare_many(runs, MatrixPlan(metric="score", level=level))
    shared = slice(10, 290)
    assert found.shared == 280
    assert found.tests == 2
    reference = values[0]["score"][shared]
    for row, drawn in zip(found.tables[0].rows, values, strict=True):
        own = drawn["score"][shared]
        low, high = scipy_stats.t.interval(level, own.size - 1, own.mean(), scipy_stats.sem(own))
        assert row.estimate.interval is not None
        assert (row.estimate.value, row.estimate.interval.low, row.estimate.interval.high) == pytest.approx(
            (own.mean(), low, high), rel=1e-9
        )
        if row.difference is None:
            assert row.run == "run-0"
            continue
        wanted = scipy_stats.ttest_rel(own, reference).confidence_interval(level)
        assert row.difference.difference == pytest.approx((own - reference).mean(), rel=1e-9)
        assert row.difference.interval is not None
        assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx(
            (wanted.low, wanted.high), rel=1e-9
        )


def test_verdicts_equal_statsmodels_and_leave_out_what_some_run_did_not_score() -> None:
    runs, values = three_runs()
    found = compare_many(runs, MatrixPlan(metric="passes"))
    arrays = np.vstack([drawn["passes"][10:290] for drawn in values])
    complete = arrays[:, ~np.isnan(arrays).any(axis=0)]
    p_values: list[float] = []
    for row, own in zip(found.tables[0].rows, complete, strict=True):
        low, high = proportion_confint(own.sum(), own.size, method="wilson")
        assert row.estimate.n == own.size == found.tables[0].n
        assert row.estimate.interval is not None
        assert (row.estimate.interval.low, row.estimate.interval.high) == pytest.approx((low, high), rel=1e-9)
        if row.difference is not None:
            table = [[np.sum((complete[0] == a) & (own == b)) for b in (0, 1)] for a in (0, 1)]
            p_values.append(float(vars(mcnemar(table, exact=True))["pvalue"]))
            assert row.difference.p_value == pytest.approx(p_values[-1], rel=1e-9)
    adjusted = np.asarray(multipletests(p_values, method="holm")[1])
    rows = [row.difference for row in found.tables[0].rows if row.difference is not None]
    assert [row.p_adjusted for row in rows] == pytest.approx(adjusted.tolist(), rel=1e-9)
    assert rows[1].verdict == "REGRESSED"
    assert any("did not score" in warning for warning in found.warnings)
    assert any("not in every run" in warning for warning in found.warnings)


def test_groups_are_tables_of_their_own_and_all_tests_are_adjusted_together() -> None:
    runs, _ = three_runs()
    found = compare_many(runs, MatrixPlan(metric="score", by="metadata.deep.level"))
    assert [table.group for table in found.tables] == [None, "t1", "t2", "t10"]
    assert sum(table.n for table in found.tables[1:]) == found.tables[0].n
    assert found.tests == 8
    everything = [row.difference for table in found.tables for row in table.rows if row.difference is not None]
    raw = [one.p_value for one in everything if one.p_value is not None]
    adjusted = np.asarray(multipletests(raw, method="holm")[1])
    assert [one.p_adjusted for one in everything] == pytest.approx(adjusted.tolist(), rel=1e-9)


def test_a_reference_that_was_picked_for_its_score_pays_for_every_pair() -> None:
    runs, values = three_runs()
    found = compare_many([runs[2], runs[0], runs[1]], MatrixPlan(metric="score", against="best"))
    assert found.reference == "run-0"
    rows = [row.difference for row in found.tables[0].rows if row.difference is not None]
    assert [row.p_adjusted for row in rows] == pytest.approx([min(1, 3 * (row.p_value or 0)) for row in rows])
    assert "all 3 pairs" in found.adjustment
    del values


def test_repeated_records_are_clustered() -> None:
    records = [made_record(row, trials=4, tells_trial=True) for row in range(200)]
    runs = [made_run(drawn_values(200, seed=s), records=records, run_id=f"run-{s}", trials=4) for s in (1, 2)]
    for row in compare_many(runs, MatrixPlan(metric="passes")).tables[0].rows:
        assert row.estimate.clusters == 50
        assert row.estimate.interval is not None
        assert row.estimate.interval.method == "clustered-t"


def test_trials_are_paired_by_what_records_tell_even_in_another_order() -> None:
    values = drawn_values(60, seed=1)
    records = [made_record(row, trials=3, tells_trial=True) for row in range(60)]
    back = made_run({name: array[::-1] for name, array in values.items()}, records=records[::-1], run_id="back")
    found = compare_many([made_run(values, records=records), back], MatrixPlan(metric="score"))
    difference = found.tables[0].rows[1].difference
    assert difference is not None
    assert (difference.better, difference.worse) == (0, 0)


def priced(run_id: str, share: float, cost: float | None, **usage: Any) -> GradedRun:
    spent = Usage(cost_usd=cost, **usage)
    return made_run(
        {"score": np.full(20, share)}, records=[made_record(row, usage=spent) for row in range(20)], run_id=run_id
    )


def test_the_frontier_names_who_beats_whom_and_an_unknown_cost_is_neither() -> None:
    runs = [
        priced("cheap", 0.5, 0.001),
        priced("good", 0.9, 0.01),
        priced("waste", 0.8, 0.02),
        priced("twin", 0.9, 0.01),
        priced("unpriced", 0.99, None),
        priced("partly", 0.99, 0.0, unpriced_requests=1),
        priced("from-cache", 0.7, 0.0, cached_cost_usd=0.05),
    ]
    rows = {row.run: row for row in compare_many(runs, MatrixPlan(metric="score")).tables[0].rows}
    assert {name: row.frontier for name, row in rows.items()} == {
        "cheap": True,
        "good": True,
        "waste": False,
        "twin": True,
        "unpriced": None,
        "partly": None,
        "from-cache": False,
    }
    assert rows["waste"].dominated_by == "good"
    assert rows["unpriced"].cost_usd.mean is None
    assert rows["from-cache"].cost_usd.mean == pytest.approx(0.05)


def test_a_cost_that_one_record_lacks_is_unknown() -> None:
    records = [made_record(row, usage=Usage(cost_usd=None if row == 3 else 0.5)) for row in range(20)]
    runs = [made_run({"score": np.full(20, 0.5)}, records=records, run_id=f"run-{place}") for place in range(2)]
    row = compare_many(runs, MatrixPlan(metric="score")).tables[0].rows[0]
    assert (row.cost_usd.mean, row.cost_usd.known) == (None, 19)


def test_a_gate_stops_a_sure_regression_beyond_its_limit_and_nothing_else() -> None:
    runs, _ = three_runs()
    found = compare_many(runs, MatrixPlan(metric="score"))
    with pytest.raises(GateFailedError, match="run-2 regressed by"):
        check_regressions(found)
    assert check_regressions(found, max_regression=0.9) == 0
    assert check_regressions(compare_many([runs[2], runs[0]], MatrixPlan(metric="score"))) == 0
    assert check_regressions(compare_many([runs[0], runs[0]], MatrixPlan(metric="score"))) == 0


def test_runs_that_share_nothing_are_no_pass() -> None:
    left = made_run(drawn_values(20, seed=1))
    right = made_run(drawn_values(20, seed=1), records=[made_record(row + 100) for row in range(20)], run_id="b")
    with pytest.raises(NothingScoredError, match="every run"):
        compare_many([left, right], MatrixPlan(metric="score"))


def test_what_cannot_be_compared_is_refused_by_name() -> None:
    runs, _ = three_runs()
    with pytest.raises(UsageError, match="at least two"):
        compare_many(runs[:1], MatrixPlan(metric="score"))
    with pytest.raises(UnknownNameError, match="did you mean 'score'"):
        compare_many(runs, MatrixPlan(metric="scor"))
    with pytest.raises(UnknownNameError, match="topic"):
        compare_many(runs, MatrixPlan(metric="score", by="topik"))


def test_runs_of_one_name_are_told_apart() -> None:
    runs = [made_run(drawn_values(20, seed=s), run_id=f"{s}00000000000", name="nightly") for s in (1, 2)]
    found = compare_many(runs, MatrixPlan(metric="score"))
    assert [row.run for row in found.tables[0].rows] == ["nightly (1000000000)", "nightly (2000000000)"]


def test_values_of_a_run_keep_the_trial_of_each_record() -> None:
    records = [made_record(row, trials=2, tells_trial=True) for row in (1, 0, 3, 2)]
    values = collect_values(made_run({"score": np.arange(4) / 4}, records=records), None)
    assert list(values.rows) == [("r0", 1), ("r0", 0), ("r1", 1), ("r1", 0)]
    assert values.has_trials


def test_a_strict_gate_stops_what_is_not_shown_to_hold_its_score() -> None:
    runs, _ = three_runs(40)
    found = compare_many(runs[:2], MatrixPlan(metric="score"))
    change = found.tables[0].rows[1].difference
    assert change is not None
    assert change.interval is not None
    assert check_regressions(found) == 0
    with pytest.raises(GateFailedError, match="run-1 may be worse by"):
        check_regressions(found, strict=True)
    assert check_regressions(found, max_regression=-change.interval.low, strict=True) == 0


def test_a_run_that_was_tuned_on_the_records_is_neither_best_nor_on_the_frontier() -> None:
    records = [made_record(row, usage=Usage(cost_usd=0.5)) for row in range(20)]
    drawn = (np.linspace(0.5, 0.6, 20), np.linspace(0.8, 0.9, 20), np.linspace(0.6, 0.7, 20))
    runs = [made_run({"score": values}, records=records, run_id=f"run-{at}") for at, values in enumerate(drawn)]
    plain = compare_many(runs, MatrixPlan(metric="score", against="best"))
    tuned = compare_many(runs, MatrixPlan(metric="score", against="best", tuned=frozenset({1})))
    assert (plain.reference, tuned.reference) == ("run-1", "run-2")
    assert [row.frontier for row in tuned.tables[0].rows] == [False, None, True]
    assert any("tuned on these records" in warning for warning in tuned.warnings)
    with pytest.raises(UsageError, match="every run was tuned"):
        compare_many(runs, MatrixPlan(metric="score", against="best", tuned=frozenset({0, 1, 2})))
