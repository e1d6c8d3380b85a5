"""The quick ways of reading a span give what the long ones give."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.judges.prices import shipped_prices
from evalsi.schema import Message, StepType
from evalsi.traces import Span, SpanEvent, decode_otlp, decode_otlp_protobuf, shipped_mappings
from evalsi.traces.conversation import conversation_of
from evalsi.traces.mapping import KINDS, Mapping, Selector
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
