"""Result lines as columns: the way back from what `document` writes.

Its own module because it decides how long reading a results file takes. Most lines of an evaluator differ from each
other in the record and the value alone; those are cut apart at the text they share. Every other line is decoded.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import nan
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from evalsi.engine.columns import CANCELLED, SCORED, Column, EvaluatorColumns, Kind, Note
from evalsi.schema import ErrorKind, Fault, IsolationReport, Usage

_CODES = {"scored": 1, "skipped": 2, "error": 3, "cancelled": 4}


class ScoreLine(msgspec.Struct):
    name: str = ""
    number: float | None = None
    passed: bool | None = None
    label: str | None = None
    structured: Any = msgspec.UNSET
    explanation: str = ""
    confidence: float | None = None
    metadata: dict[str, Any] = {}


class ResultLine(msgspec.Struct):
    """A result as files carry it, ours or another writer's."""

    record_id: str = ""
    evaluator: str = ""
    evaluator_ref: str = ""
    outcome: str = ""
    scores: list[ScoreLine] = []
    reason: str = ""
    duration_ms: float | None = None
    trial: int = 0
    error_kind: ErrorKind = ErrorKind.UNSPECIFIED
    fault: Fault = Fault.UNSPECIFIED
    detail: str = ""
    raw_reply: str = ""
    usage: Usage | None = None
    span_id: str = ""
    session_id: str = ""
    isolation: IsolationReport | None = None

    @property
    def code(self) -> int:
        """The code of its outcome in columns."""
        return _CODES.get(self.outcome) or _CODES.get(self.outcome.lower().removeprefix("outcome_"), CANCELLED)

    @property
    def duration_s(self) -> float:
        return (self.duration_ms or 0.0) / 1000


RESULT = msgspec.json.Decoder(ResultLine)
Declared = Mapping[str, Sequence[str]]
"""The outputs of an evaluator, by its name, as far as they are known; they tell which is the primary one."""


def columns_of_results(lines: Sequence[ResultLine], declared: Declared) -> EvaluatorColumns:
    """The columns of one evaluator, one row a result."""
    columns = _empty_columns(lines[0], len(lines), declared)
    durations_s = [line.duration_s for line in lines]
    timed_together = len(set(durations_s)) == 1
    columns.duration_s = sum(durations_s) if timed_together else 0.0
    for row, line in enumerate(lines):
        _put_result(columns, row, line, None if timed_together else durations_s[row])
    return _in_order(columns, declared)


def columns_of_lines(lines: Sequence[bytes], declared: Declared) -> EvaluatorColumns:
    """The columns of one evaluator, one row a line as `document` writes it, with or without what ends it.

    Raises: msgspec.MsgspecError: a line is no result.
    """
    pattern = _pattern(lines)
    columns = _cut_apart(lines, pattern, declared) if pattern is not None else None
    return columns or columns_of_results([_decoded(line) for line in lines], declared)


def _cut_apart(lines: Sequence[bytes], pattern: "_Pattern", declared: Declared) -> EvaluatorColumns | None:
    """The columns of lines most of which are like the pattern; None where more than records and values differ."""
    alike = _all_alike(lines, pattern)
    if alike is not None:
        columns = _scored_columns(pattern, len(lines), declared)
        for score, kind, values in zip(pattern.example.scores, _kinds(pattern), alike, strict=True):
            columns.columns[score.name] = Column(score.name, kind, values)
        return _in_order(columns, declared)
    begin, *inner = pattern.pieces
    size = len(begin)
    # Not `partition`: it prepares each time for what it looks for, which is long.
    rests = [line[at + size :] if line.startswith(begin, at := line.find(_BEGIN)) else b"" for line in lines]
    texts: list[list[bytes]] = []
    for piece in inner:
        cuts = [rest.partition(piece) for rest in rests]
        texts.append([value for value, _, _ in cuts])
        rests = [rest if found else _NOT_FOUND for _, found, rest in cuts]
    odd = {row: _decoded(lines[row]) for row, rest in enumerate(rests) if rest not in _ENDS}
    if any(line.duration_s != pattern.example.duration_s for line in odd.values()):
        return None
    columns = _scored_columns(pattern, len(lines), declared)
    for score, kind, values in zip(pattern.example.scores, _kinds(pattern), texts, strict=True):
        for row in odd:
            values[row] = b"null"
        of = _VERDICTS if kind == "passed" else _NUMBERS
        try:
            held = of.decode(b"[" + b",".join(values) + b"]")
        except msgspec.MsgspecError:
            return None  # a line has outputs that the pattern lacks, between those it has
        columns.columns[score.name] = Column(score.name, kind, [nan if each is None else float(each) for each in held])
    for row, line in odd.items():
        _put_result(columns, row, line, None)
    return _in_order(columns, declared)


def _all_alike(lines: Sequence[bytes], pattern: "_Pattern") -> list[list[float]] | None:
    """The values of lines that are all like the pattern, by output; None where one is not.

    What stands between the values is replaced in all lines at once, by what makes a list of objects of them. It holds
    quotation marks, which in a text of a line stand behind a backslash, so no text is mistaken for it; and whatever else is
    left makes the whole no such list.
    """
    values = _between(lines, pattern)
    if values is None:
        return None
    kinds, inner = _kinds(pattern), pattern.pieces[1:-1]
    try:
        if not inner:
            alone = (_VERDICT if kinds[0] == "passed" else _NUMBER).decode(b"[" + b",".join(values) + b"]")
            return [list(map(float, alone))] if len(alone) == len(lines) else None
        whole = b'},{"v0":'.join(values)
        for place, piece in enumerate(inner, 1):
            whole = whole.replace(piece, b',"v%d":' % place)
        rows: list[Any] = _decoder_of(kinds).decode(b'[{"v0":' + whole + b"}]")
    except msgspec.MsgspecError:
        return None
    if len(rows) != len(lines):
        return None
    by_output = (map(attrgetter(f"v{place}"), rows) for place in range(len(kinds)))
    return [list(map(float, each) if kind == "passed" else each) for kind, each in zip(kinds, by_output, strict=True)]


def _between(lines: Sequence[bytes], pattern: "_Pattern") -> list[bytes] | None:
    """Each line from its first value to its last; None where a line begins or ends otherwise than the pattern."""
    begin, last = pattern.pieces[0], pattern.pieces[-1]
    size, at = len(begin), 0
    end = last + (b",\n" if lines[0].endswith(b",\n") else b"\n")
    if not lines[-1].endswith(end):  # the last line of a list has no comma
        lines = [*lines[:-1], lines[-1].removesuffix(b"\n") + b",\n"]
    cut = -len(end)
    # Most records' ids are as long as the one before, so that the line need not be searched.
    values = [
        line[at + size : cut]
        if line.endswith(end) and (line.startswith(begin, at) or line.startswith(begin, at := line.find(_BEGIN)))
        else b""
        for line in lines
    ]
    return values if all(values) else None


def _scored_columns(pattern: "_Pattern", rows: int, declared: Declared) -> EvaluatorColumns:
    columns = _empty_columns(pattern.example, rows, declared)
    columns.duration_s = pattern.example.duration_s * rows
    columns.outcomes[:] = bytes([SCORED]) * rows
    return columns


def _kinds(pattern: "_Pattern") -> tuple[Kind, ...]:
    return tuple("number" if score.passed is None else "passed" for score in pattern.example.scores)


@lru_cache(maxsize=64)
def _decoder_of(kinds: tuple[Kind, ...]) -> "msgspec.json.Decoder[Any]":
    """Reads lists of objects with a value of each kind, named v0, v1 and so on."""
    fields = [(f"v{place}", bool if kind == "passed" else float) for place, kind in enumerate(kinds)]
    return msgspec.json.Decoder(list[msgspec.defstruct("Row", fields, gc=False, forbid_unknown_fields=True)])  # pyright: ignore[reportInvalidTypeForm]


_BEGIN = b',"evaluator":'
_NUMBERS = msgspec.json.Decoder(list[float | None])
_VERDICTS = msgspec.json.Decoder(list[bool | None])
_NUMBER = msgspec.json.Decoder(list[float])
_VERDICT = msgspec.json.Decoder(list[bool])
_EXAMPLES = 8
"""Scored lines that are looked at for one that holds values alone."""
_VALUE = re.compile(rb'(?:(?<="number":)|(?<="passed":))[^,}\]]+')


_ENDS = frozenset({b",\n", b"\n", b""})
_NOT_FOUND = b"?"


def _decoded(line: bytes) -> ResultLine:
    return RESULT.decode(line.rstrip(b",\n"))


class _Pattern(NamedTuple):
    """What the lines of an evaluator share: one of them, and the text around its values, from the evaluator's name on."""

    example: ResultLine
    pieces: list[bytes]


def _pattern(lines: Sequence[bytes]) -> _Pattern | None:
    """None where the evaluator's lines hold more than numbers and verdicts, as far as the first ones tell."""
    scored = (line for line in lines if b'"outcome":"scored"' in line)
    return next(filter(None, map(_pattern_of, islice(scored, _EXAMPLES))), None)


def _pattern_of(line: bytes) -> _Pattern | None:
    at = line.find(_BEGIN)
    example = _decoded(line)
    plain = [ScoreLine(name=each.name, number=each.number, passed=each.passed) for each in example.scores]
    bare = ResultLine(
        record_id=example.record_id,
        trial=example.trial,
        evaluator=example.evaluator,
        evaluator_ref=example.evaluator_ref,
        outcome="scored",
        scores=plain,
        duration_ms=example.duration_ms,
    )
    pieces = _VALUE.split(line[at:].rstrip(b",\n"))
    repeats = len({each.name for each in plain}) < len(plain)
    if at < 0 or example != bare or repeats or not plain or len(pieces) != len(plain) + 1:
        return None
    return _Pattern(example, pieces)


def _empty_columns(line: ResultLine, rows: int, declared: Declared) -> EvaluatorColumns:
    name = line.evaluator_ref.rpartition("/")[2].partition("@")[0] or line.evaluator
    outputs = declared.get(line.evaluator) or [name]
    primary = name if name in outputs else (outputs[0] if len(outputs) == 1 else "")
    return EvaluatorColumns(evaluator=line.evaluator, ref=line.evaluator_ref, primary=primary, outcomes=bytearray(rows))


def _in_order(columns: EvaluatorColumns, declared: Declared) -> EvaluatorColumns:
    """Declared outputs first, in their order."""
    held = columns.columns
    outputs = (*declared.get(columns.evaluator, ()), *held)
    columns.columns = {output: held[output] for output in dict.fromkeys(outputs) if output in held}
    return columns


def _put_result(columns: EvaluatorColumns, row: int, line: ResultLine, duration_s: float | None) -> None:
    columns.outcomes[row] = line.code
    for score in line.scores:
        _put_score(columns, row, score)
    _put_note(columns, row, line, duration_s)


def _put_score(columns: EvaluatorColumns, row: int, score: ScoreLine) -> None:
    kind: Kind
    if score.number is not None:
        kind, value, held = "number", score.number, None
    elif score.passed is not None:
        kind, value, held = "passed", float(score.passed), None
    elif score.label is not None:
        kind, value, held = "label", nan, score.label
    elif score.structured is not msgspec.UNSET:
        kind, value, held = "structured", nan, score.structured
    else:
        return
    column = columns.columns.get(score.name)
    if column is None:
        objects = [None] * columns.rows if held is not None else None
        column = columns.columns[score.name] = Column(score.name, kind, [nan] * columns.rows, objects)
    if column.kind == "passed" and kind == "number":
        column.kind = "number"
    column.values[row] = value
    if column.objects is not None:
        column.objects[row] = held


def _put_note(columns: EvaluatorColumns, row: int, line: ResultLine, duration_s: float | None) -> None:
    explanations = {score.name: score.explanation for score in line.scores if score.explanation}
    details = {score.name: score.metadata for score in line.scores if score.metadata}
    confidences = {score.name: score.confidence for score in line.scores if score.confidence is not None}
    said = (line.reason, line.detail, line.raw_reply, line.usage, line.span_id, line.session_id, line.isolation)
    if columns.outcomes[row] != SCORED or explanations or details or confidences or duration_s is not None or any(said):
        columns.notes[row] = Note(
            reason=line.reason,
            error_kind=line.error_kind,
            fault=line.fault,
            detail=line.detail or line.raw_reply,
            usage=line.usage,
            duration_s=duration_s,
            span_id=line.span_id,
            session_id=line.session_id,
            isolation=line.isolation,
            explanations=explanations,
            details=details,
            confidences=confidences,
        )
