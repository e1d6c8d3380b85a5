"""Between what the port says and what cells are told: requests are built here, and replies are read with suspicion."""

import signal
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from evalsi.core.errors import SandboxError, UsageError
from evalsi.guest import forwarder, wire
from evalsi.ports.sandbox import (
    Execution,
    FilesRead,
    SandboxCommand,
    SandboxFile,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)

_FINITE_S = 1e9
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


def open_request(spec: SandboxSpec, archive: bytes) -> wire.Value:
    """What a cell is told first. Raises: UsageError: a path climbs out."""
    limits = spec.limits
    numbers: list[wire.Value] = [
        limits.wall_s, limits.cpu_s, limits.memory_mib, limits.processes, limits.disk_mib, limits.files,
        limits.output_bytes,
    ]  # fmt: skip
    environment = dict(spec.environment)
    if spec.allow_hosts:
        environment = {**dict.fromkeys(_PROXY_VARIABLES, forwarder.address()), **environment}
    return ["open", numbers, _words(environment), files_value(spec.files), archive, int(bool(spec.allow_hosts))]


def command_request(command: SandboxCommand, limits: SandboxLimits) -> wire.Value:
    """Raises: UsageError: there is nothing to run, or the folder climbs out."""
    if not command.argv:
        raise UsageError("there is no command to run in the sandbox", where="argv")
    wall_s = limits.wall_s if command.deadline_s is None else min(command.deadline_s, limits.wall_s)
    folder = command.folder if command.folder == "." else check_path(command.folder)
    argv: list[wire.Value] = list(command.argv)
    return ["command", argv, command.stdin, _words(command.environment), folder, wall_s, command.policy.value]


def files_value(files: Iterable[SandboxFile]) -> wire.Value:
    """Raises: UsageError: a path climbs out."""
    return [[check_path(file.path), file.content, file.mode] for file in files]


def check_path(path: str) -> str:
    """The path, tidied. Raises: UsageError: it is absolute, empty, holds a null, or climbs out of the workspace."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path:
        raise UsageError(
            f"{path!r} is no path inside the workspace", where="path", hint="write it relative, without .."
        )
    return str(pure)


def read_files_reply(reply: list[wire.Value]) -> FilesRead:
    """Raises: SandboxError: it is no such reply."""
    match reply:
        case ["files", list(files), list(missing), int(truncated)]:
            found: list[SandboxFile] = []
            for entry in files:
                match entry:
                    case [str(path), bytes(content), int(mode)]:
                        found.append(SandboxFile(path=path, content=content, mode=mode & 0o777))
                    case _:
                        raise unexpected(reply)
            absent = tuple(path for path in missing if isinstance(path, str))
            return FilesRead(files=tuple(found), missing=absent, truncated=bool(truncated))
        case _:
            raise unexpected(reply)


def unexpected(reply: list[wire.Value]) -> SandboxError:
    """For a reply that does not fit the request; "failed" says why itself."""
    match reply:
        case ["failed", str(why)]:
            return SandboxError(f"the sandbox could not do it: {why}")
        case _:
            return SandboxError("the sandbox answered what was not asked")


def execution_of(reply: list[wire.Value], limits: SandboxLimits, *, ran_out_of_memory: bool) -> Execution:
    """An `Execution` from a cell's "ended". Raises: SandboxError: it is no such reply.

    Args:
        ran_out_of_memory: Whether a control group of the host says so; a machine counts inside.
    """
    match reply:
        case [
            "ended",
            int(code),
            int(timed_out),
            int(truncated),
            float(duration_s),
            float(cpu_s),
            int(memory_kills),
            bytes(out),
            bytes(err),
        ]:
            killed = ran_out_of_memory or memory_kills > 0
            outcome, reason = _ending(code, bool(timed_out), cpu_s, limits, ran_out_of_memory=killed)
            has_code = outcome not in (SandboxOutcome.TIMEOUT, SandboxOutcome.OUT_OF_MEMORY)
            return Execution(
                outcome=outcome,
                exit_code=code if has_code else None,
                stdout=out[: limits.output_bytes],
                stderr=err[: limits.output_bytes],
                truncated=bool(truncated),
                duration_s=min(max(duration_s, 0.0), _FINITE_S),
                cpu_s=min(max(cpu_s, 0.0), _FINITE_S),
                reason=reason,
            )
        case ["refused", str(why)]:
            return Execution(outcome=SandboxOutcome.DENIED, reason=why)
        case _:
            raise unexpected(reply)


def took_the_sandbox(limits: SandboxLimits, *, memory_kills: int, wants_processes: bool) -> Execution | None:
    """How a program ended that took the sandbox with it by wanting too much; None where it was not the program.

    Args:
        memory_kills: Those of the sandbox's control group while the program ran.
        wants_processes: Whether it was refused more processes than a program is let ask for.
    """
    if memory_kills:
        return Execution(outcome=SandboxOutcome.OUT_OF_MEMORY, reason=f"the sandbox used its {limits.memory_mib} MiB")
    if wants_processes:
        reason = f"it wanted far more than {limits.processes} processes, and its sandbox was ended"
        return Execution(outcome=SandboxOutcome.DENIED, reason=reason)
    return None


def _ending(
    code: int, timed_out: bool, cpu_s: float, limits: SandboxLimits, *, ran_out_of_memory: bool
) -> tuple[SandboxOutcome, str]:
    if ran_out_of_memory:
        return SandboxOutcome.OUT_OF_MEMORY, f"the sandbox used its {limits.memory_mib} MiB"
    if timed_out:
        return SandboxOutcome.TIMEOUT, "it ran longer than its wall-clock limit"
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and cpu_s >= limits.cpu_s):
        return SandboxOutcome.TIMEOUT, f"it used its {limits.cpu_s} s of processor time"
    if code == -signal.SIGSYS:
        return SandboxOutcome.DENIED, "it made a system call of another architecture"
    return SandboxOutcome.EXIT, ""


def _words(environment: Mapping[str, str]) -> wire.Value:
    words: list[wire.Value] = []
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise UsageError(f"{name!r} cannot be a variable of the environment", where="environment")
        words += [name, value]
    return words
