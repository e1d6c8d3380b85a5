"""The first line. Cases D02 and D03: nothing scored is never a pass, and no NaN is ever shown."""

from collections.abc import Sequence

import pytest

from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, pack
from evalsi.evaluators.api import evaluator
from evalsi.report.findings import gather
from evalsi.report.html_report import html_report
from evalsi.report.markdown_report import write_markdown
from evalsi.report.report_options import ReportOptions
from evalsi.report.verdict import Opening, opening
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import encode_records
from evalsi.schema import (
    ConfidenceInterval,
    DatasetManifest,
    GateStat,
    MetricKind,
    MetricSummary,
    Record,
    RunManifest,
    RunStatus,
)
from evalsi.stats import wilson
from tests.graded_runs import demo_run, gate, graded_run, outcome_columns, reader

CODES = {"SCORED": SCORED, "ERROR": ERROR, "SKIPPED": SKIPPED, "CANCELLED": CANCELLED}
D02 = (
    [],
    [("ERROR", None)] * 5,
    [("SKIPPED", None)] * 5,
    [("SCORED", 1.0)] + [("ERROR", None)] * 4,
)


def run_of(
    results: Sequence[tuple[str, float | None]], *, stat: GateStat = GateStat.MEAN, gates: bool = True, **facts
) -> GradedRun:
    outcomes = [(CODES[word], value) for word, value in results]
    values = [value for _, value in outcomes if value is not None]
    mean = sum(values) / len(values) if values else None
    interval = wilson(round(sum(values)), len(values))
    counts = {word: sum(found == word for found, _ in results) for word in CODES}
    summary = MetricSummary(
        metric="check",
        evaluator="check",
        kind=MetricKind.PROPORTION,
        n=len(values),
        mean=mean,
        ci=ConfidenceInterval(low=interval.low, high=interval.high, level=0.95, method="wilson") if interval else None,
        total=len(results),
        errors=counts["ERROR"],
        skipped=counts["SKIPPED"],
        cancelled=counts["CANCELLED"],
        coverage=len(values) / len(results) if results else None,
    )
    records = [Record(id=f"r{row}") for row in range(len(results))]
    measured = mean if stat is GateStat.MEAN else interval.low if interval else None
    held = [(0, encode_records(records), pack([outcome_columns("check", outcomes)]))] if records else []
    return GradedRun(
        source="d02",
        manifest=RunManifest(run_id="d02", **facts),
        summaries=[summary],
        read_rows=reader(held),
        gates=[gate("check", least=0.9, value=measured, stat=stat)] if gates else [],
    )


def opened(run: GradedRun) -> Opening:
    return opening(gather(run, ReportOptions()))


@pytest.mark.parametrize("results", D02[:3], ids=["zero records", "all errors", "all skipped"])
def test_nothing_scored_is_never_a_pass(results) -> None:
    run = run_of(results)
    said = opened(run)
    assert said.word == "NOTHING SCORED"
    assert [line.word for line in said.gates] == ["NO DATA"]
    for text in (html_report(run), write_markdown(run)):
        assert "NOTHING SCORED" in text
        assert "PASS" not in text
        assert "nan" not in text.lower().replace("\n", " ").split()


def test_one_scored_of_five_passes_on_its_point_shows_its_coverage_and_fails_on_its_lower_bound() -> None:
    run = run_of(D02[3])
    said = opened(run)
    assert said.word == "PASS"
    assert "mean 1.000 [0.207, 1.000]" in said.sentence
    assert said.warnings[0].sentence.startswith("scored 1 of 5 (20%): 4 errors")
    for text in (html_report(run), write_markdown(run)):
        assert "1/5" in text
    assert opened(run_of(D02[3], stat=GateStat.CI_LOW)).word == "FAIL"


def test_a_gate_without_data_among_met_ones_is_no_pass() -> None:
    run = demo_run(gates=[gate("correctness", least=0.5, value=0.7), gate("absent", least=0.5, value=None)])
    assert opened(run).word == "NO DATA"


def test_without_gates_the_first_metric_is_told_with_its_interval() -> None:
    said = opened(run_of([("SCORED", 1.0)] * 3 + [("SCORED", 0.0)], gates=False))
    assert (said.word, said.metric) == ("SCORED", "check")
    assert said.sentence == "0.750, 95% interval [0.301, 0.954], over 4 records."


def test_a_stopped_run_says_how_far_it_came() -> None:
    run = run_of([("SCORED", 1.0)] * 4, status=RunStatus.CANCELLED, dataset=DatasetManifest(records=9))
    assert opened(run).warnings[0].sentence == "The run was stopped before its end: 4 records of 9 graded."


def test_values_that_are_no_scores_are_errors_on_the_page_and_never_numbers() -> None:
    returned = {
        "a": 1,
        "b": None,
        "c": float("nan"),
        "d": 0.5,
        "e": "0.5",
        "f": True,
        "g": float("inf"),
        "h": False,
        "i": -0.0,
        "j": "pass",
    }

    @evaluator(name="returned", bounded=True)
    def gives(record: Record):
        return returned[record.id]

    run = graded_run([Record(id=name) for name in returned], [gives])
    summary = run.summary("returned")
    assert summary is not None
    assert (summary.n, summary.mean, summary.errors) == (5, 0.5, 5)
    for text in (html_report(run), write_markdown(run)):
        assert "5/10" in text
        assert "not_finite" in text
        assert "wrong_type" in text
        assert "no_score" in text
        assert "−0.000" not in text
