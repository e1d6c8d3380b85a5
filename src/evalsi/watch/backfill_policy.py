"""A policy is put to work on stored traces that it has not evaluated: they are put in line, as its sampling draws them."""

from datetime import datetime

from evalsi.ports.policy_store import PolicyMark, PolicyStore, Settlement, TaskKey
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import PolicyScope, TraceFilter
from evalsi.traces import Tracing
from evalsi.watch.fold import WatchFolding
from evalsi.watch.past_traffic import past_sessions, past_traces
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.stored_traffic import is_there

_AT_ONCE = 500


def backfill_policy(
    traces: TraceStore,
    policies: PolicyStore,
    checked: CheckedPolicy,
    tracing: Tracing,
    now: datetime,
    *,
    since: datetime | None,
    until: datetime | None,
) -> int:
    """How many traces, or sessions where it looks at those, were put in line. Repeating it puts none in line twice, and none that was evaluated.

    Raises: StoreError: what was put in line till then stays.
    """
    project, name = checked.policy.project, checked.policy.name
    folding = WatchFolding(project, {name: checked})
    now_ms = int(now.timestamp() * 1000)
    queued = 0
    waiting: list[PolicyMark] = []

    def put() -> int:
        subjects = [mark.subject for mark in waiting]
        # Who is drawn and not in line any more was left out by a budget, or given up.
        in_line = policies.in_line(project, name, subjects)
        known = policies.marked(project, name, subjects)
        fresh = [mark for mark in waiting if known.get(mark.subject) != "evaluated" and mark.subject not in in_line]
        taken = [mark for mark in fresh if mark.stage == "sampled"]
        policies.settle(
            Settlement(project=project, marks=fresh, queued=[TaskKey(name, mark.subject) for mark in taken]),
            folding,
            now_ms=now_ms,
        )
        waiting.clear()
        gone = {mark.subject for mark in fresh if not is_there(traces, project, mark.subject)}
        if gone:  # erased since it was read: nobody claimed it, so that only now it can be seen
            policies.forget(project, sorted(gone))
        return sum(mark.subject not in gone for mark in taken)

    choice = TraceFilter(since=since, until=until or now)
    marks = (
        past_sessions(traces, project, checked, choice, tracing)
        if checked.scope is PolicyScope.SESSION
        else (trace.mark for trace in past_traces(traces, project, checked, choice, tracing))
    )
    for mark in marks:
        waiting.append(mark)
        if len(waiting) >= _AT_ONCE:
            queued += put()
    return queued + put()
