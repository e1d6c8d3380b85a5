"""Which fences the programs of one measurement ran behind, noted where the sandbox is used.

Its own module because every evaluator that runs programs, ours or a plugin's, must leave this trace without knowing of it:
the sandbox host that an evaluator is lent notes it, and the engine reads it beside the value. What always holds: what is
noted is what a sandbox reported, for a measurement that failed too.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from evalsi.ports.sandbox import (
    PythonProgram,
    PythonRuns,
    RungStatus,
    Sandbox,
    SandboxHost,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.schema import Enforcement, IsolationReport

_USED: ContextVar["FencesUsed | None"] = ContextVar("evalsi_fences_used", default=None)


class FencesUsed:
    """What one measurement has used so far. Tasks that it starts note into the same one."""

    def __init__(self) -> None:
        self.weakest: IsolationReport | None = None
        """None while no program was run."""

    def add(self, report: IsolationReport) -> None:
        if self.weakest is None or strength(report) < strength(self.weakest):
            self.weakest = report


@contextmanager
def noting_fences() -> Generator[FencesUsed]:
    """Everything that is run inside, in this task and those that it starts, is noted in what this gives."""
    used = FencesUsed()
    token = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(token)


def strength(report: IsolationReport) -> tuple[int, bool]:
    """By this, reports can be compared: level first, then whether all of it was in force."""
    return report.level.number, report.enforcement is Enforcement.FULL


class NotingSandboxHost:
    """A host that notes what is used of it. See `ports.sandbox.SandboxHost`."""

    def __init__(self, host: SandboxHost) -> None:
        self._host = host

    async def probe(self) -> Sequence[RungStatus]:
        return await self._host.probe()

    async def create(self, spec: SandboxSpec) -> Sandbox:
        return _noted(await self._host.create(spec))

    async def restore(self, snapshot: SandboxSnapshot) -> Sandbox:
        return _noted(await self._host.restore(snapshot))

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        runs = await self._host.run_python(program)
        _note(runs.isolation)
        return runs

    async def close(self) -> None:
        await self._host.close()


def _noted(sandbox: Sandbox) -> Sandbox:
    _note(sandbox.isolation)
    return sandbox


def _note(report: IsolationReport) -> None:
    used = _USED.get()
    if used is not None:
        used.add(report)
