"""A graded run as every reader sees it: manifest, summaries, and batches of records with their columns.

Reports, comparisons and exports read this and nothing else, so they work alike on a stored run, a results file and
the result of a call.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from evalsi.engine.columns import EvaluatorColumns, unpack
from evalsi.ports.run_store import RunStore
from evalsi.results.rebuilt_summaries import rebuilt_summaries
from evalsi.results.stored_rows import WHOLE, GradedRows, rows_of
from evalsi.schema import GateResult, MetricSummary, RunManifest


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
    known_records: Callable[[], int] | None = None
    """Counts the records without reading them, where that is possible."""
    kept_answers: Callable[[], int] | None = None
    """Counts the answers of the target that are kept, also those whose rows are not finished; None where nobody knows."""

    def count_records(self) -> int:
        if self.known_records is not None:
            return self.known_records()
        return sum(rows.rows for rows in self.read_rows())

    @property
    def title(self) -> str:
        return self.manifest.name or self.manifest.run_id or self.source

    def summary(self, metric: str) -> MetricSummary | None:
        return next((summary for summary in self.summaries if summary.metric == metric), None)


def stored_run(store: RunStore, run_id: str) -> GradedRun:
    """The run `run_id` of `store`. One that was killed or is still running is summed up as far as it is there."""
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
        summaries=store.summaries(run_id) or rebuilt_summaries(store, run_id, manifest),
        read_rows=read,
        whole=whole,
        gates=list(manifest.gates),
        kept_answers=lambda: store.count_answers(run_id),
        known_records=lambda: sum(rows for index, _, rows in store.segment_rows(run_id) if index != WHOLE),
    )
