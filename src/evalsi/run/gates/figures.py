"""The figures that gates ask for, computed from a graded run.

What the run's summaries hold is taken from there; slices, pass@k, times and costs are read off the records in one pass.
Its own module because a figure must mean the same in a gate, in a condition and against a baseline. What always holds:
a figure without data is None with the reason, never 0; a cost that is not known in full is not known.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.engine.columns import CANCELLED, ERROR, SCORED, SKIPPED, Column, EvaluatorColumns
from evalsi.engine.summary import RECORD_ID, cluster_key, cluster_path, confidence_interval
from evalsi.results.chosen_rows import chosen_rows
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows
from evalsi.run.gates.figure_ask import FigureAsk
from evalsi.schema import ConfidenceInterval, GateStat, MetricSummary, Usage
from evalsi.stats import (
    ClusterTotals,
    Estimate,
    cluster_robust_t,
    mean_estimate,
    pass_rate,
    proportion_estimate,
    quantile_estimate,
    wilson,
)

__all__ = ["Figure", "figures_of"]

Stat = GateStat
Slice = tuple[tuple[str, str], ...]

_OF_SUMMARY = frozenset({Stat.MEAN, Stat.CI_LOW, Stat.CI_HIGH, Stat.ERROR_RATE, Stat.COVERAGE, Stat.N})
_QUANTILES = {
    Stat.LATENCY_P50: 0.5,
    Stat.LATENCY_P90: 0.9,
    Stat.LATENCY_P95: 0.95,
    Stat.LATENCY_P99: 0.99,
    Stat.COST_P95: 0.95,
}
_LATENCIES = frozenset({Stat.LATENCY_MEAN, Stat.LATENCY_P50, Stat.LATENCY_P90, Stat.LATENCY_P95, Stat.LATENCY_P99})


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure with what is known about it."""

    value: float | None = None
    ci: ConfidenceInterval | None = None
    n: int = 0
    """Values it rests on."""
    why: str = ""
    """Why there is no value."""
    unit: str = ""


def figures_of(run: GradedRun, asks: Iterable[FigureAsk], *, level: float = 0.95) -> dict[FigureAsk, Figure]:
    """A figure for each of `asks`. The records are read at most once, and not at all when the summaries suffice."""
    wanted = list(dict.fromkeys(asks))
    scan = _Scan(run, wanted, level)
    return {ask: scan.figure(ask) for ask in wanted}


class _Glance(msgspec.Struct):
    """The part of a record that times and costs are read from."""

    id: str = ""
    usage: "_GlanceUsage | None" = None


class _GlanceUsage(msgspec.Struct):
    cost_usd: float | None = None
    latency: float | None = None
    unpriced_requests: int = 0


_GLANCE = msgspec.json.Decoder(_Glance)


@dataclass(slots=True)
class _Values:
    """What one slice holds of one metric."""

    values: list[npt.NDArray[np.float64]] = field(default_factory=list[npt.NDArray[np.float64]])
    ids: list[str] = field(default_factory=list[str])
    groups: list[str] = field(default_factory=list[str])
    """What each value belongs to, where the run groups its records."""
    kind: str = ""

    def joined(self) -> npt.NDArray[np.float64]:
        return np.concatenate(self.values) if self.values else np.zeros(0)


@dataclass(slots=True)
class _Usages:
    """Times and costs of the records of one slice."""

    records: int = 0
    latencies: list[float] = field(default_factory=list[float])
    costs: list[float] = field(default_factory=list[float])


class _Scan:
    """Reads a run once, when the first figure needs it."""

    def __init__(self, run: GradedRun, asks: list[FigureAsk], level: float) -> None:
        self._run = run
        self._asks = asks
        self._level = level
        self._usages: dict[Slice, _Usages] = {}
        self._metrics: dict[tuple[Slice, str], _Values] = {}
        self._outcomes: dict[tuple[Slice, str], npt.NDArray[np.int64]] = {}
        """Results by outcome code, by slice and evaluator."""

    def figure(self, ask: FigureAsk) -> Figure:
        if ask.stat in _LATENCIES:
            return self._latency(ask)
        if ask.stat is Stat.COST_TOTAL and not ask.slice:
            return self._total_cost()
        if ask.stat in (Stat.COST_MEAN, Stat.COST_P95, Stat.COST_TOTAL):
            return self._cost(ask)
        if ask.stat in (Stat.PASS_AT_K, Stat.PASS_HAT_K):
            return self._pass_rate(ask)
        if not ask.metric:
            return self._whole(ask)
        if ask.slice:
            return self._sliced(ask)
        summary = self._run.summary(ask.metric)
        if summary is None:
            return Figure(why=f"the run has no metric {ask.metric!r}")
        return self._of_summary(ask, summary)

    def _of_summary(self, ask: FigureAsk, summary: MetricSummary) -> Figure:
        scored = summary.total - summary.skipped - summary.errors - summary.cancelled
        scored = max(scored, summary.n)
        if ask.stat is Stat.ERROR_RATE:
            return self._share(summary.errors, scored + summary.errors, "nothing was evaluated")
        if ask.stat is Stat.COVERAGE:
            total = summary.total or scored + summary.skipped + summary.errors + summary.cancelled
            return self._share(summary.n, total, "nothing was evaluated")
        if ask.stat is Stat.N:
            return Figure(value=float(summary.n), n=summary.n)
        why = "nothing was scored" + _counted(summary.errors, summary.skipped, summary.cancelled)
        return _bound(ask, Figure(value=summary.mean, ci=summary.ci, n=summary.n, why=why, unit=summary.unit))

    def _whole(self, ask: FigureAsk) -> Figure:
        """Error rate and coverage over all evaluations, number of records."""
        if ask.slice or ask.stat is Stat.N:
            self._read()
            if ask.stat is Stat.N:
                records = self._usages[ask.slice].records
                return Figure(value=float(records), n=records)
            outcomes = np.zeros(5, dtype=np.int64)
            for (where, _), counts in self._outcomes.items():
                outcomes += counts if where == ask.slice else 0
        else:
            outcomes = np.zeros(5, dtype=np.int64)
            for summary in {each.evaluator: each for each in reversed(self._run.summaries)}.values():
                scored = max(summary.total - summary.skipped - summary.errors - summary.cancelled, summary.n)
                outcomes += np.array([0, scored, summary.skipped, summary.errors, summary.cancelled])
        scored, errors = int(outcomes[SCORED]), int(outcomes[ERROR])
        if ask.stat is Stat.ERROR_RATE:
            return self._share(errors, scored + errors, "nothing was evaluated")
        if ask.stat is Stat.COVERAGE:
            return self._share(scored, int(outcomes.sum()), "nothing was evaluated")
        return Figure(why="a mean needs a metric")

    def _share(self, part: int, whole: int, why: str) -> Figure:
        if whole <= 0:
            return Figure(why=why)
        ci = confidence_interval(wilson(part, whole, self._level)) if self._independent else None
        return Figure(value=part / whole, ci=ci, n=whole)

    def _sliced(self, ask: FigureAsk) -> Figure:
        self._read()
        if not self._usages[ask.slice].records:
            return Figure(why="no record is in the slice")
        summary = self._run.summary(ask.metric)
        counts = self._outcomes.get((ask.slice, summary.evaluator if summary is not None else ask.metric))
        if counts is None:
            missing = summary is None
            return Figure(
                why=f"the run has no metric {ask.metric!r}"
                if missing
                else f"{ask.metric} is one value for the whole dataset, so it has no slices"
            )
        values = self._metrics.get((ask.slice, ask.metric), _Values())
        scored, skipped, errors, cancelled = (int(counts[code]) for code in (SCORED, SKIPPED, ERROR, CANCELLED))
        array = values.joined()
        if ask.stat is Stat.ERROR_RATE:
            return self._share(errors, scored + errors, "nothing was evaluated")
        if ask.stat is Stat.COVERAGE:
            return self._share(array.size, int(counts.sum()), "nothing was evaluated")
        if ask.stat is Stat.N:
            return Figure(value=float(array.size), n=array.size)
        if not array.size:
            return Figure(why="nothing was scored" + _counted(errors, skipped, cancelled))
        return _bound(ask, _figure(self._mean(values, array, ask.metric)))

    def _mean(self, values: _Values, array: npt.NDArray[np.float64], metric: str) -> Estimate:
        bounds = (0.0, 1.0) if values.kind == "passed" else self._bounds.get(metric)
        groups = values.groups or values.ids
        if values.groups or len(set(groups)) < len(groups):
            return cluster_robust_t(ClusterTotals.of(array, groups), self._level, bounds)
        if values.kind == "passed":
            return proportion_estimate(round(float(array.sum())), array.size, self._level)
        return mean_estimate(array, self._level, bounds)

    def _pass_rate(self, ask: FigureAsk) -> Figure:
        self._read()
        values = self._metrics.get((ask.slice, ask.metric))
        if values is None:
            return Figure(why=f"the run has no verdicts of {ask.metric!r}")
        if values.kind != "passed":
            return Figure(why=f"{ask.metric} gives numbers, and only a verdict passes or fails")
        trials: dict[str, list[int]] = {}
        for record, value in zip(values.ids, values.joined().tolist(), strict=True):
            counts = trials.setdefault(record, [0, 0])
            counts[0] += 1
            counts[1] += value > 0.5
        k = ask.k or max(1, self._run.manifest.trials)
        group_of = dict(zip(values.ids, values.groups, strict=True)) if values.groups else None
        rate = pass_rate(
            [(n, passed) for n, passed in trials.values()],
            k,
            "any" if ask.stat is Stat.PASS_AT_K else "all",
            self._level,
            clusters=[group_of[record] for record in trials] if group_of is not None else None,
        )
        return _figure(rate.estimate)

    def _latency(self, ask: FigureAsk) -> Figure:
        self._read()
        found = self._usages[ask.slice]
        if not found.latencies:
            return Figure(why="no latency was measured")
        return self._spread(ask.stat, found.latencies, "s")

    def _cost(self, ask: FigureAsk) -> Figure:
        self._read()
        found = self._usages[ask.slice]
        if not found.records or len(found.costs) < found.records:
            return Figure(why=_unknown_costs(found))
        if ask.stat is Stat.COST_TOTAL:
            return Figure(value=float(sum(found.costs)), n=found.records, unit="usd")
        return self._spread(ask.stat, found.costs, "usd")

    def _spread(self, stat: GateStat, values: list[float], unit: str) -> Figure:
        if stat in _QUANTILES:
            estimate = quantile_estimate(values, _QUANTILES[stat], self._level)
        else:
            estimate = mean_estimate(values, self._level)
        figure = _figure(estimate, unit)
        return figure if self._independent else replace(figure, ci=None)

    @cached_property
    def _independent(self) -> bool:
        """Whether every row stands for itself; where not, figures that are not means of a metric have no interval."""
        return cluster_path(self._run.manifest) is None

    def _total_cost(self) -> Figure:
        """Answers and judgements together. A part that is not priced makes the whole unknown."""
        manifest = self._run.manifest
        if manifest.target_usage is not None:
            answers = _priced(manifest.target_usage)
            why = "the cost of the answers is not known"
        else:
            self._read()
            found = self._usages[()]
            complete = bool(found.records) and len(found.costs) == found.records
            answers = float(sum(found.costs)) if complete else None
            why = _unknown_costs(found)
        judged = 0.0 if manifest.judge_usage is None else _priced(manifest.judge_usage)
        if answers is None:
            return Figure(why=why)
        if judged is None:
            return Figure(why="the cost of the judgements is not known")
        return Figure(value=answers + judged, n=int(manifest.dataset.records) if manifest.dataset else 0, unit="usd")

    @cached_property
    def _bounds(self) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for evaluator in self._run.manifest.evaluators:
            outputs = evaluator.manifest.outputs if evaluator.manifest is not None else []
            for spec in outputs:
                if spec.min is not None and spec.max is not None and spec.min < spec.max:
                    found[f"{evaluator.name}.{spec.name}"] = (spec.min, spec.max)
                    if len(outputs) == 1 or (evaluator.manifest is not None and spec.name == evaluator.manifest.name):
                        found[evaluator.name] = (spec.min, spec.max)
        return found

    @cached_property
    def _wanted_metrics(self) -> set[tuple[Slice, str]]:
        return {(ask.slice, ask.metric) for ask in self._asks if ask.metric}

    def _read(self) -> None:
        if self._usages:
            return
        slices = list(dict.fromkeys([(), *(ask.slice for ask in self._asks)]))
        self._usages = {where: _Usages() for where in slices}
        path = cluster_path(self._run.manifest)
        for rows in self._run.read_rows():
            glances = [_GLANCE.decode(line) for line in rows.record_lines]
            groups = [cluster_key(record, path) for record in rows.records] if path not in (None, RECORD_ID) else None
            for where in slices:
                chosen = rows_in_slice(rows, where)
                self._read_usage(self._usages[where], glances, chosen)
                for columns in rows.columns:
                    self._read_columns(where, columns, glances, groups, chosen)

    def _read_usage(self, found: _Usages, glances: list[_Glance], chosen: npt.NDArray[np.bool_]) -> None:
        for row in np.flatnonzero(chosen).tolist():
            found.records += 1
            usage = glances[row].usage
            if usage is None:
                continue
            if usage.latency is not None:
                found.latencies.append(usage.latency)
            if usage.cost_usd is not None and not usage.unpriced_requests:
                found.costs.append(usage.cost_usd)

    def _read_columns(
        self,
        where: Slice,
        columns: EvaluatorColumns,
        glances: list[_Glance],
        groups: list[str] | None,
        chosen: npt.NDArray[np.bool_],
    ) -> None:
        outcomes = np.frombuffer(columns.outcomes, dtype=np.uint8)
        counts = np.bincount(outcomes[chosen], minlength=5)[:5]
        so_far = self._outcomes.setdefault((where, columns.evaluator), np.zeros(5, dtype=np.int64))
        so_far += counts
        scored = chosen & (outcomes == SCORED)
        for output, column in columns.columns.items():
            metric = columns.metric(output)
            if (where, metric) in self._wanted_metrics:
                values = self._metrics.setdefault((where, metric), _Values(kind=column.kind))
                self._read_column(values, column, scored, glances, groups)

    def _read_column(
        self,
        values: _Values,
        column: Column,
        scored: npt.NDArray[np.bool_],
        glances: list[_Glance],
        groups: list[str] | None,
    ) -> None:
        if column.kind not in ("number", "passed"):
            return
        if column.kind == "number":
            values.kind = "number"
        array = column.array()
        present = scored & ~np.isnan(array)
        values.values.append(array[present])
        there = np.flatnonzero(present).tolist()
        values.ids += [glances[row].id for row in there]
        if groups is not None:
            values.groups += [groups[row] for row in there]


def rows_in_slice(rows: GradedRows, wanted: Slice) -> npt.NDArray[np.bool_]:
    """Which of the rows are in the slice, shape (rows,)."""
    if not wanted:
        return np.ones(rows.rows, dtype=bool)
    return np.array(
        [all(cluster_key(record, path) == value for path, value in wanted) for record in rows.records], dtype=bool
    )


def _bound(ask: FigureAsk, figure: Figure) -> Figure:
    """The bound of the interval that the ask is for; the mean itself stays."""
    if ask.stat is Stat.MEAN or figure.value is None:
        return figure
    if figure.ci is None:
        return replace(figure, value=None, why="the data carry no interval")
    return replace(figure, value=figure.ci.low if ask.stat is Stat.CI_LOW else figure.ci.high)


def _figure(estimate: Estimate, unit: str = "") -> Figure:
    return Figure(
        value=estimate.value,
        ci=confidence_interval(estimate.interval),
        n=estimate.n,
        why=estimate.reason or "nothing was scored",
        unit=unit,
    )


def _priced(usage: Usage) -> float | None:
    return None if usage.unpriced_requests else usage.cost_usd


def _unknown_costs(found: _Usages) -> str:
    if not found.records:
        return "there are no records"
    if not found.costs:
        return "no cost is known"
    return f"the cost of {found.records - len(found.costs)} of {found.records} records is not known"


def _counted(errors: int, skipped: int, cancelled: int) -> str:
    parts = [
        f"{count} {name}"
        for count, name in ((errors, "errors"), (skipped, "skipped"), (cancelled, "cancelled"))
        if count
    ]
    return f" ({', '.join(parts)})" if parts else ""


def slice_run(run: GradedRun, wanted: Mapping[str, str] | Slice) -> GradedRun:
    """The run with only the records of a slice; summaries and whole-dataset results are left out."""
    where: Slice = tuple(sorted(wanted.items())) if isinstance(wanted, Mapping) else wanted
    if not where:
        return run

    def read() -> Iterator[GradedRows]:
        for rows in run.read_rows():
            yield chosen_rows(rows, rows_in_slice(rows, where))

    return replace(run, read_rows=read, whole=[])
