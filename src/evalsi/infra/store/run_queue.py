"""The queue of runs in a SQL database: implements `ports.RunQueue` for SQLite and PostgreSQL alike.

Who has a run is decided in one transaction that is alone, and so is every decision that rests on a count. A claim takes
the run from its former holder in the run store too (its writer's token goes), so the two can never disagree.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.clock import Clock, SystemClock, microseconds, moment_of_text
from evalsi.core.errors import ConflictError, LeaseLostError, NotFoundError, QuotaError, UsageError
from evalsi.infra.store.run_store import put_labels
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.infra.store.writer import Writer, is_alive, this_process
from evalsi.ports.run_queue import Claim, QueueEntry, QueueLimits, Submission

REQUEST_KEYS_LAST_US = 24 * 3600 * 1_000_000
"""How long a caller's own key stands for its run."""

MOST_CRASHES = 10
"""Holders in a row that may die before a row or an answer more is stored; then the run itself is to blame."""

INSERT_RUN = """
    INSERT INTO runs (project_id, id, name, status, created_at, created_us, dataset, dataset_digest, fingerprint, labels,
        headline)
    VALUES (?, ?, ?, 'interrupted', ?, ?, ?, '', '', ?, '')
    ON CONFLICT (id) DO NOTHING"""
INSERT_DOCUMENTS = "INSERT INTO run_documents (run_id, manifest, summaries) VALUES (?, ?, '[]')"
INSERT_ENTRY = """
    INSERT INTO run_queue (run_id, project_id, state, priority, submitted_us, created_by, request_key, request_digest)
    VALUES (?, ?, 'waiting', ?, ?, ?, ?, ?)"""
COUNT_RUNS = "SELECT count(*) FROM runs WHERE project_id = ?"
FIND_REQUEST = "SELECT run_id, request_digest, submitted_us FROM run_queue WHERE project_id = ? AND request_key = ?"
FORGET_REQUEST = "UPDATE run_queue SET request_key = NULL WHERE run_id = ?"
LIST_CLAIMED = """
    SELECT run_id, project_id, holder, lease_until_us, cancelling, crashes, claimed_done FROM run_queue
    WHERE state = 'claimed' ORDER BY submitted_us, run_id"""
FIRST_WAITING = """
    SELECT run_id FROM run_queue WHERE state = 'waiting' AND project_id = ?
    ORDER BY priority DESC, submitted_us, run_id LIMIT 1"""
WAITING_PROJECTS = "SELECT DISTINCT project_id FROM run_queue WHERE state = 'waiting'"
LAST_SERVED = "SELECT max(claimed_us) FROM run_queue WHERE project_id = ?"
TAKE = """
    UPDATE run_queue SET state = 'claimed', holder = ?, lease_token = ?, lease_until_us = ?, claimed_us = ?,
        claimed_done = ?, crashes = ?
    WHERE run_id = ?"""
FREE_RUN = """
    UPDATE runs SET status = 'interrupted', writer_token = NULL, writer = NULL
    WHERE id = ? AND status IN ('running', 'succeeded', 'error')"""
"""Also of a run whose holder died between its last row and saying so: whether its gates were decided is not known."""
RENEW = """
    UPDATE run_queue SET lease_until_us = ?, progress = coalesce(?, progress)
    WHERE run_id = ? AND lease_token = ? AND state = 'claimed'"""
READ_CANCELLING = "SELECT cancelling FROM run_queue WHERE run_id = ?"
RELEASE = """
    UPDATE run_queue SET state = CASE cancelling WHEN 0 THEN 'waiting' ELSE 'cancelled' END, holder = NULL,
        lease_token = NULL, lease_until_us = NULL
    WHERE run_id = ? AND lease_token = ? AND state = 'claimed'"""
SETTLE = """
    UPDATE run_queue SET state = ?, error = ?, holder = NULL, lease_token = NULL, lease_until_us = NULL
    WHERE run_id = ? AND lease_token = ? AND state = 'claimed'"""
GIVE_UP = """
    UPDATE run_queue SET state = 'failed', error = ?, holder = NULL, lease_token = NULL, lease_until_us = NULL
    WHERE run_id = ?"""
READ_DONE = """
    SELECT rows + (SELECT count(*) FROM answers WHERE run_id = runs.id) FROM runs WHERE id = ?"""
END = """
    UPDATE run_queue SET state = 'cancelled', holder = NULL, lease_token = NULL, lease_until_us = NULL
    WHERE run_id = ?"""
CANCEL_WAITING = "UPDATE run_queue SET state = 'cancelled' WHERE run_id = ? AND state = 'waiting'"
CANCEL_CLAIMED = "UPDATE run_queue SET cancelling = 1 WHERE run_id = ? AND state = 'claimed'"
READ_STATES = """
    SELECT runs.project_id, runs.status, run_queue.state
    FROM runs LEFT JOIN run_queue ON run_queue.run_id = runs.id WHERE runs.id = ?"""
AGAIN = """
    INSERT INTO run_queue (run_id, project_id, state, priority, submitted_us, created_by, request_digest)
    VALUES (?, ?, 'waiting', ?, ?, '', '')
    ON CONFLICT (run_id) DO UPDATE SET
        state = 'waiting', priority = excluded.priority, submitted_us = excluded.submitted_us, crashes = 0, cancelling = 0,
        error = ''"""
READ_ENTRY = """
    SELECT run_id, project_id, state, created_by, claimed_us, cancelling, progress, error
    FROM run_queue WHERE run_id = ?"""
COUNT_STATES = "SELECT state, count(*) FROM run_queue WHERE state IN ('waiting', 'claimed') GROUP BY state"
ADD_USAGE = """
    INSERT INTO usage_days (project_id, day, target_tokens, judge_tokens) VALUES (?, ?, ?, ?)
    ON CONFLICT (project_id, day) DO UPDATE SET
        target_tokens = usage_days.target_tokens + excluded.target_tokens,
        judge_tokens = usage_days.judge_tokens + excluded.judge_tokens"""
READ_USAGE = "SELECT target_tokens, judge_tokens FROM usage_days WHERE project_id = ? AND day = ?"

_WRITER = msgspec.json.Decoder(Writer)


class _Held(NamedTuple):
    run_id: str
    project: str
    holder: str
    lease_until_us: int
    cancelling: int
    crashes: int
    claimed_done: int


class _Next(NamedTuple):
    run_id: str
    project: str
    done: int
    """Rows and answers that are stored."""
    crashes: int


class SqlRunQueue:
    """Implements `RunQueue`."""

    def __init__(self, database: SqlDatabase, *, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    def submit(self, submission: Submission, *, most_stored: int | None = None) -> str:
        run = submission.run
        created_us = microseconds(moment_of_text(run.created_at, "created_at"))
        labels = canonical_json(run.labels).decode()
        manifest = canonical_json(submission.manifest).decode()
        values = (run.project, run.id, run.name, run.created_at, created_us, run.dataset, labels)
        key = submission.request_key or None

        def put(connection: Transaction) -> str:
            earlier = self._same_request(connection, submission)
            if earlier:
                return earlier
            (stored,) = connection.execute(COUNT_RUNS, (run.project,)).fetchone()
            if most_stored is not None and stored >= most_stored:
                raise QuotaError(
                    f"project {run.project} holds {stored} runs and may hold {most_stored}",
                    hint="delete runs that are not needed any more, or ask for a larger quota",
                )
            if not connection.execute(INSERT_RUN, values).rowcount:
                raise UsageError(f"a run with the id {run.id} exists already", hint="give the run a new id")
            connection.execute(INSERT_DOCUMENTS, (run.id, manifest))
            put_labels(connection, run.id, run.labels)
            made = (submission.priority, self._now_us(), submission.created_by, key, submission.request_digest)
            connection.execute(INSERT_ENTRY, (run.id, run.project, *made))
            return run.id

        return self._database.write(put, sync=True, alone=True)

    def claim(self, limits: QueueLimits, *, lease_s: float) -> Claim | None:
        token = os.urandom(16).hex()
        holder = msgspec.json.encode(this_process()).decode()

        def take(connection: Transaction) -> Claim | None:
            now_us = self._now_us()
            chosen = self._choose(connection, limits, now_us)
            if chosen is None:
                return None
            until_us = now_us + int(lease_s * 1e6)
            connection.execute(TAKE, (holder, token, until_us, now_us, chosen.done, chosen.crashes, chosen.run_id))
            connection.execute(FREE_RUN, (chosen.run_id,))
            return Claim(run_id=chosen.run_id, project=chosen.project, token=token)

        # Looking costs no lock: most looks of an idle worker find nothing.
        if not self.depth():
            return None
        return self._database.write(take, alone=True)

    def renew(self, claim: Claim, *, lease_s: float, progress: bytes = b"") -> bool:
        def put(connection: Transaction) -> bool:
            values = (self._now_us() + int(lease_s * 1e6), progress.decode() or None, claim.run_id, claim.token)
            if not connection.execute(RENEW, values).rowcount:
                raise _lost(claim)
            return not connection.execute(READ_CANCELLING, (claim.run_id,)).fetchone()[0]

        return self._database.write(put)

    def release(self, claim: Claim) -> None:
        self._database.write(lambda connection: connection.execute(RELEASE, (claim.run_id, claim.token)))

    def settle(self, claim: Claim, state: str, *, error: str = "") -> None:
        def put(connection: Transaction) -> None:
            if not connection.execute(SETTLE, (state, error, claim.run_id, claim.token)).rowcount:
                raise _lost(claim)

        self._database.write(put, sync=True)

    def cancel(self, run_id: str) -> None:
        def put(connection: Transaction) -> None:
            if connection.execute(READ_STATES, (run_id,)).fetchone() is None:
                raise _missing(run_id)
            connection.execute(CANCEL_WAITING, (run_id,))
            connection.execute(CANCEL_CLAIMED, (run_id,))

        self._database.write(put, sync=True, alone=True)

    def resume(self, run_id: str, *, priority: int = 0) -> None:
        def put(connection: Transaction) -> None:
            found = connection.execute(READ_STATES, (run_id,)).fetchone()
            if found is None:
                raise _missing(run_id)
            project, status, state = found
            if state in ("waiting", "claimed"):
                raise UsageError(f"run {run_id} is under way already", hint="watch it")
            if status == "succeeded":
                raise UsageError(f"run {run_id} is finished", hint="start a new run")
            connection.execute(AGAIN, (run_id, project, priority, self._now_us()))

        self._database.write(put, sync=True, alone=True)

    def entry(self, run_id: str) -> QueueEntry | None:
        found = self._database.read(READ_ENTRY, (run_id,))
        if not found:
            return None
        id_, project, state, created_by, claimed_us, cancelling, progress, error = found[0]
        return QueueEntry(
            run_id=id_,
            project=project,
            state=state,
            created_by=created_by,
            claimed_us=claimed_us,
            cancelling=bool(cancelling),
            progress=(progress or "").encode(),
            error=error,
        )

    def depth(self) -> Mapping[str, int]:
        return dict(self._database.read(COUNT_STATES))

    def add_usage(self, project: str, day: str, *, target_tokens: int, judge_tokens: int) -> tuple[int, int]:
        def add(connection: Transaction) -> tuple[int, int]:
            connection.execute(ADD_USAGE, (project, day, target_tokens, judge_tokens))
            target, judge = connection.execute(READ_USAGE, (project, day)).fetchone()
            return target, judge

        if target_tokens or judge_tokens:
            return self._database.write(add)
        found = self._database.read(READ_USAGE, (project, day))
        return (found[0][0], found[0][1]) if found else (0, 0)

    def _same_request(self, connection: Transaction, submission: Submission) -> str:
        """The run that this request made before; "" for a new request."""
        if not submission.request_key:
            return ""
        found = connection.execute(FIND_REQUEST, (submission.run.project, submission.request_key)).fetchone()
        if found is None:
            return ""
        run_id, request_digest, submitted_us = found
        if submitted_us < self._now_us() - REQUEST_KEYS_LAST_US:
            connection.execute(FORGET_REQUEST, (run_id,))
            return ""
        if request_digest != submission.request_digest:
            raise ConflictError(
                "this idempotency key was used for another request", hint="use a new key for every request"
            )
        return run_id

    def _choose(self, connection: Transaction, limits: QueueLimits, now_us: int) -> _Next | None:
        in_hand: dict[str, int] = {}
        orphans: list[_Next] = []
        for held in map(_Held._make, connection.execute(LIST_CLAIMED).fetchall()):
            if held.lease_until_us >= now_us and is_alive(_WRITER.decode(held.holder)) is not False:
                in_hand[held.project] = in_hand.get(held.project, 0) + 1
            else:
                orphans += _orphan(connection, held)
        if limits.total is not None and sum(in_hand.values()) >= limits.total:
            return None
        # What was begun is finished first: it had its turn already.
        for orphan in orphans:
            if _has_room(limits, orphan.project, in_hand):
                return orphan
        served: list[tuple[int, int, str]] = []
        for (project,) in connection.execute(WAITING_PROJECTS).fetchall():
            if _has_room(limits, project, in_hand):
                (last_us,) = connection.execute(LAST_SERVED, (project,)).fetchone()
                served.append((in_hand.get(project, 0), last_us or 0, project))
        if not served:
            return None
        project = min(served)[2]
        (run_id,) = connection.execute(FIRST_WAITING, (project,)).fetchone()
        return _Next(run_id, project, _done(connection, run_id), 0)

    def _now_us(self) -> int:
        return microseconds(self._clock.now())


def _orphan(connection: Transaction, held: _Held) -> list[_Next]:
    """A run whose holder is gone, when it is to go on; otherwise it ends here."""
    done = _done(connection, held.run_id)
    crashes = held.crashes + 1 if done == held.claimed_done else 0
    if held.cancelling:
        connection.execute(END, (held.run_id,))
    elif crashes >= MOST_CRASHES:
        why = f"{crashes} processes that worked on it died, one after the other, before any of them got further"
        connection.execute(GIVE_UP, (why, held.run_id))
    else:
        return [_Next(held.run_id, held.project, done, crashes)]
    connection.execute(FREE_RUN, (held.run_id,))
    return []


def _done(connection: Transaction, run_id: str) -> int:
    (done,) = connection.execute(READ_DONE, (run_id,)).fetchone()
    return done


def _has_room(limits: QueueLimits, project: str, in_hand: Mapping[str, int]) -> bool:
    most = limits.of(project)
    return most is None or in_hand.get(project, 0) < most


def _lost(claim: Claim) -> LeaseLostError:
    return LeaseLostError(
        f"run {claim.run_id} is not in the hands of this process any more", hint="let its new holder finish it"
    )


def _missing(run_id: str) -> NotFoundError:
    return NotFoundError(f"no run {run_id}", hint="'evalsi runs list' shows all")
