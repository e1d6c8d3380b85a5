"""A sandbox of another machine, as the port's `Sandbox`.

Its own module because it lives longer than any call: what always holds is that its lease is renewed as long as it is not
destroyed, however long nobody uses it.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from evalsi import schema
from evalsi.core.errors import EvalsiError, NotFoundError, SandboxError, UsageError
from evalsi.infra.sandbox.collected_output import collect_output
from evalsi.infra.sandbox.remote_connection import Message, RemoteConnection
from evalsi.ports.sandbox import (
    Execution,
    FilesRead,
    OutputPiece,
    SandboxCommand,
    SandboxFile,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
    SandboxStatistics,
)
from evalsi.ports.sandbox_messages import egress_of, execution_of, file_message, file_of, policy_message
from evalsi.schema import IsolationReport

GRACE_S = 30.0
"""Seconds beyond its own limits that a call may take."""
_ANSWER_S = 120.0
_RENEWALS = 3
"""Times that a lease is renewed in its idle time."""
_USUAL_IDLE_S = 60.0
"""For a host that does not say it."""


class RemoteSandbox:
    """See `ports.sandbox.Sandbox`.

    Args:
        made: What the host said when it lent the sandbox.
        kept: Called with the name of each snapshot.
        released: Called once, when the sandbox is gone.
    """

    def __init__(
        self,
        connection: RemoteConnection,
        made: schema.SandboxCreateResponse | schema.SandboxRestoreResponse,
        spec: SandboxSpec,
        *,
        kept: Callable[[str], None],
        released: Callable[["RemoteSandbox"], None],
    ) -> None:
        self._connection = connection
        self._kept = kept
        self._released = released
        self._name = made.sandbox_id
        self._isolation = made.isolation or IsolationReport()
        self._image_digest = made.image_digest
        self._spec = spec
        self._turn = asyncio.Lock()
        self._is_gone = False
        self._renewing = asyncio.get_running_loop().create_task(self._renew(made.idle_timeout or _USUAL_IDLE_S))

    @property
    def isolation(self) -> IsolationReport:
        return self._isolation

    @property
    def image_digest(self) -> str:
        return self._image_digest

    def stream(self, command: SandboxCommand) -> AsyncGenerator[OutputPiece | Execution]:
        return self._stream(command)

    async def execute(self, command: SandboxCommand) -> Execution:
        return await collect_output(self._stream(command), self._spec.limits.output_bytes)

    async def write_files(self, files: Sequence[SandboxFile]) -> None:
        request = schema.SandboxWriteFilesRequest(sandbox_id=self._name, files=[file_message(file) for file in files])
        await self._ask("WriteFiles", request, schema.SandboxWriteFilesResponse)

    async def read_files(self, paths: Sequence[str], *, max_bytes: int = 64 << 20) -> FilesRead:
        request = schema.SandboxReadFilesRequest(sandbox_id=self._name, paths=list(paths), max_bytes=max_bytes)
        read = await self._ask("ReadFiles", request, schema.SandboxReadFilesResponse)
        return FilesRead(files=tuple(map(file_of, read.files)), missing=tuple(read.missing), truncated=read.truncated)

    async def snapshot(self) -> SandboxSnapshot:
        request = schema.SandboxSnapshotRequest(sandbox_id=self._name)
        made = await self._ask("Snapshot", request, schema.SandboxSnapshotResponse)
        self._kept(made.snapshot_id)
        spec = msgspec.structs.replace(self._spec, files=())
        return SandboxSnapshot(spec=spec, archive=made.snapshot_id.encode(), image_digest=self._image_digest)

    async def statistics(self) -> SandboxStatistics:
        request = schema.SandboxStatsRequest(sandbox_id=self._name)
        used = await self._ask("Stats", request, schema.SandboxStatsResponse)
        return SandboxStatistics(
            commands=used.execs,
            cpu_s=used.cpu_time or 0.0,
            peak_memory_bytes=used.max_rss_bytes,
            egress=egress_of(used.egress),
        )

    async def destroy(self) -> None:
        if self._is_gone:
            return
        self._is_gone = True
        self._renewing.cancel()
        self._released(self)
        request = schema.SandboxDestroyRequest(sandbox_id=self._name)
        with contextlib.suppress(SandboxError):  # a host that is lost has taken it along, or does when it is idle
            await self._connection.call("Destroy", request, schema.SandboxDestroyResponse, GRACE_S)

    async def _stream(self, command: SandboxCommand) -> AsyncGenerator[OutputPiece | Execution]:
        limits = self._spec.limits
        request = schema.SandboxExecRequest(
            sandbox_id=self._name,
            command=list(command.argv),
            stdin=command.stdin,
            env=dict(command.environment),
            timeout=command.deadline_s,
            cwd=command.folder,
            policy=policy_message(command.policy),
        )
        wait_s = min(limits.wall_s, command.deadline_s or limits.wall_s) + GRACE_S
        async with self._turn:
            ended = False
            try:
                self._check_alive()
                answers = self._connection.listen("Exec", request, schema.SandboxExecResponse, wait_s)
                async with contextlib.aclosing(answers):
                    async for answer in answers:
                        if answer.result is not None:
                            execution = execution_of(answer.result)
                            ended = execution.outcome is not SandboxOutcome.RUNNER_FAILURE
                            yield execution
                            return
                        if answer.stdout is not None:
                            yield OutputPiece("stdout", answer.stdout)
                        elif answer.stderr is not None:
                            yield OutputPiece("stderr", answer.stderr)
                yield Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason="the sandbox has died")
            except UsageError:
                ended = True  # nothing was begun
                raise
            except EvalsiError as error:
                yield Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason=str(error))
            finally:
                if not ended:
                    await self.destroy()

    async def _ask(self, name: str, request: msgspec.Struct, kind: type[Message]) -> Message:
        async with self._turn:
            self._check_alive()
            try:
                return await self._connection.call(name, request, kind, _ANSWER_S)
            except NotFoundError as error:
                await self.destroy()
                raise SandboxError(f"the sandbox is gone: {error.message}", hint=error.hint) from error

    async def _renew(self, idle_s: float) -> None:
        request = schema.SandboxRenewRequest(sandbox_id=self._name)
        while True:
            await asyncio.sleep(idle_s / _RENEWALS)
            with contextlib.suppress(EvalsiError):  # who uses it next is told
                await self._connection.call("Renew", request, schema.SandboxRenewResponse, GRACE_S)

    def _check_alive(self) -> None:
        if self._is_gone:
            raise SandboxError("the sandbox is destroyed")
