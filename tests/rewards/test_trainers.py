"""Rewards as trainers call them: TRL, verl, OpenRLHF; order, masks and forms of messages."""

import asyncio
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi import rewards
from evalsi.core.errors import InvalidDataError, RewardFailedError, UsageError
from evalsi.reward.rollouts import records_of
from evalsi.rewards import openrlhf, verl
from evalsi.schema import Reward, RewardComponentResult, RewardComponentStatus
from evalsi.settings import Settings
from tests.case_files import case
from tests.command_line import QUICK_SANDBOXES

SPEC = """
name: solved
components:
  - ref: format-check
    name: format
    params: {pattern: '.*\\\\boxed.*'}
    weight: 0.25
  - ref: math-equiv
    name: right
    weight: 0.75
onError: mask
"""


@pytest.fixture
def reward(tmp_path: Path) -> Iterator[rewards.LoadedReward]:
    with rewards.load(SPEC, settings=Settings(directory=tmp_path, sandbox=QUICK_SANDBOXES)) as loaded:
        yield loaded


def test_trl_gets_totals_in_order_and_none_for_what_is_masked(reward: rewards.LoadedReward) -> None:
    totals = reward(
        prompts=["1+1", "2+2", "3+3"],
        completions=["\\boxed{2}", "it is 5", "\\boxed{6}"],
        answer=["2", "4", "\\int"],
        completion_ids=[[1], [2, 3], [4]],
    )
    assert totals == [1.0, 0.0, None]


def test_a_batch_without_any_reward_warns_with_the_reason_and_the_columns(reward: rewards.LoadedReward) -> None:
    batch: dict[str, Any] = {"prompts": ["1+1", "2+2"], "completions": ["\\boxed{2}", "\\boxed{4}"]}
    told = "no rollout of a batch of 2 has a reward; of the first, right: .*reference.*; the columns are anser"
    with pytest.warns(RuntimeWarning, match=told):
        assert reward(**batch, anser=["2", "4"]) == [None, None]
    with pytest.warns(RuntimeWarning, match=told):
        assert reward.reward_funcs[0](**batch, anser=["2", "4"]) == [None, None]
    with pytest.warns(RuntimeWarning, match=told):
        assert asyncio.run(reward.acall(**batch, anser=["2", "4"])) == [None, None]


def test_trl_logs_the_parts_of_the_batch_beside_the_total(reward: rewards.LoadedReward) -> None:
    batch: dict[str, Any] = {
        "prompts": ["1+1", "2+2"],
        "completions": ["\\boxed{2}", "4"],
        "completion_ids": [[1], [2]],
    }
    functions = reward.reward_funcs
    assert [function.__name__ for function in functions] == ["solved", "format", "right"]
    assert reward.reward_weights == [1.0, 0.0, 0.0]
    values = [function(**batch, answer=["2", "4"]) for function in functions]
    assert values == [[1.0, 0.75], [1.0, 0.0], [1.0, 1.0]]


def test_all_forms_of_messages_are_one(reward: rewards.LoadedReward) -> None:
    forms = case("J03")["input"]
    ended: list[Any] = []
    for name, conversation in forms.items():
        prompt, completion = conversation[:1], conversation[1:]
        (record,) = records_of([prompt], [completion], {})
        assert record.output is not None
        assert record.output.messages is not None, name
        ended.append(record.output.messages.messages[-1].content)
    assert ended == ["Done."] * len(forms)
    chat = [[{"role": "assistant", "content": "\\boxed{2}"}]]
    assert reward([[{"role": "user", "content": "1+1"}]], chat, answer=["2"]) == [1.0]


def test_columns_that_do_not_fit_are_refused(reward: rewards.LoadedReward) -> None:
    with pytest.raises(InvalidDataError, match="no list of 2"):
        reward(["a", "b"], ["c", "d"], answer=["1"])
    with pytest.raises(InvalidDataError, match="2 completions and 1 prompts"):
        reward(["a"], ["c", "d"], answer=["1", "2"])


def test_calls_from_many_threads_and_from_a_loop_agree(reward: rewards.LoadedReward) -> None:
    found: list[list[float | None]] = []

    def call() -> None:
        found.append(reward(["q"] * 20, [f"\\boxed{{{n}}}" for n in range(20)], answer=[str(n) for n in range(20)]))

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.append(asyncio.run(reward.acall(["q"], ["\\boxed{1}"], answer=["1"])) * 20)
    assert found == [[1.0] * 20] * 7


def test_a_closed_reward_says_so(tmp_path: Path) -> None:
    loaded = rewards.load(SPEC, settings=Settings(directory=tmp_path, sandbox=QUICK_SANDBOXES))
    loaded.close()
    loaded.close()
    with pytest.raises(Exception, match="closed"):
        loaded(["q"], ["a"], answer=["1"])


@pytest.fixture
def in_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "reward.yaml").write_text(SPEC)
    monkeypatch.setenv("EVALSI_REWARD_SPEC", str(tmp_path / "reward.yaml"))
    monkeypatch.setenv("EVALSI_DIR", str(tmp_path / "store"))
    verl.reward_of_environment.cache_clear()
    yield
    verl.reward_of_environment().close()
    verl.reward_of_environment.cache_clear()


@pytest.mark.usefixtures("in_environment")
def test_verl_gets_a_score_and_the_parts() -> None:
    assert verl.compute_score("math", "\\boxed{4}", "4", {"index": 3}) == {"score": 1.0, "format": 1.0, "right": 1.0}
    batch = verl.compute_score_batch(["m", "m"], ["\\boxed{4}", "5"], ["4", "4"], [None, {"split": "train"}])
    assert [each["score"] for each in batch] == [1.0, 0.0]


@pytest.mark.usefixtures("in_environment")
def test_a_trainer_that_cannot_mask_gets_an_error_and_never_a_zero() -> None:
    with pytest.raises(RewardFailedError, match="cannot be read"):
        verl.compute_score("math", "\\boxed{4}", "\\int")
    with pytest.raises(RewardFailedError):
        openrlhf.rewards_of_queries(["q\\boxed{4}"], ["q"], ["\\int"])


@pytest.mark.usefixtures("in_environment")
def test_openrlhf_gets_rewards_of_what_follows_the_prompt() -> None:
    reply = openrlhf.rewards_of_queries(["2+2=\\boxed{4}", "\\boxed{4} no 5"], ["2+2=", "\\boxed{4} "], ["4", "4"])
    assert reply == {
        "rewards": [1.0, 0.0],
        "scores": [1.0, 0.0],
        "extra_logs": {"format": [1.0, 0.0], "right": [1.0, 0.0]},
    }


def test_without_a_spec_in_the_environment_the_functions_say_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALSI_REWARD_SPEC", raising=False)
    verl.reward_of_environment.cache_clear()
    with pytest.raises(UsageError, match="EVALSI_REWARD_SPEC"):
        verl.compute_score("math", "4", "4")


def test_a_printed_reward_says_what_it_is_and_what_of() -> None:
    parts = {
        "exact-match": RewardComponentResult(status=RewardComponentStatus.SCORED, value=0.5),
        "judge": RewardComponentResult(status=RewardComponentStatus.ERROR, reason="no\nkey"),
    }
    reward = Reward(rollout_id="r1", total=0.25, gated=True, components=parts)
    assert str(reward) == "r1: 0.25 (stopped by a gate) = exact-match 0.5, judge error (no key)"
    assert repr([Reward(total=None)]) == "[<Reward no reward>]"
    assert pickle.loads(pickle.dumps(reward)) == reward
