"""Reads the shipped cases: rows of input beside rows of what is expected."""

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "cases"


def load_case(case_id: str) -> dict[str, Any]:
    [path] = CASES.glob(f"{case_id}_*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(case_id: str) -> list[tuple[Any, Any]]:
    case = load_case(case_id)
    rows = list(zip(case["input"]["rows"], case["expected"]["rows"], strict=True))
    assert rows
    return rows
