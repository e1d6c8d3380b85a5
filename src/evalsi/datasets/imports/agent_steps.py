"""A conversation with tool calls as the steps of a trajectory, each tool's result joined to its call by id.

Logs of agents keep messages; evaluators of trajectories read steps. Results may come in any order, late, twice or not
at all: the first result of a call counts, a result that answers no call is a step of its own.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from evalsi.datasets.careful_json import deeper_than
from evalsi.schema import Content, Message, Messages, Step, StepType, ToolCall

_MAX_ARGUMENT_DEPTH = 50


def steps_of(messages: Sequence[Message], errors: dict[str, str] | None = None) -> list[Step]:
    """The steps, in order: what a person or the system said, each model answer, each tool call below its answer.

    Args:
        messages: Oldest first.
        errors: Why a tool call failed, by its id, where the log says so beside the message.
    """
    calls = {call.id for message in messages for call in message.tool_calls if call.id}
    results: dict[str, Message] = {}
    for message in messages:
        if message.role == "tool":
            results.setdefault(message.tool_call_id, message)
    steps: list[Step] = []
    called: set[str] = set()
    for number, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in calls:
                steps.append(Step(span_id=f"m{number}", type=StepType.TOOL, name=message.name, output=_text(message)))
            continue
        kind = {"assistant": StepType.LLM, "user": StepType.USER}.get(message.role, StepType.GENERIC)
        steps.append(Step(span_id=f"m{number}", type=kind, name=message.name, output=_said(message)))
        for position, call in enumerate(message.tool_calls):
            result = results.get(call.id) if call.id and call.id not in called else None
            called.add(call.id)
            steps.append(_tool_step(call, result, f"m{number}", position, (errors or {}).get(call.id, "")))
    return steps


def _tool_step(call: ToolCall, result: Message | None, parent: str, position: int, error: str) -> Step:
    return Step(
        span_id=f"{parent}.{position}",
        parent_span_id=parent,
        type=StepType.TOOL,
        name=call.name,
        input=Content(json=_arguments(call.arguments)) if call.arguments else None,
        output=_text(result) if result is not None else None,
        error=error,
        attributes={"tool_call_id": call.id} if call.id else {},
    )


def _arguments(text: str) -> Any:
    """The arguments as JSON; text that is none stays text, since a model may write anything."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return text if deeper_than(value, _MAX_ARGUMENT_DEPTH) else value


def _said(message: Message) -> Content | None:
    if message.tool_calls:
        return Content(messages=Messages(messages=[message]))
    return _text(message)


def _text(message: Message) -> Content | None:
    return Content(text=message.content) if message.content else None
