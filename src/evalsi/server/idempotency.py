"""Answers kept by the `Idempotency-Key` of their request, so that a call that is sent again is made once.

Its own module because it is the same for every call that changes something, whatever protocol carried it. What always
holds: one key of one caller and method makes one call, however many requests bear it at once, and also when the client
that sent it first hangs up; another request under the same key is refused. Answers are stored before they are given, so
that a restart, or another server of the same store, gives them again. Two servers that are asked at the same moment do
not see each other here; a call that must not be made twice even then stores its key itself, as CreateRun does.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from evalsi.core.clock import Clock
from evalsi.core.errors import AlreadyExistsError, StoreError, UsageError
from evalsi.ports.answer_store import KEPT, AnswerKey, AnswerStore, KeptAnswer
from evalsi.schema.json_codec import encode_camel
from evalsi.schema.proto_codec import decode, encode
from evalsi.server.answer import QuickAnswer, json_of, message_of
from evalsi.server.journal import Journal
from evalsi.server.served_method import ServedMethod

MOST_KEPT = 10_000
"""Answers in memory; what is given up there is still in the store."""
MOST_BYTES = 64 << 20
LARGEST_STORED_BYTES = 1 << 20
"""A larger answer is kept in memory alone."""
NEVER_STORED = frozenset({"AuthService.CreateAPIKey"})
"""Methods whose answers hold a secret, which is in no store."""
_LONGEST_KEY = 255

Answer = msgspec.Struct | QuickAnswer


@dataclass(slots=True)
class _Kept:
    digest: str
    made_s: float
    work: asyncio.Task[Answer]
    size: int = 0


class IdempotentAnswers:
    """The answers of the last day."""

    def __init__(self, store: AnswerStore, clock: Clock, journal: Journal) -> None:
        self._store = store
        self._clock = clock
        self._journal = journal
        self._kept: OrderedDict[AnswerKey, _Kept] = OrderedDict()
        self._bytes = 0

    async def answer(
        self,
        served: ServedMethod,
        caller: str,
        key: str,
        request: msgspec.Struct,
        work: Coroutine[Any, Any, Answer],
    ) -> Answer:
        """What `work` gives, or what came of it when the key came first. What fails is not kept.

        Args:
            caller: Whose key it is.
            key: What the caller chose.
        Raises: UsageError: the key is too long. AlreadyExistsError: it stood for another request.
        """
        if len(key) > _LONGEST_KEY:
            work.close()
            raise UsageError(f"an Idempotency-Key has at most {_LONGEST_KEY} characters")
        place = AnswerKey(served.short_name, caller, key)
        digest = sha256(encode_camel(request)).hexdigest()
        self._forget_old()
        found = self._kept.get(place)
        if found is None:
            # Begun before anything is waited for, so that a second request with the key meets it.
            task = asyncio.get_running_loop().create_task(self._found_or_made(served, place, digest, work))
            found = self._kept[place] = _Kept(digest, self._clock.monotonic_s(), task)
            task.add_done_callback(lambda _: self._done(place))
        else:
            work.close()
            if found.digest != digest:
                raise _other_request(key)
        return await asyncio.shield(found.work)

    async def _found_or_made(
        self, served: ServedMethod, place: AnswerKey, digest: str, work: Coroutine[Any, Any, Answer]
    ) -> Answer:
        now = self._clock.now()
        try:
            stored = await asyncio.to_thread(self._store.find, place, since=now - KEPT)
        except BaseException:
            work.close()
            raise
        if stored is not None:
            work.close()
            if stored.request_digest != digest:
                raise _other_request(place.key)
            return decode(stored.body, served.response)
        answer = await work
        if served.short_name not in NEVER_STORED:
            body = encode(message_of(answer))
            if len(body) <= LARGEST_STORED_BYTES:
                await self._store_it(place, KeptAnswer(digest, body))
        return answer

    async def _store_it(self, place: AnswerKey, answer: KeptAnswer) -> None:
        now = self._clock.now()
        try:
            await asyncio.to_thread(self._store.keep, place, answer, at=now, since=now - KEPT)
        except StoreError as error:
            # What was done is done, and the caller is to know.
            self._journal.note("warning", "answer not kept", method=place.method, reason=str(error))

    def _done(self, place: AnswerKey) -> None:
        kept = self._kept[place]
        if kept.work.cancelled() or kept.work.exception() is not None:
            del self._kept[place]
            return
        kept.size = len(json_of(kept.work.result()))
        self._bytes += kept.size

    def _forget_old(self) -> None:
        now_s = self._clock.monotonic_s()
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            few = len(self._kept) < MOST_KEPT and self._bytes < MOST_BYTES
            if not oldest.work.done() or (few and now_s - oldest.made_s < KEPT.total_seconds()):
                return
            del self._kept[place]
            self._bytes -= oldest.size


def _other_request(key: str) -> AlreadyExistsError:
    return AlreadyExistsError(
        f"the Idempotency-Key {key!r} stood for another request", hint="choose a new key for each request"
    )
