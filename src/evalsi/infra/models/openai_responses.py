"""Models behind OpenAI's responses protocol: a list of items goes in, a list of items comes out.

Nothing is left with the provider: every request says `store: false`.
"""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from evalsi.infra.models.endpoint import Unreadable
from evalsi.infra.models.openai import OpenAIProtocol, alternatives_of, arguments_text
from evalsi.infra.models.payload import count_of, inner, text_of_parts, words_of_error
from evalsi.infra.models.streams import StreamedBody, kind_of_error
from evalsi.ports.chat_model import ChatMessage, ChatReply, ChatRequest, TokenAlternatives
from evalsi.schema import ToolCall, Usage

_CUT_REASONS = {"max_output_tokens": "length", "content_filter": "refusal"}
_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


class OpenAIResponsesModel(OpenAIProtocol):
    """Implements `ports.chat_model.ChatModel` over `POST {base_url}/responses`."""

    path = "/responses"
    limit_names = ("max_output_tokens",)

    def body(self, request: ChatRequest, given_up: Mapping[str, str]) -> dict[str, Any]:
        """See `OpenAIProtocol.body`."""
        body: dict[str, Any] = {
            "model": request.model,
            "input": [item for message in request.messages for item in _items(message)],
            "store": False,
        }
        asks_probabilities = bool(request.top_logprobs or request.logprobs)
        options: dict[str, Any] = {
            "max_output_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "reasoning": {"effort": request.effort} if request.effort else None,
            "top_logprobs": request.top_logprobs or None,
            "include": ["message.output_text.logprobs"] if asks_probabilities else None,
        }
        body.update({name: value for name, value in options.items() if value is not None and name not in given_up})
        if request.response_schema is not None and "json_schema" not in given_up:
            wanted = {"type": "json_schema", "name": "answer", "strict": True, "schema": request.response_schema}
            body["text"] = {"format": wanted}
        elif (request.response_schema is not None or request.json_mode) and "json_object" not in given_up:
            body["text"] = {"format": {"type": "json_object"}}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters or {"type": "object", "properties": {}},
                    "strict": tool.strict,
                }
                for tool in request.tools
            ]
        if request.tool_choice:
            named = request.tool_choice not in ("auto", "none", "required")
            body["tool_choice"] = {"type": "function", "name": request.tool_choice} if named else request.tool_choice
        return body

    def reply(self, body: dict[str, Any], latency_s: float) -> ChatReply | None:
        """See `OpenAIProtocol.reply`."""
        output = body.get("output")
        if not isinstance(output, list) or body.get("status") == "failed":
            return None
        texts: list[str] = []
        refusals: list[str] = []
        thoughts: list[str] = []
        calls: list[ToolCall] = []
        probabilities: list[TokenAlternatives] = []
        for item in cast("list[Any]", output):
            match inner(item, "type"):
                case "message":
                    for part in inner(item, "content") or ():
                        refusals.append(text_of_parts(inner(part, "refusal")))
                        texts.append(text_of_parts(inner(part, "text")))
                        probabilities += alternatives_of(inner(part, "logprobs"))
                case "function_call":
                    calls.append(
                        ToolCall(
                            id=text_of_parts(inner(item, "call_id")),
                            name=text_of_parts(inner(item, "name")),
                            arguments=arguments_text(inner(item, "arguments")),
                        )
                    )
                case "reasoning":
                    thoughts.append(text_of_parts(inner(item, "summary")))
                case _:
                    pass
        text, refusal = "".join(texts), "".join(refusals)
        cut = str(inner(body, "incomplete_details", "reason") or "")
        reason = _CUT_REASONS.get(cut, cut) or ("tool_calls" if calls else "stop")
        return ChatReply(
            text=text or refusal,
            tool_calls=tuple(calls),
            reasoning="\n\n".join(filter(None, thoughts)),
            finish_reason="refusal" if refusal and not text else reason,
            usage=_usage(body.get("usage"), latency_s),
            model=text_of_parts(body.get("model")),
            logprobs=tuple(probabilities),
        )

    def take_event(self, streamed: StreamedBody, event: dict[str, Any]) -> None:
        """See `OpenAIProtocol.take_event`. The last event holds the whole body."""
        kind = event.get("type")
        if isinstance(kind, str) and kind.endswith(".delta"):
            streamed.generated()
        if kind not in _LAST_EVENTS:
            return
        response = event.get("response")
        if isinstance(response, dict):
            if kind == "response.failed":
                error = inner(event, "response", "error")
                said = words_of_error(msgspec.json.encode({"error": error}))[0][:200]
                raise Unreadable(f"broke off its reply: {said}", msgspec.json.encode(event), kind=kind_of_error(error))
            streamed.body = cast("dict[str, Any]", response)
            streamed.finished = True


def _items(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}]
    said: list[dict[str, Any]] = []
    if message.content or not message.tool_calls:
        said.append({"role": message.role, "content": message.content})
    for call in message.tool_calls:
        said.append({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
    return said


def _usage(given: Any, latency_s: float) -> Usage:
    return Usage(
        input_tokens=count_of(inner(given, "input_tokens")),
        output_tokens=count_of(inner(given, "output_tokens")),
        cached_input_tokens=count_of(inner(given, "input_tokens_details", "cached_tokens")),
        reasoning_tokens=count_of(inner(given, "output_tokens_details", "reasoning_tokens")),
        latency=latency_s,
    )
