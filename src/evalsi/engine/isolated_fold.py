"""Dataset scope in a process of its own: an evaluator that hangs, crashes or eats memory costs its own metric.

The partial states live there, so a process that is lost loses them: the metric is an ERROR, and the run goes on without
it. Records are sent as fast as they are taken; what waits is bounded, by making whoever brings records wait. The deadline
runs from the last sign of life while there is work.
"""

import asyncio
import select
import socket
from collections import deque
from time import monotonic

from evalsi.core.errors import DeadlineError, MeasurementError, ScoreError, WorkerCrashError
from evalsi.engine.carried_records import carried_decoder
from evalsi.engine.columns import EvaluatorColumns, pack, unpack
from evalsi.engine.dataset_scope import DatasetFold
from evalsi.engine.forked_process import ForkedProcess, FrameBuffer, framed, frames
from evalsi.engine.measure import builder_for
from evalsi.engine.panel import Panel
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Record

ROWS_AT_ONCE = 32
"""Records per call of `map`: few, so that the deadline of a call is one that a slow but honest evaluator keeps."""
MOST_WAITING_BYTES = 8 << 20
_POLL_S = 0.005
_ALIVE, _TAKEN, _REDUCE = b".", b"+", b""
_decode_records = carried_decoder(list[Record])


class IsolatedFold:
    """As `DatasetFold`, in a process that is started with the first batch and can be killed."""

    def __init__(self, evaluator: BoundEvaluator, panel: Panel) -> None:
        self.evaluator = evaluator
        self._panel = panel
        self._process: ForkedProcess | None = None
        self._failure: MeasurementError | None = None
        self._observed = 0
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._unanswered = 0
        """Batches, and at the end the request to reduce, that the process has not done with."""
        self._alive_at = monotonic()
        self._arrived = FrameBuffer()
        self._result: EvaluatorColumns | None = None

    @property
    def is_behind(self) -> bool:
        """Whether so much waits to be taken that no more records should be brought yet."""
        return self._waiting_bytes > MOST_WAITING_BYTES

    def add(self, batch: bytes, rows: int) -> None:
        """Sends a batch of `rows` records, as `carried` makes it. Blocks while too much waits."""
        self._observed += rows
        self._send(batch)
        while self.is_behind:
            self._advance(_POLL_S)

    async def caught_up(self) -> None:
        """Returns once there is room for more, so that `add` does not block an event loop."""
        while self.is_behind:
            self._advance()
            await asyncio.sleep(_POLL_S)

    def reduce(self) -> EvaluatorColumns:
        """As `DatasetFold.reduce`; an ERROR where the process was lost. Ends the process."""
        self._send(_REDUCE)
        while self._unanswered:
            self._advance(_POLL_S)
        return self._ended()

    async def reduced(self) -> EvaluatorColumns:
        """`reduce`, inside an event loop."""
        self._send(_REDUCE)
        while self._unanswered:
            self._advance()
            await asyncio.sleep(_POLL_S)
        return self._ended()

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()

    def _send(self, message: bytes) -> None:
        if self._failure is not None:
            return
        if self._process is None:
            self._process = ForkedProcess(
                lambda channel: _serve(channel, self.evaluator), self._panel.worker_memory_mib
            )
        if not self._unanswered:
            self._alive_at = monotonic()
        self._unanswered += 1
        self._waiting.append(memoryview(framed(message)))
        self._waiting_bytes += len(message)
        self._advance()

    def _advance(self, wait_s: float = 0.0) -> None:
        """Sends and receives what can be without waiting longer than `wait_s`; notices a process that is lost."""
        if self._failure is not None:
            return
        assert self._process is not None
        channel = self._process.socket
        try:
            if wait_s:
                poll = select.poll()  # select knows no socket beyond the 1024th
                poll.register(channel, select.POLLIN | (select.POLLOUT if self._waiting else 0))
                poll.poll(wait_s * 1000)
            self._write(channel)
            self._read(channel)
        except (EOFError, OSError):
            self._lose(WorkerCrashError(f"the evaluator's process died: {self._process.kill()}"))
            return
        if self._unanswered and monotonic() - self._alive_at > self._panel.deadline_s:
            self._process.kill()
            self._lose(DeadlineError(f"no sign of life within {self._panel.deadline_s:g} s"))

    def _write(self, channel: socket.socket) -> None:
        while self._waiting:
            try:
                sent = channel.send(self._waiting[0])
            except BlockingIOError:
                return
            self._waiting_bytes -= sent
            self._waiting[0] = self._waiting[0][sent:]
            if not self._waiting[0]:
                self._waiting.popleft()

    def _read(self, channel: socket.socket) -> None:
        while True:
            try:
                data = channel.recv(1 << 16)
            except BlockingIOError:
                return
            if not data:
                raise EOFError
            self._alive_at = monotonic()
            self._arrived.add(data)
            while (message := self._arrived.take()) is not None:
                if message == _ALIVE:
                    continue
                self._unanswered -= 1
                if message != _TAKEN:
                    (self._result,) = unpack(message)
                    return

    def _lose(self, failure: MeasurementError) -> None:
        self._failure = failure
        self._unanswered = 0
        self._waiting.clear()
        self._waiting_bytes = 0

    def _ended(self) -> EvaluatorColumns:
        self.close()
        if self._result is not None:
            return self._result
        assert self._failure is not None
        builder = builder_for(self.evaluator, 1)
        builder.fail(0, self._failure)
        builder.note(0).details[""] = {"n": self._observed, "skipped": 0, "errors": 0}
        return builder.result


def _serve(channel: socket.socket, evaluator: BoundEvaluator) -> None:  # pragma: no cover - runs in the child
    fold = DatasetFold(evaluator, rows_at_once=ROWS_AT_ONCE, progressed=lambda: channel.sendall(framed(_ALIVE)))
    for message in frames(channel.makefile("rb")):
        if message == _REDUCE:
            channel.sendall(framed(_packed(fold)))
            return
        fold.add(_decode_records(message))
        channel.sendall(framed(_TAKEN))


def _packed(fold: DatasetFold) -> bytes:  # pragma: no cover - runs in the child
    result = fold.reduce()
    try:
        return pack([result])
    except (TypeError, ValueError, OverflowError) as error:
        builder = builder_for(fold.evaluator, 1)
        builder.fail(0, ScoreError(f"the result has no form that can be stored: {error}"))
        builder.note(0).details[""] = result.notes[0].details[""]
        return pack([builder.result])
