"""Failures in a SQL database: implements `ports.FailureStore`.

Records stand apart from what lists show, so that a list reads none. Ids sort by the time they were made, so that a list
goes on from an id.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evalsi.core.errors import ConflictError, NotFoundError, UsageError
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.failure_store import FailurePage, FailureQuery, FailureSource
from evalsi.schema import FailureCase, FailureEvent, FailureStatus, Record
from evalsi.schema.json_codec import decode, encode_file

READ = "SELECT document, record FROM failures WHERE project_id = ? AND id = ?"
READ_REVISION = "SELECT revision FROM failures WHERE project_id = ? AND id = ?"
READ_SAME = "SELECT document, record FROM failures WHERE project_id = ? AND source_sha256 = ?"
INSERT = """
    INSERT INTO failures (id, project_id, source_sha256, trace_id, session_id, user_id, status, assignee, revision, document,
        record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE = """
    UPDATE failures SET status = ?, assignee = ?, revision = ?, document = ?, record = ?
    WHERE project_id = ? AND id = ? AND revision = ?"""
INSERT_EVENT = "INSERT INTO failure_events (failure_id, revision, document) VALUES (?, ?, ?)"
LIST_EVENTS = "SELECT document FROM failure_events WHERE failure_id = ? AND revision > ? ORDER BY revision LIMIT ?"
PAGE = "SELECT id, document FROM failures WHERE id < ?"
COUNT = "SELECT status, count(*) FROM failures WHERE 1 = 1"
DELETE = "DELETE FROM failures WHERE project_id = ? AND id = ? AND revision = ?"
DELETE_EVENTS = "DELETE FROM failure_events WHERE failure_id = ?"
OF_PROJECT = "SELECT id, document FROM failures WHERE project_id = ?"
DELETE_ONE = "DELETE FROM failures WHERE id = ?"

_AFTER_EVERY_ID = "~"


class SqlFailureStore:
    """Implements `FailureStore`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def close(self) -> None:
        self._database.close()

    def capture(self, failure: FailureCase, event: FailureEvent) -> tuple[FailureCase, bool]:
        source = failure.source

        def put(connection: Transaction) -> tuple[FailureCase, bool]:
            there = connection.execute(READ_SAME, (failure.project, failure.source_sha256)).fetchone()
            if there is not None:
                return _failure(*there), True
            about = (source.trace_id, source.session_id, source.user_id) if source is not None else ("", "", "")
            standing = (failure.status.value, failure.assignee, failure.revision, *_documents(failure))
            connection.execute(INSERT, (failure.id, failure.project, failure.source_sha256, *about, *standing))
            connection.execute(INSERT_EVENT, (failure.id, event.revision, _text(event)))
            return failure, False

        return self._database.write(put, sync=True, alone=True)

    def replace(self, failure: FailureCase, event: FailureEvent, *, expected_revision: int) -> None:
        def put(connection: Transaction) -> None:
            key = (failure.project, failure.id)
            standing = (failure.status.value, failure.assignee, failure.revision, *_documents(failure))
            if connection.execute(UPDATE, (*standing, *key, expected_revision)).rowcount != 1:
                raise _refusal(connection, *key, expected_revision)
            connection.execute(INSERT_EVENT, (failure.id, event.revision, _text(event)))

        self._database.write(put, sync=True)

    def get(self, project: str, failure_id: str) -> FailureCase:
        found = self._database.read(READ, (project, failure_id))
        if not found:
            raise _missing(failure_id)
        return _failure(*found[0])

    def find(self, projects: Sequence[str] | None, query: FailureQuery, *, size: int, token: str = "") -> FailurePage:
        scope = (sorted(projects) if projects is not None else None, query)
        before = read_page_token(token, scope, str) or _AFTER_EVERY_ID
        statement, asked = PAGE + _within(projects), [before, *(projects or ())]
        for column, value in (
            ("status", "" if query.status is FailureStatus.UNSPECIFIED else query.status.value),
            ("assignee", query.assignee),
        ):
            if value:
                statement += f" AND {column} = ?"
                asked.append(value)
        found = self._database.read(f"{statement} ORDER BY id DESC LIMIT ?", (*asked, size + 1))
        shown = found[:size]
        return FailurePage(
            failures=[decode(document, FailureCase) for _, document in shown],
            next_token=write_page_token(scope, shown[-1][0]) if len(found) > size else "",
        )

    def count(self, projects: Sequence[str] | None) -> dict[FailureStatus, int]:
        found = self._database.read(f"{COUNT}{_within(projects)} GROUP BY status", tuple(projects or ()))
        return {FailureStatus(status): amount for status, amount in found}

    def events(self, project: str, failure_id: str, *, size: int, after: int = 0) -> list[FailureEvent]:
        if not self._database.read(READ_REVISION, (project, failure_id)):
            raise _missing(failure_id)
        found = self._database.read(LIST_EVENTS, (failure_id, after, size))
        return [decode(document, FailureEvent) for (document,) in found]

    def delete(self, project: str, failure_id: str, *, expected_revision: int) -> None:
        def remove(connection: Transaction) -> None:
            if connection.execute(DELETE, (project, failure_id, expected_revision)).rowcount != 1:
                raise _refusal(connection, project, failure_id, expected_revision)
            connection.execute(DELETE_EVENTS, (failure_id,))

        self._database.write(remove, sync=True)

    def forget(self, project: str, source: FailureSource) -> int:
        statement, asked = OF_PROJECT, [project]
        for column, value in (("session_id", source.session_id), ("user_id", source.user_id)):
            if value:
                statement += f" AND {column} = ?"
                asked.append(value)
        if source.trace_ids:
            statement += f" AND trace_id IN ({', '.join('?' * len(source.trace_ids))})"
            asked += source.trace_ids
        if len(asked) == 1:
            raise UsageError("nothing says which failures to forget")

        def remove(connection: Transaction) -> int:
            found = connection.execute(statement, asked).fetchall()
            chosen = [failure_id for failure_id, document in found if _is_before(document, source.before)]
            for failure_id in chosen:
                connection.execute(DELETE_EVENTS, (failure_id,))
                connection.execute(DELETE_ONE, (failure_id,))
            return len(chosen)

        return self._database.write(remove, sync=True, alone=True)


def _within(projects: Sequence[str] | None) -> str:
    if projects is None:
        return ""
    return f" AND project_id IN ({', '.join('?' * len(projects)) or 'NULL'})"


def _documents(failure: FailureCase) -> tuple[str, str]:
    """What lists show, and the record."""
    record = failure.record if failure.record is not None else Record()
    return _text(msgspec.structs.replace(failure, record=None)), _text(record)


def _text(message: msgspec.Struct) -> str:
    return encode_file(message).decode()


def _failure(document: str, record: str) -> FailureCase:
    return msgspec.structs.replace(decode(document, FailureCase), record=decode(record, Record))


def _is_before(document: str, moment: datetime | None) -> bool:
    """Whether the trace of a failure began before that time; it did where nobody knows."""
    source = decode(document, FailureCase).source
    begun = source.start_time if source is not None else None
    return moment is None or begun is None or begun < moment


def _missing(failure_id: str) -> NotFoundError:
    return NotFoundError(f"there is no failure {failure_id[:80]!r}", hint="'evalsi failures list' shows all")


def _refusal(connection: Transaction, project: str, failure_id: str, expected: int) -> NotFoundError | ConflictError:
    """Why a change was not made."""
    found = connection.execute(READ_REVISION, (project, failure_id)).fetchone()
    if found is None:
        return _missing(failure_id)
    return ConflictError(
        f"the failure {failure_id} is at revision {found[0]}, not {expected}", hint="look at it again, then decide"
    )
