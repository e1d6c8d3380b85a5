"""The sinks of a server from its settings, and which of them a policy's scores go to.

Its own module because only here addresses, names of variables and products meet. What always holds: a credential is read
when it is used, and goes to no other place than the sink that names it.
"""

import base64
from collections.abc import Callable, Mapping, Sequence

from evalsi.core.clock import Clock
from evalsi.infra.sinks.endpoint import SinkEndpoint
from evalsi.infra.sinks.langfuse_sink import LangfuseSink
from evalsi.infra.sinks.mlflow_sink import MlflowSink
from evalsi.infra.sinks.otel_audit_sink import OtelAuditSink
from evalsi.infra.sinks.otel_sink import OtelSink
from evalsi.infra.sinks.phoenix_sink import PhoenixSink
from evalsi.infra.sinks.webhook_sink import WebhookSink
from evalsi.ports.score_sink import ScoreSink
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings, SinkSettings
from evalsi.settings.server_rights import fence_of
from evalsi.settings.server_sinks import sink_address, sink_name, sinks_for, takes_all
from evalsi.watch.deliver_audit import AuditPlan
from evalsi.watch.deliver_scores import SinkPlan
from evalsi.watch.outgoing_scores import SinksOf
from evalsi.watch.policy import CheckedPolicy

Headers = Callable[[], Mapping[str, str]]


def sinks_of(server: ServerSettings) -> SinksOf:
    """Where scores of a policy go: to the sinks that it names, and to those that take the scores of every policy."""

    def names(checked: CheckedPolicy) -> Sequence[str]:
        policy = checked.policy
        denied = {sink_name(each) for each in server.sinks} - set(sinks_for(server, policy.project))
        taking = [sink_name(each) for each in server.sinks if takes_all(each)]
        # One that is named and not there (any more) stays: what cannot be taken there is to be seen.
        return [name for name in dict.fromkeys([*policy.sinks, *taking]) if name not in denied]

    return names


def sink_plans(server: ServerSettings, settings: Settings, clock: Clock) -> list[SinkPlan]:
    """Every sink, ready to be sent to."""
    return [
        SinkPlan(
            name=sink_name(each),
            sink=_sink(each, server, settings, clock),
            give_up_after_s=each.give_up_after,
            projects=frozenset(each.projects),
        )
        for each in server.sinks
    ]


def audit_plans(server: ServerSettings, settings: Settings) -> list[AuditPlan]:
    """Every sink that the audit log is taken to, over connections of its own."""
    plans: list[AuditPlan] = []
    for each in server.sinks:
        if each.otel is None or not each.otel.audit:
            continue
        made = _endpoint(each, server, settings, _from_variables(each.otel.headers_env, settings))
        sink = OtelAuditSink(endpoint=made, service_name=each.otel.service_name)
        plans.append(AuditPlan(name=sink_name(each), sink=sink, projects=frozenset(each.projects)))
    return plans


def _endpoint(
    sink: SinkSettings,
    server: ServerSettings,
    settings: Settings,
    headers: Headers,
    *,
    may_answer_pages: bool = False,
) -> SinkEndpoint:
    address = sink_address(sink)
    return SinkEndpoint(
        url=address,
        headers=headers,
        fence=fence_of(server),
        proxy=settings.proxy_for(address),
        may_answer_pages=may_answer_pages,
    )


def _sink(sink: SinkSettings, server: ServerSettings, settings: Settings, clock: Clock) -> ScoreSink:
    def endpoint(headers: Headers, *, may_answer_pages: bool = False) -> SinkEndpoint:
        return _endpoint(sink, server, settings, headers, may_answer_pages=may_answer_pages)

    if sink.otel is not None:
        made = endpoint(_from_variables(sink.otel.headers_env, settings))
        return OtelSink(endpoint=made, service_name=sink.otel.service_name)
    if sink.mlflow is not None:
        part = sink.mlflow
        usual = _bearer(part.token_env, settings)
        headers = _basic(part.username_env, part.password_env, settings) if part.username_env else usual
        return MlflowSink(endpoint=endpoint(headers), experiment=part.experiment)
    if sink.langfuse is not None:
        part = sink.langfuse
        return LangfuseSink(endpoint(_basic(part.public_key_env, part.secret_key_env, settings)))
    if sink.phoenix is not None:
        return PhoenixSink(endpoint=endpoint(_bearer(sink.phoenix.api_key_env, settings)))
    part = sink.webhook
    assert part is not None
    return WebhookSink(
        endpoint=endpoint(_from_variables(part.headers_env, settings), may_answer_pages=True),
        secret=lambda: settings.secret(part.secret_env) if part.secret_env else "",
        clock=clock,
    )


def _from_variables(variables: Mapping[str, str], settings: Settings) -> Headers:
    return lambda: {header: settings.secret(variable) for header, variable in variables.items()}


def _bearer(variable: str, settings: Settings) -> Headers:
    return lambda: {"Authorization": f"Bearer {settings.secret(variable)}"} if variable else {}


def _basic(user: str, password: str, settings: Settings) -> Headers:
    def headers() -> Mapping[str, str]:
        pair = f"{settings.secret(user)}:{settings.secret(password)}"
        return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}

    return headers
