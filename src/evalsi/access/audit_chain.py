"""The audit log as a chain: every entry holds the hash of the one before it, so that none can be changed or taken out
without all later ones telling.

Its own module because two sides must agree on it to the byte: whoever writes an entry and whoever verifies them.
The head of the chain (its last hash) is kept apart, so that cutting off the end shows too.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.ports.access_store import AuditHead, AuditRow

START = "0" * 64
"""What the first entry has before it."""


class ChainReport(msgspec.Struct, frozen=True, kw_only=True):
    """What verifying found. Sequences are 0 where there is nothing."""

    ok: bool
    checked: int
    first_sequence: int = 0
    last_sequence: int = 0
    last_hash: str = ""
    break_sequence: int = 0
    problem: str = ""


def hash_of(row: AuditRow) -> str:
    """SHA-256, in hex, over the canonical JSON of everything else in the entry, its sequence and `prev_hash` included."""
    return hashlib.sha256(canonical_json(msgspec.structs.replace(row, hash=""))).hexdigest()


def sealed(row: AuditRow, head: AuditHead) -> AuditRow:
    """`row` as the next entry after `head`."""
    row = msgspec.structs.replace(row, sequence=head.last_sequence + 1, prev_hash=head.last_hash or START)
    return msgspec.structs.replace(row, hash=hash_of(row))


def verify(rows: Iterable[AuditRow], head: AuditHead) -> ChainReport:
    """Whether `rows`, oldest first, are the whole chain that ends in `head`.

    The first entry that does not fit is named. Entries that retention removed are known to `head` and no break.
    """
    sequence, before, checked, first = head.base_sequence, head.base_hash or START, 0, 0

    def broken(at: int, problem: str) -> ChainReport:
        return ChainReport(
            ok=False,
            checked=checked,
            first_sequence=first,
            last_sequence=sequence,
            last_hash=before,
            break_sequence=at,
            problem=problem,
        )

    for row in rows:
        if row.sequence != sequence + 1:
            missing = sequence + 1
            return broken(missing, f"entry {missing} is missing: after {sequence} comes {row.sequence}")
        if row.prev_hash != before:
            return broken(
                row.sequence, f"entry {row.sequence} does not follow entry {sequence}: another one stood here"
            )
        if hash_of(row) != row.hash:
            return broken(row.sequence, f"entry {row.sequence} was changed after it was written")
        sequence, before, checked, first = row.sequence, row.hash, checked + 1, first or row.sequence
    if sequence != head.last_sequence:
        return broken(sequence + 1, f"the log ends with entry {sequence}, and {head.last_sequence} were written")
    if before != (head.last_hash or START):
        return broken(sequence, f"entry {sequence} is not the one that was written last")
    return ChainReport(ok=True, checked=checked, first_sequence=first, last_sequence=sequence, last_hash=before)
