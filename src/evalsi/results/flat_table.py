"""A run as one wide table: a row per record, a column per metric, for data frames and Parquet.

Per evaluator there is an outcome column and, where anything has one, a reason column; per metric a value column that is
empty where nothing was scored. Metadata keys become `metadata.<key>`.
"""

import importlib
from collections.abc import Iterator, Mapping
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
    """The whole table as lists by column name, one type a column. Holds every row; files are written in batches."""
    types = column_types(run)
    table: dict[str, list[Any]] = {name: [] for name in types}
    for batch in _typed_batches(run, types):
        for name, values in table.items():
            values.extend(batch[name])
    return table


def column_types(run: GradedRun) -> dict[str, type]:
    """The columns in order and the one type of each: str, int, float or bool; text where types mix. One pass."""
    found: dict[str, set[type]] = {}
    for batch in flat_batches(run):
        for name, values in batch.items():
            found.setdefault(name, set()).update(value.__class__ for value in values if value is not None)
    return {name: _common(kinds) for name, kinds in found.items()}


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
    return _library("pyarrow", "an Arrow table", "arrow").Table.from_batches(
        list(_arrow_batches(run, types := column_types(run))), schema=_arrow_schema(types)
    )


def to_pandas(run: GradedRun) -> Any:
    """A `pandas.DataFrame`."""
    return _library("pandas", "a pandas data frame", "dataframes").DataFrame(flat_columns(run))


def to_polars(run: GradedRun) -> Any:
    """A `polars.DataFrame`."""
    return _library("polars", "a polars data frame", "dataframes").DataFrame(flat_columns(run), strict=False)


def write_parquet(run: GradedRun, path: Path) -> None:
    """Writes the table as Parquet, with zstd, a batch at a time."""
    parquet = _library("pyarrow.parquet", "writing Parquet", "arrow")
    types = column_types(run)
    with parquet.ParquetWriter(path, _arrow_schema(types), compression="zstd") as writer:
        for batch in _arrow_batches(run, types):
            writer.write_batch(batch)


def _arrow_schema(types: Mapping[str, type]) -> Any:
    arrow = _library("pyarrow", "an Arrow table", "arrow")
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    return arrow.schema([(name, kinds[kind]) for name, kind in types.items()])


def _arrow_batches(run: GradedRun, types: Mapping[str, type]) -> Iterator[Any]:
    schema = _arrow_schema(types)
    batches = _library("pyarrow", "an Arrow table", "arrow").RecordBatch
    for batch in _typed_batches(run, types):
        yield batches.from_pydict(batch, schema=schema)


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


def _typed_batches(run: GradedRun, types: Mapping[str, type]) -> Iterator[dict[str, list[Any]]]:
    """The table in pieces that all have every column, each value of its column's type."""
    for batch in flat_batches(run):
        empty = [None] * len(batch["record_id"])
        yield {name: _cast(batch.get(name, empty), kind) for name, kind in types.items()}


def _cast(values: list[Any], kind: type) -> list[Any]:
    if kind is str:
        return [_as_text(value) for value in values]
    return [None if value is None else float(value) for value in values] if kind is float else values


def _common(kinds: set[type]) -> type:
    """The type for values of these types: mixed numbers are floats, any other mixture (and no value at all) is text."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return float if kinds == {int, float} else str


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
