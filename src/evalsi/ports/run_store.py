"""Where runs live: a run is a manifest, segments of results in columns, and summaries."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from evalsi.schema import MetricSummary, RunManifest


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """The observations of consecutive records, packed: what was read, and what every evaluator said.

    `records` is JSON Lines of the records; `results` is the packed columns (see `evalsi.engine.columns`). The store
    compresses both and never looks inside. `index` may be negative: it names the segment and gives the order.
    """

    index: int
    first_row: int
    rows: int
    records: bytes
    results: bytes


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a list shows it. Times are ISO 8601 UTC. `status` is one of running, succeeded, interrupted, error.

    A run whose writer died without a word reads as interrupted, never as running.
    """

    id: str
    name: str
    status: str
    created_at: str
    finished_at: str | None
    dataset: str
    dataset_digest: str
    fingerprint: str
    """Digest of everything that decides the results: a second run with the same one continues an interrupted run."""
    rows: int
    """Records stored so far, counted by the store."""
    labels: dict[str, str]
    headline: str
    """The first metric with its interval, for lists."""


class RunWriter(msgspec.Struct, frozen=True, kw_only=True):
    """The process that writes a run."""

    pid: int
    host: str
    is_here: bool
    """Whether it can be signalled from this process: the same machine, boot and process namespace."""


class RunStore(Protocol):
    """Durable: what a method has acknowledged by returning survives kill -9 of this process.

    Several processes may use one store at once. Methods block; any thread may call them. A run has one writer, the
    store object that created it or took it over; everyone may read it meanwhile. A writer is gone when its process is,
    when it closed its store, or when nothing was heard of it for some minutes and its process cannot be seen from here.

    Every method that takes a `run_id` raises NotFoundError when there is no such run, and every method raises StoreError
    when the store cannot be read or written.
    """

    def create(self, run: RunRow, manifest: RunManifest) -> None:
        """Begins a run with this store as its writer. The store itself sets `status`, `finished_at` and `rows`.

        Raises: UsageError: the id exists already, `created_at` is no ISO 8601 time, or a text is no valid Unicode.
        """
        ...

    def append(self, run_id: str, segment: Segment) -> None:
        """Stores a segment. The same (run, index) again replaces it, so repeating after a doubt is safe.

        Raises: StoreError: this store is not (or no longer) the run's writer.
        """
        ...

    def keep_answers(self, run_id: str, answers: Sequence[tuple[int, bytes]]) -> None:
        """Keeps what a target answered to rows (a case and a trial) of the run: (row, body). The first body of a row
        stays.

        Raises: StoreError: this store is not (or no longer) the run's writer.
        """
        ...

    def answers(self, run_id: str, rows: range | None = None) -> Iterator[tuple[int, bytes]]:
        """(row, body) of every answer kept, in order of row, a few at a time; only those of consecutive `rows`, if given."""
        ...

    def touch(self, run_id: str) -> None:
        """Says that the writer lives, as `append` does too. Call it at least every minute while nothing is appended.

        Raises: StoreError: this store is not (or no longer) the run's writer.
        """
        ...

    def finish(self, run: RunRow, manifest: RunManifest, summaries: list[MetricSummary]) -> None:
        """Ends a run: its writer lets go. Takes `status`, `finished_at`, `dataset_digest`, `labels` and `headline`
        from `run`; `rows` is what was stored. The same writer may finish again, which replaces.

        Raises:
            StoreError: this store is not (or no longer) the run's writer.
            UsageError: `status` is "running" or no status, or a document holds NaN or an infinity.
        """
        ...

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        """Newest first, by `created_at`."""
        ...

    def find(self, reference: str) -> RunRow:
        """By "latest", "latest~n", id, name (the newest run that bears it) or unique beginning of an id.

        Raises: NotFoundError, with the nearest runs; UsageError, with the candidates, when several ids begin so.
        """
        ...

    def resumable(self, fingerprint: str) -> RunRow | None:
        """The newest interrupted run with this fingerprint: not finished, and its writer is gone."""
        ...

    def take_over(self, run_id: str) -> RunRow:
        """Makes this store the writer of an interrupted run and returns it as it stands, running again.

        Of several processes that try at once exactly one succeeds. The writer before, should it still breathe, is
        refused from here on.

        Raises: UsageError: the run is finished, or its writer still lives.
        """
        ...

    def writer(self, run_id: str) -> RunWriter | None:
        """Who is writing the run now; None when nobody is."""
        ...

    def manifest(self, run_id: str) -> RunManifest: ...

    def summaries(self, run_id: str) -> list[MetricSummary]:
        """Empty until the run is finished."""
        ...

    def segments(self, run_id: str, *, with_records: bool = True) -> Iterator[Segment]:
        """The segments there are now, in order of index; one at a time, so that memory stays flat.

        Without `with_records` their `records` are empty and not read: enough for figures and tables.

        Raises: NotFoundError, also when the run is deleted while it is being read.
        """
        ...

    def segment(self, run_id: str, index: int) -> Segment:
        """One segment. Raises: NotFoundError."""
        ...

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        """(index, first_row, rows) of every stored segment, in order of index, without reading bodies."""
        ...

    def delete(self, run_id: str) -> None:
        """Removes a run and, over time, gives its space back.

        Raises: UsageError: another writer is still at work on it.
        """
        ...

    def close(self) -> None:
        """Runs this store is still writing become interrupted. Calling it twice is fine."""
        ...
