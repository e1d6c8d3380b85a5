"""Events that come apart from their spans, put back where they belong."""

import random

import pytest

from evalsi.traces.log_event import EVALUATION_EVENT, EVENT_OF, LogEvent, feedback_of, is_kept, span_of_event
from evalsi.traces.span import Span
from evalsi.traces.trajectory import default_tracing, distinct, trajectory_of_spans

TRACE, CALL = "ab" * 16, "cd" * 8


def call() -> Span:
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    return Span(trace_id=TRACE, span_id=CALL, name="chat m", start_ns=10, end_ns=90, attributes=said)


def said(name: str, text: str, at: int, **more: object) -> Span:
    content = {"content": text, **more}
    return span_of_event(LogEvent(name=name, trace_id=TRACE, span_id=CALL, time_ns=at, attributes=content))


def test_a_conversation_is_in_the_order_of_its_moments_however_its_parts_arrive() -> None:
    texts = [f"turn {number}" for number in range(12)]
    parts = [said("gen_ai.user.message", text, 10 + place) for place, text in enumerate(texts)]
    parts.append(said("gen_ai.choice", "done", 60))
    for seed in range(10):
        mixed = [call(), *parts, *parts[:3]]
        random.Random(seed).shuffle(mixed)
        (step,) = trajectory_of_spans(mixed, default_tracing()).steps
        assert step.input is not None
        assert step.input.messages is not None
        assert [message.content for message in step.input.messages.messages] == texts
        assert "done" in repr(step.output)


def test_an_event_whose_span_never_comes_is_a_step_of_its_own() -> None:
    lost = said("gen_ai.user.message", "hello", 5)
    (step,) = trajectory_of_spans([lost], default_tracing()).steps
    assert step.name == "gen_ai.user.message"


def test_spans_that_call_each_other_their_events_are_all_kept() -> None:
    one = Span(trace_id=TRACE, span_id="1" * 16, attributes={EVENT_OF: "2" * 16})
    two = Span(trace_id=TRACE, span_id="2" * 16, attributes={EVENT_OF: "1" * 16})
    assert distinct([one, two]) == [one, two]
    three = Span(trace_id=TRACE, span_id="3" * 16, attributes={EVENT_OF: ["odd"]})
    assert distinct([one, three]) == [one, three]


@pytest.mark.parametrize(
    ("attributes", "number", "passed", "label", "comment"),
    [
        ({"score.value": 0.5}, 0.5, None, None, ""),
        ({"score.value": 1, "score.label": "pass"}, None, True, None, ""),
        ({"score.label": "Failed", "explanation": "rude"}, None, False, None, "rude"),
        ({"score.label": "relevant"}, None, None, "relevant", ""),
        ({"score.value": 4.0, "score.label": "good", "explanation": "kind"}, 4.0, None, None, "good: kind"),
        ({"score.value": "high", "explanation": "x" * 20_000}, None, None, None, "x" * 10_000),
    ],
)
def test_what_an_evaluation_says_has_one_value(
    attributes: dict[str, object], number: float | None, passed: bool | None, label: str | None, comment: str
) -> None:
    told = {f"gen_ai.evaluation.{name}": value for name, value in attributes.items()}
    found = feedback_of(LogEvent(name=EVALUATION_EVENT, trace_id=TRACE, span_id=CALL, attributes=told))
    assert found is not None
    assert (found.number, found.passed, found.label, found.comment) == (number, passed, label, comment)


@pytest.mark.parametrize(
    "event",
    [
        LogEvent(name=EVALUATION_EVENT, attributes={"gen_ai.evaluation.score.value": 1.0}),
        LogEvent(name=EVALUATION_EVENT, trace_id=TRACE),
        LogEvent(name=EVALUATION_EVENT, trace_id=TRACE, attributes={"gen_ai.evaluation.score.value": float("nan")}),
        LogEvent(name="gen_ai.user.message", trace_id=TRACE),
        LogEvent(name="log", trace_id=TRACE, span_id=CALL),
    ],
)
def test_what_says_nothing_or_not_about_what_is_not_kept(event: LogEvent) -> None:
    assert not is_kept(event)
