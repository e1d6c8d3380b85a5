"""Runs as tables: what the tables are, and a graded run as Arrow batches of them.

Its own module because the tables are a promise to whoever writes SQL. What always holds: text, numbers and JSON go over
a batch of records at a time and never as rows of Python objects; what is unknown is NULL, never 0, "" or NaN.
"""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from evalsi.core.content import text_of
from evalsi.engine.columns import SCORED, Column, EvaluatorColumns
from evalsi.results.declared_range import declared_range
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows
from evalsi.schema import Content, ErrorKind, Fault, Provenance, Usage


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as SQL declares it; `meaning` is one sentence without a full stop."""

    name: str
    type: str
    meaning: str


def _columns(*rows: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(*(part.strip() for part in row.split("|", 2))) for row in rows)


TABLES: dict[str, tuple[TableColumn, ...]] = {
    "runs": _columns(
        "run_id | VARCHAR | Identifier; the path of a results file that names none",
        "name | VARCHAR | Name given by the user",
        "source | VARCHAR | Where it was read from: the store's id, or a path",
        "status | VARCHAR | running, succeeded, interrupted or error; NULL where a results file does not say",
        "started_at | TIMESTAMP | When it began, UTC",
        "finished_at | TIMESTAMP | When it ended, UTC",
        "dataset | VARCHAR | What was scored",
        "dataset_sha256 | VARCHAR | Digest of it",
        "records | BIGINT | Observations of the run: records times trials",
        "trials | BIGINT | Times each case was asked; NULL when outputs existed",
        "model | VARCHAR | The target's model; NULL when outputs existed",
        "evalsi_version | VARCHAR | Version that made it",
        "git_commit | VARCHAR | Commit it was made at",
        "target_cost_usd | DOUBLE | What the target cost; NULL where a price is unknown",
        "judge_cost_usd | DOUBLE | What the judges cost; NULL where a price is unknown",
        "labels | JSON | Labels given by the user",
        "manifest | JSON | All that it takes to repeat the run",
    ),
    "metrics": _columns(
        "run_id | VARCHAR | The run",
        "metric | VARCHAR | Name of the metric",
        "evaluator | VARCHAR | Evaluator that measures it",
        "kind | VARCHAR | number, proportion or label",
        "n | BIGINT | Scored values",
        "mean | DOUBLE | Mean of the values, as the run's own summary has it",
        "ci_low | DOUBLE | Lower end of its interval",
        "ci_high | DOUBLE | Upper end of its interval",
        "ci_method | VARCHAR | How the interval was computed",
        "skipped | BIGINT | Evaluations that were skipped",
        "errors | BIGINT | Evaluations that went wrong",
        "cancelled | BIGINT | Evaluations that were cancelled",
        "coverage | DOUBLE | Fraction of all evaluations that were scored",
        "higher_is_better | BOOLEAN | Whether a higher mean is better; NULL when neither direction is",
        "unit | VARCHAR | Unit of the values",
        "lowest_possible | DOUBLE | Declared lower end of the range",
        "highest_possible | DOUBLE | Declared upper end of the range",
    ),
    "observations": _columns(
        "run_id | VARCHAR | The run",
        "row | BIGINT | Place within the run, from 0; joins observations with scores",
        "record_id | VARCHAR | The case",
        "trial | BIGINT | Number of the repetition, from 0",
        "input | VARCHAR | What was asked, as text",
        "output | VARCHAR | What came back, as text",
        "reference | VARCHAR | What was expected, as text",
        "metadata | JSON | Metadata of the record: metadata->>'topic'",
        "input_tokens | BIGINT | Tokens read",
        "output_tokens | BIGINT | Tokens written",
        "cost_usd | DOUBLE | What the answer cost; NULL where a price is unknown",
        "latency_s | DOUBLE | Seconds from the request to the complete answer",
        "first_token_s | DOUBLE | Seconds from the request to the first piece of a streamed answer",
    ),
    "scores": _columns(
        "run_id | VARCHAR | The run",
        "row | BIGINT | Place of the observation; NULL for a metric of the whole dataset",
        "record_id | VARCHAR | The case; NULL for a metric of the whole dataset",
        "trial | BIGINT | Number of the repetition, from 0",
        "evaluator | VARCHAR | Evaluator that measured it",
        "metric | VARCHAR | Name of the metric",
        "kind | VARCHAR | number, passed, label or structured; NULL where nothing tells",
        "outcome | VARCHAR | scored, skipped, error or cancelled",
        "number | DOUBLE | The value; a verdict is 1 or 0; NULL unless scored",
        "label | VARCHAR | The name that was given, for labels",
        "structured | JSON | The value of a structured score",
        "reason | VARCHAR | Why it was skipped, went wrong or was cancelled",
        "error_kind | VARCHAR | For errors: what went wrong",
        "fault | VARCHAR | For errors: whose fault it was",
        "explanation | VARCHAR | Why the value is what it is, where the evaluator said",
        "duration_ms | DOUBLE | Milliseconds the evaluator took",
        "cost_usd | DOUBLE | What the evaluation cost; NULL where it asked nobody or a price is unknown",
    ),
}
_OUTCOMES = (None, "scored", "skipped", "error", "cancelled")
_ARROW_TYPES = {"VARCHAR": "string", "JSON": "string", "BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "bool_"}
_JSON = msgspec.json.Encoder()


def run_key(run: GradedRun) -> str:
    """What the run is called in `run_id`."""
    return run.manifest.run_id or run.source


def arrow_schema(table: str) -> Any:
    """The `pyarrow.Schema` of a table's batches; JSON goes over as text, a time as microseconds."""
    pa = _pyarrow()
    types: dict[str, Any] = {name: getattr(pa, arrow)() for name, arrow in _ARROW_TYPES.items()}
    types["TIMESTAMP"] = pa.timestamp("us")
    return pa.schema([(column.name, types[column.type]) for column in TABLES[table]])


def run_batch(run: GradedRun, *, status: str | None, records: int) -> Any:
    """The run's one row of `runs`."""
    manifest = run.manifest
    dataset, spec = manifest.dataset, manifest.spec
    times = {"started_at": manifest.started_at, "finished_at": manifest.finished_at}
    row = {
        "run_id": run_key(run),
        "name": manifest.name or None,
        "source": run.source,
        "status": status or str(manifest.status) or None,
        **{name: time.replace(tzinfo=None) - (time.utcoffset() or time - time) for name, time in times.items() if time},
        "dataset": dataset.source if dataset is not None else None,
        "dataset_sha256": (dataset.sha256 or None) if dataset is not None else None,
        "records": records,
        "trials": manifest.trials or None,
        "model": (spec.target.model or None) if spec is not None and spec.target is not None else None,
        "evalsi_version": manifest.evalsi_version or None,
        "git_commit": (manifest.git.commit or None) if manifest.git is not None else None,
        "target_cost_usd": known_cost(manifest.target_usage),
        "judge_cost_usd": known_cost(manifest.judge_usage),
        "labels": _json(manifest.labels),
        "manifest": _json(manifest),
    }
    return _batch("runs", [row])


def metric_batch(run: GradedRun) -> Any:
    """The run's rows of `metrics`: its summaries as they were stored."""
    rows: list[dict[str, Any]] = []
    for summary in run.summaries:
        low, high = declared_range(summary, run.manifest) or (None, None)
        rows.append(
            {
                "run_id": run_key(run),
                "metric": summary.metric,
                "evaluator": summary.evaluator,
                "kind": str(summary.kind),
                "n": summary.n,
                "mean": summary.mean,
                "ci_low": summary.ci.low if summary.ci is not None else None,
                "ci_high": summary.ci.high if summary.ci is not None else None,
                "ci_method": summary.ci.method if summary.ci is not None else None,
                "skipped": summary.skipped,
                "errors": summary.errors,
                "cancelled": summary.cancelled,
                "coverage": summary.coverage,
                "higher_is_better": summary.higher_is_better,
                "unit": summary.unit or None,
                "lowest_possible": low,
                "highest_possible": high,
            }
        )
    return _batch("metrics", rows)


def _batch(table: str, rows: list[dict[str, Any]]) -> Any:
    return _pyarrow().RecordBatch.from_pylist(rows, schema=arrow_schema(table))


class _Observed(msgspec.Struct):
    """The part of a record that a table shows; metadata stays the text it is."""

    id: str = ""
    input: Content | None = None
    output: Content | None = None
    reference: Content | None = None
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    usage: Usage | None = None
    provenance: Provenance | None = None


_OBSERVED = msgspec.json.Decoder(_Observed)


class RowBatches:
    """The batches of one run: for each batch of records its observations and then its scores.

    A trial is the one that the record's provenance tells, else 0; where that leaves two observations alike, whoever
    loads them numbers them by place.
    """

    def __init__(self, run: GradedRun) -> None:
        self._pa = _pyarrow()
        self._run = run
        self._key = run_key(run)
        self._schemas = {table: arrow_schema(table) for table in TABLES}

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """(table, record batch), in the order of the records; results of the whole dataset come last."""
        first = 0
        for rows in self._run.read_rows():
            observed = [_OBSERVED.decode(line) for line in rows.record_lines]
            if observed:
                identity = self._identity(first, observed)
                yield "observations", self._observations(identity, observed)
                for batch in self._scores(identity, rows):
                    yield "scores", batch
            first += len(observed)
        for columns in self._run.whole:
            nobody = {name: self._nothing("scores", name, columns.rows) for name in ("row", "record_id", "trial")}
            for batch in self._evaluator({"run_id": self._text(self._key, columns.rows), **nobody}, columns):
                yield "scores", batch

    def _identity(self, first: int, observed: Sequence[_Observed]) -> dict[str, Any]:
        pa = self._pa
        trials = [
            one.provenance.run.trial if one.provenance is not None and one.provenance.run is not None else 0
            for one in observed
        ]
        return {
            "run_id": self._text(self._key, len(observed)),
            "row": pa.array(np.arange(first, first + len(observed))),
            "record_id": pa.array([one.id for one in observed], pa.string()),
            "trial": pa.array(trials, pa.int64()),
        }

    def _observations(self, identity: dict[str, Any], observed: Sequence[_Observed]) -> Any:
        used = [one.usage or Usage() for one in observed]
        return self._record_batch(
            "observations",
            {
                **identity,
                **{
                    field: [_text(getattr(one, field)) for one in observed]
                    for field in ("input", "output", "reference")
                },
                "metadata": [bytes(one.metadata).decode() for one in observed],
                "input_tokens": [usage.input_tokens for usage in used],
                "output_tokens": [usage.output_tokens for usage in used],
                "cost_usd": [known_cost(usage) for usage in used],
                "latency_s": [usage.latency for usage in used],
                "first_token_s": [usage.time_to_first_token for usage in used],
            },
        )

    def _scores(self, identity: dict[str, Any], rows: GradedRows) -> Iterator[Any]:
        for columns in rows.columns:
            yield from self._evaluator(identity, columns)

    def _evaluator(self, identity: dict[str, Any], columns: EvaluatorColumns) -> Iterator[Any]:
        """A batch per output: the rows that have it, and the rows where nothing was scored."""
        codes = np.frombuffer(columns.outcomes, dtype=np.uint8)
        shared = {**identity, **self._said(columns, codes)}
        if not columns.columns:
            yield self._record_batch("scores", {**shared, "metric": self._text(columns.evaluator, columns.rows)})
        for output, column in columns.columns.items():
            values = column.array()
            scored = codes == SCORED
            there = (
                ~np.isnan(values) if column.objects is None else np.array([one is not None for one in column.objects])
            )
            made: dict[str, Any] = {
                **shared,
                "metric": self._text(columns.metric(output), columns.rows),
                "kind": self._text(column.kind, columns.rows),
                "number": self._pa.array(np.where(scored, values, np.nan), from_pandas=True),
                **_objects(column),
            }
            explanations = {
                row: note.explanations[output] for row, note in columns.notes.items() if output in note.explanations
            }
            if explanations:
                made["explanation"] = _sparse(explanations, columns.rows)
            batch = self._record_batch("scores", made)
            wanted = ~scored | there
            yield batch if wanted.all() else batch.filter(self._pa.array(wanted))

    def _said(self, columns: EvaluatorColumns, codes: Any) -> dict[str, Any]:
        pa, notes, rows = self._pa, columns.notes, columns.rows
        share_ms = 1000 * columns.duration_s / max(1, rows)
        durations = np.full(rows, share_ms)
        costs = np.full(rows, np.nan)
        for row, note in notes.items():
            if note.duration_s is not None:
                durations[row] = 1000 * note.duration_s
            cost = known_cost(note.usage)
            costs[row] = np.nan if cost is None else cost
        outcome = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(_OUTCOMES, pa.string())).cast(pa.string())
        kinds = {
            row: str(note.error_kind) for row, note in notes.items() if note.error_kind is not ErrorKind.UNSPECIFIED
        }
        faults = {row: str(note.fault) for row, note in notes.items() if note.fault is not Fault.UNSPECIFIED}
        return {
            "evaluator": self._text(columns.evaluator, rows),
            "outcome": outcome,
            "reason": _sparse({row: note.reason for row, note in notes.items() if note.reason}, rows),
            "error_kind": _sparse(kinds, rows),
            "fault": _sparse(faults, rows),
            "duration_ms": pa.array(durations),
            "cost_usd": pa.array(costs, from_pandas=True),
        }

    def _record_batch(self, table: str, found: dict[str, Any]) -> Any:
        """A record batch; columns that were not found, or None, are NULL."""
        pa, schema = self._pa, self._schemas[table]
        rows = len(found["run_id"])
        arrays: list[Any] = []
        for field in schema:
            values = found.get(field.name)
            if values is None:
                arrays.append(pa.nulls(rows, field.type))
            else:
                arrays.append(pa.array(values, field.type) if isinstance(values, list) else values)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _text(self, text: str, rows: int) -> Any:
        return self._pa.repeat(self._pa.scalar(text, self._pa.string()), rows)

    def _nothing(self, table: str, column: str, rows: int) -> Any:
        return self._pa.nulls(rows, self._schemas[table].field(column).type)


def _pyarrow() -> Any:
    """The library, untyped: it ships no types."""
    return importlib.import_module("pyarrow")


def known_cost(usage: Usage | None) -> float | None:
    """Dollars of a usage; None where the price of any part of it is unknown."""
    return None if usage is None or usage.unpriced_requests else usage.cost_usd


def _objects(column: Column) -> dict[str, list[str | None]]:
    if column.objects is None:
        return {}
    if column.kind == "label":
        return {"label": column.objects}
    return {"structured": [None if held is None else _json(held) for held in column.objects]}


def _sparse(found: dict[int, str], rows: int) -> list[str | None] | None:
    return [found.get(row) for row in range(rows)] if found else None


def _text(content: Content | None) -> str | None:
    return None if content is None else text_of(content)


def _json(value: Any) -> str:
    return _JSON.encode(value).decode()
