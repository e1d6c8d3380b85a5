"""The server that `evalsi serve` starts: every service on one port, with who carries out runs and watches traffic beside it.

Its own module because the commands that start it are read before its libraries are loaded. What always holds: workers
start when the port is open, and end when it is closed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from prometheus_client import CollectorRegistry

from evalsi.core.allocator import tune_allocator
from evalsi.core.collector import tune_collector
from evalsi.schema import RewardSpec
from evalsi.server.audit_measures import AuditMeasures
from evalsi.server.journal import Journal
from evalsi.server.late_service import LateService
from evalsi.server.listen_address import listen_address
from evalsi.server.make_services import reward_service, run_services, trace_services
from evalsi.server.otlp.listening import OtlpPlan
from evalsi.server.otlp.make_receiver import make_receiver
from evalsi.server.own_pages import OwnPages
from evalsi.server.policy_measures import PolicyMeasures
from evalsi.server.run_measures import RunMeasures, SpentMeasures
from evalsi.server.serve import Extras, Running, ServePlan, serve_until_told
from evalsi.server.tls import Certificates
from evalsi.settings import Settings
from evalsi.settings.open_door import is_on_this_machine
from evalsi.settings.server import ServerSettings
from evalsi.wiring.judge_tokens import JudgeTokens
from evalsi.wiring.run_serving import RunParts, opened_runs
from evalsi.wiring.serving import ServingLimits, ServingParts, serving_parts
from evalsi.wiring.trace_serving import TraceParts, expiring, opened_traces
from evalsi.wiring.watching import WatchParts, opened_watch


@dataclass(frozen=True, kw_only=True)
class WholeServer:
    """What a server is started with."""

    server: ServerSettings
    settings: Settings
    limits: ServingLimits
    no_auth: bool
    reward: RewardSpec | None = None
    """What OpenRLHF's protocol is answered with; None for a server without it."""

    def serve(self, journal: Journal) -> None:
        """Serves until the process is told to stop. Raises: EvalsiError, OSError: it could not begin."""
        tune_allocator()
        server, settings = self.server, self.settings
        plan = _plan_of(server)
        with (
            opened_runs(server, settings) as runs,
            opened_traces(server, settings) as traces,
            expiring(traces, server.traces),
            opened_watch(server, settings, is_behind=traces.is_behind, hear=runs.accounts.hear) as watch,
        ):
            parts = serving_parts(settings, server, self.limits, runs.project_of_run, no_auth=self.no_auth)
            extras = self._extras(parts, runs, traces, watch)
            workers = [each for each in (runs.workers, watch.workers) if each is not None]

            def start_workers(running: Running) -> None:
                tune_collector()
                for each in workers:
                    each.start()
                if sys.stderr.isatty():  # the log is for programs; this line is for who started it by hand
                    print(f"{_address_of(running, plan)}  (Ctrl-C stops it)", file=sys.stderr, flush=True)

            try:
                uvloop.run(serve_until_told(plan, parts, journal, extras, when_ready=start_workers))
            finally:
                # All at once, so that they end side by side.
                for each in workers:
                    each.let_go()

    def _extras(self, parts: ServingParts, runs: RunParts, traces: TraceParts, watch: WatchParts) -> Extras:
        server, registry = self.server, CollectorRegistry(auto_describe=True)
        rewards = reward_service(parts, server, registry)
        receiver = make_receiver(server, traces, watch, parts.access.guard, registry)
        listens = [listen for listen in (server.otlp.http_listen, server.otlp.grpc_listen) if listen]
        judge_tokens = JudgeTokens(
            queue=runs.stores.queue, account=runs.accounts.add, clock=runs.clock, quota=runs.tokens
        )
        return Extras(
            otlp=OtlpPlan(receiver=receiver, listens=[listen_address(listen) for listen in listens]),
            services=[
                *run_services(runs, traces.failures, watch.outbox),
                *trace_services(traces, watch, runs, judge_tokens),
                rewards,
            ],
            mounts={} if self.reward is None else _rewards_of(rewards, self.reward, server.listen),
            collectors=[
                registry,
                *(RunMeasures(runs), SpentMeasures(runs.accounts)),
                *(PolicyMeasures(watch), AuditMeasures(runs.audit)),
            ],
            admit_judges=judge_tokens.admit,
            account=judge_tokens.add,
        )


def _rewards_of(rewards: LateService, spec: RewardSpec, listen: str) -> dict[str, Any]:
    from evalsi.server.openrlhf_route import PATH, OpenRlhfRoute

    pages = OwnPages(is_on_this_machine(listen))
    return {PATH: OpenRlhfRoute(rewards.load(), spec, pages)}


def _plan_of(server: ServerSettings) -> ServePlan:
    tls = server.auth.tls if server.auth is not None else None
    host, port = listen_address(server.listen)
    return ServePlan(
        host=host,
        port=port,
        certificates=Certificates(chain=Path(tls.cert_file), key=Path(tls.key_file)) if tls is not None else None,
        shows_pages=not server.ui.disabled,
        shows_metrics=server.metrics.public,
    )


def _address_of(running: Running, plan: ServePlan) -> str:
    """Where the server is for a browser of this machine; a wildcard is no address to open."""
    host = "localhost" if running.host in ("0.0.0.0", "::") else running.host  # noqa: S104 - compared, not listened on
    shown = f"[{host}]" if ":" in host else host
    address = f"{'http' if plan.certificates is None else 'https'}://{shown}:{running.port}"
    return f"pages: {address}/ui/" if plan.shows_pages else f"ready: {address}"
