"""Reading answers whose shape cannot be trusted: servers leave fields out, send null for them, or send another type.

Nothing here raises: what is not there in the expected form is None or "".
"""

from typing import Any, cast

import msgspec


def inner(value: Any, *path: str | int) -> Any:
    """What stands at a path of keys and list positions, else None."""
    # Called a dozen times per reply: `cast` alone would be a third of its cost.
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        else:
            return None
    return value  # pyright: ignore[reportUnknownVariableType]


def text_of_parts(value: Any) -> str:
    """A text, or the texts of a list of parts put together."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(text_of_parts(inner(part, "text")) for part in cast("list[Any]", value))
    return ""


def count_of(value: Any) -> int | None:
    """A token count; None for what is no count."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**53:
        return None
    return int(value)


def words_of_error(content: bytes) -> tuple[str, str, str]:
    """Message, code and blamed parameter of an error body, in any of the usual forms; the text itself as a last resort."""
    try:
        body: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return " ".join(content.decode(errors="replace").split()), "", ""
    error = next((found for name in ("error", "detail", "message") if (found := inner(body, name))), body)
    if isinstance(error, str):
        return error, "", ""
    message = inner(error, "message") or inner(error, "msg") or inner(error, 0, "msg")
    said = message if isinstance(message, str) else msgspec.json.encode(error).decode()
    return said, str(inner(error, "code") or inner(error, "type") or ""), str(inner(error, "param") or "")
