"""What a watch worker does for a server: its policies armed with evaluators and judges, over the stores of its order.

Its own module because only workers evaluate: a server reads and applies policies, and must not load what grades.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsi.core.clock import SystemClock
from evalsi.core.errors import ForbiddenError
from evalsi.engine.make_panel import bind_all
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.infra.promoted_files import PromotedFiles
from evalsi.infra.store.audit_outbox import SqlAuditOutbox
from evalsi.infra.store.open_stores import open_policy_store, open_trace_store
from evalsi.infra.store.score_outbox import SqlScoreOutbox
from evalsi.infra.webhooks import WebhookSender
from evalsi.judges.judge import ModelJudge
from evalsi.judges.spend_so_far import SpendSoFar
from evalsi.ports.closable import Closable
from evalsi.ports.notice_sender import NoticeSender, Sent
from evalsi.ports.policy_store import DaySpent, Delivery
from evalsi.ports.project_stores import ProjectStores
from evalsi.ports.run_queue import TokenQuota
from evalsi.schema import DatasetVersion, DatasetVersionContent, EvaluatorRef, JudgeSpec
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.settings.redaction_rules import presidio_options
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_rights import environment_of, fence_of, rights_of
from evalsi.watch.cascade import ReadyPolicy
from evalsi.watch.deliver_audit import AuditLane
from evalsi.watch.policy import CheckedPolicy, KnownNames
from evalsi.watch.policy_book import ArmedPolicy, PolicyBook
from evalsi.watch.redaction import redactor_of
from evalsi.watch.watch_tools import WatchTools
from evalsi.watch.watch_traffic import watch_traffic
from evalsi.wiring.accounts import NoticeTried, RunSpent, TraceDamaged, WorkNews
from evalsi.wiring.judge_tokens import JudgeTokens
from evalsi.wiring.judging import judge_choice, make_judge
from evalsi.wiring.lending import lent_sandbox
from evalsi.wiring.run_order import opened_stores
from evalsi.wiring.sinks import audit_plans, sink_plans, sinks_of
from evalsi.wiring.span_mappings import tracing_with
from evalsi.wiring.watching import WatchWorkerOrder

OWNER_OF_CASES = "policies"
"""Who publishes the versions of datasets that policies fill."""


async def watch(
    order: WatchWorkerOrder,
    settings: Settings,
    stopped: threading.Event,
    tell: Callable[[WorkNews], None] = lambda _news: None,
    ends_after_s: float | None = None,
) -> None:
    """Watches traffic until it is stopped. Raises: StoreError: a store cannot be opened.

    Args:
        tell: Takes news of what judges used, of messages that were sent and of damage, for the totals of the server.
        ends_after_s: It also ends when it had nothing to do for so long.
    """
    server = order.runs.server
    traces, policies = open_trace_store(order.runs.store), open_policy_store(order.runs.store)
    stores, cases = opened_stores(order.runs), PromotedFiles(Path(order.runs.datasets))
    armory = Armory(server, settings)
    clock = SystemClock()
    tools = WatchTools(
        traces=traces,
        policies=policies,
        book=PolicyBook(policies, armory.arm, KnownNames(presidio=presidio_options(server.traces.redaction.presidio))),
        tracing=tracing_with(server.traces.mappings),
        clock=clock,
        promote=cases.add,
        sinks_of=sinks_of(server),
        judge_tokens=JudgeTokens(
            queue=stores.queue,
            account=lambda spent: tell(RunSpent(spent)) if spent else None,
            clock=clock,
            quota=lambda project: order.runs.quotas.get(project) or order.runs.quotas.get("", TokenQuota()),
        ),
        tell_damaged=lambda: tell(TraceDamaged()),
        most_open=server.otlp.max_traces,
        lease_s=order.lease_s,
    )
    webhooks = WebhookSender(
        fence=fence_of(server),
        secret=lambda project, variable: secret_of(server, settings, project, variable),
        clock=clock,
        proxy=settings.proxy_for,
    )
    plans, audit = sink_plans(server, settings, clock), audit_plans(server, settings)
    entries = SqlAuditOutbox(stores.database)
    try:
        await watch_traffic(
            tools,
            CountedSender(webhooks, tell),
            stopped,
            outbox=SqlScoreOutbox(policies.database),
            plans=plans,
            audit=[AuditLane(entries, plan, clock) for plan in audit],
            publish=lambda: publish_cases(cases, stores),
            ends_after_s=ends_after_s,
        )
    finally:
        await armory.close()
        for plan in (*plans, *audit):
            await plan.sink.close()
        traces.close()
        policies.database.close()
        stores.close()


def publish_cases(cases: PromotedFiles, stores: ProjectStores) -> int:
    """Makes a version of each dataset to which policies added cases; how many. One with the same cases is there already.

    Raises: StoreError: what was not published is next time.
    """
    made = 0
    for file in cases.grown():
        content = DatasetVersionContent(project=file.project, name=file.dataset, owner=OWNER_OF_CASES)
        version = DatasetVersion(content=content, records=file.cases, published_by=OWNER_OF_CASES)
        _, existed = stores.datasets(file.project).publish(version, file.path, body_sha256=file.sha256)
        made += not existed
    return made


def secret_of(server: ServerSettings, settings: Settings, project: str, variable: str) -> str:
    """The value of an environment variable that messages of a project may be signed with.

    Raises: ForbiddenError: it is not granted to the project. UsageError: it is not set.
    """
    if server.credentials.enforce and variable not in rights_of(server, project).variables():
        raise ForbiddenError(
            f"the credential {variable} is not granted to project {project}",
            hint="the operator grants it: credentials.grants in evalsi.yaml",
        )
    return settings.secret(variable)


@dataclass(frozen=True)
class CountedSender:
    """Implements `NoticeSender` by another one, and tells how each attempt ended."""

    sender: NoticeSender
    tell: Callable[[WorkNews], None]

    async def send(self, delivery: Delivery) -> Sent:
        sent = await self.sender.send(delivery)
        self.tell(NoticeTried("delivered" if sent.delivered else "failed"))
        return sent


@dataclass
class Armory:
    """Loads evaluators of policies, and lends them what they need. For one event loop; `close` returns what was lent."""

    server: ServerSettings
    settings: Settings
    _lent: list[Closable] = field(default_factory=list[Closable], init=False)

    def arm(self, checked: CheckedPolicy) -> ArmedPolicy:
        """Raises: EvalsiError: an evaluator or a judge cannot be used."""
        policy = checked.policy
        rights = rights_of(self.server, policy.project)
        settings = replace(
            self.settings,
            fence=fence_of(self.server),
            environment=environment_of(self.server, policy.project, self.settings.environment),
        )
        redactor_of(checked.view)  # what Presidio needs is loaded now, and what is missing is said now
        refs = [ref for stage in checked.stages for ref in stage.evaluators]
        sandbox = lent_sandbox(refs, settings)
        if sandbox is not None:
            self._lent.append(sandbox)
        judges: dict[str, ModelJudge] = {}
        default = self.server.default_judge
        usual = policy.judge or (default if default in rights.judges else "")
        for name in judges_of(checked, usual):
            judge = self._judge(name, rights.judges, settings)
            if judge is not None:
                judges[name] = judge
        contexts = {name: EvalContext(judge=judge, sandbox=sandbox) for name, judge in judges.items()}
        context = contexts.get(usual, EvalContext(sandbox=sandbox))
        panels = [
            Panel(evaluators=bind_all(stage.evaluators, context, contexts), deadline_s=30.0) for stage in checked.stages
        ]
        self._lent += judges.values()

        def spent() -> DaySpent:
            total = DaySpent(0.0, 0, 0)
            for judge in judges.values():
                spend = judge.spend
                total = total.plus(DaySpent(spend.known_usd, spend.tokens, spend.unpriced_calls))
            return total

        told = SpendSoFar()
        return ArmedPolicy(
            ready=ReadyPolicy(checked=checked, panels=panels),
            spent=spent,
            news=lambda: told.since([judge.spend for judge in judges.values()], policy.project),
        )

    async def close(self) -> None:
        for each in self._lent:
            await each.close()

    def _judge(self, name: str, judges: Mapping[str, JudgeSpec], settings: Settings) -> ModelJudge | None:
        """The judge of a name; None where there is none, which binding says better."""
        if name in judges:
            return make_judge(judge_choice(judges[name]), settings, use_cache=not self.server.worker.no_cache)
        if not name and (settings.judge.provider or settings.judge.model):
            return make_judge(JudgeChoice(), settings, use_cache=not self.server.worker.no_cache)
        return None


def judges_of(checked: CheckedPolicy, usual: str) -> Sequence[str]:
    """Names of the judges that the policy asks; `usual` is that of evaluators which name none."""
    if not checked.asks_judge:
        return []
    refs: list[EvaluatorRef] = [ref for stage in checked.stages for ref in stage.evaluators]
    return list(dict.fromkeys(ref.judge or usual for ref in refs))
