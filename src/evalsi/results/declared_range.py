"""The range that a metric's evaluator declared for it, read from a run's manifest.

Its own module because intervals are cut to that range wherever a run is read: in reports, slices and matrices alike.
"""

from evalsi.schema import BoundRunEvaluator, MetricKind, MetricSummary, RunManifest


def declared_range(summary: MetricSummary, manifest: RunManifest) -> tuple[float, float] | None:
    """The range that the metric's values cannot leave; None where nobody said."""
    evaluator = next((one for one in manifest.evaluators if one.name == summary.evaluator), None)
    return range_of(summary, evaluator)


def range_of(summary: MetricSummary, evaluator: BoundRunEvaluator | None) -> tuple[float, float] | None:
    """As `declared_range`, where the evaluator is at hand."""
    if summary.kind is MetricKind.PROPORTION:
        return 0.0, 1.0
    manifest = evaluator.manifest if evaluator is not None else None
    for spec in manifest.outputs if manifest is not None else ():
        named = is_output(summary, spec.name) or len(manifest.outputs if manifest else ()) == 1
        if named and spec.min is not None and spec.max is not None and spec.min < spec.max:
            return spec.min, spec.max
    return None


def is_output(summary: MetricSummary, output: str) -> bool:
    """Whether the summary is that of the evaluator's output of this name."""
    if summary.metric == f"{summary.evaluator}.{output}":
        return True
    reference = summary.evaluator_ref.rpartition("/")[2].partition("@")[0]
    return summary.metric == summary.evaluator and output in (summary.evaluator, reference)
