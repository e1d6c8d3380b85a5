"""The work on live traffic, until it is stopped: complete traces, grade what waits, end sessions, send messages, take scores
and the audit log to sinks, tidy up.

Its own module because these go on beside each other in one process, and none may hold up another. Several processes may do
this over the same store: each takes what nobody else has.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from evalsi.core.errors import StoreError
from evalsi.ports.notice_sender import NoticeSender
from evalsi.ports.policy_store import PolicyTask
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.watch.complete_sessions import complete_sessions
from evalsi.watch.complete_traces import complete_traces
from evalsi.watch.deliver_audit import AuditLane
from evalsi.watch.deliver_notices import deliver_notices
from evalsi.watch.deliver_scores import SinkLane, SinkPlan, give_up_old
from evalsi.watch.fold import WatchFolding
from evalsi.watch.watch_tools import WatchTools
from evalsi.watch.work_on_tasks import work_on_tasks

logger = logging.getLogger(__name__)

TRACES_AT_ONCE = 400
SESSIONS_AT_ONCE = 50
TASKS_AT_ONCE = 64
MOST_POLICIES_AT_ONCE = 32
MOST_OF_A_PROJECT = 24
"""Of them, so that judges that do not answer one project hold up no other."""
AFTER_TROUBLE_S = 2.0
TIDY_S = 60.0
IDLE_S = 1.0
"""Seconds between two looks for work of a step that has had nothing to do for a while, where it looks more often else."""
_STOP_POLL_S = 0.25
_DAY_MS = 86_400_000


@dataclass(frozen=True, kw_only=True)
class WatchPace:
    """How often is looked for work, and how long is kept what was found."""

    poll_s: float = 0.25
    minutes_kept_days: int = 2
    """After that, figures of single minutes become figures of hours."""
    marks_kept_days: int = 90
    """How long the values of single traces are kept for comparisons."""


async def watch_traffic(
    tools: WatchTools,
    sender: NoticeSender,
    stopped: threading.Event,
    *,
    outbox: ScoreOutbox,
    plans: Sequence[SinkPlan] = (),
    audit: Sequence[AuditLane] = (),
    publish: Callable[[], int] = lambda: 0,
    pace: WatchPace | None = None,
    ends_after_s: float | None = None,
) -> None:
    """Works until it is stopped. What is under way then is somebody else's later.

    Args:
        plans: The sinks that scores in the outbox are taken to.
        audit: The ways of the audit log to the sinks that have it.
        publish: Makes versions of the datasets to which cases were added; how many. Called from a thread, now and then.
        ends_after_s: It also ends when for so long there was little to do; None: it does not.
    """
    pace = pace or WatchPace()
    line = TaskLine(tools)

    needed_s = tools.clock.monotonic_s()

    async def tidy() -> int:
        return await asyncio.to_thread(_tidy, tools, pace)

    async def hurry() -> int:
        await asyncio.to_thread(tools.traces.hurry, most=tools.most_open, now_ms=tools.now_ms)
        return 0

    async def complete() -> int:
        nonlocal needed_s
        did = await complete_traces(tools, limit=TRACES_AT_ONCE)
        if did > TRACES_AT_ONCE // 2 or line.is_busy:
            needed_s = tools.clock.monotonic_s()
        return did

    steps: list[tuple[Callable[[], Awaitable[int]], float]] = [
        (complete, pace.poll_s),
        (line.step, pace.poll_s),
        (lambda: complete_sessions(tools, limit=SESSIONS_AT_ONCE), max(1.0, pace.poll_s)),
        (lambda: deliver_notices(tools, sender), max(0.5, pace.poll_s)),
        (tidy, TIDY_S),
        (lambda: asyncio.to_thread(publish), TIDY_S),
        (lambda: asyncio.to_thread(give_up_old, tools, outbox, plans), TIDY_S),
    ]
    steps += [(SinkLane(tools, outbox, plan).step, max(0.5, pace.poll_s)) for plan in plans]
    steps += [(lane.step, max(0.5, pace.poll_s)) for lane in audit]
    if tools.most_open:
        steps.append((hurry, IDLE_S))
    tasks = [asyncio.create_task(_repeat(step, idle_s)) for step, idle_s in steps]
    try:
        while not stopped.is_set():
            done, _ = await asyncio.wait(tasks, timeout=_STOP_POLL_S, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if ends_after_s is not None and tools.clock.monotonic_s() - needed_s > ends_after_s:
                break
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await line.close()


class TaskLine:
    """The policies that are being worked on, each by a task of its own."""

    def __init__(self, tools: WatchTools) -> None:
        self._tools = tools
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._aside: dict[tuple[str, str], float] = {}
        """Policies that cannot be used just now, each with the time from which it is looked at again."""

    @property
    def is_busy(self) -> bool:
        return any(not task.done() for task in self._busy.values())

    async def step(self) -> int:
        """Begins with one more policy that has something in line; whether there was one. Raises: StoreError."""
        for key, task in list(self._busy.items()):
            if task.done():
                del self._busy[key]
                if task.exception() is not None:
                    logger.error(
                        "policy %s of project %s could not be worked on", key[1], key[0], exc_info=task.exception()
                    )
        if len(self._busy) >= MOST_POLICIES_AT_ONCE:
            return 0
        now_s = self._tools.clock.monotonic_s()
        self._aside = {key: until_s for key, until_s in self._aside.items() if until_s > now_s}
        claimed = await asyncio.to_thread(self._claimed, [*self._busy, *self._aside, *self._beyond_share()])
        if not claimed:
            return 0
        key = claimed[0].project, claimed[0].key.policy
        if self._tools.book.armed(*key) is None:
            self._aside[key] = now_s + self._tools.lease_s
        self._busy[key] = asyncio.create_task(work_on_tasks(self._tools, claimed))
        return 1

    def _beyond_share(self) -> list[tuple[str, str]]:
        """The policies of projects of which enough are worked on."""
        shares = Counter(project for project, _ in self._busy)
        full = [project for project, share in shares.items() if share >= MOST_OF_A_PROJECT]
        return [(project, each.policy.name) for project in full for each in self._tools.book.policies(project)]

    def _claimed(self, beside: Sequence[tuple[str, str]]) -> Sequence[PolicyTask]:
        tools = self._tools
        claimed = tools.policies.claim_tasks(
            now_ms=tools.now_ms, limit=TASKS_AT_ONCE, lease_ms=tools.lease_ms, beside=beside
        )
        if claimed:
            tools.book.refresh()
        return claimed

    async def close(self) -> None:
        """Lets go of what is under way."""
        for task in self._busy.values():
            task.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)


async def _repeat(step: Callable[[], Awaitable[int]], idle_s: float) -> None:
    """Does a step again and again, at once while there is work, and ever less often while there is none."""
    pause_s = idle_s
    while True:
        try:
            did = await step()
        except StoreError as error:
            logger.warning("the store cannot be used: %s", error)
            await asyncio.sleep(AFTER_TROUBLE_S)
        except Exception:
            # A fault of ours in one step must not end the others; what it was at is due again.
            logger.exception("a step of watching traffic failed")
            await asyncio.sleep(AFTER_TROUBLE_S)
        else:
            await asyncio.sleep(0 if did else pause_s)
            pause_s = idle_s if did else min(1.1 * pause_s, max(idle_s, IDLE_S))


def _tidy(tools: WatchTools, pace: WatchPace) -> int:
    folding = WatchFolding("", {})
    return tools.policies.tidy(
        folding,
        minutes_until_ms=tools.now_ms - pace.minutes_kept_days * _DAY_MS,
        marks_until_ms=tools.now_ms - pace.marks_kept_days * _DAY_MS,
        limit=5_000,
    )
