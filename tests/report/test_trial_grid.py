"""The grid of trials: what a page says about records that do not come out the same each time."""

import numpy as np

from evalsi.evaluators.api import evaluator, output
from evalsi.report.findings import gather
from evalsi.report.html_report import html_report
from evalsi.report.markdown_report import write_markdown
from evalsi.report.metric_view import MetricView
from evalsi.report.report_options import ReportOptions
from evalsi.report.trial_grid import SHOWN_RECORDS, SHOWN_TRIALS, TrialGrid, TrialTally
from evalsi.schema import MetricKind, MetricSummary, Provenance, Record, RunManifest, RunProvenance
from tests.graded_runs import graded_run

GOOD, BAD, NONE = 1.0, 0.0, float("nan")


def grid(
    outcomes: dict[str, list[float]], kind: MetricKind = MetricKind.PROPORTION, *, better: bool | None = True
) -> TrialGrid | None:
    """The grid of one metric, its trials added one round after another, as a run asks."""
    summary = MetricSummary(metric="m", evaluator="m", kind=kind, mean=0.5, n=1)
    view = MetricView(summary=summary, low=0.0, high=1.0, bounds=(0.0, 1.0), higher_is_better=better)
    trials = max(map(len, outcomes.values()))
    tally = TrialTally([view], trials)
    for trial in range(trials):
        asked = {name: values[trial] for name, values in outcomes.items() if trial < len(values)}
        tally.add([(name, trial) for name in asked], [np.array(list(asked.values()))])
    return next(iter(tally.finish()), None)


def test_each_record_is_counted_once_by_how_its_trials_ended() -> None:
    found = grid(
        {
            "mixed": [GOOD, BAD],
            "always": [GOOD, GOOD],
            "never": [BAD, BAD],
            "failed": [NONE, NONE],
            "half": [GOOD, NONE],
        }
    )
    assert found is not None
    assert (found.mixed, found.always, found.never, found.unscored) == (1, 2, 1, 1)
    assert found.sentence == (
        "1 of 4 records both passed and failed, 2 passed each time, 1 failed each time; 1 record without a scored trial"
    )
    assert {row.record_id: row.words for row in found.rows} == {
        "mixed": "pass, fail",
        "always": "pass, pass",
        "never": "fail, fail",
        "failed": "not scored, not scored",
        "half": "pass, not scored",
    }


def test_a_verdict_that_nobody_called_good_is_said_and_neither_passes_nor_fails() -> None:
    found = grid({"mixed": [GOOD, BAD], "always": [GOOD, GOOD]}, better=None)
    assert found is not None
    assert found.sentence == "1 of 2 records were both yes and no, 1 yes each time, 0 no each time"
    assert {row.record_id: row.words for row in found.rows} == {"mixed": "yes, no", "always": "yes, yes"}


def test_of_many_records_those_that_differ_most_are_shown_and_the_worst_after_them() -> None:
    many = {f"r{n}": [GOOD, GOOD] for n in range(500)} | {"a": [GOOD, BAD], "z": [BAD, BAD]}
    found = grid(many)
    assert found is not None
    assert len(found.rows) == SHOWN_RECORDS
    assert found.hidden == 502 - SHOWN_RECORDS
    assert {"a", "z"} <= {row.record_id for row in found.rows}
    assert found.always == 500


def test_trials_beyond_those_shown_count_all_the_same() -> None:
    found = grid({"late": [GOOD] * SHOWN_TRIALS + [BAD]})
    assert found is not None
    assert (found.mixed, len(found.rows[0].cells)) == (1, SHOWN_TRIALS)


def test_numbers_are_shaded_along_the_axis_and_said_in_words() -> None:
    found = grid({"a": [0.0, 0.5, 1.0], "b": [0.25, 0.25, 0.25]}, MetricKind.NUMBER)
    assert found is not None
    assert [cell.level for cell in found.rows[0].cells] == [0, 2, 4]
    assert found.sentence == "1 of 2 records got different values, 1 the same each time"


def test_a_run_without_trials_has_no_grid() -> None:
    assert grid({"a": [GOOD], "b": [BAD]}) is None


@evaluator(name="verdict", bounded=True, outputs=[output("verdict", "passed")])
def verdict(record: Record) -> bool:
    return record.metadata["good"]


def test_the_page_and_the_comment_tell_of_trials_and_escape_ids() -> None:
    records = [
        Record(
            id=f"<b>{n}</b>",
            metadata={"good": (n + trial) % 3 > 0},
            provenance=Provenance(run=RunProvenance(trial=trial)),
        )
        for n in range(3)
        for trial in range(2)
    ]
    run = graded_run(records, [verdict], manifest=RunManifest(run_id="r", trials=2))
    page = html_report(run)
    assert '<section id="trials"' in page
    assert "&lt;b&gt;1&lt;/b&gt;: pass, pass" in page
    assert "<b>1</b>" not in page
    assert "2 of 3 records both passed and failed, 1 passed each time" in write_markdown(run)
    assert gather(run, ReportOptions()).trials[0].metric.name == "verdict"
