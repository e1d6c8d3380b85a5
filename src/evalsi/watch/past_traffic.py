"""Stored traces as a policy would have met them: what it matches and draws of the past, without evaluating anything.

Its own module because a policy is tried on the past before it is applied, and put to work on it afterwards, and both must
find the same traces.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalsi.core.errors import NotFoundError
from evalsi.ports.policy_store import PolicyMark
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import Record, TraceFilter, TraceSummary
from evalsi.traces import Tracing
from evalsi.watch.marking import drawn
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.sampling import Surroundings
from evalsi.watch.stored_traffic import stored_session, stored_trace
from evalsi.watch.traffic import Subject, subject_of_trace

MOST_READ = 5_000
"""Traces whose spans are read for one question; a selector that reads no more than lists show is asked of all."""
MOST_LISTED = 200_000
_PAGE = 500
_IN_SPANS = ("tools", "models", "attributes", "resource")
"""Variables of a selector that lists do not show."""


@dataclass(frozen=True, kw_only=True)
class PastTrace:
    """A stored trace and how far it would come with the policy."""

    summary: TraceSummary
    mark: PolicyMark


def past_traces(
    store: TraceStore, project: str, checked: CheckedPolicy, choice: TraceFilter, tracing: Tracing
) -> Iterator[PastTrace]:
    """Complete traces of a choice, the newest first: up to `MOST_READ`, or `MOST_LISTED` if no spans need be read."""
    reads = needs_spans(checked)
    token = ""
    left = MOST_READ if reads else MOST_LISTED
    while left > 0:
        page = store.find([project], choice, size=min(_PAGE, left), token=token)
        for summary in page.traces:
            if not summary.complete:
                continue
            try:
                subject = stored_trace(store, project, summary.trace_id, tracing) if reads else _shown(summary)
            except NotFoundError:
                continue  # it was deleted meanwhile
            yield PastTrace(summary=summary, mark=drawn(checked, subject, Surroundings()))
        left -= len(page.traces)
        token = page.next_token
        if not token:
            return


def past_sessions(
    store: TraceStore, project: str, checked: CheckedPolicy, choice: TraceFilter, tracing: Tracing
) -> Iterator[PolicyMark]:
    """How far each session would come with the policy that has a trace in a choice: up to `MOST_READ` sessions, of
    the newest `MOST_LISTED` traces. One that has a trace which is not complete is graded when it has ended.
    """
    token = ""
    left = MOST_LISTED
    known: set[str] = {""}
    while left > 0 and len(known) <= MOST_READ:
        page = store.find([project], choice, size=min(_PAGE, left), token=token)
        for session_id in dict.fromkeys(each.session_id for each in page.traces):
            if session_id in known or len(known) > MOST_READ:
                continue
            known.add(session_id)
            if store.find([project], TraceFilter(session_id=session_id, complete=False), size=1).traces:
                continue
            try:
                subject = stored_session(store, project, session_id, tracing)
            except NotFoundError:
                continue  # it was deleted meanwhile
            yield drawn(checked, subject, Surroundings())
        left -= len(page.traces)
        token = page.next_token
        if not token:
            return


def needs_spans(checked: CheckedPolicy) -> bool:
    """Whether a condition of the policy reads what only spans say."""
    sampling = checked.policy.sampling
    texts = [checked.policy.selector, *(sampling.always if sampling is not None else ())]
    return any(name in text for text in texts for name in _IN_SPANS)


def records_without_content(records: Sequence[Record]) -> int:
    """How many hold nothing that was said, so that evaluators of content skip them."""
    return sum(record.input is None and record.output is None for record in records)


def _shown(summary: TraceSummary) -> Subject:
    return subject_of_trace(summary, Record(id=summary.trace_id), {})
