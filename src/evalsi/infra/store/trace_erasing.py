"""Traces that are removed, on demand or by age, with everything that is known of them."""

from collections.abc import Sequence

from evalsi.infra.store.trace_lists import TraceLists
from evalsi.infra.store.trace_rows import json_labels, label_of, sound
from evalsi.infra.store.trace_tables import (
    AT_ONCE,
    DROP_KEY,
    DROP_LABEL,
    DROP_RESULTS,
    DROP_SCORE,
    FIND_BY_ID,
    id_bytes,
    json_list,
    json_scores,
)
from evalsi.infra.store.transactions import Transaction
from evalsi.schema import TraceFilter

FORGET_SESSION_RESULTS = "DELETE FROM trace_session_results WHERE project = ? AND session_id = ?"
ERASE_FEEDBACK_OF_TRACE = "DELETE FROM trace_feedback WHERE project = ? AND trace_id = ? AND trace_id != ''"
ERASE_FEEDBACK_OF_KEY = "DELETE FROM trace_feedback WHERE project = ? AND sender_key = ? AND sender_key != ''"
ERASE_FEEDBACK_OF_SESSION = "DELETE FROM trace_feedback WHERE project = ? AND session_id = ? AND session_id != ''"
FIND_TO_DELETE = "SELECT key, trace_id, start_ns, labels, scores, keys, session_id FROM traces WHERE key = ?"
DELETE_PARTS = "DELETE FROM trace_parts WHERE trace = ?"
DELETE_TRACE = "DELETE FROM traces WHERE key = ?"
FIND_OLD = "SELECT key FROM traces WHERE project = ? AND last_ms < ? ORDER BY last_ms LIMIT ?"
FIND_OTHER_OF_SESSION = "SELECT 1 FROM traces WHERE project = ? AND session_id = ? AND session_id != '' LIMIT 1"
DELETE_SESSION = "DELETE FROM trace_sessions WHERE project = ? AND session_id = ?"


class TraceErasing(TraceLists):
    """Implements the part of `TraceStore` that removes."""

    def delete(self, project: str, choice: TraceFilter | Sequence[str]) -> int:
        key = self._key(project)
        deleted = 0
        with self._erasing():
            if isinstance(choice, TraceFilter):
                query = self._query(key, choice)
                statement, values = query.select(("t.key",), after=None, size=AT_ONCE)
                while traces := [row[0] for row in self._read(statement, values)]:
                    deleted += self._delete(key, traces)
                if choice == TraceFilter(session_id=choice.session_id):
                    session = sound(choice.session_id)
                    self._database.write(lambda locked: self._end_session(locked, key, session))
            else:
                for at in range(0, len(choice), AT_ONCE):
                    names = choice[at : at + AT_ONCE]
                    found = [self._read(FIND_BY_ID, (key, id_bytes(name))) for name in names]
                    deleted += self._delete(key, sorted({rows[0][0] for rows in found if rows}))
                    said = [(key, sound(name)) for name in sorted(names)]
                    self._database.write(lambda locked, said=said: locked.executemany(ERASE_FEEDBACK_OF_TRACE, said))
        return deleted

    def expire(self, project: str, *, before_ms: int, limit: int) -> int:
        key = self._key(project)
        traces = [row[0] for row in self._read(FIND_OLD, (key, before_ms, limit))]
        return sum(self._delete(key, traces[at : at + AT_ONCE]) for at in range(0, len(traces), AT_ONCE))

    def _delete(self, project: int, traces: Sequence[int]) -> int:
        def change(locked: Transaction) -> int:
            sessions: set[str] = set()
            deleted = 0
            for trace in sorted(traces):
                found = locked.execute(FIND_TO_DELETE + self._database.hold, (trace,)).fetchone()
                if found is None:
                    continue
                deleted += 1
                _, trace_id, start_ns, labels, scores, keys, session_id = found
                sessions.add(session_id)
                for key, value in json_labels(labels).items():
                    locked.execute(DROP_LABEL, (project, label_of(key, value), start_ns, trace))
                for name in json_scores(scores):
                    locked.execute(DROP_SCORE, (project, name, start_ns, trace))
                for key in json_list(keys):
                    locked.execute(DROP_KEY, (project, key, trace))
                    locked.execute(ERASE_FEEDBACK_OF_KEY, (project, key))
                locked.execute(ERASE_FEEDBACK_OF_TRACE, (project, bytes(trace_id).hex()))
                self._forget_text(locked, trace)
                for statement in (DROP_RESULTS, DELETE_PARTS, DELETE_TRACE):
                    locked.execute(statement, (trace,))
            for session_id in sorted(sessions - {""}):
                if locked.execute(FIND_OTHER_OF_SESSION, (project, session_id)).fetchone() is None:
                    self._end_session(locked, project, session_id)
            return deleted

        return self._database.write(change)

    def _end_session(self, locked: Transaction, project: int, session_id: str) -> None:
        for statement in (DELETE_SESSION, FORGET_SESSION_RESULTS, ERASE_FEEDBACK_OF_SESSION):
            locked.execute(statement, (project, session_id))
