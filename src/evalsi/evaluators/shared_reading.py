"""What several evaluators read out of the same record, read once while a batch is graded.

Its own module because evaluators know nothing of each other: the engine says for how long readings are kept, and packs say
what they read. What always holds: what was read is changed by nobody, and is let go with the batch.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

SubjectT = TypeVar("SubjectT")
ValueT = TypeVar("ValueT")

_KEPT: ContextVar[dict[tuple[Any, int], tuple[Any, Any]] | None] = ContextVar("evalsi_shared_reading", default=None)


@contextmanager
def keeping_readings() -> Generator[None]:
    """What is read inside, in this task and those that it starts, is read once."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def read_once(read: Callable[[SubjectT], ValueT], subject: SubjectT) -> ValueT:
    """What `read` gives of the subject, a part of a record. Raises: whatever `read` raises, and then keeps nothing."""
    kept = _KEPT.get()
    if kept is None:
        return read(subject)
    key = read, id(subject)
    found = kept.get(key)
    if found is None:
        found = kept[key] = subject, read(subject)  # with the subject, so that its id becomes nobody else's
    return found[1]
