"""Signs of hacked rewards: a simulation shows how often they are seen where they are, and where they are not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from evalsi.reward.diagnose_rewards import GivenRewards, Sign, diagnose_rewards
from evalsi.stats.bootstrap import Resampling
from evalsi.stats.interval import Estimate

PLAN = Resampling(seed=1, resamples=400)


def training(seed: int, *, hacking: float = 0.0, wordiness: float = 0.0, noise: float = 0.5) -> GivenRewards:
    """A training of 12 steps, 6 prompts a step, 4 rollouts a prompt. Quality rises; `hacking` is what is added to the reward
    late and not to quality, `wordiness` what a standard deviation of length adds to it.
    """
    draw = np.random.default_rng(seed)
    steps = np.repeat(np.arange(12.0), 24)
    difficulty = np.repeat(draw.normal(size=72), 4)
    quality = difficulty + 0.08 * steps + draw.normal(size=steps.size)
    length = draw.normal(size=steps.size)
    reward = quality + noise * draw.normal(size=steps.size) + hacking * steps / 11 + wordiness * length
    return GivenRewards(
        rewards=reward,
        lengths=200 + 50 * length,
        steps=steps,
        heldout=quality + noise * draw.normal(size=steps.size),
        components={"format": np.clip(steps / 11, 0, 1)},
        prompts=[str(prompt) for prompt in np.repeat(np.arange(72), 4)],
    )


def sign(given: GivenRewards, name: str) -> Sign:
    return next(each for each in diagnose_rewards(given, PLAN) if each.name == name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "name"), [({"hacking": 2.0}, "heldout-shortfall"), ({"wordiness": 0.8}, "length-bias")]
)
def test_what_is_there_is_seen_and_what_is_not_is_rarely_alleged(made: dict[str, float], name: str) -> None:
    trials = 150
    seen = sum(sign(training(seed, **made), name).is_alarm for seed in range(trials))
    alleged = sum(sign(training(seed), name).is_alarm for seed in range(1000, 1000 + trials))
    assert seen >= 0.9 * trials
    assert alleged <= 0.06 * trials  # 2.5% nominal, and three standard errors of the simulation


@pytest.mark.slow
def test_a_noisier_reward_makes_alarms_rarer_and_never_more_frequent() -> None:
    alleged = sum(sign(training(seed, noise=2.0), "heldout-shortfall").is_alarm for seed in range(100))
    assert alleged <= 6


def test_rollouts_of_one_prompt_count_as_one_for_the_interval_of_the_agreement() -> None:
    draw = np.random.default_rng(5)
    quality = draw.integers(0, 8, size=40).astype(float)
    seen = quality + 3 * draw.normal(size=40)

    def agreement(copies: int, prompts: int) -> Estimate:
        made = training(0)
        rows = np.repeat(np.arange(40), copies)
        return sign(
            replace(
                made,
                rewards=seen[rows],
                heldout=quality[rows],
                lengths=np.full(rows.size, 10.0),
                steps=np.zeros(rows.size),
                components={},
                prompts=[str(row % prompts) for row in (rows if copies > 1 else range(40))],
            ),
            "heldout-agreement",
        ).estimate

    alone, copied = agreement(1, 40), agreement(6, 40)
    assert alone.value == pytest.approx(copied.value) == pytest.approx(spearmanr(seen, quality).statistic)
    assert alone.interval is not None and copied.interval is not None
    width = alone.interval.high - alone.interval.low
    assert 0.75 * width < copied.interval.high - copied.interval.low < 1.33 * width


def test_drift_is_told_with_its_interval() -> None:
    drift = sign(training(3), "drift.format")
    assert drift.estimate.value == pytest.approx(8 / 11, abs=0.01)
    assert not drift.is_alarm


def test_without_steps_or_held_out_scores_there_is_a_reason_and_no_number() -> None:
    given = training(5)
    blind = replace(given, heldout=np.full(given.rewards.size, np.nan), steps=np.zeros(given.rewards.size))
    found = {each.name: each for each in diagnose_rewards(blind, PLAN)}
    assert found["heldout-shortfall"].estimate.value is None
    assert found["heldout-shortfall"].estimate.reason
    assert found["drift.format"].estimate.reason
    assert found["length-bias"].estimate.value is not None
    assert not any(each.is_alarm for each in found.values())
