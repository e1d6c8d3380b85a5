"""One trace: as a conversation, as a tree with a timeline, and as it was sent; with what was found beside the step it judges.

Its own module because it is where a person spends their time. What always holds: a page shows a part of a long trace, says
how much there is besides, and the same address shows the same part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from evalsi.core.content import text_of
from evalsi.engine.columns import Note
from evalsi.report.case_view import Directions, Passage, ScoreLine, score_lines
from evalsi.report.figures import money, number, seconds
from evalsi.report.visible_text import shortened
from evalsi.report.worst_cases import Verdict
from evalsi.schema import (
    CaptureFailureRequest,
    CaptureFailureResponse,
    Content,
    EvaluationResult,
    Feedback,
    GetSessionResponse,
    GetTraceRequest,
    GetTraceResponse,
    ListFeedbackRequest,
    ListFeedbackResponse,
    ListTracesResponse,
    Outcome,
    PolicyResults,
    Record,
    Step,
    TraceSummary,
    Trajectory,
    json_codec,
)
from evalsi.server.pages.score_reading import directions_of_results
from evalsi.server.pages.trace_conversation import Line, conversation_of_steps, measured
from evalsi.server.pages.trace_filter import trace_address, traces_request, within
from evalsi.server.pages.trace_timeline import Timeline, timeline_of
from evalsi.server.pages.visit import Moved, Page, Query, Visit

VIEWS = ("conversation", "timeline", "raw")
LINES = 200
"""Lines of a conversation on one page."""
TIMELINE_ROWS = 400
LINE_CHARACTERS = 6_000
STEP_CHARACTERS = 40_000
"""Of each text of the step that is looked at."""
RAW_CHARACTERS = 200_000
SAID = "said"
"""The field of an address with the place in what was said."""
_SHOWN_ABOVE = ("labels", "service", "user_id")
"""Metadata of a trace that its heading shows."""
_PRETTY_CHARACTERS = 20_000
"""JSON up to this length is laid out in lines."""


@dataclass(frozen=True, kw_only=True)
class ShownLine:
    """A line of the conversation, short enough to be shown, with what evaluators said about its step."""

    line: Line
    text: Passage
    result: Passage | None
    remarks: Sequence[ScoreLine]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one policy found in the trace as a whole."""

    policy: str
    time: datetime | None
    revision: int
    lines: Sequence[ScoreLine]
    by: str
    """What exactly judged."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of something long: from which entry, how many there are, and the addresses of the parts beside it."""

    first: int
    last: int
    total: int
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class SaidPart:
    """A part of what was said, the newest first, each with its value in a word; and how much there is in all.

    `newest` and `older` are the queries of the parts beside it, None where there is none.
    """

    feedback: Sequence[tuple[Feedback, str]]
    total: int
    newest: str | None
    older: str | None


@dataclass(frozen=True, kw_only=True)
class StepView:
    """The step that is looked at."""

    step: Step
    facts: Sequence[tuple[str, str]]
    passages: Sequence[Passage]
    attributes: Sequence[tuple[str, str]]
    remarks: Sequence[ScoreLine]


async def trace_page(visit: Visit, trace_id: str) -> Page:
    query = visit.query
    wanted = GetTraceRequest(trace_id=trace_id, project=query.get("of"))
    found = await visit.call("TraceService.GetTrace", wanted, GetTraceResponse)
    record = found.record or Record(id=trace_id)
    summary = found.summary or TraceSummary(trace_id=trace_id)
    trajectory = record.trajectory or Trajectory(trace_id=trace_id)
    directions = await directions_of_results(visit, found.policies, summary.project)
    remarks = _remarks(found.policies, directions)
    subject = ListFeedbackRequest(trace_id=summary.trace_id, project=summary.project)
    view = query.get("view") if query.get("view") in VIEWS else VIEWS[0]
    values = {
        "record": record,
        "trace": summary,
        "view": view,
        "views": VIEWS,
        "findings": [_finding(policy, directions) for policy in found.policies],
        "said": await said_part(visit, subject, found),
        "facts": _facts(summary, record),
        "metadata": [(key, value) for key, value in record.metadata.items() if key not in _SHOWN_ABOVE][:60],
        "failing": _failing(trajectory, query),
        "neighbours": await _neighbours(visit, summary),
        "back": query.but(**{"view": None, "step": None, "first": None, "of": None, SAID: None}),
        "captures": visit.serves("FailureService"),
        "within": within,
        "cli": [f"evalsi traces show {summary.trace_id}"],
        "conversation": (),
        "part": None,
        "timeline": None,
        "ticks": (),
        "rows": (),
        "step": None,
        "raw": "",
        "raw_cut": 0,
    }
    match view:
        case "conversation":
            lines = conversation_of_steps(trajectory)
            part = _part(query, len(lines), LINES)
            shown = [shown_line(line, remarks) for line in lines[part.first : part.last]]
            values |= {"conversation": shown, "part": part}
        case "timeline":
            timeline = timeline_of(trajectory)
            part = _part(query, len(timeline.rows), TIMELINE_ROWS)
            step = _step(trajectory, query.get("step"), remarks)
            rows = [(row, remarks.get(row.step.span_id, ())) for row in timeline.rows[part.first : part.last]]
            values |= {"timeline": timeline, "rows": rows, "ticks": _ticks(timeline), "part": part, "step": step}
        case _:
            text = msgspec.json.format(json_codec.encode_file(record), indent=2).decode("utf-8", errors="replace")
            values["raw"], values["raw_cut"] = shortened(text, RAW_CHARACTERS)
    return Page(template="trace.html.jinja", values=values)


async def capture_trace(visit: Visit, trace_id: str) -> Moved:
    """Puts the trace into the inbox of failures, and goes there."""
    form = visit.form
    request = CaptureFailureRequest(
        project=form.get("of"), trace_id=trace_id, title=form.get("title"), reason=form.get("reason")
    )
    answer = await visit.call("FailureService.CaptureFailure", request, CaptureFailureResponse)
    assert answer.failure is not None
    return Moved(to=f"/ui/failures/{answer.failure.id}{within(answer.failure.project)}")


async def said_part(
    visit: Visit, subject: ListFeedbackRequest, found: GetTraceResponse | GetSessionResponse
) -> SaidPart:
    """The part of what was said about a trace or a session that an address asks for; the newest, where it does not."""
    token = visit.query.get(SAID)
    if token:
        request = msgspec.structs.replace(subject, page_token=token)
        page = await visit.call("TraceService.ListFeedback", request, ListFeedbackResponse)
    else:
        page = ListFeedbackResponse(
            feedback=found.feedback, next_page_token=found.feedback_page_token, total=found.feedback_total
        )
    return SaidPart(
        feedback=[(one, feedback_value(one)) for one in page.feedback],
        total=page.total,
        newest=visit.query.but(**{SAID: None}) if token else None,
        older=visit.query.but(**{SAID: page.next_page_token}) if page.next_page_token else None,
    )


def feedback_value(one: Feedback) -> str:
    """What was said, in a word."""
    if one.passed is not None:
        return "good" if one.passed else "bad"
    if one.number is not None:
        return number(one.number)
    return one.label or ""


def policy_lines(policy: PolicyResults, directions: Directions) -> list[ScoreLine]:
    """What a policy found in the whole of what it evaluated, a line per output."""
    return result_lines([one for one in policy.results if not one.span_id], directions)


def result_lines(results: Sequence[EvaluationResult], directions: Directions) -> list[ScoreLine]:
    """What was found, a line per output."""
    return [line for one in results for line in score_lines(_verdict(one), "", directions)]


def _verdict(one: EvaluationResult) -> Verdict:
    scored = one.outcome is Outcome.SCORED
    note = Note(reason=one.reason, error_kind=one.error_kind, fault=one.fault, detail=one.detail or one.raw_reply)
    return Verdict(
        evaluator=one.evaluator,
        primary=one.scores[0].name if one.scores else "",
        outcome=str(one.outcome),
        scores=one.scores,
        note=None if scored else note,
    )


def _finding(policy: PolicyResults, directions: Directions) -> Finding:
    whole = [one for one in policy.results if not one.span_id]
    return Finding(
        policy=policy.policy,
        time=policy.time,
        revision=policy.revision,
        lines=policy_lines(policy, directions),
        by=", ".join(dict.fromkeys(one.evaluator_ref for one in whole if one.evaluator_ref)),
    )


def _remarks(policies: Sequence[PolicyResults], directions: Directions) -> dict[str, list[ScoreLine]]:
    """What was found about single steps, by their spans."""
    found: dict[str, list[ScoreLine]] = {}
    for policy in policies:
        for one in policy.results:
            if one.span_id:
                found.setdefault(one.span_id, []).extend(result_lines([one], directions))
    return found


def shown_line(line: Line, remarks: Mapping[str, Sequence[ScoreLine]]) -> ShownLine:
    """A line as it is shown, with the remarks about its step."""
    first_of_step = line.kind in ("call", "agent", "search", "check", "step") or line.speaker in ("assistant", "answer")
    return ShownLine(
        line=line,
        text=passage("", line.text, is_code=line.is_code),
        result=None if line.result is None else passage("", line.result),
        remarks=remarks.get(line.span_id, ()) if first_of_step else (),
    )


def passage(label: str, text: str, *, is_code: bool = False, most: int = LINE_CHARACTERS) -> Passage:
    """A text that is short enough to be shown; JSON that is not too long is laid out in lines."""
    laid_out = is_code or text[:1] in ("{", "[")
    if laid_out and len(text) <= _PRETTY_CHARACTERS:
        try:
            text = msgspec.json.format(text, indent=2)
        except msgspec.DecodeError:
            laid_out = is_code
    shown, cut = shortened(text, most)
    return Passage(label=label, text=shown, cut=cut, kind="code" if laid_out else "text" if text else "empty")


def _part(query: Query, total: int, size: int) -> Part:
    first = min(query.whole("first"), max(0, total - 1)) // size * size
    last = min(total, first + size)
    return Part(
        first=first,
        last=last,
        total=total,
        before=query.but(first=first - size or None) if first else "",
        after=query.but(first=last) if last < total else "",
    )


def _failing(trajectory: Trajectory, query: Query) -> tuple[str, str, str] | None:
    """The first step that failed by itself, and not for one below it: its name, its error, and where it is looked at."""
    failed = [step for step in trajectory.steps if step.error]
    above = {step.parent_span_id for step in failed}
    step = next((step for step in failed if step.span_id not in above), None)
    if step is None:
        return None
    return step.name, step.error, query.but(view="timeline", step=step.span_id, first=None)


def _step(trajectory: Trajectory, span_id: str, remarks: Mapping[str, Sequence[ScoreLine]]) -> StepView | None:
    step = next((step for step in trajectory.steps if step.span_id == span_id), None)
    if step is None:
        return None
    passages = [
        passage(label, text, most=STEP_CHARACTERS)
        for label, content in (("input", step.input), ("output", step.output))
        if (text := _whole_text(content))
    ]
    attributes = [(name, _attribute(value)) for name, value in sorted(step.attributes.items())]
    facts = [("kind", str(step.type)), ("measured", measured(step)), ("span", step.span_id)]
    return StepView(
        step=step,
        facts=[(name, value) for name, value in facts if value],
        passages=passages,
        attributes=attributes,
        remarks=remarks.get(step.span_id, ()),
    )


def _whole_text(content: Content | None) -> str:
    """A content for reading: of a conversation every message."""
    if content is None or content.messages is None:
        return text_of(content)
    said = [
        f"{message.role}: {message.content}"
        + "".join(f"\n  calls {call.name} {call.arguments}" for call in message.tool_calls)
        for message in content.messages.messages
    ]
    return "\n\n".join(said)


def _attribute(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return shortened(text, LINE_CHARACTERS)[0]


def _ticks(timeline: Timeline) -> list[str]:
    return [seconds(timeline.length_s * quarter / 4) if quarter else "0" for quarter in range(5)]


def _facts(trace: TraceSummary, record: Record) -> list[tuple[str, str]]:
    """What it took, in pairs for people; nothing where nobody measured."""
    usage = record.usage
    found = [("steps", f"{trace.steps:,}"), ("spans", f"{trace.spans:,}")]
    found += [("failed spans", f"{trace.failed_spans:,}")] if trace.failed_spans else []
    if usage is not None:
        counts = (
            ("tokens in", usage.input_tokens),
            ("from cache", usage.cached_input_tokens),
            ("tokens out", usage.output_tokens),
            ("reasoning", usage.reasoning_tokens),
        )
        found += [(name, f"{amount:,}") for name, amount in counts if amount is not None]
        found += [("cost", money(usage.cost_usd))] if usage.cost_usd is not None else []
        found += [("calls of unknown price", f"{usage.unpriced_requests:,}")] if usage.unpriced_requests else []
    found += [("model", trace.model)] if trace.model else []
    found += [("version", trace.version)] if trace.version else []
    found += [("times completed", f"{trace.revision}")] if trace.revision > 1 else []
    return found


async def _neighbours(visit: Visit, trace: TraceSummary) -> tuple[str, str]:
    """The addresses of the traces before and after this one in the list it was opened from; "" where there is none."""
    request = traces_request(visit.query)
    found = await visit.call("TraceService.ListTraces", request, ListTracesResponse)
    shown = [one.trace_id for one in found.traces]
    if trace.trace_id not in shown:
        return "", ""
    place = shown.index(trace.trace_id)
    kept = {"step": None, "first": None, SAID: None}

    def address(at: int) -> str:
        return trace_address(found.traces[at], visit.query, **kept) if 0 <= at < len(shown) else ""

    before, after = address(place - 1), address(place + 1)
    if not after and found.next_page_token:
        further = msgspec.structs.replace(request, page_token=found.next_page_token)
        ahead = await visit.call("TraceService.ListTraces", further, ListTracesResponse)
        if ahead.traces:
            after = trace_address(ahead.traces[0], visit.query, page_token=found.next_page_token, **kept)
    return before, after
