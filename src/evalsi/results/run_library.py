"""Where commands find runs: the store of this machine or a server, with one set of words.

Its own module because it is the seam between the two: a command that lists, shows, compares or removes runs is written
once, against this, and prints the same for both.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from evalsi.ports.run_store import RunRow
from evalsi.results.graded_run import GradedRun
from evalsi.results.rebuilt_summaries import Seen


class RunLibrary(Protocol):
    """Runs that were made, by the names that people give them.

    Every method raises EvalsiError when the store or server cannot be used, and NotFoundError for a run that is not there.
    """

    def runs(self, *, labels: Mapping[str, str], name: str = "", limit: int | None = None) -> list[RunRow]:
        """The runs that carry the labels and the name, if one is given; newest first."""
        ...

    def find(self, reference: str) -> RunRow:
        """By "latest", "latest~n", id, name (the newest run that bears it) or unique beginning of an id.

        Raises: NotFoundError, with the nearest runs; UsageError, with the candidates, when several ids begin so.
        """
        ...

    def open(self, run_id: str) -> GradedRun:
        """The run with this id. Its rows are read when they are asked for, a few at a time."""
        ...

    def follow(self, run_id: str, *, interval_s: float) -> Iterator[Seen]:
        """How far the run is: now, then whenever that may have changed, and last when nobody works on it any more.

        Args:
            interval_s: Seconds between two looks, where looking is how changes are found out.
        """
        ...

    def stop(self, row: RunRow) -> str:
        """Asks whoever works on the run to stop, and says in a few words what was done.

        Raises: UsageError: nobody works on it, or nobody who can be reached from here.
        """
        ...

    def delete(self, run_id: str) -> None:
        """Removes a run and everything it found."""
        ...
