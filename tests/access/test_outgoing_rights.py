"""What runs of a project may call: named judges and targets, granted credentials, and addresses behind the fence."""

from typing import Any

import pytest

from evalsi.access.outgoing_rights import with_named_parts
from evalsi.core.errors import EvalsiError, ForbiddenError, InvalidSpecError, UnknownNameError
from evalsi.infra.models.endpoint import Access
from evalsi.schema import (
    A2AAgent,
    AgentTarget,
    EvaluatorRef,
    HTTPAgent,
    JudgeSpec,
    MCPAgent,
    ResponsesAgent,
    RunSpec,
    Target,
)
from evalsi.settings.server import (
    CredentialGrant,
    CredentialSettings,
    JudgeSettings,
    OutboundSettings,
    ServerSettings,
    TargetSettings,
)
from evalsi.settings.server_rights import environment_of, fence_of, rights_by_project, rights_of

SETTINGS = ServerSettings(
    judges={
        "house": JudgeSettings(model="j1", base_url="http://vllm.internal:8000/v1", api_key_env="JUDGE_KEY"),
        "theirs": JudgeSettings(model="j2", projects=["other"]),
    },
    targets={
        "assistant": TargetSettings(
            model="a1",
            base_url="http://10.1.2.3/v1",
            api_key_env="ASSISTANT_KEY",
            headers_env={"X-Tenant": "TENANT"},
            max_concurrency=8,
            projects=["billing"],
        )
    },
    credentials=CredentialSettings(
        grants=[
            CredentialGrant(env="OPENAI_API_KEY", projects=["billing"]),
            CredentialGrant(env="GATEWAY_KEY", hosts=["*.gateway.example"]),
            CredentialGrant(env="PLAIN_KEY", hosts=["plain.example"], allow_http=True),
        ]
    ),
)
RIGHTS = rights_of(SETTINGS, "billing")
OPENAI: dict[str, Any] = {"connector": "openai-compatible", "model": "m"}


def spec_of(**target: Any) -> RunSpec:
    return RunSpec(target=Target(**target))


def refused(spec: RunSpec) -> EvalsiError:
    with pytest.raises(EvalsiError) as refusal:
        with_named_parts(spec, RIGHTS)
    return refusal.value


def test_a_named_target_brings_its_address_and_credential_and_keeps_what_the_spec_asks() -> None:
    target = with_named_parts(spec_of(name="assistant", system_prompt="Be brief.", max_concurrency=64), RIGHTS).target
    assert target is not None
    assert (target.model, target.base_url, target.api_key_env) == ("a1", "http://10.1.2.3/v1", "ASSISTANT_KEY")
    assert (target.system_prompt, target.max_concurrency, target.headers_env) == (
        "Be brief.",
        8,
        {"X-Tenant": "TENANT"},
    )


def test_a_named_judge_is_put_in_for_whoever_names_it() -> None:
    spec = RunSpec(judge="house", evaluators=[EvaluatorRef(ref="faithfulness")])
    assert with_named_parts(spec, RIGHTS).judges["house"].model == "j1"
    by_evaluator = RunSpec(evaluators=[EvaluatorRef(ref="faithfulness", judge="house")])
    assert "house" in with_named_parts(by_evaluator, RIGHTS).judges
    assert with_named_parts(RunSpec(), RIGHTS).judges == {}


@pytest.mark.parametrize(
    "spec",
    [
        RunSpec(judge="theirs"),
        RunSpec(judge="nobody"),
        spec_of(name="nobody"),
        spec_of(name="f", **OPENAI, fallbacks=[Target(name="nobody")]),
    ],
)
def test_a_judge_or_target_of_another_project_is_not_there(spec: RunSpec) -> None:
    assert isinstance(refused(spec), UnknownNameError)
    assert "a1" not in str(refused(spec))


def test_a_target_of_ones_own_is_no_named_one_although_it_has_a_name() -> None:
    spec = spec_of(name="assistant", **OPENAI)
    assert with_named_parts(spec, RIGHTS) == spec


@pytest.mark.parametrize(
    "spec",
    [
        spec_of(**OPENAI),
        spec_of(**OPENAI, api_key_env="OPENAI_API_KEY"),
        spec_of(**OPENAI, base_url="https://a.gateway.example/v1", api_key_env="GATEWAY_KEY"),
        spec_of(**OPENAI, base_url="http://plain.example/v1", api_key_env="PLAIN_KEY"),
        spec_of(connector="anthropic", model="m", base_url="https://mine.example"),
        RunSpec(judges={"a": JudgeSpec(provider="recorded", recording="r.json")}),
    ],
)
def test_granted_credentials_go_where_they_may(spec: RunSpec) -> None:
    assert with_named_parts(spec, RIGHTS) == spec


STOLEN = "https://evil.example/v1"


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        (spec_of(**OPENAI, base_url=STOLEN), "spec.target.base_url"),
        (spec_of(**OPENAI, base_url=STOLEN, api_key_env="OPENAI_API_KEY"), "spec.target.api_key_env"),
        (spec_of(**OPENAI, api_key_env="GATEWAY_KEY"), "spec.target.api_key_env"),
        (spec_of(**OPENAI, api_key_env="DATABASE_PASSWORD"), "spec.target.api_key_env"),
        (spec_of(**OPENAI, headers_env={"X": "JUDGE_KEY"}), "spec.target.headers_env.X"),
        (spec_of(connector="anthropic", model="m"), "spec.target.base_url"),
        (spec_of(**OPENAI, fallbacks=[Target(**OPENAI, base_url=STOLEN)]), "spec.target.fallbacks[0].base_url"),
        (RunSpec(judges={"a": JudgeSpec(provider="anthropic", model="m")}), "spec.judges.a.base_url"),
        (RunSpec(judges={"a": JudgeSpec(model="m", base_url=STOLEN)}), "spec.judges.a.base_url"),
        (
            RunSpec(judges={"a": JudgeSpec(model="m", base_url=STOLEN, api_key_env="OPENAI_API_KEY")}),
            "spec.judges.a.api_key_env",
        ),
        (
            spec_of(agent=AgentTarget(http=HTTPAgent(url=STOLEN, headers_env={"A": "OPENAI_API_KEY"}))),
            "spec.target.agent.http.headers_env.A",
        ),
        (
            spec_of(agent=AgentTarget(a2a=A2AAgent(url=STOLEN, headers_env={"A": "GATEWAY_KEY"}))),
            "spec.target.agent.a2a.headers_env.A",
        ),
        (
            spec_of(agent=AgentTarget(mcp=MCPAgent(url=STOLEN)), headers_env={"A": "GATEWAY_KEY"}),
            "spec.target.headers_env.A",
        ),
        (
            spec_of(agent=AgentTarget(responses=ResponsesAgent(base_url=STOLEN))),
            "spec.target.agent.responses.base_url",
        ),
        (
            spec_of(**OPENAI, base_url="https://gateway.example/v1", api_key_env="GATEWAY_KEY"),
            "spec.target.api_key_env",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_credential_goes_nowhere_it_was_not_granted_for(spec: RunSpec, where: str) -> None:
    error = refused(spec)
    assert isinstance(error, ForbiddenError)
    assert error.where == where


def test_a_credential_does_not_travel_unencrypted_unless_that_was_granted() -> None:
    error = refused(spec_of(**OPENAI, base_url="http://a.gateway.example/v1", api_key_env="GATEWAY_KEY"))
    assert isinstance(error, InvalidSpecError)
    assert "unencrypted" in str(error)


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        (spec_of(**OPENAI, base_url="http://169.254.169.254/v1"), "spec.target.base_url"),
        (spec_of(agent=AgentTarget(http=HTTPAgent(url="http://[::1]/"))), "spec.target.agent.http.url"),
        (spec_of(agent=AgentTarget(a2a=A2AAgent(url="http://2130706433/"))), "spec.target.agent.a2a.url"),
        (spec_of(agent=AgentTarget(mcp=MCPAgent(url="http://localhost/mcp"))), "spec.target.agent.mcp.url"),
        (
            spec_of(agent=AgentTarget(responses=ResponsesAgent(base_url="http://10.0.0.5"))),
            "spec.target.agent.responses.base_url",
        ),
        (RunSpec(judges={"a": JudgeSpec(model="m", base_url="http://0/")}), "spec.judges.a.base_url"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_address_in_a_spec_is_behind_the_fence(spec: RunSpec, where: str) -> None:
    error = refused(spec)
    assert isinstance(error, InvalidSpecError)
    assert error.where == where


def test_the_operators_own_addresses_may_lead_anywhere_and_their_neighbours_not() -> None:
    fence = fence_of(SETTINGS)
    assert not Access(base_url="http://10.1.2.3/v1", fence=fence).is_fenced
    with pytest.raises(InvalidSpecError):
        Access(base_url="http://10.1.2.3/admin", fence=fence)
    allowed = fence_of(ServerSettings(outbound=OutboundSettings(allow_networks=["10.1.0.0/16"])))
    assert Access(base_url="http://10.1.2.3/admin", fence=allowed).is_fenced


def test_runs_see_the_variables_they_were_granted_and_no_others() -> None:
    environment: dict[str, str] = dict.fromkeys(
        ("OPENAI_API_KEY", "JUDGE_KEY", "ASSISTANT_KEY", "TENANT", "DATABASE_PASSWORD"), "x"
    )
    assert set(environment_of(SETTINGS, "billing", environment)) == environment.keys() - {"DATABASE_PASSWORD"}
    assert set(environment_of(SETTINGS, "elsewhere", environment)) == {"JUDGE_KEY"}


def test_the_rights_of_a_project_are_worked_out_once_and_are_its_own() -> None:
    rights = rights_by_project(SETTINGS)
    assert rights("billing") == RIGHTS
    assert rights("billing") is rights("billing")
    assert rights("another") == rights_of(SETTINGS, "another") != RIGHTS
