"""What a batch of rewards amounts to: the mean of the rewards and of each part, of how many, and how sure that is.

Its own module because rewards come from this process or from a server, and either way somebody reads their mean. Rollouts of
one prompt are not independent, so they are one cluster. A rollout without a reward is in no mean; one that a gate stopped
has the floor as its reward.
"""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from evalsi.core.content import text_of
from evalsi.engine.summary import bounds_of, cluster_key, confidence_interval
from evalsi.reward.check_spec import CheckedComponent
from evalsi.schema import (
    MetricKind,
    MetricSpec,
    MetricSummary,
    Record,
    Reward,
    RewardComponentStatus,
    RewardSpec,
    ScoreType,
)
from evalsi.stats import ClusterTotals, Estimate, cluster_robust_t, mean_estimate, wilson

Bounds = tuple[float, float] | None


def summarize_rewards(
    spec: RewardSpec,
    checked: Sequence[CheckedComponent],
    rollouts: Sequence[Record],
    rewards: Sequence[Reward],
    *,
    level: float = 0.95,
    cluster_by: str | None = None,
) -> list[MetricSummary]:
    """The summary of the totals first, under the name of the reward, then those of its parts in the order of the spec.

    Args:
        checked: The components of `spec`.
        rewards: One for each rollout, in the same order.
        cluster_by: Metadata key whose value groups rollouts that are not independent; None for the prompt.
    """
    groups = [_group(rollout, cluster_by) for rollout in rollouts]
    failed = [_is_broken(reward.total) or _has_failed(reward, checked) for reward in rewards]
    name = spec.name or "reward"
    totals = [_finite(reward.total) for reward in rewards]
    total = MetricSpec(higher_is_better=True)
    found = [_summary(name, totals, failed, groups, level, _bounds_of_total(spec, checked), total)]
    for one in checked:
        results = [reward.components.get(one.name) for reward in rewards]
        values = [_finite(result.value) if result is not None else None for result in results]
        errors = [
            result is not None and (result.status is RewardComponentStatus.ERROR or _is_broken(result.value))
            for result in results
        ]
        output = one.counted or MetricSpec(higher_is_better=True)
        found.append(_summary(one.name, values, errors, groups, level, _bounds_of_part(one), output))
    return found


def _group(rollout: Record, cluster_by: str | None) -> str:
    if cluster_by is not None:
        return cluster_key(rollout, cluster_by)
    return text_of(rollout.input) or rollout.id


def _finite(value: float | None) -> float | None:
    return None if _is_broken(value) else value


def _is_broken(value: float | None) -> bool:
    """Whether a server gave what is no finite number: nothing was measured."""
    return value is not None and not isfinite(value)


def _has_failed(reward: Reward, checked: Sequence[CheckedComponent]) -> bool:
    """Whether a part that counts was tried and gave nothing; else the parts only do not apply."""
    counting = [one.name for one in checked if one.weight or one.component.gate]
    return any(
        name in reward.components and reward.components[name].status is RewardComponentStatus.ERROR for name in counting
    )


def _summary(
    name: str,
    given: Sequence[float | None],
    failed: Sequence[bool],
    groups: Sequence[str],
    level: float,
    bounds: Bounds,
    output: MetricSpec,
) -> MetricSummary:
    is_verdict = output.type is ScoreType.PASSED
    kept = [(value, group) for value, group in zip(given, groups, strict=True) if value is not None]
    values = np.asarray([value for value, _ in kept], dtype=np.float64)
    estimate = _estimate(values, [group for _, group in kept], level, bounds, is_verdict=is_verdict)
    errors = sum(is_failed and value is None for value, is_failed in zip(given, failed, strict=True))
    return MetricSummary(
        metric=name,
        kind=MetricKind.PROPORTION if is_verdict else MetricKind.NUMBER,
        n=estimate.n,
        mean=estimate.value,
        ci=confidence_interval(estimate.interval),
        skipped=len(given) - estimate.n - errors,
        errors=errors,
        total=len(given),
        coverage=estimate.n / len(given) if given else None,
        clusters=estimate.clusters,
        higher_is_better=output.higher_is_better,
        unit=output.unit,
        notes=[estimate.reason] if estimate.reason else [],
    )


def _estimate(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
    groups: Sequence[str],
    level: float,
    bounds: Bounds,
    *,
    is_verdict: bool,
) -> Estimate:
    if bounds is not None and values.size and not bounds[0] <= values.min() <= values.max() <= bounds[1]:
        bounds = None  # a server's evaluator may be another version, with other bounds
    is_verdict = is_verdict and bool(np.isin(values, (0.0, 1.0)).all())
    if len(set(groups)) < len(groups):
        return cluster_robust_t(ClusterTotals.of(values, groups), level, bounds)
    if is_verdict and values.size:
        return Estimate(float(values.mean()), values.size, wilson(round(values.sum()), values.size, level))
    return mean_estimate(values, level, bounds)


def _bounds_of_part(one: CheckedComponent) -> Bounds:
    if one.counted is not None and one.counted.type is ScoreType.PASSED:
        return 0.0, 1.0
    return bounds_of(one.counted)


def _bounds_of_total(spec: RewardSpec, checked: Sequence[CheckedComponent]) -> Bounds:
    """The range that totals lie in, from those of the parts, the clip and the floor; None where one end is open."""
    low = high = 0.0
    for one in checked:
        if one.weight == 0:
            continue
        bounds = _bounds_of_part(one)
        if bounds is None:
            low, high = -np.inf, np.inf
            break
        ends = sorted(one.weight * bound for bound in bounds)
        low, high = low + ends[0], high + ends[1]
    if spec.clip is not None:
        low, high = (min(max(end, spec.clip.low), spec.clip.high) for end in (low, high))
    if any(one.component.gate for one in checked):
        low, high = min(low, spec.floor), max(high, spec.floor)
    return (low, high) if np.isfinite(low) and np.isfinite(high) and low < high else None
