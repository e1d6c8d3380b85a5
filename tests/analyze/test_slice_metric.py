"""Slices equal what pandas, scipy and statsmodels make of the same values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from evalsi.analyze.choose_runs import ChosenRun
from evalsi.analyze.run_database import run_database
from evalsi.analyze.slice_metric import MetricSlices, slice_metric
from evalsi.core.errors import UnknownNameError, UsageError
from evalsi.engine.columns import SCORED, Column, EvaluatorColumns
from evalsi.results.graded_run import GradedRun
from evalsi.schema import SummaryOptions
from evalsi.stats import ClusterTotals, cluster_robust_t
from tests.analyze.made_runs import drawn_values, made_record, made_run


def sliced(runs: Sequence[GradedRun], metric: str, *keys: str, **options: Any) -> MetricSlices:
    with run_database(None) as database:
        database.load(ChosenRun(None, run) for run in runs)
        return slice_metric(database, metric, keys, **options)


def frame_of(run: GradedRun, values: dict[str, Any]) -> pd.DataFrame:
    records = [record for rows in run.read_rows() for record in rows.records]
    return pd.DataFrame(
        {
            "id": [record.id for record in records],
            "topic": [record.metadata.get("topic") for record in records],
            "level": [record.metadata["deep"]["level"] for record in records],
            **values,
        }
    )


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_verdicts_have_the_wilson_interval_of_statsmodels(level: float) -> None:
    values = drawn_values(400, seed=1)
    run = made_run(values)
    frame = frame_of(run, values)
    for row in sliced([run], "passes", "metadata.topic", level=level).rows:
        (topic,) = row.group
        own = frame[frame.topic.isna() if topic is None else frame.topic == topic].passes.dropna()
        low, high = proportion_confint(own.sum(), len(own), alpha=1 - level, method="wilson")
        assert row.estimate.n == len(own)
        assert row.estimate.value == pytest.approx(own.mean(), rel=1e-12)
        assert row.estimate.interval is not None
        assert (row.estimate.interval.low, row.estimate.interval.high) == pytest.approx((low, high), rel=1e-9)
        assert row.estimate.interval.method == "wilson"


def test_scores_have_student_s_interval_of_scipy_cut_to_the_declared_range() -> None:
    values = drawn_values(400, seed=2)
    run = made_run(values)
    frame = frame_of(run, values)
    found = sliced([run], "score", "topic", "deep.level").rows
    assert len(found) == len(frame.groupby(["topic", "level"], dropna=False))
    for row in found:
        topic, level = row.group
        own = frame[(frame.topic.isna() if topic is None else frame.topic == topic) & (frame.level == level)].score
        low, high = scipy_stats.t.interval(0.95, len(own) - 1, own.mean(), own.sem())
        assert row.estimate.interval is not None
        assert (row.estimate.interval.low, row.estimate.interval.high) == pytest.approx(
            (max(0.0, low), min(1.0, high)), rel=1e-9
        )


def test_every_observation_is_in_exactly_one_group_and_what_failed_is_counted() -> None:
    values = drawn_values(400, seed=3)
    rows = sliced([made_run(values)], "passes", "topic").rows
    assert sum(row.estimate.n for row in rows) == int((~np.isnan(values["passes"])).sum())
    assert sum(row.skipped + row.errors + row.cancelled for row in rows) == int(np.isnan(values["passes"]).sum())
    assert [row.group for row in rows] == [("billing",), ("refunds",), ("tariffs",), (None,)]


def test_groups_stand_in_natural_order() -> None:
    rows = sliced([made_run(drawn_values(60, seed=4))], "score", "metadata.deep.level").rows
    assert [row.group for row in rows] == [("t1",), ("t2",), ("t10",)]


def test_repeated_records_are_clustered_and_not_tested() -> None:
    values = drawn_values(300, seed=5)
    records = [made_record(row, trials=3, tells_trial=True) for row in range(300)]
    run = made_run(values, records=records, trials=3)
    frame = frame_of(run, values)
    for metric in ("passes", "score"):
        found = sliced([run], metric, "topic")
        assert found.tests == 0
        assert any("intervals are clustered" in note for note in found.notes)
        for row in found.rows:
            (topic,) = row.group
            own = frame[(frame.topic.isna() if topic is None else frame.topic == topic) & frame[metric].notna()]
            wanted = cluster_robust_t(ClusterTotals.of(own[metric], own.id.tolist()), 0.95, (0.0, 1.0))
            assert row.estimate.clusters == wanted.clusters == own.id.nunique()
            assert row.estimate.interval is not None
            assert wanted.interval is not None
            assert row.estimate.interval.method == "clustered-t"
            assert (row.estimate.interval.low, row.estimate.interval.high) == pytest.approx(
                (wanted.interval.low, wanted.interval.high), rel=1e-9
            )


def test_a_run_that_groups_its_records_is_clustered_as_it_was_made() -> None:
    values = drawn_values(300, seed=6)
    records = [made_record(row) for row in range(300)]
    for row, record in enumerate(records):
        record.metadata["deep"]["talk"] = row // 10
    run = made_run(values, records=records, summary=SummaryOptions(cluster_by="metadata.deep.talk"))
    frame = frame_of(run, values)
    found = sliced([run, made_run(values, run_id="run-b")], "passes", "topic")
    assert found.tests > 0, "the other run's records stand for themselves"
    for row in (row for row in found.rows if row.run_id == "run-a"):
        assert row.p_adjusted is None
        (topic,) = row.group
        own = frame[(frame.topic.isna() if topic is None else frame.topic == topic) & frame.passes.notna()]
        wanted = cluster_robust_t(ClusterTotals.of(own.passes, (own.index // 10).tolist()), 0.95, (0.0, 1.0))
        assert row.estimate.interval is not None
        assert wanted.interval is not None
        assert (row.estimate.interval.low, row.estimate.interval.high) == pytest.approx(
            (wanted.interval.low, wanted.interval.high), rel=1e-9
        )


def test_a_group_that_differs_is_marked_and_the_tests_are_adjusted_together() -> None:
    values = drawn_values(600, seed=6, share=0.5)
    records = [made_record(row) for row in range(600)]
    of_billing = np.array([record.metadata.get("topic") == "billing" for record in records])
    values["score"] = np.where(of_billing, values["score"] * 0.5, values["score"])
    found = sliced([made_run(values, records=records)], "score", "topic")
    marks = {row.group[0]: row.mark for row in found.rows}
    assert marks["billing"] == "below"
    assert found.tests == 4
    assert any("4 tests together (Holm)" in note for note in found.notes)
    equal = sliced([made_run(drawn_values(600, seed=7))], "score", "topic")
    assert {row.mark for row in equal.rows} == {""}


def test_runs_are_sliced_apart_and_only_those_that_were_chosen() -> None:
    runs = [made_run(drawn_values(60, seed=seed), run_id=f"run-{seed}") for seed in (1, 2, 3)]
    with run_database(None) as database:
        database.load(ChosenRun(None, run) for run in runs)
        everything = slice_metric(database, "score", ["topic"])
        some = slice_metric(database, "score", ["topic"], run_ids=["run-2"])
    assert {row.run_id for row in everything.rows} == {"run-1", "run-2", "run-3"}
    assert [row.estimate for row in some.rows] == [row.estimate for row in everything.rows if row.run_id == "run-2"]


def test_a_wrong_metric_or_key_is_named_with_the_nearest() -> None:
    run = made_run(drawn_values(20, seed=1))
    with pytest.raises(UnknownNameError, match="did you mean 'score'"):
        sliced([run], "scores", "topic")
    with pytest.raises(UnknownNameError, match="did you mean 'topic'"):
        sliced([run], "score", "metadata.topik")
    with pytest.raises(UsageError, match="--by"):
        sliced([run], "score")


def test_a_metric_of_labels_has_no_slices() -> None:
    from dataclasses import replace

    run = made_run({"score": np.array([0.5, 0.5])})
    rows = next(iter(run.read_rows()))
    tone = EvaluatorColumns("tone", "test/tone@1.0.0", "tone", bytearray([SCORED, SCORED]))
    tone.columns["tone"] = Column("tone", "label", [float("nan")] * 2, ["polite", "rude"])
    rows.columns.append(tone)
    with pytest.raises(UsageError, match="tone is a label"):
        sliced([replace(run, read_rows=lambda: iter([rows]))], "tone", "topic")


def test_a_key_with_a_slash_a_tilde_or_a_dot_is_found() -> None:
    records = [made_record(row, metadata={"a/b~c.d": f"v{row % 2}", "null": None}) for row in range(40)]
    found = sliced([made_run(drawn_values(40, seed=1), records=records)], "score", "a/b~c.d")
    assert [(row.group, row.estimate.n) for row in found.rows] == [(("v0",), 20), (("v1",), 20)]
    with pytest.raises(UnknownNameError):
        sliced([made_run(drawn_values(40, seed=1), records=records)], "score", "null")
