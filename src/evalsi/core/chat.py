"""Conversations as people have them on disk: OpenAI chat and Responses items, Anthropic blocks, OpenTelemetry parts.

All become the same messages: tool calls on the assistant's message, each tool result a message of its own with role
"tool", whatever role carried it.
"""

import json
from typing import Any, cast

from evalsi.schema import Message, ToolCall

_TEXT_TYPES = ("text", "input_text", "output_text")
_ITEM_TYPES = ("function_call", "function_call_output")


def messages_of(value: Any) -> list[Message] | None:
    """The messages that `value` spells, oldest first; None when it is no conversation.

    A conversation is a list, not empty, of which every item is an object with a role (text), or one of the Responses
    items `function_call` and `function_call_output`; or one such object alone.
    """
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not items or not all(_is_message(item) for item in items):
        return None
    messages: list[Message] = []
    for item in items:
        messages += _messages_of_item(item)
    return messages


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    fields = cast("dict[str, Any]", item)
    if fields.get("type") in _ITEM_TYPES:
        return "call_id" in fields
    return isinstance(fields.get("role"), str) and not fields.keys().isdisjoint(("content", "parts", "tool_calls"))


def _messages_of_item(item: dict[str, Any]) -> list[Message]:
    match item.get("type"):
        case "function_call":
            call = ToolCall(
                id=_text(item.get("call_id")), name=_text(item.get("name")), arguments=_json(item.get("arguments"))
            )
            return [Message(role="assistant", tool_calls=[call])]
        case "function_call_output":
            return [Message(role="tool", tool_call_id=_text(item.get("call_id")), content=_json(item.get("output")))]
        case _:
            return _messages_of_turn(item)


def _messages_of_turn(turn: dict[str, Any]) -> list[Message]:
    body = turn["parts"] if "parts" in turn and turn.get("content") is None else turn.get("content")
    blocks = cast("list[Any]", body) if isinstance(body, list) else [body]
    texts: list[str] = []
    calls = [_call(call) for call in _objects(turn.get("tool_calls"))]
    results: list[Message] = []
    for block in blocks:
        match block:
            case None:
                pass
            case {"type": "tool_use" | "tool_call"}:
                calls.append(_call(cast("dict[str, Any]", block)))
            case {"type": "tool_result" | "tool_call_response"}:
                results.append(_result(cast("dict[str, Any]", block)))
            case _:
                texts.append(_block_text(block))
    role = turn["role"]
    text = "\n".join(filter(None, texts))
    if results and not text and not calls:
        return results
    said = Message(
        role=role,
        content=text,
        tool_calls=calls,
        tool_call_id=_text(turn.get("tool_call_id")),
        name=_text(turn.get("name")),
    )
    return [*results, said]


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, and none of anything else."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _block_text(block: Any) -> str:
    """Text of a block; a block that is no text (an image, a thought) is its JSON, so that nothing is lost unseen."""
    if isinstance(block, dict):
        fields = cast("dict[str, Any]", block)
        if fields.get("type", "text") in _TEXT_TYPES:
            text = fields.get("text", fields.get("content"))
            if isinstance(text, str):
                return text
    return _json(block)


def _call(call: dict[str, Any]) -> ToolCall:
    """OpenAI's {id, function: {name, arguments}}, Anthropic's {id, name, input}, or our own {id, name, arguments}."""
    function = call.get("function")
    inner = cast("dict[str, Any]", function) if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("input"))
    return ToolCall(id=_text(call.get("id")), name=_text(inner.get("name")), arguments=_json(arguments))


def _result(block: dict[str, Any]) -> Message:
    content = block.get("content", block.get("response", block.get("result")))
    blocks = cast("list[Any]", content) if isinstance(content, list) else [content]
    text = "\n".join(_block_text(inner) for inner in blocks) if isinstance(content, list) else _json(content)
    return Message(
        role="tool", tool_call_id=_text(block.get("tool_use_id", block.get("id"))), content=text if blocks else ""
    )


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
