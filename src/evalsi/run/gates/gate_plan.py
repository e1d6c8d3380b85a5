"""What the gates of a run have in common. Its own module because a run knows it from its start, and decides at its end."""

from dataclasses import dataclass

from evalsi.schema import OnInconclusive, RunSpec


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """What the spec says about all gates together."""

    level: float = 0.95
    trials: int = 1
    on_inconclusive: OnInconclusive = OnInconclusive.UNSPECIFIED
    baseline: str = ""
    """What gates compare with that name no baseline of their own."""
    cluster_by: str = ""


def plan_of(spec: RunSpec) -> GatePlan:
    """The plan that a spec means."""
    summary = spec.summary
    return GatePlan(
        level=(summary.confidence_level if summary is not None else 0.0) or 0.95,
        trials=max(1, spec.trials),
        on_inconclusive=spec.on_inconclusive,
        baseline=spec.baseline,
        cluster_by=summary.cluster_by if summary is not None else "",
    )
