"""Mappings of users, and the laws every mapping obeys."""

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.judges.prices import Price, table_of
from evalsi.schema import StepType
from evalsi.traces import (
    Span,
    SpanEvent,
    Tracing,
    decode_otlp,
    default_tracing,
    read_mapping,
    shipped_mappers,
    shipped_mappings,
    tool_calls_of,
    trajectory_of_spans,
)
from evalsi.traces.record_of_trace import record_of_trace
from tests.traces.reading import GOLDEN, trajectory_of

OWN = {
    "version": 1,
    "name": "house",
    "session_id": [{"attr": "house.visit", "scope": "any"}],
    "kinds": {"llm": [{"attr": "house.kind", "equals": "ask"}], "tool": [{"name_regex": "^do "}]},
    "llm": {
        "model": [{"attr": "house.model"}],
        "input_messages": [{"attr": "house.q"}],
        "output_messages": [{"attr": "house.a"}],
        "usage": {"prompt": [{"attr": "house.in"}], "completion": [{"attr": "house.out"}]},
    },
    "tool": {"name": [{"attr": "house.tool"}], "arguments": [{"attr": "house.args", "decode": "json"}]},
    "exclude_spans": [{"attr": "house.noise", "exists": True}],
    "answer": [{"from": "tool_arg", "tool": "reply", "arg": "text"}, {"from": "last_llm_text"}],
    "redact": [{"path": "house.*", "regex": "[0-9]{4}", "replace": "[pin]"}],
}


def _tracing(mapping: dict[str, Any]) -> Tracing:
    own = read_mapping(json.dumps(mapping).encode())
    return Tracing(shipped_mappers([own]), table_of({"m": Price(input=1.0, output=4.0, cache_read=0.1)}))


def _span(number: int, parent: int = 0, **fields: Any) -> Span:
    return Span(
        trace_id="a" * 32,
        span_id=f"{number:016x}",
        parent_span_id=f"{parent:016x}" if parent else "",
        start_ns=number * 10**9,
        end_ns=(number + 1) * 10**9,
        **fields,
    )


def test_a_mapping_of_ones_own_reads_its_own_names() -> None:
    spans = [
        _span(1, name="visit", attributes={"house.visit": "v7"}),
        _span(2, 1, name="noise", attributes={"house.noise": True}),
        _span(
            3,
            2,
            name="x",
            attributes={
                "house.kind": "ask",
                "house.model": "m",
                "house.q": "pin 1234?",
                "house.a": "no",
                "house.in": 1000,
                "house.out": "100",
            },
        ),
        _span(4, 1, name="do it", attributes={"house.tool": "reply", "house.args": '{"text": "All done."}'}),
    ]
    record = record_of_trace(spans, _tracing(OWN))
    trajectory = trajectory_of(record)
    assert [step.type for step in trajectory.steps] == [StepType.GENERIC, StepType.LLM, StepType.TOOL]
    assert trajectory.session_id == "v7"
    assert trajectory.steps[1].parent_span_id == spans[0].span_id
    assert "pin [pin]?" in text_of(trajectory.steps[1].input)
    assert "1234" not in msgspec.json.encode(record).decode()
    assert text_of(record.output) == "All done."
    assert record.usage is not None
    assert record.usage.cost_usd == pytest.approx(0.0014)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"kinds": {"lmm": []}}, InvalidSpecError, "kinds"),
        ({"session_id": [{"atr": "x"}]}, InvalidSpecError, "session_id"),
        ({"session_id": [{}]}, InvalidSpecError, "exactly one"),
        ({"exclude_spans": [{"attr": "x"}]}, InvalidSpecError, "a selector is"),
        ({"exclude_spans": [{"attr": "x", "regex": "("}]}, InvalidSpecError, "pattern"),
        ({"answer": [{"from": "tool_arg", "tool": "x"}]}, InvalidSpecError, "needs 'arg'"),
        ({"base": "openinferense"}, UnknownNameError, "did you mean 'openinference'"),
        ({"version": 2}, InvalidSpecError, "version"),
        ({"surprise": 1}, InvalidSpecError, "surprise"),
    ],
)
def test_a_mapping_that_breaks_the_grammar_is_refused_with_the_field(
    change: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        read_mapping(json.dumps(OWN | change).encode())


def test_a_base_limits_what_is_read_beside_ones_own_mapping() -> None:
    own = {"version": 1, "name": "mine", "base": "genai"}
    span = _span(1, attributes={"openinference.span.kind": "LLM", "llm.token_count.prompt": 5})
    (only_genai,) = trajectory_of_spans([span], _tracing(own)).steps
    (all_shipped,) = trajectory_of_spans([span], default_tracing()).steps
    assert (only_genai.type, all_shipped.type) == (StepType.GENERIC, StepType.LLM)


def test_every_shipped_mapping_is_versioned_and_readable_as_a_users_own() -> None:
    for name, mapping in shipped_mappings().items():
        assert mapping.name == name
        assert mapping.revision
        assert read_mapping(msgspec.json.encode(mapping)) == mapping


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_neither_the_scope_nor_the_order_nor_copies_of_spans_change_what_is_read(path: Any) -> None:
    spans = decode_otlp(path.read_bytes(), "x").spans
    spans = [span for span in spans if span.trace_id == spans[0].trace_id]
    expected = record_of_trace(spans, default_tracing())
    renamed = [msgspec.structs.replace(span, scope_name="other", scope_version="9") for span in spans]
    assert record_of_trace(renamed, default_tracing()) == expected
    assert record_of_trace([*reversed(spans), spans[0]], default_tracing()) == expected


def test_sixty_indexed_messages_are_sixty_in_the_order_of_their_numbers() -> None:
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM"}
    for number in range(60):
        attributes[f"llm.input_messages.{number}.message.role"] = "user"
        attributes[f"llm.input_messages.{number}.message.content"] = f"m{number}"
    shuffled = dict(sorted(attributes.items()))
    (step,) = trajectory_of_spans([_span(1, attributes=shuffled)], default_tracing()).steps
    assert step.input is not None
    assert step.input.messages is not None
    assert [message.content for message in step.input.messages.messages] == [f"m{number}" for number in range(60)]
    assert "evalsi.flags" not in step.attributes


def test_a_gap_in_indexed_messages_is_flagged_and_the_rest_is_read() -> None:
    attributes = {"openinference.span.kind": "LLM"}
    attributes |= {f"llm.input_messages.{number}.message.content": f"m{number}" for number in (0, 2)}
    (step,) = trajectory_of_spans([_span(1, attributes=attributes)], default_tracing()).steps
    assert step.attributes["evalsi.flags"] == ["attributes are missing"]
    assert step.input is not None
    assert step.input.messages is not None
    assert len(step.input.messages.messages) == 2


def test_json_that_a_limit_cut_stays_text_and_is_flagged() -> None:
    cut = '[{"role": "user", "parts": [{"type": "text", "content": "Is the ha'
    span = _span(1, attributes={"gen_ai.operation.name": "chat", "gen_ai.input.messages": cut})
    (step,) = trajectory_of_spans([span], default_tracing()).steps
    assert "Is the ha" in text_of(step.input)
    assert step.attributes["evalsi.flags"] == ["a value is cut"]


def test_unknown_spans_and_unknown_usage_keys_are_kept_with_their_attributes() -> None:
    spans = [
        _span(1, name="odd", attributes={"my.thing": 5}),
        _span(2, 1, name="chat", attributes={"gen_ai.operation.name": "chat", "gen_ai.usage.new_kind": {"a": 1}}),
    ]
    generic, model = trajectory_of_spans(spans, default_tracing()).steps
    assert (generic.type, generic.name, generic.attributes["my.thing"]) == (StepType.GENERIC, "odd", 5)
    assert model.attributes["gen_ai.usage.new_kind"] == {"a": 1}


def test_usage_comes_from_model_calls_only() -> None:
    usage = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}
    spans = [
        _span(1, attributes={"gen_ai.operation.name": "invoke_agent", **usage}),
        _span(2, 1, attributes={"gen_ai.operation.name": "chat", **usage}),
    ]
    record = record_of_trace(spans, default_tracing())
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (100, 10)


def test_a_call_through_a_gateway_is_one_call_and_a_retry_below_it_is_two() -> None:
    def chat(number: int, parent: int, **more: Any) -> Span:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
        }
        return _span(number, parent, attributes=attributes | more)

    tracing = _tracing(OWN)
    once = record_of_trace([chat(1, 0), _span(2, 1, name="POST"), chat(3, 2)], tracing).usage
    twice = record_of_trace([chat(1, 0), chat(2, 1), chat(3, 1)], tracing).usage
    same_id = record_of_trace(
        [_span(1), chat(2, 1, **{"gen_ai.response.id": "r"}), chat(3, 1, **{"gen_ai.response.id": "r"})], tracing
    ).usage
    apart = record_of_trace([_span(1), chat(2, 1), chat(3, 1)], tracing).usage
    assert [usage.input_tokens if usage else None for usage in (once, twice, same_id, apart)] == [100, 200, 100, 200]


def test_a_price_that_is_unknown_is_unknown_and_the_sum_says_that_it_is_partial() -> None:
    def chat(number: int, model: str, **more: Any) -> Span:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": 1000,
            "gen_ai.usage.output_tokens": 100,
        }
        return _span(number, attributes=attributes | more)

    tracing = _tracing(OWN)
    known = record_of_trace([chat(1, "m")], tracing).usage
    cached = record_of_trace([chat(1, "m", **{"gen_ai.usage.cache_read.input_tokens": 900})], tracing).usage
    unknown = record_of_trace([chat(1, "unknown-9")], tracing).usage
    mixed = record_of_trace([chat(1, "m"), chat(2, "unknown-9")], tracing).usage
    assert known is not None
    assert cached is not None
    assert unknown is not None
    assert mixed is not None
    assert (known.cost_usd, known.unpriced_requests) == (pytest.approx(0.0014), 0)
    assert cached.cost_usd == pytest.approx(0.00059)
    assert (unknown.cost_usd, unknown.unpriced_requests) == (None, 1)
    assert (mixed.cost_usd, mixed.unpriced_requests) == (pytest.approx(0.0014), 1)


def test_cached_tokens_beyond_the_input_are_added_and_flagged() -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 50,
    }
    (step,) = trajectory_of_spans([_span(1, attributes=attributes)], default_tracing()).steps
    assert step.usage is not None
    assert step.usage.input_tokens == 60
    assert step.attributes["evalsi.flags"] == ["cached tokens counted apart from input tokens"]


def test_a_count_of_tokens_under_the_key_of_a_cost_is_no_cost() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.token_count.prompt": 80,
        "llm.token_count.completion": 4,
        "llm.cost.total": 84,
    }
    (step,) = trajectory_of_spans([_span(1, attributes=attributes)], default_tracing()).steps
    assert step.usage is not None
    assert step.usage.cost_usd is None
    assert step.attributes["evalsi.flags"] == ["a cost that is no cost"]


def test_messages_in_span_events_are_read_in_the_older_forms_too() -> None:
    events = [
        SpanEvent(name="gen_ai.system.message", attributes={"content": "You control lamps."}),
        SpanEvent(name="gen_ai.user.message", attributes={"content": "On?"}),
        SpanEvent(name="gen_ai.choice", attributes={"message": '{"role": "assistant", "content": "Yes."}', "index": 0}),
    ]
    older = [
        SpanEvent(name="gen_ai.content.prompt", attributes={"gen_ai.prompt": '[{"role": "user", "content": "On?"}]'}),
        SpanEvent(
            name="gen_ai.content.completion",
            attributes={"gen_ai.completion": '[{"role": "assistant", "content": "Yes."}]'},
        ),
    ]
    for given_events, roles in ((events, ["system", "user"]), (older, ["user"])):
        span = _span(1, attributes={"gen_ai.operation.name": "chat"}, events=given_events)
        (step,) = trajectory_of_spans([span], default_tracing()).steps
        assert text_of(step.output) == "Yes."
        assert step.input is not None
        assert step.input.messages is not None
        assert [message.role for message in step.input.messages.messages] == roles


def test_reasoning_is_no_part_of_an_answer() -> None:
    said = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Yes."}]}
    ]
    span = _span(1, attributes={"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)})
    assert text_of(record_of_trace([span], default_tracing()).output) == "Yes."


def test_a_tool_that_failed_says_why_and_parents_in_a_circle_end() -> None:
    spans = [
        _span(1, 2, attributes={}),
        _span(2, 1, attributes={}),
        _span(
            3,
            3,
            attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
            status_code=2,
            status_message="no such room",
        ),
    ]
    trajectory = trajectory_of_spans(spans, default_tracing())
    assert len(trajectory.steps) == 3
    (call,) = tool_calls_of(trajectory)
    assert call.error == "no such room"


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KEYS = sorted(
    {
        "openinference.span.kind", "llm.input_messages.0.message.role", "llm.input_messages.0", "gen_ai.operation.name",
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.usage.input_tokens", "mlflow.spanType", "mlflow.spanInputs",
        "mlflow.spanOutputs", "ai.operationId", "ai.response.toolCalls", "traceloop.span.kind", "llm.request.type", "request_data",
        "gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "gen_ai.prompt", "retrieval.documents.0.document.content", "events",
        "gen_ai.tool.name", "gen_ai.tool.call.arguments", "session.id", "tag.tags", "metadata", "llm.cost.total", "gen_ai.completion.0",
    }
)  # fmt: skip
_HEADS = st.sampled_from(
    ["LLM", "TOOL", "RETRIEVER", "chat", "execute_tool", '"CHAT_MODEL"', "ai.toolCall", "[{", '{"messages": [1]}']
)


@given(st.lists(st.dictionaries(st.sampled_from(_KEYS), _HEADS | _VALUES, max_size=6), min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_whatever_attributes_hold_a_record_comes_out_that_can_be_written_and_read(
    attributes: list[dict[str, Any]],
) -> None:
    spans = [_span(number, number - 1, attributes=given_) for number, given_ in enumerate(attributes, 1)]
    record = record_of_trace(spans, default_tracing())
    assert len(trajectory_of(record).steps) == len(spans)
    tool_calls_of(trajectory_of(record))
    assert msgspec.json.encode(record)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_a_trace_of_ten_thousand_spans_is_read_in_seconds_however_it_hangs_together(shape: str) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "session.id": "s"}
    spans = [
        _span(number, number - 1 if shape == "chain" else min(number - 1, 1), attributes=attributes)
        for number in range(1, 10_001)
    ]
    started = time.process_time()
    trajectory = trajectory_of_spans(spans, default_tracing())
    assert len(tool_calls_of(trajectory)) == 10_000
    assert trajectory.session_id == "s"
    assert time.process_time() - started < 20


def test_a_text_that_a_source_ignores_is_no_value_and_the_next_one_counts() -> None:
    ignoring = {
        "version": 1,
        "name": "house",
        "kinds": {"agent": [{"attr": "house.q", "exists": True}]},
        "values": {"input": [{"attr": "house.q", "ignore": "^<hidden>$"}, {"attr": "house.shown"}]},
    }
    for question, expected in (("<hidden>", "a summary"), ("<hidden> lamp", "<hidden> lamp")):
        span = _span(1, attributes={"house.q": question, "house.shown": "a summary"})
        (step,) = trajectory_of_spans([span], _tracing(ignoring)).steps
        assert text_of(step.input) == expected
    ignoring["values"] = {"input": [{"attr": "house.q", "ignore": "("}]}
    with pytest.raises(InvalidSpecError, match="cannot be read"):
        read_mapping(json.dumps(ignoring).encode())


@pytest.mark.parametrize(("extra", "expected"), [({}, 160), ({"gen_ai.usage.input_tokens": 150}, 150)])
def test_tokens_that_a_sender_counts_apart_are_added_though_they_are_fewer(
    extra: dict[str, int], expected: int
) -> None:
    counts = {"input_tokens": 100, "cache_read_tokens": 50, "cache_creation_tokens": 10, "output_tokens": 5}
    span = _span(1, attributes={"span.type": "llm_request", "model": "m", **counts, **extra})
    (step,) = trajectory_of_spans([span], default_tracing()).steps
    assert step.usage is not None
    assert (step.usage.input_tokens, step.usage.cached_input_tokens) == (expected, 50)
    assert "evalsi.flags" not in step.attributes


@pytest.mark.parametrize("name", ["http.status", "http.response.status_code"])
def test_a_call_that_a_gateway_refused_has_failed_though_its_span_does_not_say_so(name: str) -> None:
    calls = {"chat": "HTTP status 429", "execute_tool": "HTTP status 429", "plan": ""}
    for operation, expected in calls.items():
        span = _span(1, attributes={"gen_ai.operation.name": operation, name: 429})
        (step,) = trajectory_of_spans([span], default_tracing()).steps
        assert step.error == expected
    (step,) = trajectory_of_spans(
        [_span(1, attributes={"gen_ai.operation.name": "chat", name: 200})], default_tracing()
    ).steps
    assert step.error == ""


@pytest.mark.parametrize("depth", [51, 300, 900, 100_000])
def test_selectors_in_one_another_are_refused_where_reading_a_span_would_go_too_deep(depth: int) -> None:
    inner = b'{"not":' * depth + b'{"attr":"x","exists":true}' + b"}" * depth
    with pytest.raises(InvalidSpecError, match="more than 50 selectors in one another"):
        read_mapping(b'{"version":1,"name":"own","exclude_spans":[' + inner + b"]}")


def test_a_pattern_that_cannot_be_read_is_not_shown_for_pages() -> None:
    mapping = {"version": 1, "name": "own", "exclude_spans": [{"attr": "x", "regex": "(" * 5000}]}
    with pytest.raises(InvalidSpecError) as refused:
        read_mapping(json.dumps(mapping).encode())
    assert len(str(refused.value)) < 500
