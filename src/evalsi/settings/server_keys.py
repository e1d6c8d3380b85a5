"""The keys of `evalsi.yaml` as people write them, with what they mean: for the reference page and the example.

Its own module because it walks the Structs of `settings.server` without any file.
"""

import ast
import inspect
import types
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

import evalsi.settings.server
from evalsi.schema.json_text import duration_text
from evalsi.settings.server import ServerSettings


class ServerKey(NamedTuple):
    """One key. In `path`, `<name>` stands for a key of a mapping and `[]` for the places of a list."""

    path: str
    type_name: str
    default: str
    """As it is written in the file; empty where there is none."""
    meaning: str


def server_keys(kind: type[msgspec.Struct] = ServerSettings, above: str = "") -> list[ServerKey]:
    """Every key below `kind`, in the order of the source."""
    found: list[ServerKey] = []
    hints, meanings = get_type_hints(kind, include_extras=True), _meanings()[kind.__name__]
    for field in msgspec.structs.fields(kind):
        path = f"{above}.{field.name}" if above else field.name
        hint = _without_none(hints[field.name])
        inner, form = _inner(hint)
        if inner is not None:
            found += server_keys(inner, path + form)
        else:
            default = "" if field.required else _shown(field.default, hint)
            found.append(ServerKey(path, _type_name(hint), default, meanings[field.name]))
    return found


def _inner(hint: Any) -> tuple[type[msgspec.Struct] | None, str]:
    """The Struct whose keys stand below a key, and what leads to them."""
    origin, arguments = get_origin(hint), get_args(hint)
    for candidate, form in ((hint, ""), (arguments[-1] if arguments else None, ".<name>" if origin is dict else "[]")):
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct):
            return candidate, form
    return None, ""


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    return hint


def _is_duration(hint: Any) -> bool:
    return hasattr(hint, "__metadata__")


def _type_name(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if _is_duration(hint):
        return "length of time"
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in arguments)
    if origin is list:
        return f"list of {_type_name(arguments[0])}"
    if origin is dict:
        return f"mapping to {_type_name(arguments[1])}"
    return {str: "text", bool: "true or false", int: "whole number", float: "number"}[hint]


def _shown(default: Any, hint: Any) -> str:
    if default is msgspec.NODEFAULT or default in ("", None):
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return duration_text(default) if _is_duration(hint) else str(default)


@cache
def _meanings() -> dict[str, dict[str, str]]:
    """Docstrings of fields, by class and field."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(evalsi.settings.server)).body:
        if isinstance(node, ast.ClassDef):
            fields = found.setdefault(node.name, {})
            for field, text in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(text, ast.Expr)
                    and isinstance(text.value, ast.Constant)
                ):
                    fields[field.target.id] = " ".join(str(text.value.value).split())
    return found
