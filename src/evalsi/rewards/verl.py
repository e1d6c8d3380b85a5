"""Reward functions for verl: `custom_reward_function.path=<this file>`, `name=compute_score` (or `compute_score_batch`).

The spec is the file that EVALSI_REWARD_SPEC names; where EVALSI_REWARD_SERVER names a server, it is scored there. verl has
no way to mask a rollout, so one without a reward raises, whatever the spec says; it is never a 0.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from evalsi.core.errors import UsageError
from evalsi.reward.reward_numbers import numbers_of
from evalsi.reward.rollouts import records_of
from evalsi.rewards.load import LoadedReward, load
from evalsi.settings import Settings


def compute_score(
    data_source: str, solution_str: str, ground_truth: Any, extra_info: Mapping[str, Any] | None = None, **_: Any
) -> dict[str, float]:
    """The reward of one rollout: "score", and a number for each part that has one.

    Raises: RewardFailedError: it has no reward.
    """
    return compute_score_batch([data_source], [solution_str], [ground_truth], [extra_info or {}])[0]


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **_: Any,
) -> list[dict[str, float]]:
    """As `compute_score`, for verl's batch reward manager; one entry for each solution, in order."""
    reward = reward_of_environment()
    given: Sequence[Mapping[str, Any] | None] = extra_infos if extra_infos is not None else [None] * len(solution_strs)
    infos: list[dict[str, Any]] = [dict(info) if info is not None else {} for info in given]
    prompts = [info.pop("question", info.pop("prompt", "")) for info in infos]
    columns: dict[str, Any] = {
        "data_source": list(data_sources),
        "extra_info": infos,
        reward.reference_field or "reference": list(ground_truths),
    }
    scored = reward.score(records_of(prompts, list(solution_strs), columns, reference=reward.reference_field))
    return [numbers_of(one) for one in scored]


@lru_cache(maxsize=1)
def reward_of_environment() -> LoadedReward:
    """The reward that EVALSI_REWARD_SPEC names, loaded once for this process. Raises: UsageError: it is not set."""
    settings = Settings.from_environment()
    if settings.reward_spec is None:
        raise UsageError("EVALSI_REWARD_SPEC is not set", hint="export EVALSI_REWARD_SPEC=reward.yaml")
    return load(settings.reward_spec, server=settings.reward_server, settings=settings)
