"""Answers by their `Idempotency-Key` in a SQL database: implements `ports.AnswerStore`."""

from datetime import datetime
from hashlib import sha256

from evalsi.core.clock import microseconds
from evalsi.infra.store.transactions import SqlDatabase
from evalsi.ports.answer_store import AnswerKey, KeptAnswer

FIND = (
    "SELECT request_digest, body FROM kept_answers "
    "WHERE method = ? AND caller = ? AND key_digest = ? AND answered_us >= ?"
)
KEEP = (
    "INSERT INTO kept_answers (method, caller, key_digest, request_digest, answered_us, body) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (method, caller, key_digest) DO UPDATE SET request_digest = excluded.request_digest, "
    "answered_us = excluded.answered_us, body = excluded.body WHERE kept_answers.answered_us < ?"
)
FORGET = "DELETE FROM kept_answers WHERE answered_us < ?"


class SqlAnswerStore:
    """Implements `AnswerStore`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def find(self, key: AnswerKey, *, since: datetime) -> KeptAnswer | None:
        rows = self._database.read(FIND, (*_place(key), microseconds(since)))
        return KeptAnswer(rows[0][0], bytes(rows[0][1])) if rows else None

    def keep(self, key: AnswerKey, answer: KeptAnswer, *, at: datetime, since: datetime) -> None:
        values = (*_place(key), answer.request_digest, microseconds(at), answer.body, microseconds(since))
        self._database.write(lambda connection: connection.execute(KEEP, values).rowcount)

    def forget(self, *, older_than: datetime) -> int:
        return self._database.write(lambda connection: connection.execute(FORGET, (microseconds(older_than),)).rowcount)


def _place(key: AnswerKey) -> tuple[str, str, str]:
    return key.method, key.caller, sha256(key.key.encode("utf-8", "surrogatepass")).hexdigest()
