"""Money, time and tokens: of the answers, from `record.usage`, and of each evaluator's judge calls.

Its own module because a cost is known, unknown or partly known, and a report must say which. Memory is bounded: beyond
131,072 values every second one is kept, and the page says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from evalsi.engine.columns import EvaluatorColumns
from evalsi.report.distribution import Histogram, ThinnedValues
from evalsi.schema import Usage
from evalsi.stats import Estimate

MEASURES = ("latency", "time_to_first_token", "cost_usd", "input_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class UsageFigure:
    """One measure of one source. `total` is the sum over the `n` that have it; `cached` of them came from our cache."""

    source: str
    measure: str
    n: int
    total: float
    median: Estimate
    p95: Estimate
    histogram: Histogram
    step: int
    """Above 1 the quantiles are read off every `step`-th value."""


@dataclass(frozen=True, kw_only=True)
class UsageFigures:
    """All measures, and calls whose price nobody knows."""

    figures: list[UsageFigure]
    unpriced_requests: int = 0
    cached: int = 0
    """Judge answers that came from our cache and cost nothing now."""

    def total(self, measure: str, *, judges: bool) -> float | None:
        """Sum over the answers, or over all judge calls; None where nothing was measured."""
        found = [figure.total for figure in self.figures if figure.measure == measure and bool(figure.source) == judges]
        return sum(found) if found else None


@dataclass(slots=True)
class _Source:
    values: dict[str, ThinnedValues] = field(default_factory=lambda: {name: ThinnedValues() for name in MEASURES})


class UsageTally:
    """Tallies usage. The source "" is the answers themselves."""

    def __init__(self) -> None:
        self._sources: dict[str, _Source] = {}
        self._unpriced = 0
        self._cached = 0

    def add_answers(self, usages: Iterable[Usage | None]) -> None:
        self._add("", [usage for usage in usages if usage is not None])

    def add_evaluator(self, columns: EvaluatorColumns) -> None:
        used = [note.usage for note in columns.notes.values() if note.usage is not None]
        self._cached += sum(usage.cached for usage in used)
        self._add(columns.evaluator, used)

    def finish(self, level: float, *, independent: bool = True) -> UsageFigures:
        """The figures; those of rows that are not independent, such as trials of one record, have no intervals."""

        def told(estimate: Estimate) -> Estimate:
            return estimate if independent else replace(estimate, interval=None)

        figures = [
            UsageFigure(
                source=source,
                measure=measure,
                n=values.n,
                total=values.total,
                median=told(values.quantile(0.5, level)),
                p95=told(values.quantile(0.95, level)),
                histogram=values.histogram(),
                step=values.step,
            )
            for source, held in self._sources.items()
            for measure, values in held.values.items()
            if values.n
        ]
        return UsageFigures(figures=figures, unpriced_requests=self._unpriced, cached=self._cached)

    def _add(self, source: str, used: list[Usage]) -> None:
        if not used:
            return
        held = self._sources.setdefault(source, _Source()).values
        self._unpriced += sum(usage.unpriced_requests for usage in used)
        held["latency"].add(usage.latency for usage in used if usage.latency is not None)
        first_tokens = (usage.time_to_first_token for usage in used)
        held["time_to_first_token"].add(seconds for seconds in first_tokens if seconds is not None)
        held["cost_usd"].add(usage.cost_usd for usage in used if usage.cost_usd is not None)
        held["input_tokens"].add(usage.input_tokens for usage in used if usage.input_tokens is not None)
        held["output_tokens"].add(usage.output_tokens for usage in used if usage.output_tokens is not None)
