"""JSON as other tools write it: NaN and infinities included, which JSON has not and most of them use.

What comes out can become a record: no lone surrogates, nesting within bounds, and (through `finite`) no NaN. Unwanted
parts of a document, such as an event log ten times the size of the sample, are skipped without building them.
"""

import json
import math
from typing import Any, TypeVar, cast

import msgspec

from evalsi.core.lone_surrogates import without_surrogates
from evalsi.datasets.careful_json import deeper_than
from evalsi.datasets.rows import MAX_DEPTH, RowError

_MAX_LOG_DEPTH = MAX_DEPTH - 20
"""A record wraps what it takes over in some levels of its own."""

_T = TypeVar("_T")


def read_log_json(data: bytes, kind: type[_T]) -> _T:
    """The value that `data` spells, as a dict, or as a Struct that names the wanted fields, all of them of any type.

    Raises:
        RowError: `data` is no JSON in UTF-8, not of that kind, or nested too deep.
    """
    try:
        return _clean(msgspec.json.decode(data, type=kind), data)
    except msgspec.ValidationError as error:
        raise RowError(_lowered(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _clean(_read_slowly(data, kind), data)
    except RecursionError:
        raise RowError(f"nested deeper than {_MAX_LOG_DEPTH} levels") from None


def finite(value: Any) -> Any:
    """`value` with NaN and infinities replaced by their names, so that nothing is lost and all of it is JSON."""
    match value:
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {name: finite(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [finite(inner) for inner in cast("list[Any]", value)]
        case _:
            return value


def _read_slowly(data: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(json.loads(data.decode()), kind)
    except UnicodeDecodeError as error:
        raise RowError(f"byte 0x{data[error.start]:02x} at byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise RowError(f"not JSON: {reason} at line {error.lineno}, column {error.colno}") from None
    except msgspec.ValidationError as error:
        raise RowError(_lowered(str(error))) from None
    except RecursionError:
        raise RowError(f"nested deeper than {_MAX_LOG_DEPTH} levels") from None
    except ValueError:
        raise RowError("a number has too many digits") from None


def _clean(value: _T, data: bytes) -> _T:
    plain: Any = msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else value
    if deeper_than(plain, _MAX_LOG_DEPTH):
        raise RowError(f"nested deeper than {_MAX_LOG_DEPTH} levels")
    if b"\\ud" in data or b"\\uD" in data:
        plain, changed = without_surrogates(plain)
        if changed:
            return msgspec.convert(plain, type(value))
    return value


def _lowered(reason: str) -> str:
    return reason[:1].lower() + reason[1:]
