"""The spans in the bodies that a store of traces keeps. Pure. Its own module because every reader of a store needs it."""

from collections.abc import Iterable

from evalsi.traces.otlp_protobuf import decode_otlp_protobuf
from evalsi.traces.span import Span


def spans_of_bodies(bodies: Iterable[bytes]) -> list[Span]:
    """Every sound span, in order of arrival; one that was sent twice may be there twice."""
    return [span for body in bodies for span in decode_otlp_protobuf(body).spans]
