"""What policies see of a trace or a session: what conditions read, and the records that evaluators are given.

Its own module because a live trace, a stored one that a policy is tried on and a session must look alike to a policy.
Pure. What always holds: facts hold a value for every variable of a selector.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from math import nan
from typing import Any

import msgspec

from evalsi.core.content import has_text, text_of
from evalsi.schema import PolicyScope, Record, Step, StepType, TraceSummary, Trajectory
from evalsi.traces.record_of_trace import KEY_ATTRIBUTE
from evalsi.traces.step_of_span import MODEL
from evalsi.traces.trajectory import root_of

_TOOL = StepType.TOOL  # as a member of its class it is found in ten times as long


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One trace or session."""

    name: str
    """The trace's id, or the session's with `ports.policy_store.SESSION_PREFIX` before it."""
    project: str
    revision: int
    at_ms: int
    """When it began."""
    facts: Mapping[str, Any]
    """By the names of `condition.TRACE_VARIABLES`."""
    records: Sequence[Record]
    """One per trace."""
    model: str = ""
    own_key: str = ""
    """Digest of the sender's own key; empty when it has none."""
    asked: str = ""
    """Digest of its input; empty when there is none."""

    @property
    def groups(self) -> dict[str, str]:
        """What figures about it can be split by."""
        named = (("version", self.facts["version"]), ("service", self.facts["service"]), ("model", self.model))
        found = {key: value for key, value in named if value}
        for key, value in self.facts["labels"].items():
            found[f"label.{key}"] = value
        return found


def subject_of_trace(summary: TraceSummary, record: Record, resource: Mapping[str, Any]) -> Subject:
    """A complete trace.

    Args:
        summary: As lists show it.
        record: With its trajectory.
        resource: Attributes of whatever sent its root.
    """
    steps = record.trajectory.steps if record.trajectory is not None else []
    root = root_of(steps)
    facts: dict[str, Any] = {
        "service": summary.service,
        "name": summary.name,
        "duration_ms": nan if summary.duration is None else 1000.0 * summary.duration,
        "error": summary.error,
        "steps": summary.steps,
        "tools": _distinct([step.name for step in steps if step.type is _TOOL]),
        "models": _distinct([str(step.attributes[MODEL]) for step in steps if MODEL in step.attributes]),
        "attributes": root.attributes if root is not None else {},
        "resource": resource,
        "labels": summary.labels,
        "version": summary.version,
        "user_id": summary.user_id,
        "session_id": summary.session_id,
        "cost_usd": nan if summary.cost_usd is None else summary.cost_usd,
        "feedback": nan if summary.feedback is None else summary.feedback,
    }
    started_ms = int(summary.start_time.timestamp() * 1000) if summary.start_time is not None else 0
    return Subject(
        name=summary.trace_id,
        project=summary.project,
        revision=summary.revision,
        at_ms=started_ms,
        facts=facts,
        records=[record],
        model=summary.model,
        own_key=_digest(str(facts["attributes"].get(KEY_ATTRIBUTE) or "")),
        asked=_digest(text_of(record.input)),
    )


def subject_of_session(name: str, session_id: str, traces: Sequence[Subject]) -> Subject:
    """A session that has ended: sums of what its traces count, and whatever of the rest the first of them says.

    Args:
        traces: At least one, the oldest first.
    """
    first = traces[0].facts

    def known(field: str) -> float:
        values: list[float] = [each.facts[field] for each in traces if each.facts[field] == each.facts[field]]
        return sum(values) if values else nan

    felt: list[float] = [each.facts["feedback"] for each in traces if each.facts["feedback"] == each.facts["feedback"]]
    facts: dict[str, Any] = {
        **first,
        "duration_ms": known("duration_ms"),
        "error": any(each.facts["error"] for each in traces),
        "steps": sum(each.facts["steps"] for each in traces),
        "tools": _distinct(tool for each in traces for tool in each.facts["tools"]),
        "models": _distinct(model for each in traces for model in each.facts["models"]),
        "labels": {key: value for each in reversed(traces) for key, value in each.facts["labels"].items()},
        "session_id": session_id,
        "cost_usd": known("cost_usd"),
        "feedback": sum(felt) / len(felt) if felt else nan,
    }
    records = [_of_session(record, session_id) for each in traces for record in each.records]
    return Subject(
        name=name,
        project=traces[0].project,
        revision=1,
        at_ms=min(each.at_ms for each in traces),
        facts=facts,
        records=records,
        model=traces[-1].model,
    )


def records_of(subject: Subject, scope: PolicyScope) -> list[Record]:
    """What evaluators of a policy are given of a subject: its records, or with scope SPAN one for every step."""
    if scope is not PolicyScope.SPAN:
        return list(subject.records)
    return [
        _of_step(step, record)
        for record in subject.records
        if record.trajectory is not None
        for step in record.trajectory.steps
    ]


def _of_step(step: Step, record: Record) -> Record:
    assert record.trajectory is not None
    trajectory = Trajectory(trace_id=record.trajectory.trace_id, session_id=record.trajectory.session_id, steps=[step])
    return msgspec.structs.replace(
        record,
        id=f"{record.id}/{step.span_id}",
        input=step.input,
        output=None if _only_calls_tools(step) else step.output,
        context=[],
        trajectory=trajectory,
        usage=step.usage,
        notes=[],
    )


def _only_calls_tools(step: Step) -> bool:
    """Whether a model gave no answer yet: an empty text would be graded as one."""
    messages = step.output.messages.messages if step.output is not None and step.output.messages is not None else []
    return bool(messages) and bool(messages[-1].tool_calls) and not has_text(step.output)


def _of_session(record: Record, session_id: str) -> Record:
    """The record with the session that it was found in, whatever its spans call it."""
    if record.trajectory is None or record.trajectory.session_id == session_id:
        return record
    trajectory = msgspec.structs.replace(record.trajectory, session_id=session_id)
    return msgspec.structs.replace(record, trajectory=trajectory)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
