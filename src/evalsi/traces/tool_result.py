"""What a tool gave, out of the wrapping that its framework puts around it: LangChain's messages, LlamaIndex's outputs, MCP's blocks.

Its own module because the wrappings are no conversations: an evaluator compares the result with what the tool returned,
whichever framework ran it. A result that is wrapped in nothing known stays as it is.
"""

from typing import Any, cast

import msgspec

from evalsi.traces.json_in_text import decoded

_LLAMA_INDEX = {"tool_name", "raw_output", "is_error"}


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """A result without its wrapping, and what the wrapping told."""

    value: Any
    call_id: str = ""
    is_error: bool = False


def unwrapped_result(written: Any) -> ToolResult:
    """The result in a value of an attribute, which may be JSON in text."""
    value = decoded(written)
    if isinstance(value, list):
        text = _text_of_blocks(cast("list[Any]", value))
        return ToolResult(value if text is None else text)
    if not isinstance(value, dict):
        return ToolResult(value)
    fields = cast("dict[str, Any]", value)
    message = _message_of(fields)
    if message is not None:
        call_id: Any = message.get("tool_call_id")
        inner = unwrapped_result(message.get("content"))
        return ToolResult(inner.value, call_id if isinstance(call_id, str) else "", message.get("status") == "error")
    if fields.keys() >= _LLAMA_INDEX:
        text = _text_of_blocks(fields["blocks"]) if isinstance(fields.get("blocks"), list) else None
        failed = fields["is_error"] is True
        return ToolResult(text if failed and text is not None else fields["raw_output"], is_error=failed)
    if isinstance(fields.get("content"), list) and isinstance(fields.get("isError"), bool):  # MCP's
        text = _text_of_blocks(fields["content"])
        return ToolResult(value if text is None else text, is_error=fields["isError"])
    return ToolResult(fields)


def _message_of(fields: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a message from a tool, in any of the forms that LangChain writes; None for anything else."""
    inner: Any = None
    if fields.get("lc") == 1:
        inner = fields.get("kwargs")
    elif fields.get("type") == "tool" and isinstance(fields.get("data"), dict):
        inner = fields["data"]
    elif fields.get("type") == "tool" and "tool_call_id" in fields:
        inner = fields
    message = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    return message if "tool_call_id" in message and "content" in message else None


def _text_of_blocks(blocks: list[Any]) -> str | None:
    """The text of a list of nothing but blocks of text; None of any other list."""
    texts: list[str] = []
    for block in blocks:
        fields = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
        text: Any = fields.get("text")
        if fields.get("type", fields.get("block_type", "text")) != "text" or not isinstance(text, str):
            return None
        texts.append(text)
    return "\n".join(texts) if texts else None
