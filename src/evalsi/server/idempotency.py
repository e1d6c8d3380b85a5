"""Answers kept by the `Idempotency-Key` of their request, so that a call that is sent again is made once.

Its own module because it is the same for every call that changes something, whatever protocol carried it. What always
holds: one key of one caller and method makes one call, however many requests bear it at once, and also when the client
that sent it first hangs up; another request under the same key is refused. Kept in memory: a restart forgets.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import Any

import msgspec

from evalsi.core.errors import AlreadyExistsError, UsageError
from evalsi.schema.json_codec import encode_camel
from evalsi.server.answer import QuickAnswer, json_of

KEPT_S = 24 * 3600.0
MOST_KEPT = 10_000
MOST_BYTES = 64 << 20
_LONGEST_KEY = 255

Answer = msgspec.Struct | QuickAnswer


@dataclass(slots=True)
class _Kept:
    digest: bytes
    made_s: float
    work: asyncio.Task[Answer]
    size: int = 0


class IdempotentAnswers:
    """The answers of the last day, the oldest given up first when they are too many or too large."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()
        self._bytes = 0

    async def answer(
        self, key: tuple[str, str, str], request: msgspec.Struct, work: Coroutine[Any, Any, Answer]
    ) -> Answer:
        """What `work` gives, or what came of it when the key came first. What fails is not kept.

        Args:
            key: Method, caller, and the key that the caller chose.
        Raises: UsageError: the key is too long. AlreadyExistsError: it stood for another request.
        """
        digest = sha256(encode_camel(request)).digest()
        self._forget_old()
        found = self._kept.get(key)
        if len(key[2]) > _LONGEST_KEY or (found is not None and found.digest != digest):
            work.close()
            if len(key[2]) > _LONGEST_KEY:
                raise UsageError(f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
            raise AlreadyExistsError(
                f"the Idempotency-Key {key[2]!r} stood for another request", hint="choose a new key for each request"
            )
        if found is None:
            task = asyncio.get_running_loop().create_task(work)
            found = self._kept[key] = _Kept(digest, monotonic(), task)
            task.add_done_callback(lambda _: self._done(key))
        else:
            work.close()
        return await asyncio.shield(found.work)

    def _done(self, key: tuple[str, str, str]) -> None:
        kept = self._kept[key]
        if kept.work.cancelled() or kept.work.exception() is not None:
            del self._kept[key]
            return
        kept.size = len(json_of(kept.work.result()))
        self._bytes += kept.size

    def _forget_old(self) -> None:
        now = monotonic()
        while self._kept:
            key, oldest = next(iter(self._kept.items()))
            few = len(self._kept) < MOST_KEPT and self._bytes < MOST_BYTES
            if not oldest.work.done() or (few and now - oldest.made_s < KEPT_S):
                return
            del self._kept[key]
            self._bytes -= oldest.size
