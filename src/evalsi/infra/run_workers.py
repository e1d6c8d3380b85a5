"""The processes in which a server's runs are carried out: started, watched, started again when they die.

Its own module because these workers find their work in the database and live for many runs, where a pool of grading
workers is handed one call at a time. They run the interpreter of this process, whatever PATH says.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

logger = logging.getLogger(__name__)

LONGEST_PAUSE_S = 30.0
"""Between two starts of a worker that dies again and again."""
STEADY_S = 60.0
"""A worker that lived this long is started again at once."""


@dataclass
class _Worker:
    process: "subprocess.Popen[bytes] | None" = None
    started_s: float = 0.0
    next_start_s: float = 0.0
    pause_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RunWorkers:
    """`count` workers, from `start` to `stop`.

    Args:
        order: What each is told on its standard input: one line.
        log: Where their log goes; by default where ours goes.
    """

    order: bytes
    count: int
    log: IO[bytes] | int | None = None
    _workers: list[_Worker] = field(default_factory=list[_Worker], init=False)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)
    _restarts: list[float] = field(default_factory=list[float], init=False)

    def start(self) -> None:
        """Returns at once; the workers are started and watched by a thread.

        The thread lives as long as the workers: the system ends a worker when the thread that started it ends.
        """
        self._workers.extend(_Worker() for _ in range(self.count))
        threading.Thread(target=self._watch, name="run-workers", daemon=True).start()

    @property
    def alive(self) -> int:
        return sum(worker.process is not None and worker.process.poll() is None for worker in self._workers)

    @property
    def restarts(self) -> int:
        """Workers that died by themselves so far."""
        return len(self._restarts)

    def stop(self, *, timeout_s: float = 5.0) -> None:
        """Lets every worker put its run back in line, and ends those that have not ended after `timeout_s`."""
        self._stopped.set()
        running = [worker.process for worker in self._workers if worker.process is not None]
        for process in running:
            _close_input(process)
        deadline_s = time.monotonic() + timeout_s
        for process in running:
            try:
                process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _watch(self) -> None:
        while not self._stopped.is_set():
            now_s = time.monotonic()
            for worker in self._workers:
                self._look_after(worker, now_s)
            self._stopped.wait(0.1)
        for worker in self._workers:
            if worker.process is not None:
                worker.process.wait()

    def _look_after(self, worker: _Worker, now_s: float) -> None:
        if worker.process is not None and worker.process.poll() is not None:
            logger.warning("a run worker ended with %s", worker.process.returncode)
            _close_input(worker.process)
            self._restarts.append(now_s)
            lived_s = now_s - worker.started_s
            worker.pause_s = 0.0 if lived_s > STEADY_S else min(max(0.1, 2 * worker.pause_s), LONGEST_PAUSE_S)
            worker.next_start_s = now_s + worker.pause_s
            worker.process = None
        if worker.process is None and now_s >= worker.next_start_s and not self._stopped.is_set():
            worker.started_s = now_s
            worker.process = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "evalsi.worker", "runs", str(os.getpid())]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)
        assert process.stdin is not None
        try:
            process.stdin.write(self.order + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            """It died already; the next look sees it."""
        return process


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
