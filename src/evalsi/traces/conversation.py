"""The messages in an attribute, whichever library wrote it, as the messages of our records.

`core.chat` knows the public formats of conversations. Here stands what only tracing adds: indexed attributes put back
together, wrappers around each message, event lists, requests and replies kept whole. Reasoning is not what a model said:
it stays among the raw attributes and is no part of a message's text.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from evalsi.core.chat import messages_of
from evalsi.schema import Message
from evalsi.traces.json_in_text import decoded, may_escape_surrogates

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "developer": "system",
    "function": "tool",
    "agent": "assistant",
}
_WRAPPERS = ("message", "tool_call", "message_content", "document")
_UNSAID = ("reasoning", "thinking", "redacted_thinking", "compaction")
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_LANGCHAIN = ("human", "ai", "system", "tool", "function", "chat")
_MAX_NESTING = 8
_JSON_OPENINGS = ("[{", '{"role"')

Json = dict[str, Any]


class _Piece(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A piece of text. Where it is there twice, `text` counts."""

    type: Literal["text"]
    content: str | UnsetType = UNSET
    text: str | UnsetType = UNSET


class _Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A message of nothing but text. Where what it says is there twice, `content` counts."""

    role: Literal["user", "assistant", "system"]
    parts: list[_Piece] | str | UnsetType = UNSET
    content: list[_Piece] | str | UnsetType = UNSET
    finish_reason: str | UnsetType | None = UNSET


_TURNS = msgspec.json.Decoder(list[_Turn])


def conversation_of(value: Any, role: str) -> list[Message]:
    """The messages that `value` holds, oldest first; none when it holds nothing readable.

    Args:
        value: A JSON value, or text that may spell one: messages, one message, a request or reply of a known API.
        role: Who speaks where the value does not say: plain text is one message of this role.
    """
    turns = plain_turns(value)
    if turns is not None:
        return turns
    value = decoded(value)
    items = [_plain(item, role) for item in _items(value, role, 0)]
    messages: list[Message] = []
    for item in items:
        if item is not None:
            messages += messages_of([item]) or []
    return [message for message in messages if message.content or message.tool_calls or message.role == "tool"]


def plain_turns(value: Any) -> list[Message] | None:
    """The messages of a list of plain turns of text, or of JSON text that spells one, which is what most are; None for
    anything else.

    Gives what the long way gives, in a tenth of its time.
    """
    try:
        if isinstance(value, str):
            if not value.startswith("[{") or ("\\" in value and may_escape_surrogates(value)):
                return None
            turns = _TURNS.decode(value)
        elif isinstance(value, list):
            turns = msgspec.convert(value, list[_Turn])
        else:
            return None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    messages: list[Message] = []
    for turn in turns:
        text = turn.parts if turn.content is UNSET else turn.content
        if isinstance(text, list):
            texts = [piece.content if piece.text is UNSET else piece.text for piece in text]
            if UNSET in texts:
                return None
            text = "\n".join(filter(None, cast("list[str]", texts)))
        elif text is UNSET or text.startswith(_JSON_OPENINGS):
            return None
        if text:
            messages.append(Message(role=turn.role, content=text))
    return messages if turns else None


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list that attributes `prefix.0.…`, `prefix.1.…` spell, in the order of the numbers; a gap leaves nothing behind.

    Sixty messages are sixty, not forty-eight; 10 comes after 9.
    """
    start = len(prefix) + 1
    tree: Json = {}
    dotted = prefix + "."
    for key, value in attributes.items():
        if key.startswith(dotted):
            _insert(tree, key[start:].split("."), value)
    found = _lists(tree)
    return cast("list[Any]", found) if isinstance(found, list) else []


def has_gap(attributes: Iterable[str], prefix: str) -> bool:
    """Whether indexed attributes lack a number below their highest, as they do when a limit left some out.

    0 may be lacking: it is kept free for a system message by libraries that then have none.
    """
    start = len(prefix) + 1
    dotted = prefix + "."
    heads = {key[start:].split(".", 1)[0] for key in attributes if key.startswith(dotted)}
    numbers = {int(head) for head in heads if head.isascii() and head.isdigit() and len(head) < 9}
    return bool(numbers) and len(numbers | {0}) != max(numbers) + 1


def _insert(tree: Json, path: list[str], value: Any) -> None:
    node = tree
    for part in path[:-1]:
        inner = node.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        node = cast("Json", inner)
    node.setdefault(path[-1], value)


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    fields = cast("Json", node)
    if fields and all(key.isascii() and key.isdigit() and len(key) < 9 for key in fields):
        return [_lists(fields[key]) for key in sorted(fields, key=int)]
    return {key: _lists(inner) for key, inner in fields.items()}


def _items(value: Any, role: str, depth: int) -> list[Json]:
    """The messages as objects, whatever they are wrapped in."""
    if depth > _MAX_NESTING:
        return []
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        return [item for inner in cast("list[Any]", value) for item in _items(decoded(inner), role, depth + 1)]
    if not isinstance(value, dict):
        return []
    fields = cast("Json", value)
    if len(fields) == 1 and (wrapper := next(iter(fields))) in _WRAPPERS:
        return _items(decoded(fields[wrapper]), role, depth + 1)
    if fields.get("event.name") in _EVENTS:
        return [_of_event(fields)]
    for key in ("messages", "chat_history"):
        if isinstance(fields.get(key), list | str):
            system: Any = fields.get("system", fields.get("instructions"))
            return [*_items(system, "system", depth + 1), *_items(decoded(fields[key]), role, depth + 1)]
    for key in ("choices", "generations", "candidates"):  # several answers to one question: the first is the answer
        if isinstance(fields.get(key), list) and fields[key]:
            return _items(fields[key][0], "assistant", depth + 1)
    if isinstance(fields.get("output"), list) and "role" not in fields:  # OpenAI's Responses
        return _items(fields["output"], "assistant", depth + 1)
    if isinstance(fields.get("kwargs"), dict) and "lc" in fields:  # LangChain's constructors
        return _items(_of_langchain(fields), role, depth + 1)
    if fields.get("type") in _LANGCHAIN and isinstance(fields.get("data"), dict):  # LangChain's plain form
        return _items({"role": fields["type"], **cast("Json", fields["data"])}, role, depth + 1)
    if isinstance(fields.get("message"), dict) and "role" not in fields:
        return _items(fields["message"], role, depth + 1)
    return [fields if "role" in fields or "type" in fields else {"role": role, **fields}]


def _of_event(fields: Json) -> Json:
    """One message of an event list: attributes of the message beside the event's name, or a choice around it."""
    inner: Any = decoded(fields.get("message", fields.get("gen_ai.event.content")))
    body = cast("Json", inner) if isinstance(inner, dict) else {"content": inner} if isinstance(inner, str) else fields
    within: Any = body.get("message")
    if isinstance(within, dict):
        body = cast("Json", within)
    role = body.get("role") or _EVENTS[fields["event.name"]]
    return {"role": role, **{key: value for key, value in body.items() if key != "role"}}


def _of_langchain(fields: Json) -> Json:
    names: Any = fields.get("id")
    name = str(cast("list[Any]", names)[-1]) if isinstance(names, list) and names else ""
    kinds = {"HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool"}
    return {"role": kinds.get(name.removesuffix("Chunk"), "user"), **fields["kwargs"]}


def _plain(item: Json, role: str) -> Json | None:
    """A message in a form that `core.chat` reads; None for what nobody said."""
    kind = item.get("type")
    if kind in _UNSAID:
        return None
    if kind in ("function_call", "function_call_output") and "call_id" in item:
        return item
    if "role" not in item and kind in ("text", "output_text", "input_text", "tool_use", "tool_call", "tool-call"):
        item = {"role": role, "content": [item]}
    spoken: Any = item.get("role") or (kind if isinstance(kind, str) else role)
    plain: Json = {"role": _ROLES.get(str(spoken), str(spoken))}
    body: Any = item.get("content")
    if body is None:
        body = item.get("parts", item.get("contents", item.get("text")))
    if isinstance(body, str) and body.startswith(_JSON_OPENINGS):
        body = decoded(body)
    plain["content"] = [_block(block) for block in _blocks(body)] if isinstance(body, list) else body
    calls: Any = decoded(item.get("tool_calls", item.get("toolCalls")))
    if isinstance(calls, list):
        plain["tool_calls"] = [_call(call) for call in _unwrapped(cast("list[Any]", calls))]
    called: Any = item.get("function_call")
    if isinstance(called, dict):
        plain.setdefault("tool_calls", []).append({"id": "", "function": called})
    for key, other in (("tool_call_id", "id"), ("name", "name")):
        named: Any = item.get(key) or (item.get(other) if plain["role"] == "tool" else None)
        if isinstance(named, str):
            plain[key] = named
    return plain


def _blocks(body: Any) -> list[Any]:
    blocks = _unwrapped(cast("list[Any]", body))
    return [block for block in blocks if not (isinstance(block, dict) and cast("Json", block).get("type") in _UNSAID)]


def _unwrapped(items: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        fields = cast("Json", item) if isinstance(item, dict) else {}
        only = next(iter(fields)) if len(fields) == 1 else ""
        found.append(fields[only] if only in _WRAPPERS else item)
    return found


def _block(block: Any) -> Any:
    """A part of a message; the names of other libraries for calls and results become those of `core.chat`."""
    if not isinstance(block, dict):
        return block
    fields = cast("Json", block)
    match fields.get("type"):
        case "tool-call":
            return {"type": "tool_call", **_call(fields)}
        case "tool-result":
            result: Any = fields.get("output", fields.get("result"))
            wrapped = cast("Json", result) if isinstance(result, dict) else {}
            plain = wrapped["value"] if set(wrapped) == {"type", "value"} else cast("Any", result)
            return {"type": "tool_call_response", "id": fields.get("toolCallId"), "response": plain}
        case None if isinstance(fields.get("text"), str):
            return {"type": "text", "text": fields["text"]}
        case _:
            return fields


def _call(call: Any) -> Json:
    """A tool call as {id, name, arguments}; `function` may hold the latter two, or its parts be flat keys."""
    if not isinstance(call, dict):
        return {"name": str(call)}
    fields = cast("Json", call)
    inner: Any = fields.get("function")
    function = cast("Json", inner) if isinstance(inner, dict) else fields
    arguments: Any = next(
        (function[key] for key in ("arguments", "args", "input") if function.get(key) is not None), None
    )
    return {
        "id": fields.get("id") or fields.get("toolCallId") or fields.get("tool_call_id") or "",
        "name": function.get("name") or fields.get("toolName") or "",
        "arguments": arguments,
    }
