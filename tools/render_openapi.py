"""Renders `openapi.json` (OpenAPI 3.1): every REST address with its JSON, as the server answers it.

Names are those of answers, lowerCamelCase; requests may also write them in snake_case, which the description says once.
"""

import json
import re
from typing import Any

from render_json_schema import ALSO_TEXT
from schema_model import EnumType, Field, Kind, MessageType, Method, Schema

PLAIN: dict[Kind, dict[str, Any]] = {
    "string": {"type": "string"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
    "uint32": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**32 - 1},
    "int64": {"type": "integer", "format": "int64", "minimum": -(2**63), "maximum": 2**63 - 1},
    "double": {"type": "number", "format": "double"},
    "value": {},
    "object": {"type": "object"},
    "duration": {"type": "string", "pattern": r"^-?[0-9]{1,9}(\.[0-9]{1,9})?s$"},
    "timestamp": {"type": "string", "format": "date-time"},
}
DESCRIPTION = (
    "Every method is also here over gRPC, gRPC-Web and Connect, on the same port. Bodies may write names in snake_case too, "
    "enums as their short word or number. `/v1/…` stands for `/v1alpha1/…`. An answer that took longer than the client "
    "waits for can be asked for again: calls that make something take an `Idempotency-Key`."
)
ERROR = {
    "type": "object",
    "description": "Why a call failed.",
    "required": ["code", "message", "details"],
    "properties": {
        "code": {"type": "integer", "description": "Number of the gRPC status."},
        "message": {"type": "string", "description": "What is wrong, where, and what to do, in one sentence."},
        "details": {"type": "array", "items": {}, "description": "Always empty."},
        "error": {"type": "string", "description": "Code of the error: the name of its page in the documentation."},
        "field": {"type": "string", "description": "Path of the field that is wrong."},
        "requestId": {"type": "string", "description": "Identifier of the request, as in the log of the server."},
    },
}


def render_openapi(schema: Schema, version: str) -> str:
    messages, enums = schema.messages(), schema.enums()
    paths: dict[str, dict[str, Any]] = {}
    wanted: list[str] = []
    tags: list[dict[str, str]] = []
    for file in schema.files:
        if file.package != "evalsi.v1alpha1":
            continue
        for service in file.services:
            tags.append({"name": service.name, "description": service.doc})
            for method in service.methods:
                if method.route is None:
                    continue
                for path in filter(None, (method.route.path, method.route.also)):
                    operation = render_operation(service.name, method, path, messages, enums)
                    paths.setdefault(path, {})[method.route.verb.lower()] = operation
                wanted += [method.request, method.response]
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Evals.si", "version": version, "description": DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {"Error": ERROR, **components(wanted, messages, enums)},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key, `evk_…`."}},
        },
        "security": [{}, {"key": []}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def render_operation(
    service: str, method: Method, path: str, messages: dict[str, MessageType], enums: dict[str, EnumType]
) -> dict[str, Any]:
    route = method.route
    assert route is not None
    request = messages[method.request]
    places = re.findall(r"\{(\w+)\}", path)
    source = request
    if route.raw and method.client_streams:
        source = messages[next(field.type_name for field in request.fields if field.kind == "message")]
    known = {field.name: field for field in source.fields}
    parameters = [parameter(known[name], "path", enums) for name in places]
    operation: dict[str, Any] = {
        "operationId": f"{service}_{method.name}" + ("" if path == route.path else "_also"),
        "tags": [service],
        "summary": method.doc.split(". ")[0].rstrip("."),
        "description": f"{method.doc}\n\nNeeds the permission `{method.action}`.",
    }
    if route.body == "*" and method.client_streams:
        operation["requestBody"] = {
            "required": True,
            "description": "A message a line.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    elif route.body == "*":
        operation["requestBody"] = json_body(method.request)
    elif route.body:
        operation["requestBody"] = json_body(known[route.body].type_name)
    elif method.client_streams:
        operation["requestBody"] = {
            "required": True,
            "description": "The file as it is.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "contentEncoding": "binary"}}},
        }
    if route.body != "*":
        parameters += [
            parameter(field, "query", enums)
            for field in source.fields
            if field.name not in (*places, route.body) and field.kind not in ("message", "value", "object", "bytes")
        ]
    if parameters:
        operation["parameters"] = parameters
    operation["responses"] = {
        "201" if method.client_streams and route.raw else "200": {
            "description": messages[method.response].doc,
            "content": answer_content(method),
        },
        "default": {
            "description": "The call failed.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        },
    }
    return operation


def answer_content(method: Method) -> dict[str, Any]:
    assert method.route is not None
    if not method.server_streams:
        return {"application/json": {"schema": {"$ref": f"#/components/schemas/{method.response}"}}}
    if method.route.raw:
        if method.route.raw_type:
            return {method.route.raw_type: {"schema": {"type": "string", "contentEncoding": "binary"}}}
        return {"application/x-ndjson": {"schema": {"type": "string"}}}
    text = {"schema": {"type": "string", "description": f"{method.response} in each event or line."}}
    return {"text/event-stream": text, "application/x-ndjson": text}


def json_body(message: str) -> dict[str, Any]:
    return {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{message}"}}},
    }


def parameter(field: Field, place: str, enums: dict[str, EnumType]) -> dict[str, Any]:
    one = enum_schema(enums[field.type_name]) if field.kind == "enum" else dict(PLAIN[field.kind])
    one.pop("description", None)
    found: dict[str, Any] = {"name": field.name, "in": place, "description": field.doc, "schema": one}
    if place == "path":
        found["required"] = True
        found["schema"] = one | {"minLength": 1}
    elif field.shape == "list":
        found["schema"] = {"type": "array", "items": one}
    elif field.shape == "map":
        found["schema"] = {"type": "object", "additionalProperties": one}
        found["style"], found["explode"] = "deepObject", True
    return found


def components(wanted: list[str], messages: dict[str, MessageType], enums: dict[str, EnumType]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    waiting = list(wanted)
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        if name in enums:
            found[name] = enum_schema(enums[name])
            continue
        found[name] = message_schema(messages[name])
        waiting += [field.type_name for field in messages[name].fields if field.type_name]
    return dict(sorted(found.items()))


def message_schema(message: MessageType) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in message.fields:
        one: dict[str, Any] = (
            {"$ref": f"#/components/schemas/{field.type_name}"} if field.type_name else dict(PLAIN[field.kind])
        )
        if field.shape == "list":
            one = {"type": "array", "items": one}
        elif field.shape == "map":
            one = {"type": "object", "additionalProperties": one}
        properties[field.json_name] = one | {"description": field.doc}
    built: dict[str, Any] = {
        "type": ["object", "string"] if message.name in ALSO_TEXT else "object",
        "description": message.doc,
        "properties": properties,
        "additionalProperties": False,
    }
    only_choice = len(message.oneofs) == 1 and all(field.oneof for field in message.fields)
    if only_choice:
        built |= {"minProperties": 1, "maxProperties": 1}
    return built


def enum_schema(enum: EnumType) -> dict[str, Any]:
    meanings = [f"{member.proto_name}: {member.doc}" for member in enum.members]
    return {
        "type": "string",
        "description": "\n".join([enum.doc, *meanings]),
        "enum": [member.proto_name for member in enum.members],
    }
