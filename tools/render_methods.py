"""Renders the table of methods that every face of the server is built from."""

import re

from render_structs import NOTICE, docstring
from schema_model import Schema

TABLE_DOC = """Every method of every service in the order of the source.

Plain constants, because those load at no cost; `evalsi.schema.method` gives them names."""


def render_methods(schema: Schema) -> dict[str, str]:
    lines = [NOTICE.format(source="proto/"), *docstring(TABLE_DOC), ""]
    lines.append("METHODS: tuple[tuple[str, str, str, str, str, bool, bool, bool, str, str, str, str, str], ...] = (")
    for file in schema.files:
        for service in file.services:
            for method in service.methods:
                route = method.route
                texts = (service.full_name, method.name, snake(method.name), method.request, method.response)
                flags = (method.client_streams, method.server_streams, method.safe)
                place = (route.verb, route.path, route.body, route.raw) if route else ("", "", "", "")
                values = [*(f'"{text}"' for text in texts), *map(str, flags)]
                values += [f'"{text}"' for text in (*place, method.action)]
                lines.append(f"    ({', '.join(values)}),")
    lines.append(")")
    return {"generated/method_table.py": "\n".join(lines) + "\n"}


def snake(name: str) -> str:
    """ListAPIKeys becomes list_api_keys."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
