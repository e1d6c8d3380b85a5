"""How fast a model may be asked: requests and tokens per minute, and as many questions at once as the provider bears.

One `Limiter` per provider, model and key, because that is how providers count; a `LimiterPool` hands them out. Limits that
are set are kept by pacing. Limits that are not known are found: a "too many requests" cuts the number of questions under
way by a third and stops new ones for as long as the provider asked; every answer wins a little back (additive increase,
multiplicative decrease; Chiu and Jain 1989).
"""

import asyncio
import hashlib
import time
from collections import deque

import msgspec

from evalsi.core.errors import InvalidParamsError

_DECREASE = 0.67
_LEAST_CUT_INTERVAL_S = 0.25


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The most that a model may be asked; None is no limit. Raises InvalidParamsError unless every limit is above 0."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_concurrency: int = 512

    def __post_init__(self) -> None:
        for name in ("requests_per_minute", "tokens_per_minute", "max_concurrency"):
            limit: float | None = getattr(self, name)
            if limit is not None and not limit > 0:
                raise InvalidParamsError(f"a limit is above 0, not {limit}", where=name)


class Bucket:
    """A token bucket that hands out places in a queue: whoever takes too much waits until it has flowed back.

    It holds what flows in within `burst_s` seconds, so that a limit per minute is not used up in its first second.
    """

    def __init__(self, per_minute: float, *, burst_s: float, now_s: float) -> None:
        self._per_s = per_minute / 60
        self._capacity = max(1.0, self._per_s * burst_s)
        self._level = self._capacity
        self._at_s = now_s

    def take(self, amount: float, now_s: float) -> float:
        """Takes `amount`; returns the seconds to wait before using it."""
        self._level = min(self._capacity, self._level + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._level -= amount
        return max(0.0, -self._level / self._per_s)

    def give_back(self, amount: float) -> None:
        """Undoes a `take`, wholly or in part; a negative amount takes more, without waiting."""
        self._level = min(self._capacity, self._level + amount)


class Limiter:
    """The gate in front of one model. For one event loop at a time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        now_s = time.monotonic()
        self._allowed = float(limits.max_concurrency)
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed_until_s = 0.0
        self._cut_at_s = 0.0
        rpm, tpm = limits.requests_per_minute, limits.tokens_per_minute
        self._requests = None if rpm is None else Bucket(rpm, burst_s=1.0, now_s=now_s)
        self._tokens = None if tpm is None else Bucket(tpm, burst_s=10.0, now_s=now_s)

    @property
    def allowed(self) -> int:
        """How many questions may be under way at once at present."""
        return max(1, int(self._allowed))

    def enter_at_once(self) -> bool:
        """Takes a place when nothing would have to be waited for: the common case, without the cost of waiting."""
        if self._under_way >= self.allowed or self._requests or self._tokens or self._closed_until_s:
            return False
        self._under_way += 1
        return True

    async def enter(self, tokens: float) -> None:
        """Waits for a place. `tokens` is an estimate of what the question will use. Every `enter` needs one `leave`."""
        while self._under_way >= self.allowed:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake()
                raise
        self._under_way += 1
        try:
            await self._pace(tokens)
        except BaseException:
            self._take_back(tokens)
            self.leave()
            raise

    def leave(self) -> None:
        """A question is no longer under way."""
        self._under_way -= 1
        self._wake()

    def answered(self, estimated_tokens: float, used_tokens: float | None) -> None:
        """An answer came: one more at once may be borne, and the estimate is put right."""
        if self._allowed < self.limits.max_concurrency:
            self._allowed = min(float(self.limits.max_concurrency), self._allowed + 1 / self._allowed)
        if self._tokens is not None and used_tokens is not None:
            self._tokens.give_back(estimated_tokens - used_tokens)

    def too_many(self, retry_after_s: float | None) -> None:
        """The provider said that it was too much. Nobody is let in before `retry_after_s`; cuts follow each other slowly."""
        now_s = time.monotonic()
        if retry_after_s:
            self._closed_until_s = max(self._closed_until_s, now_s + retry_after_s)
        if now_s - self._cut_at_s >= _LEAST_CUT_INTERVAL_S:
            self._cut_at_s = now_s
            self._allowed = max(1.0, min(self._allowed, float(self._under_way)) * _DECREASE)

    async def _pace(self, tokens: float) -> None:
        wait_s = 0.0
        if self._requests is not None:
            wait_s = self._requests.take(1, time.monotonic())
        if self._tokens is not None:
            wait_s = max(wait_s, self._tokens.take(tokens, time.monotonic()))
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        while (left_s := self._closed_until_s - time.monotonic()) > 0:  # noqa: ASYNC110 - the end moves
            await asyncio.sleep(left_s)
        self._closed_until_s = 0.0

    def _take_back(self, tokens: float) -> None:
        if self._requests is not None:
            self._requests.give_back(1)
        if self._tokens is not None:
            self._tokens.give_back(tokens)

    def _wake(self) -> None:
        free = self.allowed - self._under_way
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class LimiterPool:
    """One `Limiter` for each provider, address, model and key. Judges that share a key share its limits."""

    def __init__(self) -> None:
        self._limiters: dict[tuple[str, str, str], Limiter] = {}

    def limiter(self, address: str, model: str, api_key: str | None, limits: Limits) -> Limiter:
        """The limiter of this model; the limits of whoever asks first hold. The key is only kept as a digest."""
        key = hashlib.sha256((api_key or "").encode()).hexdigest()
        return self._limiters.setdefault((address, model, key), Limiter(limits))
