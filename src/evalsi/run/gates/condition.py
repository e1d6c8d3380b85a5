"""A gate written as a condition in CEL: `metric('exact-match').mean >= 0.8 && run.errorRate < 0.05`.

Figures are read before anything is evaluated: the text is split into tokens, each reference to a figure becomes a
variable, and CEL computes with plain numbers. So every name is known when a spec is checked, whichever branch would be
taken, and no Python runs inside CEL. Whole numbers become fractions, because figures are fractions and CEL does not mix
the two in arithmetic. Places in messages are those of the text as it was written.

    reference = ["baseline."] ["slice('path', 'value')."] ("metric('name')" | "run") "." figure
"""

import importlib
import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from evalsi.core.condition_growth import growth_in
from evalsi.core.condition_mistakes import condition_mistakes, told
from evalsi.core.errors import UsageError, suggestion
from evalsi.run.gates.figure_ask import FigureAsk, split_metric
from evalsi.schema import GateStat

__all__ = ["MAX_CONDITION_CHARACTERS", "ConditionProblem", "FigureReference", "GateCondition"]

Stat = GateStat
MAX_CONDITION_CHARACTERS = 4_000

METRIC_FIGURES = {
    "mean": Stat.MEAN,
    "ciLow": Stat.CI_LOW,
    "ciHigh": Stat.CI_HIGH,
    "errorRate": Stat.ERROR_RATE,
    "coverage": Stat.COVERAGE,
    "n": Stat.N,
}
METRIC_CALLS = {"passAtK": Stat.PASS_AT_K, "passHatK": Stat.PASS_HAT_K}
RUN_FIGURES = {
    "errorRate": Stat.ERROR_RATE,
    "coverage": Stat.COVERAGE,
    "records": Stat.N,
    "latencyMean": Stat.LATENCY_MEAN,
    "latencyP50": Stat.LATENCY_P50,
    "latencyP90": Stat.LATENCY_P90,
    "latencyP95": Stat.LATENCY_P95,
    "latencyP99": Stat.LATENCY_P99,
    "costUsd": Stat.COST_TOTAL,
    "costUsdMean": Stat.COST_MEAN,
    "costUsdP95": Stat.COST_P95,
}
ROOTS = ("metric", "run", "slice", "baseline")

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>[bB]?[rR]?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
    |(?P<number>(?:\d+\.\d+(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_FRACTION = re.compile(r"\d*\.?\d+(?:[eE][-+]?\d+)?")
_UNDECLARED = re.compile(r"undeclared reference to '([\w.]+)'")
_OVERLOAD = re.compile(r"found no matching overload for '_?(.+?)_?' applied to '\((.*)\)'")


class ConditionProblem(NamedTuple):
    """A mistake in a condition; line and column count from 1."""

    line: int
    column: int
    message: str
    hint: str | None = None


class FigureReference(NamedTuple):
    """A figure that the condition reads, and where."""

    ask: FigureAsk
    line: int
    column: int


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class GateCondition:
    """A compiled condition, or the mistakes that keep it from being one: look at `problems` before deciding.

    Raises: UsageError: this platform has no CEL.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[ConditionProblem] = []
        self.references: list[FigureReference] = []
        self._line_starts = [0, *(match.end() for match in re.finditer(r"\n", text))]
        self.thresholds: dict[FigureAsk, float] = {}
        """The number that a figure is compared with, for figures with one right behind them: `metric('x').mean >= 0.8`."""
        self._names: dict[FigureAsk, str] = {}
        self._moves: list[tuple[int, int]] = [(0, 0)]
        self._compiled: Any = None
        self._prefix = "figure_"
        while self._prefix in text:
            self._prefix += "_"
        if len(text) > MAX_CONDITION_CHARACTERS:
            self.problems.append(
                ConditionProblem(1, 1, f"the condition is longer than {MAX_CONDITION_CHARACTERS} characters")
            )
            return
        rewritten = self._rewrite(_tokens(text))
        if not self.problems:
            self._compile(rewritten)
        if not self.problems and (growth := growth_in(text)) is not None:
            self.problems.append(ConditionProblem(*self.place(growth.at), growth.message, growth.hint))
        if not self.problems and not self.references:
            self.problems.append(
                ConditionProblem(
                    1,
                    1,
                    "the condition reads no figure of the run, so it decides nothing",
                    "write e.g. metric('exact-match').mean >= 0.8",
                )
            )

    @property
    def asks(self) -> list[FigureAsk]:
        return list(self._names)

    def decide(self, figures: Mapping[FigureAsk, float | None]) -> bool | str:
        """True or false, or a sentence that says why there is no answer.

        Args:
            figures: A value for each of `asks`; None where there is no data. A figure without data gives no answer
                unless the rest of the condition decides alone.
        """
        data = {name: value for ask, name in self._names.items() if (value := figures.get(ask)) is not None}
        value = self._compiled.eval(data=data)
        if value.type().name() == "BOOL":
            return bool(value.plain_value())
        reason = str(value.plain_value())
        return reason.partition(": ")[2] or reason

    def _rewrite(self, tokens: list[_Token]) -> str:
        """The text with a variable for each reference and fractions for whole numbers; fills `_names` and `_moves`."""
        written: list[str] = []
        length = 0
        position = 0

        def write(text: str, origin: int) -> None:
            nonlocal length
            self._moves.append((length, origin))
            written.append(text)
            length += len(text)

        while position < len(tokens):
            token = tokens[position]
            if token.kind == "name" and token.text in ROOTS and not _is_member(tokens, position):
                reference = _Reference(self, tokens, position)
                ask = reference.read()
                position = reference.position
                if ask is not None:
                    name = self._names.setdefault(ask, f"{self._prefix}{len(self._names)}")
                    line, column = self.place(token.start)
                    self.references.append(FigureReference(ask, line, column))
                    threshold = _compared_with(tokens, position)
                    if threshold is not None:
                        self.thresholds.setdefault(ask, threshold)
                    write(name, token.start)
                continue
            whole = token.kind == "number" and token.text.isdecimal()
            write(f"{token.text}.0" if whole else token.text, token.start)
            position += 1
        return "".join(written)

    def _compile(self, rewritten: str) -> None:
        cel = _cel()
        variables = dict.fromkeys(self._names.values(), cel.Type.DOUBLE)
        try:
            self._compiled = cel.NewEnv(variables=variables).compile(rewritten)
        except (RuntimeError, ValueError) as error:
            self._explain(str(error))
            return
        kind = self._compiled.return_type().name()
        if kind not in ("BOOL", "DYN"):
            self.problems.append(
                ConditionProblem(1, 1, f"the condition gives {kind}, not true or false", "compare it with a number")
            )

    def _explain(self, text: str) -> None:
        for mistake in condition_mistakes(text, is_more=bool(self.problems)):
            line, column = self._original(mistake.line, mistake.column)
            self.problems.append(ConditionProblem(line, column, *_reworded(mistake.message)))
        if not self.problems:
            self.problems.append(
                ConditionProblem(1, 1, f"the condition cannot be read: {text.partition(chr(10))[0][:200]}")
            )

    def _original(self, line: int, column: int) -> tuple[int, int]:
        """A place in the rewritten text as a place in the text as written; tokens never move to other lines."""
        starts = self._rewritten_line_starts
        offset = starts[min(line, len(starts)) - 1] + column - 1
        index = bisect_right(self._moves, (offset, len(self.text))) - 1
        new, old = self._moves[index]
        return self.place(min(len(self.text), old + offset - new))

    @property
    def _rewritten_line_starts(self) -> list[int]:
        # A newline is a token of its own or part of one that is copied, so its move maps it exactly.
        shifted: list[int] = []
        origins = [old for _, old in self._moves]
        for start in self._line_starts:
            index = bisect_right(origins, start) - 1
            new, old = self._moves[index]
            shifted.append(new + start - old)
        return shifted

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


class _Reference:
    """Reads one reference from the tokens; a malformed one becomes a problem and yields None."""

    def __init__(self, condition: GateCondition, tokens: list[_Token], position: int) -> None:
        self._condition = condition
        self._tokens = tokens
        self.position = position

    def read(self) -> FigureAsk | None:
        try:
            return self._reference()
        except _Malformed as error:
            token = self._peek()
            offset = token.start if token is not None else len(self._condition.text)
            line, column = self._condition.place(error.offset if error.offset is not None else offset)
            self._condition.problems.append(ConditionProblem(line, column, error.message, error.hint))
            self.position += 1
            return None

    def _reference(self) -> FigureAsk:
        root = self._name(ROOTS)
        of_baseline = root == "baseline"
        if of_baseline:
            self._sign(".")
            root = self._name(("metric", "run", "slice"))
        wanted: tuple[tuple[str, str], ...] = ()
        while root == "slice":
            self._sign("(")
            path = self._text()
            self._sign(",")
            wanted = tuple(sorted({*wanted, (path, self._text())}))
            self._sign(")")
            self._sign(".")
            root = self._name(("metric", "run", "slice"))
        metric = ""
        if root == "metric":
            self._sign("(")
            metric = self._text()
            self._sign(")")
        self._sign(".", f"{root} needs a figure, for example .{'mean' if metric else 'errorRate'}")
        stat, k = self._figure(
            METRIC_FIGURES if root == "metric" else RUN_FIGURES, METRIC_CALLS if root == "metric" else {}
        )
        base, kind, tries = split_metric(metric)
        if kind and stat is Stat.MEAN:
            metric, stat, k = base, Stat.PASS_AT_K if kind == "@" else Stat.PASS_HAT_K, tries
        return FigureAsk(stat=stat, metric=metric, k=k, slice=wanted, of_baseline=of_baseline)

    def _figure(self, figures: Mapping[str, GateStat], calls: Mapping[str, GateStat]) -> tuple[GateStat, int]:
        token = self._take("name", "a figure")
        spelled = {_folded(name): name for name in (*figures, *calls)}
        name = spelled.get(_folded(token.text))
        if name is None:
            near = suggestion(token.text, spelled.values())
            raise _Malformed(
                f"unknown figure {token.text!r}", near or f"known: {', '.join(spelled.values())}", token.start
            )
        if name in figures:
            following = self._peek()
            if following is not None and following.text == "(":
                raise _Malformed(f"{name} takes no arguments", f"write .{name}")
            return figures[name], 0
        self._sign("(", f"{name} needs the number of tries, for example {name}(3)")
        tries = self._take("number", "the number of tries")
        if not tries.text.isdecimal() or not 1 <= int(tries.text[:9]) <= 1_000_000:
            raise _Malformed(f"{name} takes a whole number from 1 up, not {tries.text}", None, tries.start)
        self._sign(")")
        return calls[name], int(tries.text)

    def _peek(self) -> _Token | None:
        while self.position < len(self._tokens) and self._tokens[self.position].kind == "space":
            self.position += 1
        return self._tokens[self.position] if self.position < len(self._tokens) else None

    def _take(self, kind: str, wanted: str) -> _Token:
        token = self._peek()
        if token is None or token.kind != kind:
            raise _Malformed(f"{wanted} is missing here")
        self.position += 1
        return token

    def _name(self, known: tuple[str, ...]) -> str:
        token = self._take("name", " or ".join(known))
        if token.text not in known:
            raise _Malformed(f"unknown name {token.text!r}", suggestion(token.text, known), token.start)
        return token.text

    def _sign(self, sign: str, otherwise: str = "") -> None:
        token = self._peek()
        if token is None or token.text != sign:
            raise _Malformed(otherwise or f"{sign!r} is missing here")
        self.position += 1

    def _text(self) -> str:
        token = self._peek()
        if token is None or token.kind != "text":
            raise _Malformed("a name in quotes is missing here", "write e.g. metric('exact-match')")
        self.position += 1
        try:
            value = _cel().NewEnv().compile(token.text).eval(data={}).plain_value()
        except (RuntimeError, ValueError):
            value = None
        if not isinstance(value, str) or not value:
            raise _Malformed(f"{token.text} is no name in quotes", "a backslash is written twice", token.start)
        return value


class _Malformed(Exception):
    def __init__(self, message: str, hint: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.message, self.hint, self.offset = message, hint, offset


def _tokens(text: str) -> list[_Token]:
    return [_Token(match.lastgroup or "sign", match[0], match.start()) for match in _TOKEN.finditer(text)]


def _is_member(tokens: list[_Token], position: int) -> bool:
    """Whether the name at `position` follows a dot, so that it is a field of something else."""
    before = [token for token in tokens[:position][-3:] if token.kind != "space"]
    return bool(before) and before[-1].text == "."


def _compared_with(tokens: list[_Token], position: int) -> float | None:
    """The number behind a comparison that stands at `position`."""
    following = [token for token in tokens[position : position + 6] if token.kind != "space"]
    signs = 0
    while signs < min(2, len(following)) and following[signs].text in ("<", ">", "="):
        signs += 1
    number = following[signs] if 0 < signs < len(following) else None
    return float(number.text) if number is not None and _FRACTION.fullmatch(number.text) else None


def _reworded(problem: str) -> tuple[str, str | None]:
    undeclared = _UNDECLARED.search(problem)
    if undeclared:
        name = undeclared[1].partition(".")[0]
        return f"unknown name {name!r}", suggestion(name, ROOTS)
    overload = _OVERLOAD.search(problem)
    if overload:
        return f"{overload[1]!r} does not take ({overload[2]})", None
    return told(problem)


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


@cache
def _cel() -> Any:
    try:
        return importlib.import_module("cel_expr_python.cel")
    except ImportError:
        raise UsageError("gates in CEL need the package cel-expr-python, which this platform lacks") from None
