"""When a trace counts as complete: the one definition, as a pure function over what a store keeps of it.

A module of its own because every store must decide alike, and because nobody keeps it in memory: the time stands in the
row of the trace, so that a restart loses nothing. A trace is complete when its root has ended and nothing has arrived
for the grace period, or at the limit after its first part, root or not. What arrives after completion makes it complete
once more after the same grace period: its root has been seen by then, or was waited for in vain.
"""

from evalsi.ports.trace_store import Waiting


def due_ms(*, first_ms: int, last_ms: int, root_ended: bool, revision: int, waiting: Waiting) -> int:
    """The time at which a trace counts as complete if nothing more arrives, in milliseconds since 1970.

    Args:
        first_ms: When its first part arrived that no revision has yet.
        last_ms: When its last part arrived.
        root_ended: Whether the end of its root has been seen.
        revision: How often it was complete.
        waiting: How long is waited.
    """
    limit_ms = first_ms + waiting.limit_ms
    return min(limit_ms, last_ms + waiting.grace_ms) if root_ended or revision else limit_ms
