"""Subjects that become cases of a dataset: the records as the policy sees them, with where they come from.

Its own module because what leaves the traffic for a dataset stays there: it holds only what the policy's view shows, and
the same trace is never in a dataset twice.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from evalsi.ports.policy_store import SESSION_PREFIX, PolicyMark
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import Provenance, Record, TraceFilter, TraceProvenance
from evalsi.watch.cascade import shown_to
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.traffic import Subject

Promote = Callable[[str, str, Sequence[Record]], int]
"""Adds records to a dataset of a project: (project, dataset, records); how many. One whose id is in it changes nothing.

Raises: StoreError: it cannot be written.
"""


async def promote_cases(
    promote: Promote,
    traces: TraceStore,
    checked: CheckedPolicy,
    subjects: Sequence[Subject],
    marks: Sequence[PolicyMark],
) -> None:
    """Promotes those subjects whose marks say so, and which are still there. Done before the marks are stored, and safe to
    repeat.
    """
    promotion = checked.policy.promote
    if promotion is None:
        return
    promoted = [subject for subject, mark in zip(subjects, marks, strict=True) if mark.promoted]
    if not promoted:
        return
    shown = await shown_to(checked, [subject.records for subject in promoted])
    # Last of all, since grading takes as long as a judge likes, and what was erased meanwhile becomes no case.
    there = await asyncio.to_thread(lambda: [_is_there(traces, subject) for subject in promoted])
    cases = [
        case
        for subject, records, is_there in zip(promoted, shown, there, strict=True)
        if is_there
        for case in _cases(subject, records, checked.policy.name)
    ]
    if cases:
        await asyncio.to_thread(promote, checked.policy.project, promotion.dataset, cases)


def _is_there(traces: TraceStore, subject: Subject) -> bool:
    if subject.name.startswith(SESSION_PREFIX):
        choice = TraceFilter(session_id=subject.name.removeprefix(SESSION_PREFIX))
    else:
        choice = TraceFilter(trace_id_prefix=subject.name)
    return bool(traces.find([subject.project], choice, size=1).traces)


def _cases(subject: Subject, records: Sequence[Record], policy: str) -> list[Record]:
    cases: list[Record] = []
    for record in records:
        provenance = Provenance(trace=TraceProvenance(trace_id=record.id, policy_id=policy))
        metadata = dict(record.metadata)
        if subject.name.startswith(SESSION_PREFIX):
            metadata["session_id"] = subject.name.removeprefix(SESSION_PREFIX)
        cases.append(msgspec.structs.replace(record, provenance=provenance, metadata=metadata))
    return cases
