"""Renders the binary form: the compiled schema, and for each message a function to and from protobuf's own object.

The functions name every field, because looking fields up by reflection costs ten times as much. The compiled schema is
loaded into a pool of its own, so that another package with files of the same name in the process does no harm, and so
that one generated form serves every protobuf runtime.
"""

from collections.abc import Iterator

from render_structs import NOTICE, docstring
from schema_model import Field, MessageType, Schema

WIRE_DOC = "The binary form of the schema. Generated; used through `evalsi.schema.proto_codec` only."
TO_DOC = "From each Struct to protobuf's object: `fill_<Message>(struct, wire)` sets what is not zero."
FROM_DOC = "From protobuf's object to each Struct: `read_<Message>(wire)`. An enum number that is not known reads as UNSPECIFIED."
SCALARS = ("string", "bytes", "bool", "int32", "uint32", "int64", "double")


def render_wire(schema: Schema) -> dict[str, bytes]:
    texts = {
        "wire/__init__.py": f'{NOTICE.format(source="proto/")}\n"""{WIRE_DOC}"""\n',
        "wire/to_wire.py": render_to_wire(schema),
        "wire/from_wire.py": render_from_wire(schema),
    }
    return {name: text.encode() for name, text in texts.items()} | {"wire/schema.binpb": schema.image}


def render_to_wire(schema: Schema) -> str:
    lines = [NOTICE.format(source="proto/"), *docstring(TO_DOC), ""]
    lines += ["from collections.abc import Callable", "from typing import Any", "", "from msgspec import UNSET", ""]
    lines.append("from evalsi.schema.wire_values import fill_duration, fill_object, fill_timestamp, fill_value")
    for message in schema.messages().values():
        lines += ["", "", *render_fill(message)]
    lines += [
        "",
        "",
        "FILLS: dict[str, Callable[[Any, Any], None]] = {",
        *(f'    "{name}": fill_{name},' for name in sorted(schema.messages())),
        "}",
        "",
        "FULL_NAMES = {",
        *(f'    "{name}": "{message.full_name}",' for name, message in sorted(schema.messages().items())),
        "}",
        '"""What each message is called on the wire."""',
    ]
    return "\n".join(lines) + "\n"


def render_fill(message: MessageType) -> Iterator[str]:
    yield f"def fill_{message.name}(s, w):"
    if not message.fields:
        yield "    pass"
    for field in message.fields:
        name = field.name
        yield f"    v = s.{name}"
        match field.shape:
            case "plain":
                yield "    if v.number:" if field.kind == "enum" else "    if v:"
                yield f"        {filled(field, 'v', f'w.{name}')}"
            case "optional":
                yield f"    if v is not {'UNSET' if field.kind == 'value' else 'None'}:"
                if field.kind not in (*SCALARS, "enum"):
                    yield f"        w.{name}.SetInParent()"
                yield f"        {filled(field, 'v', f'w.{name}')}"
            case "list":
                yield "    if v:"
                if field.kind in SCALARS:
                    yield f"        w.{name}.extend(v)"
                elif field.kind == "enum":
                    yield f"        w.{name}.extend([x.number for x in v])"
                else:
                    yield "        for x in v:"
                    yield f"            {filled(field, 'x', f'w.{name}.add()')}"
            case "map":
                yield "    if v:"
                if field.kind in SCALARS:
                    yield f"        w.{name}.update(v)"
                else:
                    yield "        for k, x in v.items():"
                    yield f"            {filled(field, 'x', f'w.{name}[k]')}"


def filled(field: Field, value: str, target: str) -> str:
    match field.kind:
        case "message":
            return f"fill_{field.type_name}({value}, {target})"
        case "value" | "object" | "duration" | "timestamp":
            return f"fill_{field.kind}({value}, {target})"
        case "enum":
            return f"{target} = {value}.number"
        case _:
            return f"{target} = {value}"


def render_from_wire(schema: Schema) -> str:
    lines = [NOTICE.format(source="proto/"), *docstring(FROM_DOC), ""]
    lines += ["from collections.abc import Callable", "from typing import Any", "", "from msgspec import UNSET", ""]
    lines += ["from evalsi.schema import (", *(f"    {name}," for name in sorted(schema.home)), ")"]
    lines.append("from evalsi.schema.wire_values import read_duration, read_object, read_timestamp, read_value")
    lines.append("")
    for enum in schema.enums().values():
        lines.append(f"_{enum.name} = {{member.number: member for member in {enum.name}}}")
    for message in schema.messages().values():
        lines += ["", "", *render_read(message)]
    lines += [
        "",
        "",
        "READS: dict[str, Callable[[Any], Any]] = {",
        *(f'    "{name}": read_{name},' for name in sorted(schema.messages())),
        "}",
    ]
    return "\n".join(lines) + "\n"


def render_read(message: MessageType) -> Iterator[str]:
    yield f"def read_{message.name}(w):"
    if not message.fields:
        yield f"    return {message.name}()"
        return
    yield f"    return {message.name}("
    for field in message.fields:
        source = f"w.{field.name}"
        match field.shape:
            case "plain":
                text = read_one(field, source)
            case "optional":
                absent = "UNSET" if field.kind == "value" else "None"
                text = f'{read_one(field, source)} if w.HasField("{field.name}") else {absent}'
            case "list":
                text = f"list({source})" if field.kind in SCALARS else f"[{read_one(field, 'x')} for x in {source}]"
            case "map" if field.kind in SCALARS:
                text = f"dict({source})"
            case "map":
                text = f"{{k: {read_one(field, 'x')} for k, x in {source}.items()}}"
        yield f"        {field.name}={text},"
    yield "    )"


def read_one(field: Field, source: str) -> str:
    match field.kind:
        case "message":
            return f"read_{field.type_name}({source})"
        case "value" | "object" | "duration" | "timestamp":
            return f"read_{field.kind}({source})"
        case "enum":
            return f"_{field.type_name}.get({source}, {field.type_name}.UNSPECIFIED)"
        case _:
            return source
