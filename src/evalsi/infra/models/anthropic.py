"""Models behind Anthropic's messages protocol, over plain HTTP: five fields do not need a client library.

Two differences matter for money and verdicts. Its input count leaves out what came from or went into the prompt cache, so
the three are added up. And it enforces a reply form through a tool that must be called, whose input is the reply.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.infra.models.endpoint import Access, Answer, Endpoint, Incoming, Outgoing, Unreadable, read_object
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.models.payload import count_of, inner, words_of_error
from evalsi.infra.models.streams import StreamedBody, is_event_stream, kind_of_error, read_events
from evalsi.ports.chat_model import ChatMessage, ChatReply, ChatRequest
from evalsi.schema import ErrorKind, ToolCall, Usage

PROVIDER = "anthropic"
DEFAULT_BASE_URL = "https://api.anthropic.com"
DEFAULT_MAX_TOKENS = 4_096
"""The protocol requires a limit; this one holds when the judge's settings name none."""

_VERSION = "2023-06-01"
_FORM_TOOL = "give_answer"
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
        stream: Take replies as they are written, so that the time to the first token is known.
    """

    def __init__(
        self,
        access: Access | None = None,
        *,
        authentication: Literal["x-api-key", "bearer"] = "x-api-key",
        pool: LimiterPool | None = None,
        stream: bool = False,
    ) -> None:
        self._access = access or Access(base_url=DEFAULT_BASE_URL)
        key = self._access.api_key
        headers = {"anthropic-version": _VERSION}
        if key and authentication == "x-api-key":
            headers["x-api-key"] = key
        elif key:
            headers["Authorization"] = f"Bearer {key}"
        self._version_path = "" if urlsplit(self._access.base_url).path.rstrip("/").endswith("/v1") else "/v1"
        path = f"{self._version_path}/messages"
        self._endpoint = Endpoint(self._access, provider=PROVIDER, path=path, headers=headers, pool=pool)
        self._stream = stream
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
        read: Callable[[Incoming], Awaitable[dict[str, Any]]] = _read_stream if self._stream else read_object
        for refusals in range(len(_ADJUSTABLE) + 1):
            body = self._body(request)
            sent = msgspec.json.encode(body)
            try:
                answer = await self._endpoint.ask(Outgoing(model=request.model, body=sent, tokens=tokens), read)
            except ProviderError as error:
                error.requests += refusals
                if not self._adjust(request.model, body, error):
                    raise
                continue
            reply = _reply(answer, self._access.host)
            usage = reply.usage
            used = None if usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
            self._endpoint.settle(request.model, tokens, used)
            notes = self._adjustments.get(request.model)
            return msgspec.structs.replace(
                reply,
                retries=answer.retries + refusals,
                request_digest="sha256:" + hashlib.sha256(sent).hexdigest(),
                time_to_first_token_s=answer.body.get("time_to_first_token_s"),
                notes=tuple(sorted(notes.values())) if notes else (),
            )
        raise AssertionError(request.model)

    async def check(self) -> str:
        """See `ports.chat_model.ReachableModel.check`: asks for the list of models."""
        return await self._endpoint.check(self._access.url(f"{self._version_path}/models"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        given_up = self._adjustments.get(request.model, {})
        thinking = request.thinking
        budget = 0 if thinking is None else thinking.budget_tokens or 0
        body: dict[str, Any] = {
            "model": request.model,
            # Thought counts towards the limit.
            "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS + budget,
            "messages": _messages(request.messages),
        }
        system = "\n\n".join(message.content for message in request.messages if message.role in _SYSTEM_ROLES)
        options: dict[str, Any] = {
            "system": system or None,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "output_config": {"effort": request.effort} if request.effort else None,
            "stop_sequences": list(request.stop) or None,
            "thinking": None
            if thinking is None
            else {"type": thinking.mode, **({"budget_tokens": budget} if budget else {})},
        }
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters or {"type": "object", "properties": {}},
                }
                for tool in request.tools
            ]
            if request.tool_choice:
                choices = {"auto": "auto", "none": "none", "required": "any"}
                kind = choices.get(request.tool_choice)
                body["tool_choice"] = {"type": kind} if kind else {"type": "tool", "name": request.tool_choice}
        elif request.response_schema is not None and "tool_choice" not in given_up:
            tool = {
                "name": _FORM_TOOL,
                "description": "Gives the answer in its required form.",
                "input_schema": request.response_schema,
            }
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _FORM_TOOL}}
        if self._stream:
            body["stream"] = True
        return {**body, **request.extra}

    def _adjust(self, model: str, body: dict[str, Any], error: ProviderError) -> bool:
        if error.kind is not ErrorKind.PROVIDER_REJECTED or error.status not in (400, 422):
            return False
        said = words_of_error((error.detail or "").encode())[0].lower()
        for name, words in _ADJUSTABLE.items():
            if name == "tool_choice" and inner(body, "tools", 0, "name") != _FORM_TOOL:
                continue  # The user's own tools are what is under test: they are never given up.
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


_SYSTEM_ROLES = ("system", "developer")


def _messages(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    """Tool results are blocks of a user's message here, and those that answer one turn stand in one message."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role in _SYSTEM_ROLES:
            continue
        if message.role == "tool":
            block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}
            results: Any = found[-1]["content"] if found and found[-1]["role"] == "user" else None
            if isinstance(results, list):
                results.append(block)  # pyright: ignore[reportUnknownMemberType]
            else:
                found.append({"role": "user", "content": [block]})
        elif message.tool_calls:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
            blocks += [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": _input_of(call.arguments)}
                for call in message.tool_calls
            ]
            found.append({"role": message.role, "content": blocks})
        else:
            found.append({"role": message.role, "content": message.content})
    return found


def _input_of(arguments: str) -> Any:
    """Arguments as the object that the protocol demands; what is no object is handed on as text under a name that says so."""
    try:
        decoded: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        decoded = None
    return decoded if isinstance(decoded, dict) else {"arguments_as_written": arguments}  # pyright: ignore[reportUnknownVariableType]


class _Block(msgspec.Struct):
    """A part of an answer; kinds other than these are passed over. `written` is a tool's input as streamed text."""

    type: str = ""
    id: str = ""
    name: str = ""
    text: str = ""
    thinking: str = ""
    input: Any = None
    written: str = ""

    @property
    def arguments(self) -> str:
        return self.written or msgspec.json.encode(self.input).decode()


async def _read_stream(incoming: Incoming) -> dict[str, Any]:
    if not is_event_stream(incoming):
        return await read_object(incoming)
    streamed = StreamedBody(incoming)
    async for event in read_events(incoming, streamed):
        _take_event(streamed, event)
    return streamed.whole()


def _take_event(streamed: StreamedBody, event: dict[str, Any]) -> None:
    body = streamed.body
    match event.get("type"):
        case "message_start":
            message = event.get("message")
            if isinstance(message, dict):
                body.update(message)  # pyright: ignore[reportUnknownArgumentType]
            body["content"] = []
        case "content_block_start":
            body.setdefault("content", []).append(dict(event.get("content_block") or {}))
        case "content_block_delta":
            blocks = body.setdefault("content", [])
            if not blocks:
                blocks.append({"type": "text"})
            delta = event.get("delta")
            for given, kept in (("text", "text"), ("thinking", "thinking"), ("partial_json", "written")):
                piece = inner(delta, given)
                if isinstance(piece, str) and piece:
                    streamed.generated()
                    blocks[-1][kept] = blocks[-1].get(kept, "") + piece
        case "message_delta":
            stop = inner(event, "delta", "stop_reason")
            if stop:
                body["stop_reason"] = stop
            usage = event.get("usage")
            if isinstance(usage, dict):
                body["usage"] = {**(body.get("usage") or {}), **usage}
        case "message_stop":
            streamed.finished = True
        case "error":
            raw = msgspec.json.encode(event)
            said = words_of_error(raw)[0][:200]
            raise Unreadable(f"broke off its reply: {said}", raw, kind=kind_of_error(event.get("error")))
        case _:
            pass


def _reply(answer: Answer[dict[str, Any]], host: str) -> ChatReply:
    body = answer.body
    try:
        blocks = msgspec.convert(body.get("content"), list[_Block])
    except msgspec.ValidationError:
        raw = msgspec.json.encode(body)
        said = words_of_error(raw)[0][:200]
        error = ProviderError(f"{host} answered without a message: {said}", detail=raw.decode()[:4_000])
        error.requests = answer.retries + 1
        raise error from None
    text = "".join(block.text for block in blocks if block.type == "text")
    used = [block for block in blocks if block.type == "tool_use"]
    form = next((block for block in used if block.name == _FORM_TOOL and block.input is not None), None)
    stop = str(body.get("stop_reason") or "end_turn")
    reason = _STOP_REASONS.get(stop, stop)
    calls: tuple[ToolCall, ...] = ()
    if form is not None:
        text = form.arguments
        reason = "stop" if reason == "tool_calls" else reason
    else:
        calls = tuple(ToolCall(id=block.id, name=block.name, arguments=block.arguments) for block in used)
    return ChatReply(
        text=text,
        tool_calls=calls,
        reasoning="".join(block.thinking for block in blocks if block.type == "thinking"),
        finish_reason=reason,
        usage=_usage(body.get("usage"), answer.latency_s),
        model=str(body.get("model") or ""),
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
