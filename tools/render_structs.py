"""Renders the Python types: one module of msgspec Structs and enums per schema file, and the package that exports them."""

import json
import textwrap
from collections.abc import Iterator

from schema_model import EnumType, Field, Kind, MessageType, Schema, SchemaFile

WIDTH = 120
NOTICE = "# Generated from {source} by tools/generate_schema.py. Edit the source, then run `make generate`."
STRUCT = (
    "msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True"
)
READABLE = {"Reward": "evalsi.schema.reward_text.ReadableReward"}
"""Types that people print, and the class written by hand that says how they read."""
TYPES: dict[Kind, str] = {
    "string": "str",
    "bytes": "bytes",
    "bool": "bool",
    "int32": "Int32",
    "uint32": "Uint32",
    "int64": "Int64",
    "double": "float",
    "value": "JsonValue",
    "object": "JsonObject",
    "duration": "Seconds",
    "timestamp": "Timestamp",
}
ZEROS: dict[Kind, str] = {
    "string": '""',
    "bytes": 'b""',
    "bool": "False",
    "int32": "0",
    "uint32": "0",
    "int64": "0",
    "double": "0.0",
    "object": "{}",
}
INNER_DOC = "What the generator writes in Python. Import from `evalsi.schema`, which exports every type."
ALIASES = ("Int32", "Int64", "JsonObject", "JsonValue", "Seconds", "Timestamp", "Uint32")


def render_structs(schema: Schema) -> dict[str, str]:
    """Text of each module by its path below the schema package."""
    files = [file for file in schema.files if file.messages or file.enums]
    modules = {f"generated/{file.module}.py": render_module(schema, file) for file in files}
    inner = NOTICE.format(source="proto/") + f'\n"""{INNER_DOC}"""\n'
    return modules | {"__init__.py": render_package(schema), "generated/__init__.py": inner}


def render_module(schema: Schema, file: SchemaFile) -> str:
    body: list[str] = []
    for enum in file.enums:
        body += ["", "", *render_enum(enum)]
    leaves = untracked_messages(schema)
    for message in file.messages:
        body += ["", "", *render_struct(message, untracked=message.name in leaves)]
    text = "\n".join(body)
    used = [alias for alias in ALIASES if any(alias == TYPES.get(f.kind) for m in file.messages for f in m.fields)]
    foreign: dict[str, set[str]] = {}
    for message in file.messages:
        for field in message.fields:
            if field.type_name and schema.home[field.type_name] != file.module:
                foreign.setdefault(schema.home[field.type_name], set()).add(field.type_name)
    names = sorted([message.name for message in file.messages] + [enum.name for enum in file.enums])
    head = [
        NOTICE.format(source=f"proto/{file.path}"),
        *docstring(file.doc),
        "",
        "from __future__ import annotations",
        "",
    ]
    if file.messages:
        head += ["import msgspec", ""]
    head += [
        f"from evalsi.schema.generated.{module} import {', '.join(sorted(foreign[module]))}"
        for module in sorted(foreign)
    ]
    if used:
        head.append(f"from evalsi.schema.scalar_types import {', '.join(used)}")
    if file.enums:
        head.append("from evalsi.schema.schema_enum import SchemaEnum")
    for message in file.messages:
        if message.name in READABLE:
            place, _, name = READABLE[message.name].rpartition(".")
            head.append(f"from {place} import {name}")
    head += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return squeeze("\n".join(head)) + "\n" + text + "\n"


def squeeze(text: str) -> str:
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def render_enum(enum: EnumType) -> Iterator[str]:
    yield f"class {enum.name}(SchemaEnum):"
    yield from docstring(enum.doc, indent=4)
    yield ""
    for member in enum.members:
        yield f'    {member.name} = "{member.name.lower()}", {member.number}, "{member.proto_name}"'
        yield from docstring(member.doc, indent=4)


def render_struct(message: MessageType, *, untracked: bool) -> Iterator[str]:
    readable = READABLE.get(message.name, "").rpartition(".")[2]
    yield f"class {message.name}({f'{readable}, ' if readable else ''}{STRUCT}{', gc=False' if untracked else ''}):"
    doc = message.doc
    for name, comment in message.oneofs.items():
        members = ", ".join(f"`{field.name}`" for field in message.fields if field.oneof == name)
        doc += f"\n\nOne of {members}: {comment[:1].lower()}{comment[1:]}"
    yield from docstring(doc, indent=4)
    for index, field in enumerate(message.fields):
        if index == 0:
            yield ""
        yield f"    {field.name}: {annotation(field)} = {default(field)}"
        yield from docstring(field.doc + unit_note(field), indent=4)


def unit_note(field: Field) -> str:
    return " In seconds." if field.kind == "duration" and "second" not in field.doc.lower() else ""


def annotation(field: Field) -> str:
    base = field.type_name or TYPES[field.kind]
    match field.shape:
        case "list":
            return f"list[{base}]"
        case "map":
            return f"dict[str, {base}]"
        case "optional" if field.kind != "value":
            return f"{base} | None"
        case _:
            return base


def default(field: Field) -> str:
    match field.shape:
        case "list":
            return "[]"
        case "map":
            return "{}"
        case "optional":
            return "msgspec.UNSET" if field.kind == "value" else "None"
        case _ if field.kind == "enum":
            return f"{field.type_name}.UNSPECIFIED"
        case _:
            return ZEROS[field.kind]


def untracked_messages(schema: Schema) -> set[str]:
    """Messages that can never be part of a reference cycle, so the garbage collector need not look at them."""
    messages = schema.messages()

    def holds_free_values(name: str, above: frozenset[str]) -> bool:
        if name in above:
            return True
        inner = above | {name}
        return any(
            field.kind in ("value", "object") or (field.kind == "message" and holds_free_values(field.type_name, inner))
            for field in messages[name].fields
        )

    return {name for name in messages if not holds_free_values(name, frozenset())}


def docstring(text: str, *, indent: int = 0) -> Iterator[str]:
    """The comment as a docstring, wrapped, with what would end it escaped."""
    if not text:
        return
    pad = " " * indent
    safe = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    paragraphs = [" ".join(part.split()) for part in safe.split("\n\n")]
    if len(paragraphs) == 1 and len(pad) + len(paragraphs[0]) + 6 <= WIDTH:
        tail = " " if paragraphs[0].endswith('"') else ""
        yield f'{pad}"""{paragraphs[0]}{tail}"""'
        return
    wrapped = [textwrap.wrap(part, WIDTH - len(pad) - 3) for part in paragraphs]
    first, *rest = wrapped
    yield f'{pad}"""{first[0]}'
    for line in first[1:]:
        yield pad + line
    for lines in rest:
        yield ""
        for line in lines:
            yield pad + line
    yield f'{pad}"""'


def render_package(schema: Schema) -> str:
    """The package: every name, found at first use so that importing it costs next to nothing."""
    files = [file for file in schema.files if file.messages or file.enums]
    exported = sorted(schema.home)
    lines = [
        NOTICE.format(source="proto/"),
        '"""Every type of the schema.',
        "",
        "A module is loaded when the first of its names is asked for, so a program pays only for what it uses.",
        '"""',
        "",
        "from importlib import import_module",
        "from typing import TYPE_CHECKING, Any",
        "",
        "if TYPE_CHECKING:",
    ]
    names_of = {file.module: sorted(n for n, home in schema.home.items() if home == file.module) for file in files}
    for module in sorted(names_of):
        lines += [
            f"    from evalsi.schema.generated.{module} import (",
            *(f"        {name}," for name in names_of[module]),
            "    )",
        ]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in exported), "]", "", "_HOME = {"]
    lines += [f"    {json.dumps(name)}: {json.dumps(schema.home[name])}," for name in exported]
    lines += [
        "}",
        "",
        "",
        "def __getattr__(name: str) -> Any:",
        "    home = _HOME.get(name)",
        "    if home is None:",
        '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
        '    found = getattr(import_module(f"evalsi.schema.generated.{home}"), name)',
        "    globals()[name] = found",
        "    return found",
        "",
        "",
        "def __dir__() -> list[str]:",
        "    return __all__",
    ]
    return "\n".join(lines) + "\n"
