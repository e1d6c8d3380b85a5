"""The pipeline of a run that asks a target: askers take rows, a keeper writes answers down, graders take what is there.

Its own module because everything that happens at once in a run happens here, on one event loop. What always holds: an
answer is in the store before it is graded, and only the rows in flight are in memory.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import msgspec

from evalsi.core.errors import MeasurementError, ProviderError
from evalsi.core.meanwhile import load_meanwhile
from evalsi.engine.columns import EvaluatorColumns, assemble
from evalsi.engine.evaluate import STOP_POLL_S, GradedBatch, Lanes, RecordBatch, StopGrace
from evalsi.engine.summary import LOADED_LATER
from evalsi.engine.unmeasured import cancelled_columns, failed_columns
from evalsi.ports.target import Answer, Target, TargetTask
from evalsi.run.execution import CHUNK_ROWS, Execution, chunk_span
from evalsi.run.kept_answers import decode_outcome, encode_outcome, is_final
from evalsi.schema import (
    ErrorKind,
    Fault,
    Record,
)

_OF_A_MODEL = ("openai-compatible", "anthropic")
"""Connectors whose address and model are the same for every question."""
LEAST_UNWRITTEN_CHUNKS = 4
"""Graded chunks that may wait for the store before no further question is asked: this many, or all that can be in flight."""


_Part: TypeAlias = tuple[list[int], list[EvaluatorColumns]]
"""Places in a chunk, and what was said about them."""


@dataclass(slots=True)
class _Chunk:
    """Consecutive rows on their way: records get their outputs, parts of columns arrive in any order."""

    batch: RecordBatch
    left: int
    kept: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """By row: what an earlier try was answered."""
    parts: list[_Part] = field(default_factory=list[_Part])


@dataclass(slots=True)
class _Arrival:
    """The outcome of one row. `fresh` says that it was asked just now and is not in the store yet."""

    chunk: _Chunk
    place: int
    outcome: Answer | MeasurementError | None
    """None for a row that was cancelled."""
    fresh: bool


class Asking:
    """The pipeline: askers take rows, a keeper writes answers down in groups, graders take whatever is there."""

    def __init__(self, execution: Execution, target: Target) -> None:
        self._run = execution
        self._job = execution.job
        self._target = target
        self._recorder = execution.recorder
        self._arrived: list[_Arrival] = []
        self._bell = asyncio.Event()
        self._in_hand = 0
        """Rows that were taken and are not graded yet."""
        self._most_in_hand = 4 * self._job.concurrency + 2 * CHUNK_ROWS
        self._most_unwritten = max(LEAST_UNWRITTEN_CHUNKS, 2 * self._job.concurrency // CHUNK_ROWS)
        self._unwritten = 0
        """Chunks that are graded and not in the store yet."""
        self._room = asyncio.Event()
        self._tasks = self._pending_rows()
        self._askers = 0
        self._waiting_for_others: set[asyncio.Task[None]] = set()
        """Those who ask the target, and those who grade; not those who write."""
        self._refusal: MeasurementError | None = None
        """Why asking on is useless: the target does not take our key, or there is no such model."""
        self._recorder.asked = self._recorder.done

    async def run(self) -> None:
        """Asks and grades until every row is settled, or until the run is stopped.

        Raises: ProviderError: the target refuses our key, or knows no such model or path. What was answered before is kept, and the run can be continued.
        """
        lanes = self._run.evaluation.lanes()
        giving_up = asyncio.create_task(self._give_up_when_stopped())
        loading = asyncio.create_task(load_meanwhile((*LOADED_LATER, *self._job.later)))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._job.concurrency):
                    self._askers += 1
                    self._waiting_for_others.add(group.create_task(self._ask()))
                group.create_task(self._keep_and_grade(group, lanes))
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        finally:
            giving_up.cancel()
            loading.cancel()
            await lanes.close()
        if self._refusal is not None:
            raise self._refusal

    async def _give_up_when_stopped(self) -> None:
        """Once a stopped run has had its grace, ends what still waits for a target or a judge. What was answered is stored."""
        grace = StopGrace(self._job.stopped)
        while not grace.is_over():  # noqa: ASYNC110 - whether to stop can only be asked
            await asyncio.sleep(STOP_POLL_S)
        for task in self._waiting_for_others:
            task.cancel()

    def _pending_rows(self) -> Iterator[tuple[_Chunk, int]]:
        for batch, is_stored in self._run.batches(lambda: CHUNK_ROWS):
            if self._job.stopped():
                return
            if is_stored:
                self._run.observe_stored(batch)
                continue
            chunk = _Chunk(batch, len(batch.records), self._kept_answers(batch))
            for place in range(len(batch.records)):
                yield chunk, place

    def _kept_answers(self, batch: RecordBatch) -> dict[int, bytes]:
        if not self._recorder.is_continued:
            return {}
        rows = range(batch.first_row, batch.first_row + len(batch.records))
        return dict(self._job.store.answers(self._recorder.run_id, rows))

    async def _ask(self) -> None:
        try:
            await self._ask_rows()
        finally:
            self._askers -= 1
            self._bell.set()

    async def _ask_rows(self) -> None:
        while True:
            # Room first and the row then, so that no row is held back while later ones overtake it.
            while self._in_hand >= self._most_in_hand or self._unwritten >= self._most_unwritten:
                self._room.clear()
                await self._room.wait()
            if self._job.stopped() or self._refusal is not None:
                return
            chunk, place = next(self._tasks, (None, 0))
            if chunk is None:
                return
            self._in_hand += 1
            row = chunk.batch.first_row + place
            body = chunk.kept.pop(row, None)
            if body is not None:
                self._run.recalled_answers += 1
                self._arrive(_Arrival(chunk, place, decode_outcome(body), fresh=False))
                continue
            if self._run.limits.asking_ended() is not None:
                self._arrive(_Arrival(chunk, place, None, fresh=False))
                await asyncio.sleep(0)
                continue
            outcome = await self._outcome(chunk.batch.records[place])
            if isinstance(outcome, ProviderError) and self._refuses_all(outcome):
                if outcome.status == 404:
                    outcome.hint = "look at spec.target: base_url, which often ends in /v1, and model"
                self._refusal = outcome
                return
            self._arrive(_Arrival(chunk, place, outcome, fresh=True))

    def _refuses_all(self, error: ProviderError) -> bool:
        """Whether every other question would be refused alike: for our key, or for a model or path that was never there."""
        if error.kind is ErrorKind.TARGET_AUTH:
            return True
        never_answered = not self._run.watch.total().requests and not self._run.recalled_answers
        return error.status == 404 and self._target.identity["connector"] in _OF_A_MODEL and never_answered

    async def _outcome(self, record: Record) -> Answer | MeasurementError:
        assert record.provenance is not None
        assert record.provenance.run is not None
        try:
            answer = await self._target.answer(TargetTask(record=record, trial=record.provenance.run.trial))
        except MeasurementError as error:
            return error
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            return MeasurementError(text, kind=ErrorKind.INTERNAL, fault=Fault.PLATFORM)
        cost_usd = answer.usage.cost_usd
        if cost_usd is not None or (cost_usd := self._job.price(answer.model, answer.usage)) is None:
            return answer
        return msgspec.structs.replace(answer, usage=msgspec.structs.replace(answer.usage, cost_usd=cost_usd))

    def _arrive(self, arrival: _Arrival) -> None:
        if isinstance(arrival.outcome, Answer):
            self._run.watch.add(arrival.outcome.usage)
        elif isinstance(arrival.outcome, ProviderError):
            self._run.watch.add_failed(arrival.outcome.requests)
        self._arrived.append(arrival)
        self._bell.set()

    async def _keep_and_grade(self, group: asyncio.TaskGroup, lanes: Lanes) -> None:
        store, run_id = self._job.store, self._recorder.run_id
        while True:
            await self._bell.wait()
            self._bell.clear()
            arrived, self._arrived = self._arrived, []
            if not arrived:
                if not self._askers:
                    return
                continue
            bodies = [
                (each.chunk.batch.first_row + each.place, encode_outcome(each.outcome))
                for each in arrived
                if each.fresh and each.outcome is not None and is_final(each.outcome)
            ]
            if bodies:
                await asyncio.to_thread(store.keep_answers, run_id, bodies)
            self._recorder.asked = (self._recorder.asked or 0) + sum(each.outcome is not None for each in arrived)
            for chunk, members in _by_chunk(arrived):
                group.create_task(self._grade(chunk, members, lanes))
            self._recorder.report()
            if not self._askers:
                self._bell.set()

    async def _grade(self, chunk: _Chunk, members: list[_Arrival], lanes: Lanes) -> None:
        answered = [each for each in members if isinstance(each.outcome, Answer)]
        failed = [each for each in members if isinstance(each.outcome, MeasurementError)]
        cancelled = [each for each in members if each.outcome is None]
        records = chunk.batch.records
        parts: list[_Part] = []
        for each in answered:
            assert isinstance(each.outcome, Answer)
            records[each.place] = with_answer(records[each.place], each.outcome)
        if answered:
            batch = RecordBatch(chunk.batch.first_row, [records[each.place] for each in answered])
            graded = await self._graded(batch, lanes)
            parts.append(([each.place for each in answered], graded.columns))
        if failed:
            errors = [each.outcome for each in failed if isinstance(each.outcome, MeasurementError)]
            parts.append(([each.place for each in failed], failed_columns(self._job.panel, errors)))
        if cancelled:
            reason = self._run.limits.reached or "the run was stopped"
            columns = cancelled_columns(self._job.panel, len(cancelled), reason)
            parts.append(([each.place for each in cancelled], columns))
        chunk.parts += parts
        for places, columns in parts:
            self._recorder.note([records[place] for place in places], columns)
        self._recorder.report()
        chunk.left -= len(members)
        if not chunk.left:
            await self._finish(chunk)
        self._in_hand -= len(members)
        self._room.set()

    async def _graded(self, batch: RecordBatch, lanes: Lanes) -> GradedBatch:
        task = asyncio.current_task()
        assert task is not None
        self._waiting_for_others.add(task)
        try:
            return await self._run.evaluation.grade_one(batch, lanes)
        finally:
            self._waiting_for_others.discard(task)

    async def _finish(self, chunk: _Chunk) -> None:
        rows = len(chunk.batch.records)
        columns = [
            assemble([(places, columns[lane]) for places, columns in chunk.parts], rows)
            for lane in range(len(self._job.panel.per_row))
        ]
        graded = GradedBatch(chunk.batch.first_row, chunk.batch.records, columns)
        self._unwritten += 1
        with chunk_span(graded):
            await asyncio.to_thread(self._recorder.write, graded)
        await self._run.evaluation.caught_up()
        self._unwritten -= 1
        self._recorder.count(graded)
        self._run.observe_in_order(chunk.batch)


def with_answer(record: Record, answer: Answer) -> Record:
    """The record with what the target said."""
    usage = answer.usage
    if answer.time_to_first_token_s is not None:
        usage = msgspec.structs.replace(usage, time_to_first_token=answer.time_to_first_token_s)
    return msgspec.structs.replace(
        record,
        output=answer.output,
        usage=usage,
        trajectory=answer.trajectory or record.trajectory,
        stop_reason=answer.stop_reason,
        notes=[*record.notes, *answer.notes],
    )


def _by_chunk(arrived: list[_Arrival]) -> list[tuple[_Chunk, list[_Arrival]]]:
    groups: dict[int, tuple[_Chunk, list[_Arrival]]] = {}
    for each in arrived:
        groups.setdefault(id(each.chunk), (each.chunk, []))[1].append(each)
    return list(groups.values())


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first plain error inside nested groups."""
    first = errors.exceptions[0]
    return _first(cast("BaseExceptionGroup[BaseException]", first)) if isinstance(first, BaseExceptionGroup) else first
