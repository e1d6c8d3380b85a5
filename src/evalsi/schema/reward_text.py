"""What a person sees who prints a reward: the total, and what each part came to. Written by hand.

Its own module because the type is generated, and how it reads is a choice.
"""

from typing import Any

_MOST_REASON = 80


class ReadableReward:
    """Gives `Reward` its text; without fields of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        reward: Any = self
        total = "no reward" if reward.total is None else f"{reward.total:.6g}"
        name = f"{reward.rollout_id}: " if reward.rollout_id else ""
        gated = " (stopped by a gate)" if reward.gated else ""
        parts = ", ".join(f"{each} {_part(result)}" for each, result in reward.components.items())
        return f"{name}{total}{gated}" + (f" = {parts}" if parts else "")

    def __repr__(self) -> str:
        return f"<Reward {self}>"


def _part(result: Any) -> str:
    if result.value is not None:
        return f"{result.value:.6g}"
    reason = " ".join(result.reason.split())
    shown = reason if len(reason) <= _MOST_REASON else f"{reason[:_MOST_REASON]}…"
    return f"{result.status}" + (f" ({shown})" if shown else "")
