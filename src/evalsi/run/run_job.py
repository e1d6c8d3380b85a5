"""What a run is asked to do, and how it ended.

Its own module because whoever makes a job, whoever carries it out and whoever shows its end meet here and nowhere else.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from evalsi.core.clock import Clock
from evalsi.datasets import Dataset
from evalsi.documents.named_outside import nowhere
from evalsi.engine.panel import Panel
from evalsi.engine.summary import SummaryPlan
from evalsi.ports.run_store import RunStore
from evalsi.ports.target import Target
from evalsi.results.graded_run import GradedRun
from evalsi.results.recorder import Progress
from evalsi.run.budget_watch import RunBudget
from evalsi.run.gates.gate_plan import GatePlan
from evalsi.schema import (
    Gate,
    JudgeManifest,
    RunManifest,
    Usage,
)


@dataclass(frozen=True, kw_only=True)
class RunJob:
    """Whom to ask what, who grades, and within which limits."""

    target: Target | None
    """None where the dataset brings its outputs along."""
    dataset: Dataset
    panel: Panel
    plan: SummaryPlan
    store: RunStore
    clock: Clock
    manifest: RunManifest
    trials: int = 1
    concurrency: int = 16
    """Questions to the target in flight at once."""
    budget: RunBudget = field(default_factory=RunBudget)
    gates: Sequence[Gate] = ()
    gate_plan: GatePlan = field(default_factory=GatePlan)
    open_baseline: Callable[[str], GradedRun] | None = None
    """Opens what gates compare with."""
    price: Callable[[str, Usage], float | None] = lambda _model, _usage: None
    """US dollars that an answer cost, where the target does not say so itself."""
    resume: bool = True
    continues: str = ""
    """Continue this run and no other."""
    retry_errors: bool = False
    """Ask again where the infrastructure failed and that was stored; a run of the same work that has succeeded is taken
    up again for it."""
    judges: Callable[[], list[JudgeManifest]] = list
    on_progress: Callable[[Progress], None] | None = None
    stopped: Callable[[], bool] = lambda: False
    later: Sequence[str] = ()
    """Modules that whoever began the run needs at its end; loaded while it waits."""
    close: Callable[[], Awaitable[None]] | None = None
    where: Callable[[str], str] = nowhere
    """The place of a field of the specification, by its path."""


@dataclass(frozen=True, kw_only=True)
class Executed:
    """How a run ended."""

    run: GradedRun
    interrupted: bool
    continued: bool
    """Whether an earlier try had begun the run."""
    resumed_rows: int
    """Rows that earlier tries had finished."""
    recalled_answers: int
    """Answers of theirs to further rows, which were not asked for again."""
    budget_reached: str | None

    @property
    def nothing_scored(self) -> bool:
        return not any(summary.n for summary in self.run.summaries)
