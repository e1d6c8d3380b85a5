"""What a person wrote, next to what the schema makes of it: spellings of paths, and values without quotes.

Its own module because three steps need it: the reader of places, messages about text that YAML took for something else,
and values that came out of the environment as text.
"""

import re
from collections.abc import Callable
from typing import Any, cast

from evalsi.documents.placed_tree import PlacedTree
from evalsi.schema.field import fields_of
from evalsi.schema.schema_error import SchemaError

__all__ = ["as_written", "first_spelling", "value_at", "worded"]

_STEP = re.compile(r"[^.\[\]]+")


def worded(tree: PlacedTree, mistake: SchemaError) -> str:
    """The sentence about a mistake, with the value as it was written where YAML read it as something else."""
    spot = tree.spots.get(mistake.path)
    if spot is None or not spot.written or " must be text, not " not in mistake.problem:
        return mistake.problem
    written = spot.written
    subject = "labels must be text: " if mistake.path.startswith("metadata.labels") else ""
    read = mistake.problem.partition(" must be text, not ")[2].partition(";")[0]
    if read == written:
        return f'{subject}{mistake.path} must be text, not {written}; put it in quotes: "{written}"'
    return f'{subject}{mistake.path} is {written}, which reads as {read}; put it in quotes: "{written}"'


def first_spelling(tree: PlacedTree, path: str) -> str:
    """`path` in the spelling of the document: `spec.target.base_url` may stand there as `baseUrl`."""
    if tree.has(path):
        return path
    camel = ".".join(_camel(step) for step in path.split("."))
    return camel if tree.has(camel) else path


def value_at(tree: PlacedTree, path: str) -> Any:
    """What stands at a path of fields and places in lists, in either spelling, whoever put it there; None where nothing does."""
    found = tree.value
    for step in _STEP.findall(path):
        if isinstance(found, dict):
            fields = cast("dict[str, Any]", found)
            found = fields.get(step, fields.get(_camel(step)))
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(cast("list[Any]", found)):
            found = cast("list[Any]", found)[int(step)]
        else:
            return None
    return found


def as_written(
    tree: PlacedTree,
    value: Any,
    message: str,
    path: str,
    plain_value: Callable[[str], Any],
) -> Any:
    """`value` with substituted texts turned into numbers and truth values where the message wants these."""
    if not isinstance(value, dict):
        return value
    known = {name: field for field in fields_of(message) for name in (field.name, field.json_name)}
    found: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        field = known.get(key)
        here = f"{path}.{key}" if path else key
        if field is None:
            found[key] = item
        elif field.kind == "message" and field.shape == "list" and isinstance(item, list):
            found[key] = [
                as_written(tree, one, field.type_name, f"{here}[{index}]", plain_value)
                for index, one in enumerate(cast("list[Any]", item))
            ]
        elif field.kind == "message" and field.shape == "map" and isinstance(item, dict):
            found[key] = {
                name: as_written(tree, one, field.type_name, f"{here}.{name}", plain_value)
                for name, one in cast("dict[str, Any]", item).items()
            }
        elif field.kind == "message":
            found[key] = as_written(tree, item, field.type_name, here, plain_value)
        elif field.kind in ("bool", "double", "int32", "int64") and isinstance(item, str) and here in tree.substituted:
            found[key] = plain_value(item)
        else:
            found[key] = item
    return found


def _camel(step: str) -> str:
    head, *rest = step.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
