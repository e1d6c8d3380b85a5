"""One metric for every value of metadata keys, run by run: n, mean and interval as reports compute them.

Its own module because it joins two worlds: DuckDB counts (sums, squares, cubes per group), `evalsi.stats` concludes.
What always holds: a slice of a run that groups its records, or asked them several times, is clustered as the run was; a mark ("above", "below" the rest
of the run) survives Holm's adjustment over every test of the table; records without the key are a group of their own, so
that nothing is lost from sight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evalsi.analyze.run_database import RunDatabase
from evalsi.core.errors import UnknownNameError, UsageError
from evalsi.core.natural_order import natural_order
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

MOST_ROWS = 10_000
"""Runs times groups that a table may have."""


@dataclass(frozen=True, kw_only=True)
class SliceRow:
    """One group of one run. `group` holds a value per key, None where the records lack it."""

    run_id: str
    name: str
    group: tuple[str | None, ...]
    estimate: Estimate
    skipped: int
    errors: int
    cancelled: int
    mark: str = ""
    """"above" or "below" the rest of the run, where Holm's adjusted p-value says so."""
    p_adjusted: float | None = None
    """None where the group is too small or lopsided to test, is all of the run, or holds records that are not independent."""


@dataclass(frozen=True, kw_only=True)
class MetricSlices:
    """The table. `tests` is how many tests a mark had to survive."""

    metric: str
    keys: tuple[str, ...]
    level: float
    rows: list[SliceRow]
    tests: int
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Run:
    name: str
    moments: Moments
    skewness: float
    passes: bool
    bounds: tuple[float, float] | None
    grouped: bool
    """Whether its rows belong to groups that are not independent: trials of a record, or the key it was made with."""


def slice_metric(
    database: RunDatabase, metric: str, keys: Sequence[str], *, run_ids: Sequence[str] = (), level: float = 0.95
) -> MetricSlices:
    """Slices `metric` by metadata.

    Args:
        keys: Metadata keys, `topic` or `metadata.topic`; dots go deeper where no key is called so.
        run_ids: Only these runs; by default every run of the database.
        level: Confidence level of the intervals; marks use what is left.

    Raises:
        UnknownNameError: no run has the metric, or no record the key.
        UsageError: the metric has no mean, or there are more than `MOST_ROWS` groups.
    """
    if not keys:
        raise UsageError("a slice needs a metadata key", hint="add --by metadata.topic")
    connection = database.reading()
    _gather(connection, metric, keys, list(run_ids))
    _check(connection, metric, keys, list(run_ids))
    runs = _runs(connection, metric)
    counted = connection.execute(_GROUPS, {"most": MOST_ROWS + 1}).fetchall()
    if len(counted) > MOST_ROWS:
        raise UsageError(f"there are more than {MOST_ROWS:,} groups", hint="slice by a key with fewer values")
    places = {run_id: place for place, run_id in enumerate(dict.fromkeys(run_id for run_id, *_ in counted))}
    counted.sort(key=lambda row: (places[row[0]], [(value is None, natural_order(value or "")) for value in row[1]]))
    rows: list[SliceRow] = []
    tested: list[tuple[int, float, float]] = []
    for run_id, group, n, mean, squares, low, high, skipped, errors, cancelled in counted:
        run = runs[run_id]
        own = Moments(n, mean, squares, low, high) if n else Moments()
        estimate = (
            _clustered(connection, run_id, group, run, level) if run.grouped and n else _estimate(own, run, level)
        )
        found = None if run.grouped else subgroup_difference(n, own.mean_or_zero, run.moments, run.skewness)
        if found is not None:
            tested.append((len(rows), found.p_value, found.difference))
        rows.append(
            SliceRow(
                run_id=run_id,
                name=run.name,
                group=tuple(group),
                estimate=estimate,
                skipped=skipped,
                errors=errors,
                cancelled=cancelled,
            )
        )
    for (row, _, difference), p in zip(tested, holm([p for _, p, _ in tested]) if tested else [], strict=True):
        mark = ("above" if difference > 0 else "below") if p <= 1 - level else ""
        rows[row] = replace(rows[row], mark=mark, p_adjusted=p)
    return MetricSlices(
        metric=metric,
        keys=tuple(key.removeprefix("metadata.") for key in keys),
        level=level,
        rows=rows,
        tests=len(tested),
        notes=_notes(len(tested), level, any(run.grouped for run in runs.values())),
    )


_SLICED = """
CREATE OR REPLACE TEMP TABLE sliced AS
SELECT scores.run_id, scores.outcome, scores.number, scores.kind, [{held}] AS held,
       CASE WHEN keys.path IS NULL THEN scores.record_id
            ELSE coalesce(json_extract_string(observations.metadata, keys.path), '') END AS cluster,
       keys.path IS NOT NULL AS keyed
FROM scores JOIN observations USING (run_id, "row") JOIN (
    SELECT run_id, '/' || replace(replace(replace(regexp_replace(manifest->'summary'->>'cluster_by', '^metadata\\.', ''),
        '~', '~0'), '/', '~1'), '.', '/') AS path FROM runs) AS keys USING (run_id)
WHERE scores.metric = $metric AND (len($runs::VARCHAR[]) = 0 OR list_contains($runs::VARCHAR[], scores.run_id))
"""
_HELD = "coalesce(json_extract_string(metadata, $whole{place}), json_extract_string(metadata, $steps{place}))"
_RUNS = """
WITH middle AS (SELECT run_id, avg(number) AS centre FROM sliced GROUP BY run_id),
     groups AS (SELECT run_id, bool_or(times > 1 OR keyed) AS grouped FROM
         (SELECT run_id, cluster, any_value(keyed) AS keyed, count(number) AS times FROM sliced GROUP BY run_id, cluster)
         GROUP BY run_id)
SELECT run_id, any_value(runs.name), count(number), any_value(centre), sum((number - centre) ** 2),
       sum((number - centre) ** 3), min(number), max(number),
       coalesce(bool_and(sliced.kind = 'passed') FILTER (number IS NOT NULL), false), any_value(grouped),
       any_value(lowest_possible), any_value(highest_possible)
FROM sliced JOIN middle USING (run_id) JOIN groups USING (run_id) JOIN runs USING (run_id)
LEFT JOIN metrics ON metrics.run_id = sliced.run_id AND metrics.metric = $metric
GROUP BY run_id
"""
_GROUPS = """
WITH middle AS (SELECT run_id, held, avg(number) AS centre FROM sliced GROUP BY run_id, held)
SELECT sliced.run_id, sliced.held, count(number), any_value(centre), sum((number - centre) ** 2), min(number), max(number),
       count(*) FILTER (outcome = 'skipped'), count(*) FILTER (outcome = 'error'), count(*) FILTER (outcome = 'cancelled')
FROM sliced JOIN middle ON middle.run_id = sliced.run_id AND middle.held IS NOT DISTINCT FROM sliced.held
JOIN runs ON runs.run_id = sliced.run_id
GROUP BY sliced.run_id, sliced.held
ORDER BY any_value(started_at) NULLS LAST, sliced.run_id
LIMIT $most
"""
_TOTALS = """
SELECT sum(number) AS sums, count(number) AS counts FROM sliced
WHERE run_id = $run AND held IS NOT DISTINCT FROM $group::VARCHAR[] AND number IS NOT NULL GROUP BY cluster ORDER BY 1
"""


def _gather(connection: Any, metric: str, keys: Sequence[str], run_ids: list[str]) -> None:
    """Puts the scores of the metric with their group into the temporary table `sliced`."""
    held = ", ".join(_HELD.format(place=place) for place in range(len(keys)))
    given: dict[str, Any] = {"metric": metric, "runs": run_ids}
    for place, key in enumerate(keys):
        escaped = key.removeprefix("metadata.").replace("~", "~0").replace("/", "~1")
        # JSON pointers: the key as a whole, and its dots as steps.
        given |= {f"whole{place}": f"/{escaped}", f"steps{place}": "/" + escaped.replace(".", "/")}
    connection.execute(_SLICED.format(held=held), given)


def _check(connection: Any, metric: str, keys: Sequence[str], run_ids: list[str]) -> None:
    rows, numbers = connection.execute("SELECT count(*), count(number) FROM sliced").fetchone()
    if not rows:
        known = connection.execute(
            'SELECT DISTINCT metric FROM scores WHERE "row" IS NOT NULL AND '
            "(len($runs::VARCHAR[]) = 0 OR list_contains($runs::VARCHAR[], run_id))",
            {"runs": run_ids},
        ).fetchall()
        raise UnknownNameError("metric", metric, [name for (name,) in known])
    if not numbers:
        (kind,) = connection.execute("SELECT any_value(kind) FROM sliced").fetchone()
        if kind in ("label", "structured"):
            raise UsageError(f"{metric} is a {kind} and has no mean", hint="count it with: evalsi analyze query")
    for place, key in enumerate(keys, 1):
        found = connection.execute("SELECT bool_or(held[$place] IS NOT NULL) FROM sliced", {"place": place}).fetchone()
        if not found[0]:
            known = connection.execute("SELECT DISTINCT unnest(json_keys(metadata)) FROM observations").fetchall()
            raise UnknownNameError("metadata key", key.removeprefix("metadata."), [name for (name,) in known])


def _runs(connection: Any, metric: str) -> dict[str, _Run]:
    found: dict[str, _Run] = {}
    for run_id, name, n, mean, squares, cubes, low, high, passes, grouped, least, most in connection.execute(
        _RUNS, {"metric": metric}
    ).fetchall():
        bounds = (0.0, 1.0) if passes else (least, most) if least is not None and most is not None else None
        if bounds is not None and n and not bounds[0] <= low <= high <= bounds[1]:
            bounds = None  # a file of another writer may declare a range that its values leave
        found[run_id] = _Run(
            name=name or run_id[:10],
            moments=Moments(n, mean, squares, low, high) if n else Moments(),
            skewness=skewness_of(n, 0.0, squares, cubes) if n else 0.0,
            passes=passes,
            bounds=bounds,
            grouped=bool(grouped),
        )
    return found


def _estimate(own: Moments, run: _Run, level: float) -> Estimate:
    if run.passes:
        return proportion_estimate(round(own.mean_or_zero * own.n), own.n, level)
    return mean_estimate(own, level, run.bounds)


def _clustered(connection: Any, run_id: str, group: list[str | None], run: _Run, level: float) -> Estimate:
    """Of a group whose rows are not independent."""
    totals = connection.execute(_TOTALS, {"run": run_id, "group": group}).fetchnumpy()
    sums, counts = np.asarray(totals["sums"], np.float64), np.asarray(totals["counts"], np.int64)
    return cluster_robust_t(ClusterTotals(sums, counts), level, run.bounds)


def _notes(tests: int, level: float, grouped: bool) -> list[str]:
    notes: list[str] = []
    if tests:
        plural = "s" if tests != 1 else ""
        notes.append(
            f"above and below are relative to the rest of the run, at {100 * (1 - level):.3g}% over {tests} "
            f"test{plural} together (Holm)"
        )
    if grouped:
        notes.append(
            "records were asked several times or belong to groups, so intervals are clustered as in the run and nothing is "
            "tested"
        )
    return notes
