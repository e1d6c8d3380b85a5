"""Checks what a decoder cannot see in a message: alternatives and depth. Written by hand.

A group of alternatives (a `oneof`) is several optional fields in Python, so two could be set. Faces check once, with
`check_message`; inside, code relies on it.
"""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec

from evalsi.schema.field import MESSAGE_NAMES, Field, fields_of
from evalsi.schema.generated.quick_checks import QUICK_CHECKS
from evalsi.schema.nesting import is_shallow
from evalsi.schema.schema_error import Path, SchemaError, nested_too_deep, place

Check = Callable[[Any, Path], None]
"""Raises SchemaError when the message at a path breaks a rule."""


def check_message(message: msgspec.Struct, *, at: Path = "") -> None:
    """Checks what a decoder cannot see: alternatives and depth.

    Raises SchemaError where two of a group of alternatives are set, or none in a message that consists of nothing
    else, such as Content, and where user data is nested deeper than `DEPTH_LIMIT`.
    """
    quick = QUICK_CHECKS.get(type(message).__name__)
    if quick is None or quick(message):
        return
    check = message_check(type(message).__name__)
    assert check is not None, message
    check(message, at)


def choice_groups(fields: tuple[Field, ...]) -> list[tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    for field in fields:
        if field.oneof:
            names.setdefault(field.oneof, []).append(field.name)
    return [tuple(group) for group in names.values()]


def check_group(given: list[str], group: tuple[str, ...], path: Path, *, required: bool) -> None:
    if len(given) == 1 or not (given or required):
        return
    if given:
        raise SchemaError(path, f"{place(path)} sets {' and '.join(given)}; set only one of {', '.join(group)}")
    raise SchemaError(path, f"{place(path)} sets none of {', '.join(group)}; set exactly one")


class _Group:
    """A group of alternatives, ready to be counted fast: it is looked at in every content of every record."""

    def __init__(self, names: tuple[str, ...], fields: tuple[Field, ...]) -> None:
        kinds = {field.name: field.kind for field in fields}
        self.names = names
        self._plain = tuple(name for name in names if kinds[name] != "value")
        self._values = tuple(name for name in names if kinds[name] == "value")
        assert len(self._plain) > 1, "attrgetter gives a tuple only for several names"
        self._of_plain = attrgetter(*self._plain)

    def count(self, message: Any) -> int:
        """How many of the alternatives are set."""
        given = len(self._plain) - self._of_plain(message).count(None)
        for name in self._values:
            given += getattr(message, name) is not msgspec.UNSET
        return given

    def given(self, message: Any) -> list[str]:
        """Names of the alternatives that are set."""
        plain = [name for name in self._plain if getattr(message, name) is not None]
        return plain + [name for name in self._values if getattr(message, name) is not msgspec.UNSET]


@cache
def message_check(type_name: str) -> Check | None:
    """Check of one message and all below; None when a decoder sees all there is to see."""
    if type_name not in _checked_types():
        return None
    fields = fields_of(type_name)
    groups = [_Group(group, fields) for group in choice_groups(fields)]
    only_choice = is_only_choice(fields)
    free = [field for field in fields if field.kind in ("value", "object")]
    below = [field for field in fields if field.kind == "message" and field.type_name in _checked_types()]

    def check(message: Any, path: Path) -> None:
        for group in groups:
            given = group.count(message)
            if given != 1 and (given or only_choice):
                check_group(group.given(message), group.names, path, required=only_choice)
        for field in free:
            value = getattr(message, field.name)
            if value is not msgspec.UNSET and type(value) in (dict, list) and not is_shallow(value):
                raise nested_too_deep((path, field.name))
        for field in below:
            value = getattr(message, field.name)
            if not value:
                continue
            inner = message_check(field.type_name)
            assert inner is not None, field
            here = (path, field.name)
            if field.shape == "list":
                for index, item in enumerate(value):
                    inner(item, (here, index))
            elif field.shape == "map":
                for key, item in value.items():
                    inner(item, (here, key))
            else:
                inner(value, here)

    return check


@cache
def _checked_types() -> frozenset[str]:
    """Names of the messages that hold alternatives or free values, themselves or below."""
    tables = {name: fields_of(name) for name in MESSAGE_NAMES}
    found = {
        name
        for name, fields in tables.items()
        if any(field.oneof or field.kind in ("value", "object") for field in fields)
    }
    grown = True
    while grown:
        more = {name for name, fields in tables.items() if any(field.type_name in found for field in fields)} - found
        found |= more
        grown = bool(more)
    return frozenset(found)


def is_only_choice(fields: tuple[Field, ...]) -> bool:
    """True for a message that is nothing but one group of alternatives: it has to say something."""
    return len({field.oneof for field in fields}) == 1 and fields[0].oneof != ""
