"""Conditions of policies in CEL: over what is known of a trace, and over the scores so far.

Its own module because both are written by people, checked when a policy is applied, and asked for every trace. What
always holds: every name and its type are known when the condition is checked; whole numbers may be compared with
fractions; a condition that has no answer for a trace (a missing attribute) is not met, and says so; none fills the memory.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from evalsi.core.condition_growth import growth_in
from evalsi.core.condition_mistakes import condition_mistakes, place_of, told
from evalsi.core.errors import UsageError, suggestion

MOST_CHARACTERS = 4_000

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>[bB]?[rR]?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
    |(?P<number>\d+\.\d+(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign><=|>=|==|!=|&&|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_OVERLOAD = re.compile(r"found no matching overload for '_?(.+?)_?' applied to '\((.*)\)'")
_SCORE = re.compile(r"""scores\s*\[\s*(['"])((?:[^'"\\])+)\1\s*\]""")

TRACE_VARIABLES: Mapping[str, str] = {
    "service": "text",
    "name": "text",
    "duration_ms": "fraction",
    "error": "truth",
    "steps": "whole",
    "tools": "texts",
    "models": "texts",
    "attributes": "mapping",
    "resource": "mapping",
    "labels": "labels",
    "version": "text",
    "user_id": "text",
    "session_id": "text",
    "cost_usd": "fraction",
    "feedback": "fraction",
}
"""What a selector may read, with its type. Of `cost_usd` and `feedback` every comparison is false while they are unknown."""
SCORE_VARIABLES: Mapping[str, str] = {"scores": "fractions", "labels": "labels", "error": "truth"}
"""What a condition over scores may read: `scores` by metric, the labels of the trace, and whether it failed."""


class Problem(NamedTuple):
    """A mistake in a condition; line and column count from 1."""

    line: int
    column: int
    message: str
    hint: str | None = None


class Condition:
    """A compiled condition, or the mistakes that keep it from being one: look at `problems` before asking.

    Args:
        text: In CEL.
        variables: What it may read, as `TRACE_VARIABLES` or `SCORE_VARIABLES`.
        metrics: Metrics that there are; None where any may come.
    Raises: UsageError: this platform has no CEL.
    """

    def __init__(self, text: str, variables: Mapping[str, str], metrics: Sequence[str] | None = None) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._compiled: Any = None
        self._moved: list[int] = []
        if len(text) > MOST_CHARACTERS:
            self.problems.append(Problem(1, 1, f"the condition is longer than {MOST_CHARACTERS:,} characters"))
            return
        self.asked = [match[2] for match in _SCORE.finditer(text)]
        fractions = {name for name, kind in variables.items() if kind == "fraction"}
        self._compile(self._with_fractions(text, fractions), variables)
        if not self.problems and (growth := growth_in(text)) is not None:
            self.problems.append(Problem(*place_of(text, growth.at), growth.message, growth.hint))
        if not self.problems and metrics is not None:
            self._check_metrics(metrics)

    def holds(self, facts: Mapping[str, Any]) -> bool | str:
        """Whether it is met; a sentence when there is no answer.

        Args:
            facts: A value for every variable.
        """
        try:
            value = self._compiled.eval(data=facts)
        except (RuntimeError, ValueError) as error:
            return str(error).partition("\n")[0][:200]
        kind = value.type().name()
        if kind == "BOOL":
            return bool(value.plain_value())
        if kind == "ERROR":
            reason = str(value.plain_value())
            return (reason.partition(": ")[2] or reason)[:200]
        return f"it gives {kind}, not true or false"

    def _compile(self, text: str, variables: Mapping[str, str]) -> None:
        cel = _cel()
        types = {
            "text": cel.Type.STRING,
            "fraction": cel.Type.DOUBLE,
            "truth": cel.Type.BOOL,
            "whole": cel.Type.INT,
            "texts": cel.Type.List(cel.Type.STRING),
            "mapping": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
            "labels": cel.Type.Map(cel.Type.STRING, cel.Type.STRING),
            # Of any type, so that a score may be compared with a whole number.
            "fractions": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
        }
        try:
            self._compiled = cel.NewEnv(variables={name: types[kind] for name, kind in variables.items()}).compile(text)
        except (RuntimeError, ValueError) as error:
            self._explain(str(error), variables)
            return
        kind = self._compiled.return_type().name()
        if kind not in ("BOOL", "DYN"):
            self.problems.append(Problem(1, 1, f"the condition gives {kind}, not true or false"))

    def _with_fractions(self, text: str, fractions: set[str]) -> str:
        """The text with whole numbers that are compared with a fraction written as fractions: `duration_ms > 500.0`."""
        tokens = list(_TOKEN.finditer(text))
        solid = [match for match in tokens if match.lastgroup != "space"]
        written: list[str] = []
        place = {match.start(): number for number, match in enumerate(solid)}
        for match in tokens:
            written.append(match[0])
            if match.lastgroup == "number" and match[0].isdecimal():
                at = place[match.start()]
                before, after = solid[max(0, at - 2) : at], solid[at + 1 : at + 3]
                if (len(before) == 2 and before[1][0] in _COMPARISONS and before[0][0] in fractions) or (
                    len(after) == 2 and after[0][0] in _COMPARISONS and after[1][0] in fractions
                ):
                    written.append(".0")
                    self._moved.append(match.end())
        return "".join(written)

    def _explain(self, text: str, variables: Mapping[str, str]) -> None:
        for line, shifted, message in condition_mistakes(text, is_more=bool(self.problems)):
            start = sum(len(each) + 1 for each in self.text.split("\n")[: line - 1])
            column = shifted - 2 * sum(start <= moved < start + shifted - 1 for moved in self._moved)
            self.problems.append(Problem(line, max(1, column), *_reworded(message, variables)))
        if not self.problems:
            self.problems.append(Problem(1, 1, f"the condition cannot be read: {text.partition(chr(10))[0][:200]}"))

    def _check_metrics(self, metrics: Sequence[str]) -> None:
        for match in _SCORE.finditer(self.text):
            if match[2] not in metrics:
                line, column = place_of(self.text, match.start(2))
                near = suggestion(match[2], metrics) or (f"known: {', '.join(metrics)}" if metrics else None)
                self.problems.append(Problem(line, column, f"there is no metric {match[2]!r} here", near))


def _reworded(problem: str, variables: Mapping[str, str]) -> tuple[str, str | None]:
    undeclared = _UNDECLARED.search(problem)
    if undeclared:
        name = undeclared[1].partition(".")[0]
        return f"unknown name {name!r}", suggestion(name, variables) or f"known: {', '.join(variables)}"
    overload = _OVERLOAD.search(problem)
    if overload:
        hint = "write the number as a fraction, e.g. 500.0" if "double, int" in overload[2] else None
        return f"{overload[1]!r} does not take ({overload[2]})", hint
    return told(problem)


@cache
def _cel() -> Any:
    try:
        return importlib.import_module("cel_expr_python.cel")
    except ImportError:
        raise UsageError("policies need the package cel-expr-python, which this platform lacks") from None
