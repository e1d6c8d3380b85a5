"""Worker processes over socket pairs: spawned, not forked, because the process that asks has threads.

Implements `ports.worker_pool`. A frame is a length of four bytes and a body. A worker has a session of its own, so that
killing it takes what it started along; it dies when its socket closes or its parent is gone, so none outlives us, even
when we are killed. What always holds: the death of a worker ends the call it was at, also where something that it
started, or that was started beside it, still holds its end of the socket.
"""

import asyncio
import contextlib
import os
import signal
import socket
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsi.core.errors import CallDeadlineError, OverloadedError, WorkerCrashError
from evalsi.ports.worker_pool import PoolState

_HEADER = struct.Struct("<I")
_LONGEST_ANSWER = 1 << 30
_LETTING_GO_S = 1.0
"""Seconds that a worker has to end by itself when the pool is closed."""


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """How many there are of what."""

    name: str
    command: Sequence[str]
    """Program and arguments; the descriptor of its socket and our process id are added as the last two."""
    environment: Mapping[str, str]
    """All that the processes see of the environment."""
    workers: int
    """Most processes at once."""
    waiting: int = 64
    """Most calls that wait for a process; a further one is refused."""
    spare: int = 1
    """Processes kept ready though nobody needs them now."""


class WorkerProcesses:
    """Implements `WorkerPool`. `open` starts the spare workers, `close` leaves none."""

    def __init__(self, plan: PoolPlan) -> None:
        self._plan = plan
        self._idle: deque[_Worker] = deque()
        self._all: set[_Worker] = set()
        self._slots = asyncio.Semaphore(plan.workers)
        self._waiting = 0
        self._busy = 0
        self._restarts = 0
        self._closed = False
        self._refilling: set[asyncio.Task[None]] = set()
        self._mourning: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        await self._refill()

    async def close(self) -> None:
        self._closed = True
        for task in self._refilling:
            task.cancel()
        await asyncio.gather(*(self._let_go(worker) for worker in list(self._all)))
        await asyncio.gather(*self._mourning)

    def state(self) -> PoolState:
        return PoolState(
            name=self._plan.name,
            workers=len(self._all),
            busy=self._busy,
            waiting=self._waiting,
            restarts=self._restarts,
        )

    async def call(self, body: bytes, *, deadline_s: float) -> bytes:
        if self._slots.locked() and self._waiting >= self._plan.waiting:
            raise OverloadedError(
                f"{self._waiting} calls wait for the {self._plan.name} workers already", retry_after_s=2.0
            )
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        self._busy += 1
        try:
            return await self._call_one(body, deadline_s)
        except _DiedError as first:
            # Somebody may have killed it. What kills its worker again is at fault itself.
            try:
                return await self._call_one(body, deadline_s)
            except _DiedError as second:
                words = f"the process that worked on the call died twice: {first}, {second}"
                if {str(first), str(second)} == {_KILLED}:
                    raise OverloadedError(f"{words}; somebody kills them, or memory is short") from None
                raise WorkerCrashError(words) from None
        finally:
            self._busy -= 1
            self._slots.release()

    async def _call_one(self, body: bytes, deadline_s: float) -> bytes:
        worker = self._take_idle() or await self._start()
        try:
            async with asyncio.timeout(deadline_s):
                answer = await worker.ask(body)
        except TimeoutError:
            await self._replace(worker)
            raise CallDeadlineError(
                f"the call was not done within {deadline_s:g} s, so its worker was stopped"
            ) from None
        except (EOFError, OSError):
            how = await self._replace(worker)
            raise _DiedError(how) from None
        except BaseException:  # cancelled: the work must not go on
            await asyncio.shield(self._replace(worker))
            raise
        await self._keep(worker)
        return answer

    def _take_idle(self) -> "_Worker | None":
        while self._idle:
            worker = self._idle.popleft()
            if worker.process.returncode is None:
                return worker
        return None

    async def _start(self) -> "_Worker":
        ours, theirs = socket.socketpair()
        with (
            theirs
        ):  # inheritable for the moment of the fork alone, else workers started beside this one would hold it too
            process = await asyncio.create_subprocess_exec(
                *self._plan.command,
                str(theirs.fileno()),
                str(os.getpid()),
                stdin=asyncio.subprocess.DEVNULL,
                env=dict(self._plan.environment),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.setblocking(False)
        worker = _Worker(process, ours)
        self._all.add(worker)
        task = asyncio.get_running_loop().create_task(self._mourn(worker))
        self._mourning.add(task)
        task.add_done_callback(self._mourning.discard)
        return worker

    async def _mourn(self, worker: "_Worker") -> None:
        """Waits for the end of a worker, and ends the call that waits for its answer."""
        await worker.process.wait()
        worker.hang_up()
        if worker in self._idle:  # nobody waits for it, so nobody else would notice
            await self._replace(worker)

    async def _replace(self, worker: "_Worker") -> str:
        how = await self._lose(worker)
        self._restarts += 1
        if not self._closed:
            task = asyncio.get_running_loop().create_task(self._refill())
            self._refilling.add(task)
            task.add_done_callback(self._refilling.discard)
        return how

    async def _refill(self) -> None:
        while not self._closed and len(self._idle) < self._plan.spare and len(self._all) < self._plan.workers:
            await self._keep(await self._start())

    async def _keep(self, worker: "_Worker") -> None:
        """Puts a worker that has nothing to do among the idle. One too many goes: a call and a refill may start one each."""
        if worker.process.returncode is not None or len(self._all) > self._plan.workers:
            await self._lose(worker)
        else:
            self._idle.append(worker)

    async def _let_go(self, worker: "_Worker") -> None:
        """Ends a worker that may first put away what it holds, such as sandboxes; one at work is not waited for long."""
        worker.socket.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LETTING_GO_S):
                await worker.process.wait()
        await self._lose(worker)

    async def _lose(self, worker: "_Worker") -> str:
        """Kills a worker and all it started; how it had ended, in words."""
        self._all.discard(worker)
        with contextlib.suppress(ValueError):
            self._idle.remove(worker)
        worker.socket.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process.pid, signal.SIGKILL)
        code = await worker.process.wait()
        return f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


_KILLED = "signal SIGKILL"
"""How a process ends that was ended from outside: no evaluator's fault, and the same call may succeed later."""


class _DiedError(Exception):
    """A worker died over a call; the text says how."""


class _Worker:
    """One process and the socket to it."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket) -> None:
        self.process = process
        self.socket = ours

    def hang_up(self) -> None:
        """Has whoever reads from the socket find its end."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    async def ask(self, body: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self.socket, _HEADER.pack(len(body)) + body)
        (length,) = _HEADER.unpack(await self._read(loop, _HEADER.size))
        if length > _LONGEST_ANSWER:
            raise EOFError
        return await self._read(loop, length)

    async def _read(self, loop: asyncio.AbstractEventLoop, wanted: int) -> bytes:
        parts = bytearray()
        while len(parts) < wanted:
            data = await loop.sock_recv(self.socket, min(wanted - len(parts), 1 << 20))
            if not data:
                raise EOFError
            parts += data
        return bytes(parts)
