"""`evalsi.evaluate` and `evalsi.aevaluate`: grade outputs from Python.

result = evalsi.evaluate("outputs.jsonl", ["exact-match", polite], mapping={"input": "question"})
print(result)
result.require("exact-match", min=0.8)
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Unpack, cast

from evalsi.core.errors import UnknownNameError
from evalsi.datasets import DatasetOptions
from evalsi.embedded.result import EvalResult
from evalsi.engine.summary import SummaryPlan
from evalsi.evaluators.api import Definition, evaluator
from evalsi.evaluators.choose import choices_of
from evalsi.schema import EvaluatorRef
from evalsi.score.request import JudgeChoice, ScoreRequest, judge_of
from evalsi.score.score_dataset import Scored, score_dataset, score_dataset_now
from evalsi.settings import Settings
from evalsi.wiring.evaluator_programs import know_evaluator_programs
from evalsi.wiring.reading_runs import kept_run
from evalsi.wiring.scoring import scoring

Choice = str | EvaluatorRef | Definition | Callable[..., Any]
T = TypeVar("T")


class EvaluateOptions(TypedDict, total=False):
    """The options of `evaluate` and `aevaluate`; all may be left out."""

    params: Mapping[str, Mapping[str, Any]]
    """By evaluator name or alias, e.g. {"contains": {"substring": "refund"}}."""
    mapping: Mapping[str, str]
    """Record field to column, e.g. {"input": "question"}."""
    judge: JudgeChoice | Mapping[str, Any]
    """Which model judges, e.g. {"provider": "anthropic", "model": "…"}; there is no default."""
    baseline: Any
    """Outputs that comparative evaluators compare with, matched by id."""
    limit: int
    """Only the first records."""
    sample: int
    """Only so many records, drawn at random with `seed`."""
    seed: int
    where: str
    """Only records for which this CEL condition holds, e.g. 'metadata.topic == "billing"'."""
    on_invalid: Literal["stop", "skip"]
    """Whether a row that cannot be read stops everything (the default) or is left out and listed."""
    concurrency: int
    """Judge calls (async evaluations) in flight at once; 16 by default."""
    confidence: float
    """Level of the intervals, a fraction; 0.95 by default."""
    cluster_by: str
    """Metadata key that groups records which are not independent."""
    ci: Literal["auto", "bootstrap"]
    """"bootstrap" resamples instead of the interval that suits each metric."""
    name: str
    """What the run is called."""
    labels: Mapping[str, str]
    resume: bool
    """With `store`, continue an interrupted run of the same work."""


def evaluate(
    data: Any, evaluators: Choice | Sequence[Choice], *, store: bool = False, **options: Unpack[EvaluateOptions]
) -> EvalResult:
    """Grades outputs that exist. Works in a script, in a notebook (inside a running event loop) and in threads.

    Args:
        data: A path (JSONL, JSON, CSV, TSV, Parquet; also gzip and zstd), a glob or folder, a list or iterable of
            dicts or Records, or a pandas, polars or Arrow table.
        evaluators: References ("exact-match", "./checks.py:polite"), decorated evaluators, or plain functions of a
            record; a reference may be prefixed with an alias ("strict=exact-match").
        store: Whether to keep the run in the local store (`.evalsi`), as the command line does.
        options: See `EvaluateOptions`.

    Raises:
        EvalsiError: one sentence on what is wrong; nothing was started.
    """
    request = _request(data, evaluators, options)
    return _outside_any_loop(lambda: _run(request, store=store))


async def aevaluate(
    data: Any, evaluators: Choice | Sequence[Choice], *, store: bool = False, **options: Unpack[EvaluateOptions]
) -> EvalResult:
    """`evaluate` for a running event loop: other tasks go on while judges are waited for."""
    settings = _settings()
    with scoring(_request(data, evaluators, options), settings, keep=store) as job:
        scored = await score_dataset(job)
    return _result(scored, settings, store=store)


def _run(request: ScoreRequest, *, store: bool) -> EvalResult:
    settings = _settings()
    with scoring(request, settings, keep=store) as job:
        scored = score_dataset_now(job)
    return _result(scored, settings, store=store)


def _settings() -> Settings:
    """Those of the environment, as it is now, with its programs that grade made known."""
    settings = Settings.from_environment()
    know_evaluator_programs(settings)
    return settings


def _result(scored: Scored, settings: Settings, *, store: bool) -> EvalResult:
    run = kept_run(scored.run.manifest.run_id, settings) if store else scored.run
    return EvalResult(run, interrupted=scored.interrupted)


def _request(data: Any, evaluators: Choice | Sequence[Choice], options: EvaluateOptions) -> ScoreRequest:
    unknown = set(options) - set(EvaluateOptions.__annotations__)
    if unknown:
        raise UnknownNameError("option", min(unknown), EvaluateOptions.__annotations__)
    single = isinstance(evaluators, (str, EvaluatorRef, Definition)) or callable(evaluators)
    listed = cast("list[Choice]", [evaluators] if single else list(evaluators))  # pyright: ignore[reportArgumentType]
    judge = options.get("judge", {})
    seed = options.get("seed", 0)
    return ScoreRequest(
        data=data,
        evaluators=choices_of([_choice(each) for each in listed], options.get("params", {})),
        dataset=DatasetOptions(
            mapping=dict(options.get("mapping", {})),
            limit=options.get("limit"),
            sample=options.get("sample"),
            seed=seed,
            where=options.get("where"),
            on_invalid=options.get("on_invalid", "stop"),
        ),
        baseline=options.get("baseline"),
        judge=judge if isinstance(judge, JudgeChoice) else judge_of(judge),
        concurrency=options.get("concurrency", 16),
        plan=SummaryPlan(
            level=options.get("confidence", 0.95),
            cluster_by=options.get("cluster_by"),
            method=options.get("ci", "auto"),
            seed=seed,
        ),
        name=options.get("name", ""),
        labels=dict(options.get("labels", {})),
        resume=options.get("resume", False),
    )


def _choice(choice: Choice) -> str | EvaluatorRef | Definition:
    return choice if isinstance(choice, (str, EvaluatorRef, Definition)) else evaluator(choice)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _outside_any_loop(work: Callable[[], T]) -> T:
    """Calls `work` where it may start an event loop: here, or in a thread when a loop is already running here."""
    if not _in_a_loop():
        return work()
    outcome: list[T] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def target() -> None:
        try:
            outcome.append(context.run(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="evalsi-evaluate")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
