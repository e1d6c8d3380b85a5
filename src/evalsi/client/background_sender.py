"""Sends things from a thread of its own, so that whoever hands them over never waits and never fails.

Its own module because the promise is one whatever is sent: what waits is bounded, what cannot be sent is counted and dropped,
what is left at the end of the process is sent, and a forked child sends nothing of its parent's.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evalsi.core.figure import counted

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SendPlan:
    """How much waits and for how long."""

    most_waiting: int = 2048
    """Things that wait to be sent; a further one is dropped."""
    most_at_once: int = 256
    interval_s: float = 1.0
    """How long something waits for company."""
    tries: int = 5
    """How often the same things are sent when the server says that it may help."""
    exit_s: float = 5.0
    """How long the end of the process waits for what is left."""


class ComeAgainError(Exception):
    """The server could not take things just now.

    Args:
        wait_s: Seconds until the next try.
    """

    def __init__(self, reason: str, wait_s: float = 1.0) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class BackgroundSender(Generic[T]):
    """Hands things over to `send`, several at once.

    Args:
        send: Sends them. Raises ComeAgainError where another try may help; whatever else it raises drops them.
    """

    def __init__(self, send: Callable[[Sequence[T]], None], plan: SendPlan | None = None) -> None:
        self._send = send
        self.plan = plan or SendPlan()
        self.dropped = 0
        """Things that were not sent and will not be."""
        self.begin()
        reference: weakref.ref[BackgroundSender[T]] = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _begin_again(reference))
        atexit.register(_flush_at_exit, reference)

    def add(self, item: T) -> bool:
        """Takes a thing; False when too many wait already, or the sender is closed."""
        with self._changed:
            if self._closed or len(self._waiting) >= self.plan.most_waiting:
                self.dropped += 1
                return False
            self._waiting.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="evalsi-sender", daemon=True)
                self._thread.start()
            if len(self._waiting) >= self.plan.most_at_once:
                self._changed.notify_all()
        return True

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Waits until everything is sent or dropped; False when that takes longer."""
        until_s = time.monotonic() + timeout_s
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                while self._waiting or self._sending:
                    left_s = until_s - time.monotonic()
                    if left_s <= 0:
                        return False
                    self._changed.wait(left_s)
            finally:
                self._flushing -= 1  # one that gave up hurries nothing that comes later
        return True

    def close(self, timeout_s: float = 10.0) -> bool:
        """Takes nothing more, and sends what waits; as `flush`."""
        with self._changed:
            self._closed = True
        return self.flush(timeout_s)

    def begin(self) -> None:
        """Forgets what waits and the thread: what a forked child has to do."""
        self._changed = threading.Condition()
        self._waiting: deque[T] = deque()
        self._sending = 0
        self._flushing = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._warned_s = -60.0

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                if not (self._flushing or self._closed) and len(self._waiting) < self.plan.most_at_once:
                    self._changed.wait(self.plan.interval_s)
                count = min(len(self._waiting), self.plan.most_at_once)
                items = [self._waiting.popleft() for _ in range(count)]
                self._sending = count
            sent = self._sent(items)
            with self._changed:
                self._sending = 0
                if not sent:
                    self.dropped += len(items)
                self._changed.notify_all()

    def _sent(self, items: Sequence[T]) -> bool:
        for attempt in range(1, self.plan.tries + 1):
            try:
                self._send(items)
            except ComeAgainError as error:
                if attempt == self.plan.tries:
                    self._warn(len(items), error)
                    return False
                with self._changed:
                    # A process that ends waits once more, not for as long as the server would like.
                    self._changed.wait(min(error.wait_s, 0.2) if self._flushing or self._closed else error.wait_s)
            except Exception as error:
                self._warn(len(items), error)
                return False
            else:
                return True
        return False

    def _warn(self, count: int, error: Exception) -> None:
        now_s = time.monotonic()
        if now_s - self._warned_s >= 60:
            self._warned_s = now_s
            logger.warning("%s not sent to evalsi: %s", counted(count, "item"), error)


def _begin_again(reference: "weakref.ref[BackgroundSender[T]]") -> None:
    """A child has neither the thread nor what its parent is about to send."""
    sender = reference()
    if sender is not None:
        sender.begin()


def _flush_at_exit(reference: "weakref.ref[BackgroundSender[T]]") -> None:
    sender = reference()
    if sender is not None:
        sender.close(sender.plan.exit_s)
