"""What a foreign scorer said of one sample, as a result of ours: a value, or why there is none.

A value that is NaN, infinite or missing is an ERROR; where a scorer gives several values and some of them are sound,
those count and the others are absent.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evalsi.datasets.imports.log_json import finite
from evalsi.schema import ErrorKind, EvaluationResult, Fault, Outcome, Score, Usage


def scored(evaluator: str, scores: Sequence[Score], *, usage: Usage | None = None) -> EvaluationResult:
    """A SCORED result; an ERROR when no score has a value."""
    sound = [score for score in scores if has_value(score)]
    if sound:
        return EvaluationResult(evaluator=evaluator, outcome=Outcome.SCORED, scores=sound, usage=usage)
    broken = next((score.number for score in scores if score.number is not None), None)
    if broken is None:
        return failed(evaluator, "the log has no value", kind=ErrorKind.NO_SCORE)
    return failed(evaluator, f"the score is {broken!r}", kind=ErrorKind.NOT_FINITE)


def failed(
    evaluator: str,
    reason: str,
    *,
    kind: ErrorKind = ErrorKind.EXCEPTION,
    fault: Fault = Fault.EVALUATOR,
    usage: Usage | None = None,
) -> EvaluationResult:
    """An ERROR result."""
    return EvaluationResult(
        evaluator=evaluator, outcome=Outcome.ERROR, reason=reason, error_kind=kind, fault=fault, usage=usage
    )


def skipped(evaluator: str, reason: str) -> EvaluationResult:
    """A SKIPPED result."""
    return EvaluationResult(evaluator=evaluator, outcome=Outcome.SKIPPED, reason=reason)


def score_of(output: str, value: Any, *, explanation: str = "", metadata: Mapping[str, Any] | None = None) -> Score:
    """A score of a plain JSON value: verdict, number, name, or anything structured. Null is a score without a value."""
    details = finite(dict(metadata or {}))
    match value:
        case None:
            return Score(name=output, explanation=explanation, metadata=details)
        case bool():
            return Score(name=output, passed=value, explanation=explanation, metadata=details)
        case int() | float():
            return Score(name=output, number=as_float(value), explanation=explanation, metadata=details)
        case str():
            return Score(name=output, label=value, explanation=explanation, metadata=details)
        case _:
            return Score(name=output, structured=finite(value), explanation=explanation, metadata=details)


def has_value(score: Score) -> bool:
    """Whether the score has a value, and a finite one if it is a number."""
    if score.number is not None:
        return math.isfinite(score.number)
    return score != Score(name=score.name, explanation=score.explanation, metadata=score.metadata)


def as_float(value: float) -> float:
    """The number; a whole one that is larger than any float is infinite, which no score keeps."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
