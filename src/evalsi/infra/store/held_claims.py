"""Which claims are not their holder's any more, seen inside the transaction that stores what was found under them.

Its own module because traces, sessions and tasks are claimed in tables of their own and fenced alike. What always holds:
nobody takes over what was looked at here until the transaction has ended, so that a worker that was stopped for a while,
wherever that was, changes nothing of what another has found since.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from evalsi.infra.store.trace_rows import sound
from evalsi.infra.store.trace_tables import FIND_PROJECT, id_bytes
from evalsi.infra.store.transactions import Transaction
from evalsi.ports.policy_store import SESSION_PREFIX, PolicyTask, TaskKey

T = TypeVar("T")

TRACE_TOKENS = "SELECT trace_id, token FROM traces WHERE project = ? AND trace_id IN ({}) ORDER BY key"
SESSION_TOKENS = (
    "SELECT session_id, token FROM trace_sessions WHERE project = ? AND session_id IN ({}) ORDER BY session_id"
)
TASK_TOKENS = "SELECT subject, token FROM policy_tasks WHERE project_id = ? AND policy = ? AND subject IN ({})"
_AT_ONCE = 200


def lost_subjects(locked: Transaction, hold: str, project: str, claims: Mapping[str, str]) -> set[str]:
    """The subjects whose claim somebody else has taken over, or that are gone.

    Args:
        hold: See `SqlDatabase.hold`.
        claims: Token by subject, as in `Settlement`.
    """
    if not claims:
        return set()
    found = locked.execute(FIND_PROJECT, (sound(project),)).fetchone()
    key = -1 if found is None else found[0]
    sessions = [name.removeprefix(SESSION_PREFIX) for name in claims if name.startswith(SESSION_PREFIX)]
    traces = [id_bytes(name) for name in claims if not name.startswith(SESSION_PREFIX)]
    tokens: dict[str, str] = {}
    for some in _pieces(traces):
        rows = locked.execute(TRACE_TOKENS.format(_places(some)) + hold, (key, *some)).fetchall()
        tokens.update((bytes(trace_id).hex(), token) for trace_id, token in rows)
    for some in _pieces(sessions):
        rows = locked.execute(SESSION_TOKENS.format(_places(some)) + hold, (key, *some)).fetchall()
        tokens.update((SESSION_PREFIX + session_id, token) for session_id, token in rows)
    return {subject for subject, token in claims.items() if tokens.get(subject) != token}


def lost_tasks(locked: Transaction, project: str, tasks: Sequence[PolicyTask]) -> set[TaskKey]:
    """Those of the tasks that somebody else has taken over, or that are gone. Tasks are claimed alone, and so is this."""
    policies: dict[str, dict[str, str]] = {}
    for task in tasks:
        policies.setdefault(task.key.policy, {})[task.key.subject] = task.token
    lost: set[TaskKey] = set()
    for policy, own in policies.items():
        tokens: dict[str, str] = {}
        for some in _pieces(list(own)):
            tokens.update(locked.execute(TASK_TOKENS.format(_places(some)), (project, policy, *some)).fetchall())
        lost |= {TaskKey(policy, subject) for subject, token in own.items() if tokens.get(subject) != token}
    return lost


def _pieces(names: Sequence[T]) -> Iterator[Sequence[T]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))


def _places(names: Sequence[object]) -> str:
    return ", ".join("?" * len(names))
