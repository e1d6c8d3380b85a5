"""Models behind OpenAI's chat completions protocol: OpenAI itself, and the many servers that speak it.

Servers differ in what they accept. A parameter that a server refuses by name (a fixed temperature, `max_tokens` against
`max_completion_tokens`, an enforced reply form) is given up for that model from then on, and `adjustments` says so.
"""

import math
from typing import Any
from urllib.parse import urlsplit

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.infra.models.endpoint import Access, Answer, Endpoint
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.models.payload import count_of, inner, text_of_parts, words_of_error
from evalsi.ports.chat_model import ChatReply, ChatRequest, TokenAlternatives
from evalsi.schema import ErrorKind, Usage

PROVIDER = "openai-compatible"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

_FINISH_REASONS = {"stop": "stop", "length": "length", "content_filter": "refusal", "tool_calls": "tool_calls"}
_OPTIONAL = ("temperature", "top_p", "seed", "reasoning_effort", "top_logprobs", "logprobs")
_FORM_WORDS = ("response_format", "json_schema", "json_object", "schema", "grammar", "guided", "structured")
_MOST_ADJUSTMENTS = 8
_CHARACTERS_PER_TOKEN = 4
_ASSUMED_OUTPUT_TOKENS = 300


class OpenAICompatibleModel:
    """Implements `ports.chat_model.ChatModel` over `POST {base_url}/chat/completions`."""

    def __init__(self, access: Access | None = None, *, pool: LimiterPool | None = None) -> None:
        self._access = access or Access(base_url=DEFAULT_BASE_URL)
        key = self._access.api_key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._endpoint = Endpoint(self._access, provider=PROVIDER, path="/chat/completions", headers=headers, pool=pool)
        self._adjustments: dict[str, dict[str, str]] = {}
        self._names_completion = urlsplit(self._access.base_url).hostname == "api.openai.com"

    @property
    def identity(self) -> dict[str, str]:
        """Provider and base URL."""
        return {"provider": PROVIDER, "base_url": self._access.base_url}

    @property
    def adjustments(self) -> dict[str, list[str]]:
        """By model, what its server refused and what was done instead."""
        return {model: sorted(notes.values()) for model, notes in self._adjustments.items() if notes}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ports.chat_model.ChatModel.complete`."""
        tokens = _estimated_tokens(request)
        refusals = 0
        while True:
            body = self._body(request)
            try:
                answer = await self._endpoint.post(request.model, msgspec.json.encode(body), tokens=tokens)
            except ProviderError as error:
                refusals += 1
                if refusals > _MOST_ADJUSTMENTS or not self._adjust(request.model, body, error):
                    raise
                continue
            reply = _reply(answer, self._access.host)
            self._endpoint.settle(request.model, tokens, _used_tokens(reply.usage))
            return reply

    async def close(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        given_up = self._adjustments.get(request.model, {})
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        }
        if request.max_tokens is not None:
            renamed = self._names_completion != ("max_tokens" in given_up)
            body["max_completion_tokens" if renamed else "max_tokens"] = request.max_tokens
        options = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "reasoning_effort": request.effort,
        }
        if request.top_logprobs:
            options |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        if request.response_schema is not None and "json_schema" not in given_up:
            wanted = {"name": "verdict", "strict": True, "schema": request.response_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif request.response_schema is not None and "json_object" not in given_up:
            body["response_format"] = {"type": "json_object"}
        return body

    def _adjust(self, model: str, body: dict[str, Any], error: ProviderError) -> bool:
        """Gives up what the server refused by name. Whether there was such a thing."""
        if error.kind is not ErrorKind.PROVIDER_REJECTED or error.status not in (400, 422):
            return False
        given_up = self._adjustments.setdefault(model, {})
        message, _, parameter = words_of_error((error.detail or "").encode())
        said = f"{message} {parameter}".lower()
        form = body.get("response_format")
        if form is not None and any(word in said for word in _FORM_WORDS):
            given_up[form["type"]] = f"response_format {form['type']} is not enforced"
            return True
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body and name in said:
                if "max_tokens" in given_up:
                    return False
                other = "max_tokens" if name == "max_completion_tokens" else "max_completion_tokens"
                given_up["max_tokens"] = f"{other} is sent for {name}"
                return True
        for name in _OPTIONAL:
            if name in body and name in said:
                given_up[name] = f"{name} is not sent"
                if "logprobs" in name:
                    given_up["logprobs"] = given_up["top_logprobs"] = "token probabilities are not asked for"
                return True
        return False


def _reply(answer: Answer, host: str) -> ChatReply:
    body = answer.body
    choice = inner(body, "choices", 0)
    message = inner(choice, "message")
    if message is None:
        raw = msgspec.json.encode(body)
        raise ProviderError(
            f"{host} answered without a message: {words_of_error(raw)[0][:200]}", detail=raw.decode()[:4_000]
        )
    text = text_of_parts(inner(message, "content"))
    refusal = text_of_parts(inner(message, "refusal"))
    finish = str(inner(choice, "finish_reason") or "stop")
    return ChatReply(
        text=text or refusal,
        finish_reason="refusal" if refusal and not text else _FINISH_REASONS.get(finish, finish),
        usage=_usage(body.get("usage"), answer.latency_s),
        model=text_of_parts(body.get("model")),
        retries=answer.retries,
        logprobs=_alternatives(inner(choice, "logprobs", "content")),
        request_id=answer.request_id or text_of_parts(body.get("id")),
    )


def _usage(given: Any, latency_s: float) -> Usage:
    cached = count_of(inner(given, "prompt_tokens_details", "cached_tokens"))
    cost = inner(given, "cost")
    return Usage(
        input_tokens=count_of(inner(given, "prompt_tokens")),
        output_tokens=count_of(inner(given, "completion_tokens")),
        cached_input_tokens=cached if cached is not None else count_of(inner(given, "prompt_cache_hit_tokens")),
        reasoning_tokens=count_of(inner(given, "completion_tokens_details", "reasoning_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and math.isfinite(cost) and cost >= 0 else None,
        latency=latency_s,
    )


def _alternatives(given: Any) -> tuple[TokenAlternatives, ...]:
    if not isinstance(given, list):
        return ()
    try:
        tokens = msgspec.convert(given, list[_Token])
    except msgspec.ValidationError:
        return ()
    return tuple(
        TokenAlternatives(
            token=token.token, logprob=token.logprob, top={other.token: other.logprob for other in token.top_logprobs}
        )
        for token in tokens
    )


class _Alternative(msgspec.Struct):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


def _estimated_tokens(request: ChatRequest) -> float:
    characters = sum(len(message.content) for message in request.messages)
    return characters / _CHARACTERS_PER_TOKEN + min(
        request.max_tokens or _ASSUMED_OUTPUT_TOKENS, _ASSUMED_OUTPUT_TOKENS
    )


def _used_tokens(usage: Usage) -> float | None:
    return None if usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
