"""The evaluators of one job and the limits they work under."""

from dataclasses import dataclass

from evalsi.core.processors import available_processors
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Scope


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Who measures, and how long and how much each may take."""

    evaluators: tuple[BoundEvaluator, ...]
    deadline_s: float = 60.0
    """Wall-clock seconds one evaluator may take over one record."""
    asking_deadline_s: float = 300.0
    """The same for evaluators that ask a judge, whose own deadlines and retries lie within it."""
    concurrency: int = 16
    """Asking (async) evaluations in flight at once."""
    processes: int = 0
    """Worker processes; 0 takes the processors this process may use."""
    worker_memory_mib: int = 4096
    """Memory one worker process may allocate before its allocation fails."""

    def __post_init__(self) -> None:
        assert self.deadline_s > 0
        assert self.concurrency >= 1

    @property
    def per_row(self) -> tuple[BoundEvaluator, ...]:
        """The evaluators whose results stand beside a record, in order."""
        return tuple(e for e in self.evaluators if e.scope in (Scope.RECORD, Scope.COMPARATIVE, Scope.SPAN))

    @property
    def per_dataset(self) -> tuple[BoundEvaluator, ...]:
        return tuple(e for e in self.evaluators if e.scope is Scope.DATASET)

    @property
    def per_session(self) -> tuple[BoundEvaluator, ...]:
        return tuple(e for e in self.evaluators if e.scope is Scope.SESSION)

    @property
    def worker_count(self) -> int:
        return self.processes or available_processors()
