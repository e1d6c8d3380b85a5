"""A scoring job whose evaluators are on a server: the dataset is read here, the run is written down here."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from evalsi.client.async_client import AsyncClient
from evalsi.client.client import Client
from evalsi.client.server_address import ServerAddress
from evalsi.client.server_catalog import manifest_named
from evalsi.client.server_grader import ServerGrader
from evalsi.core.canonical import digest
from evalsi.core.clock import SystemClock
from evalsi.core.errors import EvalsiError, UsageError
from evalsi.core.version import __version__
from evalsi.datasets import open_dataset
from evalsi.evaluators.binding import manifest_of
from evalsi.evaluators.catalog import load
from evalsi.infra.git_state import git_state
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.infra.store import open_run_store
from evalsi.ports.run_store import RunStore
from evalsi.results.recorder import Progress
from evalsi.schema import (
    BoundRunEvaluator,
    EvaluateRequest,
    EvaluatorManifest,
    EvaluatorRef,
    ListEvaluatorsRequest,
    Unpinned,
)
from evalsi.score.grade_records import check_installed
from evalsi.score.manifest import Circumstances, make_manifest
from evalsi.score.request import ScoreRequest
from evalsi.score.score_dataset import ScoreJob
from evalsi.settings import Settings


@contextmanager
def scoring_on_server(
    request: ScoreRequest,
    settings: Settings,
    server: ServerAddress,
    *,
    keep: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[ScoreJob]:
    """As `wiring.scoring`, with the evaluators and judges of a server.

    Raises: EvalsiError: whatever is wrong with the request, or that the server cannot be reached. Nothing has been graded
        then.
    """
    refs = _refs_of(request)
    call = EvaluateRequest(project=server.project, evaluators=refs, judge=request.judge.name)
    with Client.at(server) as client:
        manifests = client.list_evaluators(ListEvaluatorsRequest()).evaluators
        bound = [_bound(ref, request, manifest_named(ref.ref, manifests)) for ref in refs]
        client.evaluate(call)  # without records: the server says what is wrong with the params and the judge
    dataset = open_dataset(request.data, options=request.dataset)
    circumstances = Circumstances(
        evalsi_version=__version__,
        argv=request.argv,
        git=git_state(Path.cwd()),
        name=request.name,
        labels=request.labels,
        project=server.project or "default",
    )
    made = make_manifest(
        [], source=dataset.name, dataset=request.dataset, plan=request.plan, circumstances=circumstances
    )
    why = "its evaluators and judges are what is installed and configured there"
    manifest = msgspec.structs.replace(
        made, evaluators=bound, unpinned=[Unpinned(what=f"server {server.url}", why=why)]
    )
    calls = AsyncClient.at(server)
    store: RunStore = open_run_store(settings.database) if keep else MemoryRunStore()
    try:
        yield ScoreJob(
            dataset=dataset,
            grader=ServerGrader(calls, bound, call, stopped),
            evaluator_digests=[digest((server.url, msgspec.to_builtins(each))) for each in bound],
            plan=request.plan,
            store=store,
            clock=SystemClock(),
            manifest=manifest,
            resume=request.resume and keep,
            on_progress=on_progress,
            close=calls.close,
        )
    finally:
        if keep:
            store.close()


def _refs_of(request: ScoreRequest) -> list[EvaluatorRef]:
    """The evaluators. Raises: UsageError: something was asked for that a server does not do."""
    if request.judge.is_named:
        raise UsageError(
            "a server asks its own judges",
            where="judge",
            hint="name one of them with --judge, or score on this machine",
        )
    if request.baseline is not None:
        raise UsageError("a server takes no baseline", where="baseline", hint="score on this machine")
    refs = [each for each in request.evaluators if isinstance(each, EvaluatorRef)]
    if len(refs) < len(request.evaluators):
        raise UsageError(
            "a function of this program cannot be sent to a server", hint="score without a server, or install it there"
        )
    check_installed(refs)
    return refs


def _bound(ref: EvaluatorRef, request: ScoreRequest, manifest: EvaluatorManifest) -> BoundRunEvaluator:
    asks = manifest.requires is not None and manifest.requires.judge
    judge = ref.judge or request.judge.name
    return BoundRunEvaluator(
        name=ref.name or manifest.name,
        manifest=manifest,
        params=_all_params(ref, manifest),
        judge=judge if asks else "",
    )


def _all_params(ref: EvaluatorRef, manifest: EvaluatorManifest) -> dict[str, Any]:
    """The params in force: those that were given, and the defaults, as a run of this machine writes them down.

    Where this machine lacks the server's evaluator, the defaults are those that its schema tells.

    Raises: UnknownNameError, InvalidParamsError: the params are wrong.
    """
    try:
        definition = load(ref.ref)
    except EvalsiError:
        definition = None
    if definition is not None and manifest_of(definition) == manifest:
        return msgspec.to_builtins(definition.make_params(ref.params))
    told: dict[str, dict[str, Any]] = manifest.params_schema.get("properties", {})
    return {name: about["default"] for name, about in told.items() if "default" in about} | dict(ref.params)
