"""Reads a document and names every mistake in it, where the plain reader stops at the first. Written by hand.

Its own module because it pays for people's files, which are small and often wrong, and not for data. Values are read by
the same functions as everywhere else, so the sentences are the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

import evalsi.schema as types
from evalsi.schema.field import Field, fields_of
from evalsi.schema.json_reader import BARE, value_reader
from evalsi.schema.message_check import check_group, choice_groups, is_only_choice
from evalsi.schema.schema_error import (
    DEPTH_LIMIT,
    Path,
    SchemaError,
    nested_too_deep,
    path_text,
    unknown_field,
    wrong_type,
)

MOST_PROBLEMS = 200
"""Mistakes after which no more are looked for: the text is then something else altogether."""

StructT = TypeVar("StructT", bound=msgspec.Struct)


def read_thoroughly(value: Any, kind: type[StructT], *, at: str = "") -> tuple[StructT, list[SchemaError]]:
    """What could be read of `value`, and every mistake in it (at most about `MOST_PROBLEMS`) in the document's order.

    Fields that are wrong keep their defaults in the message, so it is only to be used when there is no mistake, or to
    look for further ones.
    """
    problems: list[SchemaError] = []
    found = _message(value, kind.__name__, at, problems, DEPTH_LIMIT)
    return cast("StructT", found if found is not None else kind()), problems


def _message(value: Any, name: str, path: Path, problems: list[SchemaError], depth: int) -> Any:
    if name in BARE and isinstance(value, str):
        return getattr(types, name)(**{BARE[name]: value})
    if not isinstance(value, Mapping):
        problems.append(wrong_type(path, f"an object ({name})", value))
        return None
    if depth == 0:
        problems.append(nested_too_deep(path))
        return None
    fields = fields_of(name)
    by_spelling = {spelling: field for field in fields for spelling in (field.name, field.json_name)}
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for key, item in cast("Mapping[Any, Any]", value).items():
        if len(problems) >= MOST_PROBLEMS:
            break
        field = by_spelling.get(key)
        if field is None:
            problems.append(unknown_field(path, key, fields))
        elif field.name in seen:
            here = (path, key)
            problems.append(SchemaError(here, f"{path_text(here)} is given twice, in two spellings"))
        else:
            seen.add(field.name)
            if item is not None or field.kind == "value":
                _put(found, field, item, (path, key), problems, depth - 1)
    for group in choice_groups(fields):
        try:
            check_group([one for one in group if one in seen], group, path, required=is_only_choice(fields))
        except SchemaError as error:
            problems.append(error)
    return getattr(types, name)(**found)


def _put(found: dict[str, Any], field: Field, value: Any, path: Path, problems: list[SchemaError], depth: int) -> None:
    if field.shape == "list":
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            problems.append(wrong_type(path, "a list", value))
            return
        items = [
            _item(field, one, (path, place), problems, depth)
            for place, one in enumerate(cast("Sequence[Any]", value))
            if len(problems) < MOST_PROBLEMS
        ]
        found[field.name] = [item for item, right in items if right]
    elif field.shape == "map":
        if not isinstance(value, Mapping):
            problems.append(wrong_type(path, "an object", value))
            return
        entries = {
            str(key): _item(field, one, (path, str(key)), problems, depth)
            for key, one in cast("Mapping[Any, Any]", value).items()
        }
        found[field.name] = {key: item for key, (item, right) in entries.items() if right}
    else:
        item, right = _item(field, value, path, problems, depth)
        if right:
            found[field.name] = item


def _item(field: Field, value: Any, path: Path, problems: list[SchemaError], depth: int) -> tuple[Any, bool]:
    if field.kind == "message":
        found = _message(value, field.type_name, path, problems, depth)
        return found, found is not None
    try:
        return value_reader(field)(value, path), True
    except SchemaError as error:
        problems.append(error)
        return None, False
