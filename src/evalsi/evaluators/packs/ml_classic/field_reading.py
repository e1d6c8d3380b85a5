"""Where a label or a number stands in a record: the one reading that all evaluators of this pack share.

A value is looked for in this order: the field of a JSON object (also when the object is written as text), the
prediction, feature or probability of a table row, a JSON scalar, the text itself. What cannot be read is a `Missing`
with its reason, so that one bad record is counted and named and costs nothing else.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.schema import Content, TabularRow


@dataclass(frozen=True)
class Missing:
    """Why there is no value, in words that many records share, so that they can be counted."""

    reason: str


def label_of(content: Content | None, field: str, *, what: str) -> str | Missing:
    """A class label: text without surrounding blanks; numbers and booleans as JSON writes them, 1.0 as "1".

    Args:
        content: The output or the reference.
        field: Key of the label in an object or among a row's features.
        what: "output" or "reference", for the reason.
    """
    value = _value_of(content, field, what)
    if isinstance(value, Missing):
        return value
    if isinstance(value, str):
        return value.strip() or Missing(f"the {what} is empty")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return Missing(f"the {what} is no label")


def number_of(content: Content | None, field: str, *, what: str) -> float | Missing:
    """A finite number. Text is read as a number; a JSON string, a boolean, NaN and the infinities are none.

    Args: as `label_of`.
    """
    value = _value_of(content, field, what)
    if isinstance(value, str) and content is not None and (content.text is not None or content.messages is not None):
        return _parsed(value, what)
    return value if isinstance(value, Missing) else _finite(value, what)


def score_of(content: Content | None, metadata: dict[str, Any], field: str, positive_label: str) -> float | Missing:
    """A classifier's score of the positive class.

    It is a row's probability of `positive_label`, else the number of the output, else `metadata[field]`.
    """
    row = content.row if content is not None else None
    if row is not None and positive_label in row.probabilities:
        return _finite(row.probabilities[positive_label], "score")
    if row is not None and field in row.probabilities:
        return _finite(row.probabilities[field], "score")
    found = number_of(content, field, what="output")
    if isinstance(found, Missing) and field in metadata:
        return _finite(metadata[field], "score")
    return found


def _value_of(content: Content | None, field: str, what: str) -> Any:
    if content is None:
        return Missing(f"there is no {what}")
    if content.row is not None:
        return _value_of_row(content.row, field, what)
    value: Any = text_of(content) if content.json is msgspec.UNSET else content.json
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _object_in(value)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(field, Missing(f"the {what} has no {field!r}"))
    return value


def _value_of_row(row: TabularRow, field: str, what: str) -> Any:
    if row.prediction is not msgspec.UNSET and row.prediction is not None:
        return row.prediction
    if field in row.features:
        return row.features[field]
    if row.probabilities:
        return max(row.probabilities, key=lambda label: row.probabilities[label])
    return Missing(f"the {what} has no prediction and no {field!r}")


def _object_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _parsed(text: str, what: str) -> float | Missing:
    if not text.strip():
        return Missing(f"the {what} is empty")
    if "_" in text:
        return Missing(f"the {what} is no number")
    try:
        return _finite(float(text), what)
    except ValueError:
        return Missing(f"the {what} is no number")


def _finite(value: Any, what: str) -> float | Missing:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Missing(f"the {what} is no number")
    try:
        number = float(value)
    except OverflowError:
        return Missing(f"the {what} is not finite")
    return number if math.isfinite(number) else Missing(f"the {what} is not finite")
