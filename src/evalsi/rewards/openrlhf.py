"""A reward function for OpenRLHF: `--remote_rm_url <this file>`, which calls `reward_func`.

The spec is the file that EVALSI_REWARD_SPEC names. OpenRLHF has no way to mask a rollout, so one without a reward raises,
whatever the spec says; it is never a 0.
"""

from collections.abc import Sequence
from typing import Any

from evalsi.core.errors import MissingExtraError
from evalsi.rewards.rollouts import records_of
from evalsi.rewards.verl import numbers_of, reward_of_environment
from evalsi.schema import Reward


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
    """The rewards of a batch as OpenRLHF takes them.

    Args:
        queries: Prompt and completion together, as text.
        prompts: The prompts, each the beginning of its query.
        labels: The references.

    Returns: "rewards" and "scores" (tensors, shape (rollouts,)) and "extra_logs" (a tensor for each part).
    Raises: RewardFailedError: a rollout has no reward.
    """
    try:
        import torch as untyped
    except ImportError:
        raise MissingExtraError("the reward function for OpenRLHF", "torch") from None
    torch: Any = untyped
    reply = rewards_of_queries(queries, prompts, labels)
    extra = {name: torch.tensor(values) for name, values in reply["extra_logs"].items()}
    return {"rewards": torch.tensor(reply["rewards"]), "scores": torch.tensor(reply["scores"]), "extra_logs": extra}


def rewards_of_queries(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """As `reward_func`, in plain lists: also what OpenRLHF's remote protocol answers."""
    reward = reward_of_environment()
    completions = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
    columns = {reward.reference_field or "reference": list(labels)}
    scored = reward.score(records_of(list(prompts), completions, columns, reference=reward.reference_field))
    return openrlhf_reply(scored)


def openrlhf_reply(rewards: Sequence[Reward]) -> dict[str, Any]:
    """Rewards in the form of OpenRLHF's remote protocol; a part that was not measured for all is left out."""
    numbers = [numbers_of(reward) for reward in rewards]
    totals = [each.pop("score") for each in numbers]
    names = set(numbers[0]).intersection(*numbers) if numbers else set[str]()
    logs = {name: [each[name] for each in numbers] for name in sorted(names)}
    return {"rewards": totals, "scores": totals, "extra_logs": logs}
