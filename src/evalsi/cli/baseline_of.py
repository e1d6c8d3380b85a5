"""From a comparison to what a report shows of it. The two jobs do not know each other; the command line knows both."""

from evalsi.compare.compare_runs import Comparison
from evalsi.report.report_options import Baseline, MetricChange


def baseline_of(comparison: Comparison) -> Baseline:
    """The baseline's name and the change of every metric that both runs scored."""
    changes = {
        metric.metric: MetricChange(
            difference=metric.difference,
            n=metric.pairs,
            low=metric.interval.low if metric.interval is not None else None,
            high=metric.interval.high if metric.interval is not None else None,
        )
        for metric in comparison.metrics
        if metric.difference is not None
    }
    return Baseline(name=comparison.baseline, changes=changes)
