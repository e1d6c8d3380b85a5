"""The composition root: settings and a request in, ready services out. Nothing else makes a store or a client."""

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from evalsi.analyze.choose_runs import ChosenRun, RunChoice, choose_runs, results_files
from evalsi.client.server_address import ServerAddress
from evalsi.core.clock import SystemClock
from evalsi.core.errors import EvalsiError, InvalidDataError, UsageError
from evalsi.core.version import __version__
from evalsi.datasets import open_dataset
from evalsi.engine.evaluate import Evaluation
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import Definition, EvalContext
from evalsi.evaluators.catalog import load
from evalsi.infra.git_state import git_state
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.infra.store import open_run_store
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prices import PriceTable, load_prices, shipped_prices
from evalsi.judges.spend import Budget
from evalsi.ports.chat_model import ChatModel
from evalsi.ports.closable import Closable
from evalsi.ports.reward_model import RewardModels
from evalsi.ports.run_store import RunRow, RunStore
from evalsi.ports.sandbox import SandboxHost
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.read_document import read_document
from evalsi.results.recorder import Progress
from evalsi.results.stored_rows import GradedRows
from evalsi.schema import EvaluatorRef, JudgeManifest, JudgeSpec, Record
from evalsi.score.manifest import Circumstances, make_manifest, without_credentials
from evalsi.score.request import JudgeChoice, ScoreRequest
from evalsi.score.score_dataset import ScoreJob
from evalsi.settings import Settings
from evalsi.wiring.run_libraries import run_library

USUAL_KEY_VARIABLES = {"openai-compatible": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


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
    dataset = open_dataset(request.data, options=request.dataset)
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


@contextmanager
def local_store(settings: Settings) -> Generator[RunStore]:
    """The local store, where there is one. Raises: NotFoundError: there is none here yet."""
    store = open_run_store(settings.database, create=False)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def reading_run(reference: str, settings: Settings, server: ServerAddress | None = None) -> Generator[GradedRun]:
    """A run by id, name, `latest`, as a results file, or as the log of another tool (`inspect://path`).

    Args:
        server: Where runs are looked for; None for the store of this machine.

    Raises: NotFoundError: neither a file nor a run is called so.
    """
    if "://" in reference:
        from evalsi.results.imported_run import imported_run

        yield imported_run(reference)
        return
    path = Path(reference)
    if path.suffix.lower() == ".json" or path.is_file():
        yield read_document(path)
        return
    with run_library(settings, server) as library:
        yield library.open(library.find(reference).id)


def chosen_runs(choice: RunChoice, settings: Settings, server: ServerAddress | None = None) -> Iterator[ChosenRun]:
    """The runs of a choice, opened one after the other: those of the store or server oldest first, then the files.

    Raises: NotFoundError: a run or file is not there, as soon as it is its turn.
    """
    files = results_files(choice.results)
    if choice.asks_store:
        with run_library(settings, server) as library:
            for row in choose_runs(library, choice):
                yield ChosenRun(row, library.open(row.id))
    for path in files:
        yield ChosenRun(None, read_document(path))


def export_archive(reference: str, path: Path, settings: Settings) -> None:
    """Writes a stored run to `path` as one file that another store can take in.

    Raises:
        NotFoundError: no run is called so.
        UsageError: a results file was named, which is no run of the store.
        StoreError: the file cannot be written.
    """
    from evalsi.infra.store.run_archive import export_run

    if Path(reference).is_file():
        raise UsageError(f"{reference} is a file, and only runs of the store become archives", hint="name a run")
    with local_store(settings) as store:
        export_run(store, store.find(reference).id, path)


def import_archive(path: Path, settings: Settings) -> RunRow:
    """Takes the run in the file into the local store, which is made where there is none.

    Raises: NotFoundError, InvalidDataError: no such file, or no exported run. UsageError: the store has the run already.
    """
    from evalsi.infra.store.run_archive import import_run

    store = open_run_store(settings.database)
    try:
        return import_run(store, path)
    finally:
        store.close()


def import_logs(
    sources: Sequence[str], settings: Settings, *, labels: Mapping[str, str], on_invalid: Literal["stop", "skip"]
) -> list[tuple[RunRow, list[str]]]:
    """Takes the runs in logs of other tools into the local store: each with what a reader of it should know.

    All sources are read before anything is stored; a run that is there already stays as it is.

    Raises: NotFoundError, UnknownNameError, InvalidDataError: a source is no log, or a sample of it cannot be read.
    """
    from evalsi.results.imported_run import imported_runs, keep_imported

    runs = [run for source in sources for run in imported_runs(source, on_invalid=on_invalid)]
    store = open_run_store(settings.database)
    kept: list[tuple[RunRow, list[str]]] = []
    try:
        for run in runs:
            manifest = msgspec.structs.replace(run.manifest, labels={**run.manifest.labels, **labels})
            kept.append((keep_imported(replace(run, manifest=manifest), store, SystemClock()), manifest.warnings))
        return kept
    finally:
        store.close()


def kept_run(run_id: str, settings: Settings) -> GradedRun:
    """A run of the local store that opens it anew for every pass, so that it may be held for long."""

    def read() -> Generator[GradedRows]:
        with local_store(settings) as store:
            yield from stored_run(store, run_id).read_rows()

    with local_store(settings) as store:
        return replace(stored_run(store, run_id), read_rows=read)


def make_judge(choice: JudgeChoice, settings: Settings, *, use_cache: bool = True) -> ModelJudge:
    """The judge of a choice, with the settings' defaults behind it.

    Raises: UsageError, UnknownNameError: the choice is incomplete, or its key is not set.
    """
    choice = with_defaults(choice, settings)
    if not choice.provider:
        raise UsageError("no judge provider was named", hint="add --judge-provider openai-compatible or anthropic")
    if not choice.model and choice.provider != "recorded":
        raise UsageError("no judge model was named", hint="add --judge-model NAME")
    judge_settings = JudgeSettings(
        provider=choice.provider,
        model=choice.model or "recorded",
        max_tokens=choice.max_tokens,
        temperature=0.0 if choice.temperature is None else choice.temperature,
        top_p=choice.top_p,
        seed=choice.seed,
        effort=choice.effort or None,
        response_format=choice.response_format,
    )
    model = _chat_model(choice, settings)
    cache = None
    if use_cache and choice.provider != "recorded":
        from evalsi.infra.reply_cache import SqliteReplyCache

        cache = SqliteReplyCache(settings.reply_cache)
    try:
        return ModelJudge(
            model,
            judge_settings,
            cache=cache,
            prices=prices_of(settings),
            budget=Budget(max_usd=choice.max_usd, max_tokens=choice.max_total_tokens),
        )
    except EvalsiError:
        if cache is not None:
            cache.close()
        raise


def judge_choice(spec: JudgeSpec) -> JudgeChoice:
    """A judge of a specification as the Score door names one."""
    return JudgeChoice(
        provider=spec.provider,
        model=spec.model,
        base_url=spec.base_url,
        api_key_env=spec.api_key_env,
        effort=spec.effort,
        max_tokens=spec.max_tokens or None,
        temperature=spec.temperature,
        top_p=spec.top_p,
        seed=spec.seed,
        response_format="text" if spec.response_format == "text" else "json_schema",
        requests_per_minute=spec.requests_per_minute or None,
        tokens_per_minute=spec.tokens_per_minute or None,
        max_concurrency=spec.max_concurrency or None,
        timeout_s=spec.timeout or None,
        max_retries=spec.max_retries,
        max_usd=spec.max_usd,
        max_total_tokens=spec.max_total_tokens or None,
        recording=spec.recording,
    )


def with_defaults(choice: JudgeChoice, settings: Settings) -> JudgeChoice:
    """The choice, its empty fields filled from EVALSI_JUDGE_*."""
    if choice.provider == "recorded":
        return choice
    defaults = settings.judge
    return replace(
        choice,
        provider=choice.provider or defaults.provider,
        model=choice.model or defaults.model,
        base_url=choice.base_url or defaults.base_url,
        api_key_env=choice.api_key_env or defaults.api_key_env,
        effort=choice.effort or defaults.effort,
    )


def _wants_judge(request: ScoreRequest, settings: Settings) -> bool:
    """A judge that was named is made, so that a mistake in its name shows; the default one only where one is asked."""
    if request.judge.is_named:
        return True
    return bool(settings.judge.provider or settings.judge.model) and any(map(_asks_judge, request.evaluators))


def _asks_judge(choice: EvaluatorRef | Definition) -> bool:
    return _requires(choice, "judge")


def _requires(choice: EvaluatorRef | Definition, need: str) -> bool:
    try:
        definition = choice if isinstance(choice, Definition) else load(choice.ref)
    except EvalsiError:
        return False  # Binding says what is wrong with it.
    return need in definition.requires


def lent_sandbox(choices: Sequence[EvaluatorRef | Definition], settings: Settings) -> SandboxHost | None:
    """Where programs run, if any of the evaluators runs some. Nothing is started before it is needed."""
    if not any(_requires(choice, "sandbox") for choice in choices):
        return None
    from evalsi.wiring.sandboxing import make_sandbox_host

    return make_sandbox_host(settings)


def lent_reward_models(choices: Sequence[EvaluatorRef | Definition], settings: Settings) -> RewardModels | None:
    """What asks reward models, if any of the evaluators has one asked. Nothing is asked yet."""
    if not any(_requires(choice, "reward-model") for choice in choices):
        return None
    return make_reward_models(settings)


def make_reward_models(settings: Settings) -> RewardModels:
    from evalsi.infra.models.reward_models import RewardModelAccess, RewardModelClients

    return RewardModelClients(
        RewardModelAccess(secret=settings.secret, proxy=settings.proxy or None, fence=settings.fence)
    )


def closing(*lent: Closable | None) -> Callable[[], Awaitable[None]] | None:
    """Closes what evaluators were lent, on the loop that used it; None where there is nothing."""
    to_close = [each for each in lent if each is not None]
    if not to_close:
        return None

    async def close() -> None:
        for each in to_close:
            await each.close()

    return close


def _chat_model(choice: JudgeChoice, settings: Settings) -> ChatModel:
    if choice.provider == "recorded":
        from evalsi.infra.models.recorded import RecordedModel

        if not choice.recording:
            raise UsageError("a recorded judge needs its recording", hint="add --judge-recording FILE")
        return RecordedModel(Path(choice.recording))
    from evalsi.infra.models.endpoint import Access
    from evalsi.infra.models.limits import Limits
    from evalsi.infra.models.retries import RetryPolicy

    variable = choice.api_key_env or USUAL_KEY_VARIABLES.get(choice.provider, "")
    # A local model needs no key; a variable that was named must be set.
    local = choice.provider == "openai-compatible" and bool(choice.base_url) and not choice.api_key_env
    key = settings.environment.get(variable, "") if local else settings.secret(variable)
    limits = Limits(
        requests_per_minute=choice.requests_per_minute,
        tokens_per_minute=choice.tokens_per_minute,
        max_concurrency=choice.max_concurrency or Limits().max_concurrency,
    )
    usual = RetryPolicy()
    retries = RetryPolicy(
        attempts=usual.attempts if choice.max_retries is None else choice.max_retries + 1,
        attempt_s=choice.timeout_s or usual.attempt_s,
    )
    if choice.provider == "anthropic":
        from evalsi.infra.models.anthropic import DEFAULT_BASE_URL, AnthropicModel

        return AnthropicModel(
            Access(
                base_url=choice.base_url or DEFAULT_BASE_URL,
                api_key=key,
                proxy=settings.proxy or None,
                fence=settings.fence,
                limits=limits,
                retries=retries,
            )
        )
    if choice.provider != "openai-compatible":
        from evalsi.core.errors import UnknownNameError

        raise UnknownNameError("judge provider", choice.provider, ["openai-compatible", "anthropic", "recorded"])
    from evalsi.infra.models.openai import DEFAULT_BASE_URL, OpenAICompatibleModel

    return OpenAICompatibleModel(
        Access(
            base_url=choice.base_url or DEFAULT_BASE_URL,
            api_key=key or None,
            proxy=settings.proxy or None,
            fence=settings.fence,
            limits=limits,
            retries=retries,
        )
    )


def prices_of(settings: Settings) -> PriceTable:
    return shipped_prices() if settings.prices is None else load_prices(settings.prices)


def judge_manifests(
    judge: ModelJudge | None, choice: JudgeChoice, settings: Settings
) -> Callable[[], list[JudgeManifest]]:
    if judge is None:
        return list
    base_url = without_credentials(with_defaults(choice, settings).base_url)

    def now() -> list[JudgeManifest]:
        plain: dict[str, Any] = msgspec.to_builtins(judge.settings)
        return [
            JudgeManifest(
                name=judge.name,
                provider=judge.settings.provider,
                model=judge.settings.model,
                base_url=base_url,
                settings={key: value for key, value in plain.items() if value is not None},
                settings_sha256=judge.fingerprint.removeprefix("sha256:"),
                usage=judge.spend.as_usage(),
            )
        ]

    return now


def _baselines(request: ScoreRequest) -> Mapping[str, Record]:
    if request.baseline is None:
        return {}
    options = replace(request.dataset, where=None, limit=None, sample=None)
    found = {record.id: record for record in open_dataset(request.baseline, options=options).records()}
    if not found:
        raise InvalidDataError("the baseline has no record", where=str(request.baseline))
    return found
