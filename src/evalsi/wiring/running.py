"""From a run's specification to a job that is ready: target, judges, dataset, panel, store."""

import platform
import shlex
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from evalsi.core.clock import SystemClock
from evalsi.core.errors import InvalidSpecError, UsageError
from evalsi.core.run_reference import REPLAY_OF, RESCORED_FROM, RunIdentity, none_labelled, resolve_run
from evalsi.core.version import __version__
from evalsi.datasets import Dataset, DatasetOptions, open_dataset
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.infra.git_state import git_state
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.scan_files import ScanFiles
from evalsi.infra.store import open_run_store
from evalsi.infra.targets.make_target import Surroundings, make_target
from evalsi.judges.judge import ModelJudge
from evalsi.judges.prices import Price, PriceTable
from evalsi.judges.spend import Spend
from evalsi.ports.run_store import RunStore
from evalsi.ports.target import Target
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.read_document import read_document
from evalsi.results.rebuilt_summaries import plan_of as plan_of_manifest
from evalsi.results.recorder import Progress
from evalsi.run.budget_watch import RunBudget
from evalsi.run.gates.baseline import baseline_reference
from evalsi.run.gates.gate_plan import plan_of
from evalsi.run.missing_fields import needed_fields, refuse_missing_fields
from evalsi.run.run_job import RunJob
from evalsi.run.spec.own_judge import HOW_TO_NAME
from evalsi.run.spec.read_run_spec import RunDocument, kept_run_spec
from evalsi.run.stored_answers import StoredAnswers
from evalsi.schema import (
    CiMethod,
    DatasetSource,
    DatasetVersionRef,
    EvalRun,
    EvaluatorRef,
    JudgeManifest,
    Record,
    RunManifest,
    RunMetadata,
    RunSpec,
    Unpinned,
    Usage,
)
from evalsi.schema import Target as TargetSpec
from evalsi.score.manifest import Circumstances, installed_versions, make_manifest
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.wiring.calibrations import calibration_warnings
from evalsi.wiring.judging import judge_choice, judge_manifests, make_judge, prices_of
from evalsi.wiring.lending import closing, lent_reward_models, lent_sandbox
from evalsi.wiring.reading_runs import local_store
from evalsi.wiring.trace_libraries import LOCAL_PROJECT
from evalsi.wiring.trace_records import condition_of, records_of_traces

if TYPE_CHECKING:
    from evalsi.run.plan import RunPlan

DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the caller adds to a specification."""

    concurrency: int | None = None
    """Questions to the target in flight; by default the specification's, else 16."""
    use_cache: bool = True
    resume: bool = True
    continues: str = ""
    """Continue this run and no other."""
    retry_errors: bool = False
    """Ask again where the infrastructure failed and that was stored, also in a run that has succeeded."""
    replay: str = ""
    """A run whose answers stand in for the target: nobody is asked."""
    argv: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    served: "Served | None" = None
    on_progress: Callable[[Progress], None] | None = None
    on_judges: Callable[[Mapping[str, Spend]], None] = lambda _spends: None
    """Told once, by name, where the judges count what they use."""
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, kw_only=True)
class Served:
    """What differs when a server runs a specification that was sent to it."""

    spec: RunSpec
    """The specification with its paths confined (`run.spec.served`); what was sent is what is remembered."""
    version_path: Callable[[DatasetVersionRef], Path]
    """The file of a version in the catalogue of datasets."""
    version_sha256: Callable[[DatasetVersionRef], str]
    """The digest that the version has there."""
    traces: Callable[[DatasetSource], Iterator[Record]]
    """The records of a query of traces."""


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
    concurrency = options.concurrency or (spec.target.max_concurrency if spec.target is not None else 0)
    concurrency = concurrency or DEFAULT_CONCURRENCY
    target: Target | None = answers
    if target is None and spec.target is not None:
        target = _target(spec.target, document.folder, settings, concurrency)
    judges = _Judges(spec, settings, use_cache=options.use_cache)
    judges.refuse_unnamed(document)
    options.on_judges({name: judge.spend for name, judge in judges.named.items()})
    plan = _summary_plan(spec)
    sandbox = lent_sandbox(document.evaluators.refs, settings)
    reward_models = None if settings.fence is not None else lent_reward_models(document.evaluators.refs, settings)
    main = EvalContext(judge=judges.main, sandbox=sandbox, reward_models=reward_models, level=plan.level)
    contexts = {name: replace(main, judge=judge) for name, judge in judges.named.items()}
    panel = Panel(evaluators=bind_all(document.evaluators.refs, main, contexts), concurrency=concurrency)
    if target is not None:
        _refuse_what_nobody_gives(target, panel, document)
    dataset, dataset_options, source = _dataset(document, store, served, settings)
    if answers is not None and spec.dataset is None:
        dataset = open_dataset(answers.records)
    if answers is None:
        _refuse_what_no_record_has(dataset, dataset_options, panel, document)
    circumstances = _circumstances(document, settings, options, judges.manifests())
    if replayed:
        circumstances = replace(circumstances, labels={**circumstances.labels, REPLAY_OF: replayed})
    manifest = make_manifest(
        panel.evaluators, source=source, dataset=dataset_options, plan=plan, circumstances=circumstances
    )
    if served is not None:
        manifest = _with_known_digest(manifest, served)
    budget = _budget(spec)
    price = _price_of(spec.target, prices_of(settings))
    if budget.usd is not None:
        if answers is None and spec.target is not None:
            _refuse_unknown_price(spec.target, price, document)
        judges.refuse_unknown_prices(document)
    return RunJob(
        target=target,
        dataset=dataset,
        panel=panel,
        plan=plan,
        store=store,
        clock=SystemClock(),
        manifest=msgspec.structs.replace(
            manifest,
            spec=document.spec,
            spec_folder=str(document.folder.resolve()) if served is None else "",
            warnings=[*manifest.warnings, *calibration_warnings(spec.gates, panel, manifest, settings)],
            unpinned=[*manifest.unpinned, *(_unpinned_target(spec.target) if answers is None else [])],
        ),
        trials=max(1, spec.trials),
        concurrency=concurrency,
        budget=budget,
        price=price,
        gates=spec.gates,
        gate_plan=plan_of(spec),
        # Runs are listed only for who asks: a store may hold very many.
        open_baseline=_baselines(store, document.folder) if _names_a_baseline(spec) else None,
        resume=options.resume,
        continues=options.continues,
        retry_errors=options.retry_errors,
        judges=judges.manifests,
        on_progress=options.on_progress,
        stopped=options.stopped,
        close=closing(judges, sandbox, reward_models),
    )


def _with_known_digest(manifest: RunManifest, served: Served) -> RunManifest:
    """The manifest with the digest that a version in the catalogue of datasets has there."""
    source, dataset = served.spec.dataset, manifest.dataset
    if source is None or source.catalog is None or dataset is None:
        return manifest
    known = msgspec.structs.replace(dataset, sha256=served.version_sha256(source.catalog))
    return msgspec.structs.replace(manifest, dataset=known)


def _target(target: TargetSpec, folder: Path, settings: Settings, concurrency: int) -> Target:
    surroundings = Surroundings(
        secret=settings.secret,
        unnamed_key=settings.unnamed_key,
        environment=settings.environment,
        folder=folder,
        proxy=settings.proxy,
        pool=LimiterPool(),
        fence=settings.fence,
        concurrency=concurrency,
    )
    return make_target(target, surroundings, where="spec.target")


def _circumstances(
    document: RunDocument, settings: Settings, options: RunOptions, judges: Sequence[JudgeManifest]
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
        labels={**metadata.labels, **options.labels},
    )


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


def kept_document(reference: str, settings: Settings) -> tuple[RunDocument, RunManifest]:
    """What a stored run was to do, as it was read then, and its manifest.

    Raises:
        NotFoundError: there is no such run.
        UsageError: it had no specification: it was made by `evalsi eval` or `evalsi rescore`.
        InvalidSpecError: the specification is no longer right, for example because an evaluator has gone.
    """
    with local_store(settings) as store:
        manifest = store.manifest(store.find(reference).id)
    if manifest.spec is None:
        again = shlex.join(manifest.argv) if manifest.argv else "the same call"
        raise UsageError(f"run {manifest.run_id[:8]} has no specification", hint=f"do it again with: {again}")
    metadata = RunMetadata(name=manifest.name, project=manifest.project, labels=manifest.labels)
    run = EvalRun(metadata=metadata, spec=manifest.spec)
    document = kept_run_spec(run, name=f"run {manifest.run_id[:8]}", folder=Path(manifest.spec_folder))
    return document, manifest


def what_changed(manifest: RunManifest, folder: Path) -> list[str]:
    """What is not as it was when the run was made, each as a sentence: versions and code that can change results."""
    changed: list[str] = []
    then = {**manifest.packages, "evalsi": manifest.evalsi_version, "python": manifest.python_version}
    now = {
        "evalsi": __version__,
        "python": platform.python_version(),
        **installed_versions(sorted(manifest.packages.keys() - {"evalsi"})),
    }
    for name, version in then.items():
        if version and now.get(name, "none") != version:
            changed.append(f"{name} was {version} and is now {now.get(name, 'none')}")
    git = git_state(folder)
    if manifest.git is not None:
        if git is None or git.commit != manifest.git.commit:
            changed.append(
                f"the code was at commit {manifest.git.commit[:12]} and is now at {git.commit[:12] if git else 'none'}"
            )
        if manifest.git.dirty:
            changed.append("the code had changes that were not committed")
    return changed


class _Judges:
    """The judges a specification names, made once each."""

    def __init__(self, spec: RunSpec, settings: Settings, *, use_cache: bool) -> None:
        self.named: dict[str, ModelJudge] = {}
        self._choices: dict[str, JudgeChoice] = {}
        wanted = {spec.judge, *(ref.judge for ref in spec.evaluators)}
        for name in sorted(wanted & spec.judges.keys()):
            choice = judge_choice(spec.judges[name])
            self._choices[name] = choice
            self.named[name] = make_judge(choice, settings, use_cache=use_cache)
        self._settings = settings
        self.main: ModelJudge | None = self.named.get(spec.judge)
        if self.main is None and (settings.judge.provider or settings.judge.model):
            choice = JudgeChoice()
            self._choices[""] = choice
            self.main = self.named[""] = make_judge(choice, settings, use_cache=use_cache)

    def manifests(self) -> list[JudgeManifest]:
        return [
            manifest
            for name, judge in self.named.items()
            for manifest in judge_manifests(judge, self._choices[name], self._settings)()
        ]

    def refuse_unnamed(self, document: RunDocument) -> None:
        """Raises: InvalidSpecError: an evaluator asks a judge and nothing says which."""
        waiting = document.evaluators.needs_judge
        if not waiting or self.main is not None:
            return
        named = document.spec.judge
        raise InvalidSpecError(
            f"{waiting[0]} asks a judge and "
            + (f"there is none called {named!r}" if named else "none was named; there is no default judge"),
            where=document.where("spec.judge" if named else "spec.evaluators"),
            hint=f"under spec, {HOW_TO_NAME}; or add --judge-provider and --judge-model",
        )

    def refuse_unknown_prices(self, document: RunDocument) -> None:
        """Raises: InvalidSpecError: what a judge costs is not known, so a budget in dollars cannot be kept."""
        prices = prices_of(self._settings)
        for judge in self.named.values():
            if judge.settings.provider != "recorded" and prices.find(judge.settings.model) is None:
                raise InvalidSpecError(
                    f"a budget in dollars cannot be kept: the price of the judge {judge.settings.model!r} is unknown",
                    where=document.where("spec.budget"),
                    hint="give a budget in tokens, or a price table: EVALSI_PRICES",
                )

    async def close(self) -> None:
        for judge in self.named.values():
            await judge.close()


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


def _budget(spec: RunSpec) -> RunBudget:
    budget = spec.budget
    if budget is None:
        return RunBudget()
    return RunBudget(
        target_tokens=budget.max_target_tokens or None,
        judge_tokens=budget.max_judge_tokens or None,
        usd=budget.max_usd,
        wall_clock_s=budget.max_wall_clock or None,
    )


def _price_of(target: TargetSpec | None, prices: PriceTable) -> Callable[[str, Usage], float | None]:
    """What an answer costs: by the target's own prices, else by the table; the model asked for stands in for one that
    the provider names differently.
    """
    if target is not None and target.pricing is not None:
        own = Price(input=target.pricing.input_per_mtok, output=target.pricing.output_per_mtok)
        table = PriceTable(version="spec", models={target.model or "target": own})
        return lambda _, usage: table.cost(target.model or "target", usage).usd
    asked = target.model if target is not None else ""
    names: dict[str, str] = {}
    """By model that answered: the name it has a price under."""

    def price(model: str, usage: Usage) -> float | None:
        known = names.get(model)
        if known is None:
            known = names[model] = next((name for name in (model, asked) if prices.find(name) is not None), "")
        return prices.cost(known, usage).usd if known or usage.cost_usd is not None else None

    return price


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


def _refuse_what_no_record_has(dataset: Dataset, options: DatasetOptions, panel: Panel, document: RunDocument) -> None:
    """Raises InvalidSpecError: an evaluator or the target needs a field that no record has; a column was not mapped."""
    refuse_missing_fields(
        dataset,
        needed_fields(panel.evaluators, document.spec.target),
        is_chosen=bool(options.limit or options.sample or options.where),
        where=document.where("spec.dataset"),
    )


def _refuse_unknown_price(
    target: TargetSpec, price: Callable[[str, Usage], float | None], document: RunDocument
) -> None:
    if price(target.model, Usage(input_tokens=1, output_tokens=1)) is None:
        raise InvalidSpecError(
            f"a budget in dollars cannot be kept: the price of {target.model or 'the target'!r} is unknown",
            where=document.where("spec.budget"),
            hint="give target.pricing, or a budget in tokens",
        )


def _dataset(
    document: RunDocument, store: RunStore, served: Served | None, settings: Settings
) -> tuple[Dataset, DatasetOptions, str]:
    named = document.spec.dataset
    source = named if served is None else served.spec.dataset
    if source is None:
        return open_dataset([]), DatasetOptions(), ""
    options = DatasetOptions(
        mapping=source.mapping,
        limit=source.limit or None,
        where=condition_of(source),
        sample=source.sample or None,
        seed=source.seed,
        on_invalid="skip" if source.skip_invalid else "stop",
        format=source.format or None,
    )
    data: Any
    if source.inline is not None:
        data, name = list(source.inline.records), "inline"
    elif source.run is not None:
        run = stored_run(store, store.find(source.run.run_id).id)
        data, name = StoredAnswers(run).outputs(source.run.trial), f"run {source.run.run_id}"
    elif source.uri is not None:
        data = name = source.uri
    elif source.path is not None:
        if served is not None and named is not None and named.path is not None:
            # A Path names one file or folder; a text could be a pattern and lead out of the root after all.
            data, name = Path(source.path), named.path
        else:
            data = name = source.path if source.path == "-" else str(document.folder / source.path)
    elif source.catalog is not None and served is not None:
        data, name = served.version_path(source.catalog), f"{source.catalog.name}@{source.catalog.version}"
    elif source.traces is not None:
        data, name = _traces(source, served, settings), f"traces of {source.traces.service}".removesuffix(" of ")
    else:
        raise UsageError("this kind of dataset needs a server", hint="name a path, a uri, inline records or a run")
    dataset = open_dataset(data, options=options, memory=ScanFiles(settings.scans) if served is None else None)
    return dataset, options, name


def _traces(source: DatasetSource, served: Served | None, settings: Settings) -> Iterator[Record]:
    if served is not None:
        return served.traces(source)
    return records_of_traces(str(settings.database), LOCAL_PROJECT, source, SystemClock().now())


def _names_a_baseline(spec: RunSpec) -> bool:
    return bool(spec.baseline) or any(gate.baseline for gate in spec.gates)


def _baselines(store: RunStore, folder: Path) -> Callable[[str], GradedRun]:
    """Opens the run that a gate names. The latest is the latest that had finished before this run began: a run is never
    its own baseline.
    """
    finished = [row for row in store.runs() if row.status == "succeeded"]
    identities = [RunIdentity(row.id, row.name, row.created_at) for row in finished]

    def open_baseline(reference: str) -> GradedRun:
        named = baseline_reference(reference)
        if named.path:
            return read_document(folder / named.path)
        if named.labels:
            found = next((row.id for row in finished if named.labels.items() <= row.labels.items()), None)
            if found is None:
                raise none_labelled(named.labels, "finished run")
            return stored_run(store, found)
        return stored_run(store, resolve_run(named.run, identities))

    return open_baseline


def planning(document: RunDocument, settings: Settings, options: RunOptions) -> "RunPlan":
    """The plan of a run; nobody is asked."""
    from evalsi.run.plan import plan_run

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
