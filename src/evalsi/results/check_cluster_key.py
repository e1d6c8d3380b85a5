"""Whether any record carries the key that records are grouped by, seen before any work.

Its own module because every job that sums up can be asked to group, and a mistyped key would put all records into one
group, which has no interval, in silence.
"""

from collections.abc import Sequence

from evalsi.core.errors import UnknownNameError
from evalsi.datasets import Dataset
from evalsi.engine.summary import cluster_key


def check_cluster_key(dataset: Dataset, columns: Sequence[str], path: str | None, mapped: Sequence[str] = ()) -> None:
    """Looks for the first record with the key.

    Args:
        dataset: One that was scanned.
        columns: Its columns.
        path: The key; None where records are not grouped by one.
        mapped: Fields that a mapping fills.
    Raises: UnknownNameError: no record carries it.
    """
    if path is None:
        return
    known = dict.fromkeys([*columns, *(target.removeprefix("metadata.") for target in mapped)])
    if "metadata" not in columns and path.removeprefix("metadata.").partition(".")[0] not in known:
        raise UnknownNameError("column to cluster by", path, known, where=dataset.name)
    for record in dataset.records():
        if cluster_key(record, path):
            return
        known.update(dict.fromkeys(record.metadata))
    # A column that is no metadata, such as the input, or one that is always empty, is none to choose.
    known.pop(path.removeprefix("metadata."), None)
    raise UnknownNameError("metadata key to cluster by", path.removeprefix("metadata."), known, where=dataset.name)
