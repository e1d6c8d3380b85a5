"""The plan of a run, before anybody is asked."""

from collections.abc import Callable, Mapping

from evalsi.evaluators.binding import BoundEvaluator
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.run.plan import Past, RunPlan, plan_run
from evalsi.run.run_job import RunJob
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.schema import RunSpec, Target, Usage
from evalsi.settings import Settings
from evalsi.wiring.judging import prices_of
from evalsi.wiring.run_options import RunOptions
from evalsi.wiring.running import running


def planning(document: RunDocument, settings: Settings, options: RunOptions) -> RunPlan:
    """The plan of a run; nobody is asked."""
    spec = document.spec
    with running(document, settings, options) as job:
        asks = job.target is not None and spec.target is not None and not options.replay
        main = next((manifest.name for manifest in job.judges()), "judge")
        models = {manifest.name: manifest.model for manifest in job.judges()}
        models |= {name: judge.model for name, judge in spec.judges.items()}
        return plan_run(
            job.dataset,
            job.panel.evaluators,
            job.gates,
            asks_target=asks,
            trials=job.trials,
            level=job.plan.level,
            judge_of=lambda each: _judge_name(each, spec.judge or main),
            price=_prices(job, spec, models, settings),
            budget=job.budget,
            past=_past(job, spec, models, asks=asks),
        )


def _judge_name(evaluator: BoundEvaluator, main: str) -> str:
    return evaluator.source.judge or main if "judge" in evaluator.definition.requires else ""


def _prices(
    job: RunJob, spec: RunSpec, models: Mapping[str, str], settings: Settings
) -> Callable[[str, Usage], float | None]:
    """What a call costs: to the target for "", else to the judge of that name."""
    asked, table = spec.target.model if spec.target is not None else "", prices_of(settings)

    def price(judge: str, usage: Usage) -> float | None:
        return table.cost(models.get(judge, ""), usage).usd if judge else job.price(asked, usage)

    return price


def _past(job: RunJob, spec: RunSpec, models: Mapping[str, str], *, asks: bool) -> Past:
    """What the newest finished run under the same name used, as far as it asked the same models."""
    found = next(
        (row for row in job.store.runs() if row.name == job.manifest.name and row.rows and row.status == "succeeded"),
        None,
    )
    if found is None:
        return Past()
    run = stored_run(job.store, found.id)
    calls: dict[str, Usage] = {}
    for judge in run.manifest.judges:
        used, requests = judge.usage, judge.usage.requests if judge.usage is not None else None
        if used is None or not requests or used.input_tokens is None or used.output_tokens is None:
            continue
        each = Usage(
            input_tokens=round(used.input_tokens / requests), output_tokens=round(used.output_tokens / requests)
        )
        calls |= {name: each for name, model in models.items() if model == judge.model}
    before = run.manifest.spec.target if run.manifest.spec is not None else None
    is_same = before is not None and spec.target is not None and _who(before) == _who(spec.target)
    return Past(answers=_first_answers(run) if asks and is_same else (), judge_calls=calls)


def _who(target: Target) -> tuple[object, ...]:
    """What decides how long answers are: another model, or another limit, tells nothing."""
    return target.connector, target.model, target.python, target.command, target.agent, target.max_tokens, target.effort


def _first_answers(run: GradedRun) -> list[Usage]:
    first = next(run.read_rows(), None)
    return [record.usage for record in first.records if record.usage is not None] if first is not None else []
