"""One try at a run: its rows in portions, what earlier tries had stored of them, its tallies and its end.

Its own module because a run that asks a target and one whose outputs are in the dataset share all of this. Rows are
stored in chunks of consecutive rows, so that a killed run is continued exactly.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidDataError
from evalsi.core.own_traces import Span, span
from evalsi.datasets import DatasetFacts
from evalsi.engine.columns import CANCELLED, ERROR, EvaluatorColumns
from evalsi.engine.evaluate import Evaluation, GradedBatch, RecordBatch
from evalsi.engine.summary import SummaryBuilder
from evalsi.results.check_cluster_key import check_cluster_key
from evalsi.results.portions import Pace, portions, stored_beginning
from evalsi.results.recorder import RunRecorder, Work, total_usage
from evalsi.results.segment_spend import SegmentSpend
from evalsi.results.stored_rows import rows_of
from evalsi.run.budget_watch import BudgetWatch
from evalsi.run.kept_answers import is_lasting
from evalsi.run.run_job import Executed, RunJob
from evalsi.schema import (
    DatasetManifest,
    Provenance,
    Record,
    RunProvenance,
)

CHUNK_ROWS = 128
RECORDED_CHUNK_ROWS = 1024
"""Rows per chunk where the outputs are in the dataset and nothing waits."""


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


class RunLimits:
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


class Execution:
    """What both ways of running share: the recorder, the rows, the tallies."""

    def __init__(self, job: RunJob, evaluation: Evaluation, limits: RunLimits) -> None:
        self.job = job
        self.evaluation = evaluation
        facts = job.dataset.scan()
        if facts.records == 0:
            raise InvalidDataError("the dataset has no record", where=job.dataset.name)
        mapped = job.manifest.dataset.mapping if job.manifest.dataset is not None else {}
        check_cluster_key(job.dataset, facts.columns, job.plan.cluster_by, list(mapped))
        self.limits = limits
        self.watch = limits.watch
        plan = job.plan.of_trials() if job.trials > 1 else job.plan
        # Where a target is asked, rows wait for the slowest of their chunk, and who watches a slow one wants to see more.
        watched = job.target is not None and job.on_progress is not None
        self.recorder = RunRecorder(
            self._work(facts),
            SummaryBuilder(job.panel.evaluators, plan),
            ahead=SummaryBuilder(job.panel.evaluators, plan) if watched else None,
        )
        self.watch.add_time_before(self.recorder.worked_before_s)
        self.recalled_answers = 0
        """Answers of earlier tries to rows that they had not stored: they are graded, and not asked for again."""
        self.pace = Pace(CHUNK_ROWS)
        self._waiting: dict[int, RecordBatch] = {}
        self._next_row = 0

    def _work(self, facts: DatasetFacts) -> Work:
        """What is to be written down."""
        job = self.job
        chosen = job.manifest.dataset or DatasetManifest()
        dataset = msgspec.structs.replace(
            chosen,
            sha256=chosen.sha256 or facts.digest.removeprefix("sha256:"),
            records=facts.records,
            rejected=len(facts.skipped),
        )
        warnings = [*job.manifest.warnings, *facts.warnings()]
        return Work(
            store=job.store,
            clock=job.clock,
            manifest=msgspec.structs.replace(job.manifest, dataset=dataset, trials=job.trials, warnings=warnings),
            fingerprint=fingerprint_of(job, facts.digest),
            total=facts.records * job.trials,
            resume=job.resume,
            continues=job.continues,
            reopens=job.retry_errors,
            judges=job.judges,
            target_usage=lambda: self.watch.total() if job.target is not None else None,
            stands=_has_no_passing_error if job.retry_errors else _was_all_asked,
            on_recalled=self._count_usage,
            on_progress=job.on_progress,
        )

    def batches(self, rows: Callable[[], int]) -> Iterator[tuple[RecordBatch, bool]]:
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
        most = CHUNK_ROWS if self.evaluation.waits else RECORDED_CHUNK_ROWS
        rows = self.pace.rows if self.evaluation.isolates else lambda: most
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
        self.pace.learn(len(graded.records), graded.computed_s)

    def ended(self, whole: list[EvaluatorColumns]) -> Executed:
        """Ends the run and decides its gates. One that somebody or its budget stopped is not judged by its first part."""
        job = self.job
        run = self.recorder.finish(whole, stopped_early=self.limits.reached or "")
        if job.gates and not self.recorder.cut_short and self.limits.reached is None:
            from evalsi.run.gates.decide import decide_gates

            gates = decide_gates(job.gates, run, job.gate_plan, open_baseline=job.open_baseline)
            run = self.recorder.decide(gates)
        return Executed(
            run=run,
            interrupted=self.recorder.cut_short,
            continued=self.recorder.is_continued,
            resumed_rows=self.recorder.resumed_rows,
            recalled_answers=self.recalled_answers,
            budget_reached=self.limits.reached,
        )

    def observe_stored(self, batch: RecordBatch) -> None:
        """As `observe_in_order`, for a batch that an earlier try stored: its answers are in the store."""
        if self.evaluation.observes:
            segment = self.job.store.segment(self.recorder.run_id, batch.first_row)
            batch = RecordBatch(batch.first_row, rows_of(segment).records)
        self.observe_in_order(batch)

    def _count_usage(self, spent: SegmentSpend) -> None:
        """Counts what an earlier try had spent: a budget is one for the whole run."""
        self.watch.add_judged_before(spent.judged())
        if self.job.target is not None:
            self.watch.add_all(spent.asked())

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


def _was_all_asked(columns: list[EvaluatorColumns]) -> bool:
    """Whether a budget left no row of these out. What it left out is not done, whichever try comes next. (Its neighbours
    have their answers kept.)
    """
    return not any(CANCELLED in each.outcomes for each in columns)


def _has_no_passing_error(columns: list[EvaluatorColumns]) -> bool:
    """Whether, besides, no row of these would end otherwise if it were asked again."""
    return _was_all_asked(columns) and not any(
        outcome == ERROR and not is_lasting(each.notes[row].fault)
        for each in columns
        for row, outcome in enumerate(each.outcomes)
    )


def chunk_span(graded: GradedBatch) -> AbstractContextManager[Span]:
    return span("run chunk", {"evalsi.first_row": graded.first_row, "evalsi.records": len(graded.records)})
