"""Result lines as columns: the way back from what `document` writes.

Its own module because it decides how long reading a results file takes. Most lines of an evaluator differ from each
other in the record and the value alone; those are cut apart at the text they share. Every other line is decoded.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from math import nan
from typing import Any, NamedTuple

import msgspec

from evalsi.engine.columns import CANCELLED, SCORED, Column, EvaluatorColumns, Kind, Note
from evalsi.schema import ErrorKind, Fault, Usage

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
    begin, *inner = pattern.pieces
    rests = [line.partition(begin)[2] for line in lines]
    texts: list[list[bytes]] = []
    for piece in inner:
        cuts = [rest.partition(piece) for rest in rests]
        texts.append([value for value, _, _ in cuts])
        rests = [rest if found else _NOT_FOUND for _, found, rest in cuts]
    odd = {row: _decoded(lines[row]) for row, rest in enumerate(rests) if rest not in _ENDS}
    if any(line.duration_s != pattern.example.duration_s for line in odd.values()):
        return None
    columns = _empty_columns(pattern.example, len(lines), declared)
    columns.duration_s = pattern.example.duration_s * len(lines)
    columns.outcomes[:] = bytes([SCORED]) * len(lines)
    for score, values in zip(pattern.example.scores, texts, strict=True):
        for row in odd:
            values[row] = b"null"
        kind, of = ("passed", _VERDICTS) if score.passed is not None else ("number", _NUMBERS)
        try:
            held = of.decode(b"[" + b",".join(values) + b"]")
        except msgspec.MsgspecError:
            return None  # a line has outputs that the pattern lacks, between those it has
        columns.columns[score.name] = Column(score.name, kind, [nan if each is None else float(each) for each in held])
    for row, line in odd.items():
        _put_result(columns, row, line, None)
    return _in_order(columns, declared)


_NUMBERS = msgspec.json.Decoder(list[float | None])
_VERDICTS = msgspec.json.Decoder(list[bool | None])
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
    at = line.find(b',"evaluator":')
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
    said = (line.reason, line.detail, line.raw_reply, line.usage, line.span_id, line.session_id)
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
            explanations=explanations,
            details=details,
            confidences=confidences,
        )
