"""What a failure case is and how it may change: captured from a trace, worked on, decided about. Pure.

Its own module because a page, a command and a store must agree on it. What always holds: a change names the revision that
it was made on; what was approved changes only by being opened again, so that an approval is about the content that stands.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from evalsi.core.errors import ConflictError, InvalidSpecError
from evalsi.schema import FailureCase, FailureEvent, FailureStatus, Record, TraceSummary, json_codec
from evalsi.traces import Span, Tracing
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.traces.trajectory import distinct

MOST_TITLE_CHARACTERS = 200
DECIDED = (FailureStatus.APPROVED, FailureStatus.DISMISSED)
UNDECIDED = (FailureStatus.OPEN, FailureStatus.IN_REVIEW)


@dataclass(frozen=True, kw_only=True)
class CapturedTrace:
    """A trace as it is put into the inbox."""

    summary: TraceSummary
    record: Record
    sha256: str
    """Of its spans, whatever parts they came in and however often."""


@dataclass(frozen=True, kw_only=True)
class FailureChange:
    """What somebody wants to change. An empty field leaves what stands."""

    expected_revision: int
    actor: str
    record: Record | None = None
    title: str = ""
    reason: str = ""
    assignee: str = ""
    status: FailureStatus = FailureStatus.UNSPECIFIED


@dataclass(frozen=True, kw_only=True)
class FailureDecision:
    """What a reviewer decided."""

    expected_revision: int
    actor: str
    status: FailureStatus
    note: str = ""


def captured_trace(spans: Sequence[Span], summary: TraceSummary, tracing: Tracing) -> CapturedTrace:
    """The record and digest of a trace.

    Args:
        spans: At least one, all of one trace, in any order.
        summary: The trace as lists show it.
    """
    unique = sorted(distinct(spans), key=lambda span: span.span_id)
    body = msgspec.json.encode(unique, order="deterministic")
    return CapturedTrace(
        summary=summary, record=record_of_trace(spans, tracing), sha256=hashlib.sha256(body).hexdigest()
    )


def new_failure(
    trace: CapturedTrace, *, failure_id: str, title: str, reason: str, actor: str, now: datetime
) -> FailureCase:
    """The failure that a trace becomes, as it is first stored."""
    return FailureCase(
        id=failure_id,
        project=trace.summary.project,
        source=trace.summary,
        source_sha256=trace.sha256,
        record=trace.record,
        title=_title(title) or _own_title(trace.summary),
        reason=reason,
        status=FailureStatus.OPEN,
        revision=1,
        created_by=actor,
        updated_by=actor,
        created_at=now,
        updated_at=now,
    )


def changed_failure(before: FailureCase, change: FailureChange, now: datetime) -> FailureCase:
    """The failure after a change.

    Raises:
        ConflictError: it was changed meanwhile, or it is decided and not opened again.
        InvalidSpecError: the status is one that only a review gives.
    """
    check_revision(before, change.expected_revision)
    if change.status in DECIDED:
        raise InvalidSpecError(
            f"{change.status} is decided by a review", where="status", hint="review it: evalsi failures review"
        )
    edits = change.record is not None or change.title or change.reason
    if before.status in DECIDED and change.status not in UNDECIDED and edits:
        raise ConflictError(
            f"the failure {before.id} is {before.status}, and what was decided about does not change",
            hint="open it again with the same change: status open",
        )
    reopened = before.status in DECIDED and change.status in UNDECIDED
    return msgspec.structs.replace(
        before,
        record=change.record if change.record is not None else before.record,
        title=_title(change.title) or before.title,
        reason=change.reason or before.reason,
        assignee=change.assignee or before.assignee,
        status=change.status if change.status in UNDECIDED else before.status,
        reviewed_by="" if reopened else before.reviewed_by,
        reviewed_at=None if reopened else before.reviewed_at,
        review_note="" if reopened else before.review_note,
        revision=before.revision + 1,
        updated_by=change.actor,
        updated_at=now,
    )


def reviewed_failure(before: FailureCase, decision: FailureDecision, now: datetime) -> FailureCase:
    """The failure after a review.

    Raises:
        ConflictError: it was changed meanwhile.
        InvalidSpecError: nothing is decided, or an approved case would have nothing to ask.
    """
    check_revision(before, decision.expected_revision)
    if decision.status not in DECIDED:
        raise InvalidSpecError("nothing is decided", where="decision", hint="decide approved or dismissed")
    if decision.status is FailureStatus.APPROVED and (before.record is None or before.record.input is None):
        raise InvalidSpecError(
            f"the failure {before.id} has no input, so that it cannot be a case",
            where="record.input",
            hint="write down first what was asked, as its input",
        )
    return msgspec.structs.replace(
        before,
        status=decision.status,
        reviewed_by=decision.actor,
        reviewed_at=now,
        review_note=decision.note,
        revision=before.revision + 1,
        updated_by=decision.actor,
        updated_at=now,
    )


def event_of(before: FailureCase | None, after: FailureCase) -> FailureEvent:
    """What happened between two revisions; None is before there was one."""
    return FailureEvent(
        revision=after.revision,
        actor=after.updated_by,
        action=_action(before, after),
        status=after.status,
        record_sha256=record_digest(after.record),
        time=after.updated_at,
    )


def record_digest(record: Record | None) -> str:
    """In hexadecimal, of the record as a line of a file; empty for none."""
    return "" if record is None else hashlib.sha256(json_codec.encode_file(record)).hexdigest()


def check_revision(failure: FailureCase, expected: int) -> None:
    """Passes who looked at the failure as it stands. Raises: InvalidSpecError, ConflictError."""
    if expected < 1:
        raise InvalidSpecError(
            "a change names the revision it was made on", where="expected_revision", hint="revisions count from 1"
        )
    if failure.revision != expected:
        raise ConflictError(
            f"the failure {failure.id} is at revision {failure.revision}, not {expected}",
            hint="look at it again, then decide",
        )


def _action(before: FailureCase | None, after: FailureCase) -> str:
    if before is None:
        return "captured"
    if after.status in DECIDED and after.reviewed_at == after.updated_at:
        return str(after.status)
    return "reopened" if before.status in DECIDED and after.status in UNDECIDED else "updated"


def _title(text: str) -> str:
    return " ".join(text.split())[:MOST_TITLE_CHARACTERS]


def _own_title(summary: TraceSummary) -> str:
    return _title(summary.input) or _title(summary.name) or summary.trace_id
