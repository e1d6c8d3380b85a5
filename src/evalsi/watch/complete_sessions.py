"""Sessions that have been quiet are ended, and graded by the policies that look at sessions.

Its own module because a session is graded once for all its traces, and again when it goes on afterwards. What takes long is
only put in line here, as with traces.
"""

import asyncio
import logging
from collections.abc import Sequence

from evalsi.core.errors import NotFoundError, StoreError
from evalsi.ports.policy_store import SESSION_PREFIX, PolicyMark, Settlement, TaskKey
from evalsi.ports.score_sink import OutgoingScores
from evalsi.ports.trace_store import DueSession
from evalsi.schema import PolicyResults, PolicyScope
from evalsi.watch.cascade import run_cascade
from evalsi.watch.keep_claims import keeping_claims
from evalsi.watch.marking import drawn, evaluated, results_of
from evalsi.watch.outgoing_scores import outgoing_to
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.promotion import promote_cases
from evalsi.watch.stored_traffic import stored_session
from evalsi.watch.traffic import Subject
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)


async def complete_sessions(tools: WatchTools, *, limit: int) -> int:
    """Ends up to `limit` sessions that have been quiet; how many there were. Raises: StoreError."""
    due = await asyncio.to_thread(
        tools.traces.claim_sessions, now_ms=tools.now_ms, limit=limit, lease_ms=tools.lease_ms
    )
    if not due:
        return 0

    def renew() -> None:
        tools.traces.renew_sessions(due, now_ms=tools.now_ms, lease_ms=tools.lease_ms)

    async with keeping_claims(tools, renew):
        await asyncio.to_thread(tools.book.refresh)
        by_project: dict[str, list[DueSession]] = {}
        for each in due:
            by_project.setdefault(each.project, []).append(each)
        for project, sessions in by_project.items():
            await _complete(tools, project, sessions)
    return len(due)


async def _complete(tools: WatchTools, project: str, sessions: Sequence[DueSession]) -> None:
    policies = [each for each in tools.book.policies(project) if each.scope is PolicyScope.SESSION]
    opened: list[tuple[DueSession, Subject]] = []
    for session in sessions if policies else ():
        try:
            subject = await asyncio.to_thread(stored_session, tools.traces, project, session.session_id, tools.tracing)
        except NotFoundError:
            continue  # it was deleted meanwhile
        except StoreError:
            raise
        except Exception:
            logger.exception("session %s of project %s cannot be read and is set aside", session.session_id, project)
            tools.tell_damaged()
            continue
        opened.append((session, subject))
    found: dict[str, list[PolicyResults]] = {session.session_id: [] for session in sessions}
    marks: list[PolicyMark] = []
    queued: list[TaskKey] = []
    outgoing: list[tuple[OutgoingScores, Sequence[str]]] = []
    for checked in policies:
        taken = _taken(tools, project, checked, opened, marks)
        armed = tools.book.armed(project, checked.policy.name)
        if armed is None or not checked.is_quick:
            marks += [mark for _, _, mark in taken]
            queued += [TaskKey(checked.policy.name, mark.subject) for _, _, mark in taken]
            continue
        subjects = [subject for _, subject, _ in taken]
        verdicts = await run_cascade(armed.ready, subjects)
        now = tools.clock.now()
        graded: list[PolicyMark] = []
        for (session, subject, mark), verdict in zip(taken, verdicts, strict=True):
            found[session.session_id].append(results_of(checked, subject, verdict, now))
            graded.append(evaluated(mark, checked, subject, verdict))
        await promote_cases(tools.promote, tools.traces, checked, subjects, graded)
        marks += graded
        told = zip(subjects, verdicts, graded, strict=True)
        outgoing += outgoing_to(tools.sinks_of(checked), checked, told, tools.now_ms)
    if marks:
        claims = {SESSION_PREFIX + session.session_id: session.token for session in sessions}
        settlement = Settlement(project=project, marks=marks, queued=queued, outgoing=outgoing, claims=claims)
        await asyncio.to_thread(tools.policies.settle, settlement, tools.book.folding(project), now_ms=tools.now_ms)
    for session in sessions:
        await asyncio.to_thread(tools.traces.complete_session, session, found[session.session_id], now_ms=tools.now_ms)


def _taken(
    tools: WatchTools,
    project: str,
    checked: CheckedPolicy,
    opened: Sequence[tuple[DueSession, Subject]],
    marks: list[PolicyMark],
) -> list[tuple[DueSession, Subject, PolicyMark]]:
    """The sessions that the policy draws, each with its mark; the marks of the others are added to `marks`."""
    taken: list[tuple[DueSession, Subject, PolicyMark]] = []
    now_s = tools.clock.monotonic_s()
    for session, subject in opened:
        version = subject.facts["version"]
        around = tools.book.surroundings(project, checked.policy.name, version, now_s=now_s, now_ms=tools.now_ms)
        mark = drawn(checked, subject, around)
        if mark.stage == "sampled":
            taken.append((session, subject, mark))
        else:
            marks.append(mark)
    return taken
