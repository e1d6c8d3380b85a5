"""Which judge a policy is armed with when settings have changed since it was applied."""

from dataclasses import replace

import pytest

from evalsi.core.errors import EvalsiError
from evalsi.schema import CascadeStage, EvaluatorRef, OnlineEvalPolicy
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.watch.policy import checked_policy
from evalsi.wiring.watch_work import Armory

USUAL = replace(Settings().judge, provider="openai-compatible", model="usual", base_url="https://judge.example.com/v1")


def armory() -> Armory:
    return Armory(ServerSettings(), replace(Settings(), environment={"OPENAI_API_KEY": "no-key"}, judge=USUAL))


def policy(judge: str = "", evaluators_judge: str = "") -> OnlineEvalPolicy:
    stages = [CascadeStage(evaluators=[EvaluatorRef(ref="correctness", judge=evaluators_judge)])]
    return OnlineEvalPolicy(name="answers", project="default", stages=stages, judge=judge)


def test_who_names_no_judge_asks_that_of_the_environment() -> None:
    (panel,) = armory().arm(checked_policy(policy())).ready.panels
    assert [each.name for each in panel.evaluators] == ["correctness"]


@pytest.mark.parametrize("named", [policy("gone"), policy(evaluators_judge="gone")])
def test_a_judge_that_the_settings_no_longer_have_is_not_replaced_by_that_of_the_environment(
    named: OnlineEvalPolicy,
) -> None:
    with pytest.raises(EvalsiError, match="judge"):
        armory().arm(checked_policy(named))
