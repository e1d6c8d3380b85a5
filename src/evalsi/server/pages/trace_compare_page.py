"""Two traces side by side: what was asked and answered, what each did, and what it took.

Its own module because it pairs steps: the tools of one are laid beside those of the other, in their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher

from evalsi.core.content import text_of
from evalsi.core.errors import UsageError
from evalsi.report.case_view import Directions, Passage, ScoreLine
from evalsi.report.figures import NONE, money, seconds
from evalsi.report.first_difference import compare_texts
from evalsi.schema import GetTraceRequest, GetTraceResponse, Record, TraceSummary, Trajectory
from evalsi.server.pages.score_reading import VERDICTS_S, declared_outputs, directions_of_results, score_cell
from evalsi.server.pages.trace_conversation import Line, conversation_of_steps
from evalsi.server.pages.trace_filter import within
from evalsi.server.pages.trace_page import passage, policy_lines
from evalsi.server.pages.visit import Page, Visit

MOST_STEPS = 300
"""Calls of each trace that are paired."""


@dataclass(frozen=True, kw_only=True)
class TraceSide:
    """One of the two."""

    trace: TraceSummary
    address: str
    asked: Passage
    answered: Passage
    scores: Sequence[ScoreLine]


@dataclass(frozen=True, kw_only=True)
class CallPair:
    """Calls that stand beside each other; None where one side has no such call."""

    before: Line | None
    after: Line | None

    @property
    def differs(self) -> bool:
        one, other = self.before, self.after
        return one is None or other is None or (one.text, bool(one.error)) != (other.text, bool(other.error))


async def trace_compare_page(visit: Visit) -> Page:
    """Compares the two that are chosen. Raises: UsageError: it is not two."""
    chosen = visit.query.all("trace")
    if len(chosen) != 2:
        raise UsageError(f"two traces are compared, and {len(chosen)} are chosen", hint="choose two in the list")
    # The list has the newest first: of two that began at one moment, the second is taken for the older.
    both = [await _found(visit, trace_id) for trace_id in reversed(chosen)]
    before, after = sorted(both, key=_begun)
    records = [one.record or Record() for one in (before, after)]
    differs = compare_texts(text_of(records[1].output), text_of(records[0].output))
    policies = [*before.policies, *after.policies]
    directions = await directions_of_results(visit, policies, visit.query.get("of"))
    summaries = (before.summary or TraceSummary(), after.summary or TraceSummary())
    names = list(dict.fromkeys([*summaries[0].scores, *summaries[1].scores]))
    specs = await declared_outputs(visit, names, visit.query.get("of"), limit_s=VERDICTS_S)
    return Page(
        template="trace_compare.html.jinja",
        values={
            "sides": [_side(before, directions), _side(after, directions)],
            "difference": differs.says if differs is not None else "",
            "pairs": _paired(*(_calls(record) for record in records)),
            "figures": _figures(*summaries),
            "scores": [tuple(score_cell(name, one.scores.get(name), specs) for one in summaries) for name in names],
            "specs": specs,
        },
    )


def _begun(found: GetTraceResponse) -> datetime:
    start = found.summary.start_time if found.summary is not None else None
    return start or datetime.min.replace(tzinfo=UTC)


async def _found(visit: Visit, trace_id: str) -> GetTraceResponse:
    request = GetTraceRequest(trace_id=trace_id, project=visit.query.get("of"))
    return await visit.call("TraceService.GetTrace", request, GetTraceResponse)


def _side(found: GetTraceResponse, directions: Directions) -> TraceSide:
    trace, record = found.summary or TraceSummary(), found.record or Record()
    return TraceSide(
        trace=trace,
        address=f"/ui/traces/{trace.trace_id}{within(trace.project)}",
        asked=passage("asked", text_of(record.input)),
        answered=passage("answered", text_of(record.output)),
        scores=[line for policy in found.policies for line in policy_lines(policy, directions)],
    )


def _calls(record: Record) -> list[Line]:
    lines = conversation_of_steps(record.trajectory or Trajectory())
    return [line for line in lines if line.kind in ("call", "search", "agent")][:MOST_STEPS]


def _paired(before: Sequence[Line], after: Sequence[Line]) -> list[CallPair]:
    """Calls of the same name beside each other, as few apart as can be."""
    matcher = SequenceMatcher(None, [line.speaker for line in before], [line.speaker for line in after], autojunk=False)
    pairs: list[CallPair] = []
    for kind, b_from, b_to, a_from, a_to in matcher.get_opcodes():
        if kind == "equal":
            both = zip(before[b_from:b_to], after[a_from:a_to], strict=True)
            pairs += [CallPair(before=one, after=other) for one, other in both]
            continue
        pairs += [CallPair(before=line, after=None) for line in before[b_from:b_to]]
        pairs += [CallPair(before=None, after=line) for line in after[a_from:a_to]]
    return pairs


def _figures(before: TraceSummary, after: TraceSummary) -> list[tuple[str, str, str]]:
    def tokens(trace: TraceSummary) -> str:
        known = [count for count in (trace.input_tokens, trace.output_tokens) if count is not None]
        return f"{sum(known):,}" if known else NONE

    return [
        ("took", seconds(before.duration), seconds(after.duration)),
        ("cost", money(before.cost_usd), money(after.cost_usd)),
        ("tokens", tokens(before), tokens(after)),
        ("steps", f"{before.steps:,}", f"{after.steps:,}"),
        ("failed spans", f"{before.failed_spans:,}", f"{after.failed_spans:,}"),
        ("model", before.model, after.model),
        ("version", before.version, after.version),
    ]
