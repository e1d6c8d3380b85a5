"""Two runs side by side: paired differences against a zero line, and the records whose verdict changed, both answers.

Its own module because flips are read from both runs: the candidate's page of results names them, the baseline is asked
for each.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from evalsi.compare.comparison import Flip
from evalsi.core.content import text_of
from evalsi.core.errors import EvalsiError, NotFoundError
from evalsi.core.outward_words import outward_words
from evalsi.report import plot
from evalsi.report.case_view import FlipView, flip_view
from evalsi.report.figures import plural, signed
from evalsi.report.metric_view import MetricView, headline_metrics
from evalsi.report.page_environment import mean_plot
from evalsi.schema import (
    CompareRunsRequest,
    CompareRunsResponse,
    EvaluationResult,
    GetRecordEvidenceRequest,
    GetRecordEvidenceResponse,
    ListRunResultsRequest,
    ListRunResultsResponse,
    ListRunsRequest,
    ListRunsResponse,
    MetricComparison,
    Outcome,
    Run,
    RunRecordEvidence,
)
from evalsi.server.pages.finding_run import find_run
from evalsi.server.pages.run_verdict import run_metrics, run_verdict
from evalsi.server.pages.visit import Moved, Page, Visit

FLIPS = 10
"""Flips on a page: each is looked up in the baseline."""
CHOICES = 100
_WORST_FIRST = ("regressed", "inconclusive", "improved", "unchanged")


@dataclass(frozen=True, kw_only=True)
class ComparisonLine:
    """One metric in both runs. `plot` is against zero, `counts` the shares that got better, stayed, got worse."""

    metric: MetricComparison
    word: str
    plot: Markup
    counts: Markup
    baseline_plot: Markup
    candidate_plot: Markup


@dataclass(frozen=True, kw_only=True)
class FlipEntry:
    """A flip, and the query of the record's observation in either run."""

    view: FlipView
    better: bool | None
    """None where nobody said which way is better."""
    link: str


@dataclass(frozen=True, kw_only=True)
class ComparisonVerdict:
    """The comparison in a word. `metric` is text of others."""

    word: str
    metric: str
    sentence: str


async def compare_page(visit: Visit) -> Page | Moved:
    chosen = visit.query.all("run")
    candidate_name = visit.query.get("candidate") or (chosen[0] if chosen else "")
    baseline_name = visit.query.get("baseline") or (chosen[1] if len(chosen) > 1 else "")
    choices = (await visit.call("RunService.ListRuns", ListRunsRequest(page_size=CHOICES), ListRunsResponse)).runs
    values = {
        "choices": [one for one in choices if one.finished_at is not None or one.summaries],
        "baseline_id": baseline_name,
        "candidate_id": candidate_name,
        "cluster_by": visit.query.get("cluster_by"),
        "problem": "",
        "chosen": False,
    }
    if not (baseline_name and candidate_name):
        return Page(template="compare.html.jinja", values=values)
    try:
        baseline, candidate = [await find_run(visit, name) for name in (baseline_name, candidate_name)]
        if (baseline.id, candidate.id) != (baseline_name, candidate_name):
            # The address holds the runs themselves, so that it shows the same when `latest` has become another.
            named = visit.query.but(run=None, page_token=None, candidate=candidate.id, baseline=baseline.id)
            return Moved(to=f"/ui/compare?{named}")
        request = CompareRunsRequest(
            baseline_run_id=baseline.id, candidate_run_id=candidate.id, cluster_by=visit.query.get("cluster_by")
        )
        found = await visit.call("RunService.CompareRuns", request, CompareRunsResponse)
    except EvalsiError as error:
        return Page(
            template="compare.html.jinja", values={**values, "problem": outward_words(error)}, status=error.http_status
        )
    evaluators = list(dict.fromkeys(summary.evaluator for summary in candidate.summaries))
    evaluator = visit.query.get("evaluator")
    views = run_metrics(candidate)
    if not evaluator:
        headline = headline_metrics([view for view in views if view.name in evaluators], 1)
        evaluator = headline[0].name if headline else ""
    directions = {view.name: view.higher_is_better for view in views}
    flips, next_token = await _flips(visit, request, evaluator, directions)
    return Page(
        template="compare.html.jinja",
        values={
            **values,
            "chosen": True,
            "cli": [f"evalsi compare {baseline.id} {candidate.id}"],
            "baseline": baseline,
            "candidate": candidate,
            "runs": [("baseline", baseline, run_verdict(baseline)), ("candidate", candidate, run_verdict(candidate))],
            "verdict": comparison_verdict(found.comparisons),
            "lines": comparison_lines(found.comparisons, baseline, candidate),
            "found": found,
            "usage": _usage(baseline, candidate),
            "flips": flips,
            "next_token": next_token,
            "evaluators": evaluators,
            "evaluator": evaluator,
        },
    )


def comparison_verdict(comparisons: list[MetricComparison]) -> ComparisonVerdict:
    """The worst that happened to any metric, and the metric it happened to."""
    for word in _WORST_FIRST:
        deciding = [one for one in comparisons if one.verdict == word and one.paired_n]
        if deciding:
            one = max(deciding, key=lambda each: (each.diff_ci is not None, abs(each.diff or 0.0)))
            ends = f" [{signed(one.diff_ci.low)}, {signed(one.diff_ci.high)}]" if one.diff_ci is not None else ""
            sentence = f"{signed(one.diff)}{ends} over {plural(one.paired_n, 'shared record')}."
            return ComparisonVerdict(word=word.upper(), metric=one.metric, sentence=sentence)
    return ComparisonVerdict(word="NO DATA", metric="", sentence="No metric has a value for a record of both runs.")


def comparison_lines(comparisons: list[MetricComparison], baseline: Run, candidate: Run) -> list[ComparisonLine]:
    """What the table of metrics shows, a line each."""
    before = {view.name: view for view in run_metrics(baseline)}
    after = {view.name: view for view in run_metrics(candidate)}
    on_unit = {name for name, view in after.items() if view.on_unit_axis}
    lines: list[ComparisonLine] = []
    for one in comparisons:
        # All metrics on the unit axis share one scale, so that their differences can be compared.
        group = [other for other in comparisons if other.metric in on_unit] if one.metric in on_unit else [one]
        sizes = [abs(other.diff or 0.0) for other in group]
        sizes += [abs(end) for other in group if other.diff_ci for end in (other.diff_ci.low, other.diff_ci.high)]
        ends = (one.diff_ci.low, one.diff_ci.high) if one.diff_ci is not None else None
        pairs = one.paired_n or 1
        better, worse = ("better", "worse") if one.higher_is_better is not None else ("scored", "skipped")
        shares = [(worse, one.losses / pairs), ("same", one.ties / pairs), (better, one.wins / pairs)]
        lines.append(
            ComparisonLine(
                metric=one,
                word=one.verdict.upper() if one.paired_n else "NO DATA",
                plot=plot.difference_plot(one.diff, ends, max(sizes) or 1.0),
                counts=plot.share_bar([(name, share) for name, share in shares if share]),
                baseline_plot=_mean(before.get(one.metric), one.baseline_mean, one.paired_n),
                candidate_plot=_mean(after.get(one.metric), one.candidate_mean, one.paired_n),
            )
        )
    return lines


def _mean(view: MetricView | None, mean: float | None, pairs: int) -> Markup:
    """The mean over what both runs scored, as the table says it; the run's own interval only where that is all of the run."""
    if view is None:
        return Markup("")
    ci = view.summary.ci if pairs == view.summary.n else None
    return mean_plot(replace(view, summary=msgspec.structs.replace(view.summary, mean=mean, ci=ci)))


def _usage(baseline: Run, candidate: Run) -> list[tuple[str, float | None, float | None, str]]:
    """What the runs used: what of, before, now, unit."""
    lines: list[tuple[str, float | None, float | None, str]] = []
    for title, before, after in (
        ("answers", baseline.target_usage, candidate.target_usage),
        ("judging", baseline.judge_usage, candidate.judge_usage),
    ):
        for name, unit in (("cost_usd", "usd"), ("latency", "s"), ("input_tokens", ""), ("output_tokens", "")):
            pair = tuple(getattr(usage, name, None) for usage in (before, after))
            if any(value is not None for value in pair):
                word = {
                    "cost_usd": "cost",
                    "latency": "time",
                    "input_tokens": "tokens in",
                    "output_tokens": "tokens out",
                }
                lines.append((f"{title}: {word[name]}", pair[0], pair[1], unit))
    return lines


async def _flips(
    visit: Visit, runs: CompareRunsRequest, evaluator: str, directions: Mapping[str, bool | None]
) -> tuple[list[FlipEntry], str]:
    """The flips of the page, and the token of the next page.

    Args:
        directions: By metric, whether higher values are better; None where nobody said.
    """
    request = ListRunResultsRequest(
        run_id=runs.candidate_run_id,
        flipped_against=runs.baseline_run_id,
        evaluator=evaluator,
        page_size=FLIPS,
        page_token=visit.query.get("page_token"),
    )
    found = await visit.call("RunService.ListRunResults", request, ListRunResultsResponse)
    befores = await asyncio.gather(*(_before(visit, runs.baseline_run_id, one) for one in found.records_by_trial))
    flips: list[FlipEntry] = []
    for evidence, before in zip(found.records_by_trial, befores, strict=True):
        if before is None or before.evidence is None:
            continue
        said = [one for one in found.results if (one.record_id, one.trial) == (evidence.record_id, evidence.trial)]
        flip = _flip(evidence, said, before)
        if flip is not None:
            link = urlencode({"id": evidence.record_id, **({"of_trial": evidence.trial} if evidence.trial else {})})
            direction = directions.get(flip.metric)
            better = None if direction is None else (flip.change > 0) == direction
            flips.append(FlipEntry(view=flip_view(flip), better=better, link=link))
    return flips, found.next_page_token


async def _before(visit: Visit, run_id: str, evidence: RunRecordEvidence) -> GetRecordEvidenceResponse | None:
    request = GetRecordEvidenceRequest(run_id=run_id, record_id=evidence.record_id, trial=evidence.trial)
    try:
        return await visit.call("RunService.GetRecordEvidence", request, GetRecordEvidenceResponse)
    except NotFoundError:
        return None


def _flip(evidence: RunRecordEvidence, said: list[EvaluationResult], before: GetRecordEvidenceResponse) -> Flip | None:
    """The change that is largest, by the evaluator that saw it."""
    earlier = {one.evaluator: one for one in before.results}
    changes: list[tuple[float, Flip]] = []
    assert evidence.record is not None
    assert before.evidence is not None
    record, old = evidence.record, before.evidence.record
    for one in said:
        then, now = _value(earlier.get(one.evaluator)), _value(one)
        if then is None or now is None or then == now:
            continue
        change = Flip(
            record_id=record.id,
            metric=one.evaluator,
            before=then,
            after=now,
            input=text_of(record.input),
            reference=text_of(record.reference),
            baseline_output=text_of(old.output) if old is not None else "",
            candidate_output=text_of(record.output),
            explanation=one.scores[0].explanation,
        )
        changes.append((abs(now - then), change))
    return max(changes, key=lambda each: each[0])[1] if changes else None


def _value(one: EvaluationResult | None) -> float | None:
    if one is None or one.outcome is not Outcome.SCORED or not one.scores:
        return None
    score = one.scores[0]
    return score.number if score.passed is None else float(score.passed)
