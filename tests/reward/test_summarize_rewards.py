"""The mean of a batch of rewards says of how many it is and how sure, with rollouts of one prompt as one cluster."""

from collections.abc import Sequence

import numpy as np
import pytest

from evalsi.reward.check_spec import check_spec
from evalsi.reward.summarize_rewards import summarize_rewards
from evalsi.schema import (
    Content,
    MetricSummary,
    Record,
    Reward,
    RewardClip,
    RewardComponent,
    RewardComponentResult,
    RewardComponentStatus,
    RewardSpec,
)
from evalsi.stats import ClusterTotals, cluster_robust_t, mean_estimate

SPEC = RewardSpec(
    name="solved",
    components=[RewardComponent(ref="format-check", gate=True), RewardComponent(ref="exact-match", weight=1.0)],
)


def summaries_of(
    totals: Sequence[float | None], prompts: Sequence[str], spec: RewardSpec = SPEC, **options: object
) -> list[MetricSummary]:
    rollouts = [
        Record(id=str(row), input=Content(text=prompt), metadata={"doc": prompt[0]})
        for row, prompt in enumerate(prompts)
    ]
    rewards = [Reward(rollout_id=str(row), total=total) for row, total in enumerate(totals)]
    return summarize_rewards(spec, check_spec(spec), rollouts, rewards, **options)  # pyright: ignore[reportArgumentType]


def test_rollouts_of_one_prompt_are_one_cluster() -> None:
    draw = np.random.default_rng(3)
    prompts = [f"{prompt}?" for prompt in range(6) for _ in range(4)]
    values = np.clip(np.repeat(draw.uniform(size=6), 4) + 0.05 * draw.normal(size=24), 0, 1)
    found = summaries_of(values.tolist(), prompts)[0]
    wanted = cluster_robust_t(ClusterTotals.of(values, prompts), 0.95, (0.0, 1.0))
    independent = mean_estimate(values, 0.95, (0.0, 1.0))
    assert found.ci is not None and wanted.interval is not None and independent.interval is not None
    assert (found.metric, found.n, found.clusters) == ("solved", 24, 6)
    assert (found.ci.low, found.ci.high, found.ci.method) == (wanted.interval.low, wanted.interval.high, "clustered-t")
    assert found.ci.high - found.ci.low > 1.5 * independent.interval.width


def test_rollouts_of_different_prompts_are_independent_unless_a_key_groups_them() -> None:
    prompts = ["a1", "a2", "b1", "b2"]
    alone = summaries_of([0.0, 1.0, 1.0, 0.5], prompts)[0]
    grouped = summaries_of([0.0, 1.0, 1.0, 0.5], prompts, cluster_by="doc")[0]
    assert (alone.clusters, grouped.clusters) == (None, 2)
    assert alone.ci is not None and alone.ci.method == "t"


def test_a_rollout_without_a_reward_is_in_no_mean_and_is_counted() -> None:
    prompts = ["a", "b", "c", "d"]
    rollouts = [Record(id=prompt, input=Content(text=prompt)) for prompt in prompts]
    failed = RewardComponentResult(status=RewardComponentStatus.ERROR, reason="the judge did not answer")
    skipped = RewardComponentResult(status=RewardComponentStatus.SKIPPED, reason="does not apply")
    right = RewardComponentResult(status=RewardComponentStatus.SCORED, value=1.0)
    rewards = [
        Reward(rollout_id="a", total=1.0, components={"exact-match": right}),
        Reward(rollout_id="b", components={"exact-match": failed}),
        Reward(rollout_id="c", components={"exact-match": skipped}),
        Reward(rollout_id="d", total=0.0, gated=True, components={"exact-match": skipped}),
    ]
    whole, _, part = summarize_rewards(SPEC, check_spec(SPEC), rollouts, rewards)
    assert (whole.n, whole.mean, whole.errors, whole.skipped, whole.total, whole.coverage) == (2, 0.5, 1, 1, 4, 0.5)
    assert (part.metric, part.n, part.mean, part.errors, part.skipped) == ("exact-match", 1, 1.0, 1, 2)
    assert part.ci is not None and part.ci.method == "wilson"


def test_equal_rewards_within_known_bounds_have_an_interval_and_others_a_reason() -> None:
    prompts = [str(row) for row in range(20)]
    known = summaries_of([1.0] * 20, prompts)[0]
    assert known.ci is not None and known.ci.low < 1.0 == known.ci.high
    unbounded = RewardSpec(components=[RewardComponent(ref="latency", weight=-1.0)])
    assert summaries_of([-2.0] * 20, prompts, unbounded)[0].notes == [
        "all 20 values are equal and the metric has no known bounds, so their spread says nothing"
    ]
    clipped = RewardSpec(components=unbounded.components, clip=RewardClip(low=-4.0, high=0.0))
    interval = summaries_of([-2.0] * 20, prompts, clipped)[0].ci
    assert interval is not None and -4.0 <= interval.low < -2.0 < interval.high <= 0.0


def test_values_outside_the_bounds_that_are_known_here_are_summed_up_without_bounds() -> None:
    found = summaries_of([3.0, 4.0, 5.0], ["a", "b", "c"])[0]
    assert found.mean == pytest.approx(4.0)
    assert found.ci is not None and found.ci.high > 5.0


def test_no_rewards_give_no_mean() -> None:
    assert (summaries_of([None], ["a"])[0].mean, summaries_of([], [])[0].n) == (None, 0)


@pytest.mark.parametrize("prompts", [["a", "b", "c", "d"], ["a", "a", "b", "c"]])
def test_what_is_no_finite_number_is_an_error_and_in_no_mean(prompts: list[str]) -> None:
    rollouts = [Record(id=str(row), input=Content(text=prompt)) for row, prompt in enumerate(prompts)]
    values = [float("nan"), float("inf"), 0.5, 1.0]
    rewards = [
        Reward(
            rollout_id=str(row),
            total=value,
            components={"exact-match": RewardComponentResult(status=RewardComponentStatus.SCORED, value=value)},
        )
        for row, value in enumerate(values)
    ]
    whole, _, part = summarize_rewards(SPEC, check_spec(SPEC), rollouts, rewards)
    assert (whole.n, whole.mean, whole.errors, whole.skipped) == (2, 0.75, 2, 0)
    assert (part.n, part.mean, part.errors) == (2, 0.75, 2)


@pytest.mark.parametrize("prompts", [["a", "b", "c"], ["a", "a", "b"]])
@pytest.mark.filterwarnings("error")
def test_rewards_that_are_too_large_to_add_up_have_a_reason(prompts: list[str]) -> None:
    found = summaries_of([1.7e308, 1.7e308, 0.5], prompts)[0]
    assert (found.n, found.mean, found.ci, found.notes) == (3, None, None, ["the values are too large to add up"])


def test_half_a_verdict_is_no_proportion() -> None:
    half = RewardComponentResult(status=RewardComponentStatus.SCORED, value=0.5)
    rollouts = [Record(id=row, input=Content(text=row)) for row in "abcd"]
    rewards = [Reward(rollout_id=row, total=0.5, components={"exact-match": half}) for row in "abcd"]
    part = summarize_rewards(SPEC, check_spec(SPEC), rollouts, rewards)[2]
    assert part.mean == 0.5
    assert part.ci is not None and part.ci.method != "wilson"
