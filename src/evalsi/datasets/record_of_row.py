"""One row as one record, and back: the reading of a record's keys that every source shares.

`id input output reference context trajectory usage metadata provenance check notes stop_reason` are a record's own;
every other column is metadata.
"""

from datetime import datetime
from typing import Any, TypeVar, cast

import msgspec

from evalsi.core.chat import messages_of
from evalsi.core.errors import suggestion
from evalsi.datasets.row_ids import text_of_id
from evalsi.datasets.rows import Row, RowError
from evalsi.schema import (
    Content,
    MediaRef,
    Messages,
    Provenance,
    Record,
    Step,
    StepType,
    TabularRow,
    TaskCheck,
    Tensor,
    Trajectory,
    Usage,
)

_T = TypeVar("_T")

STRUCTURED = frozenset(
    {"context", "trajectory", "usage", "metadata", "provenance", "check", "notes", "stop_reason", "stopReason"}
)
"""Columns whose values must have a certain shape; rows without them need no check."""

_SHAPED = STRUCTURED - {"metadata", "context", "notes", "usage"}
"""Of these, the columns that are checked by building them."""

_USAGE_ALIASES = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cached_input_tokens",
    "cache_read_input_tokens": "cached_input_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
    "cost": "cost_usd",
    "latency_s": "latency",
}
_ANTHROPIC = frozenset({"cache_read_input_tokens", "cache_creation_input_tokens"})
_INT64 = 2**63
_WHOLE = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cached_input_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
        "requests",
        "unpriced_requests",
    }
)
_USAGE_FIELDS = frozenset(Usage.__struct_fields__)
_STEP_FIELDS = frozenset(Step.__struct_fields__) | {"duration_ms"}


def record_of_row(row: Row, identifier: str) -> Record:
    """The record that `row` spells. Uses `row` up: what is left of it becomes the metadata.

    Args:
        row: Its columns without the id.
        identifier: Of the record.

    Raises:
        RowError: a column such as usage or context has a shape that no record has.
    """
    take = row.pop
    given = take("input", None)
    answered = take("output", None)
    wanted = take("reference", None)
    input_ = Content(text=given) if type(given) is str else content_of(given)
    output = Content(text=answered) if type(answered) is str else content_of(answered)
    reference = Content(text=wanted) if type(wanted) is str else content_of(wanted)
    if STRUCTURED.isdisjoint(row):
        return Record(id=identifier, input=input_, output=output, reference=reference, metadata=row)
    stop_reason = take("stop_reason", None) or take("stopReason", None) or ""
    if not isinstance(stop_reason, str):
        raise RowError("stop_reason is not text")
    return Record(
        id=identifier,
        input=input_,
        output=output,
        reference=reference,
        context=_context(take("context", None)),
        trajectory=trajectory_of(take("trajectory", None)),
        usage=usage_of(take("usage", None)),
        provenance=_convert(take("provenance", None), Provenance, "provenance"),
        check=_convert(take("check", None), TaskCheck, "check"),
        notes=_notes(row),
        stop_reason=stop_reason,
        metadata=_metadata(row),
    )


def check_row(row: Row) -> None:
    """Raises what `record_of_row` would raise. Leaves `row` as it is, and is quick where nothing can be wrong."""
    if "usage" in row:
        usage_of(row["usage"])
    if _SHAPED.isdisjoint(row):
        metadata = row.get("metadata")
        if metadata is None or (type(metadata) is dict and cast("Row", metadata).keys().isdisjoint(row)):
            return
    record_of_whole_row(row, "")


def record_of_whole_row(row: Row, identifier: str) -> Record:
    """As `record_of_row`, of a row that has its id still, and is left as it is. Metadata may have a key named id too."""
    columns = {**row}
    columns.pop("id", None)
    return record_of_row(columns, identifier)


def parse_record(line: bytes) -> Record:
    """The record of one line that `RecordBatch.lines` holds. The inverse of storing it.

    Raises:
        RowError: the line is none of ours.
    """
    row = msgspec.json.decode(line, type=dict[str, Any])
    return record_of_row(row, text_of_id(row.pop("id", None)))


def encode_record(record: Record) -> bytes:
    """One line from which `parse_record` makes an equal record."""
    return msgspec.json.encode(record)


def content_of(value: Any) -> Content | None:
    """What a value says: text, a conversation, one of the forms {text | messages | json | row | tensor | media}, or JSON.

    None is no content. An object that does not fit the form its key names is JSON like any other.
    """
    match value:
        case None:
            return None
        case str():
            return Content(text=value)
        case list():
            messages = messages_of(value)
            return Content(json=value) if messages is None else Content(messages=Messages(messages=messages))
        case dict():
            fields = cast("dict[str, Any]", value)
            if len(fields) == 1 and (formed := _formed(*next(iter(fields.items())))) is not None:
                return formed
            messages = messages_of(fields)
            return Content(json=fields) if messages is None else Content(messages=Messages(messages=messages))
        case _:
            return Content(json=value)


def usage_of(value: Any) -> Usage | None:
    """Tokens, money and time, in our names or those of the OpenAI and Anthropic APIs; `latency_ms` in milliseconds.

    Raises:
        RowError: it is no object, has a field that is not known, or a number that cannot be one.
    """
    if value is None or value == {}:
        return None
    if not isinstance(value, dict):
        raise RowError("usage is not an object")
    given = cast("dict[str, Any]", value)
    read: dict[str, Any] = {}
    for name, number in given.items():
        if type(number) is int and name in _WHOLE and 0 <= number < _INT64:
            read[name] = number
            continue
        if number is None:
            continue
        match name:
            case "total_tokens":
                continue
            case "prompt_tokens_details" | "completion_tokens_details" if isinstance(number, dict):
                details = cast("dict[str, Any]", number)
                read |= {
                    field: _number(details[key], key, whole=True)
                    for key, field in (
                        ("cached_tokens", "cached_input_tokens"),
                        ("reasoning_tokens", "reasoning_tokens"),
                    )
                    if details.get(key) is not None
                }
            case "latency_ms" | "latencyMs":
                read["latency"] = _number(number, name) / 1000
            case _:
                field = _usage_field(name)
                if field == "cached":
                    if type(number) is not bool:
                        raise RowError("usage.cached is not true or false")
                    read[field] = number
                else:
                    read[field] = _number(number, name, whole=field in _WHOLE)
    if not _ANTHROPIC.isdisjoint(given):
        # That API counts cached tokens beside input_tokens; ours are the whole input.
        read["input_tokens"] = sum(
            read.get(field, 0) for field in ("input_tokens", "cached_input_tokens", "cache_write_tokens")
        )
    return Usage(**read)


def _usage_field(name: str) -> str:
    field = _USAGE_ALIASES.get(name, name)
    if field not in _USAGE_FIELDS:
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
        field = _USAGE_ALIASES.get(snake, snake)
    if field not in _USAGE_FIELDS:
        hint = suggestion(name, _USAGE_FIELDS)
        raise RowError(f"usage has no field {name!r}" + (f"; {hint}" if hint else ""))
    return field


def _number(value: Any, name: str, *, whole: bool = False) -> Any:
    number: Any = value
    if isinstance(number, str):
        try:
            number = float(number.removesuffix("s") if name == "latency" else number)
        except ValueError:
            number = None
    if number is None or isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < _INT64:
        raise RowError(f"usage.{name} is no number from 0 on")
    if whole:
        if int(number) != number:
            raise RowError(f"usage.{name} is not a whole number")
        return int(number)
    return float(number)


def _formed(form: str, value: Any) -> Content | None:
    match form:
        case "text" if isinstance(value, str):
            return Content(text=value)
        case "json":
            return Content(json=value)
        case "messages":
            inner = cast("dict[str, Any]", value).get("messages") if isinstance(value, dict) else value
            if inner == []:
                return Content(messages=Messages())
            messages = messages_of(inner) if isinstance(inner, list) else None
            if messages is None and isinstance(value, dict):
                return _form(Messages, value, "messages")
            return None if messages is None else Content(messages=Messages(messages=messages))
        case "row":
            return _form(TabularRow, value, "row")
        case "tensor":
            return _form(Tensor, value, "tensor")
        case "media":
            return _form(MediaRef, value, "media")
        case _:
            return None


def _form(kind: type[Any], value: Any, form: str) -> Content | None:
    try:
        return Content(**{form: msgspec.convert(value, kind)})
    except msgspec.ValidationError:
        return None


def _context(value: Any) -> list[Content]:
    if value is None:
        return []
    passages = cast("list[Any]", value) if isinstance(value, list) else [value]
    contents = [content_of(passage) for passage in passages]
    return [content for content in contents if content is not None]


def _notes(row: Row) -> list[str]:
    """Notes are a list of texts; a column of that name with anything else is the user's own and stays metadata."""
    notes = row.get("notes")
    if isinstance(notes, list) and all(isinstance(note, str) for note in cast("list[Any]", notes)):
        del row["notes"]
        return cast("list[str]", notes)
    return []


def _metadata(row: Row) -> Row:
    """The metadata object joined with the columns that are left."""
    given = row.pop("metadata", None)
    if given is None:
        return row
    if not isinstance(given, dict):
        raise RowError("metadata is not an object")
    metadata = dict(cast("Row", given))
    for name, value in row.items():
        if name in metadata and metadata[name] != value:
            raise RowError(f"{name!r} is both a column and a key of metadata, and they differ")
        metadata[name] = value
    return metadata


def trajectory_of(value: Any) -> Trajectory | None:
    """A trajectory, or the list of its steps. Raises: RowError: it is neither, or a step is none."""
    if value is None:
        return None
    if not isinstance(value, dict | list):
        raise RowError("trajectory is neither an object nor a list of steps")
    given: dict[str, Any] = {"steps": value} if isinstance(value, list) else cast("dict[str, Any]", value)
    known = {"trace_id", "session_id", "steps"}
    fields = {_snake(name): inner for name, inner in given.items()}
    for name in fields:
        if name not in known:
            raise RowError(f"trajectory has no field {name!r}; {suggestion(name, known)}")
    steps: Any = fields.get("steps") or []
    if not isinstance(steps, list):
        raise RowError("trajectory.steps is not a list")
    return Trajectory(
        trace_id=_own_text(fields.get("trace_id"), "trajectory.trace_id"),
        session_id=_own_text(fields.get("session_id"), "trajectory.session_id"),
        steps=[_step(step, index) for index, step in enumerate(cast("list[Any]", steps))],
    )


def _step(value: Any, index: int) -> Step:
    path = f"trajectory.steps[{index}]"
    if not isinstance(value, dict):
        raise RowError(f"{path} is not an object")
    fields = {_snake(name): inner for name, inner in cast("dict[str, Any]", value).items() if inner is not None}
    for name in fields:
        if name not in _STEP_FIELDS:
            hint = suggestion(name, _STEP_FIELDS)
            raise RowError(f"{path} has no field {name!r}" + (f"; {hint}" if hint else ""))
    duration_ms = fields.pop("duration_ms", None)
    if duration_ms is not None:
        if isinstance(duration_ms, bool) or not isinstance(duration_ms, int | float):
            raise RowError(f"{path}.duration_ms is no number")
        fields["duration"] = duration_ms / 1000
    try:
        kind = StepType(fields.pop("type", "unspecified"))
    except ValueError as error:
        raise RowError(f"{path}.type: {error}; known: {', '.join(StepType)}") from None
    attributes = fields.pop("attributes", {})
    if not isinstance(attributes, dict):
        raise RowError(f"{path}.attributes is not an object")
    times = {name: _moment(fields.pop(name, None), f"{path}.{name}") for name in ("start_time", "end_time")}
    try:
        usage = usage_of(fields.pop("usage", None))
    except RowError as fault:
        raise RowError(f"{path}.{fault.reason}") from None
    contents = {name: content_of(fields.pop(name, None)) for name in ("input", "output")}
    plain = _convert(fields, Step, path) or Step()
    return msgspec.structs.replace(
        plain, type=kind, usage=usage, attributes=cast("Row", attributes), **contents, **times
    )


def _moment(value: Any, path: str) -> datetime | None:
    if value is None:
        return None
    try:
        moment = msgspec.convert(value, datetime)
    except msgspec.ValidationError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise RowError(f"{path} is no time with a time zone, such as 2026-01-31T12:00:00Z")
    return moment


def _convert(value: Any, kind: type[_T], path: str) -> _T | None:
    if value is None:
        return None
    if isinstance(value, dict):
        value = {_snake(name): inner for name, inner in cast("Row", value).items()}
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        reason = str(error)
        reason = reason[:1].lower() + reason[1:]
        raise RowError(f"{path}: {reason}") from None


def _own_text(value: Any, path: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"{path} is not text")
    return value


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
