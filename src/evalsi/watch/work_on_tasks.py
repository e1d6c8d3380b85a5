"""What waited in line is graded: a batch of one policy at a time, within its budget of the day.

Its own module because this may take as long as a judge likes: each policy is worked on beside the others, so that a slow
judge delays its own policy alone. What always holds: results are written before the mark that ends the task; whoever dies
in between does it again, and judges' replies that are kept are not paid for twice. A task is given up only when whoever has
it dies of it, or cannot do it, again and again: what waits for its policy, for a store or for the next worker waits on.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from evalsi.core.errors import NotFoundError, StoreError
from evalsi.ports.policy_store import SESSION_PREFIX, PolicyMark, PolicyTask, Settlement
from evalsi.watch.cascade import Verdict, run_cascade
from evalsi.watch.day_meter import DayMeter
from evalsi.watch.keep_claims import keeping_claims
from evalsi.watch.marking import drawn, evaluated, results_of
from evalsi.watch.outgoing_scores import outgoing_to
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.promotion import promote_cases
from evalsi.watch.sampling import Surroundings
from evalsi.watch.stored_traffic import stored_session, stored_trace
from evalsi.watch.traffic import Subject
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
"""Claims after which a task that never ended is given up: it takes its worker with it."""


async def work_on_tasks(tools: WatchTools, tasks: Sequence[PolicyTask]) -> None:
    """Grades the subjects of claimed tasks, all of one policy, and ends the tasks. Keeps the claims meanwhile."""

    def renew() -> None:
        tools.policies.renew_tasks(tasks, now_ms=tools.now_ms, lease_ms=tools.lease_ms)

    async with keeping_claims(tools, renew):
        try:
            await _work(tools, tasks)
        except asyncio.CancelledError:
            with suppress(StoreError):  # then they are due when the claims have run out
                tools.policies.put_back(tasks, until_ms=tools.now_ms)
            raise
        except StoreError:
            with suppress(StoreError):
                await _put_back(tools, tasks)
            raise


async def _work(tools: WatchTools, tasks: Sequence[PolicyTask]) -> None:
    project, name = tasks[0].project, tasks[0].key.policy
    armed = tools.book.armed(project, name)
    if armed is None:
        if not tools.book.has(project, name):
            await _settle(tools, Settlement(project=project, done=tasks))
        else:
            await _put_back(tools, tasks)
        return
    checked = armed.checked
    subjects: list[Subject] = []
    for task in tasks:
        subject = await asyncio.to_thread(_subject, tools, task)
        if subject is not None:
            subjects.append(subject)
    meter = DayMeter(tools, project, armed)
    await meter.begin()
    try:
        verdicts = await run_cascade(armed.ready, subjects, meter.used_up)
    finally:
        await meter.tell()  # also what was used by work that is stopped, and done again
    marks = [
        evaluated(_sampled(checked, subject), checked, subject, verdict)
        for subject, verdict in zip(subjects, verdicts, strict=True)
    ]
    await promote_cases(tools.promote, tools.traces, checked, subjects, marks)
    await asyncio.to_thread(_write, tools, checked, subjects, verdicts, marks)
    outgoing = outgoing_to(tools.sinks_of(checked), checked, zip(subjects, verdicts, marks, strict=True), tools.now_ms)
    await _settle(tools, Settlement(project=project, marks=marks, done=tasks, outgoing=outgoing))


def _sampled(checked: CheckedPolicy, subject: Subject) -> PolicyMark:
    """The mark of a subject that was drawn when it was put in line, whatever a draw would say now."""
    mark = drawn(checked, subject, Surroundings())
    return PolicyMark(
        policy=mark.policy,
        subject=mark.subject,
        revision=mark.revision,
        at_ms=mark.at_ms,
        stage="sampled",
        groups=subject.groups,
        cluster=mark.cluster,
        own_key=subject.own_key,
        asked=subject.asked,
        duration_ms=mark.duration_ms,
    )


def _write(
    tools: WatchTools,
    checked: CheckedPolicy,
    subjects: Sequence[Subject],
    verdicts: Sequence[Verdict],
    marks: Sequence[PolicyMark],
) -> None:
    now = tools.clock.now()
    for subject, verdict, mark in zip(subjects, verdicts, marks, strict=True):
        if mark.stage != "evaluated":
            continue
        results = results_of(checked, subject, verdict, now)
        if subject.name.startswith(SESSION_PREFIX):
            session_id = subject.name.removeprefix(SESSION_PREFIX)
            tools.traces.write_session_results(subject.project, session_id, results, now_ms=tools.now_ms)
        else:
            tools.traces.write_results(subject.project, subject.name, results, now_ms=tools.now_ms)


def _subject(tools: WatchTools, task: PolicyTask) -> Subject | None:
    """What the task is about; None when that is gone, or the task is given up."""
    name = task.key.subject
    if task.attempts >= MOST_ATTEMPTS:
        logger.error(
            "policy %s of project %s gives %s up: %d times it was not done by whoever had it",
            *(task.key.policy, task.project, name, task.attempts),
        )
        return None
    try:
        if not name.startswith(SESSION_PREFIX):
            return stored_trace(tools.traces, task.project, name, tools.tracing)
        return stored_session(tools.traces, task.project, name.removeprefix(SESSION_PREFIX), tools.tracing)
    except NotFoundError:
        return None
    except StoreError:
        raise
    except Exception:
        # Tried again, it would take the tasks beside it along.
        logger.exception("%s of project %s cannot be read and is not graded", name, task.project)
        tools.tell_damaged()
        return None


async def _put_back(tools: WatchTools, tasks: Sequence[PolicyTask]) -> None:
    """They are somebody's again after a while. Raises: StoreError."""
    await asyncio.to_thread(tools.policies.put_back, tasks, until_ms=tools.now_ms + tools.lease_ms)


async def _settle(tools: WatchTools, settlement: Settlement) -> None:
    folding = tools.book.folding(settlement.project)
    await asyncio.to_thread(tools.policies.settle, settlement, folding, now_ms=tools.now_ms)
