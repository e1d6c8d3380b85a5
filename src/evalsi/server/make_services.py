"""The services of runs, datasets and rewards, from the parts they work with."""

from typing import Any

from prometheus_client import CollectorRegistry

from evalsi.server.reward_measures import RewardMeasures
from evalsi.server.services.dataset_catalog_service import DatasetCatalogService
from evalsi.server.services.reward_service import RewardLimits, RewardService
from evalsi.server.services.run_service import RunService
from evalsi.settings.server import ServerSettings
from evalsi.wiring.run_serving import RunParts
from evalsi.wiring.serving import ServingParts


def run_services(parts: RunParts) -> list[Any]:
    """RunService and DatasetCatalogService."""
    return [
        RunService(
            stores=parts.stores,
            clock=parts.clock,
            datasets=parts.datasets,
            most_stored=parts.most_stored,
            rights=parts.rights,
            default_judge=parts.default_judge,
            tokens=parts.tokens,
            wake=parts.workers.wake if parts.workers is not None else lambda: None,
        ),
        DatasetCatalogService(stores=parts.stores),
    ]


def reward_service(parts: ServingParts, server: ServerSettings, registry: CollectorRegistry) -> RewardService:
    """RewardService; what it counts is put into `registry`."""
    limits = RewardLimits(
        most_rollouts=server.rewards.max_rollouts,
        most_inflight=server.rewards.max_inflight,
        most_of_project=lambda project: server.quotas.of(project).max_reward_rollouts,
        deadline_s=parts.limits.call_deadline_s,
    )
    return RewardService(
        parts.pools["reward"],
        RewardMeasures(registry),
        limits,
        judges=lambda project: parts.rights(project).judges,
        default_judge=parts.default_judge,
    )
