"""JSON that senders put into text attributes, decoded as far as it is a structure and no further.

MLflow encodes every value, some libraries encode twice, and a limit on attribute length cuts JSON in the middle: what
does not decode stays the text it was.
"""

from typing import Any

import msgspec

from evalsi.core.lone_surrogates import without_surrogates

_MAX_LAYERS = 3
_MAX_DEPTH = 60
_OPENINGS = ("{", "[", '"')


def decoded(value: Any) -> Any:
    """`value`, or what its text spells: a structure, or the text within a JSON string. "12" and "true" stay text."""
    layers = 0
    while isinstance(value, str) and value.lstrip().startswith(_OPENINGS) and layers < _MAX_LAYERS:
        inner = _decode(value)
        if inner is msgspec.UNSET:
            break
        value, layers = inner, layers + 1
    return value


def is_cut_json(value: Any) -> bool:
    """Whether text begins as a JSON structure and is none: most likely cut by a limit."""
    if not isinstance(value, str) or value.endswith(("}", "]")):
        return False
    text = value.lstrip()
    return text.startswith(("{", "[{", '["')) and _decode(text) is msgspec.UNSET


def _decode(text: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return msgspec.UNSET
    # What opens no more often than that is no deeper either, and to count is quick.
    if text.count("{") + text.count("[") > _MAX_DEPTH and _deeper_than(value, _MAX_DEPTH):
        return msgspec.UNSET
    if "\\" in text and may_escape_surrogates(text):
        value, _ = without_surrogates(value)
    return value


def may_escape_surrogates(text: str) -> bool:
    """Whether JSON text may spell halves of surrogate pairs. Most has no escape at all, of which this need not be asked."""
    return "\\ud" in text or "\\uD" in text


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
        ]
        if not level:
            return False
    return True
