"""A trace as a record: what was asked, what was answered, what was retrieved, and the steps between. Pure."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, cast

import msgspec

from evalsi.core.content import has_text, text_of
from evalsi.schema import (
    Content,
    Message,
    Messages,
    Provenance,
    Record,
    Step,
    StepType,
    TraceProvenance,
    Trajectory,
    Usage,
)
from evalsi.traces.mapping import AnswerRule
from evalsi.traces.source_reading import SpanInTrace, first_value, matches
from evalsi.traces.span import Span
from evalsi.traces.step_of_span import FLAGS, content_of
from evalsi.traces.tool_calls import tool_calls_of
from evalsi.traces.trajectory import ReadSpan, Tracing, distinct, root_of, total_usage, trajectory_of

KEY_ATTRIBUTE = "evalsi.key"
"""Attribute of a span with the sender's own name of a request."""
_LABEL = "evalsi.label."
_LLM, _USER, _RETRIEVAL = StepType.LLM, StepType.USER, StepType.RETRIEVAL
"""By names of their own: as members of their class they are found in ten times as long."""


def record_of_trace(spans: Sequence[Span], tracing: Tracing) -> Record:
    """The record of one trace; its id is the trace's.

    Input and output are the root's. Where it has none, they are the first question of a person and the last answer of a
    model that calls no tool. A trace without content has a record without input or output: evaluators that need them skip.

    Args:
        spans: At least one, all of one trace.
        tracing: The conventions and prices.
    """
    unique = distinct(spans)
    read = [ReadSpan(span, tracing.mappers.of_span(span)) for span in unique]
    trajectory = trajectory_of(read, tracing.prices)
    root = root_of(trajectory.steps)
    return Record(
        id=trajectory.trace_id,
        input=question_of(trajectory),
        output=_ruled_answer(unique, trajectory, tracing.mappers.answers) or answer_of(trajectory),
        context=passages_of(trajectory.steps),
        trajectory=trajectory,
        usage=_usage(trajectory, root),
        metadata=_metadata(read, root),
        provenance=Provenance(trace=TraceProvenance(trace_id=trajectory.trace_id)),
        notes=_notes(trajectory.steps, root),
    )


def question_of(trajectory: Trajectory) -> Content | None:
    """What the trajectory was given: the root's input, else the first message of a person."""
    root = root_of(trajectory.steps)
    if root is not None and root.type is not _LLM and root.input is not None:
        return _asked(root.input)
    for step in trajectory.steps:
        if step.type is _USER:
            said = step.output or step.input
            if said is not None:
                return said
        if step.type is _LLM and step.input is not None:
            said = [message for message in _messages(step.input) if message.role == "user"]
            return Content(text=said[-1].content) if said else step.input
    return None


def answer_of(trajectory: Trajectory) -> Content | None:
    """What it answered: the root's output, else the last answer of a model that calls no tool."""
    root = root_of(trajectory.steps)
    if root is not None and root.type is not _LLM and root.output is not None:
        messages = _messages(root.output)
        text = text_of(root.output)
        return Content(text=text) if messages and text else root.output
    for step in reversed(trajectory.steps):
        if step.type is not _LLM or step.output is None:
            continue
        messages = _messages(step.output)
        if any(message.tool_calls for message in messages) or not has_text(step.output):
            continue
        return Content(text=text_of(step.output)) if messages else step.output
    return None


def passages_of(steps: Iterable[Step]) -> list[Content]:
    """What was retrieved, in order, each passage once."""
    found: dict[str, None] = {}
    for step in [step for step in steps if step.type is _RETRIEVAL]:
        documents: Any = step.output.json if step.output is not None else None
        for item in cast("list[Any]", documents) if isinstance(documents, list) else []:
            text = cast("dict[str, Any]", item).get("content") if isinstance(item, dict) else item
            if isinstance(text, str) and text:
                found[text] = None
    return [Content(text=text) for text in found]


def _asked(content: Content) -> Content:
    """What a person asked: of a conversation that also holds what the agent did then, only the part before that."""
    messages = _messages(content)
    last = max((place for place, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        return content
    told = messages[: last + 1]
    if sum(message.role != "system" for message in told) == 1:
        return Content(text=told[-1].content)
    return Content(messages=Messages(messages=told))


def _messages(content: Content) -> list[Message]:
    return content.messages.messages if content.messages is not None else []


def _usage(trajectory: Trajectory, root: Step | None) -> Usage | None:
    usage = total_usage(trajectory.steps)
    if root is None or not root.duration:  # a root that ends as it begins was logged without being timed
        return usage
    return msgspec.structs.replace(usage or Usage(), latency=root.duration)


def _metadata(read: Sequence[ReadSpan], root: Step | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    spans = [each.span for each in read]
    first = next((span for span in spans if root is not None and span.span_id == root.span_id), None)
    first = first or min(spans, key=attrgetter("start_ns"))
    if isinstance(first.resource.get("service.name"), str):
        found["service"] = first.resource["service.name"]
    labels = {
        key.removeprefix(_LABEL): value
        for place in (first.resource, first.attributes)
        for key, value in place.items()
        if key.startswith(_LABEL)
    }
    if labels:
        found["labels"] = labels
    telling = [each for each in read if each.conventions.tells_of_trace]
    telling.sort(key=lambda each: (each.span is not first, each.span.start_ns))
    for name in ("user_id", "tags", "metadata") if telling else ():
        value = _first_of(telling, name)
        if value is not None:
            found[name] = value
    return found


def _first_of(read: Sequence[ReadSpan], field: str) -> Any:
    for each in read:
        sources = getattr(each.conventions.whole, field)
        value = first_value(sources, SpanInTrace(each.span)) if sources else None
        if value is not None:
            return value
    return None


def _notes(steps: Sequence[Step], root: Step | None) -> list[str]:
    notes = [f"the trace failed: {root.error}"] if root is not None and root.error else []
    flags: dict[str, list[str]] = {}
    for step in [step for step in steps if FLAGS in step.attributes]:
        for flag in step.attributes[FLAGS]:
            flags.setdefault(str(flag), []).append(step.name)
    return notes + [f"{flag}: {', '.join(names[:5])}" for flag, names in sorted(flags.items())]


def _ruled_answer(spans: Sequence[Span], trajectory: Trajectory, rules: Sequence[AnswerRule]) -> Content | None:
    """The answer by the rules of the mappings; None when no rule finds one."""
    for rule in rules:
        value = _by_rule(rule, spans, trajectory)
        if value not in (None, ""):
            return content_of(value, "assistant") if rule.decode != "string" else Content(text=str(value))
    return None


def _by_rule(rule: AnswerRule, spans: Sequence[Span], trajectory: Trajectory) -> Any:
    match rule.origin:
        case "last_llm_text":
            asked = [step for step in trajectory.steps if step.type is _LLM and has_text(step.output)]
            return text_of(asked[-1].output) if asked else None
        case "tool_arg":
            calls = [call for call in tool_calls_of(trajectory) if call.name == rule.tool]
            arguments: Any = calls[-1].arguments if calls else None
            return cast("dict[str, Any]", arguments).get(rule.arg or "") if isinstance(arguments, dict) else None
        case "root_attr":
            root = root_of(trajectory.steps)
            return root.attributes.get(rule.attr or "") if root is not None else None
        case "span_attr" | "event":
            for span in sorted(spans, key=lambda span: -span.end_ns):
                if rule.select is not None and not matches(rule.select, span):
                    continue
                places = [event.attributes for event in span.events if event.name == rule.event]
                for place in [span.attributes] if rule.origin == "span_attr" else places:
                    if place.get(rule.attr or "") not in (None, ""):
                        return place[rule.attr or ""]
            return None
