"""`--set path=value`: changes to a spec from the command line, made before it is checked.

Its own module because the paths are checked against the schema at once: a typo in a flag is as silent a fault as one in
the file.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.placed_tree import PlacedTree, below
from evalsi.documents.yaml_tree import read_yaml
from evalsi.schema.field import Field, fields_of
from evalsi.schema.schema_error import unknown_field

__all__ = ["apply_overrides"]

_STEP = re.compile(r"""\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6}|\+)\]|\.(\d{1,6})(?=[.\[]|\Z)|\[(["'])(.*?)\4\]""")
_END = -1
"""The place after the last of a list, written `[+]`."""
_FLAGS = {
    "spec.gates[+]": "--gate",
    "spec.baseline": "--baseline",
    "spec.dataset.limit": "--limit",
    "spec.dataset.where": "--where",
}
"""Changes that have a flag of their own, by which they are called."""
_TOP = ("api_version", "apiVersion", "kind", "metadata", "spec")


class _Place(NamedTuple):
    """What is at a step of a path: a message, a list or map of values, or free data (None)."""

    message: str = ""
    field: Field | None = None


def apply_overrides(tree: PlacedTree, overrides: Sequence[str]) -> None:
    """Applies each `path=value` in order; a wrong one becomes a problem of the tree.

    A path that does not begin in the envelope begins in `spec`: `trials=3` is `spec.trials=3`. `gates[+]` is one more gate.
    The value is read as YAML, and for a field that is a text as it stands.
    """
    if not isinstance(tree.value, dict):
        return
    for override in overrides:
        try:
            _apply(tree, override)
        except InvalidSpecError as error:
            tree.problems.append(error)


def _apply(tree: PlacedTree, override: str) -> None:
    text, separator, written = override.partition("=")
    flag = _FLAGS.get(text.strip()) or f"--set {text.strip()}"
    keys = _keys(text.strip(), flag) if separator else []
    if not keys:
        raise InvalidSpecError(
            f"{override!r} is no setting", where="--set", hint="write path=value, e.g. spec.trials=3"
        )
    if keys[0] not in _TOP:
        keys = ["spec", *keys]
    value = _read(written, flag)
    container: Any = tree.value
    path: str = ""
    place = _Place(message="EvalRun")
    for position, written_key in enumerate(keys):
        key, inner = _step(container, written_key, place, path, flag)
        if key == _END:
            if not isinstance(container, list):
                raise InvalidSpecError(f"{path or 'the document'} is no list", where=flag)
            key = len(cast("list[Any]", container))
        path = below(path, key)
        if position == len(keys) - 1:
            _put(container, key, _as_text(written, value) if _takes_text(place, key) else value)
        else:
            container = _below(container, key, keys[position + 1], path, flag)
        place = inner
    tree.overridden[path] = flag
    _forget(tree, path)


def _takes_text(place: _Place, key: str | int) -> bool:
    """Whether what stands at `key` is a text and nothing else: then a version 2 needs no quotes, which shells take away."""
    field = place.field
    if place.message:
        field = next((each for each in fields_of(place.message) if key in (each.name, each.json_name)), None)
        if field is not None and field.shape in ("list", "map"):
            return False
    return field is not None and field.kind == "string"


def _as_text(written: str, value: Any) -> Any:
    """The value as it was written where YAML took it for a number, a truth value or a date."""
    if value is None or isinstance(value, (str, list, dict)):
        return cast("Any", value)
    return written.strip()


def _read(written: str, flag: str) -> Any:
    """The value of a flag, read as YAML; nothing at all is null."""
    if not written.strip():
        return None
    try:
        read = read_yaml(written, flag)
    except InvalidSpecError as error:
        raise InvalidSpecError(f"the value {written!r} cannot be read: {error.message}", where=flag) from None
    if read.problems:
        raise InvalidSpecError(read.problems[0].message, where=flag, hint=read.problems[0].hint)
    return read.value


def _keys(text: str, flag: str) -> list[str | int]:
    keys: list[str | int] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (at == 0 and step[0].startswith((".", "["))):
            raise InvalidSpecError(
                f"the path cannot be read from {text[at:]!r} on",
                where=flag,
                hint="write e.g. spec.gates[0].min, or metadata.labels['a.b'] for a name with dots",
            )
        number = step[2] or step[3]
        keys.append(_END if number == "+" else int(number) if number else step[5] if step[5] is not None else step[1])
        at = step.end()
    return keys


def _step(container: Any, key: str | int, place: _Place, path: str, flag: str) -> tuple[str | int, _Place]:
    """The key in the spelling that the document uses, and what is below it."""
    if place.message:
        if isinstance(key, int):
            raise InvalidSpecError(f"{path or 'the document'} is no list", where=flag)
        fields = fields_of(place.message)
        found = next((field for field in fields if key in (field.name, field.json_name)), None)
        if found is None:
            error = unknown_field(path, key, fields)
            raise InvalidSpecError(error.problem, where=flag)
        spellings = (found.name, found.json_name)
        used = next((name for name in spellings if isinstance(container, dict) and name in container), key)
        below = _Place(message=found.type_name if found.kind == "message" else "")
        return used, _Place(field=found) if found.shape in ("list", "map") else below
    if place.field is not None:
        below = _Place(message=place.field.type_name if place.field.kind == "message" else "")
        if (place.field.shape == "list") != isinstance(key, int):
            kind = "a list: write a number in brackets" if place.field.shape == "list" else "no list: write a name"
            raise InvalidSpecError(f"{path} is {kind}", where=flag)
        return key, below
    return key, _Place()


def _below(container: Any, key: str | int, following: str | int, path: str, flag: str) -> Any:
    """The container at `key`, made where there is none."""
    empty: Any = [] if isinstance(following, int) else {}
    if isinstance(container, list):
        items = cast("list[Any]", container)
        if not (isinstance(key, int) and key <= len(items)):
            raise InvalidSpecError(f"{path} is past the end of the list", where=flag)
        if key == len(items):
            items.append(empty)
        inner = items[key]
    else:
        entries = cast("dict[Any, Any]", container)
        if entries.get(key) is None:
            entries[key] = empty
        inner = entries[key]
    if not isinstance(inner, list if isinstance(following, int) else dict):
        if isinstance(inner, list):
            raise InvalidSpecError(f"{path} is a list: write a number in brackets", where=flag)
        kind = "is no list" if isinstance(following, int) else "holds no fields"
        raise InvalidSpecError(f"{path} {kind}", where=flag)
    return cast("Any", inner)


def _put(container: Any, key: str | int, value: Any) -> None:
    if isinstance(container, list) and isinstance(key, int):
        items = cast("list[Any]", container)
        if key < len(items):
            items[key] = value
        else:
            items.append(value)
    else:
        cast("dict[Any, Any]", container)[key] = value


def _forget(tree: PlacedTree, path: str) -> None:
    """Places of what the override replaced."""
    for known in [each for each in tree.spots if each == path or each.startswith((f"{path}.", f"{path}["))]:
        del tree.spots[known]
