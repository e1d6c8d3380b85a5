"""Traces as they are stored, read as policies see them.

Its own module because a trace that is complete now, one that waited in line and one that a policy is tried on are read
alike.
"""

from collections.abc import Sequence
from operator import attrgetter

import msgspec

from evalsi.core.errors import NotFoundError
from evalsi.ports.policy_store import SESSION_PREFIX
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import Record, TraceFilter, TraceSummary
from evalsi.traces import Span, Tracing
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import spans_of_bodies
from evalsi.watch.traffic import Subject, subject_of_session, subject_of_trace

MOST_TRACES_OF_SESSION = 1_000


def root_resource(spans: Sequence[Span]) -> dict[str, object]:
    """Attributes of whatever sent the root, or else the first span."""
    roots = [span for span in spans if not span.parent_span_id]
    return dict(min(roots or spans, key=attrgetter("start_ns")).resource)


def subject_of_spans(spans: Sequence[Span], summary: TraceSummary, record: Record) -> Subject:
    return subject_of_trace(summary, record, root_resource(spans))


def is_there(store: TraceStore, project: str, name: str) -> bool:
    """Whether there is such a trace, or such a session with a trace.

    Args:
        name: As `Subject.name`.
    """
    if name.startswith(SESSION_PREFIX):
        choice = TraceFilter(session_id=name.removeprefix(SESSION_PREFIX))
    else:
        choice = TraceFilter(trace_id_prefix=name)
    return bool(store.find([project], choice, size=1).traces)


def stored_trace(store: TraceStore, project: str, trace_id: str, tracing: Tracing) -> Subject:
    """A stored trace. Raises: NotFoundError: it is gone, or holds no span that can be read."""
    summary = store.summary(project, trace_id)
    spans = spans_of_bodies(store.spans(project, trace_id))
    if not spans:
        raise NotFoundError(f"trace {trace_id} holds no span that can be read")
    return subject_of_spans(spans, summary, record_of_trace(spans, tracing))


def stored_session(store: TraceStore, project: str, session_id: str, tracing: Tracing) -> Subject:
    """A stored session: its traces, of very many the newest. Raises: NotFoundError: all of its traces are gone."""
    traces: list[Subject] = []
    trace_ids, revision = store.session_traces(project, session_id)
    for trace_id in trace_ids[-MOST_TRACES_OF_SESSION:]:
        try:
            traces.append(stored_trace(store, project, trace_id, tracing))
        except NotFoundError:
            continue  # it was deleted meanwhile
    if not traces:
        raise NotFoundError(f"session {session_id} is gone")
    # A session that goes on after it was evaluated has a higher revision, and its new results replace the old.
    return msgspec.structs.replace(
        subject_of_session(SESSION_PREFIX + session_id, session_id, traces), revision=revision
    )
