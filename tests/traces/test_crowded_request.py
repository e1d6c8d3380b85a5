"""Requests of more pieces than anybody sends are known before anything is made of them; all others are left alone."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from evalsi.core.errors import InvalidDataError
from evalsi.schema.otlp_wire import damage, otlp_messages
from evalsi.traces import decode_otlp
from evalsi.traces.crowded_request import check_crowd
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from tests.traces.reading import GOLDEN
from tests.traces.test_trace_parts import some

RESOURCE, SCOPE, LIBRARY, SPAN = b"\x0a", b"\x12", b"\xc2\x3e", b"\x12"
GROUP, END_OF_GROUP = b"\x1b", b"\x1c"
CROWDED = {
    "resources": some(RESOURCE, b"") * 65_537,
    "scopes": some(RESOURCE, SCOPE + b"\0") * 32_769,
    "scopes of one resource": some(RESOURCE, (SCOPE + b"\0") * 65_536),
    "libraries": some(RESOURCE, (LIBRARY + b"\0") * 40_000) * 2,
    "numbers longer than they need be": (b"\x8a\x00\x80\x80\x00") * 65_537,
    "resources behind a group": GROUP + END_OF_GROUP + some(RESOURCE, b"") * 65_537,
    "resources before damage": some(RESOURCE, b"") * 65_537 + b"\x0a\xff",
}


@pytest.mark.parametrize("body", CROWDED.values(), ids=list(CROWDED))
def test_more_resources_and_scopes_than_anybody_has_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidDataError, match="more than 65,536 resources and scopes"):
        check_crowd(body)


def test_more_spans_than_anybody_sends_at_once_are_refused() -> None:
    body = some(RESOURCE, some(SCOPE, (SPAN + b"\0") * 50))
    check_crowd(body, most_spans=50)
    with pytest.raises(InvalidDataError, match="more than 99 spans"):
        check_crowd(body * 2, most_spans=99)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json*")), ids=lambda path: path.stem)
def test_what_instrumentation_sends_is_counted_as_protobuf_reads_it(path: Path) -> None:
    body = encode_otlp_protobuf(decode_otlp(path.read_bytes(), str(path)).spans)
    groups = otlp_messages().Request.FromString(body).resource_spans
    spans = sum(len(scoped.spans) for group in groups for scoped in group.scope_spans)
    check_crowd(body, most_spans=spans)
    with pytest.raises(InvalidDataError):
        check_crowd(body, most_spans=spans - 1)


def test_bytes_that_are_no_protobuf_are_left_to_whoever_reads_them() -> None:
    draw = random.Random(5)
    for _ in range(300):
        body = bytearray(some(RESOURCE, some(SCOPE, some(SPAN, draw.randbytes(20)) * 5) * 3) * 4)
        for _ in range(draw.randrange(1, 6)):
            body[draw.randrange(len(body))] = draw.randrange(256)
        for cut in (bytes(body), bytes(body[: draw.randrange(len(body))])):
            check_crowd(cut)
            with suppress(damage()):  # whether it is damaged or not
                groups = otlp_messages().Request.FromString(cut).resource_spans
                spans = sum(len(one.spans) for group in groups for one in (*group.scope_spans, *group.library_spans))
                if spans:
                    with pytest.raises(InvalidDataError):
                        check_crowd(cut, most_spans=spans - 1)
