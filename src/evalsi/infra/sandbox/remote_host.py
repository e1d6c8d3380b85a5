"""Sandboxes of another machine: the port over `SandboxService`, for machines that cannot fence programs in themselves.

Its own module because to whoever uses the port nothing differs but where programs run. What always holds: what it has lent is
destroyed with it, and a host that is lost is a failure of sandboxes, never of programs.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from evalsi import schema
from evalsi.core.errors import CallDeadlineError, EvalsiError, NotFoundError, OverloadedError, SandboxError
from evalsi.core.own_time import waiting_for_a_turn
from evalsi.infra.sandbox.remote_connection import Message, RemoteConnection, RemoteOptions
from evalsi.infra.sandbox.remote_sandbox import GRACE_S, RemoteSandbox
from evalsi.ports.sandbox import (
    Execution,
    PythonProgram,
    PythonRuns,
    RungStatus,
    Sandbox,
    SandboxOutcome,
    SandboxSnapshot,
    SandboxSpec,
)
from evalsi.ports.sandbox_messages import (
    execution_of,
    file_message,
    resources_message,
    rung_of,
    spec_message,
    special_files,
)
from evalsi.schema import IsolationReport

_MAKING_S = 600.0
"""Seconds for a sandbox: its image may have to be pulled."""
_PLACE_S = 1800.0
"""Seconds for a place at a host that others use too. It is no program's doing, so it is in no program's deadline."""
_MOST_PROGRAMS = 64
"""Programs that are under way at once: a host has no more use for than that, and its queue is not ours."""


class RemoteSandboxHost:
    """See `ports.sandbox.SandboxHost`. The connection is made when it is first needed."""

    def __init__(self, options: RemoteOptions) -> None:
        self._connection = RemoteConnection(options)
        self._sandboxes: set[RemoteSandbox] = set()
        self._snapshots: set[str] = set()
        self._places = asyncio.Semaphore(_MOST_PROGRAMS)
        self._is_closed = False

    async def probe(self) -> Sequence[RungStatus]:
        answer = await self._connection.call(
            "Probe", schema.SandboxProbeRequest(), schema.SandboxProbeResponse, _MAKING_S
        )
        return [rung_of(rung) for rung in answer.rungs]

    async def create(self, spec: SandboxSpec) -> Sandbox:
        request = schema.SandboxCreateRequest(spec=spec_message(spec))
        made = await self._patiently(
            lambda: self._connection.call("Create", request, schema.SandboxCreateResponse, _MAKING_S)
        )
        sandbox = self._lent(made, spec)
        special = special_files(spec)
        if special:
            try:
                await sandbox.write_files(special)
            except BaseException:
                await sandbox.destroy()
                raise
        return sandbox

    async def restore(self, snapshot: SandboxSnapshot) -> Sandbox:
        request = schema.SandboxRestoreRequest(snapshot_id=snapshot.archive.decode(errors="replace"))
        try:
            made = await self._patiently(
                lambda: self._connection.call("Restore", request, schema.SandboxRestoreResponse, _MAKING_S)
            )
        except NotFoundError as error:
            raise SandboxError(f"the snapshot cannot be restored: {error.message}", hint=error.hint) from error
        return self._lent(made, snapshot.spec)

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        request = schema.SandboxRunPythonRequest(
            source=program.source,
            stdins=list(program.stdins),
            files=[file_message(file) for file in program.files],
            resources=resources_message(program.limits),
            min_isolation=program.min_isolation.value,
        )
        wait_s = _MAKING_S + program.limits.wall_s * len(program.stdins)
        with waiting_for_a_turn():
            await self._places.acquire()
        try:
            answer = await self._patiently(
                lambda: self._connection.call_in_turn(
                    "RunPython", request, schema.SandboxRunPythonResponse, wait_s, place_s=_PLACE_S
                )
            )
        finally:
            self._places.release()
        runs = [
            execution_of(run.result or schema.SandboxExecResult(), stdout=run.stdout, stderr=run.stderr)
            for run in answer.runs
        ]
        lost = Execution(outcome=SandboxOutcome.RUNNER_FAILURE, reason="the host of sandboxes left runs out")
        runs += [lost] * (len(program.stdins) - len(runs))
        return PythonRuns(executions=tuple(runs), isolation=answer.isolation or IsolationReport())

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        await asyncio.gather(*(sandbox.destroy() for sandbox in list(self._sandboxes)), return_exceptions=True)
        for name in self._snapshots:
            request = schema.SandboxDeleteSnapshotRequest(snapshot_id=name)
            with contextlib.suppress(EvalsiError):  # the host gives up what nobody restores
                await self._connection.call("DeleteSnapshot", request, schema.SandboxDeleteSnapshotResponse, GRACE_S)
        await self._connection.close()

    async def _patiently(self, call: Callable[[], Awaitable[Message]]) -> Message:
        """What the call answers; a host that has no room is asked again when it says. Raises: SandboxError: it never has any."""
        clock = asyncio.get_running_loop().time
        until_s = clock() + _PLACE_S
        while True:
            try:
                return await call()
            except OverloadedError as error:
                if clock() + error.retry_after_s > until_s:
                    raise SandboxError(
                        f"the host of sandboxes had no room for {_PLACE_S:g} s: {error.message}"
                    ) from error
                with waiting_for_a_turn():
                    await asyncio.sleep(error.retry_after_s)
            except CallDeadlineError as error:
                raise SandboxError(f"the host of sandboxes gave no answer in time: {error.message}") from error

    def _lent(
        self, made: schema.SandboxCreateResponse | schema.SandboxRestoreResponse, spec: SandboxSpec
    ) -> "RemoteSandbox":
        sandbox = RemoteSandbox(
            self._connection, made, spec, kept=self._snapshots.add, released=self._sandboxes.discard
        )
        self._sandboxes.add(sandbox)
        return sandbox
