"""The spans in the bodies that a store of traces keeps. Pure. Its own module because every reader of a store needs it.

What always holds: a body that cannot be read takes nothing with it, neither others of its trace nor other traces.
"""

from collections.abc import Iterable
from typing import NamedTuple

from evalsi.core.errors import InvalidDataError
from evalsi.traces.otlp_protobuf import decode_otlp_protobuf
from evalsi.traces.span import Span

DAMAGED_BODY = b"\xff"
"""What a store gives in place of a body that it cannot unpack: it is no OTLP."""


class StoredSpans(NamedTuple):
    spans: list[Span]
    damaged: int
    """Bodies that cannot be read."""


def stored_spans(bodies: Iterable[bytes]) -> StoredSpans:
    """Every sound span, in order of arrival; one that was sent twice may be there twice."""
    spans: list[Span] = []
    damaged = 0
    for body in bodies:
        try:
            spans += decode_otlp_protobuf(body).spans
        except InvalidDataError:
            damaged += 1
    return StoredSpans(spans, damaged)


def spans_of_bodies(bodies: Iterable[bytes]) -> list[Span]:
    """As `stored_spans`, for who goes on with what can be read."""
    return stored_spans(bodies).spans
