"""The plan of a run, before anybody is asked."""

from collections.abc import Mapping

from evalsi.evaluators.binding import BoundEvaluator
from evalsi.results.graded_run import stored_run
from evalsi.run.plan import RunPlan, plan_run
from evalsi.run.run_job import RunJob
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.schema import (
    Usage,
)
from evalsi.settings import Settings
from evalsi.wiring.run_options import RunOptions
from evalsi.wiring.running import running


def planning(document: RunDocument, settings: Settings, options: RunOptions) -> RunPlan:
    """The plan of a run; nobody is asked."""
    with running(document, settings, options) as job:
        price = job.price
        model = document.spec.target.model if document.spec.target is not None else ""
        asks = job.target is not None and document.spec.target is not None and not options.replay
        judges = {name: manifest.name for name, manifest in zip([""], job.judges(), strict=False)}
        return plan_run(
            job.dataset,
            job.panel.evaluators,
            job.gates,
            asks_target=asks,
            trials=job.trials,
            level=job.plan.level,
            judge_of=lambda each: _judge_name(each, judges),
            price=lambda usage: price(model, usage),
            past=_past_usage(job) if asks else (),
        )


def _judge_name(evaluator: BoundEvaluator, judges: Mapping[str, str]) -> str:
    if "judge" not in evaluator.definition.requires:
        return ""
    return evaluator.source.judge or next(iter(judges.values()), "judge")


def _past_usage(job: RunJob) -> list[Usage]:
    """Usage of the answers of the newest finished run under the same name."""
    for row in job.store.runs():
        if row.name == job.manifest.name and row.rows and row.status == "succeeded":
            run = stored_run(job.store, row.id)
            first = next(run.read_rows(), None)
            return [record.usage for record in first.records if record.usage is not None] if first is not None else []
    return []
