"""A received request taken apart by trace: nothing is lost, nothing is doubled, and one bad span spoils no other."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import InvalidDataError
from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces import Span, decode_otlp_json, decode_otlp_protobuf
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.span import SpanEvent
from evalsi.traces.trace_parts import PartLimits, SplitRequest, parts_of_request
from tests.traces.otlp_encoding import encode_request
from tests.traces.reading import GOLDEN

ONE, TWO = "ab" * 16, "cd" * 16


def span(number: int, trace_id: str = ONE, **more: Any) -> Span:
    return Span(trace_id=trace_id, span_id=f"{number:016x}", **more)


def split(spans: list[Span], limits: PartLimits | None = None, labels: dict[str, str] | None = None) -> SplitRequest:
    return parts_of_request(encode_otlp_protobuf(spans), limits or PartLimits(), labels or {})


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_ATTRIBUTES = st.dictionaries(_TEXT.filter(bool), _VALUE, max_size=3)
_SPANS = st.lists(
    st.builds(
        Span,
        trace_id=st.sampled_from([ONE, TWO]),
        span_id=st.integers(1, 2**64 - 1).map(lambda number: f"{number:016x}"),
        parent_span_id=st.sampled_from(["", "12" * 8]),
        name=_TEXT,
        kind=st.integers(0, 5),
        start_ns=st.integers(0, 2**62),
        end_ns=st.integers(0, 2**62),
        attributes=_ATTRIBUTES,
        events=st.lists(
            st.builds(SpanEvent, name=_TEXT, time_ns=st.integers(0, 2**62), attributes=_ATTRIBUTES), max_size=2
        ),
        status_code=st.integers(0, 2),
        status_message=_TEXT,
        resource=_ATTRIBUTES,
        scope_name=_TEXT,
        scope_version=_TEXT,
        dropped_attributes=st.integers(0, 9),
    ),
    max_size=5,
)


@given(_SPANS)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read_again_and_splitting_keeps_every_span(spans: list[Span]) -> None:
    body = encode_otlp_protobuf(spans)
    assert decode_otlp_protobuf(body).spans == spans
    found = parts_of_request(body, PartLimits(), {})
    kept = [each for group in found.resources for part in group.parts for each in decode_otlp_protobuf(part.body).spans]
    assert sorted(kept, key=repr) == sorted(spans, key=repr)
    assert not found.rejections.counts


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_what_instrumentation_sends_comes_apart_by_trace_with_what_lists_show(path: Any) -> None:
    request = json.loads(path.read_bytes())
    request.pop("resourceLogs", None)  # which come by another way
    spans = decode_otlp_json(json.dumps(request).encode()).spans
    found = parts_of_request(encode_request(request), PartLimits(), {})
    parts = {part.trace_id.hex(): part for group in found.resources for part in group.parts}
    for trace_id, part in parts.items():
        own = [each for each in spans if each.trace_id == trace_id]
        assert part.span_ids.hex() == "".join(each.span_id for each in own)
        assert part.service == str(own[0].resource.get("service.name", ""))
        assert part.start_ns == min(each.start_ns for each in own)
        assert part.end_ns == max(each.end_ns for each in own)
        assert part.root_ended == any(not each.parent_span_id for each in own)
        assert part.failed_spans == sum(each.is_error for each in own)
    assert {each.trace_id for each in spans} == set(parts)


def test_a_root_tells_its_name_session_user_and_labels() -> None:
    root = span(
        1,
        name="answer",
        end_ns=5,
        status_code=2,
        attributes={"session.id": "s1", "user.id": 7, "evalsi.label.tier": "gold"},
        resource={"service.name": "shop", "evalsi.label.env": "dev", "evalsi.label.tier": "none"},
    )
    (group,) = split([span(2, parent_span_id="0" * 15 + "1"), root], labels={"env": "prod"}).resources
    both = {part.trace_id: part for part in group.parts}[bytes.fromhex(ONE)]
    assert (both.name, both.session_id, both.user_id) == ("answer", "s1", "7")
    assert (both.root_ended, both.root_failed, both.failed_spans) == (True, True, 1)
    assert both.labels["env"] == "prod"


def test_the_senders_labels_cannot_be_claimed_by_a_resource() -> None:
    (group,) = split([span(1, resource={"evalsi.label.env": "forged"})], labels={"env": "prod"}).resources
    (kept,) = decode_otlp_protobuf(group.parts[0].body).spans
    assert kept.resource["evalsi.label.env"] == "prod"
    assert group.parts[0].labels == {"env": "prod"}


def test_projects_are_told_apart_by_their_resources() -> None:
    spans = [span(1, resource={"evalsi.project": "a"}), span(2, resource={"evalsi.project": "b"}), span(3)]
    assert [group.project for group in split(spans).resources] == ["a", "b", ""]


def test_each_project_that_a_request_names_has_as_many_spans_as_its_own_limit() -> None:
    limits = {"": 4, "few": 2, "many": 6}

    def taken(*projects: str) -> dict[str, int]:
        spans = [
            span(number, resource={"evalsi.project": project} if project else {}, end_ns=number)
            for number, project in enumerate(projects, 1)
        ]
        found = parts_of_request(
            encode_otlp_protobuf(spans), PartLimits(most_spans=4), {}, lambda name: PartLimits(most_spans=limits[name])
        )
        kept = {group.project: sum(len(part.span_ids) // 8 for part in group.parts) for group in found.resources}
        assert sum(kept.values()) + found.rejections.counts["request_full"] == len(projects)
        return kept

    assert taken(*["few"] * 3, *[""] * 2) == {"few": 2, "": 2}
    assert taken(*["", "few"] * 3) == {"": 2, "few": 2}
    assert taken(*["many"] * 8) == {"many": 6}
    assert taken(*["many"] * 5, "", "few") == {"many": 5, "": 1}
    assert taken(*[""] * 5, *["many"] * 3) == {"": 4, "many": 2}


def test_a_damaged_span_and_a_bad_id_are_counted_and_spoil_no_other() -> None:
    messages = otlp_messages()
    good = messages.Span(trace_id=b"\1" * 16, span_id=b"\2" * 8).SerializeToString()
    request = messages.Request()
    scoped = request.resource_spans.add().scope_spans.add()
    scoped.spans.extend(
        [good, b"\x0a\x7f", messages.Span(trace_id=b"\1" * 15, span_id=b"\2" * 8, name="x").SerializeToString()]
    )
    scoped.spans.extend([messages.Span(trace_id=bytes(16), span_id=b"\2" * 8).SerializeToString(), good])
    found = parts_of_request(request.SerializeToString(), PartLimits(), {})
    assert found.rejections.counts == {"damaged": 1, "invalid_id": 2}
    assert found.resources[0].parts[0].span_ids == b"\2" * 16


def test_the_same_request_gives_the_same_parts() -> None:
    body = encode_otlp_protobuf([span(number, (ONE, TWO)[number % 2]) for number in range(1, 9)])
    assert parts_of_request(body, PartLimits(), {"a": "b"}) == parts_of_request(body, PartLimits(), {"a": "b"})


def test_the_bytes_of_parts_are_those_of_earlier_versions() -> None:
    """Else what is sent again after an upgrade would be stored a second time."""
    spans = [
        span(
            number + 1,
            (ONE, TWO)[number % 2],
            name=f"step {number}",
            start_ns=number + 1,
            end_ns=number + 9,
            attributes={"session.id": "s", "n": number},
            scope_name=f"scope {number // 3 % 2}",
            resource={"service.name": f"service {number // 5 % 2}"},
        )
        for number in range(20)
    ]
    (group,) = split(spans, labels={"env": "test"}).resources
    digests = [hashlib.sha256(part.body).hexdigest()[:16] for part in group.parts]
    assert digests == ["6b41024634b805ed", "6ac15b20e5464335"]


def test_what_is_over_a_limit_is_rejected_with_its_reason() -> None:
    many = [span(number, end_ns=number) for number in range(1, 8)]
    assert split(many, PartLimits(most_spans=5)).rejections.counts == {"request_full": 2}
    assert split(many, PartLimits(most_spans=5, oldest_ns=4)).rejections.counts == {"too_old": 3, "request_full": 2}
    assert split(many, PartLimits(most_spans_of_trace=5)).rejections.counts == {"trace_full": 2}
    assert split(many, PartLimits(oldest_ns=4)).rejections.counts == {"too_old": 3}
    assert split(many, PartLimits(oldest_ns=4, most_spans=5)).rejections.counts == {"too_old": 3, "request_full": 2}


def some(field: bytes, pieces: bytes) -> bytes:
    """The pieces, in a field of protobuf."""
    sizes = [len(pieces) >> shift & 127 for shift in range(0, max(len(pieces).bit_length(), 1), 7)]
    return field + bytes([*(size | 128 for size in sizes[:-1]), sizes[-1]]) + pieces


def test_spans_that_are_none_are_looked_at_only_as_far_as_a_request_may_have_spans() -> None:
    body = some(b"\x0a", some(b"\x12", b"\x12\x00" * 60 + b"\x12\x01\xff" * 60))
    assert parts_of_request(body, PartLimits(most_spans=100), {}).rejections.counts == {
        "invalid_id": 60,
        "damaged": 40,
        "request_full": 20,
    }


def test_a_schema_whose_address_is_no_unicode_costs_nothing_else() -> None:
    messages = otlp_messages()
    raw = messages.Span(trace_id=b"\1" * 16, span_id=b"\2" * 8, name="kept").SerializeToString()
    scope = some(b"\x12", raw) + b"\x1a\x01\xff"
    (group,) = parts_of_request(some(b"\x0a", some(b"\x12", scope) + b"\x1a\x02\xfe\xff"), PartLimits(), {}).resources
    (found,) = decode_otlp_protobuf(group.parts[0].body).spans
    assert found.name == "kept"


def test_texts_that_are_too_long_are_cut_with_a_mark_and_attributes_too_many_are_counted() -> None:
    long = span(1, attributes={"text": "é" * 20_000, "list": ["x" * 30_000], "n": 5})
    limits = PartLimits(most_attribute_bytes=9_999, most_attributes=2)
    (kept,) = decode_otlp_protobuf(split([long], limits).resources[0].parts[0].body).spans
    assert kept.attributes["text"] == "é" * 4_999 + "… [cut: 30001 bytes]"
    assert kept.attributes["list"].startswith("… [cut:")
    assert (len(kept.attributes), kept.dropped_attributes) == (2, 1)


def test_a_text_that_is_no_unicode_is_kept_byte_for_byte() -> None:
    raw = b"\x0a\x10" + b"\1" * 16 + b"\x12\x08" + b"\2" * 8 + b"\x2a\x02\xff\xfe"
    messages = otlp_messages()
    request = messages.Request()
    request.resource_spans.add().scope_spans.add().spans.append(raw)
    (group,) = parts_of_request(request.SerializeToString(), PartLimits(), {}).resources
    assert raw in group.parts[0].body
    assert group.parts[0].name == "\ufffd\ufffd"


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_taken_apart_or_refused(body: bytes) -> None:
    try:
        parts_of_request(body, PartLimits(), {})
    except InvalidDataError as error:
        assert "protobuf" in str(error)
