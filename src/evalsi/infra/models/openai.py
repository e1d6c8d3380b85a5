"""Models behind OpenAI's chat completions protocol: OpenAI itself, and the many servers that speak it.

Servers differ in what they accept. A parameter that a server refuses by name (a fixed temperature, `max_tokens` against
`max_completion_tokens`, an enforced reply form) is given up for that model from then on; `adjustments` and the notes of
every reply say so. The two other protocols of OpenAI (`openai_completions`, `openai_responses`) share that here.
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.infra.models.endpoint import (
    Access,
    Answer,
    Endpoint,
    Incoming,
    Outgoing,
    Unreadable,
    object_of,
    read_object,
)
from evalsi.infra.models.limits import LimiterPool
from evalsi.infra.models.payload import count_of, inner, text_of_parts, words_of_error
from evalsi.infra.models.streams import StreamedBody, is_event_stream, kind_of_error, read_events
from evalsi.infra.models.usual_reply import FINISH_REASONS, UsualReply, usual_reply
from evalsi.ports.chat_model import ChatMessage, ChatReply, ChatRequest, TokenAlternatives, Tool
from evalsi.schema import ErrorKind, ToolCall, Usage

PROVIDER = "openai-compatible"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

_OPTIONAL = (
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "stream_options",
    "top_logprobs",
    "logprobs",
    "include",
)
_FORM_WORDS = ("response_format", "json_schema", "json_object", "schema", "grammar", "guided", "structured")
_Body: TypeAlias = "dict[str, Any] | UsualReply"
_MOST_ADJUSTMENTS = 8
_CHARACTERS_PER_TOKEN = 4
_ASSUMED_OUTPUT_TOKENS = 300


class OpenAIProtocol(ABC):
    """What the protocols share: the address, what was given up, and asking until the server accepts the parameters.

    Args:
        stream: Take replies as they are written, so that the time to the first token is known.
    """

    path: ClassVar[str]
    limit_names: ClassVar[tuple[str, ...]]
    """Names the limit of a reply's length goes by, the usual one first."""
    has_usual_form: ClassVar[bool] = False
    """Whether bodies of replies mostly have the form of `UsualReply`."""

    def __init__(self, access: Access | None = None, *, pool: LimiterPool | None = None, stream: bool = False) -> None:
        self._access = access or Access(base_url=DEFAULT_BASE_URL)
        key = self._access.api_key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._endpoint = Endpoint(self._access, provider=PROVIDER, path=self.path, headers=headers, pool=pool)
        self._adjustments: dict[str, dict[str, str]] = {}
        self._names_completion = urlsplit(self._access.base_url).hostname == "api.openai.com"
        self._stream = stream

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
        read: Callable[[Incoming], Awaitable[_Body]] = self._read_stream if self._stream else self._read
        refusals = 0
        while True:
            body = self.body(request, self._adjustments.get(request.model, {}))
            if self._stream:
                body["stream"] = True
            if request.extra:
                body.update(request.extra)
            sent = msgspec.json.encode(body)
            try:
                answer = await self._endpoint.ask(Outgoing(model=request.model, body=sent, tokens=tokens), read)
            except ProviderError as error:
                error.requests += refusals
                refusals += 1
                if refusals > _MOST_ADJUSTMENTS or not self._adjust(request.model, body, error):
                    raise
                continue
            reply = self._reply(answer, sent, refusals, self._adjustments.get(request.model))
            self._endpoint.settle(request.model, tokens, _used_tokens(reply.usage))
            return reply

    async def check(self) -> str:
        """See `ports.chat_model.ReachableModel.check`: asks for the list of models, which every server answers somehow."""
        return await self._endpoint.check(self._access.url("/models"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    @abstractmethod
    def body(self, request: ChatRequest, given_up: Mapping[str, str]) -> dict[str, Any]:
        """The request's body, without what was given up."""

    @abstractmethod
    def reply(self, body: dict[str, Any], latency_s: float) -> ChatReply | None:
        """What a body says; None when it holds no reply."""

    @abstractmethod
    def take_event(self, streamed: StreamedBody, event: dict[str, Any]) -> None:
        """Adds an event of a stream to the body that a reply without streaming would have had."""

    async def _read(self, incoming: Incoming) -> _Body:
        content = await incoming.content()
        return (usual_reply(content) if self.has_usual_form else None) or object_of(content)

    async def _read_stream(self, incoming: Incoming) -> dict[str, Any]:
        if not is_event_stream(incoming):
            return await read_object(incoming)
        streamed = StreamedBody(incoming)
        async for event in read_events(incoming, streamed):
            if (error := event.get("error")) is not None and event.get("type", "error") == "error":
                raise Unreadable(
                    f"broke off its reply: {words_of_error(msgspec.json.encode({'error': error}))[0][:200]}",
                    msgspec.json.encode(event),
                    kind=kind_of_error(error),
                )
            self.take_event(streamed, event)
        return streamed.whole()

    def _reply(self, answer: Answer[_Body], sent: bytes, refusals: int, notes: Mapping[str, str] | None) -> ChatReply:
        body = answer.body
        if isinstance(body, UsualReply):
            reply, request_id, first_token_s = body.read(answer.latency_s), body.id or "", None
        else:
            reply = self._careful_reply(body, answer, refusals)
            request_id, first_token_s = text_of_parts(body.get("id")), body.get("time_to_first_token_s")
        return msgspec.structs.replace(
            reply,
            retries=answer.retries + refusals,
            request_id=answer.request_id or request_id,
            request_digest="sha256:" + hashlib.sha256(sent).hexdigest(),
            time_to_first_token_s=first_token_s,
            notes=tuple(sorted(notes.values())) if notes else (),
        )

    def _careful_reply(self, body: dict[str, Any], answer: Answer[_Body], refusals: int) -> ChatReply:
        reply = self.reply(body, answer.latency_s)
        if reply is None:
            raw = msgspec.json.encode(body)
            said = words_of_error(raw)[0][:200]
            error = ProviderError(
                f"{self._access.host} answered without a message: {said}", detail=raw.decode()[:4_000]
            )
            error.requests = answer.retries + refusals + 1
            raise error
        return reply

    def _adjust(self, model: str, body: dict[str, Any], error: ProviderError) -> bool:
        """Gives up what the server refused by name. Whether there was such a thing."""
        if error.kind is not ErrorKind.PROVIDER_REJECTED or error.status not in (400, 422):
            return False
        given_up = self._adjustments.setdefault(model, {})
        message, _, parameter = words_of_error((error.detail or "").encode())
        said = f"{message} {parameter}".lower()
        form = body.get("response_format") or inner(body, "text", "format")
        if form is not None and any(word in said for word in _FORM_WORDS):
            given_up[form["type"]] = f"response_format {form['type']} is not enforced"
            return True
        for name in self.limit_names:
            if name in body and name in said:
                if "max_tokens" in given_up or len(self.limit_names) == 1:
                    return False
                other = next(other for other in self.limit_names if other != name)
                given_up["max_tokens"] = f"{other} is sent for {name}"
                return True
        for name in _OPTIONAL:
            if name in body and name in said:
                given_up[name] = f"{name} is not sent"
                if "logprobs" in name or name == "include":
                    given_up["logprobs"] = given_up["top_logprobs"] = "token probabilities are not asked for"
                    given_up["include"] = given_up["logprobs"]
                return True
        return False


class OpenAICompatibleModel(OpenAIProtocol):
    """Implements `ports.chat_model.ChatModel` over `POST {base_url}/chat/completions`."""

    path = "/chat/completions"
    has_usual_form = True
    limit_names = ("max_tokens", "max_completion_tokens")

    def body(self, request: ChatRequest, given_up: Mapping[str, str]) -> dict[str, Any]:
        """See `OpenAIProtocol.body`."""
        body: dict[str, Any] = {"model": request.model, "messages": [_message(each) for each in request.messages]}
        if request.max_tokens is not None:
            renamed = self._names_completion != ("max_tokens" in given_up)
            body["max_completion_tokens" if renamed else "max_tokens"] = request.max_tokens
        options: dict[str, Any] = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "reasoning_effort": request.effort,
        }
        if request.thinking is not None:
            options["thinking"] = thinking_option(request)
        if request.top_logprobs or request.logprobs:
            options |= {"logprobs": True, "top_logprobs": request.top_logprobs or None}
        if self._stream:
            options["stream_options"] = {"include_usage": True}
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        if request.stop:
            body["stop"] = list(request.stop)
        if request.tools:
            body["tools"] = [{"type": "function", "function": _tool(tool)} for tool in request.tools]
        if request.tool_choice:
            named = request.tool_choice not in ("auto", "none", "required")
            choice = {"type": "function", "function": {"name": request.tool_choice}}
            body["tool_choice"] = choice if named else request.tool_choice
        if request.response_schema is not None and "json_schema" not in given_up:
            wanted = {"name": "answer", "strict": True, "schema": request.response_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif (request.response_schema is not None or request.json_mode) and "json_object" not in given_up:
            body["response_format"] = {"type": "json_object"}
        return body

    def reply(self, body: dict[str, Any], latency_s: float) -> ChatReply | None:
        """See `OpenAIProtocol.reply`."""
        choice = inner(body, "choices", 0)
        message = inner(choice, "message")
        if message is None:
            return None
        text = text_of_parts(inner(message, "content"))
        refusal = text_of_parts(inner(message, "refusal"))
        finish = str(inner(choice, "finish_reason") or "stop")
        reasoning = inner(message, "reasoning_content") or inner(message, "reasoning")
        calls = _tool_calls(inner(message, "tool_calls"))
        reason = FINISH_REASONS.get(finish, finish)
        if refusal and not text:
            reason = "refusal"
        elif calls and reason == "stop":
            reason = "tool_calls"
        return ChatReply(
            text=text or refusal,
            tool_calls=calls,
            reasoning=text_of_parts(reasoning),
            finish_reason=reason,
            usage=usage_of(body.get("usage"), latency_s),
            model=text_of_parts(body.get("model")),
            logprobs=alternatives_of(inner(choice, "logprobs", "content")),
        )

    def take_event(self, streamed: StreamedBody, event: dict[str, Any]) -> None:
        """See `OpenAIProtocol.take_event`."""
        body = streamed.body
        for name in ("id", "model", "usage"):
            if event.get(name):
                body[name] = event[name]
        choice = inner(event, "choices", 0)
        if choice is None:
            return
        whole = body.setdefault("choices", [{"message": {}}])[0]
        message = whole["message"]
        delta = inner(choice, "delta")
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if piece := text_of_parts(inner(delta, name)):
                streamed.generated()
                message[name] = message.get(name, "") + piece
        for call in inner(delta, "tool_calls") or ():
            streamed.generated()
            _add_call(message.setdefault("tool_calls", []), call)
        if probabilities := inner(choice, "logprobs", "content"):
            whole.setdefault("logprobs", {"content": []})["content"] += probabilities
        if finish := inner(choice, "finish_reason"):
            whole["finish_reason"] = finish
            streamed.finished = True


def thinking_option(request: ChatRequest) -> dict[str, Any] | None:
    """Extended thinking as a body has it: `{"type": "enabled", "budget_tokens": 1024}`."""
    thinking = request.thinking
    if thinking is None:
        return None
    budget = {} if thinking.budget_tokens is None else {"budget_tokens": thinking.budget_tokens}
    return {"type": thinking.mode, **budget}


def usage_of(given: Any, latency_s: float) -> Usage:
    """The usage of a chat or text completion."""
    if not isinstance(given, dict):
        return Usage(latency=latency_s)
    told = cast("dict[str, Any]", given)
    cached = count_of(inner(told.get("prompt_tokens_details"), "cached_tokens"))
    cost = told.get("cost")
    return Usage(
        input_tokens=count_of(told.get("prompt_tokens")),
        output_tokens=count_of(told.get("completion_tokens")),
        cached_input_tokens=cached if cached is not None else count_of(told.get("prompt_cache_hit_tokens")),
        reasoning_tokens=count_of(inner(told.get("completion_tokens_details"), "reasoning_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and math.isfinite(cost) and cost >= 0 else None,
        latency=latency_s,
    )


def _message(message: ChatMessage) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["content"] = message.content or None
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    if message.name:
        plain["name"] = message.name
    return plain


def _tool(tool: Tool) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": tool.name, "parameters": tool.parameters or {"type": "object", "properties": {}}}
    if tool.description:
        plain["description"] = tool.description
    if tool.strict:
        plain["strict"] = True
    return plain


def _tool_calls(given: Any) -> tuple[ToolCall, ...]:
    if not isinstance(given, list):
        return ()
    return tuple(
        ToolCall(
            id=text_of_parts(inner(call, "id")),
            name=text_of_parts(inner(call, "function", "name")),
            arguments=arguments_text(inner(call, "function", "arguments")),
        )
        for call in given  # pyright: ignore[reportUnknownVariableType]
    )


def arguments_text(given: Any) -> str:
    """Arguments as the model wrote them; some servers decode them before they hand them out."""
    if isinstance(given, str):
        return given
    return "" if given is None else msgspec.json.encode(given).decode()


def _add_call(calls: list[dict[str, Any]], piece: Any) -> None:
    """A piece of a tool call belongs to the call at its index; without one, a piece with an id begins a call."""
    index = inner(piece, "index")
    if not isinstance(index, int):
        index = len(calls) if inner(piece, "id") or not calls else len(calls) - 1
    while len(calls) <= index < 1_000:
        calls.append({"id": "", "function": {"name": "", "arguments": ""}})
    call = calls[index]
    call["id"] = call["id"] or text_of_parts(inner(piece, "id"))
    function = call["function"]
    function["name"] += text_of_parts(inner(piece, "function", "name"))
    function["arguments"] += arguments_text(inner(piece, "function", "arguments"))


def alternatives_of(given: Any) -> tuple[TokenAlternatives, ...]:
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
