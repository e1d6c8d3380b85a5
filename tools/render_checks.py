"""Renders the quick look at a message: whether its alternatives and free values are in order, without saying what is not.

A request of many records is looked at on every call, and this is ten times as fast as walking the tables of fields. Who
needs to know what is wrong asks `schema.message_check`, whose tables mean the same; a test compares the two.
"""

from collections.abc import Iterator

from render_structs import NOTICE, docstring
from schema_model import Field, MessageType, Schema

DOC = """For each message with alternatives or free values: whether they are in order, all below included.

Used through `evalsi.schema.message_check`, which finds the place and the words when they are not."""


def render_checks(schema: Schema) -> dict[str, str]:
    messages = schema.messages()
    checked = checked_messages(messages)
    lines = [NOTICE.format(source="proto/"), *docstring(DOC), "", "from collections.abc import Callable"]
    lines += ["from typing import Any", "", "from msgspec import UNSET", ""]
    lines += ["from evalsi.schema.nesting import is_shallow", ""]
    for name, message in messages.items():
        if name in checked:
            lines += ["", *render_check(message, checked), ""]
    lines += ["", "QUICK_CHECKS: dict[str, Callable[[Any], bool]] = {"]
    lines += [f'    "{name}": check_{name},' for name in messages if name in checked]
    lines += ["}"]
    return {"generated/quick_checks.py": "\n".join(lines).replace("\n\n\n\n", "\n\n\n") + "\n"}


def checked_messages(messages: dict[str, MessageType]) -> set[str]:
    """Names of the messages that hold alternatives or free values, themselves or below."""
    found = {
        name
        for name, message in messages.items()
        if any(field.oneof or field.kind in ("value", "object") for field in message.fields)
    }
    while True:
        more = {
            name for name, message in messages.items() if any(field.type_name in found for field in message.fields)
        } - found
        if not more:
            return found
        found |= more


def render_check(message: MessageType, checked: set[str]) -> Iterator[str]:
    yield f"def check_{message.name}(m: Any) -> bool:"
    for oneof in message.oneofs:
        members = [field for field in message.fields if field.oneof == oneof]
        only = len(message.oneofs) == 1 and len(members) == len(message.fields)
        terms = " + ".join(f"(m.{field.name} is not {absent(field)})" for field in members)
        yield f"    if {terms} {'!= 1' if only else '> 1'}:"
        yield "        return False"
    for field in message.fields:
        if field.kind in ("value", "object"):
            yield f"    v = m.{field.name}"
            yield "    if v and v.__class__ in (dict, list) and not is_shallow(v):"
            yield "        return False"
        elif field.kind == "message" and field.type_name in checked:
            yield f"    v = m.{field.name}"
            match field.shape:
                case "list":
                    yield "    for x in v:"
                case "map":
                    yield "    for x in v.values():"
                case _:
                    yield f"    if v is not None and not check_{field.type_name}(v):"
                    yield "        return False"
                    continue
            yield f"        if not check_{field.type_name}(x):"
            yield "            return False"
    yield "    return True"


def absent(field: Field) -> str:
    return "UNSET" if field.kind == "value" else "None"
