"""Fields of foreign JSON, read with a shrug: what is missing or of another shape than expected is absent.

Other tools change their formats as they please, and a record that lacks a price is worth more than an error about it.
Only what makes a sample a sample (an id, a list of samples) is demanded, by the readers themselves.
"""

import math
from datetime import UTC, datetime
from typing import Any, cast

from evalsi.core.content import json_text
from evalsi.datasets.imports.log_json import finite
from evalsi.schema import Usage

_INT64 = 2**63


def object_of(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [cast("dict[str, Any]", item) for item in list_of(value) if isinstance(item, dict)]


def list_of(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """The text; of anything else its JSON, and nothing of null."""
    return "" if value is None else json_text(finite(value))


def number_of(value: Any) -> float | None:
    """The number, when it is one and finite. A verdict is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def count_of(value: Any) -> int | None:
    """The whole number from 0 on."""
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < _INT64 and number == int(number) else None


def moment_of(value: Any) -> datetime | None:
    """The time of an ISO 8601 text; one without a time zone is read as UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def usage_or_none(usage: Usage) -> Usage | None:
    """The usage, when it says anything."""
    return usage if usage != Usage() else None
