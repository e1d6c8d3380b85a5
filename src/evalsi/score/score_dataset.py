"""The job Score: a dataset and a panel in, a graded run out.

Everything is checked before the first evaluator runs. Each graded batch is in the store before a summary counts it, so
a stopped or killed run loses nothing it had finished, and the same call continues it. Nothing is held but the batches
in flight.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock
from evalsi.core.errors import InvalidDataError
from evalsi.core.ids import new_run_id
from evalsi.datasets import Dataset
from evalsi.engine.columns import EvaluatorColumns, pack
from evalsi.engine.evaluate import Evaluation, GradedBatch, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryBuilder, SummaryPlan
from evalsi.ports.run_store import RunRow, RunStore, Segment
from evalsi.results.graded_run import WHOLE, GradedRun, encode_records, rows_of, stored_run
from evalsi.schema import DatasetManifest, JudgeManifest, MetricSummary, Record, RunManifest, RunStatus, Usage

COMPUTING_BATCH_ROWS = 1024
WAITING_BATCH_ROWS = 32
"""Rows per batch where evaluators wait: small, so that little is lost when a run is killed."""
PROGRESS_INTERVAL_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is, for a line on a terminal. `total` is known because the dataset was scanned first."""

    done: int
    total: int
    outcomes: Mapping[str, int]
    headline: str = ""
    """The first metric so far, with its interval."""
    spent: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class ScoreJob:
    """What to score and how. `manifest` is complete but for what the run itself finds out."""

    dataset: Dataset
    panel: Panel
    plan: SummaryPlan
    store: RunStore
    clock: Clock
    manifest: RunManifest
    baselines: Mapping[str, Record] = field(default_factory=dict[str, Record])
    resume: bool = True
    """Continue an interrupted run of the same work, if there is one."""
    judges: Callable[[], list[JudgeManifest]] = list
    """The judges with what they have used so far."""
    on_progress: Callable[[Progress], None] | None = None
    """Called at most ten times a second."""
    close: Callable[[], Awaitable[None]] | None = None
    """Releases connections; awaited in the event loop that used them."""
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The outcome of a job: the run, whether it was stopped before its end, and the rows an earlier try had done."""

    run: GradedRun
    interrupted: bool
    resumed_rows: int

    @property
    def nothing_scored(self) -> bool:
        return not any(summary.n for summary in self.run.summaries)


def score_dataset_now(job: ScoreJob) -> Scored:
    """Runs the job from ordinary code; starts an event loop only where an evaluator waits for something.

    Raises:
        InvalidDataError: the dataset has no record, or one of them cannot be read.
        StoreError: the store refuses.
    """
    work = _Work(job)
    if work.evaluation.waits:
        return asyncio.run(_drive(work))
    with work:
        for graded in work.evaluation.grade_now(work.batches()):
            work.keep(graded)
        return work.finish([] if work.cut_short else work.evaluation.finish_now())


async def score_dataset(job: ScoreJob) -> Scored:
    """As `score_dataset_now`, inside an event loop."""
    return await _drive(_Work(job))


async def _drive(work: "_Work") -> Scored:
    try:
        with work:
            async for graded in work.evaluation.grade(work.batches()):
                work.keep(graded)
            return work.finish([] if work.cut_short else await work.evaluation.finish())
    finally:
        if work.job.close is not None:
            await work.job.close()


def fingerprint_of(job: ScoreJob, dataset_digest: str) -> str:
    """Digest of everything that decides the results of a job, so that equal work can be continued."""
    return digest(
        {
            "dataset": dataset_digest,
            "selection": msgspec.structs.replace(
                job.manifest.dataset or DatasetManifest(), sha256="", records=0, rejected=0
            ),
            "evaluators": [evaluator.fingerprint() for evaluator in job.panel.evaluators],
            "judges": [judge.settings_sha256 for judge in job.judges()],
            "baselines": sorted(job.baselines),
            "seeds": job.manifest.seeds,
        }
    )


class _Work:
    """One try at a job: the run's row, what an earlier try had stored, and the summary so far.

    As a context it leaves the run marked interrupted when its body raises, so that nothing finished is lost.
    """

    def __init__(self, job: ScoreJob) -> None:
        self.job = job
        facts = job.dataset.scan()
        if facts.records == 0:
            raise InvalidDataError("the dataset has no record", where=job.dataset.name)
        self.total = facts.records
        self.evaluation = Evaluation(job.panel, baselines=job.baselines, stopped=job.stopped)
        self.summary = SummaryBuilder(job.panel.evaluators, job.plan)
        self.done = 0
        self.stored: dict[int, int] = {}
        self.finished = False
        self.next_report_s = 0.0
        fingerprint = fingerprint_of(job, facts.digest)
        earlier = job.store.resumable(fingerprint) if job.resume else None
        now = job.clock.now()
        self.row = (
            job.store.take_over(earlier.id)
            if earlier is not None
            else RunRow(
                id=new_run_id(now.timestamp()),
                name=job.manifest.name,
                status="running",
                created_at=now.isoformat(timespec="milliseconds"),
                finished_at=None,
                dataset=job.dataset.name,
                dataset_digest=facts.digest,
                fingerprint=fingerprint,
                rows=0,
                labels=dict(job.manifest.labels),
                headline="",
            )
        )
        self.run_id = self.row.id
        self.manifest = msgspec.structs.replace(
            job.manifest,
            run_id=self.run_id,
            dataset=msgspec.structs.replace(
                job.manifest.dataset or DatasetManifest(),
                sha256=facts.digest.removeprefix("sha256:"),
                records=facts.records,
                rejected=len(facts.skipped),
            ),
            started_at=now,
            status=RunStatus.RUNNING,
            settings_sha256=fingerprint.removeprefix("sha256:"),
            judges=job.judges(),
        )
        if earlier is None:
            job.store.create(self.row, self.manifest)
        else:
            self._recall()
        self.resumed_rows = self.done

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self.finished:
            self._end("interrupted", [])

    @property
    def cut_short(self) -> bool:
        return self.done < self.total

    def batches(self) -> Iterator[RecordBatch]:
        """The batches that are still to be graded; those that an earlier try graded are only observed."""
        rows = WAITING_BATCH_ROWS if self.evaluation.waits else COMPUTING_BATCH_ROWS
        records = iter(self.job.dataset.records())
        starts = sorted(self.stored)
        row = 0
        while True:
            following = next((start for start in starts if start > row), None)
            wanted = self.stored.get(row) or (rows if following is None else min(rows, following - row))
            batch = RecordBatch(row, list(islice(records, wanted)))
            if not batch.records:
                return
            if row in self.stored:
                self.evaluation.observe(batch)
            else:
                yield batch
            row += len(batch.records)

    def keep(self, graded: GradedBatch) -> None:
        """Stores a graded batch, then counts it."""
        records = encode_records(graded.records)
        self.job.store.append(
            self.run_id,
            Segment(
                index=graded.first_row,
                first_row=graded.first_row,
                rows=len(graded.records),
                records=records,
                results=pack(graded.columns),
            ),
        )
        self.summary.add(graded.first_row, len(graded.records), graded.columns, lambda: graded.records)
        self.done += len(graded.records)
        self._report()

    def _report(self) -> None:
        now_s = self.job.clock.monotonic_s()
        if self.job.on_progress is None or (now_s < self.next_report_s and self.done < self.total):
            return
        self.next_report_s = now_s + PROGRESS_INTERVAL_S
        self.job.on_progress(
            Progress(
                done=self.done,
                total=self.total,
                outcomes=self.summary.outcome_totals(),
                headline=self.summary.headline(),
                spent=_sum_usage(self.job.judges()),
            )
        )

    def finish(self, whole: list[EvaluatorColumns]) -> Scored:
        if whole:
            self.job.store.append(
                self.run_id, Segment(index=WHOLE, first_row=WHOLE, rows=0, records=b"", results=pack(whole))
            )
        self._end("interrupted" if self.cut_short else "succeeded", self.summary.finish(whole))
        return Scored(
            run=stored_run(self.job.store, self.run_id), interrupted=self.cut_short, resumed_rows=self.resumed_rows
        )

    def _end(self, status: str, summaries: list[MetricSummary]) -> None:
        self.finished = True
        now, judges = self.job.clock.now(), self.job.judges()
        manifest = msgspec.structs.replace(
            self.manifest,
            status=RunStatus.SUCCEEDED if status == "succeeded" else RunStatus.CANCELLED,
            finished_at=now,
            judges=judges,
            judge_usage=_sum_usage(judges),
        )
        row = msgspec.structs.replace(
            self.row,
            status=status,
            finished_at=now.isoformat(timespec="milliseconds"),
            headline=self.summary.headline(),
        )
        self.job.store.finish(row, manifest, summaries)

    def _recall(self) -> None:
        """Counts what an earlier try had stored."""
        for segment in self.job.store.segments(self.run_id):
            if segment.index == WHOLE:
                continue
            rows = rows_of(segment)
            self.stored[segment.first_row] = segment.rows
            self.summary.add(segment.first_row, segment.rows, rows.columns, lambda rows=rows: rows.records)
            self.done += segment.rows


def _sum_usage(judges: list[JudgeManifest]) -> Usage | None:
    """What all judges used; a cost is known only where every judge's is."""
    used = [judge.usage for judge in judges if judge.usage is not None]
    if not used:
        return None
    costs = [usage.cost_usd for usage in used]
    return Usage(
        input_tokens=sum(usage.input_tokens or 0 for usage in used),
        output_tokens=sum(usage.output_tokens or 0 for usage in used),
        cost_usd=sum(cost for cost in costs if cost is not None) if None not in costs else None,
    )
