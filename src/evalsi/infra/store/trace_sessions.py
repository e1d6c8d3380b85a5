"""Sessions of traces: due when they have been quiet, and what was found in them.

Its own module because a session is known by its traces alone and has its own revision, which grows with theirs.
"""

import secrets
from collections.abc import Sequence

from evalsi.infra.store.trace_rows import packed, sound, unpacked_results
from evalsi.infra.store.trace_tables import FIND_SESSION, TraceTables, timed
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.trace_store import DueSession
from evalsi.schema import PolicyResults

FIND_SESSION_TRACES = """
    SELECT trace_id, revision FROM traces WHERE project = ? AND session_id = ? AND session_id != '' ORDER BY start_ns, key"""
RENEW_SESSION = "UPDATE trace_sessions SET lease_ms = ? WHERE project = ? AND session_id = ? AND token = ?"
END_SESSION = """
    UPDATE trace_sessions SET due_ms = NULL, lease_ms = 0, token = '' WHERE project = ? AND session_id = ? AND token = ?"""
PUT_SESSION_RESULTS = """
    INSERT INTO trace_session_results (project, session_id, policy, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (project, session_id, policy) DO UPDATE SET body = excluded.body"""
FIND_SESSION_POLICIES = "SELECT policy, body FROM trace_session_results WHERE project = ? AND session_id = ?"
DROP_SESSION_RESULTS = "DELETE FROM trace_session_results WHERE project = ? AND session_id = ? AND policy = ?"
FIND_SESSION_RESULT = (
    "SELECT policy, body FROM trace_session_results WHERE project = ? AND session_id = ? AND policy = ?"
)
FIND_SESSION_RESULTS = (
    "SELECT policy, body FROM trace_session_results WHERE project = ? AND session_id = ? ORDER BY policy"
)
_QUIET = """
    FROM trace_sessions s WHERE s.due_ms IS NOT NULL AND s.due_ms <= ? AND s.lease_ms <= ? AND NOT EXISTS (
        SELECT 1 FROM traces t WHERE t.project = s.project AND t.session_id = s.session_id AND t.session_id != ''
        AND t.due_ms IS NOT NULL)"""
ANY_SESSION_DUE = f"SELECT 1 {_QUIET} LIMIT 1"
CLAIM_SESSIONS = f"""
    UPDATE trace_sessions SET lease_ms = ?, token = ? WHERE (project, session_id) IN (
        SELECT s.project, s.session_id {_QUIET} ORDER BY s.due_ms LIMIT ?{{}})
    RETURNING due_ms, project, session_id"""  # noqa: S608


class TraceSessions(TraceTables):
    """Implements the part of `TraceStore` about sessions."""

    def claim_sessions(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[DueSession]:
        if not self._read(ANY_SESSION_DUE, (now_ms, now_ms)):
            return []
        token = secrets.token_hex(8)
        values = (now_ms + lease_ms, token, now_ms, now_ms, limit)
        statement = CLAIM_SESSIONS.format(self.SKIP_HELD.replace("UPDATE", "UPDATE OF s"))
        rows = self._database.write(lambda change: change.execute(statement, values).fetchall(), alone=False)
        names = self._names() if rows else {}
        found: list[DueSession] = []
        for _, project, session_id in sorted(rows):
            traces, revision = self._session_traces(project, session_id)
            found.append(
                DueSession(
                    project=names[project], session_id=session_id, trace_ids=traces, revision=revision, token=token
                )
            )
        return found

    def renew_sessions(self, sessions: Sequence[DueSession], *, now_ms: int, lease_ms: int) -> None:
        rows = [(now_ms + lease_ms, self._key(each.project), each.session_id, each.token) for each in sessions]
        self._database.write(lambda change: change.executemany(RENEW_SESSION, sorted(rows)))

    def session_traces(self, project: str, session_id: str) -> tuple[Sequence[str], int]:
        return self._session_traces(self._key(project), sound(session_id))

    def _session_traces(self, project: int, session_id: str) -> tuple[Sequence[str], int]:
        rows = self._read(FIND_SESSION_TRACES, (project, session_id))
        return [bytes(row[0]).hex() for row in rows], sum(row[1] for row in rows)

    def complete_session(self, session: DueSession, policies: Sequence[PolicyResults], *, now_ms: int) -> bool:
        project = self._key(session.project)

        def change(locked: Transaction) -> bool:
            if not locked.execute(END_SESSION, (project, session.session_id, session.token)).rowcount:
                return False
            for policy, body in locked.execute(FIND_SESSION_POLICIES, (project, session.session_id)).fetchall():
                # What waits in line may have written of this very revision already.
                if unpacked_results(policy, body).revision < session.revision:
                    locked.execute(DROP_SESSION_RESULTS, (project, session.session_id, policy))
            for results in policies:
                row = (project, session.session_id, results.policy, packed(timed(results, now_ms)))
                locked.execute(PUT_SESSION_RESULTS, row)
            return True

        return self._database.write(change)

    def write_session_results(self, project: str, session_id: str, results: PolicyResults, *, now_ms: int) -> bool:
        key = self._key(project)

        def change(locked: Transaction) -> bool:
            if locked.execute(FIND_SESSION + self._database.hold, (key, session_id)).fetchone() is None:
                return False
            there = locked.execute(FIND_SESSION_RESULT, (key, session_id, results.policy)).fetchone()
            if there is not None and unpacked_results(*there).revision > results.revision:
                return False
            locked.execute(PUT_SESSION_RESULTS, (key, session_id, results.policy, packed(timed(results, now_ms))))
            return True

        return self._database.write(change)

    def session_results(self, project: str, session_id: str) -> Sequence[PolicyResults]:
        rows = self._read(FIND_SESSION_RESULTS, (self._key(project), sound(session_id)))
        return [unpacked_results(*row) for row in rows]
