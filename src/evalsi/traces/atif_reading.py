"""ATIF documents as trajectories: the agent as the root step, its steps below it, results joined to calls by id.

What our steps have no place for (extras, token ids, parts of messages) is kept under the attribute `atif`, so that
`atif_writing` gives the same document back, in the newest version.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.schema import (
    Content,
    Message,
    Messages,
    Record,
    Step,
    StepType,
    ToolCall,
    Trajectory,
    Usage,
)
from evalsi.traces.atif_form import VERSIONS, AtifDocument, AtifStep, Call, Metrics, Parts, Result
from evalsi.traces.record_of_trace import answer_of, passages_of, question_of
from evalsi.traces.step_of_span import MODEL, TOOL_CALL_ID
from evalsi.traces.trajectory import total_usage

ATIF = "atif"
"""Attribute of a step with what ATIF says about it beyond what a step holds."""
_MAX_NESTING = 20


def decode_atif(data: bytes, where: str = "trajectory") -> AtifDocument:
    """The document.

    Raises: InvalidDataError: it is no ATIF of a version that is read; names the field.
    """
    try:
        document = msgspec.json.decode(data, type=AtifDocument)
    except msgspec.DecodeError as error:
        raise InvalidDataError(f"no ATIF trajectory: {error}", where=where) from None
    except RecursionError:
        raise InvalidDataError("no ATIF trajectory: nested too deep", where=where) from None
    _check(document, where, 0)
    return document


def trajectory_of_atif(document: AtifDocument) -> Trajectory:
    """The trajectory: an AGENT step, below it one LLM step per agent step with its TOOL steps, USER and GENERIC steps."""
    steps: list[Step] = []
    _add_agent(document, "", "", steps)
    return Trajectory(trace_id="", session_id=document.session_id or "", steps=steps)


def record_of_atif(document: AtifDocument, identifier: str) -> Record:
    """The record of one document: first question, last answer, sums of what was used."""
    trajectory = trajectory_of_atif(document)
    metadata: dict[str, Any] = {"agent": document.agent.name, "agent_version": document.agent.version}
    if document.agent.model_name:
        metadata["model"] = document.agent.model_name
    return Record(
        id=document.trajectory_id or document.session_id or identifier,
        input=question_of(trajectory),
        output=answer_of(trajectory),
        context=passages_of(trajectory.steps),
        trajectory=trajectory,
        usage=total_usage(trajectory.steps),
        metadata=metadata,
        notes=[document.notes] if document.notes else [],
    )


def _check(document: AtifDocument, where: str, depth: int) -> None:
    if document.schema_version not in VERSIONS:
        raise InvalidDataError(
            f"ATIF version {document.schema_version!r} is not read",
            where=f"{where}: schema_version",
            hint=f"known: {', '.join(VERSIONS)}",
        )
    if not document.steps:
        raise InvalidDataError("an ATIF trajectory has at least one step", where=f"{where}: steps")
    if depth > _MAX_NESTING:
        raise InvalidDataError(f"agents below agents deeper than {_MAX_NESTING} levels", where=where)
    for place, step in enumerate(document.steps):
        if step.step_id != place + 1:
            raise InvalidDataError(
                f"step_id is {step.step_id} where {place + 1} is expected: they count from 1 without gaps",
                where=f"{where}: steps[{place}].step_id",
            )
        if step.source != "agent" and step.tool_calls:
            raise InvalidDataError("only an agent's step calls tools", where=f"{where}: steps[{place}].tool_calls")
    known: set[str] = set()
    for place, inner in enumerate(document.subagent_trajectories or ()):
        path = f"{where}: subagent_trajectories[{place}]"
        if not inner.trajectory_id or inner.trajectory_id in known:
            raise InvalidDataError("an embedded trajectory has an id of its own", where=f"{path}.trajectory_id")
        known.add(inner.trajectory_id)
        _check(inner, path, depth + 1)


def _add_agent(document: AtifDocument, prefix: str, parent: str, steps: list[Step]) -> None:
    root = f"{prefix}agent"
    about = _plain(document, without=("steps", "subagent_trajectories", "session_id"))
    if prefix and document.session_id:
        about["session_id"] = document.session_id
    steps.append(
        Step(
            span_id=root,
            parent_span_id=parent,
            type=StepType.AGENT,
            name=document.agent.name,
            start_time=_moment(document.steps[0].timestamp),
            attributes={ATIF: about},
        )
    )
    embedded = {inner.trajectory_id: inner for inner in document.subagent_trajectories or ()}
    for step in document.steps:
        _add_step(_Place(prefix, root, document.agent.model_name or ""), step, steps, embedded)
    for name, inner in list(embedded.items()):  # those that no result refers to
        _add_agent(inner, f"{prefix}{name}/", root, steps)


@dataclass(frozen=True)
class _Place:
    """Where a step belongs: below which agent, under which prefix of ids, by which model where it names none."""

    prefix: str
    root: str
    model: str


def _add_step(at: _Place, step: AtifStep, steps: list[Step], embedded: dict[str | None, AtifDocument]) -> None:
    prefix, root = at.prefix, at.root
    identifier = f"{prefix}{step.step_id}"
    results = list(step.observation.results) if step.observation else []
    calls = step.tool_calls or []
    joined = _joined(calls, results)
    kept = _plain(step, without=("step_id", "source", "timestamp", "tool_calls", "observation", "message", "metrics"))
    kept["source"] = step.source
    if step.metrics is not None:
        kept |= _plain(
            {
                "metrics": _plain(
                    step.metrics, without=("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
                )
            }
        )
    if not isinstance(step.message, str):
        kept["message"] = step.message
    loose = [result for result in results if not any(result is found for found in joined.values())]
    if loose:
        kept["loose_results"] = [msgspec.to_builtins(result) for result in loose]
    text = text_of_parts(step.message)
    kind = {"user": StepType.USER, "agent": StepType.LLM}.get(step.source, StepType.GENERIC)
    attributes: dict[str, Any] = {ATIF: kept}
    if kind is StepType.LLM and (step.model_name or at.model):
        attributes[MODEL] = step.model_name or at.model
    steps.append(
        Step(
            span_id=identifier,
            parent_span_id=root,
            type=StepType.GENERIC if step.llm_call_count == 0 and step.source == "agent" else kind,
            name=(step.model_name or at.model) if kind is StepType.LLM else step.source,
            output=_said(text, calls) if text or calls else None,
            start_time=_moment(step.timestamp),
            usage=_usage(step.metrics) if step.source == "agent" else None,
            attributes=attributes,
        )
    )
    for place, call in enumerate(calls):
        result = joined.get(place)
        steps.append(_tool_step(call, result, f"{identifier}.{place}", identifier, step.timestamp))
        for reference in (result.subagent_trajectory_ref or ()) if result else ():
            inner = embedded.pop(reference.trajectory_id, None)
            if inner is not None:
                _add_agent(inner, f"{prefix}{reference.trajectory_id}/", f"{identifier}.{place}", steps)


def _joined(calls: list[Call], results: list[Result]) -> dict[int, Result]:
    """The result of each call, by the call's place: the first that names it."""
    waiting = list(results)
    found: dict[int, Result] = {}
    for place, call in enumerate(calls):
        result = next((each for each in waiting if each.source_call_id == call.tool_call_id), None)
        if result is not None:
            found[place] = result
            waiting = [each for each in waiting if each is not result]
    return found


def _tool_step(call: Call, result: Result | None, identifier: str, parent: str, timestamp: str | None) -> Step:
    kept: dict[str, Any] = {}
    if call.extra is not None:
        kept["extra"] = call.extra
    output: Content | None = None
    error = ""
    if result is not None:
        kept["result"] = _plain(result, without=("source_call_id", "content"))
        if isinstance(result.content, list):
            kept["content"] = result.content
        if result.content is not None:
            output = Content(text=text_of_parts(result.content))
        extra = result.extra or {}
        if extra.get("is_error") is True:
            error = str(extra.get("error_type") or "the tool failed")
    return Step(
        span_id=identifier,
        parent_span_id=parent,
        type=StepType.TOOL,
        name=call.function_name,
        input=Content(json=call.arguments),
        output=output,
        error=error,
        start_time=_moment(timestamp),
        attributes={TOOL_CALL_ID: call.tool_call_id, ATIF: kept},
    )


def text_of_parts(parts: Parts) -> str:
    """The text of a message; a picture or a sound is shown by where it is."""
    if parts is None or isinstance(parts, str):
        return parts or ""
    texts: list[str] = []
    for part in parts:
        source: Any = part.get("source")
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(source, dict):
            texts.append(f"[{part.get('type', 'media')}: {cast('dict[str, Any]', source).get('path', '')}]")
    return "\n".join(texts)


def _said(text: str, calls: list[Call]) -> Content:
    if not calls:
        return Content(text=text)
    made = [
        ToolCall(id=call.tool_call_id, name=call.function_name, arguments=_written(call.arguments)) for call in calls
    ]
    return Content(messages=Messages(messages=[Message(role="assistant", content=text, tool_calls=made)]))


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


def _usage(metrics: Metrics | None) -> Usage | None:
    if metrics is None:
        return None
    extra: Mapping[str, Any] = metrics.extra or {}
    bears = metrics.prompt_tokens is not None or metrics.completion_tokens is not None
    return Usage(
        input_tokens=metrics.prompt_tokens,
        output_tokens=metrics.completion_tokens,
        cost_usd=metrics.cost_usd,
        cached_input_tokens=metrics.cached_tokens,
        cache_write_tokens=_count(extra.get("cache_creation_input_tokens")),
        reasoning_tokens=_count(extra.get("reasoning_tokens")),
        requests=1 if bears else None,
        unpriced_requests=1 if bears and metrics.cost_usd is None else 0,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _moment(timestamp: str | None) -> datetime | None:
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _plain(value: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return {key: inner for key, inner in fields.items() if key not in without and inner not in (None, {})}
