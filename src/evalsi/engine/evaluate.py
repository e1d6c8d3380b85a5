"""The one place where an evaluator meets a record.

Score, Run, Watch and Reward all come through `Evaluation`, so deadlines, concurrency, isolation and the meaning of a
failed score cannot differ between them. Computing evaluators that are bounded run right here, batch by batch; other
computing ones, of whatever scope, run in processes that can be killed; asking ones run concurrently. Batches overlap while anything waits,
and the number of records in flight is bounded, so memory does not grow with the dataset.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from evalsi.core.errors import DeadlineError, MeasurementError, crossing, described
from evalsi.core.giving_way import giving_way
from evalsi.core.own_time import OwnTime
from evalsi.core.own_traces import Span, span
from evalsi.core.python_module import who_exits
from evalsi.engine.carried_records import carried
from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns
from evalsi.engine.dataset_scope import DatasetFold
from evalsi.engine.isolated_fold import IsolatedFold
from evalsi.engine.measure import builder_for, measure, put_spans, record_failure, subjects_of
from evalsi.engine.panel import Panel
from evalsi.engine.session_scope import SessionGroups
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.evaluators.fences_used import noting_fences
from evalsi.evaluators.shared_reading import keeping_readings
from evalsi.schema import Fault, Record, Scope

STOP_GRACE_S = 5.0
"""Seconds that what is in flight has to be finished in once a job is stopped; a judge may hang for minutes."""
STOP_POLL_S = 0.25


class StopGrace:
    """Whether what is in flight when a job is stopped has had its time."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        self._ends_at: float | None = None

    def is_over(self) -> bool:
        """Asked often; the time runs from the first call that finds the job stopped."""
        if self._ends_at is None and self._stopped():
            self._ends_at = perf_counter() + STOP_GRACE_S
        return self._ends_at is not None and perf_counter() >= self._ends_at


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Consecutive records of a dataset; `first_row` counts from 0."""

    first_row: int
    records: list[Record]


@dataclass(frozen=True, slots=True)
class GradedBatch:
    """A batch and what every per-record evaluator of the panel said, in the panel's order."""

    first_row: int
    records: list[Record]
    columns: list[EvaluatorColumns]

    @property
    def computed_s(self) -> float:
        """Seconds that the evaluator took which computed longest."""
        return max((columns.duration_s for columns in self.columns), default=0.0)


class Evaluation:
    """One job's worth of grading.

    Args:
        panel: Who measures.
        baselines: For comparative evaluators: the record to compare with, by id.
        stopped: Asked between batches; once true no further batch is begun, and those in flight have `STOP_GRACE_S` to
            be finished.
        used_up: Asked before each question to a judge: why there is no budget for it, or None. What is not asked is
            CANCELLED.
    """

    def __init__(
        self,
        panel: Panel,
        *,
        baselines: Mapping[str, Record] | None = None,
        stopped: Callable[[], bool] = lambda: False,
        used_up: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.panel = panel
        self._used_up = used_up
        self._baselines = baselines or {}
        self._stopped = stopped
        self._folds = [DatasetFold(e) if e.bounded else IsolatedFold(e, panel) for e in panel.per_dataset]
        self._sessions = SessionGroups(panel.per_session)
        self._here = [e for e in panel.per_row if not e.is_async and e.bounded]
        self._isolated = [e for e in panel.per_row if not e.is_async and not e.bounded]
        self._asking = [e for e in panel.per_row if e.is_async]

    @property
    def evaluators(self) -> Sequence[BoundEvaluator]:
        """The panel's evaluators."""
        return self.panel.evaluators

    @property
    def waits(self) -> bool:
        """Whether grading needs an event loop: something asks, or may have to be killed."""
        return bool(self._isolated or self._asking or any(e.is_async for e in self.panel.per_session))

    @property
    def isolates(self) -> bool:
        """Whether a record may take long because something computes it, in a worker that can be killed."""
        return bool(self._isolated)

    @property
    def observes(self) -> bool:
        """Whether `observe` looks at records at all: somebody measures the whole dataset or sessions."""
        return bool(self._folds or self._sessions.evaluators)

    def observe(self, batch: RecordBatch) -> None:
        """Lets dataset and session evaluators see a batch. Called once per batch, in order, by `grade`; a job that
        resumes calls it for the batches it does not grade again. Inside an event loop, await `caught_up` first.
        """
        encoded: bytes | None = None
        for fold in self._folds:
            if isinstance(fold, IsolatedFold):
                encoded = encoded or carried(batch.records)
                fold.add(encoded, len(batch.records))
            else:
                fold.add(batch.records)
        self._sessions.add(batch.records)

    async def caught_up(self) -> None:
        """Returns once `observe` will not have to wait for a slow dataset evaluator."""
        for fold in self._folds:
            if isinstance(fold, IsolatedFold):
                await fold.caught_up()

    def lanes(self) -> "Lanes":
        """What the batches of this evaluation share; the caller closes them."""
        return Lanes(self.panel, self._used_up)

    def grade_now(self, batches: Iterable[RecordBatch]) -> Iterator[GradedBatch]:
        """Grades without an event loop; only where nothing `waits`."""
        assert not self.waits
        for batch in batches:
            if self._stopped():
                return
            self.observe(batch)
            baselines = self._baselines_of(batch)
            with keeping_readings():
                columns = [_measured(e, batch.records, baselines) for e in self.panel.per_row]
            yield GradedBatch(batch.first_row, batch.records, columns)

    async def grade(self, batches: Iterable[RecordBatch]) -> AsyncIterator[GradedBatch]:
        """Grades batches, several in flight at once, and yields each as it is finished.

        When the consumer stops iterating or is cancelled, everything in flight is cancelled and no worker remains.
        """
        if not self.waits:
            for graded in self.grade_now(batches):
                yield graded
                await asyncio.sleep(0)
            return
        lanes = self.lanes()
        source = iter(batches)
        window_rows = 4 * self.panel.concurrency
        flying: dict[asyncio.Task[GradedBatch], int] = {}
        exhausted = False
        grace = StopGrace(self._stopped)
        try:
            while True:
                while not exhausted and (not flying or sum(flying.values()) < window_rows):
                    batch = None if self._stopped() else next(source, None)
                    if batch is None:
                        exhausted = True
                        break
                    await self.caught_up()
                    self.observe(batch)
                    flying[asyncio.create_task(self.grade_one(batch, lanes))] = len(batch.records)
                if not flying or grace.is_over():
                    return
                finished, _ = await asyncio.wait(flying, timeout=STOP_POLL_S, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(finished, key=lambda done: done.result().first_row):
                    del flying[task]
                    yield task.result()
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)
            await lanes.close()

    async def finish(self) -> list[EvaluatorColumns]:
        """The results of dataset scope (one row each) and session scope (one row per session), once all is observed."""
        results = [await fold.reduced() if isinstance(fold, IsolatedFold) else fold.reduce() for fold in self._folds]
        if self._sessions.evaluators:
            lanes = self.lanes()
            try:
                results += await self._sessions.evaluate(lanes.ask, lanes.workers)
            finally:
                await lanes.close()
        return results

    def finish_now(self) -> list[EvaluatorColumns]:
        """As `finish`, where nothing waits."""
        if not self._sessions.evaluators:
            return [fold.reduce() for fold in self._folds]
        return asyncio.run(self.finish())

    def _baselines_of(self, batch: RecordBatch) -> list[Record | None] | None:
        if not self._baselines:
            return None
        return [self._baselines.get(record.id) for record in batch.records]

    async def grade_one(self, batch: RecordBatch, lanes: "Lanes") -> GradedBatch:
        """Grades one batch, for a job that brings its own batches and order. Does not `observe` it."""
        baselines = self._baselines_of(batch)
        done: dict[str, EvaluatorColumns] = {}
        with keeping_readings():
            for evaluator in self._here:
                done[evaluator.name] = _measured(evaluator, batch.records, baselines)
                await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            isolated = [
                (
                    e.name,
                    group.create_task(_traced(e, batch.records, lanes.workers.measure(e, batch.records, baselines))),
                )
                for e in self._isolated
            ]
            asking = [
                (e.name, group.create_task(_traced(e, batch.records, lanes.ask_all(e, batch.records, baselines))))
                for e in self._asking
            ]
        done |= {name: task.result() for name, task in (*isolated, *asking)}
        return GradedBatch(batch.first_row, batch.records, [done[e.name] for e in self.panel.per_row])


class Lanes:
    """What the batches in flight share: the slots for asking and the workers. `close` leaves no worker behind."""

    def __init__(self, panel: Panel, used_up: Callable[[], str | None] = lambda: None) -> None:
        from evalsi.engine.workers import WorkerPool

        self._panel = panel
        self._used_up = used_up
        self._slots = asyncio.Semaphore(panel.concurrency)
        self.workers = WorkerPool(panel)

    async def close(self) -> None:
        await self.workers.close()

    async def ask_all(
        self, evaluator: BoundEvaluator, records: Sequence[Record], baselines: Sequence[Record | None] | None
    ) -> EvaluatorColumns:
        builder = builder_for(evaluator, len(records))
        async with asyncio.TaskGroup() as group:
            for row, record in enumerate(records):
                baseline = baselines[row] if baselines is not None else None
                subjects = subjects_of(evaluator, builder, row, record, baseline)
                if subjects is None:
                    continue
                if evaluator.scope is Scope.SPAN:
                    group.create_task(self._ask_spans(evaluator, builder, row, record))
                else:
                    group.create_task(self.ask(evaluator, builder, row, subjects))
        return builder.result

    async def ask(self, evaluator: BoundEvaluator, builder: ColumnsBuilder, row: int, subjects: Sequence[Any]) -> None:
        """One value of an evaluator, sync or async, into its row; whatever goes wrong costs that row alone."""
        async with self._slots:
            reason = self._used_up() if _asks_judge(evaluator) else None
            if reason is not None:
                builder.cancel(row, reason)
                return
            started = perf_counter()
            with noting_fences() as fences:
                try:
                    builder.put(row, await self._value(evaluator, subjects))
                except Exception as error:
                    record_failure(builder, row, error)
            note = builder.note(row)
            note.duration_s, note.isolation = perf_counter() - started, fences.weakest

    async def _ask_spans(self, evaluator: BoundEvaluator, builder: ColumnsBuilder, row: int, record: Record) -> None:
        assert record.trajectory is not None
        async with self._slots:
            reason = self._used_up() if _asks_judge(evaluator) else None
            if reason is not None:
                builder.cancel(row, reason)
                return
            with noting_fences() as fences:
                try:
                    values = [(step, await self._value(evaluator, (step, record))) for step in record.trajectory.steps]
                    put_spans(builder, row, values)
                except Exception as error:
                    record_failure(builder, row, error)
            if fences.weakest is not None:
                builder.note(row).isolation = fences.weakest

    async def _value(self, evaluator: BoundEvaluator, subjects: Sequence[Any]) -> Any:
        assert evaluator.call is not None
        if not evaluator.is_async:
            with crossing(evaluator.name):
                return evaluator.call(*subjects)
        deadline_s = self._panel.asking_deadline_s if _asks_judge(evaluator) else self._panel.deadline_s
        deadline = OwnTime(deadline_s)
        try:
            async with deadline:
                return await _foreign(evaluator.call(*subjects), deadline_s)
        except TimeoutError as error:
            if deadline.expired():
                fault = Fault.JUDGE if _asks_judge(evaluator) else Fault.EVALUATOR
                raise DeadlineError(f"no value within {deadline_s:g} s", fault=fault) from None
            raise MeasurementError(f"TimeoutError: {error}") from error


def _measured(
    evaluator: BoundEvaluator, records: Sequence[Record], baselines: Sequence[Record | None] | None
) -> EvaluatorColumns:
    with _span_of(evaluator, records):
        return measure(evaluator, records, baselines)


async def _traced(
    evaluator: BoundEvaluator, records: Sequence[Record], work: Awaitable[EvaluatorColumns]
) -> EvaluatorColumns:
    with _span_of(evaluator, records):
        return await work


def _span_of(evaluator: BoundEvaluator, records: Sequence[Record]) -> AbstractContextManager[Span]:
    return span("evaluator", {"evalsi.evaluator": evaluator.ref, "evalsi.records": len(records)})


def _asks_judge(evaluator: BoundEvaluator) -> bool:
    return "judge" in evaluator.definition.requires


async def _foreign(value: Awaitable[Any], deadline_s: float) -> Any:
    """What foreign code gives. What it raises to end the task or the process is a failure of its own row.

    A cancellation that we asked for passes; our own Ctrl-C does too.
    """
    try:
        return await giving_way(value, deadline_s)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise MeasurementError("the evaluator cancelled itself") from None
    except SystemExit as stop:
        raise MeasurementError(who_exits(stop)) from None
    except GeneratorExit as error:
        raise MeasurementError(f"the evaluator raised {described(error)}") from None
