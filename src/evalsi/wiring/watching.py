"""A server's watch over traffic from its settings: the stores, the policies, the workers.

Its own module because the server only reads and applies, and its workers do the work (`wiring.watch_work`): what grades is
not loaded here. What a policy may call is decided by the same settings in both.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.access.outgoing_rights import OutgoingRights
from evalsi.core.clock import Clock, SystemClock
from evalsi.core.processors import available_processors
from evalsi.infra.run_workers import RunWorkers
from evalsi.infra.store.database import StoreOptions
from evalsi.infra.store.open_stores import open_policy_store
from evalsi.infra.store.score_outbox import SqlScoreOutbox
from evalsi.ports.policy_store import PolicyStore
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.schema import OnlineEvalPolicy
from evalsi.schema.json_codec import convert
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_rights import rights_by_project
from evalsi.wiring.run_order import RunWorkerOrder
from evalsi.wiring.run_serving import order_of

if TYPE_CHECKING:
    from evalsi.evaluators.detectors.presidio import PresidioOptions
    from evalsi.watch.policy import CheckedPolicy
    from evalsi.watch.try_policy import PriceOfQuestion

MOST_USUAL_WORKERS = 2
LEASE_S = 10.0
"""How long after the last sign of life of a watch worker its claims are others'. They look at least once a second, so
that what a killed worker had in hand is graded within 15 s."""
STOP_S = 1.0
"""Seconds that watch workers have to end. What they lose then is due again, and nothing of it is counted twice."""


class WatchWorkerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a server tells its watch workers."""

    runs: RunWorkerOrder
    """Where everything is, and what else the operator decided, as run workers are told it."""
    lease_s: float = LEASE_S


@dataclass(frozen=True, kw_only=True)
class WatchParts:
    """What the service of policies works with."""

    policies: PolicyStore
    outbox: ScoreOutbox
    clock: Clock
    rights: Callable[[str], OutgoingRights]
    has_usual_judge: bool
    """Whether evaluators that name no judge have one."""
    price: Callable[["CheckedPolicy"], "PriceOfQuestion"]
    """What a question to a policy's judge costs."""
    presidio: Callable[[], "PresidioOptions"]
    """How Presidio looks where a policy's view names it."""
    workers: RunWorkers | None = None

    def reconsiders(self, project: str) -> bool:
        """Whether policies of a project look at what people say about traffic. Raises: StoreError."""
        from evalsi.watch.policy import reads_feedback

        return any(reads_feedback(policy) for policy in self.policies.policies([project]))


@contextmanager
def opened_watch(
    server: ServerSettings,
    settings: Settings,
    *,
    with_workers: bool = True,
    is_behind: Callable[[int], bool] = lambda _now_ms: False,
    hear: Callable[[bytes], None] = lambda _line: None,
) -> Generator[WatchParts]:
    """Opens the store of policies and applies those of the settings. The workers are started by who has opened the port.

    Args:
        is_behind: Whether one worker does not keep up, at a time in milliseconds. Raises: StoreError.
        hear: Takes what workers say: `WorkNews` as JSON, a line each. Called from threads.
    Raises: StoreError: the store cannot be opened.
    """
    order = order_of_watch(server, settings)
    policies = open_policy_store(order.runs.store, StoreOptions(synchronous=server.storage.sqlite.synchronous))
    clock = SystemClock()
    count = server.traces.workers or min(MOST_USUAL_WORKERS, available_processors())
    workers = RunWorkers(
        order=msgspec.json.encode(order),
        count=count,
        kind="watch",
        demand=lambda: count if is_behind(int(clock.now().timestamp() * 1000)) else 1,
        hear=hear,
    )
    rights = rights_by_project(server)
    try:
        for policy in configured_policies(server):
            _apply(policies, policy, clock)
        yield WatchParts(
            policies=policies,
            outbox=SqlScoreOutbox(policies.database),
            clock=clock,
            rights=rights,
            has_usual_judge=bool(server.default_judge or settings.judge.provider or settings.judge.model),
            price=lambda checked: _price(checked, rights, server, settings),
            presidio=lambda: _presidio(server),
            workers=workers if with_workers else None,
        )
    finally:
        if with_workers:
            workers.stop(timeout_s=STOP_S)
        policies.database.close()


def order_of_watch(server: ServerSettings, settings: Settings) -> WatchWorkerOrder:
    """What the watch workers of this server are told."""
    return WatchWorkerOrder(runs=order_of(server, settings))


def configured_policies(server: ServerSettings) -> list[OnlineEvalPolicy]:
    """The policies of the settings, which reading them has checked."""
    found = [convert(value, OnlineEvalPolicy) for value in server.policies]
    return [msgspec.structs.replace(each, project=each.project or DEFAULT_PROJECT) for each in found]


def _price(
    checked: "CheckedPolicy", rights: Callable[[str], OutgoingRights], server: ServerSettings, settings: Settings
) -> "PriceOfQuestion":
    from evalsi.wiring.judging import prices_of

    name = checked.policy.judge or server.default_judge
    judge = rights(checked.policy.project).judges.get(name)
    model = judge.model if judge is not None else settings.judge.model
    prices = prices_of(settings)
    return lambda usage: prices.cost(model, usage).usd


def _presidio(server: ServerSettings) -> "PresidioOptions":
    from evalsi.settings.redaction_rules import presidio_options  # detectors are slow to load

    return presidio_options(server.traces.redaction.presidio)


def _apply(policies: PolicyStore, policy: OnlineEvalPolicy, clock: Clock) -> None:
    """Applies a policy of the settings, unless it is there as it is: workers then keep what they have loaded."""
    there = {each.name: each for each in policies.policies([policy.project])}
    if there.get(policy.name) != policy:
        policies.apply(policy, now_ms=int(clock.now().timestamp() * 1000))
