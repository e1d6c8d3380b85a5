"""Sandboxes on the wire: between what the port says and the messages of `SandboxService`.

Its own module because the host that answers and the one that asks must read every message alike. What always holds: a number
that a message leaves out takes the usual limit, and what this version cannot give is refused, never left out silently.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from evalsi import schema
from evalsi.core.errors import UnknownNameError, UsageError
from evalsi.ports.sandbox import (
    AccessPolicy,
    EgressEvent,
    Execution,
    RungStatus,
    SandboxFile,
    SandboxLimits,
    SandboxOutcome,
    SandboxSpec,
)
from evalsi.schema import IsolationLevel

_OUTCOMES = {
    SandboxOutcome.EXIT: schema.SandboxOutcome.EXIT,
    SandboxOutcome.DENIED: schema.SandboxOutcome.DENIED,
    SandboxOutcome.TIMEOUT: schema.SandboxOutcome.TIMEOUT,
    SandboxOutcome.OUT_OF_MEMORY: schema.SandboxOutcome.OUT_OF_MEMORY,
    SandboxOutcome.RUNNER_FAILURE: schema.SandboxOutcome.RUNNER_FAILURE,
}
_OUTCOMES_TOLD = {told: outcome for outcome, told in _OUTCOMES.items()}
_POLICIES = {
    AccessPolicy.READ_ONLY: schema.SandboxAccessPolicy.READ_ONLY,
    AccessPolicy.WORKSPACE_WRITE: schema.SandboxAccessPolicy.WORKSPACE_WRITE,
    AccessPolicy.FULL: schema.SandboxAccessPolicy.FULL,
}
_POLICIES_TOLD = {told: policy for policy, told in _POLICIES.items()}
_USUAL_MODE = 0o644
_LEVELS = [level.value for level in IsolationLevel if level is not IsolationLevel.UNSPECIFIED]


def spec_message(spec: SandboxSpec) -> schema.SandboxSpec:
    """The message for a spec. It carries files with the usual permission bits; `special_files` are written afterwards."""
    return schema.SandboxSpec(
        image=spec.image,
        min_isolation=spec.min_isolation.value,
        resources=resources_message(spec.limits),
        env=dict(spec.environment),
        files={file.path: file.content for file in spec.files if file.mode == _USUAL_MODE},
        network=schema.SandboxNetworkPolicy(
            mode=schema.SandboxNetworkMode.ALLOWLIST if spec.allow_hosts else schema.SandboxNetworkMode.DENY,
            allow=list(spec.allow_hosts),
        ),
    )


def special_files(spec: SandboxSpec) -> list[SandboxFile]:
    """The files whose permission bits the message of a spec cannot carry."""
    return [file for file in spec.files if file.mode != _USUAL_MODE]


def spec_of(message: schema.SandboxSpec) -> SandboxSpec:
    """The spec in a message. Raises: UsageError: it asks for what this version cannot give, or names no level."""
    if message.services:
        raise UsageError("services beside a sandbox are not run by this version", where="spec.services")
    return SandboxSpec(
        min_isolation=level_of(message.min_isolation, where="spec.min_isolation"),
        limits=limits_of(message.resources),
        environment=message.env,
        files=tuple(SandboxFile(path=path, content=content) for path, content in message.files.items()),
        image=message.image,
        allow_hosts=hosts_of(message.network, where="spec.network"),
    )


def usual_policy_of(message: schema.SandboxSpec) -> AccessPolicy:
    """What commands may write unless they say it. Raises: UnknownNameError: there is no such mode."""
    if not message.mode:
        return AccessPolicy.READ_ONLY if message.read_only_root else AccessPolicy.WORKSPACE_WRITE
    if message.mode not in list(AccessPolicy):
        raise UnknownNameError("mode", message.mode, list(AccessPolicy), where="spec.mode")
    return AccessPolicy(message.mode)


def hosts_of(policy: schema.SandboxNetworkPolicy | None, *, where: str) -> tuple[str, ...]:
    """The hosts that may be reached. Raises: UsageError: more is asked for, or hosts without the mode that allows them."""
    if policy is None:
        return ()
    if policy.mode is schema.SandboxNetworkMode.ALLOWLIST:
        return tuple(policy.allow)
    if policy.mode is schema.SandboxNetworkMode.ALLOW or policy.allow:
        raise UsageError("sandboxes reach named hosts alone", where=where, hint="write mode: allowlist and the hosts")
    return ()


def level_of(word: str, *, where: str) -> IsolationLevel:
    """The level that is meant; confined for "". Raises: UnknownNameError."""
    if not word:
        return IsolationLevel.CONFINED
    if word not in _LEVELS:
        raise UnknownNameError("isolation level", word, _LEVELS, where=where)
    return IsolationLevel(word)


def resources_message(limits: SandboxLimits) -> schema.SandboxResources:
    return schema.SandboxResources(
        memory_mb=limits.memory_mib,
        max_procs=limits.processes,
        cpu_seconds=limits.cpu_s,
        disk_mb=limits.disk_mib,
        max_files=limits.files,
        wall=limits.wall_s,
        output_bytes=limits.output_bytes,
    )


def limits_of(message: schema.SandboxResources | None) -> SandboxLimits:
    """The limits in a message; what is 0 or absent is the usual one. Raises: UsageError: a number is below 0."""
    usual = SandboxLimits()
    if message is None:
        return usual
    for name in message.__struct_fields__:
        if (getattr(message, name) or 0) < 0:
            raise UsageError(f"{name} is below 0", where=f"resources.{name}")
    return SandboxLimits(
        wall_s=message.wall or usual.wall_s,
        cpu_s=message.cpu_seconds or usual.cpu_s,
        memory_mib=message.memory_mb or usual.memory_mib,
        processes=message.max_procs or usual.processes,
        # No file can be larger than the disk that it lies on, so the smaller of the two bounds both.
        disk_mib=min((each for each in (message.disk_mb, message.max_file_mb) if each), default=usual.disk_mib),
        files=message.max_files or usual.files,
        output_bytes=message.output_bytes or usual.output_bytes,
    )


def file_message(file: SandboxFile) -> schema.SandboxFile:
    return schema.SandboxFile(path=file.path, content=file.content, mode=file.mode)


def file_of(message: schema.SandboxFile) -> SandboxFile:
    return SandboxFile(path=message.path, content=message.content, mode=(message.mode or _USUAL_MODE) & 0o777)


def policy_message(policy: AccessPolicy) -> schema.SandboxAccessPolicy:
    return _POLICIES[policy]


def policy_of(message: schema.SandboxAccessPolicy, usual: AccessPolicy) -> AccessPolicy:
    return _POLICIES_TOLD.get(message, usual)


def execution_message(execution: Execution) -> schema.SandboxExecResult:
    """How it ended, without what it said."""
    return schema.SandboxExecResult(
        outcome=_OUTCOMES[execution.outcome],
        exit_code=execution.exit_code or 0,
        has_exit_code=execution.exit_code is not None,
        duration=execution.duration_s,
        cpu_time=execution.cpu_s,
        truncated=execution.truncated,
        denials=[execution.reason] if execution.outcome is SandboxOutcome.DENIED else [],
        error=execution.reason,
        egress=egress_messages(execution.egress),
    )


def execution_of(message: schema.SandboxExecResult, *, stdout: bytes = b"", stderr: bytes = b"") -> Execution:
    """What a host told. An outcome that is not known here is a failure of the runner."""
    outcome = _OUTCOMES_TOLD.get(message.outcome, SandboxOutcome.RUNNER_FAILURE)
    return Execution(
        outcome=outcome,
        exit_code=message.exit_code if message.has_exit_code or outcome is SandboxOutcome.EXIT else None,
        stdout=stdout,
        stderr=stderr,
        truncated=message.truncated,
        duration_s=message.duration or 0.0,
        cpu_s=message.cpu_time or 0.0,
        reason=message.error,
        egress=egress_of(message.egress),
    )


def egress_messages(events: Iterable[EgressEvent]) -> list[schema.SandboxEgressEvent]:
    return [
        schema.SandboxEgressEvent(
            time=datetime.fromtimestamp(event.time_s, UTC),
            host=event.host,
            port=event.port,
            allowed=event.allowed,
            bytes_sent=event.bytes_sent,
            bytes_received=event.bytes_received,
            address=event.address,
            reason=event.reason,
        )
        for event in events
    ]


def egress_of(messages: Iterable[schema.SandboxEgressEvent]) -> tuple[EgressEvent, ...]:
    return tuple(
        EgressEvent(
            time_s=message.time.timestamp() if message.time is not None else 0.0,
            host=message.host,
            port=message.port,
            allowed=message.allowed,
            bytes_sent=message.bytes_sent,
            bytes_received=message.bytes_received,
            address=message.address,
            reason=message.reason,
        )
        for message in messages
    )


def rung_message(rung: RungStatus) -> schema.SandboxRungStatus:
    return schema.SandboxRungStatus(
        driver=rung.driver,
        level=rung.level,
        available=rung.available,
        reason=rung.reason,
        warning="; ".join(rung.isolation.notes) if rung.isolation is not None else "",
        isolation=rung.isolation,
        limits=list(rung.limits),
        remedy=rung.remedy,
    )


def rung_of(message: schema.SandboxRungStatus) -> RungStatus:
    return RungStatus(
        driver=message.driver,
        level=message.level,
        available=message.available,
        isolation=message.isolation,
        limits=tuple(message.limits),
        reason=message.reason,
        remedy=message.remedy,
    )
