"""A session: its traces in the order they came, each with its question, its answer and what was found in it.

Its own module because several traces read as one conversation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsi.report.case_view import Directions, Passage, ScoreLine
from evalsi.schema import (
    EvaluationResult,
    GetSessionRequest,
    GetSessionResponse,
    ListFeedbackRequest,
    PolicyResults,
    TraceScores,
    TraceSummary,
)
from evalsi.server.pages.score_reading import directions_of_results
from evalsi.server.pages.trace_filter import own_project, within
from evalsi.server.pages.trace_page import passage, policy_lines, result_lines, said_part
from evalsi.server.pages.visit import Page, Visit

TRACES = 100
"""Traces of a session on one page."""


@dataclass(frozen=True, kw_only=True)
class SessionTurn:
    """A trace within the session."""

    trace: TraceSummary
    address: str
    asked: Passage
    answered: Passage
    scores: Sequence[ScoreLine]


async def session_page(visit: Visit, session_id: str) -> Page:
    request = GetSessionRequest(
        session_id=session_id,
        project=visit.query.get("of"),
        page_size=TRACES,
        page_token=visit.query.get("page_token"),
    )
    found = await visit.call("TraceService.GetSession", request, GetSessionResponse)
    policies = [*found.policies, *(policy for one in found.traces for policy in one.policies)]
    directions = await directions_of_results(visit, policies, request.project)
    of_traces = _results_of_traces(found.policies)
    turns = [_turn(one, of_traces, directions) for one in found.traces]
    traces = [turn.trace for turn in turns]
    costs = [trace.cost_usd for trace in traces if trace.cost_usd is not None]
    return Page(
        template="session.html.jinja",
        values={
            "session_id": session_id,
            "turns": turns,
            "findings": [(one.policy, one.time, _lines_of_session(one, directions)) for one in found.policies],
            "said": await said_part(visit, ListFeedbackRequest(session_id=session_id, project=request.project), found),
            "failed": sum(trace.error for trace in traces),
            "cost_usd": sum(costs) if costs else None,
            "users": sorted({trace.user_id for trace in traces if trace.user_id}),
            "next_token": found.next_page_token,
            "of": own_project(visit.query.get("of")),
            "within": within,
        },
    )


def _is_of_session(result: EvaluationResult) -> bool:
    """Whether it is about the session as a whole; else it is about one of its traces, which is its record."""
    return bool(result.session_id) or not result.record_id


def _lines_of_session(policy: PolicyResults, directions: Directions) -> list[ScoreLine]:
    return result_lines([one for one in policy.results if _is_of_session(one)], directions)


def _results_of_traces(policies: Sequence[PolicyResults]) -> dict[str, list[EvaluationResult]]:
    """What policies of sessions found in single traces, by their ids."""
    found: dict[str, list[EvaluationResult]] = {}
    for policy in policies:
        for one in policy.results:
            if not _is_of_session(one):
                found.setdefault(one.record_id, []).append(one)
    return found


def _turn(one: TraceScores, of_traces: Mapping[str, Sequence[EvaluationResult]], directions: Directions) -> SessionTurn:
    trace = one.trace or TraceSummary()
    lines = [line for policy in one.policies for line in policy_lines(policy, directions)]
    lines += result_lines(of_traces.get(trace.trace_id, ()), directions)
    return SessionTurn(
        trace=trace,
        address=f"/ui/traces/{trace.trace_id}{within(trace.project)}",
        asked=passage("asked", trace.input),
        answered=passage("answered", trace.output),
        scores=list(dict.fromkeys(lines)),  # two policies may have found the same
    )
