"""What the steps of the work on live traffic work with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from evalsi.core.clock import Clock
from evalsi.ports.judge_tokens import JudgeTokenQuota, NoQuota
from evalsi.ports.policy_store import PolicyStore
from evalsi.ports.trace_store import TraceStore
from evalsi.traces import Tracing
from evalsi.watch.outgoing_scores import SinksOf, no_sinks
from evalsi.watch.policy_book import PolicyBook
from evalsi.watch.promotion import Promote


@dataclass(frozen=True, kw_only=True)
class WatchTools:
    """Stores, policies, time. One process has one of these."""

    traces: TraceStore
    policies: PolicyStore
    book: PolicyBook
    tracing: Tracing
    clock: Clock
    promote: Promote
    sinks_of: SinksOf = no_sinks
    judge_tokens: JudgeTokenQuota = field(default_factory=NoQuota)
    tell_damaged: Callable[[], None] = lambda: None
    """Told of each trace that cannot be read, or not all of it."""
    most_open: int = 0
    """Most traces that wait to be complete, of which the oldest are not waited for; 0 for no limit."""
    lease_s: float = 10.0
    """How long after its last sign of life a worker counts as gone."""

    @property
    def now_ms(self) -> int:
        return int(self.clock.now().timestamp() * 1000)

    @property
    def lease_ms(self) -> int:
        return int(self.lease_s * 1000)
