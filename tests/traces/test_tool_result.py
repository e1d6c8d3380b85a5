"""What a tool gave is found in the wrappings of frameworks, and what is wrapped in nothing known stays as it is."""

import json
from typing import Any

import pytest

from evalsi.traces.tool_result import ToolResult, unwrapped_result

KWARGS = {"content": '{"on": true}', "tool_call_id": "call_1", "status": "success", "type": "tool"}
FAILED = {**KWARGS, "content": "no such room", "status": "error"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"type": "tool", "data": KWARGS}, ToolResult({"on": True}, "call_1")),
        (KWARGS, ToolResult({"on": True}, "call_1")),
        (
            {"lc": 1, "type": "constructor", "id": ["langchain", "ToolMessage"], "kwargs": KWARGS},
            ToolResult({"on": True}, "call_1"),
        ),
        ({"type": "tool", "data": FAILED}, ToolResult("no such room", "call_1", is_error=True)),
        (
            {"blocks": [{"text": "x"}], "tool_name": "lamp", "raw_input": {}, "raw_output": 5, "is_error": False},
            ToolResult(5),
        ),
        (
            {"blocks": [{"block_type": "text", "text": "no"}], "tool_name": "a", "raw_output": None, "is_error": True},
            ToolResult("no", is_error=True),
        ),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ToolResult("a\nb")),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, ToolResult("no", is_error=True)),
    ],
)
def test_a_known_wrapping_is_taken_off_as_a_value_and_as_text(written: Any, expected: ToolResult) -> None:
    assert unwrapped_result(written) == expected
    assert unwrapped_result(json.dumps(written)) == expected


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        "hall",
        5,
        [],
        [1, 2],
        [{"type": "text", "text": "a"}, {"type": "image", "data": "…"}],
        {"type": "tool", "size": 5},
        {"content": ["a"], "title": "a page"},
        {"raw_output": 5},
        {"lc": 2},
    ],
)
def test_anything_else_stays_as_it_is(written: Any) -> None:
    assert unwrapped_result(written) == ToolResult(written)
