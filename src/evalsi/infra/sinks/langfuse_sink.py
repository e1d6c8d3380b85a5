"""Scores in Langfuse, through its public API. Implements `ScoreSink`.

Langfuse keeps one score for each id, and finds it again by its id and the day of its timestamp: so the timestamp is that of
the traffic, which a later revision has too. Releases differ in whether they take many scores in one request or one: which
of the two this one does is found out by asking.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.portions import SentScore, origin_of, send_in_portions, worse
from evalsi.ports.score_sink import TAKEN, OutgoingScore, OutgoingScores, SinkReceipt

SCORES_AT_ONCE = 100
REQUESTS_AT_ONCE = 8
_PATH = "/api/public/scores"
_PARTLY = 207
_NOT_THERE = 404


class _Counts(msgspec.Struct):
    rejected: int = 0


class LangfuseSink:
    def __init__(self, endpoint: SinkEndpoint) -> None:
        self._endpoint = endpoint
        self._takes_lists: bool | None = None
        """None until it has taken something."""

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        return await send_in_portions(deliveries, self._post, at_once=SCORES_AT_ONCE, takes=_has_form)

    async def close(self) -> None:
        await self._endpoint.close()

    async def _post(self, scores: Sequence[SentScore]) -> SinkReceipt:
        receipt = await self._each([each for each in scores if each.is_withdrawn], self._delete)
        there = [each for each in scores if not each.is_withdrawn]
        return receipt if receipt.state == "trouble" or not there else worse(receipt, await self._put(there))

    async def _put(self, scores: Sequence[SentScore]) -> SinkReceipt:
        if self._takes_lists is not False:
            answer = await self._endpoint.ask("POST", _PATH, msgspec.json.encode([_score(each) for each in scores]))
            counts = answer.read(_Counts) if answer.status == _PARTLY else None
            if counts is not None and counts.rejected:
                self._takes_lists = True
                return SinkReceipt("refused", f"{self._endpoint.host} rejected the score")
            if answer.receipt.state != "refused" or self._takes_lists:
                self._takes_lists = self._takes_lists or answer.is_good or None
                return answer.receipt
        return await self._each(scores, self._post_one)

    async def _each(
        self, scores: Sequence[SentScore], ask: Callable[[SentScore], Awaitable[SinkReceipt]]
    ) -> SinkReceipt:
        """Asks one request for each, a few at once."""
        receipt = TAKEN
        for start in range(0, len(scores), REQUESTS_AT_ONCE):
            some = scores[start : start + REQUESTS_AT_ONCE]
            for found in await asyncio.gather(*(ask(each) for each in some)):
                receipt = worse(receipt, found)
            if receipt.state == "trouble":
                break
        return receipt

    async def _delete(self, score: SentScore) -> SinkReceipt:
        answer = await self._endpoint.ask("DELETE", f"{_PATH}/{score.score.id}")
        return TAKEN if answer.status == _NOT_THERE else answer.receipt

    async def _post_one(self, score: SentScore) -> SinkReceipt:
        answer = await self._endpoint.ask("POST", _PATH, msgspec.json.encode(_score(score)))
        if answer.is_good:
            self._takes_lists = False
        return answer.receipt


def _has_form(score: OutgoingScore) -> bool:
    return bool(score.trace_id or score.session_id) and (score.value is not None or bool(score.label))


def _score(sent: SentScore) -> dict[str, Any]:
    of, score, _ = sent
    value: Any = score.label
    kind = "CATEGORICAL"
    if score.value is not None:
        value, kind = score.value, "NUMERIC" if score.passed is None else "BOOLEAN"
    said: dict[str, Any] = {
        "id": score.id,
        "traceId": score.trace_id,
        "observationId": "" if score.is_of_trace else score.span_id,
        "sessionId": "" if score.trace_id else score.session_id,
        "name": score.metric,
        "value": value,
        "dataType": kind,
        "comment": score.explanation,
        "metadata": {
            **origin_of(of),
            "evalsi.evaluator": score.evaluator_ref,
        },
        "timestamp": datetime.fromtimestamp(of.began_ms / 1000, UTC).isoformat(),
    }
    return {name: entry for name, entry in said.items() if entry not in ("", None)}
