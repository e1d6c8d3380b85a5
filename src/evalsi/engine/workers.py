"""Worker processes for evaluators of records and sessions that may hang, crash or eat memory: each costs one row.

A worker reads batches from a socket and sends back one message per row, so that the parent always knows which row it is
stuck on. When a row passes its deadline the worker is killed and replaced; that row alone becomes an ERROR.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import msgspec

from evalsi.core.errors import DeadlineError, MeasurementError, ScoreError, WorkerCrashError
from evalsi.engine.carried_records import carried, carried_decoder
from evalsi.engine.columns import CANCELLED, PENDING, ColumnsBuilder, EvaluatorColumns, Note
from evalsi.engine.forked_process import ForkedProcess, FrameBuffer, framed, frames
from evalsi.engine.measure import builder_for, measure_quickly, measure_row, measure_session
from evalsi.engine.panel import Panel
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record, Scope

can_fork = hasattr(os, "fork") and sys.platform != "win32"


class _Job(msgspec.Struct, array_like=True):
    """Rows for evaluator `evaluator`, by its place in the panel. A row is what it is called with: the record; the record
    and its baseline; or the records of a session.
    """

    evaluator: int
    rows: Sequence[Sequence[Record | None]]


class _Row(msgspec.Struct, array_like=True):
    """One measured row: its outcome, the values by output, and its note."""

    outcome: int
    values: dict[str, tuple[str, float, Any]]
    note: Note | None


_decode_job = carried_decoder(_Job)
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
        """As `engine.measure.measure`, in a worker, each record within the panel's deadline.

        What the evaluator says at once (`BoundEvaluator.call_quickly`) needs no worker.
        """
        builder = builder_for(evaluator, len(records))
        started = perf_counter()
        places = measure_quickly(evaluator, records, builder)
        if baselines is None:
            rows: list[Sequence[Record | None]] = [(records[place],) for place in places]
        else:
            rows = [(records[place], baselines[place]) for place in places]
        builder.result.duration_s = perf_counter() - started
        builder.result.duration_s += await self._fill(evaluator, rows, builder, places)
        return builder.result

    async def measure_rows(
        self, evaluator: BoundEvaluator, rows: Sequence[Sequence[Record | None]]
    ) -> EvaluatorColumns:
        """One value per row; a row is a record, a record and its baseline, or the records of a session."""
        builder = builder_for(evaluator, len(rows))
        builder.result.duration_s = await self._fill(evaluator, rows, builder, range(len(rows)))
        return builder.result

    async def _fill(
        self,
        evaluator: BoundEvaluator,
        rows: Sequence[Sequence[Record | None]],
        builder: ColumnsBuilder,
        places: Sequence[int],
    ) -> float:
        """Measures `rows` in workers; the value of each goes to its place in the columns.

        Returns: Seconds that took, without those in which no worker was free.
        """
        if not rows:
            return 0.0
        async with self._slots:
            started = perf_counter()
            done = 0
            while done < len(rows):
                worker = self._idle.pop() if self._idle else self._start()
                job = _Job(self._panel.evaluators.index(evaluator), rows[done:])
                done += await self._work(worker, job, builder, places[done:])
            return perf_counter() - started

    async def close(self) -> None:
        for worker in list(self._all):
            self._stop(worker)
        self._idle.clear()

    async def _work(self, worker: "_Worker", job: _Job, builder: ColumnsBuilder, rows: Sequence[int]) -> int:
        """Takes `rows` until the job is done or the worker is lost; the rows that are settled now."""
        settled = 0
        try:
            await worker.send(carried(job))
            while settled < len(job.rows):
                async with asyncio.timeout(self._panel.deadline_s):
                    message = await worker.receive()
                _take(builder, rows[settled], _ROWS.decode(message))
                settled += 1
        except TimeoutError:
            self._stop(worker)
            builder.fail(rows[settled], DeadlineError(f"no value within {self._panel.deadline_s:g} s"))
            return settled + 1
        except (EOFError, OSError):
            reason = self._stop(worker)
            builder.fail(rows[settled], WorkerCrashError(f"the evaluator's process died: {reason}"))
            return settled + 1
        except BaseException:
            self._stop(worker)
            raise
        self._idle.append(worker)
        return settled

    def _start(self) -> "_Worker":
        worker = _Worker(self._panel)
        self._all.add(worker)
        return worker

    def _stop(self, worker: "_Worker") -> str:
        self._all.discard(worker)
        return worker.kill()


class _Worker:
    """One process that measures rows, spoken to from an event loop."""

    def __init__(self, panel: Panel) -> None:
        self._process = ForkedProcess(lambda channel: _serve(channel, panel), panel.worker_memory_mib)
        self._buffer = FrameBuffer()
        self._loop = asyncio.get_running_loop()

    async def send(self, message: bytes) -> None:
        await self._loop.sock_sendall(self._process.socket, framed(message))

    async def receive(self) -> bytes:
        while (message := self._buffer.take()) is None:
            data = await self._loop.sock_recv(self._process.socket, 1 << 16)
            if not data:
                raise EOFError
            self._buffer.add(data)
        return message

    def kill(self) -> str:
        """See `ForkedProcess.kill`."""
        return self._process.kill()


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


def _serve(channel: socket.socket, panel: Panel) -> None:  # pragma: no cover - runs in the child
    """The worker's loop: read a job, answer row by row, until the parent closes the socket."""
    for message in frames(channel.makefile("rb")):
        job = _decode_job(message)
        evaluator = panel.evaluators[job.evaluator]
        for subjects in job.rows:
            channel.sendall(framed(_encoded(evaluator, _measure_one(evaluator, subjects))))


def _measure_one(evaluator: BoundEvaluator, subjects: Sequence[Record | None]) -> _Row:
    builder = builder_for(evaluator, 1)
    try:
        if evaluator.scope is Scope.SESSION:
            measure_session(evaluator, builder, 0, [record for record in subjects if record is not None])
        else:
            record, *baseline = subjects
            assert record is not None
            measure_row(evaluator, builder, 0, record, baseline[0] if baseline else None)
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


def _encoded(evaluator: BoundEvaluator, row: _Row) -> bytes:  # pragma: no cover - runs in the child
    try:
        return msgspec.msgpack.encode(row)
    except (TypeError, ValueError, OverflowError) as error:
        builder = builder_for(evaluator, 1)
        builder.fail(0, ScoreError(f"the result has no form that can be stored: {error}"))
        return msgspec.msgpack.encode(_Row(builder.result.outcomes[0], {}, builder.result.notes.get(0)))
