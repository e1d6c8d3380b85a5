"""Where runs live: a run is a manifest, segments of results in columns, and summaries."""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from evalsi.schema import MetricSummary, RunManifest


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """The observations of consecutive records, packed: what was read, and what every evaluator said.

    `records` is JSON Lines of the records; `results` is the packed columns (see `evalsi.engine.columns`). The store
    compresses both and never looks inside. Writing the same (run, index) again replaces it.
    """

    index: int
    first_row: int
    rows: int
    records: bytes
    results: bytes


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a list shows it. Times are ISO 8601 UTC. `status` is one of running, succeeded, interrupted, error."""

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
    labels: dict[str, str]
    headline: str
    """The first metric with its interval, for lists."""


class RunStore(Protocol):
    """Durable: when `append` has returned, the segment survives kill -9. Two processes may use one store at once."""

    def create(self, run: RunRow, manifest: RunManifest) -> None: ...

    def append(self, run_id: str, segment: Segment) -> None: ...

    def finish(self, run_id: str, *, status: str, manifest: RunManifest, summaries: list[MetricSummary]) -> None: ...

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        """Newest first."""
        ...

    def find(self, reference: str) -> RunRow:
        """By id, unique id prefix, name, or "latest". Raises: NotFoundError, with the nearest ids."""
        ...

    def resumable(self, fingerprint: str) -> RunRow | None:
        """The newest interrupted run with this fingerprint whose writer is gone."""
        ...

    def manifest(self, run_id: str) -> RunManifest: ...

    def summaries(self, run_id: str) -> list[MetricSummary]: ...

    def segments(self, run_id: str) -> Iterator[Segment]:
        """In order of index; one at a time, so that memory stays flat."""
        ...

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        """(index, first_row, rows) of every stored segment, without reading bodies."""
        ...

    def delete(self, run_id: str) -> None: ...

    def close(self) -> None: ...
