"""Scores as events of OpenTelemetry, sent as OTLP over HTTP. Implements `ScoreSink`.

The events are those of the semantic conventions for generative AI, `gen_ai.evaluation.result`: log records with the trace
and span that were evaluated. Events are never changed, so a later revision is another event; an event that is sent twice
has the same `log.record.uid` (source: OpenTelemetry's registry of attributes, `log.record.uid`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalsi.core.canonical import digest
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.otel_logs import LogEvent, send_logs
from evalsi.infra.sinks.portions import SentScore, origin_of, send_in_portions
from evalsi.ports.score_sink import OutgoingScore, OutgoingScores, SinkReceipt

EVENT = "gen_ai.evaluation.result"
EVENTS_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class OtelSink:
    endpoint: SinkEndpoint
    service_name: str

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        return await send_in_portions(deliveries, self._post, at_once=EVENTS_AT_ONCE, takes=_has_form)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, scores: Sequence[SentScore]) -> SinkReceipt:
        return await send_logs(self.endpoint, [score_event(each) for each in scores], self.service_name)


def score_event(sent: SentScore) -> LogEvent:
    """A score as the semantic conventions have it."""
    of, score, is_withdrawn = sent
    return LogEvent(
        name=EVENT,
        at_ns=of.at_ms * 1_000_000,
        trace_id=score.trace_id,
        span_id=score.span_id if score.trace_id else "",
        attributes={
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
        },
    )


def _has_form(score: OutgoingScore) -> bool:
    return score.value is not None or bool(score.label or score.error_type)
