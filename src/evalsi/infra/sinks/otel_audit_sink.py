"""The audit log as events of OpenTelemetry, sent as OTLP over HTTP. Implements `AuditSink`.

An entry is a log record. Its body is the entry as it is kept, in canonical JSON, so that whoever has it can check the chain
of hashes; its attributes are what people look for. An entry that is sent twice has the same `log.record.uid`. An entry
holds no secret: a key is there by its name and the begin of its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalsi.core.canonical import canonical_json
from evalsi.core.version import __version__
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.otel_sink import receipt_of_logs
from evalsi.infra.sinks.portions import send_halving
from evalsi.ports.score_sink import SinkReceipt
from evalsi.schema import AuditEvent
from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces.otlp_writing import resource_bytes, write_pairs

EVENT = "evalsi.audit"
_INFO, _WARN = 9, 13
_PROTOBUF = {"Content-Type": "application/x-protobuf"}


@dataclass(frozen=True, kw_only=True)
class OtelAuditSink:
    endpoint: SinkEndpoint
    service_name: str

    async def send(self, events: Sequence[AuditEvent]) -> Sequence[SinkReceipt]:
        return await send_halving(events, self._post)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, events: Sequence[AuditEvent]) -> SinkReceipt:
        body = audit_request(events, self.service_name)
        return receipt_of_logs(await self.endpoint.ask("POST", "/v1/logs", body, _PROTOBUF), self.endpoint, len(events))


def audit_request(events: Sequence[AuditEvent], service_name: str) -> bytes:
    """An `ExportLogsServiceRequest`."""
    messages = otlp_messages()
    request = messages.LogsRequest()
    group = request.resource_logs.add(resource=resource_bytes({"service.name": service_name}))
    scope = messages.Scope(name="evalsi", version=__version__).SerializeToString()
    records = group.scope_logs.add(scope=scope).log_records
    for event in events:
        at_ns = int(event.time.timestamp() * 1_000_000) * 1000 if event.time is not None else 0
        record = records.add(
            time_unix_nano=at_ns,
            observed_time_unix_nano=at_ns,
            severity_number=_INFO if event.allowed else _WARN,
            severity_text="INFO" if event.allowed else "WARN",
            body=messages.AnyValue(string_value=canonical_json(event).decode()),
            event_name=EVENT,
        )
        write_pairs(record.attributes, _attributes(event))
    return request.SerializeToString()


def _attributes(event: AuditEvent) -> dict[str, Any]:
    said: dict[str, Any] = {
        "log.record.uid": event.hash[:32],
        "client.address": event.source,
        "evalsi.project": event.project,
        "evalsi.audit.sequence": event.sequence,
        "evalsi.audit.principal": event.principal,
        "evalsi.audit.action": event.action,
        "evalsi.audit.resource": event.resource,
        "evalsi.audit.allowed": event.allowed,
        "evalsi.audit.reason": event.reason,
        "evalsi.audit.procedure": event.procedure,
        "evalsi.audit.request_id": event.request_id,
        "evalsi.audit.hash": event.hash,
    }
    return {name: value for name, value in said.items() if value != ""}
