"""A `RunStore` in memory: for runs that nobody asked to keep, and for tests.

It keeps bodies as they are, so its memory grows with the records, and it passes `RunStoreSuite` like every store.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import microseconds, moment_of_text
from evalsi.core.errors import NotFoundError, StoreError, UsageError
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.core.run_reference import RunIdentity, newest_labelled, resolve_run
from evalsi.ports.run_store import RunPage, RunQuery, RunRow, RunWriter, Segment, SegmentZones
from evalsi.schema import MetricSummary, RunManifest


@dataclass
class _Run:
    row: RunRow
    manifest: RunManifest
    writer: "MemoryRunStore | None"
    summaries: list[MetricSummary] = field(default_factory=list[MetricSummary])
    segments: dict[int, Segment] = field(default_factory=dict[int, Segment])
    answers: dict[int, bytes] = field(default_factory=dict[int, bytes])
    seen_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class MemoryRuns:
    """What several `MemoryRunStore` share, as several processes share a file."""

    def __init__(self) -> None:
        self.by_id: dict[str, _Run] = {}


class MemoryRunStore:
    """Implements `RunStore`. Gone with the process: nothing here survives anything."""

    def __init__(self, shared: MemoryRuns | None = None) -> None:
        self._runs = (shared or MemoryRuns()).by_id

    def create(self, run: RunRow, manifest: RunManifest) -> None:
        _instant(run)
        _check_storable(run, manifest)
        if run.id in self._runs:
            raise UsageError(f"a run with the id {run.id} exists already", hint="give the run a new id")
        row = msgspec.structs.replace(run, status="running", finished_at=None, rows=0)
        self._runs[run.id] = _Run(row, manifest, self)

    def describe(self, run: RunRow, manifest: RunManifest) -> None:
        _check_storable(run, manifest)
        stored = self._written(run.id)
        stored.row = msgspec.structs.replace(
            stored.row,
            name=run.name,
            dataset=run.dataset,
            dataset_digest=run.dataset_digest,
            fingerprint=run.fingerprint,
            labels=run.labels,
        )
        stored.manifest = manifest

    def append(self, run_id: str, segment: Segment) -> None:
        self._written(run_id).segments[segment.index] = segment

    def keep_answers(self, run_id: str, answers: Sequence[tuple[int, bytes]]) -> None:
        kept = self._written(run_id).answers
        for row, body in answers:
            kept.setdefault(row, body)

    def count_answers(self, run_id: str) -> int:
        return len(self._stored(run_id).answers)

    def answers(self, run_id: str, rows: range | None = None) -> Iterator[tuple[int, bytes]]:
        kept = self._stored(run_id).answers
        return iter(sorted((row, body) for row, body in kept.items() if rows is None or row in rows))

    def touch(self, run_id: str) -> None:
        self._written(run_id)

    def finish(self, run: RunRow, manifest: RunManifest, summaries: list[MetricSummary]) -> None:
        if run.status not in {"succeeded", "interrupted", "error"}:
            raise UsageError(f"a run cannot finish as {run.status!r}", hint="known: succeeded, interrupted, error")
        _check_storable(run, manifest, summaries)
        stored = self._stored(run.id)
        if stored.writer is not self:
            raise StoreError(f"run {run.id} is not being written here", hint="take it over first")
        stored.row = msgspec.structs.replace(
            stored.row,
            status=run.status,
            finished_at=run.finished_at,
            dataset_digest=run.dataset_digest,
            labels=run.labels,
            headline=run.headline,
            verdict=run.verdict,
        )
        stored.seen_at = datetime.now(UTC)
        stored.manifest, stored.summaries = manifest, list(summaries)

    def runs(self, *, limit: int | None = None) -> list[RunRow]:
        stored = sorted(self._runs.values(), key=lambda run: (_instant(run.row), run.row.id), reverse=True)
        return [_shown(run) for run in stored[:limit]]

    def page(self, query: RunQuery, *, size: int, token: str = "") -> RunPage:
        since_us = microseconds(moment_of_text(query.since, "since")) if query.since else 0
        until_us = microseconds(moment_of_text(query.until, "until")) if query.until else 1 << 62
        text = query.search.lower()
        before = read_page_token(token, query, tuple[int, str])
        fitting = [
            row
            for row in self.runs()
            if (before is None or (_instant(row), row.id) < before)
            and since_us <= _instant(row) < until_us
            and any(text in word.lower() for word in (row.name, row.id, *row.labels.values()))
            and (not query.statuses or row.standing in query.statuses)
            and query.name in ("", row.name)
            and query.labels.items() <= row.labels.items()
            and query.archived in (None, row.archived_at is not None)
        ]
        shown = fitting[:size]
        more = len(fitting) > size
        return RunPage(
            runs=shown,
            next_token=write_page_token(query, (_instant(shown[-1]), shown[-1].id)) if more else "",
        )

    def archive(self, run_id: str, *, at: str | None) -> RunRow:
        stored = self._stored(run_id)
        stored.row = msgspec.structs.replace(stored.row, archived_at=at)
        return _shown(stored)

    def run(self, run_id: str) -> RunRow:
        return _shown(self._stored(run_id))

    def find(self, reference: str) -> RunRow:
        labelled = newest_labelled(
            reference, lambda labels: self.page(RunQuery(labels=labels, archived=None), size=1).runs
        )
        if labelled is not None:
            return labelled
        identities = [RunIdentity(run.id, run.name, run.created_at) for run in self.runs()]
        return _shown(self._stored(resolve_run(reference, identities)))

    def resumable(self, fingerprint: str, *, finished: bool = False) -> RunRow | None:
        fitting = (
            run for run in self.runs() if run.fingerprint == fingerprint and run.status in _taken_up(finished=finished)
        )
        return next(fitting, None)

    def take_over(self, run_id: str, *, finished: bool = False) -> RunRow:
        stored = self._stored(run_id)
        if stored.row.status not in _taken_up(finished=finished):
            raise UsageError(f"run {run_id} is {stored.row.status}", hint="only an interrupted run can be taken over")
        stored.writer = self
        stored.row = msgspec.structs.replace(stored.row, status="running", finished_at=None)
        return _shown(stored)

    def writer(self, run_id: str) -> RunWriter | None:
        if self._stored(run_id).row.status != "running":
            return None
        return RunWriter(pid=os.getpid(), host=platform.node(), is_here=True)

    def seen_at(self, run_id: str) -> datetime:
        return self._stored(run_id).seen_at

    def manifest(self, run_id: str) -> RunManifest:
        return self._stored(run_id).manifest

    def summaries(self, run_id: str) -> list[MetricSummary]:
        return list(self._stored(run_id).summaries)

    def segments(self, run_id: str, *, with_records: bool = True) -> Iterator[Segment]:
        return (self._segment(run_id, index, with_records) for index, _, _ in self.segment_rows(run_id))

    def segment(self, run_id: str, index: int, *, with_records: bool = True) -> Segment:
        return self._segment(run_id, index, with_records)

    def segment_rows(self, run_id: str) -> list[tuple[int, int, int]]:
        segments = self._stored(run_id).segments
        return [(index, segments[index].first_row, segments[index].rows) for index in sorted(segments)]

    def zones(self, run_id: str) -> list[SegmentZones]:
        segments = self._stored(run_id).segments
        return [
            SegmentZones(index=index, first_row=found.first_row, rows=found.rows, zones=found.zones)
            for index, found in sorted(segments.items())
        ]

    def delete(self, run_id: str, *, gives_space_back: bool = True) -> None:
        del gives_space_back
        stored = self._stored(run_id)
        if stored.row.status == "running" and stored.writer is not self:
            raise UsageError(f"run {run_id} is still being written", hint="stop it first")
        del self._runs[run_id]

    def close(self) -> None:
        for stored in self._runs.values():
            if stored.writer is self and stored.row.status == "running":
                stored.row = msgspec.structs.replace(stored.row, status="interrupted")

    def _stored(self, run_id: str) -> _Run:
        try:
            return self._runs[run_id]
        except KeyError:
            raise NotFoundError(f"no run {run_id}") from None

    def _written(self, run_id: str) -> _Run:
        stored = self._stored(run_id)
        if stored.writer is not self or stored.row.status != "running":
            raise StoreError(f"run {run_id} is not being written here", hint="take it over first")
        stored.seen_at = datetime.now(UTC)
        return stored

    def _segment(self, run_id: str, index: int, with_records: bool) -> Segment:
        segments = self._stored(run_id).segments
        if index not in segments:
            raise NotFoundError(f"run {run_id} has no segment {index} (any more)")
        found = msgspec.structs.replace(segments[index], zones=b"")
        return found if with_records else msgspec.structs.replace(found, records=b"")


def _taken_up(*, finished: bool) -> tuple[str, ...]:
    return ("interrupted", "succeeded", "error") if finished else ("interrupted",)


def _shown(stored: _Run) -> RunRow:
    return msgspec.structs.replace(stored.row, rows=sum(segment.rows for segment in stored.segments.values()))


def _instant(run: RunRow) -> int:
    return microseconds(moment_of_text(run.created_at, "created_at"))


def _check_storable(*values: object) -> None:
    try:
        for value in values:
            msgspec.json.decode(canonical_json(value))
    except (ValueError, msgspec.MsgspecError) as error:
        raise UsageError(f"the run cannot be stored: {error}", hint="use finite numbers and valid Unicode") from error
