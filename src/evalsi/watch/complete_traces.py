"""Traces that are due become complete: read, drawn by every policy, graded by those that are quick, stored.

Its own module because this is the step that must keep up with the traffic: many traces are graded in one call of the
engine, and what takes long is only put in line here. What always holds: marks are stored before the traces that they are
about, so whoever dies in between leaves nothing uncounted, and since marks replace each other nothing is counted twice. A
trace that cannot be read is set aside, complete and marked, and holds up no other. What was taken over by another worker
meanwhile, as from one that was stopped for a while, is left to it, marks and trace.
"""

import asyncio
import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from evalsi.core.errors import StoreError
from evalsi.ports.policy_store import PolicyMark, Settlement, TaskKey
from evalsi.ports.score_sink import OutgoingScores
from evalsi.ports.trace_store import CompletedTrace, DueTrace
from evalsi.schema import PolicyResults, PolicyScope, Record, TraceSummary
from evalsi.traces import Span
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import stored_spans
from evalsi.watch.cascade import run_cascade
from evalsi.watch.keep_claims import keeping_claims
from evalsi.watch.marking import drawn, evaluated, results_of
from evalsi.watch.outgoing_scores import outgoing_to
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.promotion import promote_cases
from evalsi.watch.stored_traffic import subject_of_spans
from evalsi.watch.summary_of_trace import completed_trace, span_digest
from evalsi.watch.traffic import Subject
from evalsi.watch.watch_tools import WatchTools

logger = logging.getLogger(__name__)

DAMAGED_LABEL = "evalsi.damaged"
"""Label of a trace that cannot be read, or not all of it."""
_TOGETHER = 16
"""Traces that are read and graded before others have their turn: some milliseconds. What is graded was read just before, so
that it is still in the processor's caches, and is let go before the next are read.
"""


class _Opened(msgspec.Struct):
    """A trace that is being completed."""

    done: CompletedTrace
    """As it is stored, but for what policies find."""
    subject: Subject
    is_same: bool
    """Whether it has the spans that it had: then only what was said about it is new."""
    results: list[PolicyResults] = []


@dataclass
class _Graded:
    """What was found in the traces of a project, ready to be stored."""

    marks: list[PolicyMark] = field(default_factory=list[PolicyMark])
    queued: list[TaskKey] = field(default_factory=list[TaskKey])
    outgoing: list[tuple[OutgoingScores, Sequence[str]]] = field(
        default_factory=list[tuple[OutgoingScores, Sequence[str]]]
    )
    done: list[CompletedTrace] = field(default_factory=list[CompletedTrace])
    told_later: list[tuple[str, PolicyResults]] = field(default_factory=list[tuple[str, PolicyResults]])
    """Results for spans that were complete before, by trace: completing once more does not store them."""


async def complete_traces(tools: WatchTools, *, limit: int) -> int:
    """Completes up to `limit` traces that are due; how many there were. Raises: StoreError: they are due again later."""
    due = await asyncio.to_thread(tools.traces.claim, now_ms=tools.now_ms, limit=limit, lease_ms=tools.lease_ms)
    if not due:
        return 0

    def renew() -> None:
        tools.traces.renew(due, now_ms=tools.now_ms, lease_ms=tools.lease_ms)

    async with keeping_claims(tools, renew):
        await _complete(tools, due)
    return len(due)


async def _complete(tools: WatchTools, due: Sequence[DueTrace]) -> None:
    await asyncio.to_thread(tools.book.refresh)
    bodies = await asyncio.to_thread(_bodies, tools, due)
    by_project: dict[str, _Graded] = {}
    aside: list[CompletedTrace] = []
    failed: set[str] = set()
    for at in range(0, len(due), _TOGETHER):
        opened, unread = _opened(tools, due[at : at + _TOGETHER], bodies[at : at + _TOGETHER])
        aside += unread
        for project in {each.subject.project: None for each in opened if each.subject.project not in failed}:
            own = [each for each in opened if each.subject.project == project]
            with _costing_only(project, failed):
                await _grade(tools, project, own, by_project.setdefault(project, _Graded()))
        await asyncio.sleep(0)
    if aside:
        await asyncio.to_thread(tools.traces.complete, aside, now_ms=tools.now_ms)
    for project, graded in by_project.items():
        if project not in failed:
            with _costing_only(project, failed):
                await _store(tools, project, graded)


@contextmanager
def _costing_only(project: str, failed: set[str]) -> Generator[None]:
    """What goes wrong with a project leaves its traces due again and others alone. Raises: StoreError."""
    try:
        yield
    except StoreError:
        raise
    except Exception:
        logger.exception("traces of project %s could not be completed; they are due again", project)
        failed.add(project)


async def _store(tools: WatchTools, project: str, graded: _Graded) -> None:
    settlement = Settlement(
        project=project,
        marks=graded.marks,
        queued=graded.queued,
        outgoing=graded.outgoing,
        claims={trace.due.trace_id: trace.due.token for trace in graded.done},
    )
    await asyncio.to_thread(tools.policies.settle, settlement, tools.book.folding(project), now_ms=tools.now_ms)
    ours = set(await asyncio.to_thread(tools.traces.complete, graded.done, now_ms=tools.now_ms))
    for name, results in graded.told_later:
        if name in ours:
            await asyncio.to_thread(tools.traces.write_results, project, name, results, now_ms=tools.now_ms)


async def _grade(tools: WatchTools, project: str, traces: Sequence[_Opened], found: _Graded) -> None:
    """Adds what the policies of the project make of the traces."""
    now_s, now_ms = tools.clock.monotonic_s(), tools.now_ms
    for checked in tools.book.policies(project):
        if checked.scope is PolicyScope.SESSION:
            continue
        concerned = await _concerned(tools, project, checked, traces)
        if not concerned:
            continue
        name = checked.policy.name
        taken: list[tuple[_Opened, PolicyMark]] = []
        for each in concerned:
            version = each.subject.facts["version"]
            around = tools.book.surroundings(project, name, version, now_s=now_s, now_ms=now_ms)
            mark = drawn(checked, each.subject, around)
            if mark.stage == "sampled":
                taken.append((each, mark))
            else:
                found.marks.append(mark)
        armed = tools.book.armed(project, name)
        if armed is None or not checked.is_quick:
            found.marks += [mark for _, mark in taken]
            found.queued += [TaskKey(name, mark.subject) for _, mark in taken]
            continue
        subjects = [each.subject for each, _ in taken]
        verdicts = await run_cascade(armed.ready, subjects)
        now = tools.clock.now()
        graded: list[PolicyMark] = []
        for (each, mark), verdict in zip(taken, verdicts, strict=True):
            each.results.append(results_of(checked, each.subject, verdict, now))
            graded.append(evaluated(mark, checked, each.subject, verdict))
        await promote_cases(tools.promote, tools.traces, checked, subjects, graded)
        found.marks += graded
        told = zip(subjects, verdicts, graded, strict=True)
        found.outgoing += outgoing_to(tools.sinks_of(checked), checked, told, now_ms)
    for each in traces:
        found.done.append(msgspec.structs.replace(each.done, policies=each.results))
        if each.is_same:
            found.told_later += [(each.subject.name, results) for results in each.results]


async def _concerned(
    tools: WatchTools, project: str, checked: CheckedPolicy, traces: Sequence[_Opened]
) -> Sequence[_Opened]:
    """The traces that the policy is to look at: new ones, and those about which something was said that it looks at.

    One that it evaluated stays as it is when its spans are the same.
    """
    same = [each for each in traces if each.is_same]
    if not same:
        return traces
    known: set[str] = set()
    if checked.reads_feedback:
        names = [each.subject.name for each in same]
        stages = await asyncio.to_thread(tools.policies.marked, project, checked.policy.name, names)
        known = {name for name, stage in stages.items() if stage in ("sampled", "evaluated")}
    return [each for each in traces if not each.is_same or (checked.reads_feedback and each.subject.name not in known)]


def _bodies(tools: WatchTools, due: Sequence[DueTrace]) -> list[Sequence[bytes]]:
    """The parts of each trace that were there when it was claimed; none of one that was deleted meanwhile."""
    names: dict[str, list[str]] = {}
    for each in due:
        names.setdefault(each.project, []).append(each.trace_id)
    found = {project: tools.traces.spans_of(project, own) for project, own in names.items()}
    return [found[each.project].get(each.trace_id, ())[: each.parts] for each in due]


def _opened(
    tools: WatchTools, due: Sequence[DueTrace], bodies: Sequence[Sequence[bytes]]
) -> tuple[list[_Opened], list[CompletedTrace]]:
    """The traces as policies see them, and those of which nothing can be read. Raises: StoreError."""
    try:
        return _read(tools, due, bodies)
    except StoreError:
        raise
    except Exception:
        if len(due) == 1:
            logger.exception("trace %s of project %s cannot be read and is set aside", due[0].trace_id, due[0].project)
            tools.tell_damaged()
            return [], [_set_aside(due[0])]
    alone = [_opened(tools, [each], [parts]) for each, parts in zip(due, bodies, strict=True)]
    return [each for opened, _ in alone for each in opened], [each for _, aside in alone for each in aside]


def _read(
    tools: WatchTools, due: Sequence[DueTrace], bodies: Sequence[Sequence[bytes]]
) -> tuple[list[_Opened], list[CompletedTrace]]:
    """Each step is done for all of them before the next: what a step works with then stays in the processor's caches."""
    found = [(each, parts, stored_spans(parts)) for each, parts in zip(due, bodies, strict=True)]
    read = [(each, stored) for each, _, stored in found if stored.spans]
    records = [record_of_trace(stored.spans, tools.tracing) for _, stored in read]
    done = [
        _marked(completed_trace(each, stored.spans, record), stored.damaged)
        for (each, stored), record in zip(read, records, strict=True)
    ]
    opened = [
        _as_seen(tools, each, stored.spans, record)
        for each, (_, stored), record in zip(done, read, records, strict=True)
    ]
    for each, parts, stored in found:
        if stored.damaged or (parts and not stored.spans):
            logger.error(
                "%d of the %d parts of trace %s of project %s cannot be read%s",
                *(stored.damaged, len(parts), each.trace_id, each.project),
                "" if stored.spans else "; it is set aside",
            )
            tools.tell_damaged()
    return opened, [_set_aside(each) for each, _, stored in found if not stored.spans]


def _marked(done: CompletedTrace, damaged: int) -> CompletedTrace:
    if not damaged:
        return done
    labels = {**done.summary.labels, DAMAGED_LABEL: "true"}
    return msgspec.structs.replace(done, summary=msgspec.structs.replace(done.summary, labels=labels))


def _set_aside(due: DueTrace) -> CompletedTrace:
    """A trace of which nothing can be read, as it is stored: complete, so that it is not due again, and marked."""
    summary = TraceSummary(trace_id=due.trace_id, labels={DAMAGED_LABEL: "true"})
    return CompletedTrace(due=due, summary=summary, span_digest=span_digest(()))


def _as_seen(tools: WatchTools, done: CompletedTrace, spans: Sequence[Span], record: Record) -> _Opened:
    due = done.due
    is_same = due.evaluated_spans == done.span_digest
    feedback = None
    if any(policy.reads_feedback for policy in tools.book.policies(due.project)):
        feedback = tools.traces.opinion(due.project, due.trace_id, done.keys)
    summary = msgspec.structs.replace(
        done.summary,
        project=due.project,
        # With the same spans it keeps the revision that it has.
        revision=due.revision - is_same,
        feedback=feedback,
    )
    return _Opened(done, subject_of_spans(spans, summary, record), is_same)
