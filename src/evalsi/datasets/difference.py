"""What differs between two datasets, record by record, by their ids.

Its own module because a server compares versions by it and the command line files, and both must say the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsi.schema import DatasetRecordChange, Record


@dataclass(frozen=True, kw_only=True)
class RecordDifference:
    """Ids in the order of the dataset that has them."""

    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[DatasetRecordChange]
    unchanged: int
    order_changed: bool
    """Whether the records that both have are in a different order."""

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed or self.order_changed)


def record_difference(earlier: Mapping[str, Record], later: Mapping[str, Record]) -> RecordDifference:
    """What makes `later` of `earlier`, each a dataset by the ids of its records."""
    shared = [record_id for record_id in earlier if record_id in later]
    changed = [
        DatasetRecordChange(id=record_id, fields=fields)
        for record_id in shared
        if (fields := _changed_fields(earlier[record_id], later[record_id]))
    ]
    return RecordDifference(
        added=[record_id for record_id in later if record_id not in earlier],
        removed=[record_id for record_id in earlier if record_id not in later],
        changed=changed,
        unchanged=len(shared) - len(changed),
        order_changed=shared != [record_id for record_id in later if record_id in earlier],
    )


def _changed_fields(before: Record, after: Record) -> list[str]:
    if before == after:
        return []
    return [name for name in Record.__struct_fields__ if getattr(before, name) != getattr(after, name)]
