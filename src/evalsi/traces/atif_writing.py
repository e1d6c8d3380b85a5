"""Trajectories as ATIF documents, in the newest version. One agent step per model call, results beside their calls.

A trajectory that was read from ATIF gives the same document back. Of any other, messages become steps once: only what a
model had not been shown before is new.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.schema import Content, Message, Step, StepType, Trajectory, Usage
from evalsi.traces.atif_form import (
    WRITTEN_VERSION,
    Agent,
    AtifDocument,
    AtifStep,
    Call,
    FinalMetrics,
    Metrics,
    Observation,
    Result,
    SubagentRef,
)
from evalsi.traces.atif_reading import ATIF
from evalsi.traces.step_of_span import MODEL
from evalsi.traces.tool_calls import ABSENT, MadeCall, tool_calls_of

_UNKNOWN = "unknown"
_MAX_DEPTH = 1000


def atif_of_trajectory(trajectory: Trajectory) -> AtifDocument:
    """The document. Agents below agents become embedded trajectories, named by the result of the call that started them.

    Args:
        trajectory: At least one step.
    """
    owned = _by_agent(trajectory.steps)
    root = next((step for step in trajectory.steps if step.type is StepType.AGENT and not step.parent_span_id), None)
    document = _document(root, root.span_id if root is not None else "", owned, trajectory.trace_id)
    return msgspec.structs.replace(document, session_id=trajectory.session_id or None)


def encode_atif(document: AtifDocument) -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document)


class _Agents(msgspec.Struct, frozen=True):
    """The steps of each agent, and the agents below it."""

    steps: dict[str, list[Step]]
    agents: dict[str, list[Step]]
    by_id: dict[str, Step]


def _by_agent(steps: Sequence[Step]) -> _Agents:
    by_id = {step.span_id: step for step in steps}
    found = _Agents({}, {}, by_id)
    root = next((step for step in steps if step.type is StepType.AGENT and not step.parent_span_id), None)
    top = root.span_id if root is not None else ""
    for step in steps:
        if step is root:
            continue
        owner = _owner(step, by_id, top)
        place = found.agents if step.type is StepType.AGENT else found.steps
        place.setdefault(owner, []).append(step)
    return found


def _owner(step: Step, by_id: dict[str, Step], top: str) -> str:
    at = step.parent_span_id
    for _ in range(_MAX_DEPTH):
        above = by_id.get(at)
        if above is None:
            return top
        if above.type is StepType.AGENT:
            return above.span_id
        at = above.parent_span_id
    return top


def _document(agent: Step | None, owner: str, owned: _Agents, trajectory_id: str) -> AtifDocument:
    about: dict[str, Any] = agent.attributes.get(ATIF, {}) if agent is not None else {}
    mine = owned.steps.get(owner, [])
    inner = owned.agents.get(owner, [])
    names = {step.span_id: _name_of(step) for step in inner}
    starters = {step.parent_span_id: names[step.span_id] for step in inner}
    steps = _steps(mine, starters)
    if not steps:
        said = agent.output if agent is not None else None
        steps = [AtifStep(step_id=1, source="agent", message=text_of(said), llm_call_count=0)]
    embedded = [_document(step, step.span_id, owned, names[step.span_id]) for step in inner]
    models = [step.attributes.get(MODEL) for step in mine if isinstance(step.attributes.get(MODEL), str)]
    given: dict[str, Any] = about.get("agent", {})
    agent_form = (
        msgspec.convert(given, Agent)
        if given
        else Agent(
            name=(agent.name if agent is not None else "") or _UNKNOWN,
            version=str((agent.attributes if agent is not None else {}).get("gen_ai.agent.version") or _UNKNOWN),
            model_name=models[0] if models and len(set(models)) == 1 else None,
        )
    )
    totals = about.get("final_metrics")
    return AtifDocument(
        schema_version=WRITTEN_VERSION,
        agent=agent_form,
        steps=steps,
        session_id=about.get("session_id"),
        trajectory_id=about.get("trajectory_id") or trajectory_id or None,
        notes=about.get("notes"),
        final_metrics=msgspec.convert(totals, FinalMetrics) if totals else _totals(steps, embedded),
        continued_trajectory_ref=about.get("continued_trajectory_ref"),
        extra=about.get("extra"),
        subagent_trajectories=embedded or None,
    )


def _name_of(agent: Step) -> str:
    about: dict[str, Any] = agent.attributes.get(ATIF, {})
    return about.get("trajectory_id") or agent.span_id


def _steps(steps: Sequence[Step], starters: dict[str, str]) -> list[AtifStep]:
    made = tool_calls_of(Trajectory(steps=list(steps)))
    by_step: dict[int, list[MadeCall]] = {}
    for call in made:
        by_step.setdefault(call.step, []).append(call)
    tools = [step for step in steps if step.type is StepType.TOOL]
    found: list[AtifStep] = []
    shown: list[Message] = []
    for place, step in enumerate(steps):
        calls = by_step.get(place, [])
        if step.type is StepType.LLM:
            fresh, shown = _fresh(step, shown)
            for message in fresh:
                source = "system" if message.role == "system" else "user"
                found.append(
                    AtifStep(step_id=0, source=source, message=message.content, timestamp=_time(step.start_time))
                )
            found.append(_agent_step(step, calls, tools, starters))
        elif step.type is StepType.TOOL and calls:
            found.append(_dispatch(step, calls, tools, starters))
        elif step.type is StepType.USER or (ATIF in step.attributes and step.type is StepType.GENERIC):
            kept: dict[str, Any] = step.attributes.get(ATIF, {})
            if kept.get("llm_call_count") == 0:
                below = [call for call in made if steps[call.step].parent_span_id == step.span_id]
                found.append(_agent_step(step, below, tools, starters))
                for call in below:
                    by_step.pop(call.step)
            else:
                found.append(_told(step, kept))
    return [msgspec.structs.replace(step, step_id=number) for number, step in enumerate(found, 1)]


def _fresh(step: Step, shown: list[Message]) -> tuple[list[Message], list[Message]]:
    """What the model was shown for the first time by a person or the system, and all that has been shown or said by now."""
    given = step.input.messages.messages if step.input is not None and step.input.messages is not None else []
    if not given:
        return [], shown
    fresh = [message for message in given if message.role in ("system", "user") and message not in shown]
    return fresh, [*shown, *fresh]


def _told(step: Step, kept: dict[str, Any]) -> AtifStep:
    source: Any = kept.get("source", "user" if step.type is StepType.USER else "system")
    said = step.output or step.input
    return AtifStep(
        step_id=0,
        source=source,
        message=kept.get("message", text_of(said)),
        timestamp=_time(step.start_time),
        observation=_observation([], kept),
        is_copied_context=kept.get("is_copied_context"),
        llm_call_count=kept.get("llm_call_count"),
        extra=kept.get("extra"),
    )


def _agent_step(step: Step, calls: Sequence[MadeCall], tools: Sequence[Step], starters: dict[str, str]) -> AtifStep:
    kept: dict[str, Any] = step.attributes.get(ATIF, {})
    from_atif = ATIF in step.attributes
    results = [result for call in calls if (result := _result(call, tools, starters, step)) is not None]
    return AtifStep(
        step_id=0,
        source="agent",
        message=kept.get("message", _message_text(step.output)),
        timestamp=_time(step.start_time),
        model_name=kept.get("model_name") if from_atif else step.attributes.get(MODEL) or step.name or None,
        reasoning_effort=kept.get("reasoning_effort"),
        reasoning_content=kept.get("reasoning_content"),
        tool_calls=[_call(call, tools, step) for call in calls] or None,
        observation=_observation(results, kept),
        metrics=_metrics(step.usage, kept),
        is_copied_context=kept.get("is_copied_context"),
        llm_call_count=kept.get("llm_call_count") if from_atif else 1,
        extra=kept.get("extra") if from_atif else _timing(step),
    )


def _dispatch(step: Step, calls: Sequence[MadeCall], tools: Sequence[Step], starters: dict[str, str]) -> AtifStep:
    """A tool that no model asked for."""
    results = [result for call in calls if (result := _result(call, tools, starters, step)) is not None]
    return AtifStep(
        step_id=0,
        source="agent",
        message="",
        timestamp=_time(step.start_time),
        tool_calls=[_call(call, tools, step) for call in calls],
        observation=_observation(results, {}),
        llm_call_count=0,
        extra=_timing(step),
    )


def _message_text(content: Content | None) -> str:
    if content is not None and content.messages is not None:
        return "\n".join(message.content for message in content.messages.messages if message.content)
    return text_of(content)


def _observation(results: list[Result], kept: dict[str, Any]) -> Observation | None:
    loose = [msgspec.convert(result, Result) for result in kept.get("loose_results", [])]
    return Observation(results=[*results, *loose]) if results or loose else None


def _tool_step(call: MadeCall, tools: Sequence[Step], asked: Step) -> Step | None:
    """The step that shows the tool at work."""
    near = [step for step in tools if ATIF not in asked.attributes or step.parent_span_id == asked.span_id]
    named = [step for step in near if call.id and step.attributes.get("tool_call_id") == call.id]
    unnamed = [step for step in tools if step is asked or (not call.id and step.name == call.name)]
    return next(iter([*named, *unnamed]), None)


def _call(call: MadeCall, tools: Sequence[Step], asked: Step) -> Call:
    step = _tool_step(call, tools, asked)
    kept: dict[str, Any] = step.attributes.get(ATIF, {}) if step is not None else {}
    written: Any = {} if call.arguments is ABSENT else call.arguments
    extra: Any = kept.get("extra")
    if not isinstance(written, dict) and (step is None or ATIF not in step.attributes):
        extra, written = {"arguments_as_written": written}, {}
    return Call(
        tool_call_id=call.id or (step or asked).span_id,
        function_name=call.name,
        arguments=cast("Any", written),
        extra=extra,
    )


def _result(call: MadeCall, tools: Sequence[Step], starters: dict[str, str], asked: Step) -> Result | None:
    step = _tool_step(call, tools, asked)
    kept: dict[str, Any] = step.attributes.get(ATIF, {}) if step is not None else {}
    identifier = call.id or (step or asked).span_id
    if "result" in kept:
        content = kept.get("content", text_of(step.output) if step is not None and step.output is not None else None)
        return msgspec.convert({"source_call_id": identifier, "content": content, **kept["result"]}, Result)
    never_answered = step is not None and ATIF in step.attributes
    if never_answered or (call.result is ABSENT and not call.error and not call.ran):
        return None
    extra: dict[str, Any] = {"is_error": True, "error_type": call.error} if call.error else {}
    started = starters.get(step.span_id) if step is not None else None
    result = call.result
    text = None if result is ABSENT else result if isinstance(result, str) else msgspec.json.encode(result).decode()
    return Result(
        source_call_id=identifier,
        content=text,
        subagent_trajectory_ref=[SubagentRef(trajectory_id=started)] if started else None,
        extra=extra or None,
    )


def _metrics(usage: Usage | None, kept: dict[str, Any]) -> Metrics | None:
    more: dict[str, Any] = kept.get("metrics", {})
    if usage is None:
        return msgspec.convert(more, Metrics) if more else None
    counts = {"reasoning_tokens": usage.reasoning_tokens, "cache_creation_input_tokens": usage.cache_write_tokens}
    extra = {**more.get("extra", {}), **{name: value for name, value in counts.items() if value is not None}}
    return Metrics(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        cached_tokens=usage.cached_input_tokens,
        cost_usd=usage.cost_usd,
        prompt_token_ids=more.get("prompt_token_ids"),
        completion_token_ids=more.get("completion_token_ids"),
        logprobs=more.get("logprobs"),
        extra=extra or None,
    )


def _totals(steps: Sequence[AtifStep], embedded: Sequence[AtifDocument]) -> FinalMetrics:
    """The sums. A cost is absent when a step with tokens has no price."""
    measured = [step.metrics for step in steps if step.metrics is not None]
    inner = [document.final_metrics for document in embedded if document.final_metrics is not None]

    def total(one: str, whole: str) -> Any:
        known = [value for metrics in measured if (value := getattr(metrics, one)) is not None]
        known += [value for metrics in inner if (value := getattr(metrics, whole)) is not None]
        return sum(known) if known else None

    unpriced = any(metrics.cost_usd is None for metrics in measured) or any(
        metrics.total_cost_usd is None and metrics.total_prompt_tokens is not None for metrics in inner
    )
    return FinalMetrics(
        total_prompt_tokens=total("prompt_tokens", "total_prompt_tokens"),
        total_completion_tokens=total("completion_tokens", "total_completion_tokens"),
        total_cached_tokens=total("cached_tokens", "total_cached_tokens"),
        total_cost_usd=None if unpriced else total("cost_usd", "total_cost_usd"),
        total_steps=len(steps),
    )


def _timing(step: Step) -> dict[str, Any] | None:
    started, ended = _time(step.start_time), _time(step.end_time)
    found = {"started_at": started, "ended_at": ended}
    return {key: value for key, value in found.items() if value} or None


def _time(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment is not None else None
