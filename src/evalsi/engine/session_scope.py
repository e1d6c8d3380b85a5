"""Session scope: records of one session, graded together once all of them are there."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns, Note
from evalsi.engine.measure import builder_for, measure_session
from evalsi.engine.workers import WorkerPool
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record

Ask = Callable[[BoundEvaluator, ColumnsBuilder, int, Sequence[Any]], Awaitable[None]]


class SessionGroups:
    """Records by session. Holds the records of every session until the end: memory grows with them."""

    def __init__(self, evaluators: Sequence[BoundEvaluator]) -> None:
        self.evaluators = tuple(evaluators)
        self._records: dict[str, list[Record]] = {}

    def add(self, records: Sequence[Record]) -> None:
        if not self.evaluators:
            return
        for record in records:
            session_id = session_of(record)
            if session_id is not None:
                self._records.setdefault(session_id, []).append(record)

    async def evaluate(self, ask: Ask, workers: WorkerPool) -> list[EvaluatorColumns]:
        """One row per session, in the order in which sessions first appeared."""
        done: list[EvaluatorColumns] = []
        for evaluator in self.evaluators:
            columns = await self._evaluate_one(evaluator, ask, workers)
            for row, session_id in enumerate(self._records):
                columns.notes.setdefault(row, Note(explanations={}, details={}, confidences={})).session_id = session_id
            done.append(columns)
        return done

    async def _evaluate_one(self, evaluator: BoundEvaluator, ask: Ask, workers: WorkerPool) -> EvaluatorColumns:
        sessions = list(self._records.values())
        if not evaluator.is_async and not evaluator.bounded:
            return await workers.measure_rows(evaluator, sessions)
        builder = builder_for(evaluator, len(sessions))
        for row, records in enumerate(sessions):
            if evaluator.is_async:
                await ask(evaluator, builder, row, (records,))
            else:
                measure_session(evaluator, builder, row, records)
        return builder.result


def session_of(record: Record) -> str | None:
    """The trajectory's session id, else `metadata.session_id`."""
    if record.trajectory is not None and record.trajectory.session_id:
        return record.trajectory.session_id
    session_id = record.metadata.get("session_id")
    return str(session_id) if session_id is not None else None
