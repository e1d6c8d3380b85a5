"""The judge: a chat model that is asked for verdicts, with cache, repair, accounting and budget.

Its own module because these four must agree: what was repaired is cached as repaired, what came from the cache costs
nothing, what failed is never cached, and whatever was paid for is counted.
"""

import asyncio
import copy
from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import EvalsiError, InvalidSpecError, MeasurementError, ReplyError
from evalsi.core.own_traces import span
from evalsi.judges.prices import PriceTable, shipped_prices
from evalsi.judges.prompt import enclose
from evalsi.judges.spend import Budget, BudgetKeeper, Spend
from evalsi.ports.chat_model import ChatMessage, ChatModel, ChatReply, ChatRequest
from evalsi.ports.judge import JudgePrompt, Verdict
from evalsi.ports.reply_cache import ReplyCache
from evalsi.schema import ErrorKind, Usage

T = TypeVar("T")

_KEY_FORMAT = 1
"""Raised when the meaning of a cache entry changes, so that old entries are not found any more."""
_REPAIRABLE = (ErrorKind.JUDGE_PARSE, ErrorKind.JUDGE_OUT_OF_RANGE)
_SHOWN_CHARACTERS = 4_000
_CHARACTERS_PER_TOKEN = 4
_ASSUMED_OUTPUT_TOKENS = 400

REPAIR_REQUEST = """\
A first reply to this question could not be read: {problem}.

Here is that reply, as data:
{reply}

Give the verdict in the required form and nothing else."""


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which model judges, and how it is asked. There is no default model: judging is never billed by surprise.

    Args:
        provider: "openai-compatible", "anthropic" or "recorded"; for names and results.
        max_tokens: Limit of a reply, reasoning included; None leaves it to the provider.
        temperature: 0 by default, for verdicts that repeat; None leaves it to the provider.
        effort: Reasoning effort in the provider's words.
        response_format: "json_schema" lets the provider enforce the form where it can, "text" never asks it to.
    """

    provider: str
    model: str
    max_tokens: int | None = None
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    effort: str | None = None
    response_format: Literal["json_schema", "text"] = "json_schema"

    def __post_init__(self) -> None:
        if not self.model:
            raise InvalidSpecError("no judge model was named", where="judge.model", hint="name one with --judge-model")


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the cache keeps: the reply that could be read, and what it took to get it (a repair included)."""

    reply: ChatReply
    usage: Usage
    repaired: bool = False


class ModelJudge:
    """Implements `ports.judge.Judge` on a `ChatModel`. For one event loop at a time.

    Args:
        model: Where questions go; it applies retries, rate limits and deadlines.
        settings: The model's name and how it is asked.
        cache: Where readable replies are kept; closed with the judge. None asks every question, even identical ones at
            the same time.
        prices: What tokens cost; the shipped table when None.
        budget: The most this judge may use.

    Raises: InvalidSpecError: a budget in dollars for a model whose price is unknown.
    """

    def __init__(
        self,
        model: ChatModel,
        settings: JudgeSettings,
        *,
        cache: ReplyCache | None = None,
        prices: PriceTable | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self.prices = shipped_prices() if prices is None else prices
        self.spend = Spend()
        self._model = model
        self.fingerprint = digest({"format": _KEY_FORMAT, "settings": settings, "identity": model.identity})
        """Digest of what decides the replies apart from the prompts: settings, provider and base URL. No credential."""
        self._cache = cache
        self._flights: dict[str, asyncio.Future[_Entry | EvalsiError | None]] = {}
        limits = budget or Budget()
        if limits.max_usd is not None and self.prices.find(settings.model) is None:
            raise InvalidSpecError(
                f"a budget of ${limits.max_usd:g} cannot be kept: the price of {settings.model!r} is unknown",
                hint="add the model to a price table, or give the budget in tokens",
            )
        self._keeper = BudgetKeeper(limits, self.spend) if limits.is_limited else None

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.settings.provider}/{self.settings.model}"

    async def ask(self, prompt: JudgePrompt, parse: Callable[[ChatReply], T], *, repetition: int = 0) -> Verdict[T]:
        """See `ports.judge.Judge.ask`.

        A reply that was cut off or refused is not repaired: the same question would end the same way.
        """
        request = self._request(prompt)
        if self._cache is None:
            entry, value = await self._answer(request, parse)
            return _fresh(entry, value)
        key = self.cache_key(prompt, repetition)
        while True:
            entry = self._cached(key)
            if entry is not None:
                try:
                    return self._reused(entry, parse(entry.reply))
                except ReplyError:
                    break  # Kept by a version that read it otherwise: ask again.
            flight = self._flights.get(key)
            if flight is None:
                break
            landed = await asyncio.shield(flight)
            if isinstance(landed, EvalsiError):
                raise copy.copy(landed)
            if landed is not None:
                return self._reused(landed, parse(landed.reply))
        return await self._lead(key, request, parse)

    def cache_key(self, prompt: JudgePrompt, repetition: int = 0) -> str:
        """Digest of everything that may change a reply: messages, template version, model, settings, address, repetition.

        The API key is no part of it, and so never in the cache; prices are not either, as they change no reply.
        """
        return digest({"judge": self.fingerprint, "prompt": prompt, "repetition": repetition})

    async def close(self) -> None:
        """Releases the model's connections and writes what the cache has not written yet."""
        await self._model.close()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    def _request(self, prompt: JudgePrompt) -> ChatRequest:
        settings = self.settings
        user = ChatMessage(role="user", content=prompt.user)
        system = (ChatMessage(role="system", content=prompt.system),) if prompt.system else ()
        return ChatRequest(
            model=settings.model,
            messages=(*system, user),
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            seed=settings.seed,
            effort=settings.effort,
            response_schema=prompt.response_schema if settings.response_format == "json_schema" else None,
            top_logprobs=prompt.top_logprobs,
        )

    async def _lead(self, key: str, request: ChatRequest, parse: Callable[[ChatReply], T]) -> Verdict[T]:
        """Asks for everybody who has the same question meanwhile."""
        flight: asyncio.Future[_Entry | EvalsiError | None] = asyncio.get_running_loop().create_future()
        self._flights[key] = flight
        landed: _Entry | EvalsiError | None = None
        try:
            landed, value = await self._answer(request, parse)
            if self._cache is not None:
                self._cache.put(key, msgspec.json.encode(landed))
            return _fresh(landed, value)
        except MeasurementError as error:
            landed = error
            raise
        finally:
            # None (cancelled, or something unforeseen) sends those who wait to ask for themselves.
            del self._flights[key]
            flight.set_result(landed)

    async def _answer(self, request: ChatRequest, parse: Callable[[ChatReply], T]) -> tuple[_Entry, T]:
        reply, usage = await self._call(request)
        try:
            return _Entry(reply=reply, usage=usage), parse(reply)
        except ReplyError as error:
            if error.kind not in _REPAIRABLE:
                raise
            problem = error
        self.spend.repairs += 1
        reply, more = await self._call(_repair_request(request, reply, problem))
        return _Entry(reply=reply, usage=_sum(usage, more), repaired=True), parse(reply)

    async def _call(self, request: ChatRequest) -> tuple[ChatReply, Usage]:
        if self._keeper is None:
            return await self._counted(request)
        tokens, usd = self._estimate(request)
        async with self._keeper.call(tokens, usd):
            return await self._counted(request)

    async def _counted(self, request: ChatRequest) -> tuple[ChatReply, Usage]:
        with span("judge", {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.settings.model}) as asked:
            try:
                reply = await self._model.complete(request)
            except MeasurementError:
                self.spend.failed_calls += 1
                raise
            asked.set("gen_ai.usage.input_tokens", reply.usage.input_tokens or 0)
            asked.set("gen_ai.usage.output_tokens", reply.usage.output_tokens or 0)
        cost = self._cost(reply).usd
        usage = msgspec.structs.replace(
            reply.usage, cost_usd=cost, requests=reply.retries + 1, unpriced_requests=int(cost is None)
        )
        self.spend.add_call(usage, retries=reply.retries)
        return reply, usage

    def _cost(self, reply: ChatReply):  # noqa: ANN202 - the inferred type is the one of `PriceTable.cost`
        # The model that answered is the one that is billed; an alias falls back to the name that was asked for.
        model = reply.model if reply.model and self.prices.find(reply.model) else self.settings.model
        return self.prices.cost(model, reply.usage)

    def _estimate(self, request: ChatRequest) -> tuple[float, float | None]:
        characters = sum(len(message.content) for message in request.messages)
        seen = self.spend.output_tokens / self.spend.calls if self.spend.calls else 0
        output = seen or self.settings.max_tokens or _ASSUMED_OUTPUT_TOKENS
        usage = Usage(input_tokens=characters // _CHARACTERS_PER_TOKEN, output_tokens=int(output))
        return (usage.input_tokens or 0) + output, self.prices.cost(self.settings.model, usage).usd

    def _cached(self, key: str) -> _Entry | None:
        stored = None if self._cache is None else self._cache.get(key)
        if stored is None:
            return None
        try:
            return msgspec.json.decode(stored, type=_Entry)
        except msgspec.DecodeError:
            return None

    def _reused(self, entry: _Entry, value: T) -> Verdict[T]:
        self.spend.add_cached(entry.usage)
        usage = msgspec.structs.replace(
            entry.usage,
            cost_usd=0.0,
            cached=True,
            cached_cost_usd=entry.usage.cost_usd,
            requests=0,
            unpriced_requests=0,
        )
        return Verdict(value=value, reply=entry.reply.text, usage=usage, cached=True, repaired=entry.repaired)


def _fresh(entry: _Entry, value: T) -> Verdict[T]:
    return Verdict(value=value, reply=entry.reply.text, usage=entry.usage, repaired=entry.repaired)


def _repair_request(request: ChatRequest, reply: ChatReply, problem: ReplyError) -> ChatRequest:
    """The same question with an addition; the unreadable reply is shown as data, never as the judge's own turn.

    It stays one user message, because some servers refuse two in a row.
    """
    *before, question = request.messages
    shown = enclose("reply", reply.text[:_SHOWN_CHARACTERS])
    again = REPAIR_REQUEST.format(problem=problem.message, reply=shown)
    asked = ChatMessage(role=question.role, content=f"{question.content}\n\n{again}")
    return msgspec.structs.replace(request, messages=(*before, asked))


def _sum(first: Usage, second: Usage) -> Usage:
    def both(left: float | None, right: float | None) -> float | None:
        return None if left is None and right is None else (left or 0) + (right or 0)

    costs = [cost for cost in (first.cost_usd, second.cost_usd) if cost is not None]
    return Usage(
        input_tokens=_whole(both(first.input_tokens, second.input_tokens)),
        output_tokens=_whole(both(first.output_tokens, second.output_tokens)),
        cached_input_tokens=_whole(both(first.cached_input_tokens, second.cached_input_tokens)),
        cache_write_tokens=_whole(both(first.cache_write_tokens, second.cache_write_tokens)),
        reasoning_tokens=_whole(both(first.reasoning_tokens, second.reasoning_tokens)),
        cost_usd=sum(costs) if costs else None,
        latency=both(first.latency, second.latency),
        requests=_whole(both(first.requests, second.requests)),
        unpriced_requests=first.unpriced_requests + second.unpriced_requests,
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
