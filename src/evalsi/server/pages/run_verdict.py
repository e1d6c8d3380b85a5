"""A run's verdict as its first line says it: one word, and the number that decided.

Its own module because the list, the run's page and the comparison must open with the same words, from what `GetRun` and
`ListRuns` tell, in the words of the report. What always holds: a run without one scored value is never shown as a pass.
"""

from dataclasses import dataclass, field

from evalsi.report.figures import count, plural
from evalsi.report.gate_line import GateLine, gate_line
from evalsi.report.metric_view import MetricView, headline_metrics, metric_view
from evalsi.report.verdict import count_of_met, decided, deciding_gate, measured, verdict_of
from evalsi.schema import MetricSummary, OnInconclusive, Run, RunStatus

_STANDING = {
    RunStatus.PENDING: ("WAITING", "waits for its turn."),
    RunStatus.RUNNING: ("RUNNING", "is under way."),
}


@dataclass(frozen=True, kw_only=True)
class RunVerdict:
    """`metric` is the name that `sentence` goes on about, "" for none: it is text of others."""

    word: str
    sentence: str = ""
    metric: str = ""
    gates: list[GateLine] = field(default_factory=list[GateLine])


def run_verdict(run: Run) -> RunVerdict:
    gates = [gate_line(result) for result in run.gates]
    if run.status in _STANDING:
        word, sentence = _STANDING[run.status]
        return RunVerdict(word=word, sentence=f"The run {sentence}", gates=gates)
    if run.status is RunStatus.ERROR or run.error:
        return RunVerdict(word="ERROR", sentence=run.error or "The run could not finish.", gates=gates)
    if run.status is RunStatus.CANCELLED:
        done = run.progress.done if run.progress is not None else 0
        return RunVerdict(word="STOPPED", sentence=f"It was stopped after {plural(done, 'task')}.", gates=gates)
    if not any(summary.n for summary in run.summaries):
        return RunVerdict(word="NOTHING SCORED", sentence=_nothing(run), gates=gates)
    if gates:
        word = verdict_of(gates, run.spec.on_inconclusive if run.spec is not None else OnInconclusive.UNSPECIFIED)
        deciding = deciding_gate(gates)
        sentence = f"{decided(deciding, _summary(run, deciding.metric))} {count_of_met(gates, word)}"
        return RunVerdict(word=word, sentence=sentence, metric=deciding.metric, gates=gates)
    views = run_metrics(run)
    view = (headline_metrics(views, 1) or [view for view in views if view.summary.n])[0]
    return RunVerdict(word="SCORED", sentence=measured(view), metric=view.name)


def run_metrics(run: Run) -> list[MetricView]:
    """The metrics of a run, on the scale that its manifest gives them where that is at hand."""
    evaluators = {one.name: one for one in run.manifest.evaluators} if run.manifest is not None else {}
    return [metric_view(summary, evaluators.get(summary.evaluator)) for summary in run.summaries]


def trouble_of(run: Run) -> tuple[int, int]:
    """Evaluations that went wrong, and that were skipped."""
    by_evaluator = {summary.evaluator: summary for summary in run.summaries}.values()
    return sum(one.errors for one in by_evaluator), sum(one.skipped for one in by_evaluator)


def _summary(run: Run, metric: str) -> MetricSummary | None:
    return next((summary for summary in run.summaries if summary.metric == metric), None)


def _nothing(run: Run) -> str:
    if not run.records:
        return "The run holds no record, so there is nothing to say about the target."
    errors, skipped = trouble_of(run)
    parts = [f"{count(n)} {word}" for n, word in ((errors, "went wrong"), (skipped, "were skipped")) if n]
    because = f": {', '.join(parts)}" if parts else ""
    return f"No evaluator gave a score for any of {plural(run.records, 'record')}{because}."
