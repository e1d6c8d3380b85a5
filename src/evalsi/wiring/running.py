"""From a run's specification to a job that is ready: target, judges, dataset, panel, store."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec

from evalsi.core.clock import SystemClock
from evalsi.core.errors import InvalidSpecError
from evalsi.core.run_reference import REPLAY_OF
from evalsi.core.version import __version__
from evalsi.datasets import Dataset, DatasetOptions, open_dataset
from evalsi.documents.named_outside import named_at
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import EvalContext
from evalsi.infra.git_state import git_state
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.store import open_run_store
from evalsi.infra.targets.make_target import Surroundings, make_target
from evalsi.ports.run_store import RunStore
from evalsi.ports.target import Target
from evalsi.results.graded_run import stored_run
from evalsi.run.gates.gate_plan import plan_of
from evalsi.run.missing_fields import needed_fields, refuse_missing_fields
from evalsi.run.run_job import RunJob
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.run.stored_answers import StoredAnswers
from evalsi.schema import (
    CiMethod,
    JudgeManifest,
    RunMetadata,
    RunSpec,
    Unpinned,
    Usage,
)
from evalsi.schema import Target as TargetSpec
from evalsi.score.manifest import Circumstances, make_manifest
from evalsi.settings import Settings
from evalsi.wiring.calibrations import calibration_warnings
from evalsi.wiring.judging import prices_of
from evalsi.wiring.lending import closing, lent_reward_models, lent_sandbox
from evalsi.wiring.run_baselines import RunBaselines, names_a_baseline
from evalsi.wiring.run_dataset import run_dataset, scanned, with_known_digest
from evalsi.wiring.run_judges import RunJudges
from evalsi.wiring.run_options import DEFAULT_CONCURRENCY, RunOptions
from evalsi.wiring.run_prices import price_of, refuse_unknown_price, run_budget


@contextmanager
def running(document: RunDocument, settings: Settings, options: RunOptions) -> Generator[RunJob]:
    """A job that is ready to run; its store is closed afterwards.

    Raises: EvalsiError: whatever is wrong. Nobody has been asked then.
    """
    store = open_run_store(settings.database)
    try:
        yield prepared(document, settings, options, store)
    finally:
        store.close()


def prepared(document: RunDocument, settings: Settings, options: RunOptions, store: RunStore) -> RunJob:
    """As `running`, on a store that is open already and stays open."""
    served = options.served
    spec = document.spec if served is None else served.spec
    replayed = store.find(options.replay).id if options.replay else ""
    answers = StoredAnswers(stored_run(store, replayed)) if replayed else None
    own = spec.target.max_concurrency if spec.target is not None else 0
    concurrency = options.concurrency or own or DEFAULT_CONCURRENCY
    target: Target | None = answers
    if target is None and spec.target is not None:
        target = _target(spec.target, document, settings, concurrency)
    plan = _summary_plan(spec)
    graders = _graders(spec, document, settings, options, level=plan.level, concurrency=concurrency)
    if target is not None:
        _refuse_what_nobody_gives(target, graders.panel, document)
    dataset, dataset_options, source = run_dataset(document, store, served, settings)
    if answers is None:
        _refuse_unusable_records(dataset, dataset_options, needed_fields(graders.panel.evaluators, target), document)
    elif spec.dataset is None:
        dataset = open_dataset(answers.records)
    manifest = make_manifest(
        graders.panel.evaluators,
        source=source,
        dataset=dataset_options,
        plan=plan,
        circumstances=_circumstances(document, settings, options, graders.judges.manifests(), replayed),
    )
    if served is not None:
        manifest = with_known_digest(manifest, served)
    # Runs are listed only for who asks: a store may hold very many.
    baselines = RunBaselines(store, document.folder) if names_a_baseline(spec) else None
    if baselines is not None:
        baselines.refuse_missing(document)
    price = price_of(spec.target, prices_of(settings))
    budget = run_budget(spec)
    if budget.usd is not None:
        _refuse_unknown_prices(document, None if answers is not None else spec.target, price, graders.judges)
    return RunJob(
        target=target,
        dataset=dataset,
        panel=graders.panel,
        plan=plan,
        store=store,
        clock=SystemClock(),
        manifest=msgspec.structs.replace(
            manifest,
            spec=document.spec,
            spec_folder=str(document.folder.resolve()) if served is None else "",
            warnings=[*manifest.warnings, *calibration_warnings(spec.gates, graders.panel, manifest, settings)],
            unpinned=[*manifest.unpinned, *(_unpinned_target(spec.target) if answers is None else [])],
        ),
        trials=max(1, spec.trials),
        concurrency=concurrency,
        budget=budget,
        price=price,
        gates=spec.gates,
        gate_plan=plan_of(spec),
        open_baseline=None if baselines is None else baselines.open,
        resume=options.resume,
        continues=options.continues,
        retry_errors=options.retry_errors,
        judges=graders.judges.manifests,
        on_progress=options.on_progress,
        stopped=options.stopped,
        close=graders.close,
        where=document.where,
    )


@dataclass(frozen=True, kw_only=True)
class _Graders:
    """Who grades the answers of a run."""

    panel: Panel
    judges: RunJudges
    close: Callable[[], Awaitable[None]] | None
    """Ends the judges and whatever else the evaluators were lent."""


def _graders(
    spec: RunSpec, document: RunDocument, settings: Settings, options: RunOptions, *, level: float, concurrency: int
) -> _Graders:
    """The evaluators with all that they need. Raises: EvalsiError: something of it is not there; with its place."""
    judges = RunJudges(spec, document, settings, use_cache=options.use_cache)
    judges.refuse_unnamed()
    options.on_judges({name: judge.spend for name, judge in judges.named.items()})
    refs = document.evaluators.refs
    sandbox = lent_sandbox(refs, settings)
    reward_models = None if settings.fence is not None else lent_reward_models(refs, settings)
    main = EvalContext(judge=judges.main, sandbox=sandbox, reward_models=reward_models, level=level)
    contexts = {name: replace(main, judge=judge) for name, judge in judges.named.items()}
    return _Graders(
        panel=Panel(evaluators=bind_all(refs, main, contexts), concurrency=concurrency),
        judges=judges,
        close=closing(judges, sandbox, reward_models),
    )


def _refuse_unusable_records(
    dataset: Dataset, options: DatasetOptions, needed: Mapping[str, str], document: RunDocument
) -> None:
    """Reads the dataset once. Raises: EvalsiError: its rows cannot be used, or none of them has what is needed."""
    scanned(dataset, document)
    refuse_missing_fields(
        dataset,
        needed,
        is_chosen=bool(options.limit or options.sample or options.where),
        where=document.where("spec.dataset"),
    )


def _target(target: TargetSpec, document: RunDocument, settings: Settings, concurrency: int) -> Target:
    """The target, ready to be asked. Raises: EvalsiError: it cannot be made; with its place in the specification."""
    surroundings = Surroundings(
        secret=settings.secret,
        unnamed_key=settings.unnamed_key,
        environment=settings.environment,
        folder=document.folder,
        proxy=settings.proxy,
        pool=LimiterPool(),
        fence=settings.fence,
        concurrency=concurrency,
    )
    with named_at(document.where, "spec.target"):
        return make_target(target, surroundings, where="spec.target")


def _circumstances(
    document: RunDocument, settings: Settings, options: RunOptions, judges: Sequence[JudgeManifest], replayed: str
) -> Circumstances:
    """What the manifest says beside what is graded how."""
    metadata = document.run.metadata or RunMetadata()
    return Circumstances(
        evalsi_version=__version__,
        argv=options.argv,
        git=git_state(document.folder),
        price_table_version=prices_of(settings).version,
        judges=judges,
        name=options.name or metadata.name,
        project=metadata.project or "default",
        labels={**metadata.labels, **options.labels, **({REPLAY_OF: replayed} if replayed else {})},
    )


def _refuse_unknown_prices(
    document: RunDocument,
    asked: TargetSpec | None,
    price: Callable[[str, Usage], float | None],
    judges: RunJudges,
) -> None:
    """Raises InvalidSpecError: a budget is in dollars, and a price of what is asked is unknown."""
    if asked is not None:
        refuse_unknown_price(asked, price, document)
    judges.refuse_unknown_prices()


def _unpinned_target(target: TargetSpec | None) -> list[Unpinned]:
    """What may answer otherwise although the specification is the same."""
    if target is None or target.connector in ("recorded", "none"):
        return []
    if target.connector:
        why = "a provider may change what stands behind a model's name, and sampling is not fully repeatable"
        return [Unpinned(what=f"target {target.connector}/{target.model}", why=why)]
    name = target.name or target.python or "agent"
    return [Unpinned(what=f"target {name}", why="it is code or a service whose version evalsi does not know")]


def _summary_plan(spec: RunSpec) -> SummaryPlan:
    summary = spec.summary
    if summary is None:
        return SummaryPlan()
    return SummaryPlan(
        level=summary.confidence_level or 0.95,
        cluster_by=summary.cluster_by or None,
        method="bootstrap" if summary.ci_method is CiMethod.BOOTSTRAP else "auto",
    )


def _refuse_what_nobody_gives(target: Target, panel: Panel, document: RunDocument) -> None:
    """Raises InvalidSpecError: an evaluator measures the steps of an answer, and this target's answers have none."""
    if "trajectory" in target.capabilities:
        return
    for evaluator in panel.evaluators:
        if "trajectory" in evaluator.definition.requires:
            raise InvalidSpecError(
                f"{evaluator.definition.name} needs the steps that led to an answer, and this target's answers have none",
                where=document.where("spec.evaluators"),
                hint="give spec.target.agent.http.trajectory_path where its answers hold them, or leave the evaluator out",
            )
