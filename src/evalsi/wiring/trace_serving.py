"""A server's traces from its settings: the store, how spans are read, and how long traces are kept."""

import logging
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalsi.core.clock import Clock, SystemClock, microseconds
from evalsi.core.errors import EvalsiError
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.open_stores import open_failure_store, open_trace_store
from evalsi.ports.failure_store import FailureStore
from evalsi.ports.trace_store import TraceStore
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings, TraceSettings
from evalsi.wiring.store_address import store_address

if TYPE_CHECKING:
    from evalsi.traces import Tracing

logger = logging.getLogger(__name__)

MANY = 1_000
BEHIND_MS = 2_000
"""So many traces that have been due for so long are more than one worker keeps up with."""
EXPIRY_INTERVAL_S = 30.0
EXPIRY_STOP_S = 5.0
EXPIRED_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True)
class TraceParts:
    """What the receiver, the services and the pages of traces work with."""

    store: TraceStore
    failures: FailureStore
    clock: Clock
    mappings: Sequence[str] = ()
    """Files with mappings of the operator's own."""

    @property
    def tracing(self) -> "Tracing":
        """How spans are read. Loaded by who reads them: a receiver keeps them as they come."""
        from evalsi.wiring.span_mappings import tracing_with

        return tracing_with(self.mappings)

    def is_behind(self, now_ms: int) -> bool:
        """Whether traces wait to be completed, many of them and for long. Raises: StoreError."""
        return self.store.overdue(since_ms=now_ms - BEHIND_MS, most=MANY) >= MANY


def expire_traces(store: TraceStore, plan: TraceSettings, now_ms: int, stopped: threading.Event) -> int:
    """Removes the traces that have been there long enough, some at a time so that others get their turn; how many.

    Raises: StoreError: the store cannot be used; the rest goes next time.
    """
    removed = 0
    for project in store.projects():
        kept_s = plan.project_retention.get(project, plan.retention)
        if kept_s is None:
            continue
        before_ms = now_ms - round(kept_s * 1000)
        while not stopped.is_set() and (count := store.expire(project, before_ms=before_ms, limit=EXPIRED_AT_ONCE)):
            removed += count
        # What was said of traces goes with them; what came later, or about none that there ever was, has its own time.
        while not stopped.is_set() and store.expire_feedback(project, before_ms=before_ms, limit=EXPIRED_AT_ONCE):
            continue
    return removed


@contextmanager
def expiring(parts: TraceParts, plan: TraceSettings) -> Generator[None]:
    """Meanwhile, traces that have been there long enough are removed, in a thread of its own."""
    stopped = threading.Event()

    def keep_expiring() -> None:
        while not stopped.wait(EXPIRY_INTERVAL_S):
            try:
                expire_traces(parts.store, plan, microseconds(parts.clock.now()) // 1000, stopped)
            except EvalsiError as error:
                logger.warning("old traces cannot be removed now: %s", error)

    thread = threading.Thread(target=keep_expiring, name="expire", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(EXPIRY_STOP_S)


@contextmanager
def opened_traces(server: ServerSettings, settings: Settings) -> Generator[TraceParts]:
    """Opens the store of traces; leaving writes what waits.

    Raises: StoreError: it cannot be opened. As `tracing_with`: a mapping cannot be used.
    """
    options = StoreOptions(synchronous=server.storage.sqlite.synchronous)
    address = store_address(server, settings)
    with (
        closing(open_trace_store(address, options)) as store,
        closing(open_failure_store(address, options)) as failures,
    ):
        parts = TraceParts(store=store, failures=failures, clock=SystemClock(), mappings=server.traces.mappings)
        if parts.mappings:
            assert parts.tracing  # what is wrong with them is said before anything is served
        yield parts
