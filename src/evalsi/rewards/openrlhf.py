"""A reward function for OpenRLHF: `--remote_rm_url <this file>`, which calls `reward_func`.

The spec is the file that EVALSI_REWARD_SPEC names. OpenRLHF has no way to mask a rollout, so one without a reward raises,
whatever the spec says; it is never a 0.
"""

from collections.abc import Sequence
from typing import Any

from evalsi.core.errors import MissingExtraError
from evalsi.reward.openrlhf_protocol import OpenRlhfRequest, reply_of, rollouts_of
from evalsi.rewards.verl import reward_of_environment


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
    """As `reward_func`, in plain lists."""
    reward = reward_of_environment()
    request = OpenRlhfRequest(query=list(queries), prompts=list(prompts), labels=list(labels))
    return reply_of(reward.score(rollouts_of(request, reward.reference_field)))
