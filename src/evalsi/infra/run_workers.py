"""The processes that find a server's work in its stores, runs above all: started as needed, watched, started again.

Its own module because these workers find their work in the database and live for many runs, where a pool of grading
workers is handed one call at a time. They run the interpreter of this process, whatever PATH says. What always holds: one
worker is there, so that a run begins at once; further ones are there while there is work for them.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from evalsi.core.errors import StoreError

logger = logging.getLogger(__name__)

LONGEST_PAUSE_S = 30.0
"""Between two starts of a worker that dies again and again."""
STEADY_S = 60.0
"""A worker that lived this long is started again at once."""
IDLE_END_S = 60.0
"""A worker beyond the first ends itself when it had nothing to do for so long."""
BEGUN = b"\n"
"""What a worker says first, when it has its order and begins; every other line is news of its work."""
LOOK_S = 5.0
"""How often the queue is looked at for runs that nobody told us of."""


@dataclass
class _Worker:
    process: "subprocess.Popen[bytes] | None" = None
    started_s: float = 0.0
    next_start_s: float = 0.0
    pause_s: float = 0.0
    has_died: bool = False
    """Whether it must be started again, wanted or not: the run it had in hand may be there for it alone."""


@dataclass(frozen=True, kw_only=True)
class RunWorkers:
    """At most `count` workers, from `start` to `stop`.

    Args:
        order: What each is told on its standard input: one line. Every later byte says that there may be work.
        log: Where their log goes; by default where ours goes.
        demand: How many runs wait or are worked on. Raises StoreError when that cannot be known.
        hear: Takes each line that a worker says about its runs. Called from threads.
    """

    order: bytes
    count: int
    kind: str = "runs"
    """What they do: "runs" carries out runs, "watch" evaluates traffic."""
    log: IO[bytes] | int | None = None
    demand: Callable[[], int] = lambda: 1
    hear: Callable[[bytes], None] = lambda _line: None
    _workers: list[_Worker] = field(default_factory=list[_Worker], init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)
    _woken: threading.Event = field(default_factory=threading.Event, init=False)
    _begun: set[int] = field(default_factory=set[int], init=False)
    """Processes that have said that they begin."""
    _restarts: list[float] = field(default_factory=list[float], init=False)

    def start(self) -> None:
        """Returns at once; the workers are started and watched by a thread.

        The thread lives as long as the workers: the system ends a worker when the thread that started it ends.
        """
        self._workers.extend(_Worker() for _ in range(self.count))
        threading.Thread(target=self._watch, name="run-workers", daemon=True).start()

    def wake(self) -> None:
        """Says that there may be work. Returns at once."""
        self._woken.set()

    @property
    def alive(self) -> int:
        return sum(worker.process is not None and worker.process.poll() is None for worker in self._workers)

    @property
    def restarts(self) -> int:
        """Workers that died by themselves so far."""
        return len(self._restarts)

    def let_go(self) -> None:
        """Has every worker put its run back in line and end. Returns at once.

        One that has not said yet that it begins has nothing in hand, and is ended here and now.
        """
        self._stopped.set()
        self._woken.set()
        for worker in self._workers:
            if worker.process is not None:
                _close_input(worker.process)
                if worker.process.pid not in self._begun:
                    worker.process.kill()

    def stop(self, *, timeout_s: float = 5.0) -> None:
        """Lets go of every worker, and ends those that have not ended after `timeout_s`."""
        self.let_go()
        running = [worker.process for worker in self._workers if worker.process is not None]
        deadline_s = time.monotonic() + timeout_s
        for process in running:
            try:
                process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        wanted, next_look_s = 1, 0.0
        while not self._stopped.is_set():
            now_s = time.monotonic()
            woken = self._woken.is_set()
            self._woken.clear()
            if woken or now_s >= next_look_s:
                wanted, next_look_s = self._wanted(wanted), now_s + LOOK_S
            for place, worker in enumerate(self._workers):
                self._look_after(worker, now_s, is_wanted=place < wanted, stays=place == 0)
                if woken and worker.process is not None:
                    _poke(worker.process)
            self._woken.wait(0.1)
        for worker in self._workers:
            if worker.process is not None:
                worker.process.wait()

    def _wanted(self, before: int) -> int:
        try:
            return max(1, min(self.count, self.demand()))
        except StoreError as error:
            logger.warning("it is not known how many runs wait: %s", error)
            return before

    def _look_after(self, worker: _Worker, now_s: float, *, is_wanted: bool, stays: bool) -> None:
        if worker.process is not None and worker.process.poll() is not None:
            _close_input(worker.process)
            worker.has_died = worker.process.returncode != 0
            if worker.has_died:
                logger.warning("a worker for %s ended with %s", self.kind, worker.process.returncode)
                self._restarts.append(now_s)
                lived_s = now_s - worker.started_s
                worker.pause_s = 0.0 if lived_s > STEADY_S else min(max(0.1, 2 * worker.pause_s), LONGEST_PAUSE_S)
                worker.next_start_s = now_s + worker.pause_s
            worker.process = None
        if worker.process is not None or self._stopped.is_set():
            return
        if (is_wanted or worker.has_died) and now_s >= worker.next_start_s:
            worker.started_s, worker.has_died = now_s, False
            worker.process = self._started(stays=stays)

    def _started(self, *, stays: bool) -> "subprocess.Popen[bytes]":
        ends_after_s = 0.0 if stays else IDLE_END_S
        command = [sys.executable, "-m", "evalsi.worker", self.kind, str(os.getpid()), str(ends_after_s)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        assert process.stdin is not None
        threading.Thread(target=self._listen, args=(process,), name="run-news", daemon=True).start()
        try:
            process.stdin.write(self.order + b"\n")
            process.stdin.flush()
            # A worker that does not read must not stop whoever wakes it.
            os.set_blocking(process.stdin.fileno(), False)
        except BrokenPipeError:
            """It died already; the next look sees it."""
        return process

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line == BEGUN:
                    self._begun.add(process.pid)
                else:
                    self.hear(line)
        self._begun.discard(process.pid)


def _poke(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None and not process.stdin.closed:
        with suppress(BrokenPipeError, BlockingIOError):
            os.write(process.stdin.fileno(), b"\n")


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
