"""Hands out the JSON Schema files that ship with the package. Written by hand."""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "jsonschema"


def documents() -> list[str]:
    """Names of the documents that have a schema, for example "record" and "eval-run"."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


@cache
def json_schema(document: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a document by its name in `documents()`. Not to be changed by the caller."""
    if document not in documents():
        raise KeyError(f"no schema for {document!r}; there are {', '.join(documents())}")
    return json.loads((_FOLDER / f"{document}.json").read_text(encoding="utf-8"))
