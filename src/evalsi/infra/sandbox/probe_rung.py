"""Tries a rung for real: the fence is started, a program runs in it, and what must be refused is refused.

That a device can be opened or a program is installed proves nothing; only the refusals do.
"""

import asyncio
import contextlib
import os
import secrets
import socket
from pathlib import Path

from evalsi.core.errors import EvalsiError, SandboxError
from evalsi.infra.sandbox.cell_messages import execution_of
from evalsi.infra.sandbox.cell_sandbox import open_cell
from evalsi.infra.sandbox.rung import MachineRung
from evalsi.infra.sandbox.slot import Circumstances, Slot, start_slot
from evalsi.ports.sandbox import Execution, RungStatus, SandboxLimits, SandboxSpec
from evalsi.schema import Enforcement, IsolationLevel, IsolationReport

_LIMITS = SandboxLimits(wall_s=60.0, cpu_s=60)
"""Long, since an emulated processor on a busy machine is slow; `_PROBE_S` ends it sooner where that is short."""
_PROBE_S = 30.0
_PROBE_MACHINE_S = 120.0
_ATTEMPTS = """
import ctypes, os, socket
secret, port, host, namespaces = SECRET, PORT, HOST, 0x10000000
def attempt(name, act):
    try:
        act()
    except OSError:
        return
    print(name)
def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno())
libc = ctypes.CDLL(None, use_errno=True)
attempt("reads a file of the host", lambda: open(secret).read())
attempt("writes beside its own files", lambda: open(os.path.dirname(secret) + "/planted", "w"))
attempt("writes to the system", lambda: open("/usr/planted", "w"))
attempt("connects to the host", lambda: socket.create_connection(("127.0.0.1", port), 2))
attempt("signals the host", lambda: os.kill(host, 0))
attempt("makes namespaces", lambda: call(libc.unshare(namespaces)))
attempt("traces others", lambda: call(libc.ptrace(16, os.getppid(), 0, 0)))
def environment_of_init():
    if b"LEAKED" in open("/proc/1/environ", "rb").read():
        return
    raise OSError
attempt("reads the environment of process 1", environment_of_init)
print("done")
"""


async def probe_rung(shared: Circumstances, groups_missing: str) -> RungStatus:
    """Why the rung works or not. Never raises for a rung that does not.

    Args:
        groups_missing: Why there are no control groups, for the report; "" where there are.
    """
    rung = shared.rung
    obstacle = rung.obstacle()
    if not obstacle and rung.needs_groups and shared.groups is None:
        obstacle = f"it needs a control group ({groups_missing})"
    patience_s = _PROBE_MACHINE_S if isinstance(rung, MachineRung) else _PROBE_S
    if not obstacle:
        try:
            if isinstance(rung, MachineRung):
                await rung.prepare(shared.agent, None)
            async with asyncio.timeout(patience_s):
                return await _try(shared, groups_missing)
        except TimeoutError:
            obstacle = f"no answer within {patience_s:g} s"
        except EvalsiError as error:
            obstacle = str(error)
    return RungStatus(driver=rung.driver, level=rung.level, available=False, reason=obstacle, remedy=rung.remedy)


async def _try(shared: Circumstances, groups_missing: str) -> RungStatus:
    rung = shared.rung
    slot = await start_slot(shared, preload=False)
    try:
        leaks = await _leaks(slot, shared.base) if rung.level.number > IsolationLevel.NONE.number else []
    finally:
        await slot.close()
    if leaks:
        raise SandboxError(f"a program inside {' and '.join(leaks)}")
    notes = rung.notes(slot.landlock_version)
    counts_inside = isinstance(rung, MachineRung)
    if shared.groups is None and not counts_inside:
        notes.append(f"memory is limited per process, not for the sandbox: {groups_missing}")
    limits = [
        "memory and processes of the whole sandbox: cgroup v2 of the machine's own kernel"
        if counts_inside
        else f"memory and processes of the whole sandbox: {shared.groups.kind}"
        if shared.groups is not None
        else "memory per process, processes per user: rlimits",
        "processor time per process, size of a file, open files: rlimits",
        "wall-clock time and output: the agent",
    ]
    return RungStatus(
        driver=rung.driver,
        level=rung.level,
        available=True,
        isolation=IsolationReport(
            driver=rung.driver,
            level=rung.level,
            enforcement=Enforcement.PARTIAL if notes else Enforcement.FULL,
            notes=notes,
            limits=limits,
        ),
        limits=(*limits, rung.walls(slot.landlock_version)),
    )


async def _leaks(slot: Slot, base: Path) -> list[str]:
    with contextlib.ExitStack() as held:
        hidden = base / f"hidden-{secrets.token_hex(8)}"
        hidden.write_text("hidden", encoding="utf-8")
        held.callback(hidden.unlink)
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        source = (
            _ATTEMPTS.replace("SECRET", repr(str(hidden)))
            .replace("PORT", str(listener.getsockname()[1]))
            .replace("HOST", str(os.getpid()))
        )
        execution = await _run(slot, source)
    lines = execution.stdout.decode(errors="replace").splitlines()
    if not lines or lines[-1] != "done":
        said = execution.stderr.decode(errors="replace").strip().splitlines()
        ended = execution.exit_code if execution.exit_code is not None else execution.outcome
        raise SandboxError(f"a first program does not run: {said[-1] if said else ended}")
    return lines[:-1]


async def _run(slot: Slot, source: str) -> Execution:
    connection = await open_cell(slot, SandboxSpec(limits=_LIMITS), then=[["python", source, [b""]]])
    try:
        return execution_of(await connection.receive(), _LIMITS, ran_out_of_memory=False)
    finally:
        connection.close()
