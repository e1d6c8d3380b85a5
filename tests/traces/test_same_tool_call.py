"""A call of a tool that several libraries recorded is one call; calls that only look alike stay apart."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.schema import Step, StepType, Trajectory
from evalsi.traces import Span, default_tracing, tool_calls_of, trajectory_of_spans

MCP = {"mcp.method.name": "tools/call"}
SAME = "evalsi.same_call_as"


def a_tool(
    number: int, name: str, start: int, end: int, parent: int = 0, *, more: dict[str, Any] | None = None
) -> Span:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return Span(
        trace_id="ab" * 16,
        span_id=f"{number:016x}",
        parent_span_id=f"{parent:016x}",
        name=name,
        start_ns=start * 1_000_000,
        end_ns=end * 1_000_000,
        attributes={**attributes, **(more or {})},
    )


def steps_of(*spans: Span) -> list[Step]:
    root = Span(trace_id="ab" * 16, span_id=f"{0:016x}", name="ask", start_ns=1, end_ns=10**9)
    steps = trajectory_of_spans([root, *spans], default_tracing()).steps
    return [step for step in steps if step.span_id != root.span_id]


def tools_of(*spans: Span) -> list[tuple[str, str]]:
    """Type and the call that each step belongs to, in the order of the spans' numbers."""
    found = sorted(steps_of(*spans), key=lambda step: step.span_id)
    return [(step.type.value, str(step.attributes.get(SAME, ""))[-1:]) for step in found]


@pytest.mark.parametrize("name", ["lamp", "mcp__home__lamp", "home.lamp", "home/lamp", "home:lamp"])
@pytest.mark.parametrize("parent", [0, 1])
def test_a_span_of_mcp_within_the_tool_that_caused_it_is_the_same_call(name: str, parent: int) -> None:
    outer, inner = a_tool(1, name, 10, 50), a_tool(2, "lamp", 20, 40, parent, more=MCP)
    assert tools_of(outer, inner) == [("tool", ""), ("generic", "1")]


def test_below_its_tool_a_span_of_mcp_is_the_same_call_though_the_clocks_differ() -> None:
    outer, inner = a_tool(1, "lamp", 10, 50), a_tool(2, "lamp", 5, 40, 1, more=MCP)
    assert tools_of(outer, inner) == [("tool", ""), ("generic", "1")]


@pytest.mark.parametrize(
    "inner",
    [
        a_tool(2, "lamp", 20, 60, more=MCP),  # ends later
        a_tool(2, "blind", 20, 40, more=MCP),  # another tool
        a_tool(2, "amp", 20, 40, more=MCP),  # the end of a name is no name
        a_tool(2, "lamp", 20, 40),  # nothing says that it is the same
        a_tool(2, "lamp", 20, 40, 1),  # a tool that calls itself
    ],
)
def test_what_merely_looks_alike_is_another_call(inner: Span) -> None:
    assert tools_of(a_tool(1, "lamp", 10, 50), inner) == [("tool", ""), ("tool", "")]


def test_client_gateway_and_server_of_one_call_are_one_call_and_fill_in_what_it_lacks() -> None:
    outer = a_tool(1, "lamp", 10, 50, more={"gen_ai.tool.call.arguments": '{"room": "hall"}'})
    gateway = a_tool(2, "lamp", 20, 45, 1, more={**MCP, "gen_ai.tool.call.arguments": '{"room": "not this"}'})
    server = a_tool(3, "lamp", 25, 40, 2, more={**MCP, "gen_ai.tool.call.result": '{"on": true}'})
    steps = steps_of(outer, gateway, server)
    (call,) = tool_calls_of(Trajectory(steps=steps))
    assert (call.arguments, call.result) == ({"room": "hall"}, {"on": True})
    assert tools_of(outer, gateway, server) == [("tool", ""), ("generic", "1"), ("generic", "1")]


def test_two_calls_at_once_have_one_span_of_mcp_each() -> None:
    first, second = a_tool(1, "lamp", 10, 50), a_tool(2, "lamp", 11, 49)
    inner, other = a_tool(3, "lamp", 20, 30, more=MCP), a_tool(4, "lamp", 21, 31, more=MCP)
    found = tools_of(first, second, inner, other)
    assert found[:2] == [("tool", ""), ("tool", "")]
    assert sorted(found[2:]) == [("generic", "1"), ("generic", "2")]


def test_spans_with_the_same_call_id_are_one_call_where_one_lies_within_the_other_and_a_retry_is_two() -> None:
    named = {"gen_ai.tool.call.id": "call_1"}
    assert tools_of(a_tool(1, "lamp", 10, 50, more=named), a_tool(2, "Lamp", 20, 40, more=named))[1] == ("generic", "1")
    assert tools_of(a_tool(1, "lamp", 10, 20, more=named), a_tool(2, "lamp", 30, 40, more=named))[1] == ("tool", "")


_SPANS = st.lists(
    st.tuples(
        st.sampled_from(["lamp", "home__lamp", "blind"]),
        st.integers(0, 40),
        st.integers(0, 40),
        st.integers(0, 8),
        st.sampled_from([{}, MCP, {"gen_ai.tool.call.id": "a"}, {**MCP, "gen_ai.tool.call.id": "a"}]),
    ),
    max_size=8,
)


@given(_SPANS)
def test_whatever_lies_in_whatever_every_call_keeps_one_step_that_is_a_tool(drawn: list[Any]) -> None:
    spans = [
        a_tool(number, name, begin, begin + length, parent, more=more)
        for number, (name, begin, length, parent, more) in enumerate(drawn, 1)
    ]
    steps = {step.span_id: step for step in steps_of(*spans)}
    assert len(steps) == len(spans)
    for step in steps.values():
        same = step.attributes.get(SAME)
        assert (step.type is StepType.TOOL) == (same is None)
        if same is not None:
            assert steps[same].type is StepType.TOOL


def test_many_calls_take_time_in_proportion() -> None:
    spans = [a_tool(number, f"tool{number % 3}", number, number + 5) for number in range(1, 3001)]
    spans += [a_tool(number + 3000, span.name, span.start_ns // 10**6, span.start_ns // 10**6 + 1, more=MCP)
              for number, span in enumerate(spans, 1)]  # fmt: skip
    steps = steps_of(*spans)
    assert sum(step.type is StepType.TOOL for step in steps) == 3000
    assert all(
        one.start_time <= other.start_time for one, other in pairwise(steps) if one.start_time and other.start_time
    )
