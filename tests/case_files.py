"""The shared cases: small inputs from public failures with their right answers."""

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"


def case(identifier: str) -> dict[str, Any]:
    """The case whose file begins with `identifier`, e.g. "D01"."""
    (path,) = CASES.glob(f"{identifier}_*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(identifier: str) -> list[tuple[Any, Any]]:
    """The rows of a case's input, each beside what is expected of it."""
    found = case(identifier)
    return list(zip(found["input"]["rows"], found["expected"]["rows"], strict=True))
