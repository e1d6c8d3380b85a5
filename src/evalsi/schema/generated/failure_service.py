# Generated from proto/evalsi/v1alpha1/failure_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Failures: traces that somebody wants to look at, from the first catch to a case of a dataset."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.dataset_catalog_service import FailureSelection
from evalsi.schema.generated.record import Record
from evalsi.schema.generated.trace_service import TraceSummary
from evalsi.schema.scalar_types import Int32, Int64, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "CaptureFailureRequest",
    "CaptureFailureResponse",
    "DeleteFailureRequest",
    "DeleteFailureResponse",
    "ExportFailuresRequest",
    "ExportFailuresResponse",
    "FailureCase",
    "FailureEvent",
    "FailureStatus",
    "GetFailureRequest",
    "GetFailureResponse",
    "ListFailureEventsRequest",
    "ListFailureEventsResponse",
    "ListFailuresRequest",
    "ListFailuresResponse",
    "ReviewFailureRequest",
    "ReviewFailureResponse",
    "UpdateFailureRequest",
    "UpdateFailureResponse",
]


class FailureStatus(SchemaEnum):
    """How a failure stands."""

    UNSPECIFIED = "unspecified", 0, "FAILURE_STATUS_UNSPECIFIED"
    """Not known."""
    OPEN = "open", 1, "FAILURE_STATUS_OPEN"
    """Nobody has looked at it."""
    IN_REVIEW = "in_review", 2, "FAILURE_STATUS_IN_REVIEW"
    """Somebody is looking at it."""
    APPROVED = "approved", 3, "FAILURE_STATUS_APPROVED"
    """It is a case."""
    DISMISSED = "dismissed", 4, "FAILURE_STATUS_DISMISSED"
    """It is none."""


class FailureCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A trace in the inbox."""

    id: str = ""
    """Its identifier."""
    project: str = ""
    """Project it belongs to."""
    source: TraceSummary | None = None
    """The trace it was made from."""
    source_sha256: str = ""
    """Digest of the trace as it was captured."""
    record: Record | None = None
    """The case it is to become."""
    title: str = ""
    """What it is about, in a line."""
    reason: str = ""
    """Why it is a failure."""
    assignee: str = ""
    """Who looks at it."""
    status: FailureStatus = FailureStatus.UNSPECIFIED
    """How it stands."""
    revision: Int64 = 0
    """Times it was changed, from 1."""
    created_by: str = ""
    """Who captured it."""
    updated_by: str = ""
    """Who changed it last."""
    reviewed_by: str = ""
    """Who reviewed it."""
    review_note: str = ""
    """What the reviewer said."""
    created_at: Timestamp | None = None
    """When it was captured."""
    updated_at: Timestamp | None = None
    """When it was changed last."""
    reviewed_at: Timestamp | None = None
    """When it was reviewed."""


class FailureEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Something that happened to a failure."""

    revision: Int64 = 0
    """Revision it made."""
    actor: str = ""
    """Who did it."""
    action: str = ""
    """What: "captured", "updated", "approved", "dismissed" or "reopened"."""
    status: FailureStatus = FailureStatus.UNSPECIFIED
    """How the failure stood then."""
    record_sha256: str = ""
    """Digest of the record then."""
    time: Timestamp | None = None
    """When."""


class CaptureFailureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A trace to put into the inbox."""

    project: str = ""
    """Project; empty for the default one."""
    trace_id: str = ""
    """The trace."""
    title: str = ""
    """What it is about, in a line."""
    reason: str = ""
    """Why it is a failure."""


class CaptureFailureResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The failure it is now."""

    failure: FailureCase | None = None
    """The failure."""
    deduplicated: bool = False
    """True when it was there already."""


class ListFailuresRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which failures to list."""

    project: str = ""
    """Project; empty for all that the caller may see."""
    status: FailureStatus = FailureStatus.UNSPECIFIED
    """How they stand; unspecified for all."""
    assignee: str = ""
    """Who looks at them; empty for all."""
    page_size: Int32 = 0
    """Most failures in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""


class ListFailuresResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A page of failures."""

    failures: list[FailureCase] = []
    """The failures, without their records."""
    next_page_token: str = ""
    """Where to go on; empty at the end."""
    counts: dict[str, Int64] = {}
    """How many failures the project, or all of them together, have of each status."""


class GetFailureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which failure."""

    project: str = ""
    """Project; empty for the default one."""
    id: str = ""
    """Its identifier."""


class GetFailureResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A failure."""

    failure: FailureCase | None = None
    """The failure."""


class UpdateFailureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What to change. Empty fields leave what stands."""

    project: str = ""
    """Project; empty for the default one."""
    id: str = ""
    """Its identifier."""
    expected_revision: Int64 = 0
    """Revision the change was made on."""
    record: Record | None = None
    """The case it is to become; absent to leave it."""
    title: str = ""
    """What it is about, in a line."""
    reason: str = ""
    """Why it is a failure."""
    assignee: str = ""
    """Who looks at it."""
    status: FailureStatus = FailureStatus.UNSPECIFIED
    """OPEN or IN_REVIEW; unspecified to leave it."""


class UpdateFailureResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The failure as it is now."""

    failure: FailureCase | None = None
    """The failure."""


class ReviewFailureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was decided."""

    project: str = ""
    """Project; empty for the default one."""
    id: str = ""
    """Its identifier."""
    expected_revision: Int64 = 0
    """Revision that was looked at."""
    decision: FailureStatus = FailureStatus.UNSPECIFIED
    """APPROVED or DISMISSED."""
    note: str = ""
    """Why."""


class ReviewFailureResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The failure as it is now."""

    failure: FailureCase | None = None
    """The failure."""


class ListFailureEventsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which events to list."""

    project: str = ""
    """Project; empty for the default one."""
    id: str = ""
    """Identifier of the failure."""
    page_size: Int32 = 0
    """Most events in one answer; 0 for the default of 50."""
    page_token: str = ""
    """Where to go on, from the answer before."""


class ListFailureEventsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A page of events."""

    events: list[FailureEvent] = []
    """The events."""
    next_page_token: str = ""
    """Where to go on; empty at the end."""


class ExportFailuresRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which failures become records."""

    project: str = ""
    """Project; empty for the default one."""
    selections: list[FailureSelection] = []
    """Which failures; all approved ones when empty."""


class ExportFailuresResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The records."""

    records: list[Record] = []
    """Their records."""
    jsonl: str = ""
    """The same as JSON Lines."""


class DeleteFailureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Which failure to remove."""

    project: str = ""
    """Project; empty for the default one."""
    id: str = ""
    """Its identifier."""
    expected_revision: Int64 = 0
    """Revision that was looked at."""


class DeleteFailureResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """It is removed."""
