"""A trajectory as spans, so that what another tool logged can be kept and searched like what was traced. Pure.

What always holds: the same record gives the same spans, ids included, so that importing it twice changes nothing; reading
the spans gives its steps back. Model and tool steps are written in OpenTelemetry's GenAI conventions, the others in the
convention `evalsi`.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import microseconds
from evalsi.core.content import text_of
from evalsi.schema import Content, Message, Record, Step, StepType, Trajectory, Usage
from evalsi.traces.span import STATUS_ERROR, Span
from evalsi.traces.step_of_span import FLAGS, MAPPING, MODEL, RESPONSE_ID, SPAN_NAME, TOOL_CALL_ID

_OPERATIONS = {
    StepType.LLM: "chat",
    StepType.TOOL: "execute_tool",
    StepType.RETRIEVAL: "retrieval",
    StepType.AGENT: "invoke_agent",
}
_OWN = (FLAGS, MAPPING, MODEL, RESPONSE_ID, SPAN_NAME, TOOL_CALL_ID)
"""Attributes that reading adds to a step; they are no one's raw ones."""


def spans_of_record(record: Record) -> list[Span]:
    """The spans of a record's trajectory; of a record without one, the span of one answer.

    A trajectory without one root gets a root that asks the record's question and gives its answer.
    """
    trajectory = record.trajectory or Trajectory()
    trace_id = _trace_id(record, trajectory)
    steps = list(trajectory.steps)
    roots = [step for step in steps if not step.parent_span_id]
    if len(roots) != 1 or roots[0].type not in (StepType.AGENT, StepType.UNSPECIFIED, StepType.GENERIC):
        steps = [_root_over(record, roots), *(_below(step) for step in steps)]
    times_ns = _times_ns(steps)
    names = {step.span_id: _span_id(trace_id, step.span_id) for step in steps}
    shared: dict[str, Any] = {"evalsi.session_id": trajectory.session_id} if trajectory.session_id else {}
    return [
        Span(
            trace_id=trace_id,
            span_id=names[step.span_id],
            parent_span_id=names.get(step.parent_span_id, ""),
            name=step.name or step.type.value,
            start_ns=start_ns,
            end_ns=end_ns,
            attributes=_attributes(step) | ({} if step.parent_span_id else shared),
            status_code=STATUS_ERROR if step.error else 0,
            status_message=step.error,
            resource=_resource(record),
        )
        for step, (start_ns, end_ns) in zip(steps, times_ns, strict=True)
    ]


_ROOT = "evalsi-root"


def _root_over(record: Record, roots: Sequence[Step]) -> Step:
    begun = [step.start_time for step in roots if step.start_time is not None]
    ended = [step.end_time or step.start_time for step in roots]
    last = [moment for moment in ended if moment is not None]
    return Step(
        span_id=_ROOT,
        type=StepType.AGENT,
        name=record.id,
        input=record.input,
        output=record.output,
        start_time=min(begun, default=None),
        end_time=max(last, default=None),
    )


def _below(step: Step) -> Step:
    return step if step.parent_span_id else msgspec.structs.replace(step, parent_span_id=_ROOT)


def _times_ns(steps: Sequence[Step]) -> list[tuple[int, int]]:
    """Begin and end of each step. None begins before the one that is listed before it, so that their order stays."""
    found: list[tuple[int, int]] = []
    before_ns = 0
    for step in steps:
        start_ns = microseconds(step.start_time) * 1000 if step.start_time is not None else before_ns + 1000
        end_ns = microseconds(step.end_time) * 1000 if step.end_time is not None else start_ns
        if step.end_time is None and step.duration is not None:
            end_ns = start_ns + round(step.duration * 1e9)
        start_ns = max(start_ns, before_ns + 1)
        found.append((start_ns, max(end_ns, start_ns)))
        before_ns = start_ns
    return found


def _attributes(step: Step) -> dict[str, Any]:
    raw = {key: value for key, value in step.attributes.items() if key not in _OWN}
    operation = _OPERATIONS.get(step.type)
    told: dict[str, Any] = {"gen_ai.operation.name": operation} if operation else {"evalsi.step": step.type.value}
    told |= _usage(step.usage)
    match step.type:
        case StepType.LLM:
            model = step.attributes.get(MODEL) or step.name
            told |= {"gen_ai.request.model": model} if model else {}
            if isinstance(step.attributes.get(RESPONSE_ID), str):
                told["gen_ai.response.id"] = step.attributes[RESPONSE_ID]
            told |= _conversation("gen_ai.input.messages", step.input, "user")
            told |= _conversation("gen_ai.output.messages", step.output, "assistant")
        case StepType.TOOL:
            told["gen_ai.tool.name"] = step.name
            if isinstance(step.attributes.get(TOOL_CALL_ID), str):
                told["gen_ai.tool.call.id"] = step.attributes[TOOL_CALL_ID]
            told |= _value("gen_ai.tool.call.arguments", step.input) | _value("gen_ai.tool.call.result", step.output)
        case StepType.RETRIEVAL:
            told |= _value("gen_ai.retrieval.query.text", step.input)
            told |= _value("gen_ai.retrieval.documents", step.output)
        case StepType.AGENT:
            told["gen_ai.agent.name"] = step.name
            told |= _conversation("gen_ai.input.messages", step.input, "user")
            told |= _conversation("gen_ai.output.messages", step.output, "assistant")
        case _:
            told |= _value("evalsi.input", step.input) | _value("evalsi.output", step.output)
    return raw | told


def _conversation(name: str, content: Content | None, role: str) -> dict[str, str]:
    """The content as an attribute of messages."""
    if content is None:
        return {}
    if content.messages is not None:
        return {name: _json([_message(message) for message in content.messages.messages])}
    return {name: _json([{"role": role, "parts": [{"type": "text", "content": text_of(content)}]}])}


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        part = {"type": "tool_call_response", "id": message.tool_call_id, "response": message.content}
        return {"role": "tool", "name": message.name, "parts": [part]}
    parts: list[dict[str, Any]] = [{"type": "text", "content": message.content}] if message.content else []
    for call in message.tool_calls:
        parts.append({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    return {"role": message.role, "name": message.name, "parts": parts}


def _value(name: str, content: Content | None) -> dict[str, str]:
    if content is None:
        return {}
    if content.json is not msgspec.UNSET and not isinstance(content.json, str):
        return {name: _json(content.json)}
    return {name: text_of(content)}


def _usage(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    told = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "gen_ai.cost.total_cost": usage.cost_usd,
    }
    return {name: value for name, value in told.items() if value is not None}


def _resource(record: Record) -> dict[str, Any]:
    service = record.metadata.get("service")
    return {"service.name": service} if isinstance(service, str) else {}


def _trace_id(record: Record, trajectory: Trajectory) -> str:
    """The trajectory's own id where it is one of OpenTelemetry, else one made of the record's content."""
    own = trajectory.trace_id.lower()
    if len(own) == 32 and set(own) <= set("0123456789abcdef") and own.strip("0"):
        return own
    return hashlib.blake2b(canonical_json(record), digest_size=16).hexdigest()


def _span_id(trace_id: str, step: str) -> str:
    if len(step) == 16 and set(step) <= set("0123456789abcdef") and step.strip("0"):
        return step
    return hashlib.blake2b(f"{trace_id}/{step}".encode(), digest_size=8).hexdigest()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
