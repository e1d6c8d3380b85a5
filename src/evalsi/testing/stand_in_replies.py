"""What the stand-in model says, in the words of four protocols: as one body, or as the events of a stream.

Chat completions, text completions and responses of OpenAI; messages of Anthropic. Its own module because it is pure: a
question and a reply in, bytes out.
"""

import re
from typing import Any, Literal, TypeAlias

import msgspec

from evalsi.schema import ToolCall

Protocol: TypeAlias = Literal["openai", "completions", "responses", "anthropic"]
PROTOCOLS: dict[bytes, Protocol] = {
    b"/v1/chat/completions": "openai",
    b"/chat/completions": "openai",
    b"/v1/completions": "completions",
    b"/v1/responses": "responses",
    b"/v1/messages": "anthropic",
}
_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
    "tool_calls": "tool_use",
}
_CUT_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_WORD = re.compile(r"\s*\S+\s*$|\s*\S+|\s+")
_CHARACTERS_PER_TOKEN = 4


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it came in."""

    protocol: Protocol
    body: dict[str, Any]
    number: int
    """Counts from 1."""

    @property
    def text(self) -> str:
        """The words of all messages, system included."""
        body = self.body
        if self.protocol == "completions":
            return str(body.get("prompt", ""))
        if self.protocol == "responses":
            items = body.get("input", [])
            return items if isinstance(items, str) else "\n".join(str(item.get("content", "")) for item in items)
        messages = [*body.get("messages", []), {"content": body.get("system", "")}]
        return "\n".join(str(message.get("content", "")) for message in messages)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema the reply is asked to follow, if any."""
        if self.protocol == "anthropic":
            form = self.body.get("tool_choice", {}).get("type") == "tool"
            return next((tool.get("input_schema") for tool in self.body.get("tools", [])), None) if form else None
        if self.protocol == "responses":
            return self.body.get("text", {}).get("format", {}).get("schema")
        wanted: dict[str, Any] = self.body.get("response_format") or {}
        return wanted.get("json_schema", {}).get("schema")

    @property
    def streams(self) -> bool:
        """Whether the reply is to come in pieces."""
        return self.body.get("stream") is True


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What to answer. `usage` is written as given, in the protocol's own words; None counts characters."""

    text: str = ""
    finish_reason: str = "stop"
    """In the words of OpenAI's chat protocol: stop, length, content_filter; translated for the others."""
    refusal: str | None = None
    reasoning: str | None = None
    usage: dict[str, Any] | None = None
    logprobs: list[dict[str, Any]] | None = None
    tool_calls: tuple[ToolCall, ...] = ()


def reply_body(reply: Reply, question: Question) -> dict[str, Any]:
    """The reply as one JSON object."""
    return _BODIES[question.protocol](reply, question)


def reply_events(reply: Reply, question: Question) -> list[bytes]:
    """The reply as the events of a stream, its text word by word; the last one ends it."""
    match question.protocol:
        case "openai":
            events = [*_chat_events(reply, question), "[DONE]"]
        case "completions":
            events = [*_completion_events(reply, question), "[DONE]"]
        case "responses":
            events = _responses_events(reply, question)
        case "anthropic":
            events = _anthropic_events(reply, question)
    return [_event(event) for event in events]


def _event(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return name.encode() + b"data: " + msgspec.json.encode(event) + b"\n\n"


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _counts(reply: Reply, question: Question) -> tuple[int, int]:
    written = len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)
    return len(question.text) // _CHARACTERS_PER_TOKEN, written // _CHARACTERS_PER_TOKEN + 1


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.tool_calls and reply.finish_reason == "stop" else reply.finish_reason


def _openai_usage(reply: Reply, question: Question) -> dict[str, Any]:
    read, written = _counts(reply, question)
    return reply.usage or {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _completion_head(question: Question, kind: str, prefix: str) -> dict[str, Any]:
    return {"id": f"{prefix}-{question.number}", "object": kind, "created": 0, "model": question.body.get("model", "")}


def _chat_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.tool_calls
    ]


def _chat_body(reply: Reply, question: Question) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if reply.refusal or (reply.tool_calls and not reply.text) else reply.text,
        "refusal": reply.refusal,
    }
    if reply.tool_calls:
        message["tool_calls"] = _chat_calls(reply)
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    choice: dict[str, Any] = {"index": 0, "finish_reason": _finish(reply), "message": message}
    if reply.logprobs is not None:
        choice["logprobs"] = {"content": reply.logprobs}
    head = _completion_head(question, "chat.completion", "chatcmpl")
    return {**head, "choices": [choice], "usage": _openai_usage(reply, question)}


def _chat_events(reply: Reply, question: Question) -> list[Any]:
    head = _completion_head(question, "chat.completion.chunk", "chatcmpl")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in _words(reply.reasoning or "")]
    deltas += [{"refusal": word} for word in _words(reply.refusal or "")]
    deltas += [{"content": word} for word in _words("" if reply.refusal else reply.text)]
    for index, call in enumerate(_chat_calls(reply)):
        function = call["function"]
        half = len(function["arguments"]) // 2
        begin = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [begin]})
        for piece in (function["arguments"][:half], function["arguments"][half:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    chunks: list[Any] = []
    for position, delta in enumerate(deltas):
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": None}
        if reply.logprobs is not None and position == len(deltas) - 1:
            choice["logprobs"] = {"content": reply.logprobs}
        chunks.append({**head, "choices": [choice]})
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]})
    if question.body.get("stream_options", {}).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": _openai_usage(reply, question)})
    return chunks


def _completion_body(reply: Reply, question: Question) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "text": reply.text, "finish_reason": reply.finish_reason}
    if reply.logprobs is not None:
        choice["logprobs"] = {
            "tokens": [token["token"] for token in reply.logprobs],
            "token_logprobs": [token["logprob"] for token in reply.logprobs],
            "top_logprobs": [
                {other["token"]: other["logprob"] for other in token.get("top_logprobs", [])}
                for token in reply.logprobs
            ],
        }
    head = _completion_head(question, "text_completion", "cmpl")
    return {**head, "choices": [choice], "usage": _openai_usage(reply, question)}


def _completion_events(reply: Reply, question: Question) -> list[Any]:
    whole = _completion_body(reply, question)
    (choice,) = whole["choices"]
    head = _completion_head(question, "text_completion", "cmpl")
    chunks: list[Any] = [
        {**head, "choices": [{"index": 0, "text": word, "finish_reason": None}]} for word in _words(reply.text)
    ]
    chunks.append({**head, "choices": [{**choice, "text": ""}]})
    if question.body.get("stream_options", {}).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return chunks


def _responses_body(reply: Reply, question: Question) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        output.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": reply.reasoning}]})
    if reply.refusal is not None:
        refusal = {"type": "refusal", "refusal": reply.refusal}
        output.append({"type": "message", "role": "assistant", "content": [refusal]})
    elif reply.text or not reply.tool_calls:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": reply.logprobs or []}
        output.append({"type": "message", "role": "assistant", "content": [part]})
    output += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in reply.tool_calls
    ]
    read, written = _counts(reply, question)
    cut = _CUT_REASONS.get(reply.finish_reason)
    return {
        "id": f"resp_{question.number}",
        "object": "response",
        "instructions": question.body.get("instructions"),
        "model": question.body.get("model", ""),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "output": output,
        "usage": reply.usage or {"input_tokens": read, "output_tokens": written},
    }


def _responses_events(reply: Reply, question: Question) -> list[Any]:
    whole = _responses_body(reply, question)
    started: dict[str, Any] = {**whole, "status": "in_progress", "output": []}
    events: list[Any] = [{"type": "response.created", "response": started}]
    events += [{"type": "response.output_text.delta", "delta": word} for word in _words(reply.text)]
    events += [{"type": "response.function_call_arguments.delta", "delta": call.arguments} for call in reply.tool_calls]
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return events


def _anthropic_blocks(reply: Reply, question: Question) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "x"})
    form = question.schema is not None and reply.text.startswith("{")
    if form:
        name = question.body["tools"][0]["name"]
        blocks.append({"type": "tool_use", "id": "t", "name": name, "input": msgspec.json.decode(reply.text)})
    elif reply.text or reply.refusal or not reply.tool_calls:
        blocks.append({"type": "text", "text": reply.refusal or reply.text})
    for call in reply.tool_calls:
        decoded: Any = msgspec.json.decode(call.arguments) if question.streams is False else {}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": decoded})
    return blocks


def _anthropic_body(reply: Reply, question: Question) -> dict[str, Any]:
    blocks = _anthropic_blocks(reply, question)
    read, written = _counts(reply, question)
    used = any(block["type"] == "tool_use" for block in blocks)
    finish = "tool_calls" if used and reply.finish_reason == "stop" else reply.finish_reason
    return {
        "id": f"msg_{question.number}",
        "type": "message",
        "role": "assistant",
        "model": question.body.get("model", ""),
        "content": blocks,
        "stop_reason": _STOP_REASONS.get(finish, finish),
        "usage": reply.usage or {"input_tokens": read, "output_tokens": written},
    }


def _anthropic_events(reply: Reply, question: Question) -> list[Any]:
    whole = _anthropic_body(reply, question)
    usage: dict[str, Any] = whole["usage"]
    started: dict[str, Any] = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    events: list[Any] = [{"type": "message_start", "message": started}, {"type": "ping"}]
    arguments = {call.id: call.arguments for call in reply.tool_calls}
    for index, block in enumerate(whole["content"]):
        place = {"index": index}
        begin: dict[str, Any]
        match block["type"]:
            case "text":
                begin, kind, name = {"type": "text", "text": ""}, "text_delta", "text"
                pieces = _words(block["text"])
            case "thinking":
                begin, kind, name = {"type": "thinking", "thinking": ""}, "thinking_delta", "thinking"
                pieces = _words(block["thinking"])
            case _:
                begin, kind, name = dict(block), "input_json_delta", "partial_json"
                begin["input"] = {}
                written = arguments.get(block["id"], msgspec.json.encode(block["input"]).decode())
                pieces = [written[: len(written) // 2], written[len(written) // 2 :]]
        events.append({"type": "content_block_start", **place, "content_block": begin})
        events += [{"type": "content_block_delta", **place, "delta": {"type": kind, name: piece}} for piece in pieces]
        events.append({"type": "content_block_stop", **place})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": usage.get("output_tokens", 0)}})
    events.append({"type": "message_stop"})
    return events


_BODIES = {
    "openai": _chat_body,
    "completions": _completion_body,
    "responses": _responses_body,
    "anthropic": _anthropic_body,
}
