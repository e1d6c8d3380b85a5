"""The slices that a specification asks for, as a table below the metrics.

Its own module because commands that run and the one that shows a run print them alike.
"""

from collections.abc import Sequence
from typing import Any

from evalsi.cli.metric_table import interval_text, mean_text
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import say
from evalsi.core.figure import counted, interval_heading


def slices_of(run: Any, output_format: str) -> list[Any]:
    """What `print_slices` prints, while the run can be read: the slices that its specification asks for."""
    from evalsi.results.slice_summaries import asked_slices, slice_summaries

    return slice_summaries(run, asked_slices(run)) if output_format == "table" else []


def print_slices(run: Any, slices: Sequence[Any]) -> None:
    """Prints every metric of every slice, each with its interval."""
    from evalsi.results.slice_summaries import MOST_VALUES, asked_slices
    from evalsi.results.trial_tally import is_over_trials

    if not slices:
        return
    rows = [
        (f"{one.key} = {one.value}", summary.metric, f"{summary.n:,}", mean_text(summary), interval_text(summary))
        for one in slices
        for summary in one.summaries
        if not is_over_trials(summary.metric)
    ]
    print()
    heading = interval_heading(each.ci.level for one in slices for each in one.summaries if each.ci is not None)
    print_table((text("slice"), text("metric"), number("n"), number("mean"), whole(heading)), rows)
    for key in asked_slices(run):
        values = sum(one.key == key for one in slices)
        if not values:
            say(f"warning: no record has {key}, so it has no slices")
        elif values >= MOST_VALUES:
            say(f"warning: {key} may have more values than the first {values} that are summed up")
    if len(slices) > 1:
        say(
            f"{counted(len(slices), 'slice')}: of that many, one may stand out by chance; 'evalsi report' marks those that "
            "differ from the rest beyond it (Holm)"
        )
