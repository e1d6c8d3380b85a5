"""What is taken out of spans and records before they are stored or shown to an evaluator, in every disguise it comes in."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.errors import InvalidSpecError, UnknownNameError
from evalsi.schema import Content, Message, Messages, Record, Step, Trajectory
from evalsi.traces import Span
from evalsi.traces.span import SpanEvent
from evalsi.watch.redaction import DETECTORS, REDACTED, redact_record, redact_spans
from evalsi.watch.redaction_rules import RedactionRules
from tests.case_files import CASES

EVERYTHING = RedactionRules(detectors=DETECTORS)
ADDRESS, CARD = "kim@example.org", "4111 1111 1111 1111"
CASE: dict[str, Any] = json.loads(next(CASES.glob("I01*.json")).read_text())
ROWS = list(zip(CASE["input"]["rows"], CASE["expected"]["rows"], strict=True))


def span_with(value: Any, name: str = "gen_ai.input.messages") -> Span:
    return Span(trace_id="ab" * 16, span_id="cd" * 8, attributes={name: value})


def cleaned(value: Any, rules: RedactionRules = EVERYTHING, name: str = "gen_ai.input.messages") -> Any:
    (span,) = redact_spans([span_with(value, name)], rules)
    return span.attributes.get(name)


@pytest.mark.parametrize(("row", "expected"), ROWS, ids=lambda row: row.get("text", "")[:20])
def test_the_finds_of_the_case_are_gone_and_look_alikes_stay(row: dict[str, Any], expected: dict[str, Any]) -> None:
    text = cleaned(row["text"])
    for finding in expected["findings"]:
        assert finding["text"] not in text
        assert f"[{finding['type']}]" in text
    if not expected["findings"]:
        assert text == row["text"]


@pytest.mark.parametrize(
    "hidden",
    [
        json.dumps([{"role": "user", "content": f"I am {ADDRESS}."}]),
        json.dumps({"a": json.dumps({"b": json.dumps([ADDRESS])})}),
        '[{"content": "kim\\u0040example.org"}]',
        '{"outer": "{\\"inner\\": \\"kim\\\\u0040example.org\\"}"}',
        '[{"content": "cut off kim\\u0040example.org and then',
        "https://example.com/?mail=kim%40example.org",
        "<p>kim&#64;example.org and kim&#x40;example.org</p>",
        "kim\u200b@exam\u00adple.org",
        "ｋｉｍ＠ｅｘａｍｐｌｅ.org",
        '{"kim@example.org": "is a key"}',
        '{"a": "kim@example.org", "a": "named twice"}',
        [{"deep": [{"er": [ADDRESS]}]}],
    ],
)
def test_an_address_is_found_in_every_disguise(hidden: Any) -> None:
    text = json.dumps(cleaned(hidden), ensure_ascii=False)
    assert "[EMAIL]" in text
    for trace in ("kim@", "kim\\", "kim%", "kim&", "kim\u200b", "ｋｉｍ"):
        assert trace not in text


@pytest.mark.parametrize(
    "split",
    [
        ["4111 1111", " 1111 1111"],
        [{"type": "text", "text": "pay with 4111 1111 "}, {"type": "text", "text": "1111 1111 today"}],
        json.dumps(
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "4111 11"}, {"type": "text", "text": "11 1111 1111"}],
                }
            ]
        ),
    ],
)
def test_a_number_that_is_cut_into_pieces_is_found(split: Any) -> None:
    text = json.dumps(cleaned(split))
    assert "4111" not in text
    assert "1111" not in text


def test_pieces_that_are_flattened_into_attributes_are_one_text() -> None:
    begin = "llm.input_messages.0.message.contents."
    span = Span(
        trace_id="ab" * 16,
        span_id="cd" * 8,
        attributes={f"{begin}1.message_content.text": " 1111 1111", f"{begin}0.message_content.text": "4111 1111"},
    )
    (found,) = redact_spans([span], EVERYTHING)
    assert not any("1111" in value for value in found.attributes.values())


def test_two_messages_are_not_read_as_one() -> None:
    messages = [{"role": "user", "content": "4111 1111"}, {"role": "assistant", "content": " 1111 1111"}]
    assert cleaned(json.dumps(messages)) == json.dumps(messages)


def test_numbers_that_are_no_text_are_found() -> None:
    assert cleaned(4111111111111111) == "[CARD]"
    assert json.loads(cleaned('{"card": 4111111111111111, "n": 5}')) == {"card": "[CARD]", "n": 5}
    assert cleaned(1767323045000001) == 1767323045000001


def test_names_events_status_and_resource_are_looked_at_and_ids_stay() -> None:
    span = Span(
        trace_id="ab" * 16,
        span_id="cd" * 8,
        name=f"mail {ADDRESS}",
        status_message=f"no mailbox {ADDRESS}",
        events=[SpanEvent(name=f"sent {ADDRESS}", attributes={"to": ADDRESS})],
        resource={"owner": ADDRESS},
    )
    (found,) = redact_spans([span], EVERYTHING)
    assert ADDRESS not in repr(found)
    assert repr(found).count("[EMAIL]") == 5
    assert (found.trace_id, found.span_id) == (span.trace_id, span.span_id)


def test_a_key_hides_its_value_wherever_it_stands() -> None:
    rules = RedactionRules(keys=("password", "http.request.header.*"))
    assert cleaned("hunter2", rules, "db.PassWord") == REDACTED
    assert cleaned(["a"], rules, "http.request.header.cookie") == REDACTED
    assert json.loads(cleaned('{"user": {"password": 5, "name": "kim"}}', rules)) == {
        "user": {"password": REDACTED, "name": "kim"}
    }
    assert cleaned("free", rules, "passwords.count") == "free"


def test_attributes_are_left_out_by_name_or_kept_by_name() -> None:
    attributes = {"gen_ai.prompt": "a", "gen_ai.usage.input_tokens": 3, "url.full": "b"}
    span = Span(trace_id="ab" * 16, span_id="cd" * 8, attributes=attributes)
    (dropped,) = redact_spans([span], RedactionRules(drop_attributes=("gen_ai.prompt", "URL.*")))
    assert dropped.attributes == {"gen_ai.usage.input_tokens": 3}
    (kept,) = redact_spans([span], RedactionRules(keep_attributes=("gen_ai.usage.*",)))
    assert kept.attributes == {"gen_ai.usage.input_tokens": 3}


def test_a_secret_is_known_by_the_name_it_has() -> None:
    value = "f3Kq9Zx2Lw8Vb5Nc7Rt1"
    assert cleaned(value, EVERYTHING, "app.api_key") == "[SECRET]"
    assert cleaned(value, EVERYTHING, "app.build") == value
    assert value not in cleaned(json.dumps({"password": value}))


def test_a_pattern_replaces_its_matches_and_one_that_cannot_run_is_refused() -> None:
    rules = RedactionRules(patterns=(r"EMP-\d{4}",))
    assert cleaned("ask EMP-1234 or \\u0045MP-9999", rules) == f"ask {REDACTED} or {REDACTED}"
    with pytest.raises(InvalidSpecError, match=r"patterns\[1\].*lookaround"):
        redact_spans([], RedactionRules(patterns=("a", "(?<=x)y")))
    with pytest.raises(UnknownNameError, match="email"):
        redact_spans([], RedactionRules(detectors=("emial",)))


def test_a_record_is_redacted_in_every_part() -> None:
    message = Message(role="user", content=f"from {ADDRESS}")
    record = Record(
        id="r1",
        input=Content(messages=Messages(messages=[message])),
        output=Content(text=f"to {ADDRESS}"),
        context=[Content(json={"mail": [ADDRESS]})],
        metadata={"owner": ADDRESS, "secret.note": "x"},
        trajectory=Trajectory(
            trace_id="ab" * 16, steps=[Step(output=Content(text=CARD), attributes={"secret.note": "y"})]
        ),
    )
    found = redact_record(record, RedactionRules(detectors=DETECTORS, drop_attributes=("secret.*",)))
    assert ADDRESS not in repr(found)
    assert CARD not in repr(found)
    assert "secret.note" not in repr(found)
    assert found.id == "r1"
    assert found.trajectory is not None
    assert found.trajectory.trace_id == "ab" * 16


def test_what_holds_nothing_to_redact_is_the_same_object() -> None:
    record = Record(id="r1", output=Content(text="a plain sentence"), metadata={"n": 5, "list": [1, "two"]})
    assert redact_record(record, EVERYTHING) is record


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**18) | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.booleans())
@settings(max_examples=40, deadline=None)
def test_an_address_anywhere_in_any_json_is_gone_and_redacting_twice_changes_nothing(value: Any, twice: bool) -> None:
    planted = {"before": value, "here": [f"x {ADDRESS} y"], "after": value}
    text = json.dumps(json.dumps(planted) if twice else planted)
    once = cleaned(text)
    assert ADDRESS not in once
    assert cleaned(once) == once


@given(st.lists(st.text(max_size=30), max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_text_is_taken(texts: list[str]) -> None:
    cleaned(texts)
    cleaned("\\".join(texts))
