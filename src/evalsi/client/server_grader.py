"""A server as the grader of a scoring job: records go there in batches, results come back as columns."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing

import msgspec

from evalsi.client.async_client import AsyncClient
from evalsi.client.result_columns import outputs_of, result_columns
from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.evaluate import GradedBatch, RecordBatch
from evalsi.results.rebuilt_summaries import RecordedEvaluator
from evalsi.schema import BoundRunEvaluator, EvaluateRequest, EvaluatorRef, Record, Scope

_WHOLE = (Scope.DATASET, Scope.SESSION)


class ServerGrader:
    """Implements `score.grader.Grader`.

    Batches are sent a few at once and come back in their order. Evaluators of whole sessions or datasets see the records
    in one call at the end, for which they are held: a server says how many it takes.

    Args:
        evaluators: What the server's evaluators say of themselves, under the names that their results bear.
        call: A call without records: who grades, whose it is, and which judge is asked.
        stopped: Asked between batches; once true no further one is sent.
    """

    def __init__(
        self,
        client: AsyncClient,
        evaluators: Sequence[BoundRunEvaluator],
        call: EvaluateRequest,
        stopped: Callable[[], bool],
    ) -> None:
        self._client = client
        self._stopped = stopped
        self._outputs = outputs_of(evaluators)
        self.evaluators = [RecordedEvaluator.of(bound) for bound in evaluators]
        kinds = list(zip(call.evaluators, self.evaluators, strict=True))
        self._each = _with(call, [ref for ref, about in kinds if about.scope not in _WHOLE])
        self._whole = _with(call, [ref for ref, about in kinds if about.scope in _WHOLE])
        self._held: list[Record] = []

    def observe(self, batch: RecordBatch) -> None:
        if self._whole.evaluators:
            self._held += batch.records

    async def grade(self, batches: Iterable[RecordBatch]) -> AsyncGenerator[GradedBatch]:
        first_rows: list[int] = []
        if not self._each.evaluators:
            for batch in self._unstopped(batches):
                self.observe(batch)
                yield GradedBatch(batch.first_row, batch.records, [])
            return

        async def chunks() -> AsyncGenerator[list[Record]]:
            for batch in self._unstopped(batches):
                self.observe(batch)
                first_rows.append(batch.first_row)
                yield batch.records

        async with aclosing(self._client.evaluate_chunks(chunks(), self._each)) as answers:
            async for records, answer in answers:
                yield GradedBatch(first_rows.pop(0), records, result_columns(answer.results, self._outputs))

    async def finish(self) -> list[EvaluatorColumns]:
        if not self._whole.evaluators:
            return []
        request = msgspec.structs.replace(self._whole, records=self._held)
        answer = await self._client.evaluate(request)
        return result_columns(answer.results, self._outputs)

    def _unstopped(self, batches: Iterable[RecordBatch]) -> Iterable[RecordBatch]:
        for batch in batches:
            if self._stopped():
                return
            yield batch


def _with(call: EvaluateRequest, evaluators: list[EvaluatorRef]) -> EvaluateRequest:
    return msgspec.structs.replace(call, evaluators=evaluators)
