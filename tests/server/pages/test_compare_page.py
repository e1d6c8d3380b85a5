"""What the page of a comparison draws, without a server."""

import re

from evalsi.schema import ConfidenceInterval, MetricComparison, MetricKind, MetricSummary, Run
from evalsi.server.pages.compare_page import comparison_lines


def test_the_dots_of_a_comparison_stand_where_its_figures_are() -> None:
    ci = ConfidenceInterval(low=0.5, high=0.75, level=0.95)
    summary = MetricSummary(metric="right", evaluator="right", kind=MetricKind.PROPORTION, n=40, mean=0.625, ci=ci)
    run = Run(id="r", summaries=[summary])

    def drawn(pairs: int, mean: float) -> str:
        one = MetricComparison(metric="right", baseline_mean=mean, candidate_mean=mean, diff=0.0, paired_n=pairs)
        (line,) = comparison_lines([one], run, run)
        assert line.baseline_plot == line.candidate_plot
        return line.baseline_plot

    def dot(plot: str) -> float:
        found = re.search(r'<circle class="dot[^"]*" cx="([0-9.]+)', plot)
        assert found is not None
        return float(found[1])

    some, every = drawn(20, 0.875), drawn(40, 0.625)
    assert dot(some) > dot(every)
    assert "whisker" not in some
    assert "whisker" in every
