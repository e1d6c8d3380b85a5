"""What people say about traces, sessions and their own keys, which may come before the traces do."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from evalsi.core.clock import microseconds, moment_of
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.infra.store.trace_rows import packed, sound, unpacked_feedback
from evalsi.infra.store.trace_tables import (
    AT_ONCE,
    FIND_BY_ID,
    FIND_SESSION,
    TraceTables,
    asked_within,
    id_bytes,
    json_list,
)
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import FeedbackPage
from evalsi.schema import Feedback
from evalsi.traces.feedback_value import opinion

_Source: TypeAlias = tuple[str, tuple[int, str], tuple[str, ...]]
"""A condition, its values, and the trace whose feedback is not counted, since it is counted elsewhere."""
PUT_FEEDBACK = """
    INSERT INTO trace_feedback (project, id, trace_id, sender_key, session_id, time_us, opinion, body, stored_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project, id) DO UPDATE SET trace_id = excluded.trace_id, sender_key = excluded.sender_key,
        session_id = excluded.session_id, time_us = excluded.time_us, opinion = excluded.opinion, body = excluded.body,
        stored_ms = excluded.stored_ms"""
FIND_BY_KEY = """
    SELECT t.key, t.trace_id, t.keys FROM trace_keys k JOIN traces t ON t.key = k.trace
    WHERE k.project = ? AND k.sender_key = ?"""
SET_FEEDBACK = "UPDATE traces SET feedback = ? WHERE key = ?"
RECONSIDER = "UPDATE traces SET due_ms = ?, evaluated = NULL WHERE key = ? AND due_ms IS NULL"
_ABOUT_TRACE = "project = ? AND trace_id = ? AND trace_id != ''"
_ABOUT_SESSION = "project = ? AND session_id = ? AND session_id != ''"
_BY_KEY = "project = ? AND sender_key = ? AND sender_key != ''"
NEWEST = "SELECT time_us, id, body FROM trace_feedback WHERE {} ORDER BY time_us DESC, id DESC LIMIT ?"
COUNT = "SELECT count(*) FROM trace_feedback WHERE {}"
BELOW = " AND (time_us, id) < (?, ?)"
OLD = """
    SELECT stored_ms, id, trace_id, sender_key, session_id FROM trace_feedback
    WHERE project = ? AND stored_ms < ? AND (stored_ms, id) > (?, ?) ORDER BY stored_ms, id LIMIT ?"""
DROP_OLD = "DELETE FROM trace_feedback WHERE project = ? AND id = ? AND stored_ms = ?"


class TraceFeedback(TraceTables):
    """Implements the part of `TraceStore` about feedback."""

    def add_feedback(self, project: str, feedback: Sequence[Feedback], *, now_ms: int, reconsider: bool) -> int:
        def change(locked: Transaction) -> int:
            key = self._made_key(locked, project)
            about: dict[int, tuple[str, list[str]]] = {}
            waiting = 0
            for said in feedback:
                locked.execute(PUT_FEEDBACK, _feedback_row(key, said, now_ms))
                rows = [
                    *locked.execute(FIND_BY_ID, (key, id_bytes(said.trace_id))).fetchall(),
                    *(locked.execute(FIND_BY_KEY, (key, sound(said.key))).fetchall() if said.key else ()),
                ]
                about.update({row[0]: (bytes(row[1]).hex(), json_list(row[2])) for row in rows})
                if not rows and locked.execute(FIND_SESSION, (key, sound(said.session_id))).fetchone() is None:
                    waiting += 1
            for trace, (trace_id, keys) in sorted(about.items()):
                locked.execute(SET_FEEDBACK, (self._opinion(asked_within(locked), key, trace_id, keys), trace))
                if reconsider:
                    locked.execute(RECONSIDER, (now_ms, trace))
            return waiting

        return self._database.write(change)

    def opinion(self, project: str, trace_id: str, keys: Sequence[str]) -> float | None:
        return self._opinion(self._read, self._key(project), trace_id, [sound(key) for key in keys])

    def feedback(
        self, project: str, *, trace_id: str = "", session_id: str = "", size: int, token: str = ""
    ) -> FeedbackPage:
        query = ["feedback", project, trace_id, session_id]
        after = read_page_token(token, query, tuple[int, str])
        sources = self._sources(self._key(project), trace_id, session_id)
        # Each source is in order by itself, and what is in two of them is one.
        found = {
            row[1]: row
            for where, values, _ in sources
            for row in self._read(
                NEWEST.format(where + (BELOW if after is not None else "")), (*values, *(after or ()), size + 1)
            )
        }
        newest = sorted(found.values(), key=lambda row: row[:2], reverse=True)
        shown = newest[:size]
        said = [unpacked_feedback(name, body) for _, name, body in shown]
        return FeedbackPage(
            feedback=[each for each in said if each is not None],
            total=sum(
                self._read(COUNT.format(f"{where} AND trace_id != ?" if other else where), (*values, *other))[0][0]
                for where, values, other in sources
            ),
            next_token=write_page_token(query, list(shown[-1][:2])) if len(newest) > size else "",
        )

    def expire_feedback(self, project: str, *, before_ms: int, limit: int) -> int:
        key = self._key(project)
        removed, after = 0, (1, "")
        while removed < limit:
            rows = self._read(OLD, (key, before_ms, *after, AT_ONCE))
            if not rows:
                break
            after = rows[-1][:2]

            def change(locked: Transaction, rows: Sequence[tuple[Any, ...]] = rows) -> int:
                gone = [row for row in rows if not self._is_about_anything(locked, key, *row[2:])]
                locked.executemany(DROP_OLD, [(key, row[1], row[0]) for row in gone])
                return len(gone)

            removed += self._database.write(change)
        return removed

    def _is_about_anything(
        self, locked: Transaction, project: int, trace_id: str, sender_key: str, session_id: str
    ) -> bool:
        asked = (
            (FIND_BY_ID, id_bytes(trace_id) if trace_id else None),
            (FIND_BY_KEY, sender_key or None),
            (FIND_SESSION, session_id or None),
        )
        return any(
            locked.execute(statement, (project, name)).fetchone() is not None
            for statement, name in asked
            if name is not None
        )

    def _sources(self, project: int, trace_id: str, session_id: str) -> "list[_Source]":
        """Where what was said about a trace or a session is found."""
        if session_id:
            return [(_ABOUT_SESSION, (project, sound(session_id)), ())]
        sources: list[_Source] = [(_ABOUT_TRACE, (project, trace_id), ())]
        for _, _, keys in self._read(FIND_BY_ID, (project, id_bytes(trace_id))):
            sources += [(_BY_KEY, (project, key), (trace_id,)) for key in json_list(keys)]
        return sources


def _feedback_row(project: int, said: Feedback, now_ms: int) -> tuple[Any, ...]:
    timed = said if said.time is not None else msgspec.structs.replace(said, time=moment_of(now_ms * 1000))
    assert timed.time is not None
    place = (sound(said.id), sound(said.trace_id.lower()), sound(said.key), sound(said.session_id))
    return project, *place, microseconds(timed.time), opinion(said), packed(timed), now_ms
