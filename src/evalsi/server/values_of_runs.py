"""What comparisons keep of runs that have ended, so that looking at a comparison again does not read its runs again.

Its own module because comparing and listing what flipped read the same, one page after the other. What always holds: a run
that went on in the meantime is read anew, and no more observations are kept than `MOST`.
"""

import threading
from collections import OrderedDict
from datetime import datetime

from evalsi.compare.run_values import RunValues, collect_values
from evalsi.results.graded_run import GradedRun

MOST = 500_000
"""Observations that are kept, of all runs together; each takes about 250 bytes."""


class ValuesOfRuns:
    """Reads runs, or remembers what it read. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, datetime], RunValues] = OrderedDict()

    def collect(self, run: GradedRun, group_by: str | None) -> RunValues:
        """As `collect_values`."""
        ended = run.manifest.finished_at
        if group_by or ended is None:
            return collect_values(run, group_by)
        key = (run.manifest.run_id, ended)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        read = collect_values(run, None)
        if read.count <= MOST:
            with self._lock:
                self._kept[key] = read
                while sum(each.count for each in self._kept.values()) > MOST:
                    self._kept.popitem(last=False)
        return read
