"""Scores as annotations of spans and sessions in Arize Phoenix. Implements `ScoreSink`.

Phoenix keeps one annotation for each span, name and identifier, so the id of a score as the identifier makes a second
sending an update. It is asked to answer once it has stored them, and says then which spans it does not know (yet). What is
withdrawn is updated to a label that says so, without a score: to delete, one would have to know its project there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.portions import SentScore, origin_of, send_in_portions
from evalsi.ports.score_sink import OutgoingScore, OutgoingScores, SinkReceipt

ANNOTATIONS_AT_ONCE = 200
_RESERVED = "note"
"""A name that Phoenix keeps for itself."""


@dataclass(frozen=True, kw_only=True)
class PhoenixSink:
    endpoint: SinkEndpoint

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        return await send_in_portions(deliveries, self._post, at_once=ANNOTATIONS_AT_ONCE, takes=_has_form)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _post(self, scores: Sequence[SentScore]) -> SinkReceipt:
        of_spans = [each for each in scores if each.score.trace_id]
        of_sessions = [each for each in scores if not each.score.trace_id]
        for path, key, some in (
            ("/v1/span_annotations", "span_id", of_spans),
            ("/v1/session_annotations", "session_id", of_sessions),
        ):
            if not some:
                continue
            body = msgspec.json.encode({"data": [_annotation(each, key) for each in some]})
            answer = await self.endpoint.ask("POST", f"{path}?sync=true", body)
            if answer.status == 404:
                # What is not there, one of the spans or (in an old release) the path itself, only the text would tell.
                return SinkReceipt("missing", f"{self.endpoint.host} does not know the {key.removesuffix('_id')}")
            if not answer.is_good:
                return answer.receipt
        return SinkReceipt("taken")


def _has_form(score: OutgoingScore) -> bool:
    about = score.span_id if score.trace_id else score.session_id
    return bool(about) and (score.value is not None or bool(score.label))


def _annotation(sent: SentScore, key: str) -> dict[str, Any]:
    of, score, _ = sent
    result: dict[str, Any] = {"score": score.value, "label": score.name_of_value, "explanation": score.explanation}
    return {
        key: score.span_id if key == "span_id" else score.session_id,
        "name": score.metric if score.metric != _RESERVED else f"evalsi.{score.metric}",
        "annotator_kind": "LLM" if score.is_judged else "CODE",
        "result": {name: value for name, value in result.items() if value not in (None, "")},
        "metadata": {
            **origin_of(of),
            "evalsi.evaluator": score.evaluator_ref,
        },
        "identifier": score.id,
    }
