"""Renders what the JSON codec runs on: a table of every field, and a function per message for each written form.

Two written forms exist. The REST form is standard proto3 JSON with everything that is zero printed. The file form is
what people read and write: snake_case, short words for enums, measured times in milliseconds, nothing empty.
"""

from collections.abc import Iterator

from render_structs import NOTICE, docstring
from schema_model import Field, MessageType, Schema

TABLES_DOC = """Every field of every message in the order of the source, for reading JSON in either spelling.

Plain constants, because those load at no cost; `evalsi.schema.field` gives them names."""
FORMS_DOC = """A function for each message and written form, from a Struct to plain JSON values.

Used through `evalsi.schema.json_codec`, which describes the two forms."""


def render_json(schema: Schema) -> dict[str, str]:
    return {
        "generated/field_tables.py": render_tables(schema),
        "generated/json_forms.py": render_forms(schema),
    }


def render_tables(schema: Schema) -> str:
    lines = [NOTICE.format(source="proto/"), *docstring(TABLES_DOC), ""]
    lines.append("FIELDS: dict[str, tuple[tuple[str, str, str, str, str, str, bool], ...]] = {")
    for message in schema.messages().values():
        if not message.fields:
            lines.append(f'    "{message.name}": (),')
            continue
        lines.append(f'    "{message.name}": (')
        for field in message.fields:
            values = (field.name, field.json_name, field.kind, field.shape, field.type_name, field.oneof)
            lines.append(f"        ({', '.join(quoted(value) for value in values)}, {field.measured}),")
        lines.append("    ),")
    lines.append("}")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return f'"{text}"'


def render_forms(schema: Schema) -> str:
    lines = [NOTICE.format(source="proto/"), *docstring(FORMS_DOC), "", "from __future__ import annotations", ""]
    lines += ["from base64 import b64encode", "from collections.abc import Callable"]
    lines += ["from typing import TYPE_CHECKING, Any", "", "from msgspec import UNSET", ""]
    lines += ["from evalsi.schema.json_text import duration_text, milliseconds, timestamp_text", ""]
    lines += ["if TYPE_CHECKING:", "    from evalsi.schema import ("]
    lines += [f"        {message}," for message in sorted(schema.messages())]
    lines += ["    )"]
    for message in schema.messages().values():
        lines += ["", "", *render_rest(message), "", "", *render_file(message)]
    for table, prefix, doc in (
        ("REST_FORMS", "rest", "Writer of the REST form of each message, by its name."),
        ("FILE_FORMS", "file", "Writer of the file form of each message, by its name."),
    ):
        lines += ["", "", f"{table}: dict[str, Callable[[Any], dict[str, Any]]] = {{"]
        lines += [f'    "{name}": {prefix}_{name},' for name in sorted(schema.messages())]
        lines += ["}", f'"""{doc}"""']
    return "\n".join(lines) + "\n"


def render_rest(message: MessageType) -> Iterator[str]:
    always = [field for field in message.fields if field.shape != "optional"]
    yield f"def rest_{message.name}(m: {message.name}) -> dict[str, Any]:"
    if not always:
        yield "    d: dict[str, Any] = {}"
    else:
        yield "    d: dict[str, Any] = {"
        for field in always:
            yield f'        "{field.json_name}": {written(field, f"m.{field.name}", "rest")},'
        yield "    }"
    for field in message.fields:
        if field.shape == "optional":
            yield from when_present(field, field.json_name, "rest")
    yield "    return d"


def render_file(message: MessageType) -> Iterator[str]:
    yield f"def file_{message.name}(m: {message.name}) -> dict[str, Any]:"
    yield "    d: dict[str, Any] = {}"
    for field in message.fields:
        name = f"{field.name}_ms" if field.measured else field.name
        numeric = field.kind in ("bool", "int32", "uint32", "int64", "double")
        if field.shape == "optional":
            yield from when_present(field, name, "file")
        elif field.shape == "plain" and numeric:
            yield f'    d["{name}"] = {written(field, f"m.{field.name}", "file")}'
        else:
            known = ".number" if field.kind == "enum" and field.shape == "plain" else ""
            yield f"    if m.{field.name}{known}:"
            yield f'        d["{name}"] = {written(field, f"m.{field.name}", "file")}'
    yield "    return d"


def when_present(field: Field, name: str, form: str) -> Iterator[str]:
    absent = "UNSET" if field.kind == "value" else "None"
    local = "v"
    yield f"    {local} = m.{field.name}"
    yield f"    if {local} is not {absent}:"
    yield f'        d["{name}"] = {written_one(field, local, form)}'


def written(field: Field, source: str, form: str) -> str:
    if field.shape in ("list", "map"):
        one = written_one(field, "v", form)
        if one == "v":
            return source
        return f"[{one} for v in {source}]" if field.shape == "list" else f"{{k: {one} for k, v in {source}.items()}}"
    return written_one(field, source, form)


def written_one(field: Field, source: str, form: str) -> str:
    match field.kind:
        case "message":
            return f"{form}_{field.type_name}({source})"
        case "enum":
            return f"{source}.proto_name" if form == "rest" else f"{source}.value"
        case "bytes":
            return f'b64encode({source}).decode("ascii")'
        case "timestamp":
            return f"timestamp_text({source})"
        case "duration":
            return f"milliseconds({source})" if form == "file" and field.measured else f"duration_text({source})"
        case _:
            return source
