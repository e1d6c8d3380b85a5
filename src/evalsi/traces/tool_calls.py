"""The tool calls of a trajectory, each once, with its arguments as written and its result.

A call may be recorded three times: in the model's answer, as a span of its own, and in the next question. They are joined
by id, and where there is none by name and order. Evaluators of tool use read these and never the steps.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.schema import Content, Message, Step, StepType, Trajectory
from evalsi.traces.json_in_text import decoded
from evalsi.traces.step_of_span import TOOL_CALL_ID

ABSENT: Any = msgspec.UNSET


class MadeCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool."""

    id: str = ""
    name: str
    arguments: Any = ABSENT
    """An object, or the text that the model wrote where it is no JSON object; UNSET when they were not recorded."""
    result: Any = ABSENT
    """What the tool gave: a JSON value or text; UNSET when it was not recorded."""
    error: str = ""
    """Why it failed; empty when it did not."""
    step: int
    """Index of the step that made it."""
    ran: bool = False
    """Whether a step of its own shows that the tool ran."""


def tool_calls_of(trajectory: Trajectory) -> list[MadeCall]:
    """The calls, in the order they were made."""
    calls: list[MadeCall] = []
    results: dict[str, Message] = {}
    for place, step in enumerate(trajectory.steps):
        for message in _messages(step.input):
            if message.role == "tool" and message.tool_call_id:
                results.setdefault(message.tool_call_id, message)
        if step.type is StepType.TOOL:
            _join(calls, _of_step(step, place))
        elif step.type is StepType.LLM:
            for message in _messages(step.output):
                calls += [
                    MadeCall(id=call.id, name=call.name, arguments=arguments_of(call.arguments), step=place)
                    for call in message.tool_calls
                    if not _is_known(call.id, calls)
                ]
    return [_with_result(call, results) for call in calls]


def arguments_of(written: Any) -> Any:
    """Arguments as an object where they are one: no text at all means none. Anything else stays what was written."""
    if written is ABSENT:
        return written
    if written is None or (isinstance(written, str) and not written.strip()):
        return {}
    value = decoded(written)
    return cast("Any", value) if isinstance(value, dict) else written


def _of_step(step: Step, place: int) -> MadeCall:
    given = _value(step.input)
    call_id = step.attributes.get(TOOL_CALL_ID, "")
    return MadeCall(
        id=call_id if isinstance(call_id, str) else "",
        name=step.name,
        arguments=arguments_of(given),
        result=_value(step.output),
        error=step.error,
        step=place,
        ran=True,
    )


def _join(calls: list[MadeCall], ran: MadeCall) -> None:
    """Adds what ran to the call that asked for it, or as a call of its own."""
    for place in _candidates(calls, ran):
        asked = calls[place]
        calls[place] = msgspec.structs.replace(
            asked,
            arguments=ran.arguments if asked.arguments is ABSENT else asked.arguments,
            result=ran.result if ran.result is not ABSENT else asked.result,
            error=ran.error or asked.error,
            ran=True,
        )
        return
    calls.append(ran)


def _candidates(calls: Sequence[MadeCall], ran: MadeCall) -> Iterable[int]:
    """Places of the calls that may have asked for what ran, the likeliest first."""
    if ran.id:
        same = [place for place, call in enumerate(calls) if call.id == ran.id]
        if same:
            return same
    waiting = [
        place
        for place, call in enumerate(calls)
        if not call.ran and call.name == ran.name and not (call.id and ran.id and call.id != ran.id)
    ]
    return sorted(waiting, key=lambda place: calls[place].arguments != ran.arguments)


def _is_known(call_id: str, calls: Sequence[MadeCall]) -> bool:
    return bool(call_id) and any(call.id == call_id for call in calls)


def _with_result(call: MadeCall, results: dict[str, Message]) -> MadeCall:
    message = results.get(call.id) if call.id else None
    if call.result is not ABSENT or message is None:
        return call
    return msgspec.structs.replace(call, result=decoded(message.content))


def _messages(content: Content | None) -> list[Message]:
    return content.messages.messages if content is not None and content.messages is not None else []


def _value(content: Content | None) -> Any:
    if content is None:
        return ABSENT
    if content.json is not ABSENT:
        return content.json
    return decoded(text_of(content))
