"""A trajectory as a conversation and as a timeline: nothing twice, nothing that failed left out, any tree of steps."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.schema import Content, Message, Messages, Step, StepType, ToolCall, Trajectory
from evalsi.server.pages.trace_conversation import Line, conversation_of_steps
from evalsi.server.pages.trace_timeline import timeline_of
from evalsi.traces import by_trace, decode_otlp, decode_otlp_protobuf, default_tracing, trajectory_of_spans
from tests.server.pages.seen_traffic import TraceSketch, research, support

GOLDEN = sorted((Path(__file__).parents[2] / "traces" / "golden").glob("*.json"))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def sketched(write: Any, *, goes_wrong: bool, seed: int = 3) -> Trajectory:
    sketch = TraceSketch(chance=random.Random(seed), begun_ns=10**18, service="s")
    write(sketch, goes_wrong=goes_wrong)
    return trajectory_of_spans(decode_otlp_protobuf(sketch.body()).spans, default_tracing())


def said(lines: list[Line]) -> list[tuple[str, str]]:
    return [(line.speaker, line.text) for line in lines if line.kind == "message"]


def model(span_id: str, asked: list[Message], answered: Message, parent: str = "") -> Step:
    return Step(
        span_id=span_id,
        parent_span_id=parent,
        type=StepType.LLM,
        name="small-1",
        input=Content(messages=Messages(messages=asked)),
        output=Content(messages=Messages(messages=[answered])),
    )


OWN_WORDS = ("crewai", "claude-agent-sdk", "openai-agents-handoff", "llamaindex")
"""Frameworks that add words, agents or steps of their own to what they were asked."""


@pytest.mark.parametrize("file", [one for one in GOLDEN if one.stem in OWN_WORDS], ids=lambda one: one.stem)
def test_whatever_a_framework_adds_the_question_and_the_answer_are_there_and_nothing_of_its_insides(file: Path) -> None:
    *_, spans = by_trace(decode_otlp(file.read_bytes(), file.name).spans).values()
    words = said(conversation_of_steps(trajectory_of_spans(spans, default_tracing())))
    assert ("user", "Is the hall lamp on?") in words
    assert words[-1][1] == "Yes, it is on."
    assert not [text for _, text in words if "init_state" in text or "StopEvent" in text]


@pytest.mark.parametrize(
    "file", [one for one in GOLDEN if one.stem not in ("genai", "litellm", *OWN_WORDS)], ids=lambda one: one.stem
)
def test_every_convention_reads_as_the_same_conversation(file: Path) -> None:
    traces = by_trace(decode_otlp(file.read_bytes(), file.name).spans)
    lines = [
        line
        for spans in traces.values()
        for line in conversation_of_steps(trajectory_of_spans(spans, default_tracing()))
    ]
    assert said(lines) == [
        ("system", "You control lamps."),
        ("user", "Is the hall lamp on?"),
        ("assistant", "Yes, it is on."),
    ]
    call = next(line for line in lines if line.kind == "call")
    assert (call.speaker, call.text, call.result) == ("lamp_state", '{"room": "hall"}', '{"on": true}')


def test_what_agents_within_agents_do_stands_below_them_with_their_results_joined() -> None:
    lines = conversation_of_steps(sketched(research, goes_wrong=False))
    agents = [line for line in lines if line.kind == "agent"]
    assert [(line.speaker, line.depth) for line in agents] == [("researcher", 0), ("researcher", 0)]
    assert {line.depth for line in lines if line.speaker == "web_search"} == {1}
    asked = [line for line in lines if line.speaker == "research"]
    assert all("Three surveys agree" in (line.result or "") for line in asked)
    assert lines.index(asked[0]) + 1 == lines.index(agents[0])


def test_a_tool_that_is_tried_again_says_which_try_it_is_and_why_the_last_one_failed() -> None:
    lines = conversation_of_steps(sketched(support, goes_wrong=True))
    calls = [line for line in lines if line.kind == "call"]
    assert [line.attempt for line in calls] == [1, 2, 3]
    assert all("did not answer" in line.error for line in calls)


def test_a_root_that_failed_says_so_at_the_end() -> None:
    last = conversation_of_steps(sketched(research, goes_wrong=True))[-1]
    assert (last.speaker, last.error) == ("editor", "one of two parts is missing")


def test_what_a_person_said_twice_stands_there_twice_and_what_is_only_repeated_once() -> None:
    yes, answer = Message(role="user", content="yes"), Message(role="assistant", content="sure?")
    done = Message(role="assistant", content="done")
    steps = [model("1", [yes], answer), model("2", [yes, answer, yes], done)]
    assert said(conversation_of_steps(Trajectory(steps=steps))) == [
        ("user", "yes"),
        ("assistant", "sure?"),
        ("user", "yes"),
        ("assistant", "done"),
    ]


def test_a_call_that_no_step_shows_has_the_result_of_the_next_question() -> None:
    asks = Message(role="assistant", tool_calls=[ToolCall(id="c1", name="look", arguments='{"at": 1}')])
    told = Message(role="tool", tool_call_id="c1", content="nothing there")
    question, answer = Message(role="user", content="?"), Message(role="assistant", content="no")
    lines = conversation_of_steps(
        Trajectory(steps=[model("1", [question], asks), model("2", [question, asks, told], answer)])
    )
    assert [(line.kind, line.speaker, line.result) for line in lines if line.kind == "call"] == [
        ("call", "look", "nothing there")
    ]
    assert said(lines) == [("user", "?"), ("assistant", "no")]


def test_a_trace_whose_models_say_nothing_shows_what_its_root_was_asked_and_answered() -> None:
    root = Step(
        span_id="1", type=StepType.AGENT, name="a", input=Content(text="in"), output=Content(text="out"), error="late"
    )
    lines = conversation_of_steps(Trajectory(steps=[root, Step(span_id="2", parent_span_id="1", type=StepType.LLM)]))
    assert said(lines)[0] == ("user", "in")
    assert ("answer", "out") in said(lines)
    assert lines[-1].error == "late"


def looked_up(parent: str) -> Step:
    return Step(span_id="2", parent_span_id=parent, type=StepType.TOOL, name="lookup", output=Content(text="42"))


@pytest.mark.parametrize(
    "given",
    [
        Content(text="how many?"),
        Content(messages=Messages(messages=[Message(role="user", content="how many?")])),
        Content(json={"args": [], "kwargs": {"question": "how many?"}}),
    ],
    ids=["text", "messages", "arguments"],
)
def test_what_the_root_was_asked_stands_before_what_was_done_for_it_and_only_once(given: Content) -> None:
    root = Step(span_id="1", type=StepType.GENERIC, name="app", input=given)
    system, user = Message(role="system", content="count"), Message(role="user", content="how many?")
    chat = model("3", [system, user], Message(role="assistant", content="42"), "1")
    lines = conversation_of_steps(Trajectory(steps=[root, looked_up("1"), chat]))
    assert [line.speaker for line in lines] == ["system", "user", "lookup", "assistant"]


def test_a_prompt_that_repeats_the_question_among_other_words_leaves_the_question_where_it_was_asked() -> None:
    root = Step(span_id="1", type=StepType.AGENT, name="app", input=Content(text="how many?"))
    prompt = Message(role="user", content="Found: 42\nQuestion: how many?")
    chat = model("3", [prompt], Message(role="assistant", content="42"), "1")
    later = conversation_of_steps(Trajectory(steps=[root, looked_up("1"), chat]))
    assert [(line.speaker, line.text) for line in later] == [
        ("user", "how many?"),
        ("lookup", ""),
        ("user", prompt.content),
        ("assistant", "42"),
    ]
    at_once = conversation_of_steps(Trajectory(steps=[root, chat]))
    assert said(at_once) == [("user", prompt.content), ("assistant", "42")]


def test_an_earlier_turn_stays_before_the_question_and_both_before_the_tool() -> None:
    turns = [("user", "hello"), ("assistant", "hi"), ("user", "how many?")]
    told = [Message(role=role, content=content) for role, content in turns]
    chat = model("3", told, Message(role="assistant", content="42"), "1")
    for asked in (Content(text="how many?"), Content(messages=Messages(messages=told))):
        root = Step(span_id="1", type=StepType.AGENT, name="app", input=asked)
        lines = conversation_of_steps(Trajectory(steps=[root, looked_up("1"), chat]))
        assert [(line.speaker, line.text) for line in lines] == [*turns, ("lookup", ""), ("assistant", "42")]


def test_what_an_agent_within_is_asked_in_the_same_words_stays_with_it() -> None:
    root = Step(span_id="1", type=StepType.AGENT, name="outer", input=Content(text="how many?"))
    inner = Step(span_id="4", parent_span_id="1", type=StepType.AGENT, name="inner")
    chat = model("3", [Message(role="user", content="how many?")], Message(role="assistant", content="42"), "4")
    lines = conversation_of_steps(Trajectory(steps=[root, looked_up("1"), inner, chat]))
    assert [(line.speaker, line.depth) for line in lines if line.text == "how many?"] == [("user", 0), ("user", 1)]
    assert lines[0].text == "how many?"


def test_bars_are_placed_by_time_and_a_step_without_an_end_is_a_point() -> None:
    def step(span_id: str, start_s: float, end_s: float | None, parent: str = "") -> Step:
        return Step(
            span_id=span_id,
            parent_span_id=parent,
            start_time=NOON + timedelta(seconds=start_s),
            end_time=None if end_s is None else NOON + timedelta(seconds=end_s),
        )

    timeline = timeline_of(
        Trajectory(steps=[step("a", 0, 10), step("b", 5, 10, "a"), step("c", 2, None, "a"), Step(span_id="d")])
    )
    assert timeline.length_s == 10
    rows = {row.step.span_id: row for row in timeline.rows}
    assert (rows["a"].begin, rows["a"].length, rows["a"].level) == (0, 1, 0)
    assert (rows["b"].begin, rows["b"].length, rows["b"].level) == (0.5, 0.5, 1)
    assert rows["c"].begin == pytest.approx(0.2)
    assert 0 < rows["c"].length < 0.01
    assert rows["d"].begin is None
    assert rows["d"].bar == ""


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    amount = draw(st.integers(0, 12))
    ids = [f"s{number}" for number in range(amount)]
    words = st.sampled_from(["", "x", "tool", "\u202e<b>"])
    steps: list[Step] = []
    for number, span_id in enumerate(ids):
        content = draw(
            st.one_of(
                st.none(),
                words.map(lambda text: Content(text=text)),
                st.just(Content(json=[1, {"content": None}])),
                words.map(
                    lambda text: Content(
                        messages=Messages(
                            messages=[
                                Message(role="assistant", tool_calls=[ToolCall(name=text, arguments=text)]),
                                Message(role="tool", tool_call_id=text),
                            ]
                        )
                    )
                ),
            )
        )
        steps.append(
            Step(
                span_id=span_id,
                parent_span_id=draw(st.sampled_from(["", "elsewhere", *ids[:number]])),
                type=draw(st.sampled_from(list(StepType))),
                name=draw(words),
                input=content,
                output=draw(st.sampled_from([None, content])),
                error=draw(st.sampled_from(["", "broke"])),
                start_time=draw(st.one_of(st.none(), st.integers(0, 9).map(lambda s: NOON + timedelta(seconds=s)))),
            )
        )
    return Trajectory(steps=steps)


@given(trajectories())
def test_any_tree_of_steps_has_every_step_once_in_time_and_every_failure_among_its_lines(
    trajectory: Trajectory,
) -> None:
    rows = timeline_of(trajectory).rows
    assert sorted(row.step.span_id for row in rows) == sorted(step.span_id for step in trajectory.steps)
    assert all(row.begin is None or 0 <= row.begin <= 1 for row in rows)
    failed = {step.span_id for step in trajectory.steps if step.error}
    shown = {line.span_id for line in conversation_of_steps(trajectory) if line.error}
    joined = {step.span_id for step in trajectory.steps if step.type is StepType.TOOL}
    assert failed - joined <= shown
