"""The job Run: ask a target about every record, grade each answer as soon as it is there, write everything down.

A row is one record in one trial. An answer is in the store before it is graded; what infrastructure failures cost is
asked again when a run is continued, what was answered is not. Rows are stored in chunks of consecutive rows, so that a
killed run is continued exactly, and only the rows in flight are in memory.
"""

import asyncio

from evalsi.documents.named_outside import named_at
from evalsi.engine.evaluate import Evaluation
from evalsi.run.asking import Asking
from evalsi.run.execution import Execution, RunLimits, chunk_span
from evalsi.run.run_job import Executed, RunJob


def execute_run_now(job: RunJob) -> Executed:
    """Runs the job from ordinary code.

    Raises:
        ProviderError, MeasurementError: the target cannot be reached; nothing was spent.
        InvalidDataError: the dataset has no record, or one of them cannot be read.
    """
    limits = RunLimits(job)
    evaluation = Evaluation(job.panel, stopped=job.stopped, used_up=limits.judging_ended)
    if job.target is None and not evaluation.waits:
        execution = Execution(job, evaluation, limits)
        with execution.recorder as recorder:
            for graded in evaluation.grade_now(execution.recorded_batches()):
                with chunk_span(graded):
                    execution.keep(graded)
            return execution.ended([] if recorder.cut_short else evaluation.finish_now())
    return asyncio.run(execute_run(job))


async def execute_run(job: RunJob) -> Executed:
    """Runs the job inside an event loop."""
    limits = RunLimits(job)
    evaluation = Evaluation(job.panel, stopped=job.stopped, used_up=limits.judging_ended)
    try:
        if job.target is not None:
            with named_at(job.where, "spec.target"):
                await job.target.check()
        execution = Execution(job, evaluation, limits)
        with execution.recorder as recorder:
            if job.target is None:
                async for graded in evaluation.grade(execution.recorded_batches()):
                    with chunk_span(graded):
                        execution.keep(graded)
            else:
                await Asking(execution, job.target).run()
            whole = [] if recorder.cut_short else await evaluation.finish()
            return execution.ended(whole)
    finally:
        if job.target is not None:
            await job.target.close()
        if job.close is not None:
            await job.close()
