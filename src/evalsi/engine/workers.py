"""Worker processes for evaluators that may hang, crash or eat memory: each can be killed and costs one record.

A worker is a fork of this process, so evaluators need not be importable there. It reads batches from a socket and
sends back one message per record, so that the parent always knows which record it is stuck on. When a record passes
its deadline the worker is killed and replaced; that record alone becomes an ERROR. A worker dies with its parent.
"""

import asyncio
import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import msgspec

from evalsi.core.errors import DeadlineError, MeasurementError, WorkerCrashError
from evalsi.engine.columns import CANCELLED, PENDING, ColumnsBuilder, EvaluatorColumns, Note
from evalsi.engine.measure import builder_for, measure_row
from evalsi.engine.panel import Panel
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record

_HEADER = struct.Struct("<I")
_PR_SET_PDEATHSIG = 1
can_fork = hasattr(os, "fork") and sys.platform != "win32"


class _Job(msgspec.Struct, array_like=True):
    """Rows `records` of the batch for evaluator `evaluator`, by its place in the panel."""

    evaluator: int
    records: list[Record]
    baselines: list[Record | None] | None


class _Row(msgspec.Struct, array_like=True):
    """One measured row: its outcome, the values by output, and its note."""

    outcome: int
    values: dict[str, tuple[str, float, Any]]
    note: Note | None


_JOBS = msgspec.msgpack.Decoder(_Job)
_ROWS = msgspec.msgpack.Decoder(_Row)


class WorkerPool:
    """At most `panel.worker_count` workers, started when first needed. `close` leaves none behind."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._slots = asyncio.Semaphore(panel.worker_count)

    async def measure(
        self, evaluator: BoundEvaluator, records: Sequence[Record], baselines: Sequence[Record | None] | None = None
    ) -> EvaluatorColumns:
        """As `engine.measure.measure`, in a worker, each record within the panel's deadline."""
        async with self._slots:
            builder = builder_for(evaluator, len(records))
            started = perf_counter()
            row = 0
            while row < len(records):
                worker = self._idle.pop() if self._idle else self._start()
                rest = _Job(
                    self._panel.evaluators.index(evaluator),
                    list(records[row:]),
                    list(baselines[row:]) if baselines is not None else None,
                )
                row += await self._work(worker, rest, builder, row)
            builder.result.duration_s = perf_counter() - started
            return builder.result

    async def close(self) -> None:
        for worker in list(self._all):
            self._stop(worker)
        self._idle.clear()

    async def _work(self, worker: "_Worker", job: _Job, builder: ColumnsBuilder, first: int) -> int:
        """Takes rows until the job is done or the worker is lost; the rows that are settled now."""
        settled = 0
        try:
            await worker.send(msgspec.msgpack.encode(job))
            while settled < len(job.records):
                async with asyncio.timeout(self._panel.deadline_s):
                    message = await worker.receive()
                _take(builder, first + settled, _ROWS.decode(message))
                settled += 1
        except TimeoutError:
            self._stop(worker)
            builder.fail(first + settled, DeadlineError(f"no value within {self._panel.deadline_s:g} s"))
            return settled + 1
        except (EOFError, OSError):
            reason = self._stop(worker)
            builder.fail(first + settled, WorkerCrashError(f"the evaluator's process died: {reason}"))
            return settled + 1
        except BaseException:
            self._stop(worker)
            raise
        self._idle.append(worker)
        return settled

    def _start(self) -> "_Worker":
        worker = _Worker(self._panel, siblings=self._all)
        self._all.add(worker)
        return worker

    def _stop(self, worker: "_Worker") -> str:
        self._all.discard(worker)
        return worker.kill()


class _Worker:
    """One forked process and the socket to it."""

    def __init__(self, panel: Panel, siblings: "set[_Worker]") -> None:
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:  # pragma: no cover - runs in the child
            status = 1
            try:
                ours.close()
                for sibling in siblings:  # a copy held here would hide the parent's death from them
                    sibling._socket.close()
                _serve(theirs, panel, parent)
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self._buffer = bytearray()
        self._loop = asyncio.get_running_loop()

    async def send(self, message: bytes) -> None:
        await self._loop.sock_sendall(self._socket, _HEADER.pack(len(message)) + message)

    async def receive(self) -> bytes:
        while True:
            if len(self._buffer) >= _HEADER.size:
                (length,) = _HEADER.unpack_from(self._buffer)
                if len(self._buffer) >= _HEADER.size + length:
                    message = bytes(self._buffer[_HEADER.size : _HEADER.size + length])
                    del self._buffer[: _HEADER.size + length]
                    return message
            data = await self._loop.sock_recv(self._socket, 1 << 16)
            if not data:
                raise EOFError
            self._buffer += data

    def kill(self) -> str:
        """Kills and reaps the process; how it had ended, in words."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._socket.close()
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:
            return "it was reaped elsewhere"
        code = os.waitstatus_to_exitcode(status)
        return f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _take(builder: ColumnsBuilder, row: int, measured: _Row) -> None:
    for output, (kind, value, held) in measured.values.items():
        column = builder.result.columns.get(output)
        if column is None:
            column = builder._column(output, kind)  # pyright: ignore[reportPrivateUsage, reportArgumentType]
        if column.kind == "passed" and kind == "number":
            column.kind = "number"
        column.values[row] = value
        if column.objects is not None:
            column.objects[row] = held
    builder.result.outcomes[row] = measured.outcome
    if measured.note is not None:
        builder.result.notes[row] = measured.note


def _serve(channel: socket.socket, panel: Panel, parent: int) -> None:  # pragma: no cover - runs in the child
    """The worker's loop: read a job, answer row by row, until the parent closes the socket."""
    _become_worker(panel, parent)
    stream = channel.makefile("rb")
    while header := stream.read(_HEADER.size):
        job = _JOBS.decode(stream.read(_HEADER.unpack(header)[0]))
        evaluator = panel.evaluators[job.evaluator]
        for index, record in enumerate(job.records):
            baseline = job.baselines[index] if job.baselines is not None else None
            message = msgspec.msgpack.encode(_measure_one(evaluator, record, baseline))
            channel.sendall(_HEADER.pack(len(message)) + message)


def _measure_one(evaluator: BoundEvaluator, record: Record, baseline: Record | None) -> _Row:
    builder = builder_for(evaluator, 1)
    try:
        measure_row(evaluator, builder, 0, record, baseline)
    except MemoryError:
        builder.fail(0, MeasurementError("the evaluator ran out of memory"))
    result = builder.result
    values = {
        output: (column.kind, column.values[0], column.objects[0] if column.objects is not None else None)
        for output, column in result.columns.items()
        if column.values[0] == column.values[0] or (column.objects is not None and column.objects[0] is not None)
    }
    outcome = result.outcomes[0]
    return _Row(CANCELLED if outcome == PENDING else outcome, values, result.notes.get(0))


def _become_worker(panel: Panel, parent: int) -> None:  # pragma: no cover - runs in the child
    faulthandler.disable()  # a crash here is an outcome, not a bug of ours to print
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)
    limit = panel.worker_memory_mib << 20
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    # Whatever the parent's other threads were doing is not happening here.
    threading.excepthook = lambda _: None
