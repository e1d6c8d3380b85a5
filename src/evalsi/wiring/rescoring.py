"""From a run that was made and other evaluators to a job that grades its answers anew."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evalsi.core.clock import SystemClock
from evalsi.core.run_reference import RESCORED_FROM
from evalsi.core.version import __version__
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.infra.git_state import git_state
from evalsi.infra.store import open_run_store
from evalsi.judges.judge import ModelJudge
from evalsi.results.graded_run import stored_run
from evalsi.results.rebuilt_summaries import plan_of as plan_of_manifest
from evalsi.run.run_job import RunJob
from evalsi.run.stored_answers import StoredAnswers
from evalsi.schema import (
    EvaluatorRef,
)
from evalsi.score.manifest import Circumstances, make_manifest
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.wiring.judging import judge_manifests, make_judge, prices_of
from evalsi.wiring.lending import closing, lent_reward_models, lent_sandbox
from evalsi.wiring.reading_runs import local_store
from evalsi.wiring.run_options import DEFAULT_CONCURRENCY, RunOptions


@dataclass(frozen=True, kw_only=True)
class RescoreRequest:
    """Other evaluators for the answers that a run already has."""

    run: str
    """The run, as people name it."""
    evaluators: Sequence[EvaluatorRef | Definition]
    judge: JudgeChoice = field(default_factory=JudgeChoice)


@contextmanager
def rescoring(request: RescoreRequest, settings: Settings, options: RunOptions) -> Generator[RunJob]:
    """A job that grades the answers of an earlier run anew; its target is asked nothing.

    Raises: EvalsiError: whatever is wrong with the request.
    """
    with local_store(settings) as store:
        earlier = stored_run(store, store.find(request.run).id)
        answers = StoredAnswers(earlier)
    about = earlier.manifest
    plan = plan_of_manifest(about)
    judge: ModelJudge | None = None
    if request.judge.is_named or settings.judge.provider or settings.judge.model:
        judge = make_judge(request.judge, settings, use_cache=options.use_cache)
    judges = judge_manifests(judge, request.judge, settings)
    sandbox = lent_sandbox(request.evaluators, settings)
    reward_models = lent_reward_models(request.evaluators, settings)
    context = EvalContext(judge=judge, sandbox=sandbox, reward_models=reward_models, seed=plan.seed, level=plan.level)
    panel = Panel(
        evaluators=bind_all(request.evaluators, context),
        concurrency=options.concurrency or DEFAULT_CONCURRENCY,
    )
    manifest = make_manifest(
        panel.evaluators,
        source=f"run {about.run_id}",
        dataset=DatasetOptions(),
        plan=plan,
        circumstances=Circumstances(
            evalsi_version=__version__,
            argv=options.argv,
            git=git_state(Path.cwd()),
            price_table_version=prices_of(settings).version,
            judges=judges(),
            name=options.name or (f"{about.name}-rescored" if about.name else ""),
            project=about.project,
            labels={**about.labels, RESCORED_FROM: about.run_id, **options.labels},
        ),
    )
    store = open_run_store(settings.database)
    try:
        yield RunJob(
            target=answers,
            dataset=open_dataset(answers.records),
            panel=panel,
            plan=plan,
            store=store,
            clock=SystemClock(),
            manifest=manifest,
            trials=max(1, about.trials),
            concurrency=DEFAULT_CONCURRENCY,
            resume=options.resume,
            judges=judges,
            on_progress=options.on_progress,
            stopped=options.stopped,
            close=closing(judge, sandbox, reward_models),
        )
    finally:
        store.close()
