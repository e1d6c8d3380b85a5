# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Every type of the schema.

A module is loaded when the first of its names is asked for, so a program pays only for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalsi.schema.evaluator import (
        EvaluatorExample,
        EvaluatorManifest,
        EvaluatorRef,
        MetricSpec,
        Requirements,
        Scheduling,
        Scope,
        ScoreType,
    )
    from evalsi.schema.record import (
        Content,
        Enforcement,
        IsolationLevel,
        IsolationReport,
        MediaRef,
        Message,
        Messages,
        Provenance,
        Record,
        RunProvenance,
        Step,
        StepType,
        TabularRow,
        TaskCheck,
        Tensor,
        ToolCall,
        TraceProvenance,
        Trajectory,
        Usage,
    )
    from evalsi.schema.score import (
        ConfidenceInterval,
        ErrorKind,
        EvaluationResult,
        Fault,
        MetricKind,
        MetricSummary,
        Outcome,
        Score,
    )

__all__ = [
    "ConfidenceInterval",
    "Content",
    "Enforcement",
    "ErrorKind",
    "EvaluationResult",
    "EvaluatorExample",
    "EvaluatorManifest",
    "EvaluatorRef",
    "Fault",
    "IsolationLevel",
    "IsolationReport",
    "MediaRef",
    "Message",
    "Messages",
    "MetricKind",
    "MetricSpec",
    "MetricSummary",
    "Outcome",
    "Provenance",
    "Record",
    "Requirements",
    "RunProvenance",
    "Scheduling",
    "Scope",
    "Score",
    "ScoreType",
    "Step",
    "StepType",
    "TabularRow",
    "TaskCheck",
    "Tensor",
    "ToolCall",
    "TraceProvenance",
    "Trajectory",
    "Usage",
]

_HOME = {
    "ConfidenceInterval": "score",
    "Content": "record",
    "Enforcement": "record",
    "ErrorKind": "score",
    "EvaluationResult": "score",
    "EvaluatorExample": "evaluator",
    "EvaluatorManifest": "evaluator",
    "EvaluatorRef": "evaluator",
    "Fault": "score",
    "IsolationLevel": "record",
    "IsolationReport": "record",
    "MediaRef": "record",
    "Message": "record",
    "Messages": "record",
    "MetricKind": "score",
    "MetricSpec": "evaluator",
    "MetricSummary": "score",
    "Outcome": "score",
    "Provenance": "record",
    "Record": "record",
    "Requirements": "evaluator",
    "RunProvenance": "record",
    "Scheduling": "evaluator",
    "Scope": "evaluator",
    "Score": "score",
    "ScoreType": "evaluator",
    "Step": "record",
    "StepType": "record",
    "TabularRow": "record",
    "TaskCheck": "record",
    "Tensor": "record",
    "ToolCall": "record",
    "TraceProvenance": "record",
    "Trajectory": "record",
    "Usage": "record",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"evalsi.schema.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
