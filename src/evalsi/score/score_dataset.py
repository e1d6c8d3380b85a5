"""The job Score: a dataset and a panel in, a graded run out.

Everything is checked before the first evaluator runs. Each graded batch is in the store before a summary counts it, so
a stopped or killed run loses nothing it had finished, and the same call continues it. Nothing is held but the batches
in flight.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock
from evalsi.core.errors import InvalidDataError
from evalsi.core.meanwhile import load_meanwhile
from evalsi.datasets import Dataset
from evalsi.engine.evaluate import Evaluation, RecordBatch
from evalsi.engine.summary import LOADED_LATER, SummaryBuilder, SummaryPlan
from evalsi.ports.run_store import RunStore
from evalsi.results.check_cluster_key import check_cluster_key
from evalsi.results.graded_run import GradedRun
from evalsi.results.portions import Pace, portions
from evalsi.results.recorder import Progress, RunRecorder, Work
from evalsi.schema import DatasetManifest, JudgeManifest, Record, RunManifest
from evalsi.score.grader import Grader

COMPUTING_BATCH_ROWS = 1024
WAITING_BATCH_ROWS = 32
"""Rows per batch where evaluators wait: small, so that little is lost when a run is killed."""
SENT_BATCH_ROWS = 256
"""Rows per batch that is graded elsewhere: large enough that the way there costs little."""


@dataclass(frozen=True, kw_only=True)
class ScoreJob:
    """What to score and how. `manifest` is complete but for what the run itself finds out."""

    dataset: Dataset
    grader: Grader
    """Who grades: the engine of this process, or a server."""
    evaluator_digests: Sequence[str]
    """A digest of everything that decides an evaluator's results, for each evaluator."""
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
    later: Sequence[str] = ()
    """Modules that whoever began the job needs at its end; loaded while it waits."""


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
    grader = job.grader
    recorder = start_recording(job)
    if not isinstance(grader, Evaluation) or grader.waits or job.close is not None:
        return asyncio.run(_drive(job, recorder))
    with recorder:
        for graded in grader.grade_now(batches_to_grade(job, recorder.stored, Pace(COMPUTING_BATCH_ROWS))):
            recorder.keep(graded)
        return _scored(recorder, recorder.finish([] if recorder.cut_short else grader.finish_now()))


async def score_dataset(job: ScoreJob) -> Scored:
    """As `score_dataset_now`, inside an event loop."""
    return await _drive(job, start_recording(job))


async def _drive(job: ScoreJob, recorder: RunRecorder) -> Scored:
    grader = job.grader
    loading = asyncio.create_task(load_meanwhile((*LOADED_LATER, *job.later)))
    try:
        with recorder:
            pace = Pace(WAITING_BATCH_ROWS)
            async for graded in grader.grade(batches_to_grade(job, recorder.stored, pace)):
                # In a thread: the disk takes milliseconds to be sure, and meanwhile others ask and are answered.
                await asyncio.to_thread(recorder.write, graded)
                recorder.count(graded)
                pace.learn(len(graded.records), graded.computed_s)
            return _scored(recorder, recorder.finish([] if recorder.cut_short else await grader.finish()))
    finally:
        loading.cancel()
        if job.close is not None:
            await job.close()


def _scored(recorder: RunRecorder, run: GradedRun) -> Scored:
    return Scored(run=run, interrupted=recorder.cut_short, resumed_rows=recorder.resumed_rows)


def fingerprint_of(job: ScoreJob, dataset_digest: str) -> str:
    """Digest of everything that decides the results of a job, so that equal work can be continued."""
    return digest(
        {
            "dataset": dataset_digest,
            "selection": msgspec.structs.replace(
                job.manifest.dataset or DatasetManifest(), sha256="", records=0, rejected=0
            ),
            "evaluators": list(job.evaluator_digests),
            "judges": [judge.settings_sha256 for judge in job.judges()],
            "baselines": {identifier: msgspec.to_builtins(record) for identifier, record in job.baselines.items()},
            "seeds": job.manifest.seeds,
        }
    )


def start_recording(job: ScoreJob) -> RunRecorder:
    """Scans the dataset and begins the run, or takes up the one that an earlier try left.

    Raises:
        InvalidDataError: the dataset has no record.
        UnknownNameError: no record can carry the key to cluster by.
    """
    facts = job.dataset.scan()
    if facts.records == 0:
        raise InvalidDataError("the dataset has no record", where=job.dataset.name)
    mapped = job.manifest.dataset.mapping if job.manifest.dataset is not None else {}
    check_cluster_key(job.dataset, facts.columns, job.plan.cluster_by, list(mapped))
    dataset = msgspec.structs.replace(
        job.manifest.dataset or DatasetManifest(),
        sha256=facts.digest.removeprefix("sha256:"),
        records=facts.records,
        rejected=len(facts.skipped),
    )
    work = Work(
        store=job.store,
        clock=job.clock,
        manifest=msgspec.structs.replace(
            job.manifest, dataset=dataset, warnings=[*job.manifest.warnings, *facts.warnings()]
        ),
        fingerprint=fingerprint_of(job, facts.digest),
        total=facts.records,
        resume=job.resume,
        judges=job.judges,
        on_progress=job.on_progress,
    )
    plan = job.plan.of_trials() if facts.has_trials else job.plan
    return RunRecorder(work, SummaryBuilder(job.grader.evaluators, plan))


def batches_to_grade(job: ScoreJob, stored: Mapping[int, int], pace: Pace) -> Iterator[RecordBatch]:
    """The batches that are still to be graded; those that an earlier try graded are only observed.

    Args:
        stored: Rows by first row of the batches that are there.
        pace: Told how long batches take, where that decides how large they are.
    """
    rows = _batch_rows(job.grader, pace)
    for portion in portions(job.dataset.records(), stored, rows):
        batch = RecordBatch(portion.first_row, portion.items)
        if portion.is_stored:
            job.grader.observe(batch)
        else:
            yield batch


def _batch_rows(grader: Grader, pace: Pace) -> Callable[[], int]:
    if not isinstance(grader, Evaluation):
        return lambda: SENT_BATCH_ROWS
    if grader.isolates:
        return pace.rows
    return lambda: WAITING_BATCH_ROWS if grader.waits else COMPUTING_BATCH_ROWS
