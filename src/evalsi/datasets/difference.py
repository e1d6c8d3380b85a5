"""What differs between two datasets, record by record, by their ids.

Its own module because a server compares versions by it and the command line files, and both must say the same.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evalsi.core.canonical import canonical_json
from evalsi.schema import DatasetRecordChange, Record
from evalsi.schema.json_codec import encode_file

Records: TypeAlias = Callable[[], Iterable[Record]]


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


def record_difference(earlier: Records, later: Records) -> RecordDifference:
    """What makes `later` of `earlier`. Memory grows by the ids and some digests, never by what records hold.

    Args:
        earlier, later: Each gives the records of a dataset from the first on, as often as it is called. Of several records
            with one id the last counts.
    """
    before, after = _digests(earlier()), _digests(later())
    shared = [record_id for record_id in before if record_id in after]
    suspects = {record_id for record_id in shared if before[record_id] != after[record_id]}
    fields: dict[str, list[str]] = {}
    if suspects:
        there = {record.id: _field_digests(record) for record in earlier() if record.id in suspects}
        for record in later():
            if record.id in suspects:
                found = zip(Record.__struct_fields__, there[record.id], _field_digests(record), strict=True)
                fields[record.id] = [name for name, one, other in found if one != other]
    changed = [DatasetRecordChange(id=each, fields=fields[each]) for each in shared if fields.get(each)]
    return RecordDifference(
        added=[record_id for record_id in after if record_id not in before],
        removed=[record_id for record_id in before if record_id not in after],
        changed=changed,
        unchanged=len(shared) - len(changed),
        order_changed=shared != [record_id for record_id in after if record_id in before],
    )


def _digests(records: Iterable[Record]) -> dict[str, bytes]:
    """Of each record as a line. Lines that differ may still be the same record, with its metadata in another order."""
    return {record.id: _digest(encode_file(record)) for record in records}


def _field_digests(record: Record) -> tuple[bytes, ...]:
    return tuple(_digest(canonical_json(getattr(record, name))) for name in Record.__struct_fields__)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
