"""A run: verdict, gates, metrics, slices on demand, and its records as a table that is filtered on the server.

Its own module because the table must not read more of the run than it shows: it asks for one page of results.
"""

from dataclasses import dataclass

from evalsi.core.content import text_of
from evalsi.core.errors import EvalsiError
from evalsi.core.outward_words import outward_words
from evalsi.report.figures import number
from evalsi.report.metric_view import MetricView
from evalsi.report.verdict_word import is_good, verdict_word
from evalsi.report.visible_text import one_line
from evalsi.schema import (
    ArchiveRunRequest,
    ArchiveRunResponse,
    CancelRunRequest,
    CancelRunResponse,
    EvaluationResult,
    GetRunRequest,
    GetRunResponse,
    ListRunResultsResponse,
    ListRunsRequest,
    ListRunsResponse,
    Outcome,
    Record,
    ResumeRunRequest,
    ResumeRunResponse,
    Run,
    RunStatus,
    SliceRow,
    SliceRunsRequest,
    SliceRunsResponse,
)
from evalsi.server.pages.record_filter import FIELDS, OUTCOMES, records_request
from evalsi.server.pages.run_verdict import run_metrics, run_verdict, trouble_of
from evalsi.server.pages.visit import Moved, Page, Visit

EVALUATOR_COLUMNS = 4
RELATED_RUNS = 12
"""Other runs offered to compare with."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one evaluator said of a record, in a word."""

    text: str
    outcome: str
    share: float | None = None
    """Where a number or verdict lies between bad (0) and good (1), as far as its metric has a scale."""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class RecordLine:
    """A row of the table."""

    record: Record
    trial: int
    cells: list[Cell | None]
    excerpt: str
    asked: str
    place: int
    """Its number on the page."""


@dataclass(frozen=True, kw_only=True)
class SliceTable:
    """A metric for each value of a metadata key, or why there is none."""

    view: MetricView | None = None
    rows: list[SliceRow]
    problem: str = ""


async def run_page(visit: Visit, run_id: str) -> Page:
    found = await visit.call("RunService.GetRun", GetRunRequest(id=run_id), GetRunResponse)
    run = found.run or Run()
    evaluators = _evaluators(run)
    request = records_request(run_id, visit.query, evaluators)
    results, problem = ListRunResultsResponse(), ""
    try:
        results = await visit.call("RunService.ListRunResults", request, ListRunResultsResponse)
    except EvalsiError as error:
        # A filter that makes no sense leaves the rest of the page as it is.
        problem = outward_words(error)
    related = await visit.call(
        "RunService.ListRuns", ListRunsRequest(project=run.project, page_size=RELATED_RUNS), ListRunsResponse
    )
    views = run_metrics(run)
    errors, skipped = trouble_of(run)
    shown = [request.evaluator] if request.evaluator else evaluators[:EVALUATOR_COLUMNS]
    return Page(
        template="run.html.jinja",
        values={
            "run": run,
            "sinks": found.sinks,
            "verdict": run_verdict(run),
            "views": views,
            "errors": errors,
            "skipped": skipped,
            "is_under_way": run.status in (RunStatus.PENDING, RunStatus.RUNNING),
            "can_resume": run.status in (RunStatus.CANCELLED, RunStatus.ERROR),
            "took": (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else None,
            "evaluators": evaluators,
            "columns": shown,
            "lines": _lines(results, shown, views),
            "matching": results.matching_records,
            "next_token": results.next_page_token,
            "problem": problem,
            "filters": request,
            "is_filtered": any(visit.query.get(name) for name in FIELDS if name not in ("page_token", "order")),
            "outcomes": list(OUTCOMES),
            "keys": sorted({key for record in results.records for key in record.metadata}),
            "related": [other for other in related.runs if other.id != run.id],
            "slices": await _slices(visit, run, views),
            "cli": [f"evalsi runs show {run.id}", f"evalsi report {run.id} -o report.html"],
            "trials": run.manifest.trials if run.manifest is not None else 0,
        },
    )


async def cancel_run(visit: Visit, run_id: str) -> Moved:
    await visit.call("RunService.CancelRun", CancelRunRequest(id=run_id), CancelRunResponse)
    return Moved(to=f"/ui/runs/{run_id}")


async def resume_run(visit: Visit, run_id: str) -> Moved:
    await visit.call("RunService.ResumeRun", ResumeRunRequest(id=run_id), ResumeRunResponse)
    return Moved(to=f"/ui/runs/{run_id}")


async def archive_run(visit: Visit, run_id: str) -> Moved:
    request = ArchiveRunRequest(id=run_id, restore=visit.form.get("restore") == "yes")
    await visit.call("RunService.ArchiveRun", request, ArchiveRunResponse)
    return Moved(to=f"/ui/runs/{run_id}")


async def _slices(visit: Visit, run: Run, views: list[MetricView]) -> SliceTable | None:
    """The slices that the address asks for, if it does."""
    by, metric = visit.query.get("by"), visit.query.get("metric")
    if not by:
        return None
    view = next((view for view in views if view.name == metric), views[0] if views else None)
    if view is None:
        return SliceTable(rows=[], problem="the run has no metric yet")
    path = by if by.startswith("metadata.") else f"metadata.{by}"
    request = SliceRunsRequest(run_ids=[run.id], metric=view.name, by=path)
    try:
        found = await visit.call("RunService.SliceRuns", request, SliceRunsResponse)
    except EvalsiError as error:
        return SliceTable(view=view, rows=[], problem=outward_words(error))
    return SliceTable(view=view, rows=sorted(found.rows, key=lambda row: -row.n))


def _evaluators(run: Run) -> list[str]:
    if run.manifest is not None and run.manifest.evaluators:
        return [one.name for one in run.manifest.evaluators]
    return list(dict.fromkeys(summary.evaluator for summary in run.summaries))


def _lines(results: ListRunResultsResponse, shown: list[str], views: list[MetricView]) -> list[RecordLine]:
    said = {(one.record_id, one.trial, one.evaluator): one for one in results.results}
    by_name = {view.name: view for view in views}
    lines: list[RecordLine] = []
    for place, evidence in enumerate(results.records_by_trial):
        record = evidence.record or Record(id=evidence.record_id)
        found = [said.get((evidence.record_id, evidence.trial, name)) for name in shown]
        lines.append(
            RecordLine(
                record=record,
                trial=evidence.trial,
                cells=[None if one is None else score_cell(one, by_name.get(one.evaluator)) for one in found],
                excerpt=one_line(text_of(record.output), 200) or "no output",
                asked=one_line(text_of(record.input), 200),
                place=place,
            )
        )
    return lines


def score_cell(one: EvaluationResult, view: MetricView | None) -> Cell:
    """A result in a word. A verdict says so, a number shows where it lies on the metric's axis."""
    if one.outcome is not Outcome.SCORED or not one.scores:
        word = str(one.error_kind) if one.outcome is Outcome.ERROR else str(one.outcome)
        return Cell(text=word, outcome=str(one.outcome), reason=one.reason)
    score = one.scores[0]
    if score.passed is not None:
        better = view.higher_is_better if view is not None else None
        outcome = {None: "scored", True: "passed", False: "failed"}[is_good(score.passed, better=better)]
        return Cell(text=verdict_word(score.passed, better=better), outcome=outcome)
    if score.number is not None:
        share = view.place(score.number) if view is not None and view.is_numeric else None
        if share is not None and view is not None and view.higher_is_better is False:
            share = 1 - share
        return Cell(text=number(score.number), outcome="scored", share=share, reason=score.explanation)
    return Cell(text=one_line(score.label or "structured", 40), outcome="scored", reason=score.explanation)
