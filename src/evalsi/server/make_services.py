"""The services of a server from the parts they work with. Each is loaded when it is first called, or soon after the start."""

from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry

from evalsi.ports.failure_store import FailureStore
from evalsi.ports.judge_tokens import JudgeTokenQuota
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.ports.score_sink import RUN_PREFIX
from evalsi.ports.spent import Spent
from evalsi.server.late_service import LateService
from evalsi.server.reward_measures import RewardMeasures
from evalsi.settings.server import ServerSettings
from evalsi.wiring.run_serving import RunParts
from evalsi.wiring.serving import ServingParts
from evalsi.wiring.trace_serving import TraceParts
from evalsi.wiring.watching import WatchParts


def own_services(
    parts: ServingParts, *, admit_judges: Callable[[str], None], account: Callable[[Spent], None]
) -> list[LateService]:
    """EvaluationService, CatalogService and AuthService, which every server has.

    Args:
        admit_judges: Returns when judges may be asked for a project, else raises.
        account: Takes what judges of calls used.
    """

    def evaluation() -> Any:
        from evalsi.server.services.evaluation_service import EvaluationLimits, EvaluationService

        return EvaluationService(
            parts.pools,
            EvaluationLimits(
                most_records=parts.limits.most_records,
                stream_batch=parts.limits.stream_batch,
                stream_batches=parts.limits.stream_batches,
                deadline_s=parts.limits.call_deadline_s,
            ),
            judges=lambda project: parts.rights(project).judges,
            default_judge=parts.default_judge,
            admit=admit_judges,
            account=account,
        )

    def catalog() -> Any:
        from evalsi.server.services.catalog_service import CatalogService

        return CatalogService(
            parts.pools["cpu"], judges=parts.judges, default_judge=parts.default_judge, grants=parts.granted
        )

    def auth() -> Any:
        from evalsi.server.services.auth_service import AuthService

        access = parts.access
        return AuthService(access.store, access.clock, access.forget, access.keys, access.bindings)

    return [
        LateService("EvaluationService", evaluation),
        LateService("CatalogService", catalog),
        LateService("AuthService", auth),
    ]


def run_services(parts: RunParts, failures: FailureStore, outbox: ScoreOutbox) -> list[LateService]:
    """RunService and DatasetCatalogService, whose versions take in `failures`.

    Args:
        outbox: Where the scores of runs wait for sinks.
    """

    def runs() -> Any:
        from evalsi.server.services.run_service import RunService
        from evalsi.watch.sink_states import sink_states

        return RunService(
            stores=parts.stores,
            clock=parts.clock,
            datasets=parts.datasets,
            add_cases=parts.add_cases,
            most_stored=parts.most_stored,
            rights=parts.rights,
            default_judge=parts.default_judge,
            has_usual_judge=parts.has_usual_judge,
            tokens=parts.tokens,
            wake=parts.workers.wake if parts.workers is not None else lambda: None,
            sinks=lambda project, run_id: sink_states(outbox.sink_standings(project, RUN_PREFIX + run_id)),
            forget_scores=outbox.forget_run,
        )

    def datasets() -> Any:
        from evalsi.server.services.dataset_catalog_service import DatasetCatalogService

        return DatasetCatalogService(stores=parts.stores, failures=failures)

    return [LateService("RunService", runs), LateService("DatasetCatalogService", datasets)]


def trace_services(
    parts: TraceParts, watch: WatchParts, runs: RunParts, quota: JudgeTokenQuota | None = None
) -> list[LateService]:
    """TraceService, FailureService and MonitorService."""

    def traces() -> Any:
        from evalsi.server.services.trace_service import TraceService

        return TraceService(
            store=parts.store,
            failures=parts.failures,
            tracing=parts.tracing,
            clock=parts.clock,
            reconsiders=watch.reconsiders,
            forget=watch.policies.forget,
            forget_cases=runs.forget_cases,
        )

    def failures() -> Any:
        from evalsi.server.services.failure_service import FailureService

        return FailureService(failures=parts.failures, traces=parts.store, tracing=parts.tracing, clock=parts.clock)

    def monitor() -> Any:
        from evalsi.server.services.monitor_service import MonitorService

        return MonitorService(
            traces=parts.store,
            policies=watch.policies,
            outbox=watch.outbox,
            tracing=parts.tracing,
            clock=watch.clock,
            rights=watch.rights,
            has_usual_judge=watch.has_usual_judge,
            price=watch.price,
            quota=quota,
            presidio=watch.presidio(),
        )

    return [
        LateService("TraceService", traces),
        LateService("FailureService", failures),
        LateService("MonitorService", monitor),
    ]


def reward_service(parts: ServingParts, server: ServerSettings, registry: CollectorRegistry) -> LateService:
    """RewardService; what it counts is put into `registry`."""
    measures = RewardMeasures(registry)

    def rewards() -> Any:
        from evalsi.server.services.reward_service import RewardLimits, RewardService

        limits = RewardLimits(
            most_rollouts=server.rewards.max_rollouts,
            most_inflight=server.rewards.max_inflight,
            most_of_project=lambda project: server.quotas.of(project).max_reward_rollouts,
            deadline_s=parts.limits.call_deadline_s,
        )
        return RewardService(
            parts.pools["reward"],
            measures,
            limits,
            judges=lambda project: parts.rights(project).judges,
            default_judge=parts.default_judge,
        )

    return LateService("RewardService", rewards)
