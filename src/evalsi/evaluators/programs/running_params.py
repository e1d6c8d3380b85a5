"""The params of every evaluator that runs a program: how long, how large, how strongly fenced in."""

from typing import Annotated, Literal

import msgspec

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.programs.python_tests import ProgramRunner
from evalsi.ports.sandbox import SandboxLimits
from evalsi.schema import IsolationLevel

Level = Literal["none", "confined", "namespaced", "kernel", "vm"]


class RunningParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program may use."""

    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 10.0
    """Seconds that the program has for each test; more is its failure."""
    memory_mb: Annotated[int, msgspec.Meta(ge=32, le=65536)] = 512
    """Mebibytes that it may use; more is its failure."""
    min_isolation: Level = "confined"
    """The weakest sandbox that will do: vm, kernel, namespaced, confined."""


def runner_of(params: RunningParams, context: EvalContext) -> ProgramRunner:
    limits = SandboxLimits(wall_s=params.timeout_s, cpu_s=max(1, round(params.timeout_s)), memory_mib=params.memory_mb)
    return ProgramRunner(context.sandbox, limits, IsolationLevel(params.min_isolation))
