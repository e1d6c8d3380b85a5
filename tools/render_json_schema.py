"""Renders JSON Schema (draft 2020-12) of the documents people write and keep, for editors and for other programs.

A schema accepts every spelling the reader accepts, so each field stands twice where its two names differ.
"""

import json
from itertools import combinations
from typing import Any

from schema_model import EnumType, Field, Kind, MessageType, Schema

DOCUMENTS = ("Record", "RunSpec", "ResultsFile", "EvaluatorManifest", "EvaluateRequest", "Observation")
BASE = "https://evals.si/schema/v1alpha1/"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DURATION = r"^\s*-?([0-9]+(\.[0-9]+)?(h|ms|us|m|s))+\s*$"
ALSO_TEXT = frozenset({"Content", "EvaluatorRef"})
"""Messages that a text alone stands for: what it says, and the reference. As `json_reader` reads them."""
PLAIN: dict[Kind, dict[str, Any]] = {
    "string": {"type": "string"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "uint32": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "int64": {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,19}$"},
    "double": {"type": "number"},
    "value": {},
    "object": {"type": "object"},
    "duration": {"type": ["string", "number"], "pattern": DURATION},
    "timestamp": {"type": "string", "format": "date-time"},
}


def render_json_schemas(schema: Schema) -> dict[str, str]:
    """Text of each schema by its file name."""
    documents = {name: document_schema(schema, name) for name in DOCUMENTS}
    documents["EvalRun"] = eval_run_schema(schema)
    return {
        f"{kebab(name)}.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        for name, document in documents.items()
    }


def document_schema(schema: Schema, name: str) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "$id": f"{BASE}{kebab(name)}.json",
        "title": name,
        "$ref": f"#/$defs/{name}",
        "$defs": definitions(schema, name),
    }


def eval_run_schema(schema: Schema) -> dict[str, Any]:
    """The file people write to start a run, with what its reader asks for beyond the types.

    The reader takes a text for an evaluator (its reference) and for a gate (its condition in CEL), so the schema does.
    """
    document = document_schema(schema, "EvalRun")
    types = document["$defs"]
    envelope = types["EvalRun"]
    envelope["properties"]["api_version"] |= {"const": "evals.si/v1alpha1"}
    envelope["properties"]["kind"] |= {"const": "EvalRun"}
    envelope["required"] = ["kind", "metadata", "spec"]
    envelope["anyOf"] = [{"required": ["apiVersion"]}, {"required": ["api_version"]}]
    types["RunMetadata"]["required"] = ["name"]
    types["RunMetadata"]["properties"]["name"] |= {"pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"}
    spec = types["RunSpec"]
    spec["required"] = ["dataset", "evaluators"]
    spec["properties"]["trials"] |= {"minimum": 1}
    spec["properties"]["evaluators"] |= {"minItems": 1}
    for name, meaning in (("evaluators", "A reference."), ("gates", "A condition in CEL.")):
        listed = spec["properties"][name]
        listed["items"] = {"anyOf": [{"type": "string", "description": meaning}, listed["items"]]}
    return document


def definitions(schema: Schema, root: str) -> dict[str, Any]:
    """Every type that can be reached from `root`."""
    messages, enums = schema.messages(), schema.enums()
    found: dict[str, Any] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        if name in enums:
            found[name] = enum_schema(enums[name])
            continue
        found[name] = message_schema(messages[name])
        waiting += [field.type_name for field in messages[name].fields if field.type_name]
    return found


def message_schema(message: MessageType) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in message.fields:
        properties[field.name] = described(field)
        if field.json_name != field.name:
            properties[field.json_name] = {"$ref": f"#/$defs/{message.name}/properties/{field.name}"}
        if field.measured:
            in_ms = {"type": "number", "description": f"{field.doc} In milliseconds."}
            properties[f"{field.name}_ms"] = in_ms
            properties[f"{field.json_name}Ms"] = {"$ref": f"#/$defs/{message.name}/properties/{field.name}_ms"}
    built: dict[str, Any] = {
        "type": ["object", "string"] if message.name in ALSO_TEXT else "object",
        "description": message.doc,
        "properties": properties,
        "additionalProperties": False,
    }
    groups = [[field.name for field in message.fields if field.oneof == oneof] for oneof in message.oneofs]
    if len(groups) == 1 and len(groups[0]) == len(message.fields):
        return built | {"minProperties": 1, "maxProperties": 1}
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    if pairs:
        built["allOf"] = [{"not": {"required": list(pair)}} for pair in pairs]
    return built


def described(field: Field) -> dict[str, Any]:
    one: dict[str, Any] = {"$ref": f"#/$defs/{field.type_name}"} if field.type_name else dict(PLAIN[field.kind])
    if field.shape == "list":
        one = {"type": "array", "items": one}
    elif field.shape == "map":
        one = {"type": "object", "additionalProperties": one}
    return one | {"description": field.doc}


def enum_schema(enum: EnumType) -> dict[str, Any]:
    words = [member.name.lower() for member in enum.members]
    meanings = [f"{member.name.lower()}: {member.doc}" for member in enum.members if member.number]
    return {
        "description": "\n".join([enum.doc, *meanings]),
        "enum": words + [member.proto_name for member in enum.members],
    }


def kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")
