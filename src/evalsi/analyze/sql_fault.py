"""DuckDB's complaint about a query as one sentence with the place in it.

Its own module because the position comes as a byte offset in a JSON text, and a person reads line and column.
"""

import json
from typing import Any, cast

from evalsi.core.errors import UsageError

_REFUSED = "a query reads the tables of the runs and nothing else"
_TABLES = "'DESCRIBE scores' shows the columns of a table; the tables are runs, metrics, observations and scores"


def sql_fault(error: Exception, sql: str) -> UsageError:
    """The error to raise for what DuckDB raised on `sql`."""
    facts = _facts(str(error))
    first, *more = [line.strip() for line in str(facts["exception_message"]).splitlines() if line.strip()] or [
        "refused"
    ]
    kind = str(facts.get("exception_type", ""))
    if kind == "Permission" or "autoinstall" in str(facts):
        hint = _REFUSED
    elif kind in ("Invalid Input", "Not implemented") and "parameters" in first:
        first, hint = "the query holds a placeholder", "write the value into the query"
    else:
        hint = _hint(facts, more)
    return UsageError(f"the query cannot be run: {first.rstrip('!.')}", where=_place(facts, sql), hint=hint)


def _facts(text: str) -> dict[str, Any]:
    start = text.find("{")
    try:
        found = json.loads(text[start:]) if start >= 0 else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or "exception_message" not in found:
        return {"exception_message": text}
    return cast("dict[str, Any]", found)


def _hint(facts: dict[str, Any], more: list[str]) -> str | None:
    candidates = [name for name in str(facts.get("candidates", "")).split(",") if name][:5]
    if candidates and facts.get("error_subtype") == "NO_MATCHING_FUNCTION":
        return f"it takes: {candidates[0]}" + (" and others" if candidates[1:] else "")
    if candidates:
        return "did you mean " + " or ".join(f"{name.strip()!r}" for name in candidates) + "?"
    if facts.get("error_subtype") in ("MISSING_ENTRY", "COLUMN_NOT_FOUND"):
        return _TABLES
    return more[0].rstrip("!.") if more else None


def _place(facts: dict[str, Any], sql: str) -> str | None:
    position = str(facts.get("position", ""))
    if not position.isdigit():
        return None
    before = sql.encode(errors="replace")[: int(position)].decode(errors="replace")
    return f"query:{before.count(chr(10)) + 1}:{len(before) - (before.rfind(chr(10)) + 1) + 1}"
