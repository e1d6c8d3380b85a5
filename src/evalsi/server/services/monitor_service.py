"""MonitorService: policies are applied, listed, tried, put to work on the past, and what they found is read.

What always holds: a policy that is stored can be carried out by its project: its evaluators are installed here, its judges
and credentials are the project's, its addresses lie outside of the fence. Looks at stores happen in threads.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from evalsi.access.caller import Caller
from evalsi.access.gate import DEFAULT_PROJECT, visible_projects
from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.core.address_fence import host_of
from evalsi.core.clock import Clock
from evalsi.core.errors import ForbiddenError, InvalidSpecError, UsageError
from evalsi.evaluators.detectors.presidio import PresidioOptions
from evalsi.ports.judge_tokens import JudgeTokenQuota
from evalsi.ports.policy_store import PolicyStore
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import (
    ApplyPolicyRequest,
    ApplyPolicyResponse,
    BackfillPolicyRequest,
    BackfillPolicyResponse,
    CompareTrafficRequest,
    CompareTrafficResponse,
    DeletePolicyRequest,
    DeletePolicyResponse,
    GetPolicyStatsRequest,
    GetPolicyStatsResponse,
    ListPoliciesRequest,
    ListPoliciesResponse,
    OnlineEvalPolicy,
    TestPolicyRequest,
    TestPolicyResponse,
    TrafficSlice,
)
from evalsi.traces import Tracing
from evalsi.watch.backfill_policy import backfill_policy
from evalsi.watch.compare_traffic import compare_traffic
from evalsi.watch.policy import CheckedPolicy, KnownNames, checked_policy
from evalsi.watch.policy_stats import StatsAsked, policy_stats
from evalsi.watch.sink_states import with_sinks
from evalsi.watch.try_policy import PriceOfQuestion, try_policy

PriceOf = Callable[[CheckedPolicy], PriceOfQuestion]


@dataclass(frozen=True, kw_only=True)
class MonitorService:
    """Implements the service of that name.

    Args:
        rights: What policies of a project may call.
        has_usual_judge: Whether evaluators that name no judge have one.
        price: What a question to a policy's judge costs.
        quota: What judges may use for a project; None where nobody limits it.
        presidio: How Presidio looks where a view names it; None: whether it is here is not asked.
    """

    traces: TraceStore
    policies: PolicyStore
    outbox: ScoreOutbox
    tracing: Tracing
    clock: Clock
    rights: Callable[[str], OutgoingRights] = lambda _project: OutgoingRights()
    has_usual_judge: bool = False
    price: PriceOf = lambda _checked: lambda _usage: None
    quota: JudgeTokenQuota | None = None
    presidio: PresidioOptions | None = None
    service: str = field(default="MonitorService", init=False)

    async def apply_policy(self, request: ApplyPolicyRequest, caller: Caller) -> ApplyPolicyResponse:
        del caller
        checked = await asyncio.to_thread(self._checked, request.policy)
        if not request.validate_only:
            await asyncio.to_thread(
                self.policies.apply, checked.policy, now_ms=int(self.clock.now().timestamp() * 1000)
            )
        return ApplyPolicyResponse(policy=checked.policy)

    async def list_policies(self, request: ListPoliciesRequest, caller: Caller) -> ListPoliciesResponse:
        if request.project:
            projects = [request.project]
        else:
            visible = visible_projects(caller, "policies.read")
            projects = None if visible is None else sorted(visible)
        return ListPoliciesResponse(policies=list(await asyncio.to_thread(self.policies.policies, projects)))

    async def delete_policy(self, request: DeletePolicyRequest, caller: Caller) -> DeletePolicyResponse:
        del caller
        await asyncio.to_thread(self.policies.delete, request.project or DEFAULT_PROJECT, request.name)
        return DeletePolicyResponse()

    async def get_policy_stats(self, request: GetPolicyStatsRequest, caller: Caller) -> GetPolicyStatsResponse:
        del caller
        asked = StatsAsked(since=request.since, step_s=request.step, by=request.by)

        def read() -> GetPolicyStatsResponse:
            checked = self._stored(request.project, request.name)
            stats = policy_stats(self.policies, checked, self.clock.now(), asked, self.quota)
            standings = self.outbox.sink_standings(checked.policy.project, checked.policy.name)
            return GetPolicyStatsResponse(stats=with_sinks(stats, standings))

        return await asyncio.to_thread(read)

    async def test_policy(self, request: TestPolicyRequest, caller: Caller) -> TestPolicyResponse:
        del caller

        def attempt() -> TestPolicyResponse:
            checked = self._checked(request.policy)
            return try_policy(
                self.traces,
                checked,
                self.tracing,
                self.clock.now(),
                lookback_s=request.lookback,
                price=self.price(checked),
            )

        return await asyncio.to_thread(attempt)

    async def backfill_policy(self, request: BackfillPolicyRequest, caller: Caller) -> BackfillPolicyResponse:
        del caller

        def put() -> BackfillPolicyResponse:
            checked = self._stored(request.project, request.name)
            queued = backfill_policy(
                self.traces,
                self.policies,
                checked,
                self.tracing,
                self.clock.now(),
                since=request.since,
                until=request.until,
            )
            return BackfillPolicyResponse(queued=queued)

        return await asyncio.to_thread(put)

    async def compare_traffic(self, request: CompareTrafficRequest, caller: Caller) -> CompareTrafficResponse:
        del caller
        if request.confidence_level and not 0 < request.confidence_level < 1:
            raise UsageError(
                f"{request.confidence_level} is no level of confidence",
                where="confidence_level",
                hint="give a fraction such as 0.95",
            )

        def compare() -> CompareTrafficResponse:
            return compare_traffic(
                self.policies,
                self._stored(request.project, request.name),
                request.baseline or TrafficSlice(),
                request.candidate or TrafficSlice(),
                self.clock.now(),
                level=request.confidence_level or 0.95,
            )

        return await asyncio.to_thread(compare)

    def _stored(self, project: str, name: str) -> CheckedPolicy:
        return checked_policy(self.policies.policy(project or DEFAULT_PROJECT, name))

    def _checked(self, policy: OnlineEvalPolicy | None) -> CheckedPolicy:
        if policy is None:
            raise UsageError("no policy was sent", where="policy")
        policy = msgspec.structs.replace(policy, project=policy.project or DEFAULT_PROJECT)
        # Before anything is loaded: code that was sent must not even be imported.
        for place, stage in enumerate(policy.stages):
            for index, ref in enumerate(stage.evaluators):
                if ":" in ref.ref or ref.ref.endswith(".py"):
                    raise InvalidSpecError(
                        f"{ref.ref!r} is code in a file or module, and a server runs only evaluators that are installed on it",
                        where=f"stages[{place}].evaluators[{index}].ref",
                        hint="have it installed as a plugin",
                    )
        rights = self.rights(policy.project)
        checked = checked_policy(
            policy, KnownNames(judges=list(rights.judges), sinks=rights.sinks, presidio=self.presidio)
        )
        if checked.asks_judge and not policy.judge and not self.has_usual_judge:
            raise InvalidSpecError(
                "an evaluator asks a judge, and none is named",
                where="judge",
                hint=f"known: {', '.join(rights.judges)}"
                if rights.judges
                else "the operator names judges in evalsi.yaml",
            )
        for place, alert in enumerate(policy.alerts):
            if alert.webhook:
                rights.fence.check_url(alert.webhook, where=f"alerts[{place}].webhook")
            if alert.secret_env and rights.enforce:
                host = host_of(alert.webhook, where=f"alerts[{place}].webhook") if alert.webhook else ""
                if not any(grant.variable == alert.secret_env and grant.covers(host) for grant in rights.grants):
                    raise ForbiddenError(
                        f"the credential {alert.secret_env} is not granted to this project for {host}",
                        where=f"alerts[{place}].secret_env",
                        hint="the operator grants it: credentials.grants in evalsi.yaml",
                    )
        return checked
