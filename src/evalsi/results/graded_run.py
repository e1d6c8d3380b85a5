"""A graded run as every reader sees it: manifest, summaries, and batches of records with their columns.

Reports, comparisons and exports read this and nothing else, so they work alike on a stored run, a results file and
the result of a call.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import msgspec

from evalsi.core.errors import InvalidDataError
from evalsi.engine.columns import EvaluatorColumns, unpack
from evalsi.ports.run_store import RunStore, Segment
from evalsi.schema import GateResult, MetricSummary, Record, RunManifest

T = TypeVar("T")

WHOLE = -1
"""Index of the segment that holds the results of dataset and session scope; it has no records."""

RECORDS = msgspec.json.Decoder(Record)
_LINES = msgspec.json.Encoder()


@dataclass(frozen=True)
class GradedRows:
    """Consecutive records and what was said about them. Records are decoded only when asked for."""

    first_row: int
    records_jsonl: bytes
    columns: list[EvaluatorColumns]
    source: str = ""
    """Where they were read from, for errors."""

    @cached_property
    def record_lines(self) -> list[bytes]:
        return self.records_jsonl.splitlines()

    @cached_property
    def records(self) -> list[Record]:
        return self.decoded(RECORDS)

    def decoded(self, decoder: "msgspec.json.Decoder[T]") -> list[T]:
        """Every record as `decoder` reads it: whole, or the part of it that is needed.

        Raises: InvalidDataError: a line is no record, which happens only to files that were damaged or made by hand.
        """
        try:
            return [decoder.decode(line) for line in self.record_lines]
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InvalidDataError(
                f"a record after row {self.first_row} cannot be read: {error}", where=self.source
            ) from error

    @property
    def rows(self) -> int:
        return len(self.record_lines)


@dataclass(frozen=True, kw_only=True)
class GradedRun:
    """One run. `read_rows` starts a fresh pass each time it is called."""

    source: str
    """Where it was read from, for people: a run id or a path."""
    manifest: RunManifest
    summaries: list[MetricSummary]
    read_rows: Callable[[], Iterator[GradedRows]]
    whole: list[EvaluatorColumns] = field(default_factory=list[EvaluatorColumns])
    gates: list[GateResult] = field(default_factory=list[GateResult])

    @property
    def title(self) -> str:
        return self.manifest.name or self.manifest.run_id or self.source

    def summary(self, metric: str) -> MetricSummary | None:
        return next((summary for summary in self.summaries if summary.metric == metric), None)


def encode_records(records: list[Record]) -> bytes:
    """Records as JSON Lines, in the form that `GradedRows` reads."""
    return _LINES.encode_lines(records)


def stored_run(store: RunStore, run_id: str) -> GradedRun:
    """The run `run_id` of `store`."""
    has_whole = any(index == WHOLE for index, _, _ in store.segment_rows(run_id))
    whole = unpack(store.segment(run_id, WHOLE).results) if has_whole else []

    manifest = store.manifest(run_id)

    def read() -> Iterator[GradedRows]:
        for segment in store.segments(run_id):
            if segment.index != WHOLE:
                yield rows_of(segment)

    return GradedRun(
        source=run_id,
        manifest=manifest,
        summaries=store.summaries(run_id),
        read_rows=read,
        whole=whole,
        gates=list(manifest.gates),
    )


def rows_of(segment: Segment) -> GradedRows:
    return GradedRows(segment.first_row, segment.records, unpack(segment.results))
