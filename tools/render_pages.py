"""Renders the reference pages of the schema: one page per schema file, and an index."""

from collections.abc import Iterator

from schema_model import EnumType, Field, Kind, MessageType, Schema, SchemaFile, Service

NOTICE = "<!-- Generated from {source} by tools/generate_schema.py. Edit the source, then run `make generate`. -->"
TYPES: dict[Kind, str] = {
    "string": "text",
    "bytes": "bytes (base64)",
    "bool": "boolean",
    "int32": "integer (32 bits)",
    "uint32": "whole number (32 bits)",
    "int64": "integer (64 bits)",
    "double": "number",
    "value": "any JSON value",
    "object": "JSON object",
    "duration": "duration",
    "timestamp": "time",
}
INTRODUCTION = """# Schema

Every record, score, request and file of Evals.si is one of these messages. The source is `proto/evalsi/v1alpha1/`; the
Python types are in `evalsi.schema`, JSON Schema files are in the package under `evalsi/schema/jsonschema/`.

The same rules hold in request bodies, spec files and record files:

- Names may be written in `snake_case` or `lowerCamelCase`. An unknown name is an error that says where it is and which
  name is nearest.
- An enum may be written as its word (`scored`), its full name (`OUTCOME_SCORED`) or its number.
- A duration is text such as `"1.5s"`, `"5m"` or `"1h30m"`, or a number of seconds. A measured time may also be written
  in milliseconds under its name with `_ms`: `latency_ms`, `duration_ms`.
- A time is text with its zone: `"2026-01-31T12:00:00Z"`. Bytes are base64 text. A 64-bit integer may be written as text.
- `null` is the same as leaving a field out, except where any JSON value is allowed.
- A text stands for content, `"input": "What is 2 + 2?"`, and for an evaluator or a part of a reward, by its reference.
- *Optional* fields tell absent from zero. Of fields marked *one of*, at most one is set.

Answers over REST use `lowerCamelCase` and full enum names, and print every zero, `false`, empty text and empty list. What an answer
lacks is an optional field or a message that nobody knows (the `mean` of a metric that was scored nowhere), or a choice that was
not made (a `number` beside `passed`): missing is unknown, and never zero. Files and `--format json` use `snake_case` and words,
print every number and boolean, and leave out texts, lists and objects that are empty.
"""


def render_pages(schema: Schema) -> dict[str, str]:
    """Text of each page by its file name."""
    pages = {f"{file.module}.md": render_page(schema, file) for file in schema.files}
    lines = [NOTICE.format(source="proto/"), INTRODUCTION, "| page | messages |", "|---|---|"]
    for file in sorted(schema.files, key=lambda one: one.module):
        names = [service.name for service in file.services] + [message.name for message in file.messages]
        links = ", ".join(f"[{name}]({file.module}.md#{name.lower()})" for name in names)
        lines.append(f"| [{file.module}]({file.module}.md): {file.doc} | {links} |")
    return pages | {"index.md": "\n".join(lines) + "\n"}


def render_page(schema: Schema, file: SchemaFile) -> str:
    lines = [NOTICE.format(source=f"proto/{file.path}"), f"# {file.module}", "", file.doc]
    for service in file.services:
        lines += ["", *service_section(schema, service)]
    for message in file.messages:
        lines += ["", *message_section(schema, message)]
    for enum in file.enums:
        lines += ["", *enum_section(enum)]
    return "\n".join(lines) + "\n"


def service_section(schema: Schema, service: Service) -> Iterator[str]:
    yield from (
        f"## {service.name}",
        "",
        service.doc,
        "",
        "| call | request | response | REST | needs | what it does |",
        "|---|---|---|---|---|---|",
    )
    for method in service.methods:
        request = ("stream of " if method.client_streams else "") + link(schema, method.request)
        response = ("stream of " if method.server_streams else "") + link(schema, method.response)
        route = method.route
        rest = f"`{route.verb} {route.path}`" if route else ""
        if route and route.also:
            rest += f", `{route.verb} {route.also}`"
        yield f"| `{method.name}` | {request} | {response} | {rest} | `{method.action}` | {cell(method.doc)} |"


def message_section(schema: Schema, message: MessageType) -> Iterator[str]:
    yield from (f"## {message.name}", "", message.doc)
    if not message.fields:
        yield from ("", "It has no fields.")
        return
    yield from ("", "| field | number | type | meaning |", "|---|---|---|---|")
    for field in message.fields:
        yield f"| `{field.name}` | {field.number} | {type_text(schema, field)} | {cell(field.doc)} |"
    for name, doc in message.oneofs.items():
        members = ", ".join(f"`{field.name}`" for field in message.fields if field.oneof == name)
        yield from ("", f"One of {members}: {doc[:1].lower()}{doc[1:]}")


def type_text(schema: Schema, field: Field) -> str:
    base = link(schema, field.type_name) if field.type_name else TYPES[field.kind]
    if field.shape == "list":
        return f"list of {base}"
    if field.shape == "map":
        return f"{base} by name"
    if field.oneof:
        return f"{base}, one of"
    return f"{base}, optional" if field.shape == "optional" else base


def enum_section(enum: EnumType) -> Iterator[str]:
    yield from (f"## {enum.name}", "", enum.doc, "", "| word | full name | number | meaning |", "|---|---|---|---|")
    for member in enum.members:
        yield f"| `{member.name.lower()}` | `{member.proto_name}` | {member.number} | {cell(member.doc)} |"


def link(schema: Schema, name: str) -> str:
    return f"[{name}]({schema.home[name]}.md#{name.lower()})"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
