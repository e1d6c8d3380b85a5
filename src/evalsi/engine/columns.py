"""Results in columns: what every evaluator said about a batch of records, without an object per result.

One `EvaluatorColumns` holds an outcome code per record, a float per record and output, and sparse notes (reasons,
errors, explanations, costs) for the rows that have any. Result messages are built only at the faces, by `results`.
"""

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from evalsi.core.errors import MeasurementError, ScoreError
from evalsi.evaluators.api import Definition
from evalsi.schema import (
    ErrorKind,
    EvaluationResult,
    Fault,
    IsolationReport,
    MetricSpec,
    Outcome,
    Score,
    ScoreType,
    Usage,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Kind: TypeAlias = Literal["number", "passed", "label", "structured"]

PENDING, SCORED, SKIPPED, ERROR, CANCELLED = range(5)
"""Outcome codes of a row; 1 to 4 are the numbers of `Outcome` on the wire, 0 is not measured yet."""

_OUTCOMES = {SCORED: Outcome.SCORED, SKIPPED: Outcome.SKIPPED, ERROR: Outcome.ERROR, CANCELLED: Outcome.CANCELLED}
_KINDS: dict[ScoreType, Kind] = {
    ScoreType.NUMBER: "number",
    ScoreType.PASSED: "passed",
    ScoreType.LABEL: "label",
    ScoreType.STRUCTURED: "structured",
}
_REPLY_KINDS = frozenset(
    {ErrorKind.JUDGE_PARSE, ErrorKind.JUDGE_OUT_OF_RANGE, ErrorKind.JUDGE_TRUNCATED, ErrorKind.JUDGE_REFUSED}
)
RANGE_TOLERANCE = 1e-9
"""A value this far outside its declared range is rounding and is drawn back to the bound; further out is an error."""


class Note(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a row has to say beyond its numbers. `explanations`, `details` and `confidences` go by output name."""

    reason: str = ""
    error_kind: ErrorKind = ErrorKind.UNSPECIFIED
    fault: Fault = Fault.UNSPECIFIED
    detail: str = ""
    usage: Usage | None = None
    duration_s: float | None = None
    span_id: str = ""
    session_id: str = ""
    isolation: IsolationReport | None = None
    explanations: dict[str, str] = {}
    details: dict[str, dict[str, Any]] = {}
    confidences: dict[str, float] = {}


_NO_NOTE = Note()


@dataclass(slots=True)
class Column:
    """One output over a batch: `values` has shape (rows,), NaN where the row has no value of this output.

    For labels and structured values `objects` holds them, None where there is none.
    """

    output: str
    kind: Kind
    values: list[float]
    objects: list[Any] | None = None

    def array(self) -> "npt.NDArray[np.float64]":
        import numpy as np

        return np.asarray(self.values, dtype=np.float64)


@dataclass(slots=True)
class EvaluatorColumns:
    """One evaluator over one batch. `outcomes` has one code per row."""

    evaluator: str
    ref: str
    primary: str
    """The output whose metric bears the evaluator's name."""
    outcomes: bytearray
    columns: dict[str, Column] = field(default_factory=dict[str, Column])
    notes: dict[int, Note] = field(default_factory=dict[int, Note])
    duration_s: float = 0.0
    """Seconds spent on the whole batch by evaluators whose rows are not timed one by one."""

    @property
    def rows(self) -> int:
        return len(self.outcomes)

    def metric(self, output: str) -> str:
        return self.evaluator if output == self.primary else f"{self.evaluator}.{output}"


class ColumnsBuilder:
    """Fills the columns of one evaluator from the plain values it returns, checking each.

    A declared output keeps its declared type and range. An undeclared one is typed by its first value; verdicts and
    numbers mix into numbers, a name among numbers is an error.
    """

    def __init__(self, definition: Definition, *, name: str, ref: str, rows: int) -> None:
        specs = definition.outputs or (MetricSpec(name=definition.name, type=ScoreType.UNSPECIFIED),)
        names = [spec.name for spec in specs]
        self.specs = {spec.name: spec for spec in specs}
        self.declared = bool(definition.outputs)
        self.primary = definition.name if definition.name in names else (names[0] if len(names) == 1 else "")
        self.first = names[0]
        self.result = EvaluatorColumns(evaluator=name, ref=ref, primary=self.primary, outcomes=bytearray(rows))
        for spec in definition.outputs:
            self._column(spec.name, _KINDS.get(spec.type, "number"))

    def put(self, row: int, value: Any) -> None:
        """Takes what the evaluator returned for `row`; what is no score becomes an ERROR."""
        try:
            self._put(row, value)
        except MeasurementError as error:
            self.fail(row, error)
        else:
            self.result.outcomes[row] = SCORED

    def skip(self, row: int, reason: str) -> None:
        self.result.outcomes[row] = SKIPPED
        self.note(row).reason = reason

    def cancel(self, row: int, reason: str) -> None:
        self.result.outcomes[row] = CANCELLED
        self.note(row).reason = reason

    def fail(self, row: int, error: MeasurementError) -> None:
        self.result.outcomes[row] = ERROR
        for column in self.result.columns.values():
            column.values[row] = nan
            if column.objects is not None:
                column.objects[row] = None
        note = self.note(row)
        note.reason, note.error_kind, note.fault = error.message, error.kind, error.fault
        note.detail = error.detail or ""

    def note(self, row: int) -> Note:
        found = self.result.notes.get(row)
        if found is None:
            found = self.result.notes[row] = Note(explanations={}, details={}, confidences={})
        return found

    def _put(self, row: int, value: Any) -> None:
        if isinstance(value, Score):
            self._put_score(row, value)
        elif isinstance(value, dict):
            self._put_all(row, list(value.items()))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, list):
            self._put_list(row, value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            self._put_plain(row, self.primary or self.first, value)

    def _put_list(self, row: int, values: list[Any]) -> None:
        if not values:
            raise ScoreError("the evaluator returned an empty list", kind=ErrorKind.NO_SCORE)
        for score in values:
            if not isinstance(score, Score):
                raise ScoreError(f"the evaluator returned a list of {type(score).__name__}, not of Score")
            self._put_score(row, score)

    def _put_all(self, row: int, items: list[tuple[Any, Any]]) -> None:
        present = [(str(name), value) for name, value in items if value is not None]
        if not present:
            raise ScoreError("the evaluator returned no value", kind=ErrorKind.NO_SCORE)
        for name, value in present:
            if isinstance(value, Score):
                self._put_score(row, value, name=name)
            else:
                self._put_plain(row, name, value)

    def _put_score(self, row: int, score: Score, name: str = "") -> None:
        output = name or score.name or self.primary or self.first
        if score.number is not None:
            self._put_plain(row, output, score.number)
        elif score.passed is not None:
            self._put_plain(row, output, score.passed)
        elif score.label is not None:
            self._put_plain(row, output, score.label)
        elif score.structured is not msgspec.UNSET:
            self._object(self._column(output, "structured"), row, score.structured)
        else:
            raise ScoreError(f"the score {output!r} has no value", kind=ErrorKind.NO_SCORE)
        if score.explanation:
            self.note(row).explanations[output] = score.explanation
        if score.metadata:
            self.note(row).details[output] = dict(score.metadata)
        if score.confidence is not None:
            self.note(row).confidences[output] = score.confidence
        if score.cost is not None:
            self.note(row).usage = score.cost

    def _put_plain(self, row: int, output: str, value: Any) -> None:
        if value is None:
            raise ScoreError("the evaluator returned no value", kind=ErrorKind.NO_SCORE)
        if isinstance(value, str):
            self._put_label(row, output, value)
            return
        if _is_scalar_of_numpy(value):
            value = value.item()
        verdict = isinstance(value, bool)
        if not verdict and not isinstance(value, (int, float)):
            raise ScoreError(f"{output}: the evaluator returned {type(value).__name__}, which is no score")
        column = self._column(output, "passed" if verdict else "number")
        if column.kind not in ("number", "passed"):
            raise ScoreError(f"{output} is a {column.kind}, and the evaluator returned {value!r}")
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise ScoreError(f"{output}: the evaluator returned {value!r}", kind=ErrorKind.NOT_FINITE)
        if column.kind == "passed" and not verdict:
            if output in self.specs and self.declared and number not in (0.0, 1.0):
                raise ScoreError(f"{output} is a verdict, and the evaluator returned {value!r}")
            if not self.declared:
                column.kind = "number"
        column.values[row] = self._within_range(output, number) + 0.0

    def _within_range(self, output: str, number: float) -> float:
        spec = self.specs.get(output)
        if spec is None:
            return number
        if (spec.min is None or spec.min <= number) and (spec.max is None or number <= spec.max):
            return number
        for bound, outside in ((spec.min, -1.0), (spec.max, 1.0)):
            if bound is not None and (number - bound) * outside > 0:
                if abs(number - bound) <= RANGE_TOLERANCE * max(1.0, abs(bound)):
                    return bound
                raise ScoreError(
                    f"{output}: {number!r} lies outside its range [{spec.min}, {spec.max}]",
                    kind=ErrorKind.OUT_OF_RANGE,
                )
        return number

    def _put_label(self, row: int, output: str, label: str) -> None:
        column = self._column(output, "label")
        if column.kind != "label":
            raise ScoreError(f"{output} is a {column.kind}, and the evaluator returned the text {label[:60]!r}")
        self._object(column, row, label)

    def _object(self, column: Column, row: int, value: Any) -> None:
        if column.objects is None:
            raise ScoreError(f"{column.output} is a {column.kind}, and the evaluator returned a structured value")
        column.objects[row] = value

    def _column(self, output: str, kind: Kind) -> Column:
        column = self.result.columns.get(output)
        if column is None:
            if self.declared and output not in self.specs:
                raise ScoreError(f"the evaluator returned {output!r}, which is none of its outputs")
            rows = self.result.rows
            objects = [None] * rows if kind in ("label", "structured") else None
            column = self.result.columns[output] = Column(output, kind, [nan] * rows, objects)
        return column


def results(columns: EvaluatorColumns, record_ids: Sequence[str]) -> Iterator[EvaluationResult]:
    """The result messages of a batch, one per row, in order."""
    return (result(columns, row, record_ids[row]) for row in range(columns.rows))


def result(columns: EvaluatorColumns, row: int, record_id: str, trial: int = 0) -> EvaluationResult:
    """The result message of one row."""
    code = columns.outcomes[row]
    note = columns.notes.get(row) or _NO_NOTE
    is_reply = bool(note.detail) and note.error_kind in _REPLY_KINDS
    return EvaluationResult(
        record_id=record_id,
        evaluator=columns.evaluator,
        evaluator_ref=columns.ref,
        outcome=_OUTCOMES[code],
        scores=list(scores(columns, row)) if code == SCORED else [],
        trial=trial,
        duration=columns.duration_s / len(columns.outcomes) if note.duration_s is None else note.duration_s,
        reason=note.reason,
        error_kind=note.error_kind,
        fault=note.fault,
        detail="" if is_reply else note.detail,
        raw_reply=note.detail if is_reply else "",
        usage=note.usage,
        span_id=note.span_id,
        session_id=note.session_id,
        isolation=note.isolation,
    )


def scores(columns: EvaluatorColumns, row: int) -> Iterator[Score]:
    """The scores of one scored row, one per output that has a value there."""
    note = columns.notes.get(row) or _NO_NOTE
    for output, column in columns.columns.items():
        value = column.values[row]
        held = column.objects[row] if column.objects is not None else None
        if value != value and held is None:
            continue
        yield Score(
            name=output,
            number=value if column.kind == "number" else None,
            passed=value == 1.0 if column.kind == "passed" else None,
            label=held if column.kind == "label" else None,
            structured=held if column.kind == "structured" else msgspec.UNSET,
            explanation=note.explanations.get(output, ""),
            confidence=note.confidences.get(output),
            metadata={**note.details.get("", {}), **note.details.get(output, {})} if note.details else {},
        )


def assemble(parts: Sequence[tuple[Sequence[int], EvaluatorColumns]], rows: int) -> EvaluatorColumns:
    """One evaluator's columns over `rows` rows from columns over some of them.

    Args:
        parts: The rows each part's rows become, and the part. Together they cover every row once.
    """
    first = parts[0][1]
    whole = EvaluatorColumns(evaluator=first.evaluator, ref=first.ref, primary=first.primary, outcomes=bytearray(rows))
    for places, part in parts:
        whole.duration_s += part.duration_s
        for row, place in enumerate(places):
            whole.outcomes[place] = part.outcomes[row]
        for row, note in part.notes.items():
            whole.notes[places[row]] = note
        for output, column in part.columns.items():
            _scatter(whole, output, column, places, rows)
    return whole


def _scatter(whole: EvaluatorColumns, output: str, column: Column, places: Sequence[int], rows: int) -> None:
    target = whole.columns.get(output)
    if target is None:
        objects = [None] * rows if column.objects is not None else None
        target = whole.columns[output] = Column(output, column.kind, [nan] * rows, objects)
    if target.kind == "passed" and column.kind == "number":
        target.kind = "number"
    if target.objects is None and column.objects is not None:
        target.kind, target.objects = column.kind, [None] * rows
    for row, place in enumerate(places):
        target.values[place] = column.values[row]
        if target.objects is not None and column.objects is not None:
            target.objects[place] = column.objects[row]


class _Packed(msgspec.Struct, array_like=True):
    evaluator: str
    ref: str
    primary: str
    outcomes: bytes
    columns: list[tuple[str, str, bytes, list[Any] | None]]
    notes: dict[int, Note]
    duration_s: float


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[_Packed])


def pack(batch: Sequence[EvaluatorColumns]) -> bytes:
    """The columns of a batch as bytes, for the store and between processes."""
    return _ENCODER.encode(
        [
            _Packed(
                c.evaluator,
                c.ref,
                c.primary,
                bytes(c.outcomes),
                [(x.output, x.kind, _pack_values(x), x.objects) for x in c.columns.values()],
                c.notes,
                c.duration_s,
            )
            for c in batch
        ]
    )


def unpack(data: bytes) -> list[EvaluatorColumns]:
    """The inverse of `pack`."""
    return [
        EvaluatorColumns(
            evaluator=p.evaluator,
            ref=p.ref,
            primary=p.primary,
            outcomes=bytearray(p.outcomes),
            columns={
                output: Column(output, kind, _unpack_values(values), objects)  # pyright: ignore[reportArgumentType]
                for output, kind, values, objects in p.columns
            },
            notes=p.notes,
            duration_s=p.duration_s,
        )
        for p in _DECODER.decode(data)
    ]


def _pack_values(column: Column) -> bytes:
    """Doubles, the least significant byte first."""
    values = array("d", column.values)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _unpack_values(packed: bytes) -> list[float]:
    values = array("d", packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def _is_scalar_of_numpy(value: Any) -> bool:
    """Without loading numpy: where nobody has, there is no such value."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)
