"""The parts of a server and of its workers: settings in, pools and judges out.

A module of its own because workers import it at every start, and it must cost them only what they use.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsi.access.guard import ProjectOfRun
from evalsi.core.errors import UnknownNameError
from evalsi.engine.panel import Panel, available_processors
from evalsi.evaluators.api import EvalContext
from evalsi.infra.store.access_store import open_access_store
from evalsi.infra.worker_processes import PoolPlan, WorkerProcesses
from evalsi.score.grading_call import GradingTools
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.wiring.access import AccessParts, access_parts

JUDGE_POOL_WORKERS = 4
"""Processes of the judge pool. Each asks many judges at once; several keep long calls from holding up others."""


def grading_tools(settings: Settings, *, record_deadline_s: float) -> GradingTools:
    """What a grading worker works with.

    Args:
        record_deadline_s: Seconds one computing evaluator may take over one record; then that record alone is an ERROR.
    """
    lent: dict[str, EvalContext] = {}

    def lend(names: set[str]) -> Mapping[str, EvalContext]:
        for name in names:
            if name:
                raise UnknownNameError("judge", name, (), where="judge")
            if name not in lent and (settings.judge.provider or settings.judge.model):
                from evalsi.wiring import make_judge

                lent[name] = EvalContext(judge=make_judge(JudgeChoice(), settings))
        return lent

    return GradingTools(lend=lend, limits=Panel(evaluators=(), deadline_s=record_deadline_s))


@dataclass(frozen=True, kw_only=True)
class ServingLimits:
    """What a server's workers may do."""

    workers: int = 0
    """Most processes for evaluators that compute; 0 for as many as there are processors."""
    record_deadline_s: float = 30.0
    """Seconds one computing evaluator may take over one record; then that record alone is an ERROR."""
    most_records: int = 10_000
    """Records that one call may bring."""
    call_deadline_s: float = 600.0
    """Seconds a worker may take over a call, or over a batch of a stream."""


@dataclass(frozen=True, kw_only=True)
class ServingParts:
    """What a server is built from. The pools are not open yet."""

    pools: Mapping[str, WorkerProcesses]
    limits: ServingLimits
    access: AccessParts
    judges: Sequence[str] = ()
    """Names of the judges there are."""
    default_judge: str = ""
    """The one used when none is named; empty when there is none."""


def serving_parts(
    settings: Settings,
    server: ServerSettings,
    limits: ServingLimits | None = None,
    *,
    no_auth: bool = False,
    project_of_run: ProjectOfRun | None = None,
) -> ServingParts:
    """The parts of a server.

    Args:
        no_auth: Whether nobody is asked who is calling, whatever the settings say.
        project_of_run: Where there are runs.
    Raises: StoreError: the store cannot be opened.
    """
    limits = limits or ServingLimits()
    environment = {**settings.environment, "EVALSI_DIR": str(settings.directory.absolute())}
    # The interpreter of this process, whatever PATH says.
    command = (sys.executable, "-m", "evalsi.worker", "grading", str(limits.record_deadline_s))

    def pool(name: str, workers: int, spare: int) -> WorkerProcesses:
        plan = PoolPlan(name=name, command=command, environment=environment, workers=workers, spare=spare)
        return WorkerProcesses(plan)

    pools = {
        "cpu": pool("cpu", limits.workers or available_processors(), 1),
        "judge": pool("judge", JUDGE_POOL_WORKERS, 0),
    }
    store = open_access_store(settings.database)
    access = access_parts(server, store, project_of_run or _no_run, no_auth=no_auth)
    return ServingParts(pools=pools, limits=limits, access=access, default_judge=settings.judge.model)


async def _no_run(run_id: str) -> str | None:
    """The project of a run, on a server that has none."""
    del run_id
    return None
