"""Policies and what they found in a SQL database: implements `ports.PolicyStore`.

Marks, buckets, counts, alerts, tasks and messages change in one transaction, so that whatever a worker dies of, they agree.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from evalsi.core.errors import NotFoundError, suggestion
from evalsi.infra.store.held_claims import lost_subjects, lost_tasks
from evalsi.infra.store.score_outbox import DAMAGED, forget_outgoing, put_outgoing
from evalsi.infra.store.told_scores import news_for_sinks
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.policy_store import (
    HOUR_MS,
    MINUTE_MS,
    STAGES,
    Bucket,
    BucketKey,
    DaySpent,
    Delivery,
    Folding,
    Notice,
    PolicyMark,
    PolicyTask,
    Settlement,
    Stage,
    TaskKey,
)
from evalsi.ports.score_sink import OutgoingScores
from evalsi.schema import OnlineEvalPolicy

T = TypeVar("T")
logger = logging.getLogger(__name__)

PUT_POLICY = """
    INSERT INTO policies (project_id, name, document) VALUES (?, ?, ?)
    ON CONFLICT (project_id, name) DO UPDATE SET document = excluded.document"""
NEXT_GENERATION = "UPDATE policy_generation SET generation = generation + 1 WHERE id = 1"
READ_GENERATION = "SELECT generation FROM policy_generation WHERE id = 1"
LIST_POLICIES = "SELECT document FROM policies"
READ_POLICY = "SELECT document FROM policies WHERE project_id = ? AND name = ?"
LIST_NAMES = "SELECT name FROM policies WHERE project_id = ?"
DELETE_POLICY = "DELETE FROM policies WHERE project_id = ? AND name = ?"

READ_MARKS = """
    SELECT subject, revision, stage, counted, body, told FROM policy_marks WHERE project_id = ? AND policy = ?"""
PUT_MARK = """
    INSERT INTO policy_marks (project_id, policy, subject, at_ms, revision, stage, counted, body, stored_ms, told)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_id, policy, subject) DO UPDATE SET at_ms = excluded.at_ms, revision = excluded.revision,
        stage = excluded.stage, counted = excluded.counted, body = excluded.body, stored_ms = excluded.stored_ms,
        told = excluded.told"""
READ_STAGES = "SELECT subject, stage FROM policy_marks WHERE project_id = ? AND policy = ?"
MARKS_OF_TIME = """
    SELECT body FROM policy_marks WHERE project_id = ? AND policy = ? AND stage = 3 AND at_ms >= ? AND at_ms < ?
    ORDER BY at_ms DESC LIMIT ?"""
FORGET_MARKS = "DELETE FROM policy_marks WHERE project_id = ?"
OLD_MARKS = "SELECT project_id, policy, subject FROM policy_marks WHERE stored_ms < ? ORDER BY stored_ms LIMIT ?"
DELETE_MARK = "DELETE FROM policy_marks WHERE project_id = ? AND policy = ? AND subject = ?"

READ_BUCKET = """
    SELECT length_ms, body FROM policy_buckets
    WHERE project_id = ? AND policy = ? AND field = ? AND start_ms = ? AND metric = ? AND value = ?"""
PUT_BUCKET = """
    INSERT INTO policy_buckets (project_id, policy, field, start_ms, metric, value, length_ms, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_id, policy, field, start_ms, metric, value) DO UPDATE SET length_ms = excluded.length_ms,
        body = excluded.body"""
LIST_BUCKETS = """
    SELECT metric, value, start_ms, length_ms, body FROM policy_buckets
    WHERE project_id = ? AND policy = ? AND field = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms"""
OLD_BUCKETS = """
    SELECT project_id, policy, field, start_ms, metric, value, body FROM policy_buckets
    WHERE length_ms = ? AND start_ms < ? ORDER BY start_ms LIMIT ?"""
DELETE_BUCKET = """
    DELETE FROM policy_buckets
    WHERE project_id = ? AND policy = ? AND field = ? AND start_ms = ? AND metric = ? AND value = ?"""

ADD_COUNT = """
    INSERT INTO policy_counts (project_id, policy, field, value, count) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (project_id, policy, field, value) DO UPDATE SET count = policy_counts.count + excluded.count"""
READ_COUNTS = "SELECT value, count FROM policy_counts WHERE project_id = ? AND policy = ? AND field = ?"
READ_ALERTS = "SELECT body FROM policy_alerts WHERE project_id = ? AND policy = ?"
PUT_ALERTS = """
    INSERT INTO policy_alerts (project_id, policy, body) VALUES (?, ?, ?)
    ON CONFLICT (project_id, policy) DO UPDATE SET body = excluded.body"""

PUT_TASK = """
    INSERT INTO policy_tasks (project_id, policy, subject, due_ms, attempts, token) VALUES (?, ?, ?, ?, 0, '')
    ON CONFLICT (project_id, policy, subject) DO NOTHING"""
TAKE_AWAY_TASK = """
    UPDATE policy_tasks SET due_ms = ?, attempts = 0, token = ''
    WHERE project_id = ? AND policy = ? AND subject = ? AND token != ''"""
FIRST_TASK = "SELECT project_id, policy FROM policy_tasks WHERE due_ms <= ?"
DUE_TASKS = """
    SELECT subject, attempts FROM policy_tasks WHERE project_id = ? AND policy = ? AND due_ms <= ?
    ORDER BY due_ms LIMIT ?"""
CLAIM_TASK = """
    UPDATE policy_tasks SET due_ms = ?, attempts = attempts + 1, token = ?
    WHERE project_id = ? AND policy = ? AND subject = ?"""
RENEW_TASK = """
    UPDATE policy_tasks SET due_ms = ? WHERE project_id = ? AND policy = ? AND subject = ? AND token = ?"""
PUT_BACK_TASK = """
    UPDATE policy_tasks SET due_ms = ?, attempts = ?, token = ''
    WHERE project_id = ? AND policy = ? AND subject = ? AND token = ?"""
END_TASK = "DELETE FROM policy_tasks WHERE project_id = ? AND policy = ? AND subject = ? AND token = ?"
DROP_TASKS = "DELETE FROM policy_tasks WHERE project_id = ? AND policy = ?"
FORGET_TASKS = "DELETE FROM policy_tasks WHERE project_id = ?"
LIST_TASKS = "SELECT subject FROM policy_tasks WHERE project_id = ? AND policy = ?"
COUNT_TASKS = "SELECT count(*) FROM policy_tasks WHERE project_id = ? AND policy = ?"

ADD_SPENT = """
    INSERT INTO policy_spent (project_id, policy, day, usd, tokens, unpriced) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_id, policy, day) DO UPDATE SET usd = policy_spent.usd + excluded.usd,
        tokens = policy_spent.tokens + excluded.tokens, unpriced = policy_spent.unpriced + excluded.unpriced"""
READ_SPENT = "SELECT usd, tokens, unpriced FROM policy_spent WHERE project_id = ? AND policy = ? AND day = ?"

PUT_NOTICE = """
    INSERT INTO policy_notices (notice_key, project_id, created_ms, due_ms, attempts, error, body)
    VALUES (?, ?, ?, ?, 0, '', ?) ON CONFLICT (notice_key) DO NOTHING"""
DUE_NOTICES = """
    SELECT notice_key, project_id, created_ms, attempts, body FROM policy_notices
    WHERE due_ms IS NOT NULL AND due_ms <= ? ORDER BY due_ms LIMIT ?"""
CLAIM_NOTICE = "UPDATE policy_notices SET due_ms = ?, attempts = attempts + 1 WHERE notice_key = ?"
END_NOTICE = "UPDATE policy_notices SET due_ms = ?, error = ? WHERE notice_key = ?"

_AT_ONCE = 400
_COUNTS = "count"
_POLICY = msgspec.json.Decoder(OnlineEvalPolicy)
_MARK = msgspec.msgpack.Decoder(PolicyMark)
_NOTICE = msgspec.msgpack.Decoder(Notice)


@dataclass
class _Moves:
    """What the marks of one policy change."""

    added: list[PolicyMark] = field(default_factory=list[PolicyMark])
    removed: list[PolicyMark] = field(default_factory=list[PolicyMark])
    fresh: list[PolicyMark] = field(default_factory=list[PolicyMark])
    """Those whose subject had no values before."""
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    told: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What sinks were told of a subject before."""
    left_out: set[str] = field(default_factory=set[str])
    """Subjects that have come further already."""
    renewed: set[str] = field(default_factory=set[str])
    """Those that had a mark of a lower revision."""


class SqlPolicyStore:
    """Implements `PolicyStore`."""

    def __init__(self, database: SqlDatabase) -> None:
        self.database = database

    def apply(self, policy: OnlineEvalPolicy, *, now_ms: int) -> None:
        del now_ms
        values = (policy.project, policy.name, msgspec.json.encode(policy).decode())

        def put(connection: Transaction) -> None:
            connection.execute(PUT_POLICY, values)
            connection.execute(NEXT_GENERATION)

        self.database.write(put, sync=True)

    def policies(self, projects: Sequence[str] | None = None) -> Sequence[OnlineEvalPolicy]:
        statement = LIST_POLICIES
        if projects is not None:
            statement += f" WHERE project_id IN ({', '.join('?' * len(projects)) or 'NULL'})"
        found = self.database.read(statement + " ORDER BY project_id, name", tuple(projects or ()))
        return [_POLICY.decode(document) for (document,) in found]

    def policy(self, project: str, name: str) -> OnlineEvalPolicy:
        found = self.database.read(READ_POLICY, (project, name))
        if not found:
            raise self._missing(project, name)
        return _POLICY.decode(found[0][0])

    def delete(self, project: str, name: str) -> None:
        def remove(connection: Transaction) -> int:
            count = connection.execute(DELETE_POLICY, (project, name)).rowcount
            connection.execute(DROP_TASKS, (project, name))
            connection.execute(NEXT_GENERATION)
            return count

        if not self.database.write(remove, sync=True):
            raise self._missing(project, name)

    def generation(self) -> int:
        return self.database.read(READ_GENERATION)[0][0]

    def settle(self, settlement: Settlement, folding: Folding, *, now_ms: int) -> None:
        project = settlement.project

        outgoing = {(scores.policy, scores.subject): (scores, sinks) for scores, sinks in settlement.outgoing}

        def put(connection: Transaction) -> None:
            lost = lost_subjects(connection, self.database.hold, project, settlement.claims)
            taken = lost_tasks(connection, project, settlement.done)
            queued = dict.fromkeys(key for key in settlement.queued if key.subject not in lost)
            found = [each for each in settlement.marks if each.subject not in lost]
            found = [each for each in found if TaskKey(each.policy, each.subject) not in taken]
            renewed: list[TaskKey] = []
            for policy, marks in _by_policy(found).items():
                moves = _moves(connection, project, policy, marks)
                told = _tell(connection, project, moves, outgoing, now_ms)
                for subject in moves.left_out:
                    queued.pop(TaskKey(policy, subject), None)
                renewed += [key for key in (TaskKey(policy, subject) for subject in moves.renewed) if key in queued]
                connection.executemany(PUT_MARK, [(*row, now_ms, told.get(row[2])) for row in moves.rows])
                _count(connection, project, policy, moves)
                _fill_buckets(connection, project, moves, folding)
                if moves.fresh:
                    _alert(connection, project, policy, moves, folding, now_ms)
            connection.executemany(PUT_TASK, [(project, *key, now_ms) for key in queued])
            # Whoever has one of these in hand has read what it was before, and does not end it.
            connection.executemany(TAKE_AWAY_TASK, [(now_ms, project, *key) for key in renewed])
            connection.executemany(END_TASK, [(project, *task.key, task.token) for task in settlement.done])

        self.database.write(put, alone=True)

    def marked(self, project: str, policy: str, subjects: Sequence[str]) -> Mapping[str, Stage]:
        found: dict[str, Stage] = {}
        for some in _pieces(subjects):
            rows = self.database.read(f"{READ_STAGES} AND subject IN ({_places(some)})", (project, policy, *some))
            for subject, stage in rows:
                found[subject] = STAGES[int(stage)]
        return found

    def marks(self, project: str, policy: str, *, since_ms: int, until_ms: int, limit: int) -> Sequence[PolicyMark]:
        rows = self.database.read(MARKS_OF_TIME, (project, policy, since_ms, until_ms, limit))
        found = [_mark_of(project, policy, body) for (body,) in rows]
        return [mark for mark in found if mark is not None]

    def counts(self, project: str, policy: str) -> Mapping[str, int]:
        return {value: int(count) for value, count in self.database.read(READ_COUNTS, (project, policy, _COUNTS))}

    def groups(self, project: str, policy: str, field: str) -> Mapping[str, int]:
        return {value: int(count) for value, count in self.database.read(READ_COUNTS, (project, policy, field))}

    def buckets(self, project: str, policy: str, *, since_ms: int, until_ms: int, field: str = "") -> Sequence[Bucket]:
        rows = self.database.read(LIST_BUCKETS, (project, policy, field, since_ms, until_ms))
        return [
            Bucket(BucketKey(policy, metric, field, value, start_ms), length_ms, bytes(body))
            for metric, value, start_ms, length_ms, body in rows
        ]

    def alert_state(self, project: str, policy: str) -> bytes | None:
        found = self.database.read(READ_ALERTS, (project, policy))
        return bytes(found[0][0]) if found else None

    def claim_tasks(
        self, *, now_ms: int, limit: int, lease_ms: int, beside: Sequence[tuple[str, str]] = ()
    ) -> Sequence[PolicyTask]:
        token = secrets.token_hex(8)
        left_alone = (
            f" AND (project_id, policy) NOT IN (VALUES {', '.join(['(?, ?)'] * len(beside))})" if beside else ""
        )
        statement = FIRST_TASK + left_alone + " ORDER BY due_ms LIMIT 1"
        asked = (now_ms, *(name for pair in beside for name in pair))
        if not self.database.read(statement, asked):
            return []

        def take(connection: Transaction) -> list[PolicyTask]:
            first = connection.execute(statement, asked).fetchone()
            if first is None:
                return []
            rows = connection.execute(DUE_TASKS, (*first, now_ms, limit)).fetchall()
            connection.executemany(CLAIM_TASK, [(now_ms + lease_ms, token, *first, subject) for subject, _ in rows])
            return [
                PolicyTask(project=first[0], key=TaskKey(first[1], subject), token=token, attempts=attempts)
                for subject, attempts in rows
            ]

        return self.database.write(take, alone=True)

    def renew_tasks(self, tasks: Sequence[PolicyTask], *, now_ms: int, lease_ms: int) -> None:
        rows = [(now_ms + lease_ms, task.project, *task.key, task.token) for task in tasks]
        self.database.write(lambda connection: connection.executemany(RENEW_TASK, rows))

    def put_back(self, tasks: Sequence[PolicyTask], *, until_ms: int) -> None:
        rows = [(until_ms, task.attempts, task.project, *task.key, task.token) for task in tasks]
        self.database.write(lambda connection: connection.executemany(PUT_BACK_TASK, rows))

    def in_line(self, project: str, policy: str, subjects: Sequence[str]) -> frozenset[str]:
        found: set[str] = set()
        for some in _pieces(subjects):
            rows = self.database.read(f"{LIST_TASKS} AND subject IN ({_places(some)})", (project, policy, *some))
            found.update(subject for (subject,) in rows)
        return frozenset(found)

    def waiting(self, project: str, policy: str) -> int:
        return self.database.read(COUNT_TASKS, (project, policy))[0][0]

    def add_spent(self, project: str, policy: str, day: str, spent: DaySpent) -> DaySpent:
        if any(spent):
            values = (project, policy, day, *spent)
            self.database.write(lambda connection: connection.execute(ADD_SPENT, values).rowcount)
        found = self.database.read(READ_SPENT, (project, policy, day))
        return DaySpent(*found[0]) if found else DaySpent(0.0, 0, 0)

    def claim_deliveries(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[Delivery]:
        if not self.database.read(DUE_NOTICES, (now_ms, 1)):
            return []

        def take(connection: Transaction) -> list[Delivery]:
            rows = connection.execute(DUE_NOTICES, (now_ms, limit)).fetchall()
            connection.executemany(CLAIM_NOTICE, [(now_ms + lease_ms, row[0]) for row in rows])
            found: list[Delivery] = []
            for key, project, created_ms, attempts, body in rows:
                try:
                    notice = _NOTICE.decode(body)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    logger.warning("the message %s of project %s cannot be read and is given up", key, project)
                    connection.execute(END_NOTICE, (None, DAMAGED, key))
                    continue
                found.append(Delivery(project=project, notice=notice, attempts=attempts, created_ms=created_ms))
            return found

        return self.database.write(take, alone=True)

    def delivered(self, key: str) -> None:
        self.database.write(lambda connection: connection.execute(END_NOTICE, (None, "", key)).rowcount)

    def deferred(self, key: str, *, until_ms: int | None, error: str) -> None:
        self.database.write(lambda connection: connection.execute(END_NOTICE, (until_ms, error[:500], key)).rowcount)

    def forget(self, project: str, subjects: Sequence[str]) -> None:
        def remove(connection: Transaction) -> None:
            for some in _pieces(subjects):
                for statement in (FORGET_MARKS, FORGET_TASKS):
                    connection.execute(f"{statement} AND subject IN ({_places(some)})", (project, *some))
            forget_outgoing(connection, project, subjects)

        self.database.write(remove, alone=True)

    def tidy(self, folding: Folding, *, minutes_until_ms: int, marks_until_ms: int, limit: int) -> int:
        def put(connection: Transaction) -> int:
            rows = connection.execute(OLD_BUCKETS, (MINUTE_MS, minutes_until_ms, limit)).fetchall()
            for project, policy, of_field, start_ms, metric, value, body in rows:
                hour = (project, policy, of_field, start_ms - start_ms % HOUR_MS, metric, value)
                connection.execute(DELETE_BUCKET, (project, policy, of_field, start_ms, metric, value))
                there = connection.execute(READ_BUCKET, hour).fetchone()
                whole = bytes(body) if there is None else folding.merged(bytes(there[1]), bytes(body))
                connection.execute(PUT_BUCKET, (*hour, HOUR_MS, whole))
            old = connection.execute(OLD_MARKS, (marks_until_ms, limit)).fetchall()
            connection.executemany(DELETE_MARK, old)
            return len(rows) + len(old)

        return self.database.write(put, alone=True)

    def _missing(self, project: str, name: str) -> NotFoundError:
        names = [row[0] for row in self.database.read(LIST_NAMES, (project,))]
        return NotFoundError(f"project {project} has no policy {name!r}", hint=suggestion(name, names))


def _mark_of(project: str, policy: str, body: bytes) -> PolicyMark | None:
    """The mark in a row; None of a damaged one, which is logged and keeps nobody waiting."""
    try:
        return _MARK.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        logger.warning(
            "a mark of policy %s of project %s cannot be read and counts no more: %s", policy, project, error
        )
        return None


def _moves(connection: Transaction, project: str, policy: str, marks: Sequence[PolicyMark]) -> _Moves:
    known: dict[str, tuple[int, int, int, bytes]] = {}
    moves = _Moves()
    for some in _pieces([mark.subject for mark in marks]):
        statement = f"{READ_MARKS} AND subject IN ({_places(some)})"
        for subject, *rest, told in connection.execute(statement, (project, policy, *some)).fetchall():
            known[subject] = rest[0], rest[1], rest[2], bytes(rest[3])
            if told is not None:
                moves.told[subject] = bytes(told)
    for mark in marks:
        before = known.get(mark.subject)
        stage = STAGES.index(mark.stage)
        if before is not None and (before[0], before[1]) > (mark.revision, stage):
            moves.left_out.add(mark.subject)
            continue
        if before is not None and before[0] < mark.revision:
            moves.renewed.add(mark.subject)
        if before is not None:
            removed = _mark_of(project, policy, before[3])
            moves.removed += [] if removed is None else [removed]
        counted = before is not None and before[2] == 1
        if mark.stage == "evaluated" and mark.values and not counted:
            moves.fresh.append(mark)
            counted = True
        moves.added.append(mark)
        body = msgspec.msgpack.encode(mark)
        moves.rows.append((project, policy, mark.subject, mark.at_ms, mark.revision, stage, int(counted), body))
    return moves


def _tell(
    connection: Transaction,
    project: str,
    moves: _Moves,
    outgoing: Mapping[tuple[str, str], tuple[OutgoingScores, Sequence[str]]],
    now_ms: int,
) -> dict[str, bytes]:
    """Puts what sinks are to be told of new marks; what is to be remembered of it, by subject."""
    kept: list[tuple[OutgoingScores, Sequence[str]]] = []
    remembered: dict[str, bytes] = {}
    for mark in moves.added:
        before = moves.told.get(mark.subject)
        found = outgoing.get((mark.policy, mark.subject))
        if found is None and before is None:
            continue
        news = news_for_sinks(project, mark, before, found, now_ms)
        remembered[mark.subject] = news.remembered
        if news.scores is not None:
            kept.append((news.scores, news.sinks))
    put_outgoing(connection, kept, now_ms)
    return remembered


def _count(connection: Transaction, project: str, policy: str, moves: _Moves) -> None:
    counts = _counted(moves.added)
    counts.subtract(_counted(moves.removed))
    rows = [(project, policy, *key, count) for key, count in counts.items() if count]
    connection.executemany(ADD_COUNT, rows)


def _counted(marks: Sequence[PolicyMark]) -> Counter[tuple[str, str]]:
    """What is counted of marks, by field and value."""
    found: Counter[tuple[str, str]] = Counter()
    for stage, count in Counter([mark.stage for mark in marks]).items():
        for reached in STAGES[: STAGES.index(stage) + 1]:
            found[_COUNTS, reached] += count
    found[_COUNTS, "promoted"] += sum([mark.promoted for mark in marks])
    found[_COUNTS, "over_budget"] += sum([mark.over_budget for mark in marks])
    found[_COUNTS, "errors"] += sum([len(mark.errors) for mark in marks])
    found.update(
        [("version", mark.groups["version"]) for mark in marks if mark.stage != "seen" and "version" in mark.groups]
    )
    return found


def _fill_buckets(connection: Transaction, project: str, moves: _Moves, folding: Folding) -> None:
    rows: list[tuple[Any, ...]] = []
    for key, change in folding.changes(moves.added, moves.removed).items():
        place = (project, key.policy, key.field, key.start_ms, key.metric, key.value)
        # An hour that was made of minutes takes what comes late for any of them.
        hour = (*place[:3], key.start_ms - key.start_ms % HOUR_MS, *place[4:])
        there = connection.execute(READ_BUCKET, hour).fetchone()
        if there is not None and there[0] == HOUR_MS:
            place, length_ms = hour, HOUR_MS
        else:
            there, length_ms = connection.execute(READ_BUCKET, place).fetchone(), MINUTE_MS
        if length_ms == HOUR_MS:
            # Another minute of the same hour may come in the same call.
            connection.execute(PUT_BUCKET, (*place, length_ms, folding.merged(bytes(there[1]), change)))
            continue
        rows.append((*place, length_ms, change if there is None else folding.merged(bytes(there[1]), change)))
    connection.executemany(PUT_BUCKET, rows)


def _alert(connection: Transaction, project: str, policy: str, moves: _Moves, folding: Folding, now_ms: int) -> None:
    found = connection.execute(READ_ALERTS, (project, policy)).fetchone()
    before = bytes(found[0]) if found is not None else None
    after, notices = folding.alerted(policy, before, moves.fresh)
    if after is not None and after != before:
        connection.execute(PUT_ALERTS, (project, policy, after))
    for notice in notices:
        connection.execute(PUT_NOTICE, (notice.key, project, now_ms, now_ms, msgspec.msgpack.encode(notice)))


def _by_policy(marks: Sequence[PolicyMark]) -> dict[str, list[PolicyMark]]:
    found: dict[str, dict[str, PolicyMark]] = {}
    for mark in marks:
        found.setdefault(mark.policy, {})[mark.subject] = mark
    return {policy: list(by_subject.values()) for policy, by_subject in found.items()}


def _pieces(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))


def _places(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))
