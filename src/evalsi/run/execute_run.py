"""The job Run: ask a target about every record, grade each answer as soon as it is there, write everything down.

A row is one record in one trial. An answer is in the store before it is graded; what infrastructure failures cost is
asked again when a run is continued, what was answered is not. Rows are stored in chunks of consecutive rows, so that a
killed run is continued exactly, and only the rows in flight are in memory.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock
from evalsi.core.errors import InvalidDataError, MeasurementError, ProviderError
from evalsi.datasets import Dataset
from evalsi.engine.columns import ERROR, EvaluatorColumns, assemble
from evalsi.engine.evaluate import STOP_POLL_S, Evaluation, GradedBatch, Lanes, RecordBatch, StopGrace
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.engine.unmeasured import cancelled_columns, failed_columns
from evalsi.ports.run_store import RunStore
from evalsi.ports.target import Answer, Target, TargetTask
from evalsi.results.graded_run import GradedRun
from evalsi.results.portions import portions, stored_beginning
from evalsi.results.recorder import Progress, RunRecorder, Work, total_usage
from evalsi.results.stored_rows import GradedRows, rows_of
from evalsi.run.budget_watch import BudgetWatch, RunBudget
from evalsi.run.gates.decide import GatePlan, decide_gates
from evalsi.run.kept_answers import decode_outcome, encode_outcome, is_final, is_lasting
from evalsi.schema import (
    DatasetManifest,
    ErrorKind,
    Fault,
    Gate,
    JudgeManifest,
    Provenance,
    Record,
    RunManifest,
    RunProvenance,
    Usage,
)

CHUNK_ROWS = 128
LEAST_UNWRITTEN_CHUNKS = 4
"""Graded chunks that may wait for the store before no further question is asked: this many, or all that can be in flight."""
RECORDED_CHUNK_ROWS = 1024
"""Rows per chunk where the outputs are in the dataset and nothing waits."""


@dataclass(frozen=True, kw_only=True)
class RunJob:
    """Whom to ask what, who grades, and within which limits."""

    target: Target | None
    """None where the dataset brings its outputs along."""
    dataset: Dataset
    panel: Panel
    plan: SummaryPlan
    store: RunStore
    clock: Clock
    manifest: RunManifest
    trials: int = 1
    concurrency: int = 16
    """Questions to the target in flight at once."""
    budget: RunBudget = field(default_factory=RunBudget)
    gates: Sequence[Gate] = ()
    gate_plan: GatePlan = field(default_factory=GatePlan)
    open_baseline: Callable[[str], GradedRun] | None = None
    """Opens what gates compare with."""
    price: Callable[[str, Usage], float | None] = lambda _model, _usage: None
    """US dollars that an answer cost, where the target does not say so itself."""
    resume: bool = True
    continues: str = ""
    """Continue this run and no other."""
    retry_errors: bool = False
    """Ask again, when a run is continued, where the infrastructure failed and that was stored."""
    judges: Callable[[], list[JudgeManifest]] = list
    on_progress: Callable[[Progress], None] | None = None
    stopped: Callable[[], bool] = lambda: False
    close: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, kw_only=True)
class Executed:
    """How a run ended."""

    run: GradedRun
    interrupted: bool
    resumed_rows: int
    budget_reached: str | None

    @property
    def nothing_scored(self) -> bool:
        return not any(summary.n for summary in self.run.summaries)


def execute_run_now(job: RunJob) -> Executed:
    """Runs the job from ordinary code.

    Raises:
        ProviderError, MeasurementError: the target cannot be reached; nothing was spent.
        InvalidDataError: the dataset has no record, or one of them cannot be read.
    """
    limits = _Limits(job)
    evaluation = Evaluation(job.panel, stopped=job.stopped, used_up=limits.judging_ended)
    if job.target is None and not evaluation.waits:
        execution = _Execution(job, evaluation, limits)
        with execution.recorder as recorder:
            for graded in evaluation.grade_now(execution.recorded_batches()):
                execution.keep(graded)
            return execution.ended(recorder.finish([] if recorder.cut_short else evaluation.finish_now()))
    return asyncio.run(execute_run(job))


async def execute_run(job: RunJob) -> Executed:
    """Runs the job inside an event loop."""
    limits = _Limits(job)
    evaluation = Evaluation(job.panel, stopped=job.stopped, used_up=limits.judging_ended)
    try:
        if job.target is not None:
            await job.target.check()
        execution = _Execution(job, evaluation, limits)
        with execution.recorder as recorder:
            if job.target is None:
                async for graded in evaluation.grade(execution.recorded_batches()):
                    execution.keep(graded)
            else:
                await _Asking(execution, job.target).run()
            whole = [] if recorder.cut_short else await evaluation.finish()
            return execution.ended(recorder.finish(whole))
    finally:
        if job.target is not None:
            await job.target.close()
        if job.close is not None:
            await job.close()


def fingerprint_of(job: RunJob, dataset_digest: str) -> str:
    """Digest of everything that decides the results of a run."""
    return digest(
        {
            "dataset": dataset_digest,
            # Not where it came from: the digest tells the records, and a path depends on where one stands.
            "selection": msgspec.structs.replace(
                job.manifest.dataset or DatasetManifest(), source="", sha256="", records=0, rejected=0
            ),
            "target": job.target.identity if job.target is not None else None,
            "trials": job.trials,
            "evaluators": [evaluator.fingerprint() for evaluator in job.panel.evaluators],
            "judges": [judge.settings_sha256 for judge in job.judges()],
            "seeds": job.manifest.seeds,
        }
    )


class _Limits:
    """The budget of a run, and which limit of it was reached."""

    def __init__(self, job: RunJob) -> None:
        self.watch = BudgetWatch(job.budget, job.clock, lambda: total_usage([judge.usage for judge in job.judges()]))
        self.reached: str | None = None

    def asking_ended(self) -> str | None:
        """Why the target is not asked any more; None while it may be."""
        return self._kept(self.watch.reached())

    def judging_ended(self) -> str | None:
        """Why judges are not asked any more; None while they may be."""
        return self._kept(self.watch.judging_ended())

    def _kept(self, reached: str | None) -> str | None:
        self.reached = reached or self.reached
        return reached


class _Execution:
    """What both ways of running share: the recorder, the rows, the tallies."""

    def __init__(self, job: RunJob, evaluation: Evaluation, limits: _Limits) -> None:
        self.job = job
        self.evaluation = evaluation
        facts = job.dataset.scan()
        if facts.records == 0:
            raise InvalidDataError("the dataset has no record", where=job.dataset.name)
        self.limits = limits
        self.watch = limits.watch
        dataset = msgspec.structs.replace(
            job.manifest.dataset or DatasetManifest(),
            sha256=facts.digest.removeprefix("sha256:"),
            records=facts.records,
            rejected=len(facts.skipped),
        )
        work = Work(
            store=job.store,
            clock=job.clock,
            manifest=msgspec.structs.replace(job.manifest, dataset=dataset, trials=job.trials),
            fingerprint=fingerprint_of(job, facts.digest),
            total=facts.records * job.trials,
            resume=job.resume,
            continues=job.continues,
            judges=job.judges,
            target_usage=lambda: self.watch.total() if job.target is not None else None,
            stands=_has_no_passing_error if job.retry_errors else lambda _rows: True,
            on_recalled=self._count_usage,
            on_progress=job.on_progress,
        )
        plan = job.plan.of_trials() if job.trials > 1 else job.plan
        self.recorder = RunRecorder(work, SummaryBuilder(job.panel.evaluators, plan))
        self._waiting: dict[int, RecordBatch] = {}
        self._next_row = 0

    def batches(self, rows: int) -> Iterator[tuple[RecordBatch, bool]]:
        """(rows to come, whether an earlier try stored them), in order. What was asked about then comes without its
        records: with its answer, it is in the store. A beginning that nobody looks at any more does not come at all.
        """
        job, stored, begin = self.job, self.recorder.stored, 0
        if job.target is not None or not self.evaluation.observes:
            begin = stored_beginning(stored)
        if self.evaluation.observes:
            yield from ((RecordBatch(row, []), True) for row in sorted(stored) if row < begin)
        records = job.dataset.records(begin // job.trials)
        source = ((record, trial) for record in records for trial in range(job.trials))
        source = islice(source, begin % job.trials, None)
        for first_row, taken, is_stored in portions(source, stored, rows, first_row=begin):
            if is_stored and job.target is not None:
                yield RecordBatch(first_row, []), True
            else:
                yield RecordBatch(first_row, [self._row(record, trial) for record, trial in taken]), is_stored

    def recorded_batches(self) -> Iterator[RecordBatch]:
        """The batches still to be graded where nobody is asked."""
        rows = CHUNK_ROWS if self.evaluation.waits else RECORDED_CHUNK_ROWS
        for batch, is_stored in self.batches(rows):
            if is_stored:
                self.evaluation.observe(batch)
            else:
                yield batch

    def observe_in_order(self, batch: RecordBatch) -> None:
        """Lets dataset and session evaluators see finished rows in the order of the dataset."""
        if not self.evaluation.observes:
            return
        self._waiting[batch.first_row] = batch
        while self._next_row in self._waiting:
            ready = self._waiting.pop(self._next_row)
            self.evaluation.observe(ready)
            self._next_row += len(ready.records)

    def keep(self, graded: GradedBatch) -> None:
        self.recorder.keep(graded)

    def ended(self, run: GradedRun) -> Executed:
        """Decides the gates of a run that was finished. One that was stopped is not judged by its first part."""
        job = self.job
        if job.gates and not self.recorder.cut_short:
            gates = decide_gates(job.gates, run, job.gate_plan, open_baseline=job.open_baseline)
            run = self.recorder.decide(gates)
        return Executed(
            run=run,
            interrupted=self.recorder.cut_short,
            resumed_rows=self.recorder.resumed_rows,
            budget_reached=self.limits.reached,
        )

    def observe_stored(self, batch: RecordBatch) -> None:
        """As `observe_in_order`, for a batch that an earlier try stored: its answers are in the store."""
        if self.evaluation.observes:
            segment = self.job.store.segment(self.recorder.run_id, batch.first_row)
            batch = RecordBatch(batch.first_row, rows_of(segment).records)
        self.observe_in_order(batch)

    def _count_usage(self, rows: GradedRows) -> None:
        """Counts what an earlier try had spent: a budget is one for the whole run."""
        for columns in rows.columns:
            for note in columns.notes.values():
                if note.usage is not None:
                    self.watch.add_judged_before(note.usage)
        if self.job.target is None:
            return
        spent = _SPENT.decode_lines(rows.records_jsonl)
        self.watch.add_all(each.usage for each in spent if each.usage is not None)

    def _row(self, record: Record, trial: int) -> Record:
        """The record as this run asks about it. One whose output is there and is graded once stays as it is."""
        if self.job.trials == 1 and self.job.target is None:
            return record
        return msgspec.structs.replace(
            record,
            provenance=Provenance(
                run=RunProvenance(run_id=self.recorder.run_id, task_id=f"{record.id}/{trial}", trial=trial)
            ),
        )


def _has_no_passing_error(rows: GradedRows) -> bool:
    """Whether no row of these would end otherwise if it were asked again. (Its neighbours have their answers kept.)"""
    return not any(
        not is_lasting(each.notes[row].fault)
        for each in rows.columns
        for row, outcome in enumerate(each.outcomes)
        if outcome == ERROR
    )


class _Spent(msgspec.Struct):
    """The part of a stored record that tells what its answer took."""

    usage: Usage | None = None


_SPENT = msgspec.json.Decoder(_Spent)


@dataclass(slots=True)
class _Chunk:
    """Consecutive rows on their way: records get their outputs, parts of columns arrive in any order."""

    batch: RecordBatch
    left: int
    kept: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """By row: what an earlier try was answered."""
    parts: list[tuple[list[int], list[EvaluatorColumns]]] = field(
        default_factory=list[tuple[list[int], list[EvaluatorColumns]]]
    )


@dataclass(slots=True)
class _Arrival:
    """The outcome of one row. `fresh` says that it was asked just now and is not in the store yet."""

    chunk: _Chunk
    place: int
    outcome: Answer | MeasurementError | None
    """None for a row that was cancelled."""
    fresh: bool


class _Asking:
    """The pipeline: askers take rows, a keeper writes answers down in groups, graders take whatever is there."""

    def __init__(self, execution: _Execution, target: Target) -> None:
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
        """Why asking on is useless: the target does not take our key."""
        self._recorder.asked = self._recorder.done

    async def run(self) -> None:
        """Asks and grades until every row is settled, or until the run is stopped.

        Raises: ProviderError: the target refuses our key. What was answered before is kept, and the run can be continued.
        """
        lanes = self._run.evaluation.lanes()
        giving_up = asyncio.create_task(self._give_up_when_stopped())
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
        for batch, is_stored in self._run.batches(CHUNK_ROWS):
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
                self._arrive(_Arrival(chunk, place, decode_outcome(body), fresh=False))
                continue
            if self._run.limits.asking_ended() is not None:
                self._arrive(_Arrival(chunk, place, None, fresh=False))
                await asyncio.sleep(0)
                continue
            outcome = await self._outcome(chunk.batch.records[place])
            if isinstance(outcome, ProviderError) and outcome.kind is ErrorKind.TARGET_AUTH:
                self._refusal = outcome
                return
            self._arrive(_Arrival(chunk, place, outcome, fresh=True))

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
        if answer.usage.cost_usd is not None:
            return answer
        usage = msgspec.structs.replace(answer.usage, cost_usd=self._job.price(answer.model, answer.usage))
        return msgspec.structs.replace(answer, usage=usage)

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
            self._recorder.asked = (self._recorder.asked or 0) + len(arrived)
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
        for each in answered:
            assert isinstance(each.outcome, Answer)
            records[each.place] = with_answer(records[each.place], each.outcome)
        if answered:
            batch = RecordBatch(chunk.batch.first_row, [records[each.place] for each in answered])
            graded = await self._graded(batch, lanes)
            chunk.parts.append(([each.place for each in answered], graded.columns))
        if failed:
            errors = [each.outcome for each in failed if isinstance(each.outcome, MeasurementError)]
            chunk.parts.append(([each.place for each in failed], failed_columns(self._job.panel, errors)))
        if cancelled:
            reason = self._run.limits.reached or "the run was stopped"
            columns = cancelled_columns(self._job.panel, len(cancelled), reason)
            chunk.parts.append(([each.place for each in cancelled], columns))
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
        await asyncio.to_thread(self._recorder.write, graded)
        await self._run.evaluation.caught_up()
        self._unwritten -= 1
        self._recorder.count(graded)
        self._run.observe_in_order(chunk.batch)


def with_answer(record: Record, answer: Answer) -> Record:
    """The record with what the target said."""
    return msgspec.structs.replace(
        record,
        output=answer.output,
        usage=answer.usage,
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
