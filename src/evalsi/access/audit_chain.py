"""The audit log as a chain: every entry holds the hash of the one before it, so that none can be changed or taken out
without all later ones telling.

Its own module because two sides must agree on it to the byte: whoever writes an entry and whoever verifies them.
The head of the chain (its last hash) is kept apart, so that cutting off the end shows too.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.ports.access_store import AuditHead
from evalsi.schema import AuditEvent, VerifyAuditLogResponse

START = "0" * 64
"""What the first entry has before it."""


def hash_of(event: AuditEvent) -> str:
    """SHA-256, in hex, over the canonical JSON of everything else in the entry, its sequence and `prev_hash` included."""
    return hashlib.sha256(canonical_json(msgspec.structs.replace(event, hash=""))).hexdigest()


def sealed(event: AuditEvent, head: AuditHead) -> AuditEvent:
    """`event` as the next entry after `head`."""
    sequence = head.last_sequence + 1
    event = msgspec.structs.replace(event, id=sequence, sequence=sequence, prev_hash=head.last_hash or START)
    return msgspec.structs.replace(event, hash=hash_of(event))


def verify(events: Iterable[AuditEvent], head: AuditHead) -> VerifyAuditLogResponse:
    """Whether `events`, oldest first, are the whole chain that ends in `head`.

    The first entry that does not fit is named. Entries that retention removed are known to `head` and no break.
    """
    sequence, before, checked, first = head.base_sequence, head.base_hash or START, 0, 0

    def broken(at: int, problem: str) -> VerifyAuditLogResponse:
        return VerifyAuditLogResponse(
            ok=False,
            checked=checked,
            first_sequence=first,
            last_sequence=sequence,
            last_hash=before,
            break_sequence=at,
            problem=problem,
        )

    for event in events:
        if event.sequence != sequence + 1:
            missing = sequence + 1
            return broken(missing, f"entry {missing} is missing: after {sequence} comes {event.sequence}")
        if event.prev_hash != before:
            return broken(
                event.sequence, f"entry {event.sequence} does not follow entry {sequence}: another one stood here"
            )
        if hash_of(event) != event.hash:
            return broken(event.sequence, f"entry {event.sequence} was changed after it was written")
        sequence, before, checked, first = event.sequence, event.hash, checked + 1, first or event.sequence
    if sequence != head.last_sequence:
        return broken(sequence + 1, f"the log ends with entry {sequence}, and {head.last_sequence} were written")
    if before != (head.last_hash or START):
        return broken(sequence, f"entry {sequence} is not the one that was written last")
    return VerifyAuditLogResponse(
        ok=True, checked=checked, first_sequence=first, last_sequence=sequence, last_hash=before
    )
