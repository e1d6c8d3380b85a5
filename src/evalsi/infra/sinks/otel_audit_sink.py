"""The audit log as events of OpenTelemetry, sent as OTLP over HTTP. Implements `AuditSink`.

An entry is a log record. Its body is the entry as it is kept, in canonical JSON, so that whoever has it can check the chain
of hashes; its attributes are what people look for. An entry that is sent twice has the same `log.record.uid`. An entry
holds no secret: a key is there by its name and the begin of its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsi.core.canonical import canonical_json
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.otel_logs import LogEvent, send_logs
from evalsi.infra.sinks.portions import send_halving
from evalsi.ports.score_sink import SinkReceipt
from evalsi.schema import AuditEvent

EVENT = "evalsi.audit"


@dataclass(frozen=True, kw_only=True)
class OtelAuditSink:
    endpoint: SinkEndpoint
    service_name: str

    async def send(self, events: Sequence[AuditEvent]) -> Sequence[SinkReceipt]:
        return await send_halving(events, self._post)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, events: Sequence[AuditEvent]) -> SinkReceipt:
        return await send_logs(self.endpoint, [audit_event(each) for each in events], self.service_name)


def audit_event(event: AuditEvent) -> LogEvent:
    """An entry as a log record; what was denied is a warning."""
    return LogEvent(
        name=EVENT,
        at_ns=int(event.time.timestamp() * 1_000_000) * 1000 if event.time is not None else 0,
        is_warning=not event.allowed,
        body=canonical_json(event).decode(),
        attributes={
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
        },
    )
