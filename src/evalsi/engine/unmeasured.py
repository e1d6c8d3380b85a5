"""Columns of rows on which nothing could be measured, because there was no answer or no time left for one."""

from collections.abc import Sequence

from evalsi.core.errors import MeasurementError
from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.measure import builder_for
from evalsi.engine.panel import Panel


def failed_columns(panel: Panel, errors: Sequence[MeasurementError]) -> list[EvaluatorColumns]:
    """Every per-record evaluator's ERROR on rows that got no answer, one error a row."""
    columns: list[EvaluatorColumns] = []
    for evaluator in panel.per_row:
        builder = builder_for(evaluator, len(errors))
        for row, error in enumerate(errors):
            builder.fail(row, error)
        columns.append(builder.result)
    return columns


def cancelled_columns(panel: Panel, rows: int, reason: str) -> list[EvaluatorColumns]:
    """Every per-record evaluator's CANCELLED on rows that were never asked about."""
    columns: list[EvaluatorColumns] = []
    for evaluator in panel.per_row:
        builder = builder_for(evaluator, rows)
        for row in range(rows):
            builder.cancel(row, reason)
        columns.append(builder.result)
    return columns
