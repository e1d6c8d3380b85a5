"""One conversation, recorded by the real libraries (`golden/making`): every one of them gives the same record."""

import json

import pytest

from evalsi.core.content import text_of
from evalsi.schema import Step, StepType
from evalsi.traces import MadeCall, atif_of_trajectory, tool_calls_of, trajectory_of_atif
from tests.traces.reading import GOLDEN, record_of, records_of, trajectory_of

WITH_CONTENT = [
    "openinference",
    "genai-events",
    "genai-message-events",
    "traceloop",
    "twice",
    "logfire",
    "pydantic-ai",
    "mlflow",
    "vercel-ai",
]


@pytest.mark.parametrize("name", [*WITH_CONTENT, "genai"])
def test_every_library_gives_two_model_calls_and_their_tokens(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    models = [step for step in trajectory_of(record).steps if step.type is StepType.LLM]
    assert len(models) == 2
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (270, 30)
    assert record.usage.requests == 2
    assert record.usage.cost_usd is None
    assert record.usage.unpriced_requests == 2
    if not name.startswith("genai") and name != "vercel-ai":  # which do not record them in these versions
        assert record.usage.cached_input_tokens == 200


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_every_library_gives_the_question_the_answer_and_the_one_tool_call(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    assert "Is the hall lamp on?" in text_of(record.input)
    assert text_of(record.output) == "Yes, it is on."
    (call,) = tool_calls_of(trajectory_of(record))
    assert (call.name, call.arguments, call.result) == ("lamp_state", {"room": "hall"}, {"on": True})
    first = next(step for step in trajectory_of(record).steps if step.type is StepType.LLM)
    assert first.input is not None
    assert first.input.messages is not None
    assert [(message.role, message.content) for message in first.input.messages.messages] == [
        ("system", "You control lamps."),
        ("user", "Is the hall lamp on?"),
    ]


@pytest.mark.parametrize("name", ["openinference", "traceloop", "genai", "vercel-ai"])
def test_sessions_are_found_where_the_library_records_them(name: str) -> None:
    assert trajectory_of(record_of(GOLDEN / f"{name}.json")).session_id == "conv-1"


def test_two_libraries_on_one_client_do_not_double_calls_or_tokens() -> None:
    steps = trajectory_of(record_of(GOLDEN / "twice.json")).steps
    doubles = [step for step in steps if "evalsi.same_call_as" in step.attributes]
    assert len(doubles) == 2
    assert all(step.usage is None for step in doubles)


def test_a_gateway_that_puts_calls_beside_the_messages_is_read() -> None:
    asked, answered = records_of(GOLDEN / "litellm.json")
    (call,) = tool_calls_of(trajectory_of(asked))
    assert (call.name, call.arguments) == ("lamp_state", {"room": "hall"})
    assert asked.output is None
    assert text_of(answered.output) == "Yes, it is on."


def test_a_library_that_captures_no_content_leaves_input_and_output_absent() -> None:
    record = record_of(GOLDEN / "genai.json")
    assert record.input is None
    assert record.output is None


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_every_trajectory_becomes_atif_and_keeps_calls_answer_and_tokens(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    document = atif_of_trajectory(trajectory_of(record))
    sources = [step.source for step in document.steps]
    assert sources == ["system", "user", "agent", "agent"]
    assert document.final_metrics is not None
    assert document.final_metrics.total_prompt_tokens == 270
    assert document.final_metrics.total_cost_usd is None
    again = trajectory_of_atif(document)

    def seen(call: MadeCall) -> tuple[str, str]:
        return call.name, json.dumps([call.arguments, call.result])

    assert [seen(call) for call in tool_calls_of(again)] == [
        seen(call) for call in tool_calls_of(trajectory_of(record))
    ]


FRAMEWORKS = ["langgraph", "crewai", "openai-agents", "llamaindex"]
"""Made by running the apps of `docs/guides/frameworks` (`golden/making/guides.py`)."""


def of_type(steps: list[Step], kind: StepType) -> list[Step]:
    return [step for step in steps if step.type is kind]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_agent_of_a_framework_gives_its_question_its_answer_and_two_model_calls(name: str) -> None:
    record = record_of(GOLDEN / f"{name}.json")
    assert (text_of(record.input), text_of(record.output)) == ("Is the hall lamp on?", "Yes, it is on.")
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens, record.usage.requests) == (270, 30, 2)
    assert record.usage.cached_input_tokens == 200
    assert record.usage.cost_usd == pytest.approx(4.35e-05)
    models = of_type(trajectory_of(record).steps, StepType.LLM)
    assert len(models) == 2
    last = models[-1].input
    assert last is not None
    assert last.messages is not None
    assert [message.role for message in last.messages.messages] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_tool_of_a_framework_has_its_arguments_and_the_bare_result_whatever_is_wrapped_around_them(name: str) -> None:
    steps = trajectory_of(record_of(GOLDEN / f"{name}.json")).steps
    (call,) = tool_calls_of(trajectory_of(record_of(GOLDEN / f"{name}.json")))
    assert (call.name, call.arguments, call.result, call.ran) == ("lamp_state", {"room": "hall"}, {"on": True}, True)
    (tool,) = of_type(steps, StepType.TOOL)
    assert tool.input is not None
    assert "properties" not in json.dumps(tool.input.json if tool.input.text is None else tool.input.text)


def test_langgraph_has_its_thread_as_session_and_its_nodes_as_steps() -> None:
    trajectory = trajectory_of(record_of(GOLDEN / "langgraph.json"))
    assert trajectory.session_id == "visit-3"
    assert [step.name for step in of_type(trajectory.steps, StepType.GENERIC)] == [
        "lamp-helper",
        "model",
        "tools",
        "model",
    ]


def test_crews_and_their_agents_are_agents_with_the_task_and_the_answer() -> None:
    crew, agent = of_type(trajectory_of(record_of(GOLDEN / "crewai.json")).steps, StepType.AGENT)
    assert agent.name == "lamp-helper"
    for step in (crew, agent):
        assert (text_of(step.input), text_of(step.output)) == ("Is the hall lamp on?", "Yes, it is on.")


def test_what_llamaindex_passes_between_the_steps_of_a_workflow_is_no_content() -> None:
    steps = trajectory_of(record_of(GOLDEN / "llamaindex.json")).steps
    for step in steps:
        assert "StopEvent(" not in text_of(step.output)
        assert "<workflows." not in text_of(step.input)
    assert "StopEvent(" in str(steps[0].attributes["output.value"])


def test_a_hand_over_of_openais_agents_names_the_agent_that_gets_the_work() -> None:
    trajectory = trajectory_of(record_of(GOLDEN / "openai-agents-handoff.json"))
    (handed,) = of_type(trajectory.steps, StepType.HANDOFF)
    assert handed.name == "lamp-helper"
    assert [step.name for step in of_type(trajectory.steps, StepType.AGENT)][1:] == ["door", "lamp-helper"]
    assert [call.name for call in tool_calls_of(trajectory)] == ["transfer_to_lamp_helper"]
    assert record_of(GOLDEN / "openai-agents-handoff.json").notes == []  # 0 is kept free for a system message


def test_claudes_agent_is_one_trace_with_the_tokens_of_its_program_and_each_tool_once() -> None:
    title, record = records_of(GOLDEN / "claude-agent-sdk.json")
    assert (title.input, title.output) == (None, None)
    assert (text_of(record.input), text_of(record.output)) == ("Is the hall lamp on?", "Yes, it is on.")
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens, record.usage.requests) == (270, 30, 2)
    assert record.usage.cached_input_tokens == 200
    assert record.notes == []
    steps = trajectory_of(record).steps
    (tool,) = of_type(steps, StepType.TOOL)
    others = [step for step in steps if step.attributes.get("evalsi.same_call_as") == tool.span_id]
    assert sorted(step.name for step in others) == ["lamp_state", "mcp__lamps__lamp_state"]
    (call,) = tool_calls_of(trajectory_of(record))
    assert (call.name, call.arguments, call.result) == ("mcp__lamps__lamp_state", {"room": "hall"}, {"on": True})
    (interaction,) = [step for step in steps if step.name == "claude_code.interaction"]
    assert interaction.attributes["user_prompt"] == "<REDACTED>"
    assert interaction.input is None


def test_a_gateway_between_apps_and_models_gives_calls_tools_and_costs() -> None:
    record = record_of(GOLDEN / "agentgateway.json")
    assert (text_of(record.input), text_of(record.output)) == ("Is the hall lamp on?", "Yes, it is on.")
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens, record.usage.requests) == (270, 30, 2)
    assert record.usage.cost_usd == pytest.approx(6.8e-05)
    assert record.usage.reasoning_tokens == 10
    (call,) = tool_calls_of(trajectory_of(record))
    assert (call.id, call.name, call.arguments, call.result, call.ran) == (
        "call_1",
        "lamp_state",
        {"room": "hall"},
        {"on": True},
        True,
    )


def test_the_golden_files_say_which_versions_made_them() -> None:
    for path in GOLDEN.glob("*.json"):
        made_by = json.loads(path.read_text())["madeBy"]
        assert made_by, path
