"""A run as one wide table: a row per record, a column per metric, for data frames and Parquet.

Per evaluator there is an outcome column and, where anything has one, a reason column; per metric a value column that is
empty where nothing was scored. Metadata keys become `metadata.<key>`.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import MissingExtraError
from evalsi.engine.columns import EvaluatorColumns
from evalsi.results.graded_run import GradedRun
from evalsi.schema import Record

_OUTCOMES = {0: None, 1: "scored", 2: "skipped", 3: "error", 4: "cancelled"}


def flat_columns(run: GradedRun) -> dict[str, list[Any]]:
    """The whole table as lists by column name. Holds every row: use `flat_batches` where that is too much."""
    table: dict[str, list[Any]] = {}
    rows = 0
    for batch in flat_batches(run):
        count = len(batch["record_id"])
        for name in batch:
            if name not in table:
                table[name] = [None] * rows
        for name, values in table.items():
            values.extend(batch.get(name) or [None] * count)
        rows += count
    return table


def flat_batches(run: GradedRun) -> Iterator[dict[str, list[Any]]]:
    """The table in pieces; a column that a piece lacks is empty there."""
    for rows in run.read_rows():
        batch: dict[str, list[Any]] = {"record_id": [record.id for record in rows.records]}
        for field in ("input", "output", "reference"):
            batch[field] = [_text(record, field) for record in rows.records]
        for key in dict.fromkeys(key for record in rows.records for key in record.metadata):
            batch[f"metadata.{key}"] = [_plain(record.metadata.get(key)) for record in rows.records]
        for columns in rows.columns:
            batch |= _evaluator_columns(columns)
        yield batch


def to_arrow(run: GradedRun) -> Any:
    """A `pyarrow.Table`."""
    return _library("pyarrow", "an Arrow table", "arrow").table(_typed(flat_columns(run)))


def to_pandas(run: GradedRun) -> Any:
    """A `pandas.DataFrame`."""
    return _library("pandas", "a pandas data frame", "dataframes").DataFrame(_typed(flat_columns(run)))


def to_polars(run: GradedRun) -> Any:
    """A `polars.DataFrame`."""
    return _library("polars", "a polars data frame", "dataframes").DataFrame(_typed(flat_columns(run)), strict=False)


def write_parquet(run: GradedRun, path: Path) -> None:
    """Writes the table as Parquet, with zstd."""
    parquet = _library("pyarrow.parquet", "writing Parquet", "arrow")
    parquet.write_table(to_arrow(run), path, compression="zstd")


def _library(name: str, purpose: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(purpose, extra) from None


def _evaluator_columns(columns: EvaluatorColumns) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for output, column in columns.columns.items():
        if column.objects is not None:
            found[columns.metric(output)] = [_plain(held) for held in column.objects]
        elif column.kind == "passed":
            found[columns.metric(output)] = [None if v != v else v == 1.0 for v in column.values]
        else:
            found[columns.metric(output)] = [None if v != v else v for v in column.values]
    found[f"{columns.evaluator}.outcome"] = [_OUTCOMES[code] for code in columns.outcomes]
    if any(note.reason for note in columns.notes.values()):
        found[f"{columns.evaluator}.reason"] = [
            columns.notes[row].reason if row in columns.notes else None for row in range(columns.rows)
        ]
    explained = {output for note in columns.notes.values() for output in note.explanations}
    for output in sorted(explained):
        found[f"{columns.metric(output)}.explanation"] = [
            columns.notes[row].explanations.get(output) if row in columns.notes else None for row in range(columns.rows)
        ]
    return found


def _typed(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """One type per column: where types mix (a metadata key that is sometimes a number), everything becomes text."""
    return {name: values if _one_type(values) else [_as_text(v) for v in values] for name, values in table.items()}


def _one_type(values: list[Any]) -> bool:
    kinds: set[type] = {type(value) for value in values if value is not None}
    return len(kinds) <= 1 or kinds <= {int, float}


def _as_text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _plain(value: Any) -> Any:
    """A scalar as it is, anything deeper as JSON text; integers beyond 64 bits as text."""
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else msgspec.json.encode(value).decode()


def _text(record: Record, field: str) -> str | None:
    content = getattr(record, field)
    return None if content is None else text_of(content)
