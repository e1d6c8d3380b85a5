"""Traces in a SQL database: implements `ports.TraceStore`, but for what SQLite and PostgreSQL do in ways of their own.

Those are in `trace_sqlite` and `trace_postgres`: how parts are written, how words are found, how rows are held while they
are claimed. What always holds: a change is one transaction; what repeats in the row of a trace (number of results,
scores, feedback) is changed with what it repeats; lists are read by index, project by project, and merged.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from evalsi.core.errors import NotFoundError
from evalsi.infra.store.trace_completing import TraceCompleting
from evalsi.infra.store.trace_erasing import TraceErasing
from evalsi.infra.store.trace_feedback import TraceFeedback
from evalsi.infra.store.trace_query import id_range
from evalsi.infra.store.trace_rows import (
    Arrival,
    Arrived,
    arrivals_of,
    earliest,
    json_labels,
    labels_text,
    unpacked_results,
    unpacked_spans,
)
from evalsi.infra.store.trace_sessions import TraceSessions
from evalsi.infra.store.trace_tables import (
    AT_ONCE,
    FIND_BY_ID,
    FIND_PARTS,
    FIND_PARTS_OF_MANY,
    FIND_RESULTS,
    id_bytes,
    missing_trace,
)
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import Appended, TracePart, Waiting
from evalsi.schema import PolicyResults
from evalsi.traces.completion import due_ms

LIST_PROJECTS_IN_USE = """
    SELECT name FROM trace_projects p WHERE EXISTS (SELECT 1 FROM traces t WHERE t.project = p.key) ORDER BY name"""
FIND_IDS = "SELECT trace_id FROM traces WHERE project = ? AND trace_id >= ? AND trace_id <= ? LIMIT 2"
ARRIVED = (
    "trace_id, key, start_ns, end_ns, first_ms, root_ended, revision, complete, error, service, name, session_id, user_id, "
    "labels"
)
"""What is known of a trace when more of it arrives."""
GROW = """
    UPDATE traces SET start_ns = ?, end_ns = ?, duration_ns = ?, first_ms = ?, last_ms = ?, due_ms = ?, session_ms = ?,
        root_ended = ?, complete = 0, parts = parts + ?, spans = spans + ?, failed_spans = failed_spans + ?, error = ?,
        service = ?, name = ?, session_id = ?, user_id = ?, labels = ? WHERE key = ?"""


class SqlTraceStore(TraceCompleting, TraceSessions, TraceFeedback, TraceErasing):
    """Implements `TraceStore` over a database that subclasses know."""

    @abstractmethod
    def _write_arrivals(self, arrived: Arrived) -> Appended: ...

    @abstractmethod
    def _begin_writing(self, arrived: Arrived) -> "Future[Appended]": ...

    def append(self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting) -> Appended:
        if not parts:
            return Appended(traces=0, spans=0)
        traces = arrivals_of(parts, self._database.compression_level)
        return self._write_arrivals(Arrived(project, traces, now_ms, waiting))

    def begin_append(
        self, project: str, parts: Sequence[TracePart], *, now_ms: int, waiting: Waiting
    ) -> "Future[Appended]":
        if not parts:
            nothing: Future[Appended] = Future()
            nothing.set_result(Appended(traces=0, spans=0))
            return nothing
        traces = arrivals_of(parts, self._database.compression_level)
        return self._begin_writing(Arrived(project, traces, now_ms, waiting))

    def spans(self, project: str, trace_id: str) -> Sequence[bytes]:
        rows = self._read(FIND_PARTS, (self._key(project), id_bytes(trace_id)))
        if not rows:
            raise missing_trace(trace_id)
        return [unpacked_spans(row[0]) for row in rows]

    def spans_of(self, project: str, trace_ids: Sequence[str]) -> Mapping[str, Sequence[bytes]]:
        found: dict[str, list[bytes]] = {}
        names = [id_bytes(trace_id) for trace_id in trace_ids]
        for at in range(0, len(names), AT_ONCE):
            some = names[at : at + AT_ONCE]
            statement = FIND_PARTS_OF_MANY.format(", ".join("?" * len(some)))
            for trace_id, body in self._read(statement, (self._key(project), *some)):
                found.setdefault(bytes(trace_id).hex(), []).append(unpacked_spans(body))
        return found

    def full_id(self, project: str, prefix: str) -> str:
        rows = self._read(FIND_IDS, (self._key(project), *id_range(prefix)))
        if len(rows) != 1:
            raise NotFoundError(
                f"several traces have an id that begins with {prefix!r}" if rows else f"no trace has the id {prefix!r}",
                hint="give more of its id" if rows else "'evalsi traces list' shows those there are",
            )
        return bytes(rows[0][0]).hex()

    def results(self, project: str, trace_id: str) -> Sequence[PolicyResults]:
        found = self._read(FIND_BY_ID, (self._key(project), id_bytes(trace_id)))
        return [unpacked_results(*row) for row in self._read(FIND_RESULTS, (found[0][0],))] if found else []

    def projects(self) -> Sequence[str]:
        return [row[0] for row in self._read(LIST_PROJECTS_IN_USE)]

    def _grow(
        self,
        locked: Transaction,
        project: int,
        arrival: Arrival,
        known: Sequence[Any],
        new: Sequence[tuple[int, int]],
        arrived: Arrived,
    ) -> str:
        """Adds to a trace that is there; its session.

        Args:
            known: The columns `ARRIVED`, without the first.
            new: Spans, and failed spans, of each part that had not been stored.
        """
        trace, start_ns, end_ns, first_ms, root_ended, revision, complete, error, *texts = known
        service, name, session_id, user_id, labels = texts
        begin_ns, end_ns = earliest(start_ns, arrival.start_ns), max(end_ns, arrival.end_ns)
        if begin_ns != start_ns:
            self._moved(locked, trace, project, start_ns, begin_ns)
        first_ms = arrived.now_ms if complete else first_ms
        root_ended = bool(root_ended) or arrival.root_ended
        if arrival.labels:
            before = json_labels(labels)
            after = {**before, **arrival.labels}
            self._put_labels(locked.execute, (project, begin_ns, trace), before, after)
            labels = labels_text(after)
        due = due_ms(
            first_ms=first_ms,
            last_ms=arrived.now_ms,
            root_ended=root_ended,
            revision=revision,
            waiting=arrived.waiting,
        )
        session_id = session_id or arrival.session_id
        values = (
            *(begin_ns, end_ns, max(end_ns - begin_ns, 0), first_ms, arrived.now_ms, due, arrived.waiting.session_ms),
            *(int(root_ended), len(new), sum(spans for spans, _ in new), sum(failed for _, failed in new)),
            *(int(bool(error) or arrival.error), service or arrival.service, name or arrival.name, session_id),
            *(user_id or arrival.user_id, labels, trace),
        )
        locked.execute(GROW, values)
        return session_id
