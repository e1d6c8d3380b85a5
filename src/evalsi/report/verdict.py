"""The first line of a report: what can be said, in a word and a sentence, and what a reader must know beside it.

Its own module because the page and the comment must open with the same words. What always holds: where nothing was
scored no other word than NOTHING SCORED, STOPPED or NO DATA is printed, a gate without data is never a pass, and neither
is a run that stopped early.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evalsi.report.comparison import Comparison
from evalsi.report.figures import bounds, count, number, percent, plural, signed
from evalsi.report.findings import Findings
from evalsi.report.gate_line import GateLine, GateWord, gate_line
from evalsi.report.metric_view import MetricView
from evalsi.schema import MetricSummary, OnInconclusive, RunManifest, RunStatus

Word = Literal[
    "PASS",
    "FAIL",
    "NO DATA",
    "NOTHING SCORED",
    "STOPPED",
    "SCORED",
    "IMPROVED",
    "REGRESSED",
    "UNCHANGED",
    "INCONCLUSIVE",
    "NO DIRECTION",
]
_COMPARED: dict[str, Word] = {
    "IMPROVED": "IMPROVED",
    "REGRESSED": "REGRESSED",
    "UNCHANGED": "UNCHANGED",
    "INCONCLUSIVE": "INCONCLUSIVE",
    "NO DIRECTION": "NO DIRECTION",
}
_WORST_FIRST: tuple[GateWord, ...] = ("FAIL", "NO DATA", "INCONCLUSIVE", "PASS")
SMALL_N = 30


@dataclass(frozen=True, kw_only=True)
class Remark:
    """What a reader must know. `sentence` goes on about `metric`, unless that is "", and is ours or the manifest's."""

    sentence: str
    metric: str = ""
    ours: bool = True


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The verdict. `metric` is the metric that `sentence` goes on about, "" for none: its name is text of others."""

    word: Word
    metric: str
    sentence: str
    gates: list[GateLine] = field(default_factory=list[GateLine])
    warnings: list[Remark] = field(default_factory=list[Remark])


def opening(findings: Findings) -> Opening:
    gates = [gate_line(result) for result in findings.run.gates]
    warnings = _warnings(findings)
    stopped = stopped_early(findings.run.manifest)
    if stopped:
        return Opening(word="STOPPED", metric="", sentence=stopped, gates=gates, warnings=warnings)
    if findings.scored == 0:
        return Opening(word="NOTHING SCORED", metric="", sentence=_nothing(findings), gates=gates, warnings=warnings)
    if gates:
        spec = findings.run.manifest.spec
        word = verdict_of(gates, spec.on_inconclusive if spec is not None else OnInconclusive.UNSPECIFIED)
        deciding = deciding_gate(gates)
        figure = decided(deciding, findings.run.summary(deciding.metric))
        sentence = f"{figure} {count_of_met(gates, word)}"
        return Opening(word=word, metric=deciding.metric, sentence=sentence, gates=gates, warnings=warnings)
    if findings.comparison is not None:
        return _compared(findings.comparison, gates, warnings)
    view = (findings.headline or [view for view in findings.metrics if view.summary.n])[0]
    return Opening(word="SCORED", metric=view.name, sentence=measured(view), gates=gates, warnings=warnings)


def stopped_early(manifest: RunManifest) -> str:
    """In a sentence, why a run has no verdict: it ended before everything was asked and graded. "" for one that did not."""
    if manifest.status is not RunStatus.CANCELLED and not manifest.stopped_early:
        return ""
    undecided = " No gate was decided." if manifest.spec is not None and manifest.spec.gates else ""
    why = manifest.stopped_early or "it was stopped"
    return f"The run did not finish: {why}.{undecided}"


def verdict_of(gates: Sequence[GateLine], on_inconclusive: OnInconclusive) -> GateWord:
    """The gates as one word, as the exit status of the command has it: the worst of those that are not met, PASS where
    every one is. An undecided one that is not met fails the run, unless the spec has a status of its own for that.
    There is at least one gate.
    """
    if all(gate.met for gate in gates):
        return "PASS"
    word = deciding_gate(gates).word
    return "FAIL" if word == "INCONCLUSIVE" and on_inconclusive is not OnInconclusive.EXIT4 else word


def deciding_gate(gates: Sequence[GateLine]) -> GateLine:
    """The first of the worst that are not met; the first gate where every one is."""
    unmet = [gate for gate in gates if not gate.met]
    return min(unmet, key=lambda gate: _WORST_FIRST.index(gate.word), default=gates[0])


def count_of_met(gates: Sequence[GateLine], word: GateWord) -> str:
    """How many are met, and why the run fails where that is no figure beyond its limit."""
    met = f"{sum(gate.met for gate in gates)} of {plural(len(gates), 'gate')} met."
    undecided = word == "FAIL" and deciding_gate(gates).word == "INCONCLUSIVE"
    return f"{met} The data cannot decide it, which counts as not met." if undecided else met


def _compared(comparison: Comparison, gates: list[GateLine], warnings: list[Remark]) -> Opening:
    """The metric that decided, with its difference and interval."""
    word = _COMPARED.get(comparison.verdict, "NO DATA")
    deciding = [metric for metric in comparison.metrics if metric.verdict == comparison.verdict] or comparison.metrics
    if not deciding:
        return Opening(word=word, metric="", sentence="No metric is in both runs.", gates=gates, warnings=warnings)
    one = max(deciding, key=lambda metric: (metric.interval is not None, abs(metric.difference or 0.0)))
    ends = f" [{signed(one.interval.low)}, {signed(one.interval.high)}]" if one.interval is not None else ""
    sentence = f"{signed(one.difference)}{ends} over {plural(one.pairs, 'shared record')}."
    if word == "INCONCLUSIVE" and one.detectable is not None:
        sentence += f" This many records would find a difference of {number(one.detectable)}."
    if word == "NO DIRECTION":
        sentence += " Whether more of it is better is not declared."
    return Opening(word=word, metric=one.metric, sentence=sentence, gates=gates, warnings=warnings)


def decided(gate: GateLine, summary: MetricSummary | None) -> str:
    """The number that decided, with its interval. `summary` is that of the gate's metric, None where it has none."""
    if gate.is_condition:
        return {"PASS": "is true.", "FAIL": "is false."}.get(gate.word, "has no answer.")
    asked = f"the gate asks for {gate.asks}" if gate.limits else "the gate sets no limit"
    if gate.word == "NO DATA":
        return f"has no {gate.stat}; {asked}."
    interval = gate.ci or (summary.ci if summary is not None and gate.stat == "mean" else None)
    ends = gate.bounds or (bounds(interval) if interval is not None else "")
    figure = f"{gate.measured} {gate.value}{f' {ends}' if ends else ''}"
    before = f", before {gate.baseline}" if gate.baseline else ""
    return f"{figure}{before}; {asked}."


def measured(view: MetricView) -> str:
    """The metric's mean, its interval and what it rests on, as a sentence that goes on about the metric."""
    summary = view.summary
    if not view.is_numeric:
        most = max(summary.labels.items(), key=lambda item: item[1], default=("", 0))
        return f"gave labels to {plural(summary.n, 'record')}; the commonest is on {count(most[1])} of them."
    interval = f"{summary.ci.level:.0%} interval {bounds(summary.ci)}" if summary.ci else "no interval"
    whole = summary.total in (0, summary.n)
    scored = plural(summary.n, "record") if whole else f"{count(summary.n)} of {plural(summary.total, 'record')}"
    return f"{number(summary.mean)}, {interval}, over {scored}."


def _nothing(findings: Findings) -> str:
    if not findings.records:
        return "The run holds no record, so there is nothing to say about the target."
    summaries = {view.summary.evaluator: view.summary for view in findings.metrics}.values()
    parts = [
        plural(total, noun)
        for noun, total in (
            ("error", sum(summary.errors for summary in summaries)),
            ("skip", sum(summary.skipped for summary in summaries)),
            ("cancelled evaluation", sum(summary.cancelled for summary in summaries)),
        )
        if total
    ]
    because = f": {', '.join(parts)}" if parts else ""
    return f"No evaluator gave a score for any of {plural(findings.records, 'record')}{because}."


def _warnings(findings: Findings) -> list[Remark]:
    manifest = findings.run.manifest
    found: list[Remark] = []
    if manifest.status is RunStatus.CANCELLED:
        expected = manifest.dataset.records if manifest.dataset else 0
        of = f" of {count(expected)}" if expected > findings.records else ""
        found.append(
            Remark(sentence=f"The run was stopped before its end: {plural(findings.records, 'record')}{of} graded.")
        )
    elif not manifest.stopped_early and manifest.status in (RunStatus.ERROR, RunStatus.RUNNING):
        found.append(Remark(sentence="The run has not finished; these figures are of its graded part."))
    # What could not be measured comes before what does not apply: a metric may skip by design.
    partial = [view for view in findings.metrics if view.summary.total and view.summary.n < view.summary.total]
    partial.sort(key=lambda view: (view.summary.errors == 0, view.summary.n / view.summary.total))
    found += [Remark(metric=view.name, sentence=_coverage_sentence(view)) for view in partial[:4]]
    if len(partial) > 4:
        found.append(Remark(sentence=f"{plural(len(partial) - 4, 'more metric')} did not score every record."))
    if 0 < findings.records < SMALL_N:
        only = plural(findings.records, "record")
        found.append(Remark(sentence=f"Only {only}: the intervals are wide, and small differences mean nothing."))
    is_told = any("left out" in warning for warning in manifest.warnings)
    if manifest.dataset is not None and manifest.dataset.rejected and not is_told:
        lines = plural(manifest.dataset.rejected, "line")
        found.append(Remark(sentence=f"{lines} of the dataset could not be read and were left out."))
    compared = findings.comparison.warnings if findings.comparison is not None else ()
    return found + [Remark(sentence=warning, ours=False) for warning in (*manifest.warnings, *compared)]


def _coverage_sentence(view: MetricView) -> str:
    summary = view.summary
    amounts = (("error", summary.errors), ("skip", summary.skipped))
    why = [plural(amount, noun) for noun, amount in amounts if amount]
    why += [f"{count(summary.cancelled)} cancelled"] if summary.cancelled else []
    reasons = f": {', '.join(why)}" if why else ""
    share = percent(summary.n, summary.total)
    return f"scored {count(summary.n)} of {count(summary.total)} ({share}){reasons}; its figures are of those."
