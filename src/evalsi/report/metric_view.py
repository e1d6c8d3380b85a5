"""A metric as a report needs it: its summary, the scale it is drawn on and which end of it is bad.

Its own module because plots, slices and the choice of worst records must agree on scale and direction.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsi.results.declared_range import is_output, range_of
from evalsi.results.graded_run import GradedRun
from evalsi.results.trial_tally import is_over_trials
from evalsi.schema import BoundRunEvaluator, MetricKind, MetricSummary


@dataclass(frozen=True, kw_only=True)
class MetricView:
    """One metric. `low` and `high` are the ends of its axis, `low < high`, both finite."""

    summary: MetricSummary
    low: float
    high: float
    bounds: tuple[float, float] | None
    """The range the values cannot leave, where it is known."""
    higher_is_better: bool | None

    @property
    def name(self) -> str:
        return self.summary.metric

    @property
    def on_unit_axis(self) -> bool:
        """Whether it shares the axis from 0 to 1."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def is_numeric(self) -> bool:
        return self.summary.kind in (MetricKind.NUMBER, MetricKind.PROPORTION)

    @property
    def passes(self) -> bool:
        """Whether its values are verdicts."""
        return self.summary.kind is MetricKind.PROPORTION

    def place(self, value: float) -> float:
        """Where `value` lies on the axis, as a fraction from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def metric_views(run: GradedRun) -> list[MetricView]:
    """The run's metrics in their own order."""
    evaluators = {evaluator.name: evaluator for evaluator in run.manifest.evaluators}
    return [metric_view(summary, evaluators.get(summary.evaluator)) for summary in run.summaries]


def directions_of(views: Iterable[MetricView]) -> dict[str, bool | None]:
    """By metric, whether it is better to be high."""
    return {view.name: view.higher_is_better for view in views}


def headline_metrics(views: list[MetricView], most: int = 3) -> list[MetricView]:
    """The metrics that slices and worst records are about: numeric, scored, with a good end; first outputs first.

    Where no metric has a good end, any numeric one. Those over the trials of a record have no value in any one of them.
    """
    scored = [view for view in views if view.is_numeric and view.summary.n and not is_over_trials(view.name)]
    directed = [view for view in scored if view.higher_is_better is not None]
    chosen = directed or scored
    return sorted(chosen, key=lambda view: view.name != view.summary.evaluator)[:most]


def metric_view(summary: MetricSummary, evaluator: BoundRunEvaluator | None) -> MetricView:
    """The view of one summary; `evaluator` is what the manifest says of its evaluator, None where nobody knows."""
    bounds = range_of(summary, evaluator)
    seen = [value for value in (summary.min, summary.max, summary.mean) if value is not None]
    if summary.ci is not None:
        seen += [summary.ci.low, summary.ci.high]
    unit = not seen or (min(seen) >= 0 and max(seen) <= 1)
    if bounds is not None and (unit or bounds[0] < 0 or bounds[1] > 1):
        low, high = bounds
    elif unit and summary.unit == "":
        low, high = 0.0, 1.0
    else:
        low, high = min(0.0, *seen), max(0.0, *seen)
    if not low < high:
        low, high = low - 0.5, low + 0.5
    better = summary.higher_is_better
    if better is None and (low, high) == (0.0, 1.0) and not _declares(summary, evaluator):
        better = True
    return MetricView(summary=summary, low=low, high=high, bounds=bounds, higher_is_better=better)


def _declares(summary: MetricSummary, evaluator: BoundRunEvaluator | None) -> bool:
    """Whether the evaluator lists this output. A verdict or share that nobody described is taken to be better high."""
    manifest = evaluator.manifest if evaluator is not None else None
    return manifest is not None and any(is_output(summary, spec.name) for spec in manifest.outputs)
