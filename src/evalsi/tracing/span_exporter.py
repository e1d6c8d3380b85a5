"""OpenTelemetry's exporter interface over our own sending: spans of the SDK become ours and go as OTLP in protobuf.

Its own module because it is all that knows the SDK's spans. What always holds: it never raises, whatever a span holds.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter as SpanExporterInterface
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import StatusCode

from evalsi.client.background_sender import ComeAgainError
from evalsi.client.plain_post import PlainPost
from evalsi.client.server_address import ServerAddress
from evalsi.core.figure import counted
from evalsi.traces import Span
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.span import SpanEvent

TRIES = 5
LONGEST_WAIT_S = 5.0
_STATUSES = {StatusCode.UNSET: 0, StatusCode.OK: 1, StatusCode.ERROR: 2}
logger = logging.getLogger(__name__)


class SpanExporter(SpanExporterInterface):
    """Sends to one server.

    Args:
        address: The server, and the project where it is not that of the key.
    """

    def __init__(self, address: ServerAddress) -> None:
        self._post = PlainPost(address)
        self._more = {"evalsi.project": address.project} if address.project else {}
        self._stopped = False
        self.dropped = 0
        """Spans that were not sent and will not be."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            body = encode_otlp_protobuf(_span(span, self._more) for span in spans)
            self._send(body)
        except Exception as error:
            self.dropped += len(spans)
            logger.warning("%s not sent to evalsi: %s", counted(len(spans), "span"), error)
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._stopped = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        del timeout_millis  # nothing waits here
        return True

    def _send(self, body: bytes) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                self._post.post("/v1/traces", body, "application/x-protobuf")
            except ComeAgainError as error:
                if attempt == TRIES or self._stopped:
                    raise
                time.sleep(min(error.wait_s, LONGEST_WAIT_S))
            else:
                return


def _span(span: ReadableSpan, more: Mapping[str, Any]) -> Span:
    context = span.get_span_context()
    assert context is not None
    scope = span.instrumentation_scope
    return Span(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_span_id=f"{span.parent.span_id:016x}" if span.parent is not None else "",
        name=span.name,
        kind=span.kind.value + 1,
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        attributes=_plain(span.attributes),
        events=[
            SpanEvent(name=event.name, time_ns=event.timestamp, attributes=_plain(event.attributes))
            for event in span.events
        ],
        status_code=_STATUSES[span.status.status_code],
        status_message=span.status.description or "",
        resource={**_plain(span.resource.attributes), **more},
        scope_name=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
        dropped_attributes=span.dropped_attributes,
    )


def _plain(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: _plain_value(value) for key, value in (attributes or {}).items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain_value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
