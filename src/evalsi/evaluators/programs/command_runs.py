"""Programs that a command of the sandbox runs, another Python or another language: a fresh sandbox for each standard input.

Its own module because the quick way of `SandboxHost.run_python` knows one interpreter, the sandbox's own. What always holds: a
sandbox that fails is tried once more; a command that is not there is said, and never counts as the program's failure.
"""

from collections.abc import Sequence

import msgspec

from evalsi.core.errors import SandboxError, SandboxUnavailableError
from evalsi.ports.sandbox import (
    Execution,
    SandboxCommand,
    SandboxFile,
    SandboxHost,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel

_ATTEMPTS = 2
_ASK = ("sh", "-c", 'command -v "$1"', "sh")


class CommandProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program in a file of the workspace, and what runs it."""

    argv: tuple[str, ...]
    file: str
    source: str
    limits: SandboxLimits
    min_isolation: IsolationLevel


async def run_by_command(host: SandboxHost, program: CommandProgram, stdins: Sequence[bytes]) -> tuple[Execution, ...]:
    """One execution per standard input; where the sandbox failed twice or lacks the command, RUNNER_FAILURE with why.

    Raises: SandboxUnavailableError: no sandbox is strong enough.
    """
    return tuple([await _run(host, program, stdin) for stdin in stdins])


async def _run(host: SandboxHost, program: CommandProgram, stdin: bytes) -> Execution:
    file = SandboxFile(path=program.file, content=program.source.encode(errors="replace"))
    spec = SandboxSpec(min_isolation=program.min_isolation, limits=program.limits, files=(file,))
    execution = Execution(outcome=SandboxOutcome.RUNNER_FAILURE)
    for _ in range(_ATTEMPTS):
        try:
            execution = await _once(host, spec, program.argv, stdin)
        except SandboxUnavailableError:
            raise
        except SandboxError as error:
            execution = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason=str(error))
        if execution.outcome is not SandboxOutcome.RUNNER_FAILURE:
            break
    return execution


async def _once(host: SandboxHost, spec: SandboxSpec, argv: tuple[str, ...], stdin: bytes) -> Execution:
    sandbox = await host.create(spec)
    try:
        # Asked before the program has run: a status or a word of its own proves nothing.
        found = await sandbox.execute(SandboxCommand(argv=(*_ASK, argv[0])))
        if found.outcome is SandboxOutcome.EXIT and found.exit_code != 0:
            return Execution(
                outcome=SandboxOutcome.RUNNER_FAILURE, reason=f"{argv[0]} is not installed where programs run"
            )
        return await sandbox.execute(SandboxCommand(argv=argv, stdin=stdin))
    finally:
        await sandbox.destroy()
