"""A trajectory as a tree with a bar for each step on one axis of time. Pure.

Its own module because it is about when and not about what: every step has a row, also those of which nothing can be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from evalsi.schema import Step, StepType, Trajectory

MOST_INDENT = 12
"""Levels that are indented; deeper steps stand below the last."""
_SHORTEST = 0.004
"""Share of the axis that a bar has at least, so that it is seen."""
_KINDS = {
    StepType.LLM: "llm",
    StepType.TOOL: "tool",
    StepType.RETRIEVAL: "search",
    StepType.AGENT: "agent",
    StepType.HANDOFF: "agent",
    StepType.GUARDRAIL: "check",
    StepType.EMBEDDING: "search",
}


@dataclass(frozen=True, kw_only=True)
class TimelineRow:
    """A step. `begin` and `length` are fractions of the axis; None where its time is not known."""

    step: Step
    level: int
    kind: str
    begin: float | None
    length: float
    children: int

    @property
    def bar(self) -> Markup:
        """The step on the axis."""
        if self.begin is None:
            return Markup("")
        failed = " failed" if self.step.error else ""
        x, width = 100 * self.begin, 100 * self.length
        shape = f'<rect class="{self.kind}{failed}" x="{x:.3f}%" width="{width:.3f}%" y="25%" height="50%" rx="1"/>'
        return Markup(f'<svg class="bar-of-time" aria-hidden="true">{shape}</svg>')  # noqa: S704 - numbers and our words


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """All steps in the order of the tree, and the axis in seconds."""

    rows: Sequence[TimelineRow]
    begin: datetime | None
    length_s: float


def timeline_of(trajectory: Trajectory) -> Timeline:
    """The rows of a trajectory. A step without an end is a point."""
    steps = trajectory.steps
    starts = [step.start_time for step in steps if step.start_time is not None]
    ends = [step.end_time for step in steps if step.end_time is not None]
    if not starts:
        return Timeline(rows=list(_rows(steps, None, 0.0)), begin=None, length_s=0.0)
    begin = min(starts)
    length_s = max(0.0, (max([*ends, *starts]) - begin).total_seconds())
    return Timeline(rows=list(_rows(steps, begin, length_s)), begin=begin, length_s=length_s)


def _rows(steps: Sequence[Step], begin: datetime | None, length_s: float) -> Iterator[TimelineRow]:
    children = children_of(steps)
    waiting = [(index, 0) for index in reversed(children.get(-1, []))]
    while waiting:
        index, level = waiting.pop()
        step, inner = steps[index], children.get(index, [])
        waiting += [(child, level + 1) for child in reversed(inner)]
        at, long = _place(step, begin, length_s)
        yield TimelineRow(
            step=step,
            level=min(level, MOST_INDENT),
            kind=_KINDS.get(step.type, "generic"),
            begin=at,
            length=long,
            children=len(inner),
        )


def children_of(steps: Sequence[Step]) -> Mapping[int, Sequence[int]]:
    """The places of the steps within each step, by its place; under -1 those that are in none."""
    places = {step.span_id: index for index, step in enumerate(steps)}
    children: dict[int, list[int]] = {}
    for index, step in enumerate(steps):
        children.setdefault(places.get(step.parent_span_id, -1), []).append(index)
    return children


def _place(step: Step, begin: datetime | None, length_s: float) -> tuple[float | None, float]:
    if begin is None or step.start_time is None:
        return None, 0.0
    end = step.end_time or step.start_time
    whole = length_s or 1.0
    at = (step.start_time - begin).total_seconds() / whole
    long = max(_SHORTEST, (end - step.start_time).total_seconds() / whole)
    return min(at, 1 - _SHORTEST), min(long, 1.0)
