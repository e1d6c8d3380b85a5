"""Fields of a request from the query of an address: text becomes what each field holds.

Its own module because a query has only text, and what a text means is decided by the schema alone. `labels.topic=x`
gives a map an entry, `summary.seed=1` goes deeper, a repeated field may stand several times.
"""

from typing import Any
from urllib.parse import parse_qsl

from evalsi.schema.field import Field, fields_of
from evalsi.schema.schema_error import SchemaError, unknown_field

_MOST_FIELDS = 1000


def fields_of_query(query: str, message: str) -> dict[str, Any]:
    """Plain values for `json_codec.convert`. Raises: SchemaError: a field is unknown, or its text is not of its kind."""
    values: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise SchemaError("", "the query of the address cannot be read") from None
    for name, text in pairs:
        path = name.replace("[", ".").replace("]", "") if "[" in name else name
        _put(values, path.split("."), text, message, "")
    return values


def put_place(values: dict[str, Any], name: str, text: str, message: str) -> None:
    """Puts what a place of the path holds. Raises: SchemaError: its text is not of the field's kind."""
    _put(values, [name], text, message, "")


def _put(values: dict[str, Any], steps: list[str], text: str, message: str, above: str) -> None:
    field = _named(steps[0], message, above)
    path = f"{above}.{field.name}" if above else field.name
    if len(steps) == 1 and field.kind != "message" and field.shape != "map":
        value = _value(field, text, path)
        if field.shape == "list":
            values.setdefault(field.name, []).append(value)
        elif field.name in values:
            raise SchemaError(path, f"{path} is given more than once")
        else:
            values[field.name] = value
    elif len(steps) > 1 and field.shape == "map":
        values.setdefault(field.name, {})[".".join(steps[1:])] = _value(field, text, path)
    elif len(steps) > 1 and field.kind == "message" and field.shape in ("plain", "optional"):
        _put(values.setdefault(field.name, {}), steps[1:], text, field.type_name, path)
    else:
        raise SchemaError(path, f"{path} cannot be given in the query like this")


def _named(name: str, message: str, above: str) -> Field:
    fields = fields_of(message)
    for field in fields:
        if name in (field.name, field.json_name):
            return field
    raise unknown_field(above, name, fields)


def _value(field: Field, text: str, path: str) -> Any:
    match field.kind:
        case "bool":
            found = {"true": True, "1": True, "": True, "false": False, "0": False}.get(text.lower())
            if found is None:
                raise SchemaError(path, f"{path} must be true or false, not {text[:40]!r}")
            return found
        case "int32" | "int64":
            if not text.removeprefix("-").isdecimal() or len(text) > 20:
                raise SchemaError(path, f"{path} must be a whole number, not {text[:40]!r}")
            return int(text)
        case "double":
            try:
                return float(text)
            except ValueError:
                raise SchemaError(path, f"{path} must be a number, not {text[:40]!r}") from None
        case "enum" if text.isdecimal() and len(text) < 10:
            return int(text)
        case "value" | "object" | "message":
            raise SchemaError(path, f"{path} cannot be given in the query")
        case _:
            return text
