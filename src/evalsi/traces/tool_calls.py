"""The tool calls of a trajectory, each once, with its arguments as written and its result.

A call may be recorded three times: in the model's answer, as a span of its own, and in the next question. They are joined
by id, and where there is none by name and order. Evaluators of tool use read these and never the steps.
"""

from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.schema import Content, Message, Step, StepType, Trajectory
from evalsi.traces.json_in_text import decoded
from evalsi.traces.step_of_span import TOOL_CALL_ID

ABSENT: Any = msgspec.UNSET
_LLM, _TOOL = StepType.LLM, StepType.TOOL  # as members of their class they are found in ten times as long
_MOST_WAITING = 100
"""Calls without an id that are compared by their arguments before the oldest is taken."""


class MadeCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
    ran_by: int | None = None
    """Index of the step that shows that the tool ran; None where no step of its own does."""

    @property
    def ran(self) -> bool:
        """Whether a step of its own shows that the tool ran."""
        return self.ran_by is not None


def tool_calls_of(trajectory: Trajectory) -> list[MadeCall]:
    """The calls, in the order they were made."""
    found = _Calls()
    for place, step in enumerate(trajectory.steps):
        if step.type is _TOOL:
            found.ran(_of_step(step, place))
        elif step.type is _LLM:
            for message in _messages(step.output):
                for call in message.tool_calls:
                    found.asked(
                        MadeCall(id=call.id, name=call.name, arguments=arguments_of(call.arguments), step=place)
                    )
    if any(_lacks_result(call) for call in found.calls):
        results = _told_results(trajectory)
        return [_with_result(call, results) for call in found.calls]
    return found.calls


def arguments_of(written: Any) -> Any:
    """Arguments as an object where they are one: no text at all means none. Anything else stays what was written."""
    if written is ABSENT:
        return written
    if written is None or (isinstance(written, str) and not written.strip()):
        return {}
    value = decoded(written)
    return cast("Any", value) if isinstance(value, dict) else written


def _of_step(step: Step, place: int) -> MadeCall:
    call_id = step.attributes.get(TOOL_CALL_ID, "")
    return MadeCall(
        id=call_id if isinstance(call_id, str) else "",
        name=step.name,
        arguments=ABSENT if step.input is None else arguments_of(_value(step.input)),
        result=ABSENT if step.output is None else _value(step.output),
        error=step.error,
        step=place,
        ran_by=place,
    )


class _Calls:
    """The calls so far, found by id or by name without looking at all of them."""

    def __init__(self) -> None:
        self.calls: list[MadeCall] = []
        self._by_id: dict[str, int] = {}
        self._waiting: dict[str, list[int]] = {}
        """Places of the calls of a tool that have not been seen to run, the oldest first."""

    def asked(self, call: MadeCall) -> None:
        """Takes a call from a model's answer, unless it is known."""
        if call.id in self._by_id:
            return
        if call.id:
            self._by_id[call.id] = len(self.calls)
        self._waiting.setdefault(call.name, []).append(len(self.calls))
        self.calls.append(call)

    def ran(self, ran: MadeCall) -> None:
        """Joins what ran to the call that asked for it; adds it where none did."""
        place = self._by_id.get(ran.id) if ran.id else None
        if place is None and self._waiting:
            place = self._likeliest(ran)
        if place is None:
            if ran.id:
                self._by_id[ran.id] = len(self.calls)
            self.calls.append(ran)
            return
        asked = self.calls[place]
        waiting = self._waiting.get(asked.name, [])
        if place in waiting:
            waiting.remove(place)
        self.calls[place] = msgspec.structs.replace(
            asked,
            arguments=ran.arguments if asked.arguments is ABSENT else asked.arguments,
            result=ran.result if ran.result is not ABSENT else asked.result,
            error=ran.error or asked.error,
            ran_by=ran.ran_by,
        )

    def _likeliest(self, ran: MadeCall) -> int | None:
        """The oldest call of the tool that waits, before others one with the same arguments."""
        waiting = [
            place for place in self._waiting.get(ran.name, [])[:_MOST_WAITING] if not (self.calls[place].id and ran.id)
        ]
        same = (place for place in waiting if self.calls[place].arguments == ran.arguments)
        return next(same, waiting[0] if waiting else None)


def _lacks_result(call: MadeCall) -> bool:
    return call.result is ABSENT and bool(call.id)


def _told_results(trajectory: Trajectory) -> dict[str, Message]:
    """What models were told that tools gave, by the id of the call."""
    results: dict[str, Message] = {}
    for step in trajectory.steps:
        for message in _messages(step.input):
            if message.role == "tool" and message.tool_call_id:
                results.setdefault(message.tool_call_id, message)
    return results


def _with_result(call: MadeCall, results: dict[str, Message]) -> MadeCall:
    message = results.get(call.id) if _lacks_result(call) else None
    return call if message is None else msgspec.structs.replace(call, result=decoded(message.content))


def _messages(content: Content | None) -> list[Message]:
    return content.messages.messages if content is not None and content.messages is not None else []


def _value(content: Content) -> Any:
    if content.json is not ABSENT:
        return content.json
    return decoded(text_of(content))
