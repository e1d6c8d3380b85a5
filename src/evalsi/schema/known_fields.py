"""What of a JSON document this version knows, for readers of what a newer version wrote. Written by hand.

Its own module because only those who read answers may leave something out: what is asked of us is read whole or refused.
What always holds: a field that is known is passed on as it is, so that a wrong value in it is still an error.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

import evalsi.schema as types
from evalsi.schema.field import Field, fields_of
from evalsi.schema.schema_enum import SchemaEnum

_UNKNOWN = object()
_Filter = Callable[[Any], Any]


def known_fields(value: Any, message: str) -> Any:
    """The value without the fields, at any depth, that `message` does not have, and without unknown members of enums."""
    if not isinstance(value, Mapping):
        return value
    filters = _filters_of(message)
    found: dict[Any, Any] = {}
    for key, item in cast("Mapping[Any, Any]", value).items():
        if key in filters:
            kept = filters[key](item)
            if kept is not _UNKNOWN:
                found[key] = kept
    return found


@cache
def _filters_of(message: str) -> dict[str, _Filter]:
    filters: dict[str, _Filter] = {}
    for field in fields_of(message):
        names = {field.name, field.json_name}
        if field.measured:
            names |= {f"{field.name}_ms", f"{field.json_name}Ms"}
        filters |= dict.fromkeys(names, _filter_of(field))
    return filters


def _filter_of(field: Field) -> _Filter:
    if field.kind == "message":
        one: _Filter = lambda value: known_fields(value, field.type_name)  # noqa: E731 - one of three of a kind
    elif field.kind == "enum":
        kind: type[SchemaEnum] = getattr(types, field.type_name)
        one = lambda value: value if _is_known(kind, value) else _UNKNOWN  # noqa: E731
    else:
        return lambda value: value
    if field.shape == "list":
        return lambda value: _known_items(value, one) if isinstance(value, list) else value
    if field.shape == "map":
        return lambda value: _known_entries(value, one) if isinstance(value, Mapping) else value
    return one


def _known_items(values: Any, one: _Filter) -> list[Any]:
    return [kept for value in values if (kept := one(value)) is not _UNKNOWN]


def _known_entries(values: Any, one: _Filter) -> dict[Any, Any]:
    return {key: kept for key, value in values.items() if (kept := one(value)) is not _UNKNOWN}


def _is_known(kind: type[SchemaEnum], value: Any) -> bool:
    if isinstance(value, int):
        return any(member.number == value for member in kind)
    if not isinstance(value, str):
        return True  # of the wrong type, which its reader says
    try:
        kind(value)
    except ValueError:
        return False
    return True
