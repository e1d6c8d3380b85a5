"""The params of every evaluator that runs a program: how long, how large, how strongly fenced in."""

from typing import Annotated, Literal

import msgspec

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.programs.python_tests import OWN_PYTHON, ProgramRunner
from evalsi.ports.sandbox import SandboxLimits
from evalsi.schema import IsolationLevel

PackageName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][\w.]{0,99}$")]
Level = Literal["none", "confined", "namespaced", "kernel", "vm"]


class RunningParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program may use."""

    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 10.0
    """Seconds that the program has for each test; more is its failure."""
    memory_mb: Annotated[int, msgspec.Meta(ge=32, le=65536)] = 512
    """Mebibytes that it may use; more is its failure."""
    min_isolation: Level = "confined"
    """The weakest sandbox that will do: vm, kernel, namespaced, confined; none for no sandbox, where the operator allows it."""
    packages: tuple[PackageName, ...] = ()
    """Modules that Python programs may count on beside the standard library, such as numpy. Where the sandbox lacks one, the
    record is an ERROR of the environment; a program that imports another one fails."""


class ProgramParams(RunningParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What runs a program that is tested."""

    interpreter: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_./+-]{1,200}$")] = OWN_PYTHON
    """What runs the program, by its name or path in the sandbox, such as python3.12 or pypy3; python3 is the sandbox's own and by
    far the quickest. Where the sandbox lacks it, the record is an ERROR of the environment."""


def runner_of(params: RunningParams, context: EvalContext) -> ProgramRunner:
    """Made once for an evaluator, which then looks for declared packages once."""
    limits = SandboxLimits(wall_s=params.timeout_s, cpu_s=max(1, round(params.timeout_s)), memory_mib=params.memory_mb)
    interpreter = params.interpreter if isinstance(params, ProgramParams) else OWN_PYTHON
    return ProgramRunner(context.sandbox, limits, IsolationLevel(params.min_isolation), params.packages, interpreter)
