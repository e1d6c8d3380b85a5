"""The parts of a server and of its workers: settings in, pools and judges out.

A module of its own because workers import it at every start, and it must cost them only what they use.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsi.core.errors import UnknownNameError
from evalsi.engine.panel import Panel, available_processors
from evalsi.evaluators.api import EvalContext
from evalsi.infra.worker_processes import PoolPlan, WorkerProcesses
from evalsi.score.grading_call import GradingTools
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings

RECORD_DEADLINE_S = 30.0
"""Seconds that one computing evaluator may take over one record of a call; then that record alone is an ERROR."""
JUDGE_POOL_WORKERS = 4
"""Processes of the judge pool. Each asks many judges at once; several keep long calls from holding up others."""


def grading_tools(settings: Settings) -> GradingTools:
    """What a grading worker works with."""
    lent: dict[str, EvalContext] = {}

    def lend(names: set[str]) -> Mapping[str, EvalContext]:
        for name in names:
            if name:
                raise UnknownNameError("judge", name, (), where="judge")
            if name not in lent and (settings.judge.provider or settings.judge.model):
                from evalsi.wiring import make_judge

                lent[name] = EvalContext(judge=make_judge(JudgeChoice(), settings))
        return lent

    return GradingTools(lend=lend, limits=Panel(evaluators=(), deadline_s=RECORD_DEADLINE_S))


def grading_pool(name: str, settings: Settings, *, workers: int = 0, spare: int = 1) -> WorkerProcesses:
    """A pool of grading workers, not yet open. They run the interpreter of this process, whatever PATH says.

    Args:
        workers: Most processes; 0 for as many as there are processors.
        spare: Processes kept ready though nobody needs them now.
    """
    command = (sys.executable, "-m", "evalsi.worker", "grading")
    environment = {**settings.environment, "EVALSI_DIR": str(settings.directory.absolute())}
    plan = PoolPlan(
        name=name, command=command, environment=environment, workers=workers or available_processors(), spare=spare
    )
    return WorkerProcesses(plan)


@dataclass(frozen=True, kw_only=True)
class ServingParts:
    """What a server is built from. The pools are not open yet."""

    pools: Mapping[str, WorkerProcesses]
    judges: Sequence[str] = ()
    """Names of the judges there are."""
    default_judge: str = ""


def serving_parts(settings: Settings, *, workers: int = 0) -> ServingParts:
    """The parts of a server.

    Args:
        workers: Most processes for evaluators that compute; 0 for as many as there are processors.
    """
    pools = {
        "cpu": grading_pool("cpu", settings, workers=workers),
        "judge": grading_pool("judge", settings, workers=JUDGE_POOL_WORKERS, spare=0),
    }
    return ServingParts(pools=pools, default_judge=settings.judge.model)
