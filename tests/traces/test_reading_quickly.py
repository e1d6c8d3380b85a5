"""The quick ways of reading a span give what the long ones give."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.judges.prices import shipped_prices
from evalsi.schema import Message, StepType
from evalsi.schema.otlp_wire import otlp_messages
from evalsi.traces import Span, SpanEvent, decode_otlp, decode_otlp_protobuf, shipped_mappings
from evalsi.traces.conversation import conversation_of
from evalsi.traces.mapping import KINDS, Mapping, Selector
from evalsi.traces.otlp_protobuf import attributes_of
from evalsi.traces.otlp_writing import encode_otlp_protobuf
from evalsi.traces.source_reading import Mappers, SpanInTrace, shipped_mappers
from evalsi.traces.span_conventions import SpanConventions
from evalsi.traces.step_of_span import moment, step_of_span
from tests.traces.reading import GOLDEN

TEXTS = st.sampled_from(["", "Is the lamp on?", '{"a": 1}', "[{", '{"role": "x"}', "[]", "  ", "\u4f60\u597d"])


def whole(mappers: Mappers, span: Span) -> SpanConventions:
    """The conventions of a span with everything that they name."""
    heads = {name.split(".", 1)[0] for name in span.attributes}
    kept = [each for each in mappers.mappings if not each.marks or not heads.isdisjoint(each.marks)]
    for place, each in enumerate(kept):
        kinds = {kind: each.kinds[kind] for kind in KINDS if kind in each.kinds}
        kept[place] = msgspec.structs.replace(each, kinds=kinds)
    rules = [rule for each in kept for rule in each.redact]
    return SpanConventions(mappings=kept, redactions=rules, leaves_out=True, has_gap=mappers.of_span(span).has_gap)


def same(mappers: Mappers, span: Span) -> None:
    at = SpanInTrace(span)
    quick = step_of_span(at, mappers.of_span(span), shipped_prices())
    assert quick == step_of_span(at, whole(mappers, span), shipped_prices())


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_span_is_read_by_the_names_of_its_attributes_as_by_everything(path: Any) -> None:
    spans = decode_otlp(path.read_bytes(), path.name).spans
    assert spans
    for span in spans:
        same(shipped_mappers(), span)


NAMES = sorted(
    {
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.request.model",
        "gen_ai.input.messages",
        "gen_ai.prompt.0.content",
        "gen_ai.prompt.2.content",
        "openinference.span.kind",
        "llm.input_messages.0.message.content",
        "input.value",
        "output.value",
        "traceloop.span.kind",
        "mlflow.spanType",
        "logfire.span_type",
        "ai.operationId",
        "langsmith.span.kind",
        "session.id",
        "evalsi.kind",
        "another",
    }
)
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        "chat",
        "execute_tool",
        "LLM",
        "tool",
        '"TOOL"',
        "CHAIN",
        "pending_span",
        "",
        None,
        3,
        True,
        ["a"],
        '[{"role": "user"}]',
    ]
)


ONE_PROCESS = shipped_mappers()
"""What was told of one span is remembered for the next."""


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8), st.booleans())
def test_any_attributes_are_read_as_by_everything(attributes: dict[str, Any], with_event: bool) -> None:
    events = [SpanEvent(name="gen_ai.content.prompt", attributes={"gen_ai.prompt": "Hello"})] if with_event else []
    span = Span(trace_id="1" * 32, span_id="2" * 16, name="chat", attributes=attributes, events=events)
    same(ONE_PROCESS, span)


def test_spans_that_differ_in_name_alone_are_told_apart() -> None:
    named = Mapping(version=1, name="own", kinds={"tool": [Selector(name_regex="^tool:")]})
    mappers = shipped_mappers([named])
    spans = [Span(trace_id="1" * 32, span_id="2" * 16, name=name) for name in ("tool:lamp", "lamp", "tool:door")]
    steps = [step_of_span(SpanInTrace(span), mappers.of_span(span), shipped_prices()) for span in spans]
    assert [step.type for step in steps] == [StepType.TOOL, StepType.GENERIC, StepType.TOOL]


@given(st.integers(1, 2**63 - 1))
def test_moments_are_exact_to_the_microsecond(nanoseconds: int) -> None:
    assert moment(nanoseconds) == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)


def test_attributes_that_were_read_before_are_read_alike_and_shared_with_nobody() -> None:
    attributes = {"a": "x", "n": 1, "yes": True, "f": 1.0, "list": ["b"], "map": {"c": 1}, "none": None, "": "no name"}
    span = Span(trace_id="1" * 32, span_id="2" * 16, attributes=attributes, resource={"a": 1})
    body = encode_otlp_protobuf([span])
    for _ in range(2):
        (read,) = decode_otlp_protobuf(body).spans
        assert read.attributes == {name: value for name, value in attributes.items() if name}
        assert [type(read.attributes[name]) for name in ("n", "yes", "f")] == [int, bool, float]
        read.attributes["list"].append("what a reader adds")
        read.attributes["map"]["d"] = 2
        read.attributes["a"] = "changed"


LENGTHS = [*range(80, 140), 16_370, *range(16_376, 16_390), 2_097_140, *range(2_097_145, 2_097_155)]


def test_a_text_of_any_length_is_read_whole() -> None:
    texts = {f"n{length}": "\u00e9".join(("x" * (length // 2), "y" * (length - length // 2 - 2))) for length in LENGTHS}
    span = Span(
        trace_id="1" * 32, span_id="2" * 16, attributes={**texts, "a name of \u00fc": "z" * 200, "n" * 130: "z" * 200}
    )
    assert decode_otlp_protobuf(encode_otlp_protobuf([span])).spans[0].attributes == span.attributes


LONG = b"x" * 200
KEY, TEXT = b"\x0a\x01k", b"\x0a\xc8\x01" + LONG


@pytest.mark.parametrize(
    ("packed", "attributes"),
    [
        (KEY + b"\x12\xcb\x01" + TEXT, {"k": LONG.decode()}),
        (KEY + b"\x12\xcc\x81\x00\x0a\xc8\x81\x00" + LONG, {"k": LONG.decode()}),  # lengths in more bytes than needed
        (KEY + b"\x12\xcb\x01" + TEXT + b"\x0a\x01j", {"j": LONG.decode()}),  # the last name counts
        (KEY + b"\x12\xcd\x01" + TEXT + b"\x18\x05", {"k": 5}),  # the last value counts
        (b"\x12\xcb\x01" + TEXT + KEY, {"k": LONG.decode()}),
        (KEY + b"\x12\xcb\x01" + TEXT[:-1] + b"\xff", {"k": LONG[:-1].decode() + "\ufffd"}),
        (b"\x0a\x01\xff\x12\xcb\x01" + TEXT, {"\ufffd": LONG.decode()}),
        (KEY + b"\x12\xcb\x01\x3a" + TEXT[1:], {"k": base64.b64encode(LONG).decode()}),
        (b"\x0a\xc8\x01" + LONG, {LONG.decode(): None}),
        (b"\x0a\x00\x12\xcb\x01" + TEXT, {}),
    ],
)
def test_long_attributes_are_read_as_protobuf_reads_them(packed: bytes, attributes: dict[str, Any]) -> None:
    span = otlp_messages().ReadSpan(trace_id=b"1" * 16, span_id=b"2" * 8, attributes=[packed])
    request = otlp_messages().Request()
    request.resource_spans.add().scope_spans.add().spans.append(span.SerializeToString())
    (read,) = decode_otlp_protobuf(request.SerializeToString()).spans
    assert read.attributes == attributes
    assert read.attributes == attributes_of([otlp_messages().KeyValue.FromString(packed)])


def test_two_mappings_of_one_name_are_told_apart() -> None:
    own = shipped_mappings()["genai"]
    span = Span(trace_id="1" * 32, span_id="2" * 16, name="x", attributes={"gen_ai.operation.name": "chat"})
    same(Mappers([own, *shipped_mappings().values()]), span)


PARTS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "image"])}, optional={"content": TEXTS, "text": TEXTS}),
    max_size=3,
)
TURNS = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "tool", "human"])},
        optional={"parts": PARTS, "content": st.one_of(TEXTS, PARTS), "finish_reason": st.just("stop")},
    ),
    max_size=4,
)


@given(TURNS)
def test_plain_turns_are_read_as_turns_that_say_more(turns: list[dict[str, Any]]) -> None:
    longer = [{**turn, "index": place} for place, turn in enumerate(turns)]  # which nobody reads
    assert conversation_of(turns, "user") == conversation_of(longer, "user")
    assert conversation_of(json.dumps(turns), "user") == conversation_of(json.dumps(longer), "user")


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "half \\ud83d a pair"}]',
        '[{"role": "user", "content": "a pair \\ud83d\\ude00"}]',
        '[{"role": "user", "content": "cut',
        '[{"role": "user", "content": "one", "content": "two"}]',
        '[{"role": "user", "content": "one"}] and more',
        ' [{"role": "user", "content": "one"}]',
        '[{"role": "user", "content": null, "parts": "one"}]',
        '[{"role": "user", "content": "one", "finish_reason": ' + "[" * 70 + "]" * 70 + "}]",
        '"[{\\"role\\": \\"user\\", \\"content\\": \\"one\\"}]"',
    ],
)
def test_odd_turns_in_text_are_read_as_turns_that_say_more(text: str) -> None:
    longer = text.replace('"role"', '"index": 1, "role"').replace('\\"role', '\\"index\\": 1, \\"role')
    assert longer != text
    assert conversation_of(text, "user") == (
        [Message(role="user", content=text)]
        if conversation_of(longer, "user")[0].content == longer
        else conversation_of(longer, "user")
    )


def test_plain_turns_are_what_they_say() -> None:
    turns = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "parts": [{"type": "text", "content": "One."}, {"type": "text", "text": "Two."}]},
        {"role": "assistant", "parts": [{"type": "text", "content": ""}], "finish_reason": "stop"},
    ]
    assert conversation_of(turns, "user") == [
        Message(role="system", content="Be kind."),
        Message(role="user", content="One.\nTwo."),
    ]
