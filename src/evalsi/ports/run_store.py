"""Where runs live: a run is a manifest, segments of results in columns, and summaries."""

from collections.abc import Iterator, Sequence
from datetime import datetime
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
    zones: bytes = b""
    """A few numbers about `results` (see `evalsi.results.zones`), kept apart so that a search reads them alone. They are
    stored with the segment and come back through `RunStore.zones` only."""


NOTHING_SCORED = "nothing scored"
"""The headline of a run that succeeded in everything but its purpose."""


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a list shows it. Times are ISO 8601 UTC. `status` is one of waiting, running, succeeded, interrupted, error.

    A run whose writer died without a word reads as interrupted, never as running; one that a server is going to work on
    or has in hand reads as waiting or running, whatever became of the process that had it.
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
    """Records stored so far, counted by the store. In lists for people, of a run that is not over, also those that are
    only answered."""
    total: int = 0
    """How many it is to have, in such lists; else 0."""
    labels: dict[str, str]
    headline: str
    """The first metric with its interval, for lists; `NOTHING_SCORED` where a run ended and has none."""
    verdict: str = ""
    """What its gates decided: passed, failed, undecided, or "" where there are none (yet)."""
    project: str = "default"
    """Whose run it is. A store sets it: it holds the runs of one project."""
    archived_at: str | None = None
    """Since when it is kept out of lists."""
    error: str = ""
    """Why it ended with `error`, for people."""

    @property
    def standing(self) -> str:
        """`status`, or "failed" for a run that succeeded and whose gates were not met."""
        return "failed" if self.status == "succeeded" and self.verdict == "failed" else self.status


class RunQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs a list shows; empty fields ask nothing."""

    statuses: tuple[str, ...] = ()
    """Any of these, by `RunRow.standing`."""
    name: str = ""
    labels: dict[str, str] = {}
    """Each must be there with exactly this value."""
    since: str = ""
    """Made at or after this ISO 8601 time."""
    until: str = ""
    """Made before this ISO 8601 time."""
    search: str = ""
    """Name, id or the value of a label hold this text, in any case."""
    archived: bool | None = False
    """Only archived ones, only others, or (None) both."""


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list. `next_token` leads on to the next part and is empty after the last."""

    runs: list[RunRow]
    next_token: str


class SegmentZones(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a segment without reading it. `zones` is empty where its writer knew nothing."""

    index: int
    first_row: int
    rows: int
    zones: bytes


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

    def describe(self, run: RunRow, manifest: RunManifest) -> None:
        """Writes down what becomes known about a run when it begins, in place of what was known when it was made. Takes
        `name`, `dataset`, `dataset_digest`, `fingerprint` and `labels` from `run`.

        Raises: StoreError: this store is not (or no longer) the run's writer.
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

    def count_answers(self, run_id: str) -> int:
        """How many answers are kept, without reading them."""
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
        """Ends a run: its writer lets go. Takes `status`, `finished_at`, `dataset_digest`, `labels`, `headline` and
        `verdict` from `run`; `rows` is what was stored. The same writer may finish again, which replaces.

        Raises:
            StoreError: this store is not (or no longer) the run's writer.
            UsageError: `status` is "running" or no status, or a document holds NaN or an infinity.
        """
        ...

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        """Newest first, by `created_at`."""
        ...

    def page(self, query: RunQuery, *, size: int, token: str = "") -> RunPage:
        """Up to `size` of the runs that `query` asks for, newest first, after those that led to `token`.

        A run made meanwhile moves nothing: every run that was there at the first page is met once.

        Raises: UsageError: the token is none of this query's, or `since` is no ISO 8601 time.
        """
        ...

    def archive(self, run_id: str, *, at: str | None) -> RunRow:
        """Keeps a run out of lists since the ISO 8601 time `at`, or with None brings it back. Results stay."""
        ...

    def run(self, run_id: str) -> RunRow:
        """By its whole id."""
        ...

    def find(self, reference: str) -> RunRow:
        """By "latest", "latest~n", "latest(label=value)", id, name (the newest run that bears it) or unique beginning of an id.

        Raises: NotFoundError, with the nearest runs; UsageError, with the candidates, when several ids begin so.
        """
        ...

    def resumable(self, fingerprint: str, *, finished: bool = False) -> RunRow | None:
        """The newest interrupted run with this fingerprint: not finished, and its writer is gone. With `finished`, one
        that has succeeded, or ended with an error, will do as well.
        """
        ...

    def take_over(self, run_id: str, *, finished: bool = False) -> RunRow:
        """Makes this store the writer of an interrupted run and returns it as it stands, running again. With `finished`,
        one that has succeeded, or ended with an error, is taken up again too.

        Of several processes that try at once exactly one succeeds. The writer before, should it still breathe, is
        refused from here on.

        Raises: UsageError: the run is finished, or its writer still lives.
        """
        ...

    def writer(self, run_id: str) -> RunWriter | None:
        """Who is writing the run now; None when nobody is."""
        ...

    def seen_at(self, run_id: str) -> datetime | None:
        """When the run's writer, who may be gone, last gave a sign of life; None where that is not remembered."""
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

    def segment(self, run_id: str, index: int, *, with_records: bool = True) -> Segment:
        """One segment, with its records or (quicker) without. Raises: NotFoundError."""
        ...

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        """(index, first_row, rows) of every stored segment, in order of index, without reading bodies."""
        ...

    def zones(self, run_id: str) -> list[SegmentZones]:
        """Every stored segment with its zones, in order of index, without reading bodies."""
        ...

    def delete(self, run_id: str, *, gives_space_back: bool = True) -> None:
        """Removes a run.

        Args:
            gives_space_back: Whether its space is given back to the disk; who removes many does that once for all.
        Raises: UsageError: another writer is still at work on it.
        """
        ...

    def close(self) -> None:
        """Runs this store is still writing become interrupted. Calling it twice is fine."""
        ...
