"""A metric of a whole dataset as a score: value, n, interval, and, where it is undefined, the reason in its place.

Its own module because every dataset evaluator of this pack promises the same: an undefined metric is not reported as 0
but named under `metadata.undefined` of the first score, and records that could not be read are counted beside n.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Score
from evalsi.stats import Interval, Resampling, resampled_statistic
from evalsi.stats.interval import interval_or_none

FloatArray: TypeAlias = npt.NDArray[np.float64]
Metrics: TypeAlias = Callable[[FloatArray], Mapping[str, FloatArray]]
"""Weights of shape (rows, units) to metrics by name, each of shape (rows,), NaN where undefined."""

_DRAWS = 20_000_000
_RESAMPLES = 1000
_FEWEST_RESAMPLES = 200
_UNDEFINED_ALLOWED = 0.05
"""Share of resamples on which a metric may be undefined before its interval is left out, as in `evalsi.stats`."""


@dataclass
class DatasetMetrics:
    """What a `reduce` has worked out so far."""

    n: int
    missing: Counter[str]
    undefined: dict[str, str] = field(default_factory=dict[str, str])
    scores: list[Score] = field(default_factory=list[Score])

    def __post_init__(self) -> None:
        """Raises SkipRecord when no record could be read."""
        if self.n == 0:
            raise SkipRecord(f"no record could be read: {next(iter(self.missing), 'there are none')}")

    def add(
        self, name: str, value: float | None, *, interval: Interval | None = None, reason: str = "", **more: Any
    ) -> None:
        """Adds one metric; `value` None or NaN means undefined for `reason`."""
        if value is None or not np.isfinite(value):
            self.undefined[name] = reason or "it is undefined on these records"
            return
        metadata: dict[str, Any] = {"n": self.n, **more}
        if interval is not None:
            metadata["ci"] = {
                "low": interval.low,
                "high": interval.high,
                "level": interval.level,
                "method": interval.method,
            }
        self.scores.append(Score(name=name, number=float(value), metadata=metadata))

    def finished(self) -> list[Score]:
        """The scores, the first of which says what was missing and undefined.

        Raises:
            SkipRecord: no metric is defined.
        """
        if not self.scores:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.undefined.items())
            raise SkipRecord(f"nothing is defined on these records: {reasons}")
        first = self.scores[0]
        metadata = {**first.metadata, "n_missing": self.missing.total()}
        if self.missing:
            metadata["missing"] = dict(self.missing)
        if self.undefined:
            metadata["undefined"] = dict(self.undefined)
        self.scores[0] = Score(
            name=first.name,
            number=first.number,
            structured=first.structured,
            explanation="; ".join(f"no {name}: {reason}" for name, reason in self.undefined.items()),
            metadata=metadata,
        )
        return self.scores


def plan_for(context: EvalContext, n: int) -> Resampling:
    """1000 resamples of n records; fewer, at least 200, where that would be more than 20 million draws."""
    resamples = max(_FEWEST_RESAMPLES, min(_RESAMPLES, _DRAWS // max(n, 1)))
    return Resampling(seed=context.seed, resamples=resamples, level=context.level)


def intervals_over_records(metrics: Metrics, n: int, plan: Resampling) -> dict[str, Interval | None]:
    """Percentile bootstrap intervals of several metrics from the same resamples of n records."""
    if n < 2:
        return {}
    names = list(metrics(np.ones((1, n))))

    def stacked(weights: npt.NDArray[np.int64]) -> FloatArray:
        found = metrics(weights.astype(np.float64))
        return np.stack([found[name] for name in names], axis=1)

    resampled = resampled_statistic(stacked, n, plan)
    return {name: _percentiles(resampled[:, column], plan) for column, name in enumerate(names)}


def intervals_over_counts(
    metrics: Metrics, counts: npt.NDArray[np.int64], plan: Resampling
) -> dict[str, Interval | None]:
    """The same for records of few kinds, of which only `counts` per kind is known: one multinomial draw per resample.

    It is the same distribution as drawing the records one by one, at a cost that does not depend on their number.
    """
    n = int(counts.sum())
    if n < 2:
        return {}
    drawn = np.random.default_rng(plan.seed).multinomial(n, counts / n, size=plan.resamples).astype(np.float64)
    return {name: _percentiles(values, plan) for name, values in metrics(drawn).items()}


def _percentiles(resampled: FloatArray, plan: Resampling) -> Interval | None:
    """None where all resamples agree: certainty from a sample would be a lie."""
    defined = resampled[np.isfinite(resampled)]
    if defined.size < (1 - _UNDEFINED_ALLOWED) * resampled.size:
        return None
    tail = (1 - plan.level) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    return interval_or_none(float(low), float(high), plan.level, plan.method)
