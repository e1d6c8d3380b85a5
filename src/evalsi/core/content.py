"""What a record says, as text: the one reading of `Content` that every evaluator and prompt shares."""

import json
from typing import Any

import msgspec

from evalsi.schema import Content, Message


def text_of(content: Content | None) -> str:
    """The text that an evaluator or a judge reads; "" for absent content.

    Text is itself; of messages it is the last message with text; JSON strings are themselves, any other JSON value is
    written as JSON with its characters kept (`true`, `null`, `é`), keys in their own order.
    """
    if content is None:
        return ""
    if content.text is not None:
        return content.text
    if content.messages is not None:
        return _last_text(content.messages.messages)
    if content.json is not msgspec.UNSET:
        return json_text(content.json)
    if content.row is not None:
        return json_text(msgspec.to_builtins(content.row))
    if content.media is not None:
        return content.media.uri
    return ""


def json_text(value: Any) -> str:
    """A JSON value for reading; a string is itself."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def has_text(content: Content | None) -> bool:
    """Whether there is anything to read."""
    return bool(text_of(content).strip())


def _last_text(messages: list[Message]) -> str:
    return next((message.content for message in reversed(messages) if message.content), "")
