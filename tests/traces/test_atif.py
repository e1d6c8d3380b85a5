"""ATIF: read from 1.0 to 1.8, written as 1.8, and the same after a round trip."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError
from evalsi.schema import StepType
from evalsi.traces import (
    atif_of_trajectory,
    decode_atif,
    encode_atif,
    record_of_atif,
    tool_calls_of,
    trajectory_of_atif,
)
from tests.case_files import CASES, case
from tests.traces.reading import trajectory_of

P02 = (CASES / "files" / "P02_atif.json").read_bytes()


def _again(document: dict[str, Any]) -> dict[str, Any]:
    read = trajectory_of_atif(decode_atif(json.dumps(document).encode()))
    return json.loads(encode_atif(atif_of_trajectory(read)))


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """A document as it is written: the newest version, results in the order of their calls."""
    steps: list[dict[str, Any]] = []
    for step in document["steps"]:
        order = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        results = step.get("observation", {}).get("results", [])
        known = sorted(
            (r for r in results if r.get("source_call_id") in order), key=lambda r: order.index(r["source_call_id"])
        )
        loose = [result for result in results if result.get("source_call_id") not in order]
        steps.append(step | ({"observation": {"results": [*known, *loose]}} if results else {}))
    return document | {"schema_version": "ATIF-v1.8", "steps": steps}


def test_parallel_calls_that_were_answered_out_of_order_are_joined_by_id() -> None:
    expected = case("P02")["expected"]
    record = record_of_atif(decode_atif(P02), "x")
    calls = [
        {"id": call.id, "name": call.name, "arguments": call.arguments, "result": call.result}
        for call in tool_calls_of(trajectory_of(record))
    ]
    assert calls == expected["tool_calls"]
    assert text_of(record.output) == expected["output"]
    usage = record.usage
    assert usage is not None
    tokens = expected["tokens"]
    assert (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens) == (
        tokens["input"],
        tokens["output"],
        tokens["cached"],
    )
    assert usage.cost_usd == expected["cost_usd"]
    assert usage.unpriced_requests == 1
    spoken = [
        step for step in trajectory_of(record).steps if step.type in (StepType.LLM, StepType.USER, StepType.GENERIC)
    ]
    assert len(spoken) == expected["steps"]
    assert "Use dim." not in "".join(text_of(step.output) for step in trajectory_of(record).steps)


def test_the_case_comes_back_whole() -> None:
    assert _again(json.loads(P02)) == _plain(json.loads(P02))


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_read_and_the_newest_is_written(version: str) -> None:
    document = json.loads(P02) | {"schema_version": version}
    assert _again(document)["schema_version"] == "ATIF-v1.8"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"schema_version": "ATIF-v2.0"}, "schema_version"),
        ({"schema_version": None}, "schema_version"),
        ({"steps": []}, "steps"),
        ({"steps": [{"step_id": 2, "source": "user", "message": "x"}]}, r"steps\[0\]\.step_id"),
        (
            {
                "steps": [
                    {
                        "step_id": 1,
                        "source": "user",
                        "message": "x",
                        "tool_calls": [{"tool_call_id": "a", "function_name": "f", "arguments": {}}],
                    }
                ]
            },
            "tool_calls",
        ),
        ({"surprise": 1}, "surprise"),
        ({"subagent_trajectories": [json.loads(P02) | {"trajectory_id": None}]}, "trajectory_id"),
    ],
)
def test_a_document_that_breaks_the_format_is_refused_with_the_field(change: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidDataError, match=where):
        decode_atif(json.dumps(json.loads(P02) | change).encode())


def test_a_document_without_a_version_is_refused() -> None:
    document = json.loads(P02)
    del document["schema_version"]
    with pytest.raises(InvalidDataError, match="schema_version"):
        decode_atif(json.dumps(document).encode())


def test_agents_below_agents_stay_below_the_call_that_started_them() -> None:
    inner = {
        "schema_version": "ATIF-v1.8",
        "trajectory_id": "search-1",
        "agent": {"name": "searcher", "version": "1"},
        "steps": [
            {
                "step_id": 1,
                "source": "agent",
                "message": "found",
                "metrics": {"prompt_tokens": 5, "completion_tokens": 1},
            }
        ],
    }
    outer = {
        "schema_version": "ATIF-v1.8",
        "trajectory_id": "main",
        "agent": {"name": "lead", "version": "2", "tool_definitions": [{"type": "function"}]},
        "steps": [
            {
                "step_id": 1,
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "a", "function_name": "delegate", "arguments": {}}],
                "observation": {
                    "results": [
                        {
                            "source_call_id": "a",
                            "content": "done",
                            "subagent_trajectory_ref": [{"trajectory_id": "search-1"}],
                        }
                    ]
                },
            }
        ],
        "subagent_trajectories": [inner],
        "final_metrics": {"total_prompt_tokens": 5},
    }
    trajectory = trajectory_of_atif(decode_atif(json.dumps(outer).encode()))
    by_id = {step.span_id: step for step in trajectory.steps}
    below = next(step for step in trajectory.steps if step.name == "searcher")
    assert by_id[below.parent_span_id].name == "delegate"
    written = _again(outer)
    (back,) = written["subagent_trajectories"]
    assert written["steps"] == outer["steps"]
    assert back["steps"] == inner["steps"]
    assert back["trajectory_id"] == "search-1"


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_EXTRA = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.integers(-5, 5), min_size=1)


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        source = draw(st.sampled_from(["system", "user", "agent"]))
        step: dict[str, Any] = {"step_id": number, "source": source, "message": draw(_TEXT)}
        step["timestamp"] = f"2026-01-02T03:04:{number:02d}Z"
        if draw(st.booleans()):
            step["message"] = [{"type": "text", "text": draw(_TEXT)}]
        if source == "agent":
            calls = draw(st.integers(0, 3))
            ids = [f"c{number}-{place}" for place in range(calls)]
            if calls:
                step["tool_calls"] = [
                    {
                        "tool_call_id": name,
                        "function_name": draw(st.sampled_from(["f", "g"])),
                        "arguments": {"n": draw(st.integers(0, 9))},
                    }
                    for name in ids
                ]
                answered = draw(st.lists(st.sampled_from(ids), unique=True))
                if answered:
                    step["observation"] = {
                        "results": [{"source_call_id": name, "content": draw(_TEXT)} for name in answered]
                    }
            if draw(st.booleans()):
                step["llm_call_count"] = 0
            elif draw(st.booleans()):
                step["metrics"] = {
                    "prompt_tokens": draw(st.integers(0, 99)),
                    "completion_tokens": draw(st.integers(0, 99)),
                }
                step["reasoning_content"] = draw(_TEXT.filter(bool))
        extra = draw(_EXTRA)
        if extra:
            step["extra"] = extra
        steps.append(step)
    return {
        "schema_version": draw(st.sampled_from(["ATIF-v1.0", "ATIF-v1.5", "ATIF-v1.8"])),
        "session_id": "s",
        "trajectory_id": "t",
        "agent": {"name": "a", "version": "1"},
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
    }


@given(_documents())
@settings(max_examples=60, deadline=None)
def test_every_document_comes_back_whole(document: dict[str, Any]) -> None:
    assert _again(document) == _plain(document)


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(InvalidDataError):
        assert msgspec.structs.asdict(decode_atif(body))
