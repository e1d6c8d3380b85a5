"""What all that a SQL database keeps of traces has in common: projects, and what repeats in several tables.

Its own module because each part of the store (what becomes complete, sessions, lists, feedback, erasing) is one of its own
above it. What always holds: what repeats in the row of a trace is changed with what it repeats.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

import msgspec

from evalsi.core.clock import microseconds, moment_of
from evalsi.core.errors import NotFoundError
from evalsi.infra.store.trace_query import Lead
from evalsi.infra.store.trace_rows import json_labels, label_of, packed, sound
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.schema import PolicyResults
from evalsi.traces.score_values import score_values

AT_ONCE = 200
"""Traces that are deleted, or exported, in one go."""
ADD_PROJECT = "INSERT INTO trace_projects (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
FIND_PROJECT = "SELECT key FROM trace_projects WHERE name = ?"
LIST_PROJECTS = "SELECT key, name FROM trace_projects ORDER BY name"
FIND_PARTS = """
    SELECT p.body FROM traces t JOIN trace_parts p ON p.trace = t.key WHERE t.project = ? AND t.trace_id = ?
    ORDER BY p.key"""
FIND_PARTS_OF_MANY = """
    SELECT t.trace_id, p.body FROM traces t JOIN trace_parts p ON p.trace = t.key
    WHERE t.project = ? AND t.trace_id IN ({}) ORDER BY p.key"""
ADD_LABEL = """
    INSERT INTO trace_labels (project, label, start_ns, trace) VALUES (?, ?, ?, ?)
    ON CONFLICT (project, label, start_ns, trace) DO NOTHING"""
DROP_LABEL = "DELETE FROM trace_labels WHERE project = ? AND label = ? AND start_ns = ? AND trace = ?"
ADD_SCORE = "INSERT INTO trace_scores (project, name, start_ns, trace, value) VALUES (?, ?, ?, ?, ?)"
DROP_SCORE = "DELETE FROM trace_scores WHERE project = ? AND name = ? AND start_ns = ? AND trace = ?"
DROP_RESULTS = "DELETE FROM trace_results WHERE trace = ?"
FIND_RESULTS = "SELECT policy, body, revision, time_us FROM trace_results WHERE trace = ? ORDER BY policy"
MOVE_RESULTS = "UPDATE trace_results SET start_ns = ? WHERE trace = ?"
DROP_KEY = "DELETE FROM trace_keys WHERE project = ? AND sender_key = ? AND trace = ?"
FIND_BY_ID = "SELECT key, trace_id, keys FROM traces WHERE project = ? AND trace_id = ?"
FIND_SESSION = "SELECT 1 FROM trace_sessions WHERE project = ? AND session_id = ?"
OPINIONS_BY_TRACE = (
    "SELECT count(opinion), sum(opinion) FROM trace_feedback WHERE project = ? AND trace_id = ? AND trace_id != ''"
)
OPINIONS_BY_KEY = """
    SELECT count(opinion), sum(opinion) FROM trace_feedback
    WHERE project = ? AND sender_key = ? AND sender_key != '' AND trace_id != ?"""


Ask: TypeAlias = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Gives the rows of a statement, from within a transaction or outside of one."""


class Put(Protocol):
    """Writes a row by a statement, at once or later."""

    def __call__(self, statement: str, row: Sequence[Any], /) -> object: ...


class TraceTables(ABC):
    """The tables, over a database that subclasses know."""

    JOIN = "JOIN"
    """How a statement says that the table before it leads."""
    SKIP_HELD = ""
    """How a claim passes over rows that another claim looks at."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._keys: dict[str, int] = {}

    @abstractmethod
    def words_lead(self, project: int, words: Sequence[str]) -> Lead: ...

    @abstractmethod
    def says_words(self, project: int, words: Sequence[str]) -> tuple[str, Any]: ...

    @abstractmethod
    def _read_text(self, project: int, text: str) -> Any:
        """What `_index_text` puts into the index: made beforehand, so that nobody waits for it."""

    @abstractmethod
    def _index_text(self, change: Transaction, project: int, trace: int, start_ns: int, text: Any) -> None: ...

    @abstractmethod
    def _forget_text(self, change: Transaction, trace: int) -> None: ...

    @abstractmethod
    def _erasing(self) -> AbstractContextManager[None]:
        """Makes sure that nothing of what is deleted meanwhile is left in the files."""

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._database.read(statement, values)

    def close(self) -> None:
        self._database.close()

    def _key(self, project: str) -> int:
        """The project's number, -1 when it has none yet."""
        key = self._keys.get(project)
        if key is None:
            rows = self._read(FIND_PROJECT, (sound(project),))
            if not rows:
                return -1
            key = self._keys[project] = rows[0][0]
        return key

    def _made_key(self, locked: Transaction, project: str) -> int:
        key = self._keys.get(project)
        if key is None:
            locked.execute(ADD_PROJECT, (sound(project),))
            key = locked.execute(FIND_PROJECT, (sound(project),)).fetchone()[0]
        return key

    def _names(self) -> dict[int, str]:
        return dict(self._read(LIST_PROJECTS))

    def _put_labels(self, put: Put, place: tuple[int, int, int], before: dict[str, str], after: dict[str, str]) -> None:
        project, start_ns, trace = place
        for key, value in before.items() - after.items():
            put(DROP_LABEL, (project, label_of(key, value), start_ns, trace))
        for key, value in after.items() - before.items():
            put(ADD_LABEL, (project, label_of(key, value), start_ns, trace))

    def _put_scores(
        self, put: Put, place: tuple[int, int, int], before: str, policies: Sequence[PolicyResults]
    ) -> tuple[int, str]:
        """Makes the trace known by its scores; the number of its results and its scores, as its row holds them."""
        project, start_ns, trace = place
        for name in json_scores(before) if before != "{}" else ():
            put(DROP_SCORE, (project, name, start_ns, trace))
        scores = {sound(name): value for name, value in score_values(policies).items()}
        for name, value in scores.items():
            put(ADD_SCORE, (project, name, start_ns, trace, value))
        return sum(len(policy.results) for policy in policies), msgspec.json.encode(scores).decode()

    def _moved(self, locked: Transaction, trace: int, project: int, before_ns: int, after_ns: int) -> None:
        """Follows a trace whose begin turned out to be earlier, wherever its begin gives the order."""
        labels, scores = locked.execute("SELECT labels, scores FROM traces WHERE key = ?", (trace,)).fetchone()
        for key, value in json_labels(labels).items():
            locked.execute(DROP_LABEL, (project, label_of(key, value), before_ns, trace))
            locked.execute(ADD_LABEL, (project, label_of(key, value), after_ns, trace))
        for name, value in json_scores(scores).items():
            locked.execute(DROP_SCORE, (project, name, before_ns, trace))
            locked.execute(ADD_SCORE, (project, name, after_ns, trace, value))
        locked.execute(MOVE_RESULTS, (after_ns, trace))

    def _opinion(self, ask: Ask, project: int, trace_id: str, keys: Sequence[str]) -> float | None:
        """The mean of what was said about a trace, by its id or one of its keys; None when nothing was good or bad."""
        told = ask(OPINIONS_BY_TRACE, (project, trace_id))
        for key in keys:
            told += ask(OPINIONS_BY_KEY, (project, key, trace_id))
        count = sum(row[0] for row in told)
        return sum(row[1] or 0.0 for row in told) / count if count else None


def asked_within(locked: Transaction) -> Ask:
    return lambda statement, values: locked.execute(statement, values).fetchall()


def results_row(trace: int, project: int, start_ns: int, results: PolicyResults, now_ms: int) -> tuple[Any, ...]:
    told = timed(results, now_ms)
    assert told.time is not None
    return trace, results.policy, project, start_ns, results.revision, microseconds(told.time), packed(told)


def timed(results: PolicyResults, now_ms: int) -> PolicyResults:
    return results if results.time is not None else msgspec.structs.replace(results, time=moment_of(now_ms * 1000))


def missing_trace(trace_id: str) -> NotFoundError:
    return NotFoundError(f"no trace has the id {trace_id!r}", hint="'evalsi traces list' shows those there are")


def id_bytes(trace_id: str) -> bytes:
    """The id as it is stored; what is no id is that of no trace."""
    try:
        return bytes.fromhex(trace_id)
    except ValueError:
        return b""


def json_scores(text: str) -> dict[str, float]:
    return msgspec.json.decode(text, type=dict[str, float])


def json_list(text: str) -> list[str]:
    return msgspec.json.decode(text, type=list[str])
