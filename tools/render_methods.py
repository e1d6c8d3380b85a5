"""Renders the table of methods that every face of the server is built from."""

import re
from collections.abc import Iterator

from render_structs import NOTICE, docstring
from schema_model import PACKAGE, Schema, SchemaFile

TABLE_DOC = """Every method of every service in the order of the source.

Plain constants, because those load at no cost; `evalsi.schema.method` gives them names."""


ROW = "tuple[tuple[str, str, str, str, str, bool, bool, bool, str, str, str, str, str, str, str], ...]"


def render_methods(schema: Schema) -> dict[str, str]:
    lines = [NOTICE.format(source="proto/"), *docstring(TABLE_DOC), ""]
    lines += table("METHODS", [file for file in schema.files if file.package == PACKAGE])
    for name in sorted({file.package for file in schema.files if file.services and file.package != PACKAGE}):
        area = name.split(".")[1].upper()
        lines += table(f"{area}_METHODS", [file for file in schema.files if file.package == name])
    return {"generated/method_table.py": "\n".join(lines) + "\n"}


def table(name: str, files: list[SchemaFile]) -> Iterator[str]:
    yield f"{name}: {ROW} = ("
    for file in files:
        for service in file.services:
            for method in service.methods:
                route = method.route
                texts = (service.full_name, method.name, snake(method.name), method.request, method.response)
                flags = (method.client_streams, method.server_streams, method.safe)
                place = ("",) * 6
                if route:
                    place = (route.verb, route.path, route.body, route.raw, route.raw_type, route.also)
                values = [*(f'"{text}"' for text in texts), *map(str, flags)]
                values += [f'"{text}"' for text in (*place, method.action)]
                yield f"    ({', '.join(values)}),"
    yield ")"


def snake(name: str) -> str:
    """ListAPIKeys becomes list_api_keys."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
