"""Events of ours as log records of OpenTelemetry, sent as OTLP over HTTP, and what a receiver's answer means for them.

Its own module because scores and the audit log go out the same way: what an event says is its sink's, how it travels is here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsi.core.version import __version__
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.ports.score_sink import SinkReceipt
from evalsi.schema.otlp_wire import damage, otlp_messages
from evalsi.traces.otlp_writing import resource_bytes, write_pairs

_INFO, _WARN = 9, 13
_PROTOBUF = {"Content-Type": "application/x-protobuf"}


@dataclass(frozen=True, kw_only=True)
class LogEvent:
    """One log record. `trace_id` and `span_id` are hexadecimal, "" for none."""

    name: str
    at_ns: int
    """Since 1970."""
    attributes: Mapping[str, Any]
    """Those that are "" or None are left out."""
    body: str = ""
    trace_id: str = ""
    span_id: str = ""
    is_warning: bool = False


async def send_logs(endpoint: SinkEndpoint, events: Sequence[LogEvent], service_name: str) -> SinkReceipt:
    """One request; what its answer means for all of the events."""
    answer = await endpoint.ask("POST", "/v1/logs", logs_request(events, service_name), _PROTOBUF)
    if answer.is_good and (rejected := _rejected(answer.body)):
        # Which ones it does not say, and the same ones would be rejected again.
        return SinkReceipt("refused", f"{endpoint.host} rejected {rejected:,} of {len(events):,} events")
    return answer.receipt


def logs_request(events: Iterable[LogEvent], service_name: str) -> bytes:
    """An `ExportLogsServiceRequest`."""
    messages = otlp_messages()
    request = messages.LogsRequest()
    group = request.resource_logs.add(resource=resource_bytes({"service.name": service_name}))
    scope = messages.Scope(name="evalsi", version=__version__).SerializeToString()
    records = group.scope_logs.add(scope=scope).log_records
    for event in events:
        record = records.add(
            time_unix_nano=event.at_ns,
            observed_time_unix_nano=event.at_ns,
            severity_number=_WARN if event.is_warning else _INFO,
            severity_text="WARN" if event.is_warning else "INFO",
            body=messages.AnyValue(string_value=event.body) if event.body else None,
            trace_id=bytes.fromhex(event.trace_id),
            span_id=bytes.fromhex(event.span_id),
            event_name=event.name,
        )
        said = {name: value for name, value in event.attributes.items() if value is not None and value != ""}
        write_pairs(record.attributes, said)
    return request.SerializeToString()


def _rejected(body: bytes) -> int:
    if not body.strip() or body.lstrip().startswith(b"{"):
        return 0  # a receiver that answers in JSON whatever it was asked in
    try:
        return otlp_messages().Response.FromString(body).partial_success.rejected_spans
    except damage():
        return 0
