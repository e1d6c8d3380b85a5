"""A reward as plain numbers, for trainers that know no masks: verl, OpenRLHF."""

from evalsi.core.errors import RewardFailedError
from evalsi.schema import Reward


def numbers_of(reward: Reward) -> dict[str, float]:
    """The numbers of one reward: its total as "score", and its parts. Raises: RewardFailedError: it has no total."""
    if reward.total is None:
        why = "; ".join(f"{name}: {part.reason}" for name, part in reward.components.items() if part.value is None)
        raise RewardFailedError(
            f"rollout {reward.rollout_id!r} has no reward: {why}", hint="this trainer cannot mask a rollout"
        )
    parts = {name: part.value for name, part in reward.components.items() if part.value is not None}
    return {"score": reward.total, **parts}
