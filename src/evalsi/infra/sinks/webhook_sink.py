"""Scores to an address that takes them as JSON, signed as alerts are. Implements `ScoreSink`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock
from evalsi.core.errors import EvalsiError
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.portions import SentScore, send_in_portions
from evalsi.infra.webhooks import signature
from evalsi.ports.score_sink import TAKEN, OutgoingScores, SinkReceipt

EVENT = "trace.scored"
RUN_EVENT = "run.scored"
SCORES_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class WebhookSink:
    """Args: secret: What messages are signed with; empty for no signature. Raises EvalsiError."""

    endpoint: SinkEndpoint
    secret: Callable[[], str]
    clock: Clock

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        return await send_in_portions(deliveries, self._post, at_once=SCORES_AT_ONCE)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, scores: Sequence[SentScore]) -> SinkReceipt:
        receipt = TAKEN
        for event, some in (
            (EVENT, [each for each in scores if not each.of.run_id]),
            (RUN_EVENT, [each for each in scores if each.of.run_id]),
        ):
            if some and receipt.state == "taken":
                receipt = await self._post_event(event, some)
        return receipt

    async def _post_event(self, event: str, scores: Sequence[SentScore]) -> SinkReceipt:
        told = [_told(each) for each in scores]
        key = digest([[each.of.revision, each.score.id] for each in scores]).removeprefix("sha256:")[:32]
        body = msgspec.json.encode({"id": key, "type": event, "scores": told})
        headers = {"Evalsi-Delivery": key, "Evalsi-Event": event, "Idempotency-Key": key}
        try:
            secret = self.secret()
        except EvalsiError as error:
            return SinkReceipt("trouble", error.message)
        if secret:
            headers["Evalsi-Signature"] = signature(body, secret, int(self.clock.now().timestamp()))
        return (await self.endpoint.ask("POST", "", body, headers)).receipt


def _told(sent: SentScore) -> dict[str, Any]:
    of, score, is_withdrawn = sent
    value: Any = score.passed if score.passed is not None else score.number
    if is_withdrawn:
        value = None
    elif value is None:
        value = score.label if score.label is not None else score.structured
    said: dict[str, Any] = {
        "id": score.id,
        "project": of.project,
        "policy": "" if of.run_id else of.policy,
        "run_id": of.run_id,
        "record_id": of.record_id,
        "trial": of.trial or None,
        "trace_id": score.trace_id,
        "span_id": score.span_id,
        "session_id": score.session_id,
        "revision": of.revision,
        "at": datetime.fromtimestamp(of.at_ms / 1000, UTC).isoformat().replace("+00:00", "Z"),
        "metric": score.metric,
        "evaluator": score.evaluator_ref,
        "value": value,
        "explanation": score.explanation,
        "response_id": score.response_id,
        "error_type": score.error_type,
        "error": score.error,
        "withdrawn": is_withdrawn or None,
    }
    return {name: entry for name, entry in said.items() if entry not in ("", None) or name == "value"}
