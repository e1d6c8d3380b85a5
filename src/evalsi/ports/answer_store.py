"""Answers that were given under an `Idempotency-Key`, kept where all servers of one store find them."""

from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

KEPT = timedelta(hours=24)
"""How long an answer is given again."""


class AnswerKey(NamedTuple):
    """What an answer is kept under."""

    method: str
    caller: str
    key: str
    """What the caller chose. Only its digest is stored."""


class KeptAnswer(NamedTuple):
    request_digest: str
    """Of the request that was answered."""
    body: bytes
    """The answer in the schema's binary form."""


class AnswerStore(Protocol):
    """Any thread may call. Methods raise StoreError when the store cannot be used."""

    def find(self, key: AnswerKey, *, since: datetime) -> KeptAnswer | None:
        """The answer that was kept under `key` at `since` or later."""
        ...

    def keep(self, key: AnswerKey, answer: KeptAnswer, *, at: datetime, since: datetime) -> None:
        """Keeps an answer. One that was kept at `since` or later stays instead; an older one is replaced."""
        ...

    def forget(self, *, older_than: datetime) -> int:
        """Removes old answers; how many."""
        ...
