"""Answers kept by the `Idempotency-Key` of their request, so that a call that is sent again is made once.

Its own module because it is the same for every call that changes something. What always holds: one key of one caller
and method makes one call, however many requests bear it at once; another request under the same key is refused.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from evalsi.core.errors import AlreadyExistsError, UsageError

KEPT_S = 24 * 3600.0
MOST_KEPT = 10_000
MOST_BYTES = 64 << 20
_LONGEST_KEY = 255


@dataclass(slots=True)
class _Kept:
    digest: bytes
    made_s: float
    answer: asyncio.Future[bytes]


class IdempotentAnswers:
    """The answers of the last day, the oldest given up first when they are too many or too large."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()
        self._bytes = 0

    async def answer(self, key: tuple[str, str, str], request: bytes, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """What `make` gives, or gave when the key came first. What fails is not kept.

        Args:
            key: Method, credential and the key that the caller chose.
        Raises: UsageError: the key is too long. AlreadyExistsError: it stood for another request.
        """
        if len(key[2]) > _LONGEST_KEY:
            raise UsageError(f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
        key = (key[0], sha256(key[1].encode()).hexdigest(), key[2])
        digest = sha256(request).digest()
        self._forget_old()
        found = self._kept.get(key)
        if found is not None:
            if found.digest != digest:
                raise AlreadyExistsError(
                    f"the Idempotency-Key {key[2]!r} stood for another request",
                    hint="choose a new key for each request",
                )
            return await asyncio.shield(found.answer)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._kept[key] = _Kept(digest, monotonic(), future)
        try:
            answer = await make()
        except BaseException as error:
            del self._kept[key]
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()  # nobody may be waiting for it
            else:
                future.cancel()
            raise
        future.set_result(answer)
        self._bytes += len(answer)
        return answer

    def _forget_old(self) -> None:
        now = monotonic()
        while self._kept:
            key, oldest = next(iter(self._kept.items()))
            few = len(self._kept) < MOST_KEPT and self._bytes < MOST_BYTES
            if not oldest.answer.done() or (few and now - oldest.made_s < KEPT_S):
                return
            del self._kept[key]
            self._bytes -= len(oldest.answer.result())
