"""A span as it was sent, decoded: the one input of every mapper, whichever wire form it came in."""

from collections.abc import Mapping
from typing import Any

import msgspec

STATUS_ERROR = 2
"""`Span.status_code` of a failed span, in OTLP's numbering (0 unset, 1 ok, 2 error)."""


class SpanEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that happened at a moment within a span."""

    name: str
    time_ns: int = 0
    attributes: dict[str, Any] = {}


class Span(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One span. Ids are lower-case hexadecimal; times are nanoseconds since 1970, 0 where the sender gave none.

    Attribute values are JSON values: text, bool, int, finite float, list, dict, None.
    """

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    kind: int = 0
    start_ns: int = 0
    end_ns: int = 0
    attributes: dict[str, Any] = {}
    events: list[SpanEvent] = []
    status_code: int = 0
    status_message: str = ""
    resource: Mapping[str, Any] = {}
    """Attributes of whatever sent it, such as "service.name"."""
    scope_name: str = ""
    scope_version: str = ""
    dropped_attributes: int = 0
    """Attributes that the sender's own limit left out."""

    @property
    def is_error(self) -> bool:
        return self.status_code == STATUS_ERROR


class RejectedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A span that cannot be taken: where it stands and why."""

    where: str
    reason: str


class DecodedSpans(msgspec.Struct, frozen=True, kw_only=True):
    """What one OTLP message holds: the spans that are sound, and those that are not. One bad span spoils no other."""

    spans: list[Span]
    rejected: list[RejectedSpan]
