"""What asking models has cost so far, live, and the budget that ends judging.

Every reply that came back is counted, also the unreadable ones: they were paid for. What our own cache answered cost
nothing now and is counted apart.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields

import msgspec

from evalsi.core.errors import BudgetError, InvalidParamsError
from evalsi.judges.prices import CostTotal
from evalsi.schema import ErrorKind, Usage


@dataclass(kw_only=True)
class Spend:
    """Running totals of one judge, or of the target of a run. Read them at any time; only who asks writes."""

    calls: int = 0
    """Replies received from the provider."""
    cached_calls: int = 0
    """Questions answered without asking: from the cache, or by an identical question that was under way."""
    failed_calls: int = 0
    """Questions to which no reply came."""
    retries: int = 0
    """Further attempts behind the calls: rate limits, timeouts, broken connections."""
    repairs: int = 0
    """Second questions because the first reply could not be read."""
    unmetered_calls: int = 0
    """Calls whose provider reported no token counts; every token total is then a lower bound."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    """Input tokens served from the provider's prompt cache; a part of `input_tokens`."""
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    """A part of `output_tokens`."""
    known_usd: float = 0.0
    priced_calls: int = 0
    unpriced_calls: int = 0
    saved_usd: float = 0.0
    """What the questions answered without asking had cost the first time."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> CostTotal:
        return CostTotal(known_usd=self.known_usd, known=self.priced_calls, unknown=self.unpriced_calls)

    def add_call(self, usage: Usage, *, retries: int) -> None:
        """One reply; `usage.cost_usd` is its cost, None when unknown."""
        self.calls += 1
        self.retries += retries
        self.unmetered_calls += usage.input_tokens is None or usage.output_tokens is None
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        self.cached_input_tokens += usage.cached_input_tokens or 0
        self.cache_write_tokens += usage.cache_write_tokens or 0
        self.reasoning_tokens += usage.reasoning_tokens or 0
        if usage.cost_usd is None:
            self.unpriced_calls += 1
        else:
            self.priced_calls += 1
            self.known_usd += usage.cost_usd

    def add_answer(self, usage: Usage) -> None:
        """One answer of a target, with the attempts behind it. One that came out of a store used nothing."""
        if not usage.cached:
            self.add_call(usage, retries=(usage.requests or 1) - 1)

    def add_all(self, other: "Spend") -> None:
        """Everything that was counted in `other`."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    @classmethod
    def of_values(cls, values: Iterable[float]) -> "Spend":
        """Of the values of the fields, in their order; those that are missing are 0."""
        spend = cls()
        for each, value in zip(fields(cls), values, strict=False):
            setattr(spend, each.name, type(each.default)(value))
        return spend

    def add_cached(self, usage: Usage) -> None:
        """One question answered without asking; `usage` is what it took the first time."""
        self.cached_calls += 1
        self.saved_usd += usage.cost_usd or 0.0

    def as_usage(self) -> Usage:
        """The totals as the schema writes them."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_input_tokens=self.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cost_usd=self.known_usd if self.priced_calls or not self.unpriced_calls else None,
            cached_cost_usd=self.saved_usd if self.cached_calls else None,
            requests=self.calls + self.retries + self.failed_calls,
            unpriced_requests=self.unpriced_calls,
        )


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The most that one judge may use; None is no limit. Raises InvalidParamsError unless the limits are above 0."""

    max_tokens: int | None = None
    max_usd: float | None = None

    def __post_init__(self) -> None:
        for name, limit in (("max_tokens", self.max_tokens), ("max_usd", self.max_usd)):
            if limit is not None and not limit > 0:
                raise InvalidParamsError(f"a budget is above 0, not {limit}", where=name)

    @property
    def is_limited(self) -> bool:
        return self.max_tokens is not None or self.max_usd is not None


@dataclass
class BudgetKeeper:
    """Lets calls start while the budget lasts.

    Calls under way are counted with their estimates, and a call that might not fit waits until they are known. So the
    budget is exceeded by one call at most, whatever the concurrency.
    """

    budget: Budget
    spend: Spend
    _reserved_tokens: float = 0.0
    _reserved_usd: float = 0.0
    _under_way: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])

    @asynccontextmanager
    async def call(self, tokens: float, usd: float | None) -> AsyncGenerator[None]:
        """Around one call with its estimated tokens and dollars. Raises: BudgetError: nothing is left."""
        while True:
            self._check()
            if not self._under_way or self._fits(tokens, usd or 0.0):
                break
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._under_way += 1
        self._reserved_tokens += tokens
        self._reserved_usd += usd or 0.0
        try:
            yield
        finally:
            self._under_way -= 1
            self._reserved_tokens -= tokens
            self._reserved_usd -= usd or 0.0
            waiting, self._waiting = self._waiting, []
            for turn in waiting:
                if not turn.done():
                    turn.set_result(None)

    def _check(self) -> None:
        budget, spend = self.budget, self.spend
        if budget.max_tokens is not None and spend.tokens >= budget.max_tokens:
            raise BudgetError(f"the judge's budget of {budget.max_tokens:,} tokens is used up ({spend.tokens:,} used)")
        if budget.max_usd is None:
            return
        if spend.unpriced_calls:
            raise BudgetError(
                f"a budget of ${budget.max_usd:g} cannot be kept: the cost of {spend.unpriced_calls} calls is unknown",
                kind=ErrorKind.PRICE_UNKNOWN,
            )
        if spend.known_usd >= budget.max_usd:
            raise BudgetError(f"the judge's budget of ${budget.max_usd:g} is used up (${spend.known_usd:.4f} spent)")

    def _fits(self, tokens: float, usd: float) -> bool:
        budget, spend = self.budget, self.spend
        if budget.max_tokens is not None and spend.tokens + self._reserved_tokens + tokens > budget.max_tokens:
            return False
        return budget.max_usd is None or spend.known_usd + self._reserved_usd + usd <= budget.max_usd
