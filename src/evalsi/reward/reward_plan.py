"""A checked reward spec with its evaluators bound: what is measured first, what counts, and how totals are made.

Its own module because it is the pure half of the door: from values to a total, with no event loop and no cache. What
always holds: a total exists only where every part that counts was measured, or a gate failed and the floor is the total.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from evalsi.core.canonical import digest
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Reward, RewardClip, RewardComponentResult, RewardComponentStatus, RewardOnError

GATE_FAILED = "not measured, because a gate had failed"


@dataclass(frozen=True, kw_only=True)
class RewardPart:
    """One component, bound."""

    name: str
    evaluator: BoundEvaluator
    output: str
    """The column that counts; "" for the only one of an evaluator that declares none."""
    weight: float
    is_gate: bool
    threshold: float

    @property
    def counts(self) -> bool:
        """Whether the total needs it."""
        return self.is_gate or self.weight != 0


@dataclass(frozen=True, kw_only=True)
class RewardPlan:
    """How a batch is measured and its rewards composed."""

    name: str
    parts: tuple[RewardPart, ...]
    floor: float
    on_error: RewardOnError
    clip: RewardClip | None
    deadline_s: float
    reference_field: str = ""
    judge: str = ""
    """Name and fingerprint of the judge that is asked, for the digest."""

    @property
    def gates(self) -> tuple[RewardPart, ...]:
        return tuple(part for part in self.parts if part.is_gate)

    @property
    def others(self) -> tuple[RewardPart, ...]:
        return tuple(part for part in self.parts if not part.is_gate)

    def fingerprint(self) -> str:
        """Digest of what decides the values of the parts. Weights and bounds do not: they are applied afterwards."""
        return digest(
            {
                "judge": self.judge,
                "parts": [
                    {"evaluator": part.evaluator.fingerprint(), "output": part.output, "gate": part.is_gate}
                    | ({"threshold": part.threshold} if part.is_gate else {})
                    for part in self.parts
                ],
            }
        )

    def gate_fails(self, results: Mapping[str, RewardComponentResult]) -> bool:
        """Whether a gate was measured and has failed."""
        return any(
            (value := results[gate.name].value) is not None and value < gate.threshold
            for gate in self.gates
            if gate.name in results
        )

    def compose(self, rollout_id: str, results: dict[str, RewardComponentResult]) -> Reward:
        """The reward of one rollout from the results of all its parts.

        A failed gate gives the floor, whatever the other parts are. Else the total is the weighted sum, drawn into the
        clip; there is none where a part that counts has no value,
        and none that is no finite number, which a trainer would spread through all its weights.
        """
        if self.gate_fails(results):
            return Reward(rollout_id=rollout_id, total=self.floor, gated=True, components=results)
        total = 0.0
        for part in self.parts:
            value = results[part.name].value
            if value is None:
                if part.counts:
                    return Reward(rollout_id=rollout_id, components=results)
            else:
                total += part.weight * value
                if not isfinite(total):
                    why = f"{part.weight:g} times its value {value:g} makes the reward no finite number"
                    failed = RewardComponentResult(status=RewardComponentStatus.ERROR, reason=why)
                    return Reward(rollout_id=rollout_id, components={**results, part.name: failed})
        if self.clip is not None:
            total = min(max(total, self.clip.low), self.clip.high)
        return Reward(rollout_id=rollout_id, total=total, components=results)

    def failure(self, rewards: Sequence[Reward]) -> tuple[int, str]:
        """How many rollouts have no total because a part failed, and the first reason. Skipped parts are no failure."""
        failed = [
            (reward.rollout_id, part.name, reward.components[part.name].reason)
            for reward in rewards
            if reward.total is None
            for part in self.parts
            if part.counts and reward.components[part.name].status is RewardComponentStatus.ERROR
        ]
        if not failed:
            return 0, ""
        rollout_id, name, reason = failed[0]
        return len({rollout for rollout, _, _ in failed}), f"rollout {rollout_id!r}, {name}: {reason}"
