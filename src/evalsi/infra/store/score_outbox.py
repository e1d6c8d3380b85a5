"""Scores that wait to be taken to sinks, in a SQL database: implements `ports.ScoreOutbox`.

Its own module because deliveries live and die apart from what they are about; only how they get in and how they are
forgotten are steps of the transactions of `policy_store`. What always holds: how many wait is counted in the transaction
that changes it.
"""

import logging
import secrets
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.score_outbox import DeliveryOutcome, ScoreDelivery, SinkStanding
from evalsi.ports.score_sink import RUN_PREFIX, OutgoingScores

PUT_NEW = """
    INSERT INTO policy_deliveries (sink, project_id, policy, subject, created_ms, due_ms, attempts, token, version, body)
    VALUES (?, ?, ?, ?, ?, ?, 0, '', 0, ?) ON CONFLICT (sink, project_id, policy, subject) DO NOTHING"""
# One that is on its way keeps its lease: what is newer follows it, and never overtakes it.
REPLACE = """
    UPDATE policy_deliveries SET created_ms = ?, due_ms = CASE WHEN token = '' THEN ? ELSE due_ms END, attempts = 0,
        version = version + 1, body = ?
    WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ?"""
DUE = "SELECT 1 FROM policy_deliveries WHERE sink = ? AND due_ms <= ? LIMIT 1"
LIST_DUE = """
    SELECT project_id, policy, subject, created_ms, attempts, version, body FROM policy_deliveries
    WHERE sink = ? AND due_ms <= ? ORDER BY due_ms LIMIT ?"""
CLAIM = """
    UPDATE policy_deliveries SET due_ms = ?, attempts = attempts + 1, token = ?
    WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ?"""
END = """
    DELETE FROM policy_deliveries
    WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ? AND token = ? AND version = ?"""
FOLLOW = """
    UPDATE policy_deliveries SET due_ms = ?, token = ''
    WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ? AND token = ?"""
AGAIN = """
    UPDATE policy_deliveries SET due_ms = ?, token = ''
    WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ? AND token = ? AND version = ?"""
OLD = """
    SELECT project_id, policy, subject FROM policy_deliveries
    WHERE sink = ? AND due_ms <= ? AND created_ms < ? LIMIT ?"""
DROP = "DELETE FROM policy_deliveries WHERE sink = ? AND project_id = ? AND policy = ? AND subject = ?"
OF_SUBJECTS = "SELECT sink, project_id, policy, subject FROM policy_deliveries WHERE project_id = ?"

MAKE_STANDING = """
    INSERT INTO policy_sinks (project_id, policy, sink, waiting, delivered, given_up, delivered_ms, error, error_ms)
    VALUES (?, ?, ?, 0, 0, 0, 0, '', 0) ON CONFLICT (project_id, policy, sink) DO NOTHING"""
MORE_WAIT = "UPDATE policy_sinks SET waiting = waiting + ? WHERE project_id = ? AND policy = ? AND sink = ?"
COUNT_PUT = """
    SELECT waiting + delivered + given_up FROM policy_sinks WHERE project_id = ? AND policy = ? AND sink = ?"""
DROP_OF_RUN = "DELETE FROM policy_deliveries WHERE project_id = ? AND policy = ?"
NONE_WAIT = "UPDATE policy_sinks SET waiting = 0 WHERE project_id = ? AND policy = ?"
COUNT = """
    UPDATE policy_sinks SET waiting = waiting - ?, delivered = delivered + ?, given_up = given_up + ?
    WHERE project_id = ? AND policy = ? AND sink = ?"""
TOOK = "UPDATE policy_sinks SET delivered_ms = ? WHERE project_id = ? AND policy = ? AND sink = ?"
FAILED = "UPDATE policy_sinks SET error = ?, error_ms = ? WHERE project_id = ? AND policy = ? AND sink = ?"
FAILED_FIRST = """
    UPDATE policy_sinks SET error = ?, error_ms = ?
    WHERE project_id = ? AND policy = ? AND sink = ? AND error = ''"""
LIST_STANDINGS = """
    SELECT project_id, policy, sink, waiting, delivered, given_up, delivered_ms, error, error_ms FROM policy_sinks"""

LONGEST_ERROR = 500
DAMAGED = "it is damaged where it is stored"
logger = logging.getLogger(__name__)
_AT_ONCE = 400
_SCORES = msgspec.msgpack.Decoder(OutgoingScores)
_Standing = tuple[str, str, str]
"""Project, policy, sink."""


class _Count:
    __slots__ = ("delivered", "given_up", "gone")

    def __init__(self) -> None:
        self.gone = self.delivered = self.given_up = 0


class SqlScoreOutbox:
    """Implements `ScoreOutbox`."""

    def __init__(self, database: SqlDatabase) -> None:
        self.database = database

    def put_scores(self, scores: Sequence[OutgoingScores], sinks: Sequence[str], *, place: int, now_ms: int) -> None:
        def put(connection: Transaction) -> None:
            for sink in sinks:
                standing = (scores[0].project, scores[0].policy, sink)
                # Every one was counted when it was put, and still is, wherever it went.
                found = connection.execute(COUNT_PUT, standing).fetchone()
                there = found[0] if found is not None else 0
                put_outgoing(connection, [(each, [sink]) for each in scores[max(0, there - place) :]], now_ms)

        if scores:
            self.database.write(put, alone=True)

    def forget_run(self, project: str, run_id: str) -> None:
        asked = (project, RUN_PREFIX + run_id)

        def remove(connection: Transaction) -> None:
            connection.execute(DROP_OF_RUN, asked)
            connection.execute(NONE_WAIT, asked)

        self.database.write(remove, alone=True)

    def claim_scores(self, sink: str, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[ScoreDelivery]:
        if not self.database.read(DUE, (sink, now_ms)):
            return []
        token = secrets.token_hex(8)

        def take(connection: Transaction) -> list[ScoreDelivery]:
            rows = connection.execute(LIST_DUE, (sink, now_ms, limit)).fetchall()
            connection.executemany(CLAIM, [(now_ms + lease_ms, token, sink, *row[:3]) for row in rows])
            found: list[ScoreDelivery] = []
            counts: dict[_Standing, _Count] = defaultdict(_Count)
            for project, policy, subject, created_ms, attempts, version, body in rows:
                try:
                    scores = _SCORES.decode(body)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    logger.warning(
                        "what sink %s is to be told of %s of project %s cannot be read", sink, subject, project
                    )
                    connection.execute(DROP, (sink, project, policy, subject))
                    counts[project, policy, sink].gone += 1
                    counts[project, policy, sink].given_up += 1
                    continue
                found.append(
                    ScoreDelivery(
                        sink=sink,
                        token=token,
                        version=version,
                        attempts=attempts,
                        created_ms=created_ms,
                        scores=scores,
                    )
                )
            _count(connection, counts)
            connection.executemany(FAILED_FIRST, [(DAMAGED, now_ms, *standing) for standing in sorted(counts)])
            return found

        return self.database.write(take, alone=True)

    def settle_scores(self, outcomes: Sequence[DeliveryOutcome], *, now_ms: int) -> None:
        def put(connection: Transaction) -> None:
            counts: dict[_Standing, _Count] = defaultdict(_Count)
            errors: dict[_Standing, str] = {}
            taken: set[_Standing] = set()
            for outcome in outcomes:
                delivery = outcome.delivery
                scores = delivery.scores
                one = (delivery.sink, scores.project, scores.policy, scores.subject)
                standing = (scores.project, scores.policy, delivery.sink)
                if outcome.is_taken:
                    taken.add(standing)
                elif outcome.error:
                    errors[standing] = outcome.error
                if not outcome.is_taken and outcome.again_ms is not None:
                    statement, values = AGAIN, (outcome.again_ms, *one, delivery.token, delivery.version)
                else:
                    statement, values = END, (*one, delivery.token, delivery.version)
                if not connection.execute(statement, values).rowcount:
                    # Something newer waits behind it, or somebody else has it by now.
                    connection.execute(FOLLOW, (now_ms, *one, delivery.token))
                elif statement == END:
                    count = counts[standing]
                    count.gone += 1
                    count.delivered += outcome.is_taken
                    count.given_up += not outcome.is_taken
            _count(connection, counts)
            connection.executemany(TOOK, [(now_ms, *standing) for standing in sorted(taken)])
            # Where some were taken and others not, the error is the newer of the two: somebody should know.
            connection.executemany(
                FAILED, [(error[:LONGEST_ERROR], now_ms, *standing) for standing, error in sorted(errors.items())]
            )

        self.database.write(put, alone=True)

    def give_up_scores(self, sink: str, *, created_before_ms: int, now_ms: int, error: str, limit: int) -> int:
        asked = (sink, now_ms, created_before_ms)
        if not self.database.read(OLD, (*asked, 1)):
            return 0

        def remove(connection: Transaction) -> int:
            rows = connection.execute(OLD, (*asked, limit)).fetchall()
            counts: dict[_Standing, _Count] = defaultdict(_Count)
            for project, policy, _ in rows:
                counts[project, policy, sink].gone += 1
                counts[project, policy, sink].given_up += 1
            connection.executemany(DROP, [(sink, *row) for row in rows])
            _count(connection, counts)
            said = (error[:LONGEST_ERROR], now_ms)
            connection.executemany(FAILED_FIRST, [(*said, *standing) for standing in sorted(counts)])
            return len(rows)

        return self.database.write(remove, alone=True)

    def sink_standings(self, project: str | None = None, policy: str | None = None) -> Sequence[SinkStanding]:
        asked = [("project_id", project), ("policy", policy)]
        conditions = [f"{column} = ?" for column, value in asked if value is not None]
        statement = LIST_STANDINGS + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
        values = tuple(value for _, value in asked if value is not None)
        names = SinkStanding.__struct_fields__
        found = self.database.read(f"{statement} ORDER BY project_id, policy, sink", values)
        return [SinkStanding(**dict(zip(names, row, strict=True))) for row in found]


def put_outgoing(
    connection: Transaction, outgoing: Sequence[tuple[OutgoingScores, Sequence[str]]], now_ms: int
) -> None:
    """Puts deliveries for these sinks, or in the place of those that wait."""
    fresh: dict[_Standing, int] = defaultdict(int)
    for scores, sinks in outgoing:
        body = msgspec.msgpack.encode(scores)
        for sink in sinks:
            one = (sink, scores.project, scores.policy, scores.subject)
            if connection.execute(PUT_NEW, (*one, now_ms, now_ms, body)).rowcount:
                fresh[scores.project, scores.policy, sink] += 1
            else:
                connection.execute(REPLACE, (now_ms, now_ms, body, *one))
    for standing, count in sorted(fresh.items()):
        if not connection.execute(MORE_WAIT, (count, *standing)).rowcount:
            connection.execute(MAKE_STANDING, standing)
            connection.execute(MORE_WAIT, (count, *standing))


def forget_outgoing(connection: Transaction, project: str, subjects: Sequence[str]) -> None:
    """Removes whatever waits about these subjects."""
    counts: dict[_Standing, _Count] = defaultdict(_Count)
    for start in range(0, len(subjects), _AT_ONCE):
        some = subjects[start : start + _AT_ONCE]
        places = ", ".join("?" * len(some))
        rows = connection.execute(f"{OF_SUBJECTS} AND subject IN ({places})", (project, *some)).fetchall()
        for sink, of_project, policy, _ in rows:
            counts[of_project, policy, sink].gone += 1
        connection.executemany(DROP, rows)
    _count(connection, counts)


def _count(connection: Transaction, counts: dict[_Standing, _Count]) -> None:
    rows = [(each.gone, each.delivered, each.given_up, *standing) for standing, each in sorted(counts.items())]
    connection.executemany(COUNT, rows)
