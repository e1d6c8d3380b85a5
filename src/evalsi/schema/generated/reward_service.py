# Generated from proto/evalsi/v1alpha1/reward_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Rewards for reinforcement learning: a batch of rollouts in, one composed reward with its parts for each."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.record import IsolationReport, Record
from evalsi.schema.scalar_types import Int32, JsonObject, Seconds
from evalsi.schema.schema_enum import SchemaEnum
from evalsi.schema.reward_text import ReadableReward

__all__ = [
    "Reward",
    "RewardClip",
    "RewardComponent",
    "RewardComponentResult",
    "RewardComponentStatus",
    "RewardOnError",
    "RewardSpec",
    "ScoreRewardsRequest",
    "ScoreRewardsResponse",
]


class RewardOnError(SchemaEnum):
    """What happens when a part of a reward could not be measured."""

    UNSPECIFIED = "unspecified", 0, "REWARD_ON_ERROR_UNSPECIFIED"
    """The default, RAISE."""
    RAISE = "raise", 1, "REWARD_ON_ERROR_RAISE"
    """The whole batch fails, with the reason, so that nothing is trained on a guess."""
    ZERO = "zero", 2, "REWARD_ON_ERROR_ZERO"
    """Refused: a failure that trains as 0 teaches the model something false."""
    NONE = "none", 3, "REWARD_ON_ERROR_NONE"
    """The rollout has no total; the trainer masks it. Specs may also write "mask"."""


class RewardComponentStatus(SchemaEnum):
    """What became of one part of a reward."""

    UNSPECIFIED = "unspecified", 0, "REWARD_COMPONENT_STATUS_UNSPECIFIED"
    """Not said."""
    SCORED = "scored", 1, "REWARD_COMPONENT_STATUS_SCORED"
    """It has a value."""
    SKIPPED = "skipped", 2, "REWARD_COMPONENT_STATUS_SKIPPED"
    """It does not apply to this rollout, or a gate had failed already."""
    ERROR = "error", 3, "REWARD_COMPONENT_STATUS_ERROR"
    """It could not be measured."""


class RewardSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """How a reward is composed: the weighted sum of its parts, once every gate has passed."""

    name: str = ""
    """What the reward is called."""
    components: list[RewardComponent] = []
    """The parts."""
    floor: float = 0.0
    """The total where a gate fails."""
    on_error: RewardOnError = RewardOnError.UNSPECIFIED
    """What happens when a part could not be measured."""
    clip: RewardClip | None = None
    """Bounds that the total is drawn into; absent for none."""
    disable_cache: bool = False
    """Measure every rollout anew, also one that was measured before."""
    judge: str = ""
    """Judge for the parts that ask one, as "provider/model" or by its configured name."""
    deadline: Seconds | None = None
    """Longest time one part may take over one rollout; absent for a minute. In seconds."""
    reference_field: str = ""
    """Column that holds the reference; empty for the usual names."""
    concurrency: Int32 = 0
    """Most rollouts about which a judge or a reward model is asked at once; 0 for what is usual."""


class RewardComponent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One part of a reward."""

    ref: str = ""
    """The evaluator."""
    name: str = ""
    """What the part is called; empty for the evaluator's name."""
    weight: float | None = None
    """What its value is multiplied with; absent for 1, and for a gate 0. A part of weight 0 is measured and reported,
    and does not count.
    """
    gate: bool = False
    """Where its value is below the threshold, the total is the floor and no other part is measured."""
    threshold: float | None = None
    """From which value on a gate passes; absent for 1, which only a verdict may leave out."""
    metric: str = ""
    """Output of the evaluator that counts; empty for its main one."""
    params: JsonObject = {}
    """Params of the evaluator."""
    min_isolation: str = ""
    """Weakest isolation that programs may run in, for example "namespaced"."""


class RewardClip(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Bounds of a total."""

    low: float = 0.0
    """No total is lower."""
    high: float = 0.0
    """No total is higher."""


class ScoreRewardsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A batch of rollouts."""

    project: str = ""
    """Project that is charged and whose settings apply."""
    spec: RewardSpec | None = None
    """How the reward is composed."""
    rollouts: list[Record] = []
    """The rollouts: prompts as input, completions as output."""


class ScoreRewardsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The rewards of a batch."""

    rewards: list[Reward] = []
    """One for each rollout, in the order of the request."""


class Reward(ReadableReward, msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The reward of one rollout."""

    rollout_id: str = ""
    """The record's identifier."""
    total: float | None = None
    """The reward; absent where a part that counts could not be measured, and never 0 for that."""
    gated: bool = False
    """True when a gate failed and the total is the floor."""
    components: dict[str, RewardComponentResult] = {}
    """The parts, by name."""


class RewardComponentResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What one part of a reward came to."""

    status: RewardComponentStatus = RewardComponentStatus.UNSPECIFIED
    """What became of it."""
    value: float | None = None
    """Its value before weighting; absent unless scored."""
    reason: str = ""
    """Why it has no value, or the evaluator's explanation."""
    cached: bool = False
    """True when the value was measured before and kept."""
    isolation: IsolationReport | None = None
    """How the programs that were run for it were fenced in; absent when none were."""
