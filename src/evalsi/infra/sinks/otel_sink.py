"""Scores as events of OpenTelemetry, sent as OTLP over HTTP. Implements `ScoreSink`.

The events are those of the semantic conventions for generative AI, `gen_ai.evaluation.result`: log records with the trace
and span that were evaluated. Events are never changed, so a later revision is another event; an event that is sent twice
has the same `log.record.uid` (source: OpenTelemetry's registry of attributes, `log.record.uid`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalsi.core.canonical import digest
from evalsi.core.version import __version__
from evalsi.infra.sinks.endpoint import SinkAnswer, SinkEndpoint
from evalsi.infra.sinks.portions import SentScore, origin_of, send_in_portions
from evalsi.ports.score_sink import OutgoingScore, OutgoingScores, SinkReceipt
from evalsi.schema.otlp_wire import damage, otlp_messages
from evalsi.traces.otlp_writing import resource_bytes, write_pairs

EVENT = "gen_ai.evaluation.result"
EVENTS_AT_ONCE = 500
_INFO = 9
_PROTOBUF = {"Content-Type": "application/x-protobuf"}


@dataclass(frozen=True, kw_only=True)
class OtelSink:
    endpoint: SinkEndpoint
    service_name: str

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        return await send_in_portions(deliveries, self._post, at_once=EVENTS_AT_ONCE, takes=_has_form)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, scores: Sequence[SentScore]) -> SinkReceipt:
        answer = await self.endpoint.ask("POST", "/v1/logs", logs_request(scores, self.service_name), _PROTOBUF)
        return receipt_of_logs(answer, self.endpoint, len(scores))


def receipt_of_logs(answer: SinkAnswer, endpoint: SinkEndpoint, count: int) -> SinkReceipt:
    """What an answer to `count` log records means for all of them."""
    if answer.is_good and (rejected := _rejected(answer.body)):
        # Which ones it does not say, and the same ones would be rejected again.
        return SinkReceipt("refused", f"{endpoint.host} rejected {rejected:,} of {count:,} events")
    return answer.receipt


def logs_request(scores: Sequence[SentScore], service_name: str) -> bytes:
    """An `ExportLogsServiceRequest`."""
    messages = otlp_messages()
    request = messages.LogsRequest()
    group = request.resource_logs.add(resource=resource_bytes({"service.name": service_name}))
    scope = messages.Scope(name="evalsi", version=__version__).SerializeToString()
    records = group.scope_logs.add(scope=scope).log_records
    for sent in scores:
        of, score, _ = sent
        record = records.add(
            time_unix_nano=of.at_ms * 1_000_000,
            observed_time_unix_nano=of.at_ms * 1_000_000,
            severity_number=_INFO,
            severity_text="INFO",
            trace_id=bytes.fromhex(score.trace_id),
            span_id=bytes.fromhex(score.span_id if score.trace_id else ""),
            event_name=EVENT,
        )
        write_pairs(record.attributes, _attributes(sent))
    return request.SerializeToString()


def _attributes(sent: SentScore) -> dict[str, Any]:
    of, score, is_withdrawn = sent
    said: dict[str, Any] = {
        "gen_ai.evaluation.name": score.metric,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.name_of_value,
        "gen_ai.evaluation.explanation": score.explanation or score.error,
        "gen_ai.response.id": score.response_id,
        "gen_ai.conversation.id": score.session_id,
        "error.type": score.error_type,
        "log.record.uid": digest([score.id, of.revision]).removeprefix("sha256:")[:32],
        "evalsi.score.id": score.id,
        **origin_of(of),
        "evalsi.evaluator": score.evaluator_ref,
        "evalsi.withdrawn": is_withdrawn or None,
    }
    return {name: value for name, value in said.items() if value not in ("", None)}


def _has_form(score: OutgoingScore) -> bool:
    return score.value is not None or bool(score.label or score.error_type)


def _rejected(body: bytes) -> int:
    if not body.strip() or body.lstrip().startswith(b"{"):
        return 0  # a receiver that answers in JSON whatever it was asked in
    try:
        return otlp_messages().Response.FromString(body).partial_success.rejected_spans
    except damage():
        return 0
