"""The error of a document that does not fit the schema, and the sentences it is made of.

Written by hand. Its own module because readers and checks both speak through it and must sound alike: what is wrong, at
which path, and the nearest valid name.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from evalsi.schema.field import Field, fields_of

DEPTH_LIMIT = 100
"""Levels of lists and objects a document may have; deeper ones are refused rather than risking the stack."""

Path: TypeAlias = "str | tuple[Path, str | int]"
"""A place in a document: the name of the whole, or a place above with a key or index. Turned into text only in errors,
because most documents have none.
"""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class SchemaError(ValueError):
    """A document does not fit the schema.

    `path` is the place as a person writes it, `spec.evaluators[0].ref`, empty for the whole document; `problem` is the
    sentence about it; `nearest` is the valid name closest to a wrong one, or empty.
    """

    def __init__(self, path: Path, problem: str, *, nearest: str = "") -> None:
        super().__init__(problem)
        self.path = path_text(path)
        self.problem = problem
        self.nearest = nearest


def path_text(path: Path) -> str:
    """The place as a person writes it: `spec.metadata["a b"].list[0]`."""
    keys: list[str | int] = []
    while not isinstance(path, str):
        path, key = path
        keys.append(key)
    text = path
    for key in reversed(keys):
        if isinstance(key, int):
            text += f"[{key}]"
        elif not _PLAIN_KEY.match(key):
            text += f"[{key!r}]"
        else:
            text += f".{key}" if text else key
    return text


def place(path: Path) -> str:
    """The place as the subject of a sentence."""
    return path_text(path) or "the document"


def unknown_field(path: Path, key: object, fields: tuple[Field, ...]) -> SchemaError:
    here = (path, str(key))
    camel = any(letter.isupper() for letter in str(key))
    names = {_folded(field.name): field.json_name if camel else field.name for field in fields}
    near = difflib.get_close_matches(_folded(str(key)), names, n=1)
    if near:
        nearest = names[near[0]]
        return SchemaError(here, f"unknown field {path_text(here)}; did you mean {nearest}?", nearest=nearest)
    inside = [
        field.json_name if camel else field.name
        for field in fields
        if (field.kind, field.shape) == ("message", "optional")
        and any(_folded(each.name) == _folded(str(key)) for each in fields_of(field.type_name))
    ]
    if len(inside) == 1:
        at = path_text((path, inside[0]))
        return SchemaError(here, f"unknown field {path_text(here)}; it belongs in {at}")
    known = ", ".join(names.values()) or "no fields"
    return SchemaError(here, f"unknown field {path_text(here)}; known here: {known}")


def wrong_type(path: Path, wanted: str, value: Any, *, advice: str = "") -> SchemaError:
    return SchemaError(path, f"{place(path)} must be {wanted}, not {_described(value)}{advice}")


def nested_too_deep(path: Path) -> SchemaError:
    return SchemaError(path, f"{place(path)} is nested deeper than {DEPTH_LIMIT} levels")


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else f"the text {value[:37]!r}..."
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "a list"
    return f"a Python {type(cast('object', value)).__name__}"
