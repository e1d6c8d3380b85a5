"""What lists show of a trace: the shared cases with their right answers, and what is left open when nobody told it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.ports.trace_store import CompletedTrace, DueTrace
from evalsi.traces import Span, decode_otlp, default_tracing
from evalsi.traces.record_of_trace import record_of_trace
from evalsi.watch.summary_of_trace import completed_trace
from tests.case_files import CASES, case

DUE = DueTrace(project="default", trace_id="0" * 32, revision=1, parts=1, evaluated_spans=b"", token="t")


def of_file(path: Path) -> CompletedTrace:
    return of_spans(decode_otlp(path.read_bytes(), str(path)).spans)


def of_spans(spans: list[Span]) -> CompletedTrace:
    return completed_trace(DUE, spans, record_of_trace(spans, default_tracing()))


def a_span(number: int = 1, **changes: Any) -> Span:
    about = Span(trace_id="0" * 31 + "1", span_id=f"{number:016x}", name="work", start_ns=10**18, end_ns=10**18 + 10**9)
    return msgspec.structs.replace(about, **changes)


@pytest.mark.parametrize("identifier", ["H01", "H02", "H03", "H04"])
def test_each_convention_is_summed_up_as_its_case_says(identifier: str) -> None:
    found = case(identifier)
    expected = found["expected"]
    done = of_file(CASES / found["input"]["file"])
    shown = done.summary
    said = expected["input"] if isinstance(expected["input"], str) else json.dumps(expected["input"])
    assert shown.input == said[:300]
    assert shown.output == expected["output"].removesuffix(" (no surrounding quotes)")
    assert (shown.input_tokens, shown.output_tokens) == (expected["tokens"]["input"], expected["tokens"]["output"])
    assert shown.session_id == expected.get("session", "")
    assert shown.steps == shown.spans == expected["spans"]
    assert shown.model in expected.get("model", shown.model)
    assert shown.output in done.text
    if "root" in expected:
        assert shown.name == expected["root"]
    if "duration_ms" in expected:
        assert shown.duration == expected["duration_ms"] / 1000


def test_a_child_with_a_wrong_clock_makes_no_trace_longer() -> None:
    spans = [
        span
        for path in case("H05")["input"]["send_in_order"]
        for span in decode_otlp((CASES / path).read_bytes(), path).spans
    ]
    shown = of_spans(spans).summary
    assert (shown.duration, shown.spans) == (1.0, case("H05")["expected"]["spans_after_5"])
    assert of_spans(list(reversed(spans))) == of_spans(spans)


def test_names_of_session_user_version_and_key_are_those_of_any_convention() -> None:
    for session, user, version in (
        ("session.id", "user.id", "service.version"),
        ("gen_ai.conversation.id", "enduser.id", "service.version"),
        ("langfuse.session.id", "langfuse.user.id", "langfuse.release"),
    ):
        attributes = {session: "s-1", user: 7, "evalsi.key": "k-1", "evalsi.label.env": "prod"}
        done = of_spans([a_span(attributes=attributes, resource={"service.name": "shop", version: "2.0"})])
        shown = done.summary
        assert (shown.session_id, shown.user_id, shown.version, shown.service) == ("s-1", "7", "2.0", "shop")
        assert (done.keys, shown.labels) == (["k-1"], {"env": "prod"})


def test_what_nobody_told_is_open() -> None:
    shown = of_spans([a_span(end_ns=0, start_ns=0)]).summary
    assert (shown.input_tokens, shown.cost_usd, shown.model, shown.session_id) == (None, None, "", "")
    assert (shown.duration, shown.error) == (None, False)


def test_a_cost_that_lacks_a_price_is_no_cost() -> None:
    def call(number: int, model: str) -> Span:
        told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "gen_ai.usage.input_tokens": 1000}
        return a_span(number, attributes={**told, "gen_ai.usage.output_tokens": 10})

    priced = of_spans([call(1, "gpt-4o-mini")]).summary
    assert priced.cost_usd is not None and priced.cost_usd > 0
    mixed = of_spans([call(1, "gpt-4o-mini"), call(2, "nobody-knows-it")]).summary
    assert (mixed.cost_usd, mixed.input_tokens) == (None, 2000)


def test_a_root_that_failed_is_an_error_and_a_failed_child_is_not() -> None:
    root = a_span(1, status_code=2)
    child = a_span(2, parent_span_id=f"{1:016x}", status_code=2)
    assert of_spans([root]).summary.error
    mended = of_spans([a_span(1), child]).summary
    assert (mended.error, mended.failed_spans) == (False, 1)


def test_the_digest_of_spans_tells_other_spans_apart_and_copies_not() -> None:
    one, two = a_span(1), a_span(2)
    assert of_spans([one, two]).span_digest == of_spans([two, one, one]).span_digest
    assert of_spans([one]).span_digest != of_spans([one, two]).span_digest


def test_long_texts_are_cut() -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "x" * 50_000}]}]),
    }
    done = of_spans([a_span(attributes=attributes)])
    assert len(done.summary.input) == 300
    assert len(done.text) <= 40_001
