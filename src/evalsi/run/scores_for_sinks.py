"""From a graded run to what sinks are told: its records with scores in their order, and then the run as a whole.

Its own module because the ids of scores rest on what is here, and putting them must come to the same on every try: whoever
goes on where another worker was killed counts on the order. What always holds: nothing here depends on the time; what a
dataset says is the id of a trace or span is told as one only where it has the form of one, since sinks make addresses of them.
"""

import re
from collections.abc import Iterator
from datetime import datetime

import msgspec

from evalsi.core.canonical import digest
from evalsi.engine.columns import EvaluatorColumns, result
from evalsi.ports.score_sink import RUN_PREFIX, OutgoingMetric, OutgoingRun, OutgoingScore, OutgoingScores
from evalsi.results.graded_run import GradedRun
from evalsi.schema import EvaluationResult, Outcome, Record, Score

LONGEST_EXPLANATION = 8_000
_TRACE_ID, _SPAN_ID = re.compile(r"[0-9a-f]{32}\Z"), re.compile(r"[0-9a-f]{16}\Z")


def scores_of_run(run: GradedRun, project: str) -> Iterator[OutgoingScores]:
    """What sinks are to be told of a run that has ended."""
    told = _Told(run, project)
    for rows in run.read_rows():
        for row, record in enumerate(rows.records):
            found = told.of_record(rows.columns, row, record, rows.first_row + row)
            if found.scores:
                yield found
    yield told.of_run()


class _Told:
    """One run, as what is told speaks of it."""

    def __init__(self, run: GradedRun, project: str) -> None:
        manifest = run.manifest
        self._run = run
        self._project = project
        self._judged = {each.name for each in manifest.evaluators if each.judge}
        self._policy = RUN_PREFIX + manifest.run_id
        self._began_ms = _milliseconds(manifest.started_at)
        self._ended_ms = max(self._began_ms, _milliseconds(manifest.finished_at))

    def of_record(self, columns: list[EvaluatorColumns], row: int, record: Record, place: int) -> OutgoingScores:
        provenance = record.provenance
        trial = provenance.run.trial if provenance is not None and provenance.run is not None else 0
        trace_id = provenance.trace.trace_id if provenance is not None and provenance.trace is not None else ""
        trace_id = trace_id if _TRACE_ID.match(trace_id) else ""
        scores = [
            score
            for each in columns
            for score in self._scores(each, result(each, row, record.id, trial), record, trace_id)
        ]
        return self._outgoing(
            # What waits about a trace goes with it, when somebody removes it.
            subject=trace_id if trace_id and trace_id == record.id and not trial else f"record {place}",
            first_trace_id=trace_id,
            record_id=record.id,
            trial=trial,
            scores=scores,
        )

    def of_run(self) -> OutgoingScores:
        manifest = self._run.manifest
        whole = OutgoingRun(
            id=manifest.run_id,
            name=manifest.name,
            began_ms=self._began_ms,
            ended_ms=self._ended_ms,
            dataset_sha256=manifest.dataset.sha256 if manifest.dataset is not None else "",
            labels=manifest.labels,
            metrics=[
                OutgoingMetric(
                    metric=each.metric,
                    n=each.n,
                    mean=each.mean,
                    low=each.ci.low if each.ci is not None else None,
                    high=each.ci.high if each.ci is not None else None,
                    skipped=each.skipped,
                    errors=each.errors,
                )
                for each in self._run.summaries
            ],
        )
        return msgspec.structs.replace(self._outgoing(subject="run", first_trace_id="", scores=[]), run=whole)

    def _outgoing(
        self, *, subject: str, first_trace_id: str, scores: list[OutgoingScore], record_id: str = "", trial: int = 0
    ) -> OutgoingScores:
        return OutgoingScores(
            project=self._project,
            policy=self._policy,
            subject=subject,
            record_id=record_id,
            trial=trial,
            began_ms=self._began_ms,
            at_ms=self._ended_ms,
            first_trace_id=first_trace_id,
            scores=scores,
        )

    def _scores(
        self, columns: EvaluatorColumns, found: EvaluationResult, record: Record, trace_id: str
    ) -> Iterator[OutgoingScore]:
        if found.outcome is Outcome.SCORED:
            for score in found.scores:
                yield self._score(columns, found, score, record, trace_id)
        elif found.outcome is Outcome.ERROR:
            said = self._score(columns, found, Score(), record, trace_id)
            yield msgspec.structs.replace(said, error_type=found.error_kind.value, error=_cut(found.reason))

    def _score(
        self, columns: EvaluatorColumns, found: EvaluationResult, score: Score, record: Record, trace_id: str
    ) -> OutgoingScore:
        metric = columns.metric(score.name) if score.name else found.evaluator
        about = (record.id, found.trial, found.span_id)
        key = (self._project, self._policy, *about, found.evaluator_ref, metric)
        return OutgoingScore(
            id=digest(key).removeprefix("sha256:")[:32],
            metric=metric,
            evaluator_ref=found.evaluator_ref,
            trace_id=trace_id,
            span_id=_span_id(found.span_id or _root_of(record)) if trace_id else "",
            is_of_trace=not found.span_id,
            session_id=record.trajectory.session_id if record.trajectory is not None else "",
            number=score.number,
            passed=score.passed,
            label=score.label,
            structured=None if score.structured is msgspec.UNSET else score.structured,
            explanation=_cut(score.explanation),
            is_judged=found.evaluator in self._judged,
        )


def _root_of(record: Record) -> str:
    """The id of the span that is above all others; empty where there is none."""
    steps = record.trajectory.steps if record.trajectory is not None else []
    names = {step.span_id for step in steps}
    return next((step.span_id for step in steps if step.parent_span_id not in names), "")


def _span_id(text: str) -> str:
    return text if _SPAN_ID.match(text) else ""


def _milliseconds(moment: datetime | None) -> int:
    return int(moment.timestamp() * 1000) if moment is not None else 0


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_EXPLANATION else text[: LONGEST_EXPLANATION - 1] + "…"
