"""Each call of a tool counted once, however many libraries recorded that it ran: the agent's, its runtime's, MCP's on either side.

Its own module because a call of a tool is told apart by other signs than a call of a model: by its id, or by a span of MCP
that lies within it. The outermost step stays the call and takes over what only an inner one knows. Two steps that merely
have the same name are two calls. Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from evalsi.schema import Step, StepType
from evalsi.traces.step_of_span import SAME_CALL_AS, TOOL_CALL_ID

_TOOL = StepType.TOOL  # as a member of its class it is found in ten times as long
_MOST_ABOVE = 64
_MOST_OPEN = 100
"""Calls of one tool that began before a span of MCP and are asked whether it lies within them, the latest first."""
_SEPARATORS = re.compile(r"__|[./:]")


def each_tool_call_once(steps: list[Step]) -> list[Step]:
    """The steps with every call of a tool as one step of that type; the others become generic and name it."""
    tools = [place for place, step in enumerate(steps) if step.type is _TOOL]
    if len(tools) < 2:
        return steps
    same_id = {name: same for name, same in _by_id(steps, tools).items() if len(same) > 1}
    if not same_id and not any(_is_of_mcp(steps[place]) for place in tools):
        return steps
    places = {step.span_id: place for place, step in enumerate(steps)}
    within: dict[int, int] = {}

    def put(place: int, outer: int | None) -> None:
        if outer is not None and _outermost(outer, within) != place:
            within[place] = outer

    for place in sorted(each for same in same_id.values() for each in same):
        put(place, _of_same_id(place, steps, places, same_id))
    of_mcp = [place for place in tools if place not in within and _is_of_mcp(steps[place])]
    if of_mcp:
        calls = _Calls(steps, [place for place in tools if place not in within and not _is_of_mcp(steps[place])])
        for place in of_mcp:
            outer = _by_name_above(place, steps, places)
            put(place, calls.around(steps[place]) if outer is None else outer)
    if not within:
        return steps
    changed = list(steps)
    for place in within:
        outer = _outermost(place, within)
        changed[outer] = _completed(changed[outer], steps[place])
        changed[place] = msgspec.structs.replace(
            steps[place],
            type=StepType.GENERIC,
            attributes={**steps[place].attributes, SAME_CALL_AS: steps[outer].span_id},
        )
    return changed


def _outermost(place: int, within: Mapping[int, int]) -> int:
    while place in within:  # no step is ever put within one that lies within it, so there is an end
        place = within[place]
    return place


class _Calls:
    """Calls by the last part of their tool's name, in the order they began."""

    def __init__(self, steps: Sequence[Step], tools: Sequence[int]) -> None:
        self._steps = steps
        self._begun: dict[str, list[tuple[datetime, int]]] = {}
        for place in tools:
            begun = steps[place].start_time
            if begun is not None:
                self._begun.setdefault(_last_part(steps[place].name), []).append((begun, place))
        self._taken: dict[int, int] = {}

    def around(self, step: Step) -> int | None:
        """The call that the step lies within; of several the one that has the fewest such steps."""
        if step.start_time is None or step.end_time is None:
            return None
        begun = self._begun.get(_last_part(step.name), [])
        last = bisect_right(begun, step.start_time, key=lambda each: each[0])
        found = [
            place
            for _, place in begun[max(0, last - _MOST_OPEN) : last]
            if _names(self._steps[place].name, step.name) and _ends_after(self._steps[place], step.end_time)
        ]
        chosen = min(found, key=lambda place: self._taken.get(place, 0), default=None)
        if chosen is not None:
            self._taken[chosen] = self._taken.get(chosen, 0) + 1
        return chosen


def _by_id(steps: Sequence[Step], tools: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in tools:
        call_id = steps[place].attributes.get(TOOL_CALL_ID)
        if isinstance(call_id, str) and call_id:
            found.setdefault(call_id, []).append(place)
    return found


def _of_same_id(
    place: int, steps: Sequence[Step], places: Mapping[str, int], same_id: Mapping[str, Sequence[int]]
) -> int | None:
    """The step with the same call id that is above this one, or began before it and ended after it: a retry did neither."""
    others = same_id.get(str(steps[place].attributes.get(TOOL_CALL_ID)), ())
    if len(others) < 2:
        return None
    above = [each for each in _tools_above(place, steps, places) if each in others]
    end = steps[place].end_time
    around = [
        each for each in others[:_MOST_OPEN] if each < place and end is not None and _ends_after(steps[each], end)
    ]
    return next(iter([*above, *around]), None)


def _by_name_above(place: int, steps: Sequence[Step], places: Mapping[str, int]) -> int | None:
    """The nearest tool step above that is called so."""
    above = next(iter(_tools_above(place, steps, places)), None)
    return above if above is not None and _names(steps[above].name, steps[place].name) else None


def _tools_above(place: int, steps: Sequence[Step], places: Mapping[str, int]) -> list[int]:
    found: list[int] = []
    at = steps[place].parent_span_id
    for _ in range(_MOST_ABOVE):
        if at not in places:
            break
        above = places[at]
        if steps[above].type is _TOOL:
            found.append(above)
        at = steps[above].parent_span_id
    return found


def _is_of_mcp(step: Step) -> bool:
    return step.attributes.get("mcp.method.name") == "tools/call"


def _names(outer: str, inner: str) -> bool:
    """Whether a tool is called so, perhaps with its server before it, as `mcp__lamps__lamp_state` is `lamp_state`."""
    return outer == inner or (outer.endswith(inner) and _SEPARATORS.search(outer[: -len(inner)][-2:]) is not None)


def _last_part(name: str) -> str:
    return _SEPARATORS.split(name)[-1]


def _ends_after(step: Step, moment: datetime) -> bool:
    return step.end_time is not None and step.end_time >= moment


def _completed(call: Step, inner: Step) -> Step:
    return msgspec.structs.replace(
        call, input=call.input or inner.input, output=call.output or inner.output, error=call.error or inner.error
    )
