"""SandboxService: the sandboxes of this host, lent to who may call it.

A call about a sandbox keeps it for another idle time. What always holds: a command whose caller goes away ends with its
sandbox, as it does where the host is in the caller's own process.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from evalsi import schema
from evalsi.access.caller import Caller
from evalsi.core.errors import UsageError
from evalsi.ports.sandbox import Execution, PythonProgram, SandboxCommand, SandboxOutcome
from evalsi.ports.sandbox_messages import (
    egress_messages,
    execution_message,
    file_message,
    file_of,
    hosts_of,
    level_of,
    limits_of,
    policy_of,
    rung_message,
    spec_of,
    usual_policy_of,
)
from evalsi.server.sandbox_leases import SandboxLeases, Terms

_MOST_READ_BYTES = 64 << 20
PATIENCE_S = 30.0
"""Seconds beyond a command's own limits in which its caller must have read what it said."""


class SandboxService:
    """Answers with the sandboxes of `leases`."""

    service = "SandboxService"

    def __init__(self, leases: SandboxLeases) -> None:
        self._leases = leases

    async def probe(self, request: schema.SandboxProbeRequest, caller: Caller) -> schema.SandboxProbeResponse:
        del request, caller
        rungs = await self._leases.host.probe()
        return schema.SandboxProbeResponse(rungs=[rung_message(rung) for rung in rungs])

    async def create(self, request: schema.SandboxCreateRequest, caller: Caller) -> schema.SandboxCreateResponse:
        """Raises: OverloadedError: the host has lent as many as it takes; and as `SandboxHost.create`."""
        del caller
        asked = request.spec or schema.SandboxSpec()
        if (asked.idle_timeout or 0) < 0:
            raise UsageError("an idle time below 0 ends before it begins", where="spec.idle_timeout")
        terms = Terms(
            idle_s=self._leases.idle_s(asked.idle_timeout), policy=usual_policy_of(asked), folder=asked.workdir or "."
        )
        lease = await self._leases.create(spec_of(asked), terms)
        return schema.SandboxCreateResponse(
            sandbox_id=lease.name,
            isolation=lease.sandbox.isolation,
            image_digest=lease.sandbox.image_digest,
            idle_timeout=terms.idle_s,
        )

    async def exec(
        self, request: schema.SandboxExecRequest, caller: Caller
    ) -> AsyncGenerator[schema.SandboxExecResponse]:
        """What the command says, and last how it ended.

        Raises: UsageError: a number is below 0, or nothing can be begun. NotFoundError: there is no such sandbox.
        """
        del caller
        for name, number in (("timeout", request.timeout or 0), ("output_limit_bytes", request.output_limit_bytes)):
            if number < 0:
                raise UsageError(f"{name} is below 0", where=name)
        async with self._leases.using(request.sandbox_id) as lease:
            command = SandboxCommand(
                argv=tuple(request.command),
                stdin=request.stdin,
                environment=request.env,
                folder=request.cwd or lease.terms.folder,
                deadline_s=request.timeout or None,
                policy=policy_of(request.policy, lease.terms.policy),
            )
            most = request.output_limit_bytes or lease.spec.limits.output_bytes
            left = {"stdout": most, "stderr": most}
            ended, truncated = False, False
            wall_s = lease.spec.limits.wall_s
            longest_s = min(wall_s, command.deadline_s or wall_s) + PATIENCE_S
            try:
                with self._leases.at_most(lease, longest_s):
                    async with aclosing(lease.sandbox.stream(command)) as events:
                        async for event in events:
                            if isinstance(event, Execution):
                                ended = event.outcome is not SandboxOutcome.RUNNER_FAILURE
                                told = execution_message(event)
                                yield schema.SandboxExecResponse(
                                    result=msgspec.structs.replace(told, truncated=told.truncated or truncated)
                                )
                                continue
                            kept = event.data[: left[event.stream]]
                            left[event.stream] -= len(kept)
                            truncated = truncated or len(kept) < len(event.data)
                            if kept and event.stream == "stdout":
                                yield schema.SandboxExecResponse(stdout=kept)
                            elif kept:
                                yield schema.SandboxExecResponse(stderr=kept)
            except UsageError:
                ended = True  # nothing was begun
                raise
            finally:
                if not ended:
                    await self._leases.destroy(lease.name)

    async def write_files(
        self, request: schema.SandboxWriteFilesRequest, caller: Caller
    ) -> schema.SandboxWriteFilesResponse:
        del caller
        async with self._leases.using(request.sandbox_id) as lease:
            await lease.sandbox.write_files([file_of(file) for file in request.files])
        return schema.SandboxWriteFilesResponse()

    async def read_files(
        self, request: schema.SandboxReadFilesRequest, caller: Caller
    ) -> schema.SandboxReadFilesResponse:
        del caller
        if request.max_bytes < 0:
            raise UsageError("max_bytes is below 0", where="max_bytes")
        most_bytes = min(request.max_bytes or _MOST_READ_BYTES, _MOST_READ_BYTES)
        async with self._leases.using(request.sandbox_id) as lease:
            read = await lease.sandbox.read_files(request.paths, max_bytes=most_bytes)
        return schema.SandboxReadFilesResponse(
            files=[file_message(file) for file in read.files], missing=list(read.missing), truncated=read.truncated
        )

    async def snapshot(self, request: schema.SandboxSnapshotRequest, caller: Caller) -> schema.SandboxSnapshotResponse:
        del caller
        async with self._leases.using(request.sandbox_id) as lease:
            return schema.SandboxSnapshotResponse(snapshot_id=await self._leases.keep(lease))

    async def restore(self, request: schema.SandboxRestoreRequest, caller: Caller) -> schema.SandboxRestoreResponse:
        del caller
        hosts = None if request.network is None else hosts_of(request.network, where="network")
        lease = await self._leases.restore(request.snapshot_id, hosts)
        return schema.SandboxRestoreResponse(
            sandbox_id=lease.name,
            isolation=lease.sandbox.isolation,
            image_digest=lease.sandbox.image_digest,
            idle_timeout=lease.terms.idle_s,
        )

    async def stats(self, request: schema.SandboxStatsRequest, caller: Caller) -> schema.SandboxStatsResponse:
        del caller
        async with self._leases.using(request.sandbox_id) as lease:
            used = await lease.sandbox.statistics()
        return schema.SandboxStatsResponse(
            execs=used.commands,
            cpu_time=used.cpu_s,
            max_rss_bytes=used.peak_memory_bytes,
            egress=egress_messages(used.egress),
        )

    async def destroy(self, request: schema.SandboxDestroyRequest, caller: Caller) -> schema.SandboxDestroyResponse:
        del caller
        await self._leases.destroy(request.sandbox_id)
        return schema.SandboxDestroyResponse()

    async def delete_snapshot(
        self, request: schema.SandboxDeleteSnapshotRequest, caller: Caller
    ) -> schema.SandboxDeleteSnapshotResponse:
        del caller
        self._leases.forget(request.snapshot_id)
        return schema.SandboxDeleteSnapshotResponse()

    async def renew(self, request: schema.SandboxRenewRequest, caller: Caller) -> schema.SandboxRenewResponse:
        del caller
        async with self._leases.using(request.sandbox_id) as lease:
            return schema.SandboxRenewResponse(idle_timeout=lease.terms.idle_s)

    async def run_python(
        self, request: schema.SandboxRunPythonRequest, caller: Caller
    ) -> schema.SandboxRunPythonResponse:
        """Raises: as `SandboxHost.run_python`."""
        del caller
        program = PythonProgram(
            source=request.source,
            stdins=tuple(request.stdins),
            files=tuple(file_of(file) for file in request.files),
            limits=limits_of(request.resources),
            min_isolation=level_of(request.min_isolation, where="min_isolation"),
        )
        runs = await self._leases.host.run_python(program)
        return schema.SandboxRunPythonResponse(
            runs=[
                schema.SandboxPythonRun(result=execution_message(run), stdout=run.stdout, stderr=run.stderr)
                for run in runs.executions
            ],
            isolation=runs.isolation,
        )
