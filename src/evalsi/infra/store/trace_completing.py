"""Traces that become complete: claimed by one worker at a time, stored with what was found in them.

Its own module because workers call it thousands of times in a second, beside whoever receives traces: looking for work
reads first, and what can be made beforehand is made before the write lock is taken.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from evalsi.infra.store.trace_rows import json_labels, labels_text, sound, unpacked_results
from evalsi.infra.store.trace_tables import (
    ADD_LABEL,
    ADD_SCORE,
    AT_ONCE,
    DROP_KEY,
    DROP_LABEL,
    DROP_RESULTS,
    DROP_SCORE,
    FIND_RESULTS,
    TraceTables,
    asked_within,
    id_bytes,
    json_list,
    results_row,
)
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import CompletedTrace, DueTrace
from evalsi.schema import PolicyResults

RENEW = "UPDATE traces SET lease_ms = ? WHERE project = ? AND trace_id = ? AND token = ?"
FIND_CLAIMED = """
    SELECT trace_id, token, key, start_ns, revision, evaluated, labels, scores, keys, session_id, session_ms, service,
        name, user_id
    FROM traces WHERE project = ? AND trace_id IN ({}) ORDER BY key"""
HAS_FEEDBACK = "SELECT 1 FROM trace_feedback WHERE project = ? LIMIT 1"
COMPLETE = """
    UPDATE traces SET due_ms = CASE WHEN parts = ? THEN NULL ELSE due_ms END,
        complete = CASE WHEN parts = ? THEN 1 ELSE 0 END, lease_ms = 0, token = '', revision = ?, evaluated = ?, mark = ?,
        service = ?, name = ?, duration_ns = ?, error = ?, steps = ?, labels = ?, session_id = ?, user_id = ?,
        version = ?, model = ?, input = ?, output = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, spans = ?,
        failed_spans = ?, keys = ?, feedback = ?, results = coalesce(?, results), scores = coalesce(?, scores)
    WHERE key = ?"""
NEXT_MARK = "UPDATE trace_marks SET mark = mark + ? WHERE id = 1 RETURNING mark"
PUT_RESULTS = """
    INSERT INTO trace_results (trace, policy, project, start_ns, revision, time_us, body) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (trace, policy) DO UPDATE SET revision = excluded.revision, time_us = excluded.time_us,
        body = excluded.body"""
SET_RESULTS = "UPDATE traces SET results = ?, scores = ? WHERE key = ?"
FIND_SCORED = "SELECT key, start_ns, revision, scores FROM traces WHERE project = ? AND trace_id = ?"
FIND_REVISION = "SELECT revision FROM trace_results WHERE trace = ? AND policy = ?"
MOVE_SESSION = """
    INSERT INTO trace_sessions (project, session_id, due_ms) VALUES (?, ?, ?)
    ON CONFLICT (project, session_id) DO UPDATE SET due_ms = excluded.due_ms, lease_ms = 0, token = ''"""
ADD_KEY = """
    INSERT INTO trace_keys (project, sender_key, trace) VALUES (?, ?, ?)
    ON CONFLICT (project, sender_key, trace) DO NOTHING"""
COUNT_PENDING = "SELECT count(*) FROM traces WHERE due_ms IS NOT NULL"
COUNT_WAITING = "SELECT count(*) FROM traces WHERE due_ms IS NOT NULL AND due_ms > ?"
HURRY = """
    UPDATE traces SET due_ms = ? WHERE key IN (
        SELECT key FROM traces WHERE due_ms IS NOT NULL AND due_ms > ? ORDER BY key LIMIT ?{})"""
COUNT_OVERDUE = """
    SELECT count(*) FROM (SELECT 1 FROM traces WHERE due_ms IS NOT NULL AND due_ms <= ? LIMIT ?) AS overdue"""
ANY_DUE = "SELECT 1 FROM traces WHERE due_ms IS NOT NULL AND due_ms <= ? AND lease_ms <= ? LIMIT 1"
CLAIM = """
    UPDATE traces SET lease_ms = ?, token = ? WHERE key IN (
        SELECT key FROM traces WHERE due_ms IS NOT NULL AND due_ms <= ? AND lease_ms <= ? ORDER BY due_ms, key LIMIT ?{})
    RETURNING due_ms, key, project, trace_id, revision, parts, evaluated"""


class _Later:
    """Rows that are written together: the same statement for many rows is quicker, and one way instead of many."""

    ORDER = (
        DROP_LABEL,
        DROP_KEY,
        DROP_SCORE,
        DROP_RESULTS,
        COMPLETE,
        ADD_LABEL,
        ADD_KEY,
        ADD_SCORE,
        PUT_RESULTS,
        MOVE_SESSION,
    )
    """What takes away goes before what adds."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Sequence[Any]]] = {statement: [] for statement in self.ORDER}

    def add(self, statement: str, row: Sequence[Any], /) -> None:
        self._rows[statement].append(row)

    def write(self, locked: Transaction) -> None:
        for statement, rows in self._rows.items():
            if rows:
                locked.executemany(statement, rows)


class TraceCompleting(TraceTables):
    """Implements the part of `TraceStore` for whoever completes traces."""

    def claim(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueTrace]:
        # Asked several times a second by everybody who waits for work: looking costs a hundredth of taking.
        if not self._read(ANY_DUE, (now_ms, now_ms)):
            return []
        token = secrets.token_hex(8)
        values = (now_ms + lease_ms, token, now_ms, now_ms, limit)
        statement = CLAIM.format(self.SKIP_HELD)
        rows = self._database.write(lambda change: change.execute(statement, values).fetchall(), alone=False)
        names = self._names() if rows else {}
        return [
            DueTrace(
                project=names[project],
                trace_id=bytes(trace_id).hex(),
                revision=revision + 1,
                parts=parts,
                evaluated_spans=bytes(evaluated or b""),
                token=token,
            )
            for _, _, project, trace_id, revision, parts, evaluated in sorted(rows, key=lambda row: row[:2])
        ]

    def renew(self, due: Sequence[DueTrace], *, now_ms: int, lease_ms: int) -> None:
        rows = [(now_ms + lease_ms, self._key(each.project), bytes.fromhex(each.trace_id), each.token) for each in due]
        self._database.write(lambda change: change.executemany(RENEW, sorted(rows)))

    def complete(self, traces: Sequence[CompletedTrace], *, now_ms: int) -> Sequence[str]:
        keys = {name: self._key(name) for name in {trace.due.project for trace in traces}}
        # Most of the work, and done before anybody has to wait for this change.
        texts = [self._read_text(keys[trace.due.project], trace.text) if trace.text else None for trace in traces]

        def change(locked: Transaction) -> list[str]:
            stored: list[str] = []
            later = _Later()
            mark = locked.execute(NEXT_MARK, (len(traces),)).fetchone()[0] - len(traces)
            by_project: dict[str, list[tuple[CompletedTrace, Any]]] = {}
            for trace, text in zip(traces, texts, strict=True):
                by_project.setdefault(trace.due.project, []).append((trace, text))
            for project, own in by_project.items():
                key = keys[project]
                claimed = self._claimed(locked, key, [trace for trace, _ in own])
                # Most have none, and then nothing need be asked for each trace.
                said = locked.execute(HAS_FEEDBACK, (key,)).fetchone() is not None
                for trace, text in own:
                    mark += 1
                    row = claimed.get(bytes.fromhex(trace.due.trace_id))
                    if row is not None and row[0] == trace.due.token:
                        self._complete(locked, later, key, trace, text, row[1:], said=said, mark=mark, now_ms=now_ms)
                        stored.append(trace.due.trace_id)
            later.write(locked)
            return stored

        return self._database.write(change) if traces else []

    def _claimed(
        self, locked: Transaction, project: int, traces: Sequence[CompletedTrace]
    ) -> dict[bytes, tuple[Any, ...]]:
        names = [bytes.fromhex(trace.due.trace_id) for trace in traces]
        found: dict[bytes, tuple[Any, ...]] = {}
        for at in range(0, len(names), AT_ONCE):
            some = names[at : at + AT_ONCE]
            statement = FIND_CLAIMED.format(", ".join("?" * len(some))) + self._database.hold
            found.update({bytes(row[0]): row[1:] for row in locked.execute(statement, (project, *some)).fetchall()})
        return found

    def _complete(
        self,
        locked: Transaction,
        later: "_Later",
        project: int,
        done: CompletedTrace,
        text: Any,
        row: Sequence[Any],
        *,
        said: bool,
        mark: int,
        now_ms: int,
    ) -> None:
        """Completes a trace whose claim is held.

        Args:
            later: Takes what is written for all traces together.
            text: Of `_read_text`; None for none.
            row: The columns of `FIND_CLAIMED` from `key` on.
            said: Whether there is feedback about anything in the project.
        """
        due, shown = done.due, done.summary
        trace, start_ns, revision, evaluated, labels, scores, keys, session_id, session_ms, *told = row
        service, name, user_id = told
        changed = done.span_digest != bytes(evaluated or b"")
        own_keys = sorted({sound(key) for key in done.keys})
        # What a credential or a resource told on arrival stands, unless the spans say otherwise.
        before = json_labels(labels)
        own_labels = {**before, **{sound(key): sound(value) for key, value in shown.labels.items()}}
        session = sound(shown.session_id) or session_id
        counted = (
            self._put_scores(later.add, (project, start_ns, trace), scores, done.policies) if changed else (None, None)
        )
        values = (
            *(due.parts, due.parts, due.revision if changed else revision, done.span_digest, mark),
            *(
                sound(shown.service) or service,
                sound(shown.name) or name,
                max(round((shown.duration or 0) * 1e9), 0),
                int(shown.error),
            ),
            *(shown.steps, labels_text(own_labels), session, sound(shown.user_id) or user_id, sound(shown.version)),
            *(sound(shown.model), sound(shown.input), sound(shown.output), shown.input_tokens, shown.output_tokens),
            *(shown.cost_usd, shown.spans, shown.failed_spans, msgspec.json.encode(own_keys).decode()),
            *(self._opinion(asked_within(locked), project, due.trace_id, own_keys) if said else None, *counted, trace),
        )
        later.add(COMPLETE, values)
        self._put_labels(later.add, (project, start_ns, trace), before, own_labels)
        for key in set(json_list(keys)) - set(own_keys):
            later.add(DROP_KEY, (project, key, trace))
        for key in own_keys:
            later.add(ADD_KEY, (project, key, trace))
        if changed:
            if revision:
                later.add(DROP_RESULTS, (trace,))
                self._forget_text(locked, trace)
            if text is not None:
                self._index_text(locked, project, trace, start_ns, text)
            for results in done.policies:
                later.add(PUT_RESULTS, results_row(trace, project, start_ns, results, now_ms))
        if session and session != session_id:
            later.add(MOVE_SESSION, (project, session, now_ms + session_ms))

    def write_results(self, project: str, trace_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        key = self._key(project)

        def change(locked: Transaction) -> bool:
            found = locked.execute(FIND_SCORED + self._database.hold, (key, id_bytes(trace_id))).fetchone()
            if found is None or found[2] > results.revision:
                return False
            trace, start_ns, _, scores = found
            there = locked.execute(FIND_REVISION, (trace, results.policy)).fetchone()
            if there is not None and there[0] > results.revision:
                return False
            locked.execute(PUT_RESULTS, results_row(trace, key, start_ns, results, now_ms))
            policies = [unpacked_results(*row) for row in locked.execute(FIND_RESULTS, (trace,)).fetchall()]
            locked.execute(
                SET_RESULTS, (*self._put_scores(locked.execute, (key, start_ns, trace), scores, policies), trace)
            )
            return True

        return self._database.write(change)

    def pending(self) -> int:
        return self._read(COUNT_PENDING)[0][0]

    def hurry(self, *, most: int, now_ms: int) -> int:
        waiting = self._read(COUNT_WAITING, (now_ms,))[0][0]
        if waiting <= most:
            return 0
        values = (now_ms, now_ms, waiting - most)
        statement = HURRY.format(self.SKIP_HELD)
        return self._database.write(lambda change: change.execute(statement, values).rowcount, alone=False)

    def overdue(self, *, since_ms: int, most: int) -> int:
        return self._read(COUNT_OVERDUE, (since_ms, most))[0][0]
