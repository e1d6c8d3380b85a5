"""A trace as it is shown, and traces as they are removed: what a server and the command line do alike with a store.

What always holds: a trace is read from its spans, so that what is shown is what was sent, whatever a list remembers of it.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from evalsi.core.errors import UsageError
from evalsi.ports.failure_store import FailureSource, FailureStore
from evalsi.ports.policy_store import SESSION_PREFIX
from evalsi.ports.trace_store import FeedbackPage, TraceStore
from evalsi.schema import DeleteTracesRequest, GetTraceResponse, TraceFilter, TraceSummary
from evalsi.traces import Tracing
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.stored_spans import spans_of_bodies, stored_spans

Forget = Callable[[str, Sequence[str]], object]
"""Removes what is kept of single traces and sessions beside them: (project, subjects as in `ports.policy_store`)."""
FEEDBACK_SHOWN = 50
"""Of what was said about a trace or a session, the newest that are shown with it."""
_AT_ONCE = 500


def read_trace(store: TraceStore, tracing: Tracing, project: str, trace_id: str) -> GetTraceResponse:
    """The trace with all that is known about it.

    Args:
        trace_id: Its id, or the unique begin of one.

    Raises: NotFoundError: there is none, or several ids begin so.
    """
    name = full_trace_id(store, project, trace_id)
    spans = spans_of_bodies(store.spans(project, name))
    said = store.feedback(project, trace_id=name, size=FEEDBACK_SHOWN)
    return GetTraceResponse(
        record=record_of_trace(spans, tracing) if spans else None,
        policies=list(store.results(project, name)),
        summary=store.summary(project, name),
        feedback=list(said.feedback),
        feedback_total=said.total,
        feedback_page_token=said.next_token,
    )


def sound_bodies(store: TraceStore, project: str, trace_id: str) -> Sequence[bytes]:
    """What a trace was sent as: requests of OTLP in protobuf, which are one when they are joined. Damaged ones are left out.

    Args:
        trace_id: Its id, or the unique begin of one.

    Raises: NotFoundError: there is none, or several ids begin so.
    """
    bodies = store.spans(project, full_trace_id(store, project, trace_id))
    return [body for body in bodies if not stored_spans([body]).damaged]


def full_trace_id(store: TraceStore, project: str, trace_id: str) -> str:
    """An id as it is stored, from the id or the unique begin of one. Raises: NotFoundError: none or several begin so."""
    name = trace_id.lower()
    return name if len(name) == 32 else store.full_id(project, name)


def list_feedback(
    store: TraceStore, project: str, *, trace_id: str = "", session_id: str = "", size: int, token: str = ""
) -> FeedbackPage:
    """What was said about a trace or a session, the newest first.

    Args:
        trace_id: Its id, or the unique begin of one.

    Raises:
        UsageError: not exactly one of the two is named, or the token is none of this list.
        NotFoundError: there is no such trace, or several ids begin so.
    """
    if bool(trace_id) == bool(session_id):
        raise UsageError("feedback is listed of one trace or of one session", hint="give one of trace_id, session_id")
    if trace_id:
        trace_id = store.summary(project, full_trace_id(store, project, trace_id)).trace_id
    return store.feedback(project, trace_id=trace_id, session_id=session_id, size=size, token=token)


def delete_traces(
    store: TraceStore,
    failures: FailureStore,
    project: str,
    request: DeleteTracesRequest,
    forget: Forget,
    forget_cases: Forget | None = None,
) -> int:
    """Removes the traces that fulfil every condition of the request; how many there were.

    Failures and promoted cases made from those that are named, or are of the session or person that is named, go with them:
    they are copies of what is to be forgotten, also where their trace has expired. Those of traces that are merely old stay. A
    session that has no trace left is forgotten too.

    Args:
        forget: Lets policies forget what they found in these traces and sessions.
        forget_cases: Removes the cases that policies made of these traces; None without datasets. Raises: StoreError.

    Raises: UsageError: it has no condition.
    """
    choice = TraceFilter(session_id=request.session_id, user_id=request.user_id, until=request.before)
    names = [name.lower() for name in request.trace_ids]
    if not names and choice == TraceFilter():
        raise UsageError("nothing says what to remove", hint="give one of trace_ids, session_id, user_id, before")
    if names:
        whole = [name for name in names if len(name) == 32]
        same = [msgspec.structs.replace(choice, trace_id_prefix=name) for name in whole]
        found = (trace for each in same for trace in store.find([project], each, size=1).traces)
    else:
        found = _traces_of(store, project, choice)
    chosen: list[str] = []
    sessions: set[str] = set()
    for trace in found:
        chosen.append(trace.trace_id)
        sessions.add(trace.session_id)
    if names and choice == TraceFilter():
        # Also those that are not there any more: copies of a trace that expired stay, and what is said of one comes later.
        chosen = [name for name in names if len(name) == 32]

    def forget_copies() -> None:
        if (names and chosen) or (not names and (choice.session_id or choice.user_id)):
            source = FailureSource(
                trace_ids=chosen if names else [],
                session_id=choice.session_id,
                user_id=choice.user_id,
                before=choice.until,
            )
            failures.forget(project, source)
            if forget_cases is not None:
                forget_cases(project, chosen)
        forget(project, chosen)
        if choice.session_id:
            forget(project, [SESSION_PREFIX + choice.session_id])

    # Before, so that a death in between leaves nothing that cannot be found again; and after, when nothing can be added.
    forget_copies()
    deleted = store.delete(project, chosen if names else choice)
    forget_copies()
    gone = [
        name
        for name in sorted(sessions - {""})
        if not store.find([project], TraceFilter(session_id=name), size=1).traces
    ]
    forget(project, [SESSION_PREFIX + name for name in gone])
    return deleted


def _traces_of(store: TraceStore, project: str, choice: TraceFilter) -> Iterator[TraceSummary]:
    token = ""
    while True:
        page = store.find([project], choice, size=_AT_ONCE, token=token)
        yield from page.traces
        token = page.next_token
        if not token:
            return
