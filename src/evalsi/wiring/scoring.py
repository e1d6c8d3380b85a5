"""From a request to score to a job that is ready: evaluators, judge, dataset, store."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evalsi.core.clock import SystemClock
from evalsi.core.errors import InvalidDataError
from evalsi.core.version import __version__
from evalsi.datasets import open_dataset
from evalsi.engine.evaluate import Evaluation
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.infra.git_state import git_state
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.infra.scan_files import ScanFiles
from evalsi.infra.store import open_run_store
from evalsi.ports.run_store import RunStore
from evalsi.results.recorder import Progress
from evalsi.schema import Record
from evalsi.score.manifest import Circumstances, make_manifest
from evalsi.score.request import ScoreRequest
from evalsi.score.score_dataset import ScoreJob
from evalsi.settings import Settings
from evalsi.wiring.judging import judge_manifests, make_judge
from evalsi.wiring.lending import closing, lent_reward_models, lent_sandbox, requires


@contextmanager
def scoring(
    request: ScoreRequest,
    settings: Settings,
    *,
    keep: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[ScoreJob]:
    """A job that is ready to run; everything in it is closed afterwards.

    Args:
        keep: Whether the run goes to the local store or stays in memory.
    Raises: EvalsiError: whatever is wrong with the request. Nothing has been asked or graded then.
    """
    judge = (
        make_judge(request.judge, settings, use_cache=request.use_cache) if _wants_judge(request, settings) else None
    )
    sandbox = lent_sandbox(request.evaluators, settings)
    reward_models = lent_reward_models(request.evaluators, settings)
    context = EvalContext(
        judge=judge,
        sandbox=sandbox,
        reward_models=reward_models,
        seed=request.plan.seed,
        level=request.plan.level,
    )
    panel = Panel(
        evaluators=bind_all(request.evaluators, context),
        concurrency=request.concurrency,
        deadline_s=request.deadline_s,
    )
    dataset = open_dataset(request.data, options=request.dataset, memory=ScanFiles(settings.scans) if keep else None)
    judges = judge_manifests(judge, request.judge, settings)
    manifest = make_manifest(
        panel.evaluators,
        source=dataset.name,
        dataset=request.dataset,
        plan=request.plan,
        circumstances=Circumstances(
            evalsi_version=__version__,
            argv=request.argv,
            git=git_state(Path.cwd()),
            price_table_version=judge.prices.version if judge is not None else "",
            judges=judges(),
            name=request.name,
            labels=request.labels,
        ),
    )
    baselines = _baselines(request)
    store: RunStore = open_run_store(settings.database) if keep else MemoryRunStore()
    try:
        yield ScoreJob(
            dataset=dataset,
            grader=Evaluation(panel, baselines=baselines, stopped=stopped),
            evaluator_digests=[evaluator.fingerprint() for evaluator in panel.evaluators],
            plan=request.plan,
            store=store,
            clock=SystemClock(),
            manifest=manifest,
            baselines=baselines,
            resume=request.resume and keep,
            judges=judges,
            on_progress=on_progress,
            close=closing(judge, sandbox, reward_models),
        )
    finally:
        if keep:
            store.close()


def _wants_judge(request: ScoreRequest, settings: Settings) -> bool:
    """A judge that was named is made, so that a mistake in its name shows; the default one only where one is asked."""
    if request.judge.is_named:
        return True
    has_default = bool(settings.judge.provider or settings.judge.model)
    return has_default and any(requires(choice, "judge") for choice in request.evaluators)


def _baselines(request: ScoreRequest) -> Mapping[str, Record]:
    if request.baseline is None:
        return {}
    options = replace(request.dataset, where=None, limit=None, sample=None)
    found = {record.id: record for record in open_dataset(request.baseline, options=options).records()}
    if not found:
        raise InvalidDataError("the baseline has no record", where=str(request.baseline))
    return found
