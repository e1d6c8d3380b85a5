"""Models behind Anthropic's messages protocol, over plain HTTP: five fields do not need a client library.

Two differences matter for money and verdicts. Its input count leaves out what came from or went into the prompt cache, so
the three are added up. And it enforces a reply form through a tool that must be called, whose input is the reply.
"""

from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.infra.models.endpoint import Access, Answer, Endpoint
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.models.payload import count_of, inner, words_of_error
from evalsi.ports.chat_model import ChatReply, ChatRequest
from evalsi.schema import ErrorKind, Usage

PROVIDER = "anthropic"
DEFAULT_BASE_URL = "https://api.anthropic.com"
DEFAULT_MAX_TOKENS = 4_096
"""The protocol requires a limit; this one holds when the judge's settings name none."""

_VERSION = "2023-06-01"
_FORM_TOOL = "give_verdict"
_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
}
_CHARACTERS_PER_TOKEN = 4
_ASSUMED_OUTPUT_TOKENS = 300


class AnthropicModel:
    """Implements `ports.chat_model.ChatModel` over `POST {base_url}/v1/messages`.

    Args:
        access: Where and how; `base_url` with or without `/v1`.
        authentication: The header of the key: "x-api-key", or "bearer" for tokens such as those of a gateway.
    """

    def __init__(
        self,
        access: Access | None = None,
        *,
        authentication: Literal["x-api-key", "bearer"] = "x-api-key",
        pool: LimiterPool | None = None,
    ) -> None:
        self._access = access or Access(base_url=DEFAULT_BASE_URL)
        key = self._access.api_key
        headers = {"anthropic-version": _VERSION}
        if key and authentication == "x-api-key":
            headers["x-api-key"] = key
        elif key:
            headers["Authorization"] = f"Bearer {key}"
        path = "/messages" if urlsplit(self._access.base_url).path.rstrip("/").endswith("/v1") else "/v1/messages"
        self._endpoint = Endpoint(self._access, provider=PROVIDER, path=path, headers=headers, pool=pool)
        self._adjustments: dict[str, dict[str, str]] = {}

    @property
    def identity(self) -> dict[str, str]:
        """Provider and base URL."""
        return {"provider": PROVIDER, "base_url": self._access.base_url}

    @property
    def adjustments(self) -> dict[str, list[str]]:
        """By model, what was refused and what was done instead."""
        return {model: sorted(notes.values()) for model, notes in self._adjustments.items() if notes}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ports.chat_model.ChatModel.complete`. Seeds and token probabilities do not exist here and are not sent."""
        characters = sum(len(message.content) for message in request.messages)
        tokens = characters / _CHARACTERS_PER_TOKEN + _ASSUMED_OUTPUT_TOKENS
        for _ in range(len(_ADJUSTABLE) + 1):
            body = self._body(request)
            try:
                answer = await self._endpoint.post(request.model, msgspec.json.encode(body), tokens=tokens)
            except ProviderError as error:
                if not self._adjust(request.model, body, error):
                    raise
                continue
            reply = _reply(answer, self._access.host)
            usage = reply.usage
            used = None if usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
            self._endpoint.settle(request.model, tokens, used)
            return reply
        raise AssertionError(request.model)

    async def close(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        given_up = self._adjustments.get(request.model, {})
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in request.messages
                if message.role != "system"
            ],
        }
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        options: dict[str, Any] = {
            "system": system or None,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "output_config": {"effort": request.effort} if request.effort else None,
        }
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        if request.response_schema is not None and "tool_choice" not in given_up:
            tool = {"name": _FORM_TOOL, "description": "Gives the verdict.", "input_schema": request.response_schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _FORM_TOOL}}
        return body

    def _adjust(self, model: str, body: dict[str, Any], error: ProviderError) -> bool:
        if error.kind is not ErrorKind.PROVIDER_REJECTED or error.status not in (400, 422):
            return False
        said = words_of_error((error.detail or "").encode())[0].lower()
        for name, words in _ADJUSTABLE.items():
            if name in body and any(word in said for word in words):
                self._adjustments.setdefault(model, {})[name] = f"{name} is not sent"
                return True
        return False


_ADJUSTABLE = {
    "tool_choice": ("tool_choice", "tools", "input_schema"),
    "output_config": ("output_config", "effort"),
    "top_p": ("top_p",),
    "temperature": ("temperature",),
}


class _Block(msgspec.Struct):
    """A part of an answer; thinking and other kinds are passed over."""

    type: str = ""
    text: str = ""
    input: Any = None


def _reply(answer: Answer, host: str) -> ChatReply:
    body = answer.body
    try:
        blocks = msgspec.convert(body.get("content"), list[_Block])
    except msgspec.ValidationError:
        raw = msgspec.json.encode(body)
        said = words_of_error(raw)[0][:200]
        raise ProviderError(f"{host} answered without a message: {said}", detail=raw.decode()[:4_000]) from None
    text = "".join(block.text for block in blocks if block.type == "text")
    called = next((block for block in blocks if block.type == "tool_use" and block.input is not None), None)
    stop = str(body.get("stop_reason") or "end_turn")
    reason = _STOP_REASONS.get(stop, stop)
    if called is not None:
        text = msgspec.json.encode(called.input).decode()
        reason = "stop" if reason == "tool_calls" else reason
    return ChatReply(
        text=text,
        finish_reason=reason,
        usage=_usage(body.get("usage"), answer.latency_s),
        model=str(body.get("model") or ""),
        retries=answer.retries,
        request_id=answer.request_id or str(body.get("id") or ""),
    )


def _usage(given: Any, latency_s: float) -> Usage:
    fresh = count_of(inner(given, "input_tokens"))
    read = count_of(inner(given, "cache_read_input_tokens"))
    written = count_of(inner(given, "cache_creation_input_tokens"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=count_of(inner(given, "output_tokens")),
        cached_input_tokens=read,
        cache_write_tokens=written,
        latency=latency_s,
    )
