"""Slices: the headline metrics for each value of a metadata key, and which slices differ from the rest for sure.

Its own module because it holds the one multiple-testing decision of a report. What always holds: a mark is printed only
where Holm's adjusted p-value over every test of the page is below 1 - level; memory is bounded by keys x values. Of a run
whose rows are not independent nothing is tested, the intervals are clustered as the run's are, and 4 bytes a row and key
are kept for that, beside the values. The test itself is `evalsi.stats.subgroup`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from evalsi.core.content import json_text
from evalsi.core.natural_order import natural_order
from evalsi.report.metric_view import MetricView
from evalsi.stats import (
    ClusterTotals,
    Estimate,
    Moments,
    cluster_robust_t,
    holm,
    mean_estimate,
    proportion_estimate,
    skewness_of,
    subgroup_difference,
)

AUTO_VALUES = range(2, 21)
"""Distinct values of a key that is sliced by without being asked for."""
AUTO_KEYS = 6
CHOSEN_VALUES = 1000
"""Distinct values tracked of a key that was asked for; the rest are counted together."""
SHOWN_VALUES = 20
_TRACKED_KEYS = 64
_REST = "(all others)"


@dataclass(frozen=True, kw_only=True)
class SliceFigure:
    """One metric in one slice. `mark` is "above" or "below" the rest of the run, or "" where that is not certain."""

    estimate: Estimate
    mark: str = ""
    adjusted_p: float | None = None
    """None where the slice is too small or lopsided to test, or its rows are not independent."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One value of a key. `figures` are in the order of the headline metrics."""

    label: str
    rows: int
    figures: list[SliceFigure]


@dataclass(frozen=True, kw_only=True)
class SliceTable:
    """One key. `without` counts records that lack it, `hidden` values that were too rare to list."""

    key: str
    slices: list[Slice]
    without: int
    hidden: int = 0


@dataclass(frozen=True, kw_only=True)
class SliceTables:
    """All keys, and how many slices and tests a mark had to survive."""

    tables: list[SliceTable]
    slices: int = 0
    tests: int = 0
    absent: list[str] = field(default_factory=list[str])
    """Keys that were asked for and are in no record."""


@dataclass(slots=True)
class _Key:
    """Running moments of one key: arrays of shape (metrics, values) that grow with the values seen."""

    chosen: bool
    codes: dict[str, int] = field(default_factory=dict[str, int])
    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sums: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4, 0)))
    """Of shape (metrics, 4, values): count, and sums of the first three powers of the distance to the metric's mean."""
    lows: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    highs: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    without: int = 0
    first_row: int = 0
    """Where `coded` begins."""
    coded: list[npt.NDArray[np.int32]] = field(default_factory=list[npt.NDArray[np.int32]])
    """The code of each row's value, -1 for none; kept where rows are not independent."""


@dataclass(slots=True)
class _Groups:
    """Which rows belong together, and their values, of a run whose rows are not independent."""

    codes: dict[str, int] = field(default_factory=dict[str, int])
    rows: list[npt.NDArray[np.int32]] = field(default_factory=list[npt.NDArray[np.int32]])
    values: list[list[npt.NDArray[np.float64]]] = field(default_factory=list[list[npt.NDArray[np.float64]]])
    """By metric, in batches."""

    def add(self, groups: Sequence[str], values: Sequence[npt.NDArray[np.float64]]) -> None:
        codes = self.codes
        self.rows.append(np.fromiter((codes.setdefault(group, len(codes)) for group in groups), np.int32, len(groups)))
        self.values = self.values or [[] for _ in values]
        for kept, array in zip(self.values, values, strict=True):
            kept.append(array)


class SliceTally:
    """Tallies the headline metrics by metadata.

    Args:
        metrics: What is tallied, at most a few.
        keys: Keys to slice by; None chooses.
        grouped: Whether rows belong to groups that are not independent; `add` is then told each row's group.
    """

    def __init__(self, metrics: Sequence[MetricView], keys: Sequence[str] | None, *, grouped: bool = False) -> None:
        self._metrics = list(metrics)
        self._groups = _Groups() if grouped else None
        self._auto = keys is None
        self._keys: dict[str, _Key] = {key: _Key(chosen=True) for key in keys or ()}
        self._dropped: set[str] = set()
        self._rows = 0

    def add(
        self,
        metadata: Sequence[Mapping[str, Any]],
        values: Sequence[npt.NDArray[np.float64]],
        groups: Sequence[str] = (),
    ) -> None:
        """A batch: one mapping per record, and per metric its values of shape (rows,), NaN where it has none."""
        if not self._metrics:
            return
        if self._groups is not None:
            self._groups.add(groups, values)
        if self._auto:
            for key in dict.fromkeys(key for one in metadata for key in one):
                if key not in self._keys and key not in self._dropped and len(self._keys) < _TRACKED_KEYS:
                    self._keys[key] = _Key(chosen=False, without=self._rows, first_row=self._rows)
        for name, key in list(self._keys.items()):
            labels = _labels([_at(one, name) if key.chosen else one.get(name) for one in metadata], chosen=key.chosen)
            if labels is None or not self._count(key, labels, values):
                del self._keys[name]
                self._dropped.add(name)
        self._rows += len(metadata)

    def finish(self, level: float) -> SliceTables:
        """The tables."""
        independent = self._groups is None
        shown = {name: key for name, key in self._keys.items() if key.chosen or self._is_categorical(key)}
        if self._auto:
            shown = dict(list(shown.items())[:AUTO_KEYS])
        tables: list[SliceTable] = []
        tested: list[tuple[SliceFigure, float, float]] = []
        for name, key in shown.items():
            if not key.codes:
                continue
            order = sorted(key.codes.items(), key=lambda item: (-int(key.rows[item[1]]), item[0]))
            listed = sorted(order[:SHOWN_VALUES], key=lambda item: natural_order(item[0]))
            slices: list[Slice] = []
            for label, code in listed:
                figures: list[SliceFigure] = []
                for index, metric in enumerate(self._metrics):
                    own = self._moments(key, index, code)
                    estimate = (
                        _estimate(own, metric, level)
                        if self._groups is None
                        else self._clustered(self._groups, key, index, code, level)
                    )
                    figure = SliceFigure(estimate=estimate)
                    figures.append(figure)
                    test = self._test(key, index, code) if independent else None
                    if test is not None:
                        tested.append((figure, *test))
                slices.append(Slice(label=label, rows=int(key.rows[code]), figures=figures))
            tables.append(
                SliceTable(key=name, slices=slices, without=key.without, hidden=max(0, len(order) - SHOWN_VALUES))
            )
        marked = _marked(tested, 1 - level)
        tables = [_with_marks(table, marked) for table in tables]
        return SliceTables(
            tables=tables,
            slices=sum(len(table.slices) for table in tables),
            tests=len(tested),
            absent=[name for name, key in self._keys.items() if key.chosen and not key.codes],
        )

    def _is_categorical(self, key: _Key) -> bool:
        present = self._rows - key.without
        return len(key.codes) in AUTO_VALUES and present >= 2 * len(key.codes) and 2 * present >= self._rows

    def _count(self, key: _Key, labels: list[str | None], values: Sequence[npt.NDArray[np.float64]]) -> bool:
        """Adds a batch; False when a key that nobody asked for has too many values to be a category."""
        codes = key.codes
        for label in dict.fromkeys(labels):
            if label is None or label in codes:
                continue
            if key.chosen and len(codes) >= CHOSEN_VALUES:
                codes.setdefault(_REST, len(codes))
            elif not key.chosen and len(codes) >= AUTO_VALUES.stop - 1:
                return False
            else:
                codes[label] = len(codes)
        rest = codes.get(_REST, -1)
        coded = np.fromiter(
            (-1 if label is None else codes.get(label, rest) for label in labels), dtype=np.int64, count=len(labels)
        )
        if self._groups is not None:
            key.coded.append(coded.astype(np.int32))
        there = coded >= 0
        size, metrics = len(codes), len(self._metrics)
        _grow(key, metrics, size)
        key.without += int((~there).sum())
        key.rows += np.bincount(coded[there], minlength=size)
        for index, array in enumerate(values):
            use = there & ~np.isnan(array)
            own, found = coded[use], array[use]
            off = found - (self._metrics[index].summary.mean or 0.0)
            key.sums[index, 0] += np.bincount(own, minlength=size)
            key.sums[index, 1] += np.bincount(own, weights=off, minlength=size)
            key.sums[index, 2] += np.bincount(own, weights=off * off, minlength=size)
            key.sums[index, 3] += np.bincount(own, weights=off * off * off, minlength=size)
            np.minimum.at(key.lows[index], own, found)
            np.maximum.at(key.highs[index], own, found)
        return True

    def _moments(self, key: _Key, index: int, code: int | None) -> Moments:
        """Of one slice, or of all slices of the key together."""
        where = slice(None) if code is None else slice(code, code + 1)
        n, total, squares, _ = key.sums[index, :, where].sum(axis=1).tolist()
        if n == 0:
            return Moments()
        return Moments(
            int(n),
            (self._metrics[index].summary.mean or 0.0) + total / n,
            max(0.0, squares - total * total / n),
            float(key.lows[index, where].min()),
            float(key.highs[index, where].max()),
        )

    def _clustered(self, groups: _Groups, key: _Key, index: int, code: int, level: float) -> Estimate:
        """Of one slice of rows that are not independent: one cluster a group."""
        metric, first = self._metrics[index], key.first_row
        values = np.concatenate(groups.values[index])[first:]
        chosen = (np.concatenate(key.coded) == code) & ~np.isnan(values)
        _, members = np.unique(np.concatenate(groups.rows)[first:][chosen], return_inverse=True)
        totals = ClusterTotals(np.bincount(members, weights=values[chosen]).astype(np.float64), np.bincount(members))
        return cluster_robust_t(totals, level, _bounds(self._moments(key, index, code), metric))

    def _test(self, key: _Key, index: int, code: int) -> tuple[float, float] | None:
        """(p-value, difference from the rest), or None where the test would not hold."""
        own, everything = self._moments(key, index, code), self._moments(key, index, None)
        skewness = skewness_of(*key.sums[index].sum(axis=1).tolist()) if everything.n else 0.0
        found = subgroup_difference(own.n, own.mean_or_zero, everything, skewness)
        return (found.p_value, found.difference) if found is not None else None


def _marked(tested: list[tuple[SliceFigure, float, float]], alpha: float) -> dict[int, SliceFigure]:
    adjusted = holm([p for _, p, _ in tested]) if tested else []
    marked: dict[int, SliceFigure] = {}
    for (figure, _, difference), p in zip(tested, adjusted, strict=True):
        mark = ("above" if difference > 0 else "below") if p <= alpha else ""
        marked[id(figure)] = SliceFigure(estimate=figure.estimate, mark=mark, adjusted_p=p)
    return marked


def _with_marks(table: SliceTable, marked: dict[int, SliceFigure]) -> SliceTable:
    slices = [
        Slice(label=one.label, rows=one.rows, figures=[marked.get(id(figure), figure) for figure in one.figures])
        for one in table.slices
    ]
    return SliceTable(key=table.key, slices=slices, without=table.without, hidden=table.hidden)


def _estimate(moments: Moments, metric: MetricView, level: float) -> Estimate:
    if metric.passes:
        return proportion_estimate(round(moments.mean_or_zero * moments.n), moments.n, level)
    return mean_estimate(moments, level, _bounds(moments, metric))


def _bounds(moments: Moments, metric: MetricView) -> tuple[float, float] | None:
    """The metric's range; None too where a file of another writer declares one that its values leave."""
    bounds = (0.0, 1.0) if metric.passes else metric.bounds
    if bounds is not None and moments.n and not bounds[0] <= moments.lowest <= moments.highest <= bounds[1]:
        return None
    return bounds


def _grow(key: _Key, metrics: int, size: int) -> None:
    more = size - key.rows.size
    if not more and key.sums.shape[0] == metrics:
        return
    fresh = np.zeros((metrics, 4, size))
    lows, highs = np.full((metrics, size), np.inf), np.full((metrics, size), -np.inf)
    if key.sums.shape[0] == metrics:
        fresh[:, :, : size - more] = key.sums
        lows[:, : size - more], highs[:, : size - more] = key.lows, key.highs
    key.sums, key.lows, key.highs = fresh, lows, highs
    key.rows = np.concatenate([key.rows, np.zeros(more, dtype=np.int64)])


def _labels(values: list[Any], *, chosen: bool) -> list[str | None] | None:
    """The values as text, None where there is none; None altogether for values that are no categories."""
    kinds = set(map(type, values))
    kinds.discard(type(None))
    if kinds <= {str}:
        return values
    if len(kinds) == 1 and kinds <= {bool, int}:
        shown = {value: json_text(value) for value in set(values) if value is not None}
        return [shown.get(value) for value in values]
    if chosen or kinds <= {str, bool, int}:
        return [None if value is None else json_text(value) for value in values]
    return None


def _at(metadata: Mapping[str, Any], path: str) -> Any:
    if path in metadata:
        return metadata[path]
    value: Any = metadata
    for part in path.removeprefix("metadata.").split("."):
        value = cast("Mapping[str, Any]", value).get(part) if isinstance(value, Mapping) else None
    return value
