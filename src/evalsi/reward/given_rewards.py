"""Rollouts and the rewards that they were given, joined by their ids into the arrays that a diagnosis reads."""

from collections.abc import Iterable, Mapping
from math import nan
from typing import Any

import numpy as np

from evalsi.core.content import text_of
from evalsi.core.errors import InvalidDataError, UnknownNameError
from evalsi.reward.diagnose_rewards import GivenRewards
from evalsi.schema import Record, Reward


def given_rewards(
    rollouts: Iterable[Record], rewards: Mapping[str, Reward], *, step: str = "step", heldout: str = "heldout"
) -> GivenRewards:
    """The arrays of all rollouts, in order. A rollout without a reward, or whose reward is masked, has NaN.

    Args:
        rewards: By rollout id.
        step, heldout: Keys of `metadata` that hold the training step and the held-out score.

    Raises:
        InvalidDataError: there is no rollout, or no reward is about one of them.
        UnknownNameError: no rollout has the key of the step.
    """
    listed = list(rollouts)
    if not any(rollout.id in rewards for rollout in listed):
        raise InvalidDataError("no reward is about any of these rollouts", hint="their ids must be the same")
    keys = {key for rollout in listed for key in rollout.metadata}
    if step not in keys:
        raise UnknownNameError("metadata key", step, keys, where="step")
    names = sorted({name for reward in rewards.values() for name in reward.components})
    found = [rewards.get(rollout.id, Reward()) for rollout in listed]
    return GivenRewards(
        rewards=_floats([reward.total for reward in found]),
        lengths=_floats([_length(rollout) for rollout in listed]),
        steps=_floats([_number(rollout.metadata.get(step)) for rollout in listed]),
        heldout=_floats([_number(rollout.metadata.get(heldout)) for rollout in listed]),
        components={
            name: _floats([each.components[name].value if name in each.components else None for each in found])
            for name in names
        },
        prompts=[text_of(rollout.input) or rollout.id for rollout in listed],
    )


def _length(rollout: Record) -> float:
    """Tokens where they were counted, else words."""
    if rollout.usage is not None and rollout.usage.output_tokens is not None:
        return float(rollout.usage.output_tokens)
    return float(len(text_of(rollout.output).split()))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (bool, int, float)) else None


def _floats(values: list[float | None]) -> Any:
    return np.asarray([nan if value is None else value for value in values], dtype=np.float64)
