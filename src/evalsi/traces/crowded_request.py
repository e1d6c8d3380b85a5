"""How many pieces a large OTLP request in protobuf has, counted without reading it.

Its own module because protobuf's runtime makes an object of every resource, scope and span, however empty: two bytes of a
request become eighty. What always holds: nothing is made of a request that is refused here, and one that is damaged is left to
whoever reads it, as far as it is not crowded before the damage.
"""

from collections.abc import Iterator

from evalsi.core.errors import InvalidDataError

MOST_GROUPS = 65_536
"""Resources and scopes of one request."""
MOST_SPANS = 262_144
"""Spans, or log records, of one request. Limits of projects are lower, and reject what is over them; this refuses all."""
COUNTED_FROM_BYTES = 1 << 18
"""A smaller request takes some tens of megabytes and half a second at worst."""
_RESOURCES, _SCOPES, _SPANS = (1,), (2, 1000), (2,)
"""Numbers of the fields, which are those of logs, too. 1000 is what OTLP before 0.15 called a library."""
_SPAN = 2 << 3 | 2
"""The byte that a span begins with: its field, which has bytes."""
_VARINT, _EIGHT_BYTES, _BYTES, _GROUP, _END_OF_GROUP, _FOUR_BYTES = range(6)
"""Wire types, as protobuf's encoding has them."""
_LONGEST_VARINT = 10


def check_crowd(body: bytes, most_spans: int = MOST_SPANS) -> None:
    """Raises: InvalidDataError: it has more resources and scopes, or more spans, than anybody sends at once."""
    groups = spans = 0
    for resource, resource_end in _fields(body, 0, len(body), _RESOURCES):
        groups += 1
        for scope, scope_end in _fields(body, resource, resource_end, _SCOPES):
            groups += 1
            if groups > MOST_GROUPS:
                break
            spans += _spans(body, scope, scope_end)
            if spans > most_spans:
                raise _crowded(most_spans, "spans or log records")
        if groups > MOST_GROUPS:
            raise _crowded(MOST_GROUPS, "resources and scopes")


def _crowded(most: int, what: str) -> InvalidDataError:
    return InvalidDataError(f"the request has more than {most:,} {what}; send them in several requests")


def _spans(body: bytes, at: int, end: int) -> int:
    """How many a scope has. What most begin with is read here: a call for each span takes as long as all the rest."""
    found = 0
    while at < end:
        if body[at] == _SPAN and at + 2 < end and body[at + 2] < 128 <= body[at + 1]:
            at += 3 + (body[at + 1] & 127 | body[at + 2] << 7)
            found += at <= end
        else:
            number, _, at = _field(body, at, end)
            found += number in _SPANS
    return found


def _fields(body: bytes, at: int, end: int, numbers: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Where fields of those numbers begin and end. It ends where the bytes are no protobuf."""
    while at < end:
        number, begin, at = _field(body, at, end)
        if number in numbers:
            yield begin, at


def _field(body: bytes, at: int, end: int) -> tuple[int, int, int]:
    """The number of the field at a place, where its bytes begin, and where the next one does; number 0 for one that has no
    bytes, and the next one beyond the end where this is no protobuf.

    What stands in a group, which OTLP has none of, counts as if it stood around it.
    """
    tag, at = _number(body, at, end)
    kind = tag & 7
    if kind == _BYTES:
        size, at = _number(body, at, end)
        return (tag >> 3, at, at + size) if at + size <= end else (0, at, end + 1)
    if kind == _VARINT:
        return 0, at, _number(body, at, end)[1]
    fixed = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4, _GROUP: 0, _END_OF_GROUP: 0}
    return 0, at, at + fixed[kind] if kind in fixed else end + 1


def _number(body: bytes, at: int, end: int) -> tuple[int, int]:
    """The varint at a place, and where it ends; beyond the end where there is none."""
    number = 0
    for place in range(min(_LONGEST_VARINT, end - at)):
        byte = body[at + place]
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, at + place + 1
    return 0, end + 1
