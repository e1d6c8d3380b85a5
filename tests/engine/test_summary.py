import random
from typing import Literal

import pytest

from evalsi.core.errors import MeasurementError
from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.evaluators.api import Definition, evaluator, output
from evalsi.schema import MetricSummary
from tests.case_files import case
from tests.engine.evaluators_for_tests import bound, equal, graded, record


@evaluator(name="check", outputs=[output("check", "passed")])
def check() -> bool:
    return True


@evaluator(name="grade", outputs=[output("grade", low=0, high=1)])
def grade() -> float:
    return 0.0


def columns(results: list[tuple[str, float | None]], definition: Definition = check) -> EvaluatorColumns:
    builder = ColumnsBuilder(definition, name=definition.name, ref="x@1", rows=len(results))
    for row, (status, score) in enumerate(results):
        match status:
            case "SCORED":
                builder.put(row, bool(score) if definition is check else score)
            case "SKIPPED":
                builder.skip(row, "no content")
            case "CANCELLED":
                builder.cancel(row, "stopped")
            case _:
                builder.fail(row, MeasurementError("it broke"))
    return builder.result


def summed(*parts: EvaluatorColumns, plan: SummaryPlan | None = None, definition: Definition = check) -> MetricSummary:
    builder = SummaryBuilder(bound(definition), plan or SummaryPlan())
    first = 0
    for part in parts:
        builder.add(first, part.rows, [part], list)
        first += part.rows
    (summary,) = builder.finish()
    return summary


def test_case_d01_only_scored_results_enter_the_mean() -> None:
    given, expected = case("D01")["input"]["results"], case("D01")["expected"]
    summary = summed(columns([(row["status"], row["score"]) for row in given]))
    assert summary.mean == pytest.approx(expected["mean"], abs=1e-6)
    assert (summary.n, summary.total) == (expected["n_scored"], expected["n_total"])
    assert (summary.errors, summary.skipped, summary.cancelled) == (2, 1, 1)
    assert summary.ci is not None
    assert [summary.ci.low, summary.ci.high] == pytest.approx(expected["wilson95"], abs=1e-6)
    assert summary.coverage == 0.6


@pytest.mark.parametrize(("index", "run"), list(enumerate(case("D02")["input"]["runs"])))
def test_case_d02_nothing_scored_has_no_mean(index: int, run: dict[str, list[tuple[str, float | None]]]) -> None:
    expected = case("D02")["expected"]["rows"][index]
    summary = summed(columns(run["results"]))
    assert (summary.mean, summary.n) == (expected["mean"], expected["n"])
    if expected["n"]:
        assert summary.ci is not None
        assert [summary.ci.low, summary.ci.high] == pytest.approx(expected["wilson95"], abs=1e-6)
        assert summary.coverage == 0.2
    else:
        assert summary.ci is None


def test_a_summary_does_not_depend_on_which_batch_finished_first() -> None:
    values = [random.Random(1).random() for _ in range(1000)]
    parts = [columns([("SCORED", value) for value in values[at : at + 100]], grade) for at in range(0, 1000, 100)]
    in_order = summed(*parts, definition=grade)
    builder = SummaryBuilder(bound(grade), SummaryPlan())
    for index in random.Random(2).sample(range(10), 10):
        builder.add(100 * index, 100, [parts[index]], list)
    assert builder.finish() == [in_order]


def test_a_constant_bounded_metric_has_no_zero_width_interval() -> None:
    summary = summed(columns([("SCORED", 1.0)] * 5, grade), definition=grade)
    assert summary.ci is not None
    assert summary.ci.low < 0.9
    assert summary.ci.high == 1.0


def test_clustered_records_widen_the_interval() -> None:
    records = [record(str(row), "a" if row < 20 else "b", "a", user=str(row // 10)) for row in range(40)]
    panel = Panel(evaluators=bound(equal))
    found: dict[str | None, MetricSummary] = {}
    for key in (None, "user"):
        builder = SummaryBuilder(panel.evaluators, SummaryPlan(cluster_by=key))
        for batch in graded(panel, records):
            builder.add(batch.first_row, len(batch.records), batch.columns, lambda batch=batch: batch.records)
        (found[key],) = builder.finish()
    clustered, plain = found["user"].ci, found[None].ci
    assert clustered is not None
    assert plain is not None
    assert (clustered.method, found["user"].clusters) == ("clustered-t", 4)
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


def test_a_seeded_bootstrap_gives_the_same_interval_again() -> None:
    part = columns([("SCORED", value / 10) for value in range(10)], grade)
    plan = SummaryPlan(method="bootstrap", seed=7)
    assert summed(part, plan=plan, definition=grade) == summed(part, plan=plan, definition=grade)


def test_the_median_of_a_long_stream_stays_close_and_says_that_it_was_thinned() -> None:
    generator = random.Random(3)
    parts = [columns([("SCORED", generator.random()) for _ in range(50_000)], grade) for _ in range(6)]
    summary = summed(*parts, definition=grade)
    assert summary.median == pytest.approx(0.5, abs=0.01)
    assert any("median" in note for note in summary.notes)


@pytest.mark.parametrize("method", ["auto", "bootstrap"])
def test_figures_do_not_depend_on_the_batches_that_values_came_in(method: Literal["auto", "bootstrap"]) -> None:
    drawn = random.Random(7)
    results: list[tuple[str, float | None]] = [
        ("SCORED" if drawn.random() < 0.9 else "ERROR", drawn.random()) for _ in range(5000)
    ]
    plan = SummaryPlan(method=method)
    whole = summed(columns(results, grade), plan=plan, definition=grade)
    for most in (1, 40, 3000):
        parts: list[EvaluatorColumns] = []
        left = results
        while left:
            size = drawn.randint(1, most)
            parts.append(columns(left[:size], grade))
            left = left[size:]
        assert summed(*parts, plan=plan, definition=grade) == whole
