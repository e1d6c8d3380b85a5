"""One evaluator over a batch of records in this process: the loop that turns calls into columns.

The loop does nothing per record but check the requirements, call, and write a float. Whatever an evaluator raises
costs its own row.
"""

from collections.abc import Iterable, Sequence
from sys import float_info
from time import perf_counter
from typing import Any

from evalsi.core.errors import MeasurementError, ScoreError, SkipRecord, crossing, described
from evalsi.core.python_module import ANYTHING, who_exits
from evalsi.engine.columns import SCORED, ColumnsBuilder, EvaluatorColumns
from evalsi.engine.requirements import unmet
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import ErrorKind, Record, Scope, Step


def builder_for(evaluator: BoundEvaluator, rows: int) -> ColumnsBuilder:
    return ColumnsBuilder(evaluator.definition, name=evaluator.name, ref=evaluator.ref, rows=rows)


def measure(
    evaluator: BoundEvaluator, records: Sequence[Record], baselines: Sequence[Record | None] | None = None
) -> EvaluatorColumns:
    """Calls a computing (sync) evaluator on every record.

    Args:
        evaluator: Of scope record, span or comparative.
        records: Read, never changed.
        baselines: For comparative scope, the record to compare each with, or None where there is none.
    """
    assert not evaluator.is_async
    builder = builder_for(evaluator, len(records))
    started = perf_counter()
    if evaluator.call_batch is not None and evaluator.scope is Scope.RECORD:
        _measure_batch(evaluator, records, builder)
    elif evaluator.scope is Scope.RECORD:
        _measure_records(evaluator, records, builder)
    else:
        for row, record in enumerate(records):
            measure_row(evaluator, builder, row, record, baselines[row] if baselines is not None else None)
    builder.result.duration_s = perf_counter() - started
    return builder.result


def _measure_records(evaluator: BoundEvaluator, records: Sequence[Record], builder: ColumnsBuilder) -> None:
    call = evaluator.call
    assert call is not None
    reasons = unmet(evaluator.definition.requires, records)
    outcomes = builder.result.outcomes
    column = builder.result.columns.get(builder.primary)
    spec = builder.specs.get(builder.primary)
    # A number without bounds to check, or a verdict, goes straight to its column; everything else through `put`.
    direct = (
        {"passed": bool, "number": float}.get(column.kind)
        if column is not None and len(builder.result.columns) == 1 and spec is not None
        else None
    )
    values = column.values if column is not None else []
    low = spec.min if spec is not None and spec.min is not None else -float_info.max
    high = spec.max if spec is not None and spec.max is not None else float_info.max
    for row, record in enumerate(records):
        if row in reasons:
            builder.skip(row, reasons[row])
            continue
        try:
            value = call(record)
        except ANYTHING as error:
            record_failure(builder, row, error)
            continue
        if value.__class__ is direct and low <= value <= high:  # neither NaN nor infinite, then
            values[row] = value + 0.0
            outcomes[row] = SCORED
        else:
            builder.put(row, value)


def _measure_batch(evaluator: BoundEvaluator, records: Sequence[Record], builder: ColumnsBuilder) -> None:
    reasons = unmet(evaluator.definition.requires, records)
    for row, reason in reasons.items():
        builder.skip(row, reason)
    rows = [row for row in range(len(records)) if row not in reasons]
    if not rows:
        return
    assert evaluator.call_batch is not None
    try:
        values = list(evaluator.call_batch([records[row] for row in rows]))
        if len(values) != len(rows):
            raise ScoreError(f"{evaluator.name} returned {len(values)} values for {len(rows)} records")
    except Exception as error:
        if len(rows) == 1 or isinstance(error, ScoreError):
            for row in rows:
                record_failure(builder, row, error)
            return
        for row in rows:  # one bad record must not cost the batch: ask for each alone
            measure_row(evaluator, builder, row, records[row], None)
        return
    for row, value in zip(rows, values, strict=True):
        builder.put(row, value)


def measure_quickly(evaluator: BoundEvaluator, records: Sequence[Record], builder: ColumnsBuilder) -> list[int]:
    """Settles the records on which the evaluator can say its value at once; the rows of all others, in order."""
    call = evaluator.call_quickly
    if call is None:
        return list(range(len(records)))
    reasons = unmet(evaluator.definition.requires, records)
    rest: list[int] = []
    for row, record in enumerate(records):
        if row in reasons:
            builder.skip(row, reasons[row])
            continue
        try:
            value = call(record)
        except ANYTHING as error:
            record_failure(builder, row, error)
            continue
        if value is None:
            rest.append(row)
        else:
            builder.put(row, value)
    return rest


def measure_row(
    evaluator: BoundEvaluator, builder: ColumnsBuilder, row: int, record: Record, baseline: Record | None
) -> None:
    """One record with a computing evaluator of any per-record scope."""
    subjects = subjects_of(evaluator, builder, row, record, baseline)
    if subjects is None:
        return
    call = evaluator.call
    assert call is not None
    try:
        if evaluator.scope is Scope.SPAN:
            values = [(step, call(step, record)) for step in subjects]
            put_spans(builder, row, values)
        else:
            builder.put(row, call(*subjects))
    except ANYTHING as error:
        record_failure(builder, row, error)


def measure_session(evaluator: BoundEvaluator, builder: ColumnsBuilder, row: int, records: Sequence[Record]) -> None:
    """The records of one session with a computing evaluator of session scope."""
    assert evaluator.call is not None
    try:
        with crossing(evaluator.name):
            builder.put(row, evaluator.call(records))
    except ANYTHING as error:
        record_failure(builder, row, error)


def subjects_of(
    evaluator: BoundEvaluator, builder: ColumnsBuilder, row: int, record: Record, baseline: Record | None
) -> Sequence[Any] | None:
    """What the evaluator is to be called with: the record, the pair, or the steps. None when it does not apply."""
    reason = unmet(evaluator.definition.requires, (record,)).get(0)
    if reason is None and evaluator.scope is Scope.COMPARATIVE and baseline is None:
        reason = "the record has no baseline to compare with"
    if reason is None and evaluator.scope is Scope.SPAN and (record.trajectory is None or not record.trajectory.steps):
        reason = "the record has no steps"
    if reason is not None:
        builder.skip(row, reason)
        return None
    if evaluator.scope is Scope.SPAN:
        assert record.trajectory is not None
        return record.trajectory.steps
    return (record, baseline) if evaluator.scope is Scope.COMPARATIVE else (record,)


def put_spans(builder: ColumnsBuilder, row: int, values: Iterable[tuple[Step, Any]]) -> None:
    """A record's value is the mean over its steps; the value of each step is kept beside it, by span."""
    scored: list[float] = []
    steps: list[dict[str, Any]] = []
    for step, value in values:
        if value is None:
            continue
        if not isinstance(value, (bool, int, float)):
            raise ScoreError(f"a span evaluator returns numbers or verdicts, not {type(value).__name__}")
        scored.append(float(value))
        steps.append({"span_id": step.span_id, "name": step.name, "value": float(value)})
    if not scored:
        builder.skip(row, "no step applied")
        return
    builder.put(row, sum(scored) / len(scored))
    builder.note(row).details.setdefault(builder.primary or builder.first, {})["steps"] = steps


def record_failure(builder: ColumnsBuilder, row: int, error: BaseException) -> None:
    """A skip, a typed failure, or whatever an outsider raised."""
    if isinstance(error, SkipRecord):
        builder.skip(row, str(error) or "the evaluator does not apply")
    elif isinstance(error, MeasurementError):
        builder.fail(row, error)
    elif isinstance(error, SystemExit):
        builder.fail(row, MeasurementError(who_exits(error)))
    else:
        kind = ErrorKind.TIMEOUT if isinstance(error, TimeoutError) else ErrorKind.EXCEPTION
        builder.fail(row, MeasurementError(described(error), kind=kind))
