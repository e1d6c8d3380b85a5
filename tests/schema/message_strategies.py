"""Hypothesis strategies that draw any message of the schema, from the same field table the codec runs on."""

import math
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

import evalsi.schema as types
from evalsi.schema.field import Field, fields_of

TEXT = st.text(max_size=12)
KEYS = st.text(max_size=6)
EXACT = 2**53
WHOLE = st.integers(min_value=-EXACT, max_value=EXACT)
# Zero without a sign: the wire takes both for absent.
FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
# Free numbers lose nothing on any path: whole ones fit a double, the others are no whole numbers in disguise.
JSON_NUMBERS = st.one_of(WHOLE, FINITE.filter(lambda number: not number.is_integer()))
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), JSON_NUMBERS, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=5,
)
# Whole nanoseconds of up to about a century, drawn as microseconds so that milliseconds hold them exactly enough.
SECONDS = st.integers(min_value=-(10**12), max_value=10**12).map(lambda micros: micros / 10**6)
TIMES = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)).map(  # noqa: DTZ001
    lambda moment: moment.replace(tzinfo=UTC)
)
BY_KIND: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "bytes": st.binary(max_size=8),
    "bool": st.booleans(),
    "uint32": st.integers(min_value=0, max_value=2**32 - 1),
    "int32": st.integers(min_value=-(2**31), max_value=2**31 - 1),
    "int64": st.integers(min_value=-(2**63), max_value=2**63 - 1),
    "double": FINITE,
    "value": JSON_VALUES,
    "object": st.dictionaries(KEYS, JSON_VALUES, max_size=3),
    "duration": SECONDS,
    "timestamp": TIMES,
}


@cache
def messages(name: str, depth: int = 1) -> st.SearchStrategy[Any]:
    """Any message of a type that keeps the rules about alternatives; below `depth` only where there is no other choice."""
    kind: type[msgspec.Struct] = getattr(types, name)
    fields = fields_of(name)
    groups: dict[str, list[str]] = {}
    for field in fields:
        if field.oneof:
            groups.setdefault(field.oneof, []).append(field.name)
    nested = {field.name for field in fields if field.kind == "message"}
    only_choice = len(groups) == 1 and all(field.oneof for field in fields)

    @st.composite
    def draw_message(draw: st.DrawFn) -> Any:
        left_out: set[str] = set()
        kept: set[str] = set()
        for names in groups.values():
            plain = [one for one in names if depth or one not in nested]
            chosen = draw(st.sampled_from(plain or names)) if only_choice else draw(st.sampled_from([None, *plain]))
            left_out |= set(names) - {chosen}
            kept |= {chosen} if chosen else set()
        values = {
            field.name: draw(_field_values(field, depth))
            for field in fields
            if field.name not in left_out
            and (field.name in kept or ((depth or field.name not in nested) and draw(st.booleans())))
        }
        return kind(**values)

    return draw_message()


def _field_values(field: Field, depth: int) -> st.SearchStrategy[Any]:
    if field.kind == "message":
        one = st.deferred(lambda: messages(field.type_name, max(depth - 1, 0)))
    elif field.kind == "enum":
        one = st.sampled_from(list(getattr(types, field.type_name)))
    else:
        one = BY_KIND[field.kind]
    if field.shape == "list":
        return st.lists(one, max_size=2)
    if field.shape == "map":
        return st.dictionaries(KEYS, one, max_size=2)
    return one


def nearly_equal(left: Any, right: Any) -> bool:
    """Equality that forgives a nanosecond, lost by a duration on its way through text, and 1.0 in place of 1."""
    numbers = (type(left), type(right))
    if float in numbers and set(numbers) <= {int, float}:
        return math.isclose(left, right, rel_tol=1e-15, abs_tol=1e-9)
    if isinstance(left, msgspec.Struct) and type(left) is type(right):
        return all(nearly_equal(getattr(left, f), getattr(right, f)) for f in left.__struct_fields__)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(nearly_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(nearly_equal(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right
