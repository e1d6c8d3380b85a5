"""A call of a method as the REST request that the schema says: verb, path, query and body.

Its own module because it is pure, and the same for a call that is made once, one that is streamed and a file that is sent.
"""

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

import msgspec

from evalsi.core.errors import UsageError
from evalsi.schema.json_codec import to_jsonable
from evalsi.schema.method import Method


@dataclass(frozen=True, slots=True)
class RestRequest:
    """A request, relative to the address of a server."""

    verb: str
    target: str
    """Path and query."""
    body: bytes | None = None


def rest_request(method: Method, request: msgspec.Struct) -> RestRequest:
    """The request for a call. Raises: UsageError: a field that the path needs is empty."""
    fields = to_jsonable(request, camel=False)
    named = cast("dict[str, Any]", fields.get(method.body, {})) if method.body not in ("", "*") else fields
    path = _filled(method, named)
    if method.body == "*":
        return RestRequest(method.verb, path, msgspec.json.encode(fields))
    if method.body:
        return RestRequest(method.verb, path, msgspec.json.encode(fields.pop(method.body, {})))
    return RestRequest(method.verb, path + query_of(fields))


def upload_request(method: Method, about: msgspec.Struct) -> RestRequest:
    """The request whose body will be a file; `about` says in the address what the file is."""
    fields = to_jsonable(about, camel=False)
    path = _filled(method, fields)
    return RestRequest(method.verb, path + query_of(fields))


def query_of(fields: dict[str, Any]) -> str:
    """The fields as a query with its question mark; "" where there are none. `labels.topic=x` is an entry of a map."""
    pairs: list[tuple[str, str]] = []
    for name, value in fields.items():
        _flatten(name, value, pairs)
    return f"?{urlencode(pairs)}" if pairs else ""


def _flatten(name: str, value: Any, pairs: list[tuple[str, str]]) -> None:
    match value:
        case dict():
            for key, inner in cast("dict[str, Any]", value).items():
                _flatten(f"{name}.{key}", inner, pairs)
        case list():
            for inner in cast("list[Any]", value):
                _flatten(name, inner, pairs)
        case bool():
            pairs.append((name, "true" if value else "false"))
        case _:
            pairs.append((name, str(value)))


def _filled(method: Method, fields: dict[str, Any]) -> str:
    """The path with its places filled; the fields that fill them are taken out."""
    path = method.path
    for part in path.split("{")[1:]:
        name = part.partition("}")[0]
        value = str(fields.pop(name, ""))
        if not value:
            raise UsageError(f"{method.name} needs {name}", where=name)
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path
