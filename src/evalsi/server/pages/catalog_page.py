"""The catalog: every evaluator with what it needs and gives, and one evaluator with its params and its example.

Its own module because a params schema becomes a table that people read.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from evalsi.core.content import json_text
from evalsi.core.errors import UnknownNameError
from evalsi.report.case_view import score_text
from evalsi.schema import EvaluatorManifest, ListEvaluatorsRequest, ListEvaluatorsResponse, json_codec
from evalsi.server.pages.visit import Page, Visit

_NEEDS = ("input", "output", "reference", "context", "trajectory", "usage", "check")


@dataclass(frozen=True, kw_only=True)
class Param:
    """A parameter as people read it."""

    name: str
    kind: str
    default: str
    description: str


async def catalog_page(visit: Visit) -> Page:
    found = await visit.call("CatalogService.ListEvaluators", ListEvaluatorsRequest(), ListEvaluatorsResponse)
    words = visit.query.get("search").lower().split()
    packs: dict[str, list[tuple[EvaluatorManifest, list[str]]]] = {}
    for one in sorted(found.evaluators, key=lambda each: (each.pack, each.name)):
        text = f"{one.pack} {one.name} {one.description}".lower()
        if all(word in text for word in words):
            packs.setdefault(one.pack or "others", []).append((one, _needs(one)))
    return Page(
        template="catalog.html.jinja",
        values={
            "packs": packs,
            "cli": ["evalsi catalog"],
            "total": len(found.evaluators),
            "judges": found.judges,
            "default_judge": found.default_judge,
        },
    )


async def evaluator_page(visit: Visit, pack: str, name: str) -> Page:
    found = await visit.call("CatalogService.ListEvaluators", ListEvaluatorsRequest(), ListEvaluatorsResponse)
    one = next((each for each in found.evaluators if each.name == name and pack in (each.pack, "others")), None)
    if one is None:
        raise UnknownNameError("evaluator", name, [each.name for each in found.evaluators])
    example = one.example
    record = example.record if example is not None else None
    return Page(
        template="evaluator.html.jinja",
        values={
            "one": one,
            "cli": [f"evalsi catalog {shlex.quote(one.name)}"],
            "needs": _needs(one),
            "params": params_of(one.params_schema),
            "example": _pretty(json_codec.encode_file(record)) if record is not None else "",
            "example_params": _pretty(msgspec.json.encode(example.params)) if example and example.params else "",
            "example_scores": [
                (score, score_text(score, better=_is_better(one, score.name)))
                for score in (example.scores if example is not None else [])
            ],
        },
    )


def params_of(schema: Mapping[str, Any]) -> list[Param]:
    """The parameters of a JSON Schema of an object; what is no object has none."""
    definitions = cast("dict[str, Any]", schema.get("$defs", {}))
    reference = schema.get("$ref")
    if isinstance(reference, str):
        schema = definitions.get(reference.rpartition("/")[2], {})
    properties = cast("dict[str, dict[str, Any]]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    return [
        Param(
            name=name,
            kind=_kind(entry),
            default="required" if name in required else json_text(entry["default"]) if "default" in entry else "",
            description=str(entry.get("description", "")),
        )
        for name, entry in properties.items()
    ]


def _kind(entry: Mapping[str, Any]) -> str:
    if "enum" in entry:
        return " | ".join(json_text(value) for value in cast("list[Any]", entry["enum"]))
    if "anyOf" in entry:
        return " or ".join(_kind(each) for each in cast("list[dict[str, Any]]", entry["anyOf"]))
    if "$ref" in entry:
        return str(entry["$ref"]).rpartition("/")[2]
    kind = entry.get("type", "any")
    if kind == "array":
        return f"list of {_kind(cast('dict[str, Any]', entry.get('items', {})))}"
    return str(kind)


def _is_better(one: EvaluatorManifest, output: str) -> bool | None:
    """Whether it is better for an output to be high, as it is declared."""
    specs = {spec.name: spec for spec in one.outputs}
    spec = specs.get(output) or (one.outputs[0] if len(one.outputs) == 1 else None)
    return spec.higher_is_better if spec is not None else None


def _needs(one: EvaluatorManifest) -> list[str]:
    needs = one.requires
    if needs is None:
        return []
    named = [name for name in _NEEDS if getattr(needs, name)]
    return [*named, *(f"metadata.{key}" for key in needs.metadata), *(["a judge"] if needs.judge else [])]


def _pretty(line: bytes) -> str:
    return msgspec.json.format(line, indent=2).decode()
