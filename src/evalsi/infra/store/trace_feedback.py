"""What people say about traces, sessions and their own keys, which may come before the traces do."""

from collections.abc import Sequence
from typing import Any

import msgspec

from evalsi.core.clock import microseconds, moment_of
from evalsi.infra.store.trace_rows import packed, sound, unpacked_feedback
from evalsi.infra.store.trace_tables import FIND_BY_ID, FIND_SESSION, TraceTables, id_bytes, json_list, mean_of
from evalsi.infra.store.transactions import Transaction
from evalsi.schema import Feedback
from evalsi.traces.feedback_value import opinion

PUT_FEEDBACK = """
    INSERT INTO trace_feedback (project, id, trace_id, sender_key, session_id, time_us, opinion, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project, id) DO UPDATE SET trace_id = excluded.trace_id, sender_key = excluded.sender_key,
        session_id = excluded.session_id, time_us = excluded.time_us, opinion = excluded.opinion, body = excluded.body"""
FIND_BY_KEY = """
    SELECT t.key, t.trace_id, t.keys FROM trace_keys k JOIN traces t ON t.key = k.trace
    WHERE k.project = ? AND k.sender_key = ?"""
SET_FEEDBACK = "UPDATE traces SET feedback = ? WHERE key = ?"
RECONSIDER = "UPDATE traces SET due_ms = ?, evaluated = NULL WHERE key = ? AND due_ms IS NULL"
FEEDBACK_BY_TRACE = """
    SELECT time_us, id, body FROM trace_feedback WHERE project = ? AND trace_id = ? AND trace_id != ''"""
FEEDBACK_BY_KEY = """
    SELECT time_us, id, body FROM trace_feedback WHERE project = ? AND sender_key = ? AND sender_key != ''"""
FEEDBACK_BY_SESSION = """
    SELECT time_us, id, body FROM trace_feedback WHERE project = ? AND session_id = ? AND session_id != ''"""


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
                locked.execute(SET_FEEDBACK, (mean_of(self._opinions(locked, key, trace_id, keys)), trace))
                if reconsider:
                    locked.execute(RECONSIDER, (now_ms, trace))
            return waiting

        return self._database.write(change)

    def feedback(self, project: str, *, trace_id: str = "", session_id: str = "") -> Sequence[Feedback]:
        key = self._key(project)
        rows = [
            *self._read(FEEDBACK_BY_TRACE, (key, trace_id)),
            *self._read(FEEDBACK_BY_SESSION, (key, sound(session_id))),
        ]
        for _, _, keys in self._read(FIND_BY_ID, (key, id_bytes(trace_id))):
            for sender_key in json_list(keys):
                rows += self._read(FEEDBACK_BY_KEY, (key, sender_key))
        found = {row[1]: row for row in rows}
        said = [unpacked_feedback(name, body) for _, name, body in sorted(found.values(), key=lambda row: row[:2])]
        return [each for each in said if each is not None]


def _feedback_row(project: int, said: Feedback, now_ms: int) -> tuple[Any, ...]:
    timed = said if said.time is not None else msgspec.structs.replace(said, time=moment_of(now_ms * 1000))
    assert timed.time is not None
    place = (sound(said.id), sound(said.trace_id.lower()), sound(said.key), sound(said.session_id))
    return project, *place, microseconds(timed.time), opinion(said), packed(timed)
