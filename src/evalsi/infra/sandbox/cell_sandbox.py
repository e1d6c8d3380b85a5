"""One cell as the port's `Sandbox`: requests in turn, every reply checked, and the end of the slot with the sandbox."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from evalsi.core.errors import SandboxError
from evalsi.guest import wire
from evalsi.infra.sandbox.cell_messages import (
    check_path,
    command_request,
    execution_of,
    files_value,
    open_request,
    read_files_reply,
    took_the_sandbox,
    unexpected,
)
from evalsi.infra.sandbox.collected_output import collect_output
from evalsi.infra.sandbox.connection import Connection
from evalsi.infra.sandbox.egress import EgressProxy, EgressRelay
from evalsi.infra.sandbox.slot import Slot
from evalsi.ports.sandbox import (
    AccessPolicy,
    EgressEvent,
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
from evalsi.schema import IsolationReport

GRACE_S = 10.0
"""Seconds beyond a command's own deadline after which the sandbox counts as broken."""
_ANSWER_S = 60.0
_STREAMS = {1: "stdout", 2: "stderr"}


async def open_cell(
    slot: Slot, spec: SandboxSpec, *, archive: bytes = b"", then: Sequence[wire.Value] = ()
) -> Connection:
    """A cell made as `spec` says; requests in `then` follow at once. Raises: SandboxError; UsageError: a path is wrong."""
    opening = open_request(spec, archive)
    if slot.group is not None:
        try:
            slot.group.bound(spec.limits, slot.weight)
        except OSError as error:
            raise SandboxError(f"the control group refuses the limits: {error.strerror}") from error
    connection = slot.connect()
    try:
        async with asyncio.timeout(_ANSWER_S):
            await connection.send(opening, *then)
            reply = await connection.receive()
        if reply != ["opened"]:
            raise unexpected(reply)
    except TimeoutError as error:
        connection.close()
        raise SandboxError("the sandbox did not open in time") from error
    except BaseException:
        connection.close()
        raise
    return connection


class CellSandbox:
    """See `ports.sandbox.Sandbox`. `released` is called once, when the sandbox is gone; `proxy` is the way out, if there is one."""

    def __init__(
        self,
        slot: Slot,
        connection: Connection,
        spec: SandboxSpec,
        isolation: IsolationReport,
        released: Callable[["CellSandbox"], None],
        image_digest: str = "",
        proxy: EgressProxy | None = None,
    ) -> None:
        self._slot = slot
        self._connection = connection
        self._spec = spec
        self._isolation = isolation
        self._released = released
        self._image_digest = image_digest
        self._proxy = proxy
        self._turn = asyncio.Lock()
        self._is_gone = False

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
        reply = await self._ask(["write", files_value(files)])
        if reply != ["done"]:
            raise unexpected(reply)

    async def read_files(self, paths: Sequence[str], *, max_bytes: int = 64 << 20) -> FilesRead:
        names: list[wire.Value] = [check_path(path) for path in paths]
        return read_files_reply(await self._ask(["read", names, max_bytes]))

    async def snapshot(self) -> SandboxSnapshot:
        match await self._ask(["pack"]):
            case ["archive", bytes(archive)]:
                spec = _without_files(self._spec)
                return SandboxSnapshot(spec=spec, archive=archive, image_digest=self._image_digest)
            case reply:
                raise unexpected(reply)

    async def statistics(self) -> SandboxStatistics:
        match await self._ask(["usage"]):
            case ["usage", int(commands), float(cpu_s), int(peak)]:
                group = self._slot.group
                counted = group.peak_memory_bytes() if group is not None else 0
                return SandboxStatistics(
                    commands=commands, cpu_s=cpu_s, peak_memory_bytes=counted or peak, egress=self._seen(0)
                )
            case reply:
                raise unexpected(reply)

    async def destroy(self) -> None:
        is_first, self._is_gone = not self._is_gone, True
        self._connection.close()
        try:
            await self._slot.close()  # whoever comes later waits as well
        finally:
            if is_first:
                self._released(self)

    async def _stream(self, command: SandboxCommand) -> AsyncGenerator[OutputPiece | Execution]:
        if command.policy is AccessPolicy.FULL and not self._image_digest:
            reason = "a policy of full access was asked for, and nobody here grants it"
            yield Execution(outcome=SandboxOutcome.DENIED, reason=reason)
            return
        limits = self._spec.limits
        request = command_request(command, limits)
        async with self._turn:
            ended = False
            relay = None if self._proxy is None else EgressRelay(self._proxy, self._connection.send)
            seen = 0 if self._proxy is None else len(self._proxy.events)
            kills, refusals = (0, 0) if self._is_gone else (self._slot.memory_kills(), self._slot.process_refusals())
            try:
                self._check_alive()
                wait_s = min(limits.wall_s, command.deadline_s or limits.wall_s) + GRACE_S
                ends_at = asyncio.get_running_loop().time() + wait_s
                await self._connection.send(request)
                while not ended:
                    async with asyncio.timeout_at(ends_at):
                        reply = await self._connection.receive()
                    match reply:
                        case ["said", int(stream), bytes(data)] if stream in _STREAMS:
                            yield OutputPiece(_STREAMS[stream], data)
                        case ["egress", *_] if relay is not None:
                            relay.hear(reply)
                        case _:
                            execution = execution_of(reply, limits, ran_out_of_memory=self._slot.memory_kills() > kills)
                            ended = True
                            if relay is not None:
                                await relay.close()
                            yield msgspec.structs.replace(execution, egress=self._seen(seen))
            except (SandboxError, TimeoutError) as error:
                reason = "the sandbox did not answer in time" if isinstance(error, TimeoutError) else str(error)
                own = None if self._is_gone else self._taken_by_program(kills, refusals)
                if relay is not None:
                    await relay.close()
                failed = own or Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason=reason)
                yield msgspec.structs.replace(failed, egress=self._seen(seen))
            finally:
                try:
                    if relay is not None:
                        await relay.close()
                finally:
                    if not ended:
                        await self.destroy()

    async def _ask(self, request: wire.Value) -> list[wire.Value]:
        async with self._turn:
            self._check_alive()
            try:
                async with asyncio.timeout(_ANSWER_S):
                    await self._connection.send(request)
                    return await self._connection.receive()
            except TimeoutError as error:
                await self.destroy()
                raise SandboxError("the sandbox did not answer in time") from error
            except asyncio.CancelledError:
                await self.destroy()  # its answer would be taken for the next one's
                raise

    def _seen(self, since: int) -> tuple[EgressEvent, ...]:
        return () if self._proxy is None else tuple(self._proxy.events[since:])

    def _check_alive(self) -> None:
        if self._is_gone:
            raise SandboxError("the sandbox is destroyed")

    def _taken_by_program(self, kills: int, refusals: int) -> Execution | None:
        return took_the_sandbox(
            self._spec.limits,
            memory_kills=self._slot.memory_kills() - kills,
            wants_processes=self._slot.wants_processes_without_end(refusals),
        )


def _without_files(spec: SandboxSpec) -> SandboxSpec:
    return msgspec.structs.replace(spec, files=())
