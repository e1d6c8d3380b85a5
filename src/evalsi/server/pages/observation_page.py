"""One record of a run: the conversation, what each evaluator said beside it, and the way to its neighbours.

Its own module because it shows what was said rather than what was measured. It is laid out as the report lays out a case.
"""

from dataclasses import dataclass

import msgspec

from evalsi.engine.columns import Note
from evalsi.report.case_view import case_view
from evalsi.report.figures import money, seconds
from evalsi.report.metric_view import directions_of
from evalsi.report.worst_cases import Case, Verdict
from evalsi.results.fence_words import fence_words
from evalsi.results.stored_rows import encode_records
from evalsi.schema import (
    EvaluationResult,
    GetRecordEvidenceRequest,
    GetRecordEvidenceResponse,
    GetRunRequest,
    GetRunResponse,
    ListRunResultsRequest,
    ListRunResultsResponse,
    Outcome,
    Record,
    Run,
    Usage,
)
from evalsi.server.pages.record_filter import records_request, without_records
from evalsi.server.pages.run_verdict import run_metrics
from evalsi.server.pages.visit import Page, Visit


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Queries of the observations before and after this one in the table it was opened from; "" where there is none."""

    before: str = ""
    after: str = ""


async def observation_page(visit: Visit, run_id: str) -> Page:
    query = visit.query
    trial = query.whole("of_trial")
    wanted = GetRecordEvidenceRequest(run_id=run_id, record_id=query.get("id"), trial=trial)
    run = (await visit.call("RunService.GetRun", GetRunRequest(id=run_id), GetRunResponse)).run or Run()
    answer = await visit.call("RunService.GetRecordEvidence", wanted, GetRecordEvidenceResponse)
    record = (answer.evidence.record if answer.evidence is not None else None) or Record(id=wanted.record_id)
    evaluators = [one.name for one in run.manifest.evaluators] if run.manifest is not None else []
    request = without_records(records_request(run_id, query, evaluators))
    return Page(
        template="observation.html.jinja",
        values={
            "run": run,
            "record": record,
            "trial": trial,
            "trials": run.manifest.trials if run.manifest is not None else 0,
            "case": case_view(
                _case(record, answer.results),
                directions_of(run_metrics(run)),
                metric=query.get("evaluator"),
                anchor="observation",
            ),
            "results": answer.results,
            "neighbours": await _neighbours(visit, request, (wanted.record_id, trial)),
            "back": query.but(id=None, of_trial=None),
            "usage": _usage(record.usage),
            "judging": [(one.evaluator, _usage(one.usage)) for one in answer.results if one.usage is not None],
            "provenance": _provenance(record, run, answer.results),
        },
    )


async def _neighbours(visit: Visit, request: ListRunResultsRequest, here: tuple[str, int]) -> Neighbours:
    """Within the page of the table, and the first of the next page after its last row."""
    found = await visit.call("RunService.ListRunResults", request, ListRunResultsResponse)
    shown = list(dict.fromkeys((one.record_id, one.trial) for one in found.results))
    if here not in shown:
        return Neighbours()
    place = shown.index(here)

    def query_of(entry: tuple[str, int], token: str) -> str:
        return visit.query.but(id=entry[0], of_trial=entry[1] or None, page_token=token)

    before = query_of(shown[place - 1], request.page_token) if place else ""
    if place + 1 < len(shown):
        return Neighbours(before=before, after=query_of(shown[place + 1], request.page_token))
    if not found.next_page_token:
        return Neighbours(before=before)
    further = msgspec.structs.replace(request, page_token=found.next_page_token)
    ahead = await visit.call("RunService.ListRunResults", further, ListRunResultsResponse)
    if not ahead.results:
        return Neighbours(before=before)
    first = ahead.results[0]
    return Neighbours(before=before, after=query_of((first.record_id, first.trial), found.next_page_token))


def _case(record: Record, results: list[EvaluationResult]) -> Case:
    verdicts = [
        Verdict(
            evaluator=one.evaluator,
            primary=one.scores[0].name if one.scores else "",
            outcome=str(one.outcome),
            scores=one.scores,
            note=None
            if one.outcome is Outcome.SCORED
            else Note(
                reason=one.reason, error_kind=one.error_kind, fault=one.fault, detail=one.detail or one.raw_reply
            ),
        )
        for one in results
    ]
    return Case(row=0, line=encode_records([record]), verdicts=verdicts)


def _usage(usage: Usage | None) -> list[tuple[str, str]]:
    """What it took, in pairs for people; empty where nobody measured."""
    if usage is None:
        return []
    found: list[tuple[str, str]] = []
    if usage.latency is not None:
        found.append(("latency", seconds(usage.latency)))
    if usage.time_to_first_token is not None:
        found.append(("first token", seconds(usage.time_to_first_token)))
    if usage.cost_usd is not None:
        found.append(("cost", money(usage.cost_usd)))
    counts = (
        ("tokens in", usage.input_tokens),
        ("tokens out", usage.output_tokens),
        ("reasoning", usage.reasoning_tokens),
        ("from cache", usage.cached_input_tokens),
        ("requests", usage.requests),
    )
    return found + [(name, f"{amount:,}") for name, amount in counts if amount is not None]


def _provenance(record: Record, run: Run, results: list[EvaluationResult]) -> list[tuple[str, str]]:
    """Where the answer came from, and what fenced in the programs that graded it."""
    found: list[tuple[str, str]] = []
    origin = record.provenance
    if origin is not None and origin.run is not None:
        found.append(("from run", origin.run.run_id))
    if origin is not None and origin.trace is not None:
        found.append(("trace", origin.trace.trace_id))
    if origin is not None and origin.isolation is not None:
        found.append(("isolation", fence_words(origin.isolation)))
    found += [(f"programs of {one.evaluator}", fence_words(one.isolation)) for one in results if one.isolation]
    target = run.spec.target if run.spec is not None else None
    if target is not None and (target.name or target.model or target.connector):
        found.append(("target", target.name or target.model or target.connector))
    if record.trajectory is not None and record.trajectory.trace_id:
        found.append(("trace", record.trajectory.trace_id))
    if run.dataset_sha256:
        found.append(("dataset", run.dataset_sha256[:16]))
    return found
