"""Verdicts as JSON: an object with named fields, checked field by field.

One declaration gives the JSON Schema that a provider can enforce, the words for the prompt, and the reading. What counts
as the verdict: the object (or fenced object) that is the whole reply, else the one object that stands on lines of its own.
Objects in mid-sentence, in block quotes, or word for word in the material are quotations. Two objects that say different
things, a key twice, NaN, null, or a number outside its range are no verdict.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import msgspec

from evalsi.core.errors import InvalidParamsError, ReplyError
from evalsi.core.lone_surrogates import without_surrogates
from evalsi.judges.replies.label import comparable
from evalsi.judges.replies.own_words import MOST_CHARACTERS, final_text, out_of_range, refuse_runaway, unreadable
from evalsi.ports.chat_model import ChatReply

_FENCED = re.compile(r"```[\w-]{0,20}\s*\n?(.*?)\n?\s*```", re.DOTALL)
_LINE_START = re.compile(r"^[ \t]*(?:```[\w-]{0,20}[ \t]*)?(?=[{\[])", re.MULTILINE)
_ANCHORED = re.compile(
    r"^[ \t*_#]*(?:(?:here is|here's|the|my|final|overall|json)\s+){0,4}(?:verdict|result|answer|json|score|evaluation|output)"
    r"[ \t*_]*[:=][ \t*_]*(?=[{\[])",
    re.MULTILINE | re.IGNORECASE,
)
_REST_OF_LINE = re.compile(r"[ \t]*(?:```)?[ \t.]*(?:\n|\Z)")
_NUMERIC = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_MOST_OPENINGS = 200


class NumberField(msgspec.Struct, frozen=True, tag="number"):
    """A number from `low` to `high`, both included. A numeric string is one; true is not."""

    name: str
    low: float
    high: float
    whole: bool = False
    about: str = ""


class LabelField(msgspec.Struct, frozen=True, tag="label"):
    """One of `labels`; case does not matter."""

    name: str
    labels: tuple[str, ...]
    about: str = ""


class FlagField(msgspec.Struct, frozen=True, tag="flag"):
    """true or false; the strings "true", "false", "yes" and "no" are read as such, numbers are not."""

    name: str
    about: str = ""


class TextField(msgspec.Struct, frozen=True, tag="text"):
    """Free text; absent or null reads as ""."""

    name: str
    about: str = ""


class ListField(msgspec.Struct, frozen=True, tag="list"):
    """A list; of texts when `fields` is empty, else of objects with these fields."""

    name: str
    fields: "tuple[Field, ...]" = ()
    about: str = ""


Field: TypeAlias = NumberField | LabelField | FlagField | TextField | ListField


class JsonForm(msgspec.Struct, frozen=True):
    """The object a judge must reply with. Put the reason before the verdict, so that it is written before it is given.

    Raises: InvalidParamsError: a name twice, a range or label list that allows nothing.
    """

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names) or not names:
            raise InvalidParamsError(f"a JSON form needs fields with distinct names, not {names}", where="fields")
        for field in self.fields:
            if isinstance(field, NumberField) and not field.low < field.high:
                raise InvalidParamsError(f"{field.name!r} goes from {field.low:g} to {field.high:g}", where=field.name)
            if isinstance(field, LabelField) and len({comparable(label) for label in field.labels}) < 2:
                raise InvalidParamsError(f"{field.name!r} needs two or more labels", where=field.name)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema in the subset that providers enforce: every property required, no others allowed."""
        return _object_schema(self.fields)

    @property
    def instructions(self) -> str:
        """The required form, for the end of a prompt."""
        return "Reply with this JSON object and nothing else:\n" + _example(self.fields)

    def read(self, reply: ChatReply, *, material: Sequence[str] = ()) -> dict[str, Any]:
        """The fields by name: float (int when `whole`), the label as offered, bool, str or list.

        Args:
            reply: What the judge said.
            material: What the judge was shown as data: objects found word for word in it are quotations.
        Raises: ReplyError: no verdict, contradicting ones, out of range, cut off, or refused.
        """
        text = _whole_or(reply)
        wanted = f"the JSON object {_example(self.fields)}"
        found = _objects(text, material)
        if found is None:
            raise unreadable(reply, wanted, why="the judge's reply holds too many brackets to be a verdict")
        readings: list[dict[str, Any]] = []
        first_fault: ReplyError | None = None
        for value in found:
            try:
                readings.append(_read_fields(self.fields, _unwrapped(value, self.fields), reply, wanted))
            except ReplyError as error:
                # An object that tries to be the verdict and fails must not be outvoted by another one.
                if _resembles(value, self.fields):
                    raise
                first_fault = first_fault or error
        if not readings:
            raise first_fault or unreadable(reply, wanted)
        if any(reading != readings[0] for reading in readings[1:]):
            raise unreadable(reply, wanted, why="the judge's reply holds verdicts that contradict each other")
        return readings[0]


def _whole_or(reply: ChatReply) -> str:
    """The final text; of a reply that is one JSON value as it stands, nothing is taken to be reasoning."""
    refuse_runaway(reply)
    if reply.finish_reason == "stop" and len(reply.text) <= MOST_CHARACTERS:
        text = reply.text.strip().lstrip("\ufeff").strip()
        if text.startswith("{") and text.endswith("}") and _decoded(text) is not _NOTHING:
            return text
    return final_text(reply)


class _Pairs(dict[str, Any]):
    """An object as decoded; `twice` is a key that came more than once."""

    twice: str | None = None


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    found = _Pairs(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found.twice = key
            seen.add(key)
    return found


# strict=False: judges write line breaks inside strings, which is a slip of form and not of meaning. NaN is read, so that an
# object with it is seen to be a verdict that failed; no field takes it.
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)
_NOTHING = object()


def _decoded(text: str) -> Any:
    try:
        return _storable(_DECODER.decode(text))
    except (ValueError, RecursionError):
        return _NOTHING


def _storable(value: Any) -> Any:
    """The value without halves of surrogate pairs, which a model may write and nothing can store."""
    match value:
        case str():
            return without_surrogates(value)[0]
        case list():
            return [_storable(item) for item in cast("list[Any]", value)]
        case _Pairs():
            storable = _Pairs({_storable(key): _storable(item) for key, item in value.items()})
            storable.twice = value.twice
            return storable
        case _:
            return value


def _objects(text: str, material: Sequence[str]) -> list[Any] | None:
    """Every object that stands for itself, in order; None when there are too many openings to look at."""
    whole = text
    fenced = _FENCED.fullmatch(text)
    if fenced:
        whole = fenced.group(1).strip()
    value = _decoded(whole)
    if value is not _NOTHING:
        return [value] if isinstance(value, (dict, list)) else []
    # Beyond so many openings it is no verdict, and reading on would take minutes.
    quoted = ["".join(block.split()) for block in material if "{" in block]
    found: list[Any] = []
    end = 0
    openings = 0
    starts = sorted({match.end() for pattern in (_LINE_START, _ANCHORED) for match in pattern.finditer(text)})
    for start in starts:
        if start < end:
            continue
        openings += 1
        if openings > _MOST_OPENINGS:
            return None
        try:
            value, stop = _DECODER.raw_decode(text, start)
            value = _storable(value)
        except (ValueError, RecursionError):
            continue
        if not _REST_OF_LINE.match(text, stop):
            end = stop
            continue
        end = stop
        written = "".join(text[start:stop].split())
        if not any(written in block for block in quoted):
            found.append(value)
    return found


def _unwrapped(value: Any, fields: tuple[Field, ...]) -> Any:
    """What a one-element list or an object with one foreign key is wrapped around, else the value."""
    names = {field.name for field in fields}
    for _ in range(2):
        inner: Any = None
        if isinstance(value, list):
            items = cast("list[Any]", value)
            inner = items[0] if len(items) == 1 else None
        elif isinstance(value, dict):
            values = cast("dict[str, Any]", value)
            inner = next(iter(values.values())) if len(values) == 1 and names.isdisjoint(values) else None
        if not isinstance(inner, dict):
            break
        value = cast("dict[str, Any]", inner)
    return cast("Any", value)


def _resembles(value: Any, fields: tuple[Field, ...]) -> bool:
    value = _unwrapped(value, fields)
    names = [field.name for field in fields if not isinstance(field, TextField)]
    return isinstance(value, dict) and any(name in value for name in names)


def _read_fields(fields: tuple[Field, ...], value: Any, reply: ChatReply, wanted: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise unreadable(reply, wanted)
    if isinstance(value, _Pairs) and value.twice is not None:
        raise unreadable(reply, wanted, why=f"the judge's reply gives {value.twice!r} twice")
    return {field.name: _read_field(field, value, reply, wanted) for field in fields}  # pyright: ignore[reportUnknownArgumentType]


def _read_field(field: Field, values: dict[str, Any], reply: ChatReply, wanted: str) -> Any:
    value = values.get(field.name)
    match field:
        case TextField():
            if value is None or (isinstance(value, (str, int, float)) and value == value):
                return "" if value is None else str(value)
        case NumberField():
            number = _number(value)
            if number is not None:
                if not field.low <= number <= field.high:
                    raise out_of_range(reply, f"{field.name} as", number, field.low, field.high)
                if not field.whole:
                    return number
                if number == int(number):
                    return int(number)
        case LabelField():
            offered = {comparable(label): label for label in field.labels}
            if isinstance(value, str) and comparable(value) in offered:
                return offered[comparable(value)]
        case FlagField():
            flag = _FLAGS.get(value.strip().casefold()) if isinstance(value, str) else value
            if isinstance(flag, bool):
                return flag
        case ListField():
            if isinstance(value, list):
                return _read_list(field, value, reply, wanted)  # pyright: ignore[reportUnknownArgumentType]
    why = f"the judge's reply lacks {field.name!r}" if value is None else f"the judge's {field.name!r} cannot be read"
    raise unreadable(reply, wanted, why=why)


_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


def _read_list(field: ListField, values: list[Any], reply: ChatReply, wanted: str) -> list[Any]:
    if field.fields:
        return [_read_fields(field.fields, value, reply, wanted) for value in values]
    texts: list[Any] = [text for text in values if isinstance(text, str)]
    if len(texts) != len(values):
        raise unreadable(reply, wanted, why=f"the judge's {field.name!r} is no list of texts")
    return texts


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        trimmed = value.strip()
        return float(trimmed) if _NUMERIC.fullmatch(trimmed) else None
    if isinstance(value, (int, float)) and value == value:
        # An integer beyond float range is out of every range we allow; infinity stands for it.
        return float(value) if abs(value) < 1e300 else float("inf")
    return None


def _object_schema(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _field_schema(field: Field) -> dict[str, Any]:
    about = {"description": field.about} if field.about else {}
    match field:
        case NumberField():
            kind = "integer" if field.whole else "number"
            return {"type": kind, "minimum": field.low, "maximum": field.high, **about}
        case LabelField():
            return {"type": "string", "enum": list(field.labels), **about}
        case FlagField():
            return {"type": "boolean", **about}
        case TextField():
            return {"type": "string", **about}
        case ListField():
            items = _object_schema(field.fields) if field.fields else {"type": "string"}
            return {"type": "array", "items": items, **about}


def _example(fields: tuple[Field, ...]) -> str:
    return "{" + ", ".join(f'"{field.name}": {_placeholder(field)}' for field in fields) + "}"


def _placeholder(field: Field) -> str:
    match field:
        case NumberField():
            kind = "whole number" if field.whole else "number"
            return f"<{kind} from {field.low:g} to {field.high:g}>"
        case LabelField():
            return "<" + " or ".join(f'"{label}"' for label in field.labels) + ">"
        case FlagField():
            return "<true or false>"
        case TextField():
            return f'"<{field.about or "text"}>"'
        case ListField():
            return f"[{_example(field.fields) if field.fields else chr(34) + '<text>' + chr(34)}, ...]"
