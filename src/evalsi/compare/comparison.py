"""What a comparison of two runs found: the metrics, the usage and the records that changed."""

from dataclasses import dataclass, field

from evalsi.compare.paired_metric import PairedMetric, Verdict
from evalsi.stats import Estimate


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A record whose value changed, with what both runs answered."""

    record_id: str
    metric: str
    before: float
    after: float
    input: str
    reference: str
    baseline_output: str
    candidate_output: str
    explanation: str = ""
    """Why the candidate's value is what it is, where the evaluator said."""

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, kw_only=True)
class UsageDifference:
    """A cost or latency: both means over the shared records that carry it, and the paired difference."""

    name: str
    unit: str
    baseline_mean: float
    candidate_mean: float
    difference: Estimate


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A finished comparison. `verdict` is that of the metrics together: one regression regresses the whole."""

    baseline: str
    candidate: str
    metrics: list[PairedMetric]
    shared: int
    only_baseline: int
    only_candidate: int
    usage: list[UsageDifference] = field(default_factory=list[UsageDifference])
    flips: list[Flip] = field(default_factory=list[Flip])
    flips_left_out: int = 0
    warnings: list[str] = field(default_factory=list[str])

    @property
    def verdict(self) -> Verdict:
        verdicts = {metric.verdict for metric in self.metrics}
        for worst in ("REGRESSED", "IMPROVED"):
            if worst in verdicts:
                return worst
        for open_word in ("INCONCLUSIVE", "UNCHANGED", "NO DIRECTION"):
            if open_word in verdicts:
                return open_word
        return "NO DATA"

    def __str__(self) -> str:
        from evalsi.compare.comparison_text import as_text

        return as_text(self)

    def metric(self, name: str) -> PairedMetric | None:
        return next((metric for metric in self.metrics if metric.metric == name), None)

    def _repr_markdown_(self) -> str:
        """For notebooks, with the records that changed."""
        from evalsi.compare.markdown import as_markdown

        return as_markdown(self)
