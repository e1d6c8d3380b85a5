"""How far a run has come: rows that are answered or graded, of all that it is to have.

Its own module because lists, `runs watch` and a server say the same. Rows are graded and stored by the chunk, so answers
that are kept count too: of a run that was stopped early they are all there is.
"""

from typing import NamedTuple

from evalsi.ports.run_store import RunRow, RunStore
from evalsi.schema import RunManifest


class Reach(NamedTuple):
    done: int
    total: int
    """0 where the dataset has not been read yet."""


def reach_of(store: RunStore, row: RunRow, manifest: RunManifest) -> Reach:
    """How far the run `row` of `store` is. Raises: NotFoundError: it was removed meanwhile."""
    if row.status == "succeeded":
        return Reach(row.rows, row.rows)
    records = manifest.dataset.records if manifest.dataset is not None else 0
    return Reach(max(row.rows, store.count_answers(row.id)), records * max(1, manifest.trials))
