"""`loop-detection` and `redundant-calls`: does the agent do again what it has done?"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.packs.agent.expected_calls import shown
from evalsi.evaluators.packs.agent.trajectory_reading import calls_of, failure_of
from evalsi.traces import MadeCall

_LONGEST_CYCLE = 8


class LoopDetectionParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is a loop."""

    max_repeats: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 2
    """How often the same call, or the same cycle of calls, may be made in a row."""


@evaluator(
    name="loop-detection",
    requires=["trajectory"],
    params=LoopDetectionParams,
    outputs=[output("loop-detection", "passed", description="Whether the agent never ran in a circle.")],
    bounded=True,
    example={
        "record": {"trajectory": {"steps": [{"type": "TOOL", "name": "look"}] * 3}},
        "expected": {"loop-detection": False},
    },
)
def loop_detection(record: Record, params: LoopDetectionParams) -> Score:
    """Passes unless the same call with the same arguments, or the same cycle of up to eight calls, is made more often in a
    row than `max_repeats`.
    """
    calls = calls_of(record)
    keys = [_key(call) for call in calls]
    for length in range(1, _LONGEST_CYCLE + 1):
        start, repeats = _longest_run(keys, length)
        if repeats > params.max_repeats:
            cycle = " → ".join(shown(call.name, call.arguments) for call in calls[start : start + length])
            return Score(
                name="loop-detection",
                passed=False,
                explanation=f"{repeats} times in a row: {cycle}",
                metadata={"repeats": repeats, "cycle": length, "first_call": start},
            )
    return Score(name="loop-detection", passed=True, explanation="no loop")


@evaluator(
    name="redundant-calls",
    requires=["trajectory"],
    outputs=[
        output(
            "redundant-calls",
            low=0,
            high=1,
            higher_is_better=False,
            description="Share of the tool calls that had been made before, with success and the same arguments.",
        )
    ],
    bounded=True,
    example={
        "record": {"trajectory": {"steps": [{"type": "TOOL", "name": "look"}, {"type": "TOOL", "name": "look"}]}},
        "expected": {"redundant-calls": 0.5},
    },
)
def redundant_calls(record: Record) -> Score:
    """The share of tool calls that repeat an earlier one: same tool, same arguments, which succeeded and gave the same.

    A repeat after a failure is a retry and does not count, nor does one that gave something else. SKIPPED when no tool was
    called.
    """
    calls = calls_of(record)
    if not calls:
        raise SkipRecord("no tool was called")
    seen: set[tuple[str, str]] = set()
    repeated: list[str] = []
    for call in calls:
        if failure_of(call):
            continue
        key = (_key(call), _text(call.result))
        if key in seen:
            repeated.append(shown(call.name, call.arguments))
        seen.add(key)
    said = f"{len(repeated)} of {len(calls)} calls repeat an earlier one"
    return Score(
        name="redundant-calls",
        number=len(repeated) / len(calls),
        explanation=said + (f": {', '.join(repeated[:3])}" if repeated else ""),
    )


def _key(call: MadeCall) -> str:
    return f"{call.name}\0{_text(call.arguments)}"


def _text(value: Any) -> str:
    return "" if value is msgspec.UNSET else value if isinstance(value, str) else canonical_json(value).decode()


def _longest_run(keys: Sequence[str], length: int) -> tuple[int, int]:
    """Start of the longest row of repeats of a cycle of `length` keys, and how often it is made there."""
    best, best_start = (1, 0) if len(keys) >= length else (0, 0)
    run = 0
    for place in range(length, len(keys)):
        run = run + 1 if keys[place] == keys[place - length] else 0
        repeats = run // length + 1
        if repeats > best and run % length == 0:
            best, best_start = repeats, place - run - length + 1
    return best_start, best
