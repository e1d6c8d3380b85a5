"""The conditions of a `TraceFilter` that are written as text: labels and scores.

A module of its own because whoever asks is told of a mistake before anything is read, and every store must understand
the same.
"""

import math
import re
from typing import NamedTuple

from evalsi.core.errors import UsageError

_SCORE = re.compile(r"\s*([^\s<>=]+)\s*(?:(<=|>=|<|>)\s*(\S+)\s*)?")


class ScoreCondition(NamedTuple):
    """A score that a trace must have."""

    name: str
    """Of the evaluator, or "evaluator.output"."""
    operator: str
    """One of < <= > >=; empty when any value will do."""
    bound: float

    def holds(self, value: float) -> bool:
        match self.operator:
            case "<":
                return value < self.bound
            case "<=":
                return value <= self.bound
            case ">":
                return value > self.bound
            case ">=":
                return value >= self.bound
            case _:
                return True


def score_condition(text: str) -> ScoreCondition:
    """The condition that a text such as "faithfulness<0.5" states. Raises: UsageError."""
    found = _SCORE.fullmatch(text)
    if found is not None:
        name, operator, bound = found.groups()
        if operator is None:
            return ScoreCondition(name, "", 0.0)
        try:
            value = float(bound)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return ScoreCondition(name, operator, value)
    raise UsageError(
        f"{text!r} is no condition on a score",
        where="filter.scores",
        hint="write evaluator<0.5, evaluator>=0.8, or evaluator for any value",
    )


def label_condition(text: str) -> tuple[str, str]:
    """Key and value of a text such as "env=prod". Raises: UsageError."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UsageError(f"{text!r} is no label", where="filter.labels", hint="write key=value")
    return key, value
