"""A call of the API as a person can paste it: in curl and in Python, by the address that REST has for it.

Its own module because every page says which calls it is made of. What always holds: what is pasted holds no credential,
only the name of the variable that does.
"""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

import msgspec

from evalsi.core.content import json_text
from evalsi.schema.json_codec import encode_file
from evalsi.schema.method import Method

KEY = "EVALSI_API_KEY"


class CallCommand(NamedTuple):
    """A call. `name` is that of service and method."""

    name: str
    curl: str
    python: str


def call_command(name: str, method: Method, request: msgspec.Struct, origin: str, *, with_key: bool) -> CallCommand:
    """How to make the call elsewhere.

    Args:
        origin: Where the server is, for example "http://127.0.0.1:8080".
        with_key: Whether the server asks who is calling.
    """
    values = {
        name: value
        for name, value in cast("dict[str, Any]", msgspec.json.decode(encode_file(request))).items()
        if value not in ("", 0, False, [], {}, "unspecified")
    }
    path = method.path
    for field in [field for field in values if f"{{{field}}}" in path]:
        path = path.replace(f"{{{field}}}", quote(str(values.pop(field)), safe=""))
    body = ""
    if method.verb in ("GET", "DELETE"):
        pairs = urlencode(_pairs(values))
        path += f"?{pairs}" if pairs else ""
    else:
        body = msgspec.json.encode(values).decode()
    return CallCommand(
        name=name,
        curl=_curl(method.verb, f"{origin}{path}", body, with_key=with_key),
        python=_python(method, f"{origin}{path}", body, with_key=with_key),
    )


def _curl(verb: str, address: str, body: str, *, with_key: bool) -> str:
    words = ["curl", *([] if verb in ("GET", "POST") else ["-X", verb])]
    # Left in double quotes, so that the shell fills the key in.
    words += ["-H", f'"Authorization: Bearer ${KEY}"'] if with_key else []
    words.append(shlex.quote(address))
    words += ["-d", shlex.quote(body)] if body else []
    return " ".join(words)


def _python(method: Method, address: str, body: str, *, with_key: bool) -> str:
    lines = ["import json, os, urllib.request" if with_key else "import json, urllib.request"]
    arguments = [repr(address)]
    if body:
        arguments.append(f"{body!r}.encode()")
    if with_key:
        arguments.append(f'headers={{"Authorization": "Bearer " + os.environ["{KEY}"]}}')
    if method.verb not in ("GET", "POST"):
        arguments.append(f"method={method.verb!r}")
    lines.append(f"request = urllib.request.Request({', '.join(arguments)})")
    read = "urllib.request.urlopen(request)"
    lines.append(f"lines = list({read})" if method.server_streams else f"answer = json.load({read})")
    return "\n".join(lines)


def _pairs(values: Mapping[str, Any], within: str = "") -> list[tuple[str, str]]:
    """Fields of a query; those of a message inside by their path, a list as the same field several times."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            pairs += _pairs(cast("dict[str, Any]", value), f"{within}{name}.")
        else:
            several = cast("list[Any]", value) if isinstance(value, list) else [value]
            pairs += [(f"{within}{name}", json_text(each)) for each in several]
    return pairs
