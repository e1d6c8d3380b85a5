"""Slices: which keys, whose means, and marks that are not chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import evaluator, output
from evalsi.report.findings import gather
from evalsi.report.html_report import html_report
from evalsi.report.metric_view import MetricView
from evalsi.report.report_options import ReportOptions
from evalsi.report.slice_tally import SliceTables, SliceTally
from evalsi.schema import MetricKind, MetricSummary, Record, SummaryOptions
from evalsi.stats import ClusterTotals, cluster_robust_t, proportion_estimate
from tests.graded_runs import demo_run, graded_run


@evaluator(name="value", bounded=True, outputs=[output("value", low=0, high=1)])
def value(record: Record) -> float:
    return record.metadata["value"]


@evaluator(name="verdict", bounded=True, outputs=[output("verdict", "passed")])
def verdict(record: Record) -> bool:
    return record.metadata["value"] >= 0.5


def sliced(metadata: list[dict], **options) -> SliceTables:
    records = [Record(id=f"r{row}", metadata={"value": 0.5} | one) for row, one in enumerate(metadata)]
    return gather(graded_run(records, [value, verdict]), ReportOptions(**options)).slices


def view_of(kind: MetricKind, mean: float) -> MetricView:
    summary = MetricSummary(metric="m", evaluator="m", kind=kind, mean=mean, n=1)
    return MetricView(summary=summary, low=0.0, high=1.0, bounds=(0.0, 1.0), higher_is_better=True)


def test_categorical_keys_are_chosen_and_others_are_not() -> None:
    metadata = [
        {
            "topic": ["a", "b"][row % 2],
            "level": row % 3,
            "flag": row % 2 == 0,
            "unique": f"u{row}",
            "same": "x",
            "float": row / 7,
            "list": ["x"],
            "rare": "x" if row < 3 else None,
        }
        for row in range(40)
    ]
    assert [table.key for table in sliced(metadata).tables] == ["topic", "level", "flag"]


def test_chosen_keys_are_shown_whatever_they_hold_and_absent_ones_are_named() -> None:
    metadata = [{"deep": {"er": f"v{row}"}, "value": 0.25} for row in range(30)]
    found = sliced(metadata, slices=["deep.er", "nowhere"])
    assert [table.key for table in found.tables] == ["deep.er"]
    assert (len(found.tables[0].slices), found.tables[0].hidden) == (20, 10)
    assert found.absent == ["nowhere"]
    assert sliced(metadata, slices=[]).tables == []


def test_a_slice_has_its_own_mean_interval_and_n() -> None:
    metadata = [{"topic": "ab"[row % 2], "value": float(row % 2)} for row in range(30)]
    first, second = sliced(metadata).tables[0].slices
    assert [first.label, second.label] == ["a", "b"]
    assert (first.rows, first.figures[0].estimate.value, second.figures[0].estimate.value) == (15, 0.0, 1.0)
    assert second.figures[1].estimate == proportion_estimate(15, 15)


def test_a_real_difference_is_marked_on_the_page() -> None:
    metadata = [{"topic": "ab"[row % 2], "value": 0.2 if row % 2 else 0.9} for row in range(60)]
    marks = [figure.mark for one in sliced(metadata).tables[0].slices for figure in one.figures]
    assert marks == ["above", "above", "below", "below"]


def test_records_that_depend_on_each_other_are_not_tested() -> None:
    records = [
        Record(id=f"r{row}", metadata={"topic": "ab"[row % 2], "value": float(row % 2), "chat": f"c{row % 7}"})
        for row in range(60)
    ]
    run = graded_run(records, [value], plan=SummaryPlan(cluster_by="chat"))
    found = gather(run, ReportOptions()).slices
    assert found.tests == 0
    assert "their records depend on each other" in html_report(run)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["x", "y", "z", None]), st.floats(0, 1) | st.none()), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_batches_of_any_size_give_the_same_moments(rows, size) -> None:
    def tables(step: int) -> SliceTables:
        tally = SliceTally([view_of(MetricKind.NUMBER, 0.4)], ["key"])
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            values = np.array([np.nan if found is None else found for _, found in part])
            tally.add([{"key": key} for key, _ in part], [values])
        return tally.finish(0.95)

    whole, batched = tables(len(rows)), tables(size)
    for key in ("x", "y", "z"):
        expected = [found for label, found in rows if label == key and found is not None]
        for found in (whole, batched):
            figures = [one.figures[0].estimate for table in found.tables for one in table.slices if one.label == key]
            if not figures:
                assert not [label for label, _ in rows if label == key]
                continue
            assert figures[0].n == len(expected)
            if expected:
                assert figures[0].value == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["verdicts, half pass", "verdicts, few pass", "skewed", "mostly perfect", "long tail"])
def test_where_slices_are_chance_a_mark_appears_in_at_most_five_runs_of_a_hundred(kind: str) -> None:
    """False alarms over whole tables: 600 runs of 200 records, two keys of 8 and 3 uneven values."""
    draw = np.random.default_rng(11)
    runs, alarms = 600, 0
    for _ in range(runs):
        if kind == "verdicts, half pass":
            values = (draw.random(200) < 0.5).astype(float)
        elif kind == "verdicts, few pass":
            values = (draw.random(200) < 0.08).astype(float)
        elif kind == "skewed":
            values = draw.beta(0.4, 2.0, 200)
        elif kind == "long tail":
            values = draw.lognormal(0.0, 1.0, 200)
            values /= values.max()
        else:
            values = np.where(draw.random(200) < 0.9, 1.0, draw.random(200))
        view = view_of(MetricKind.PROPORTION if "verdicts" in kind else MetricKind.NUMBER, float(values.mean()))
        tally = SliceTally([view], None)
        topics = draw.choice(8, 200, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
        levels = draw.choice(3, 200, p=[0.6, 0.3, 0.1])
        tally.add([{"topic": f"t{t}", "level": f"l{level}"} for t, level in zip(topics, levels, strict=True)], [values])
        tables = tally.finish(0.95).tables
        alarms += any(figure.mark for table in tables for one in table.slices for figure in one.figures)
    # Three standard errors of simulation above 5%.
    assert alarms / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_the_demonstration_s_hard_questions_stand_out() -> None:
    found = gather(demo_run(), ReportOptions()).slices
    hard = next(
        one for table in found.tables for one in table.slices if (table.key, one.label) == ("difficulty", "hard")
    )
    assert hard.figures[0].mark == "below"
    assert hard.figures[0].adjusted_p is not None
    assert hard.figures[0].adjusted_p <= 0.05


def test_slices_stand_in_natural_order() -> None:
    metadata = [{"topic": f"t{row % 12}"} for row in range(48)]
    labels = [one.label for one in sliced(metadata).tables[0].slices]
    assert labels == [f"t{number}" for number in range(12)]


def test_slices_of_rows_that_are_not_independent_are_clustered_as_the_run_is() -> None:
    records = [
        Record(
            id=f"c{talk}t{turn}", metadata={"value": float(talk % 3 > 0), "talk": f"c{talk}", "topic": "ab"[talk % 2]}
        )
        for talk in range(30)
        for turn in range(6)
    ]
    plan = SummaryPlan(cluster_by="metadata.talk")
    about = {"summary": SummaryOptions(cluster_by="metadata.talk")}
    run = graded_run(records, [verdict], plan=plan, about=about)
    found = gather(run, ReportOptions(slices=["metadata.topic"])).slices
    assert found.tests == 0
    for one, letter in zip(found.tables[0].slices, "ab", strict=True):
        of_letter = [record for record in records if record.metadata["topic"] == letter]
        values = [record.metadata["value"] for record in of_letter]
        clusters = [record.metadata["talk"] for record in of_letter]
        expected = cluster_robust_t(ClusterTotals.of(values, clusters), bounds=(0.0, 1.0))
        assert one.figures[0].estimate == expected
        assert expected.interval is not None
        alone = proportion_estimate(int(sum(values)), len(values)).interval
        assert alone is not None
        assert expected.interval.width > 2 * alone.width
