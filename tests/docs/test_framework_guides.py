"""Every guide for a framework is followed to its end: what its app sends arrives as a trajectory, and its policy grades it.

The real framework runs, in an environment with what the page installs, against a server of evalsi and a stand-in model.
"""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalsi.testing.stand_in_model import StandInModel
from evalsi.watch.read_policy import read_policy
from tests.command_line import evalsi
from tests.docs.framework_guide import FOLDER, Guide, guide_of, install, run_app
from tests.docs.lamp_model import ANSWER, ANSWERED, ARGUMENTS, ASKED, CACHED, QUESTION, TOOL, addresses_of, lamp_model
from tests.docs.pages import ROOT, appears, blocks_of
from tests.server.running_server import RunningServer, running_server, wait_until
from tests.thoroughness import THOROUGH

QUICK = ["langgraph", "openai-agents"]
LARGE = ["crewai", "claude-agent-sdk", "llamaindex"]
"""Hundreds of megabytes each."""
NOT_RUN = ["agentgateway"]
"""A program of its own that no package index has; `tests/traces/golden/agentgateway.json` has spans of its shape."""
SETTINGS = """
data_dir: store
otlp: {grace: 1s}
"""


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    folder = tmp_path_factory.mktemp("watching")
    (folder / "evalsi.yaml").write_text(SETTINGS, encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as running:
        yield running


@pytest.fixture(scope="module")
def model() -> Generator[StandInModel]:
    with lamp_model() as running:
        yield running


def test_every_guide_is_followed_or_says_why_not() -> None:
    assert sorted(page.stem for page in FOLDER.glob("*.md")) == sorted([*QUICK, *LARGE, *NOT_RUN])


@pytest.mark.parametrize("name", [*QUICK, *LARGE, *NOT_RUN])
def test_the_policy_of_the_guide_is_sound_and_about_the_service_of_its_app(name: str) -> None:
    guide = guide_of(name)
    checked = read_policy(guide.policy)
    service = "agentgateway" if name in NOT_RUN else "lamp-app"
    assert checked.policy.selector == f'service == "{service}"'
    assert f'service="{service}"' in guide.app or name in NOT_RUN


@pytest.mark.parametrize("name", [*QUICK, *LARGE])
def test_the_guide_says_which_version_of_each_package_it_was_run_with(name: str) -> None:
    guide = guide_of(name)
    known = {version.split("==")[0] for version in guide.versions}
    assert set(guide.packages) <= known


def test_what_agentgateway_is_told_to_add_is_what_its_golden_trace_holds() -> None:
    page = FOLDER / "agentgateway.md"
    block = next(block for block in blocks_of(page) if block.directions.get("file") == "config.yaml")
    added = yaml.safe_load(block.text)["config"]["tracing"]["fields"]["add"]
    golden = json.loads((ROOT / "tests/traces/golden/agentgateway.json").read_text(encoding="utf-8"))
    spans = golden["resourceSpans"][0]["scopeSpans"][0]["spans"]
    held = {attribute["key"] for span in spans for attribute in span["attributes"]}
    assert set(added) - {"gen_ai.conversation.id"} <= held


@pytest.mark.slow
@pytest.mark.interop
@pytest.mark.parametrize("name", [*QUICK, *LARGE])
def test_the_app_of_the_guide_sends_what_the_page_says_and_its_policy_grades_it(
    name: str, watching: RunningServer, model: StandInModel, tmp_path: Path
) -> None:
    if name in LARGE and not THOROUGH:
        pytest.skip("`make thorough` installs what is large")
    guide = guide_of(name)
    python = install(guide, tmp_path)
    address = f"http://{watching.address}"
    (tmp_path / "policy.yaml").write_text(guide.policy, encoding="utf-8")
    applied = evalsi("policy", "apply", "-f", "policy.yaml", "--server", address, cwd=tmp_path)
    assert applied.status == 0, applied.err
    known = {trace["traceId"] for trace in traces(watching)}

    assert ANSWER in run_app(guide, python, tmp_path, addresses_of(model), address)

    trace = found(watching, lambda trace: trace["traceId"] not in known and trace.get("output") == ANSWER)
    check_record(trace["record"], "mcp__lamps__" + TOOL if name == "claude-agent-sdk" else TOOL)
    check_policy(trace, guide)
    shown = evalsi("traces", "show", trace["summary"]["traceId"], "--server", address, cwd=tmp_path)
    lines = iter(shown.out.splitlines())
    for line in guide.shown:
        assert appears(line, lines), f"not in what is shown: {line!r}\n{shown.out}"


def check_record(record: Any, tool: str) -> None:
    """Question and answer, the calls of the model with their tokens, and the one call of the tool with its result."""
    assert record["input"] == {"text": QUESTION}
    assert record["output"] == {"text": ANSWER}
    usage = record["usage"]
    assert (usage["inputTokens"], usage["outputTokens"]) == (ASKED[0] + ANSWERED[0], ASKED[1] + ANSWERED[1])
    assert usage["cachedInputTokens"] == 2 * CACHED
    assert usage["requests"] == 2
    steps = record["trajectory"]["steps"]
    (ran,) = [step for step in steps if step["type"] == "STEP_TYPE_TOOL"]
    assert ran["name"] == tool
    assert ran["input"] == {"json": json.loads(ARGUMENTS)} or ran["input"] == {"text": "hall"}  # LangChain's way
    assert ran["output"] == {"json": {"on": True}}
    asked = [step for step in steps if step["type"] == "STEP_TYPE_LLM"]
    assert len(asked) == 2
    if tool == TOOL:
        roles = [message["role"] for message in asked[-1]["input"]["messages"]["messages"]]
        assert roles[-3:] == ["user", "assistant", "tool"]
        assert "toolCalls" in str(asked[0]["output"])


def check_policy(trace: Any, guide: Guide) -> None:
    """Every evaluator of the guide's policy gave a score."""
    policy = read_policy(guide.policy).policy
    (judged,) = [found for found in trace["policies"] if found["policy"] == policy.name]
    outcomes = {result["evaluator"]: result["outcome"] for result in judged["results"]}
    assert outcomes
    assert set(outcomes.values()) == {"OUTCOME_SCORED"}, judged


def traces(server: RunningServer) -> list[Any]:
    _, answer = server.get("/v1alpha1/traces")
    return answer.get("traces", [])


def found(server: RunningServer, fits: Callable[[Any], bool]) -> Any:
    """The trace that fits, once it is complete and judged."""

    def judged() -> Any:
        for trace in traces(server):
            if fits(trace):
                _, whole = server.get(f"/v1alpha1/traces/{trace['traceId']}")
                if whole["summary"].get("complete") and whole.get("policies"):
                    return whole
        return None

    assert wait_until(judged, 40), traces(server)
    return judged()
