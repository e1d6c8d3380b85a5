"""How deep user data is nested. A module of its own because both the quick look at a message and the thorough one ask."""

from typing import Any, cast

from evalsi.schema.schema_error import DEPTH_LIMIT


def is_shallow(value: Any, depth: int = DEPTH_LIMIT) -> bool:
    """Whether lists and objects in `value` are at most `depth` levels deep."""
    if depth == 0:
        return False
    items: list[Any] = list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else value
    return not any(item.__class__ in (dict, list) and not is_shallow(item, depth - 1) for item in items)
