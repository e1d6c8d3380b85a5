"""What this pack reads out of a trajectory: its calls, its failures, its agents. One reading for every evaluator."""

from collections.abc import Sequence
from typing import Any, cast

from evalsi.evaluators.shared_reading import read_once
from evalsi.schema import Record, Step, StepType, Trajectory
from evalsi.traces import MadeCall, tool_calls_of

_SPOKEN = (StepType.LLM, StepType.TOOL, StepType.RETRIEVAL, StepType.HANDOFF, StepType.GUARDRAIL, StepType.EMBEDDING)


def trajectory_of(record: Record) -> Trajectory:
    """The record's trajectory; the engine has skipped records without one."""
    assert record.trajectory is not None
    return record.trajectory


def calls_of(record: Record) -> Sequence[MadeCall]:
    """The tool calls of the record, each once, in the order they were made."""
    return read_once(tool_calls_of, trajectory_of(record))


def failure_of(call: MadeCall) -> str:
    """Why the call failed: its step's error, or an error that its result states; "" when it did not."""
    if call.error:
        return call.error
    result: Any = call.result
    if isinstance(result, dict):
        fields = cast("dict[str, Any]", result)
        for key in ("error", "is_error", "isError"):
            value: Any = fields.get(key)
            if value not in (None, False, "", [], {}):
                return value if isinstance(value, str) else "the result says that it failed"
    return ""


def work_steps(record: Record) -> list[Step]:
    """The steps that do something: model calls, tools, searches, hand-overs; not the agents and frames around them."""
    return [step for step in trajectory_of(record).steps if step.type in _SPOKEN]
