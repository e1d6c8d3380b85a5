"""What a run of a project may call, and which credentials go there: the named judges and targets, the grants, the fence.

Its own module because it is asked twice, when a run is accepted and when its parts are made, and must say the same. What
always holds: a specification that passed names no credential that its project was not granted for the very host that it
would be sent to, also where the credential is the provider's usual one that nobody wrote down.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from evalsi.core.address_fence import AddressFence, host_of
from evalsi.core.errors import CredentialDeniedError, InvalidSpecError, UnknownNameError
from evalsi.schema import JudgeSpec, RunSpec, Target

USUAL_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai-compatible": "OPENAI_API_KEY"}
USUAL_HOSTS = {"anthropic": "api.anthropic.com", "openai-compatible": "api.openai.com"}
_HOST_OF_VARIABLE = {variable: USUAL_HOSTS[provider] for provider, variable in USUAL_VARIABLES.items()}
_USUAL_PROVIDER = "openai-compatible"


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A credential that specs of a project may name.

    Args:
        variable: Name of the environment variable that holds it.
        hosts: Where it may be sent, with `*.example.com` for everything below one; empty for the provider's own host.
        allow_http: Whether it may travel unencrypted.
    """

    variable: str
    hosts: tuple[str, ...] = ()
    allow_http: bool = False

    def covers(self, host: str) -> bool:
        hosts = self.hosts or (_HOST_OF_VARIABLE.get(self.variable, ""),)
        return AddressFence(allow_hosts=frozenset(hosts)).allows_host(host)


@dataclass(frozen=True, kw_only=True)
class OutgoingRights:
    """The rights of one project.

    Args:
        judges: Judges of the server that it may name.
        targets: Targets of the server that it may name.
        sinks: Sinks of the server that its policies and runs may name.
        grants: Credentials that its specs may name.
        enforce: Whether others are refused.
        fence: Where addresses of its specs may lead.
    """

    judges: Mapping[str, JudgeSpec] = field(default_factory=dict[str, JudgeSpec])
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    sinks: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    enforce: bool = True
    fence: AddressFence = field(default_factory=AddressFence)

    def variables(self) -> frozenset[str]:
        """Every environment variable that a run of the project may need."""
        named = [grant.variable for grant in self.grants]
        for target in self.targets.values():
            named += [_variable(target.api_key_env, target.connector), *target.headers_env.values()]
        named += [_variable(judge.api_key_env, judge.provider or _USUAL_PROVIDER) for judge in self.judges.values()]
        return frozenset(name for name in named if name)

    def may_send(self, variable: str, url: str) -> bool:
        """Whether a provider's usual credential may go to an address of a specification that names no credential.

        It may where it is granted for the host, and where a judge or target of the server has it sent there. A run sees the
        variable as soon as any judge of the server needs it, so that seeing it decides nothing.
        """
        if not self.enforce:
            return True
        call = _Call("base_url", url, ())
        granted = [grant for grant in _granted(variable, self) if grant.covers(call.host)]
        if granted and (call.is_encrypted or any(grant.allow_http for grant in granted)):
            return True
        own = [(_variable(each.api_key_env, each.connector), each.base_url) for each in self.targets.values()]
        own += [
            (_variable(each.api_key_env, each.provider or _USUAL_PROVIDER), each.base_url)
            for each in self.judges.values()
        ]
        return (variable, url) in own


def with_named_parts(spec: RunSpec, rights: OutgoingRights) -> RunSpec:
    """The specification with the server's judges and targets in place of their names, everything else checked.

    Raises:
        ForbiddenError: A credential is not granted to the project, or not for the host it would be sent to.
        InvalidSpecError: An address is beyond the fence.
        UnknownNameError: A judge, target or sink is named that the project has not.
    """
    for place, sink in enumerate(spec.sinks):
        if sink.name and sink.name not in rights.sinks:
            raise UnknownNameError("sink", sink.name, rights.sinks, where=f"spec.sinks[{place}].name")
    for call in _calls_of(spec):
        _check_call(call, rights)
    wanted = {name for name in (spec.judge, *(each.judge for each in spec.evaluators)) if name}
    judges = dict(spec.judges)
    for name in sorted(wanted - judges.keys()):
        judge = rights.judges.get(name)
        if judge is None:
            raise UnknownNameError("judge", name, {*spec.judges, *rights.judges}, where="spec.judge")
        judges[name] = judge
    target = spec.target and _named_target(spec.target, rights, "spec.target")
    return msgspec.structs.replace(spec, judges=judges, target=target)


def is_named(target: Target) -> bool:
    """Whether a target is one of the server's, named and nothing else said about how to reach it."""
    ways = (
        target.connector,
        target.model,
        target.base_url,
        target.python,
        target.command,
        target.agent,
        target.api_key_env,
    )
    return bool(target.name) and not any(ways) and not target.headers_env


@dataclass(frozen=True)
class _Call:
    """An address in a specification and the credentials that would go there."""

    where: str
    url: str
    variables: tuple[tuple[str, str], ...]
    """Field path and name of each variable that is written down."""
    provider: str = ""
    """Whose own address it is where `url` is empty."""
    usual: str = ""
    """The variable that is used because none is written down."""

    @property
    def host(self) -> str:
        return host_of(self.url, where=self.where) if self.url else USUAL_HOSTS.get(self.provider, "")

    @property
    def is_encrypted(self) -> bool:
        return not self.url or urlsplit(self.url).scheme == "https"


def _calls_of(spec: RunSpec) -> Iterator[_Call]:
    if spec.target is not None:
        yield from _calls_of_target(spec.target, "spec.target")
    for name, judge in spec.judges.items():
        if judge.provider != "recorded":
            yield _call_of_provider(f"spec.judges.{name}", judge.provider, judge.base_url, judge.api_key_env, ())


def _calls_of_target(target: Target, where: str) -> Iterator[_Call]:
    headers = _headers(where, target.headers_env)
    if target.connector in USUAL_VARIABLES:
        yield _call_of_provider(where, target.connector, target.base_url, target.api_key_env, headers)
    agent = target.agent
    if agent is not None:
        for kind, one in (("a2a", agent.a2a), ("mcp", agent.mcp), ("http", agent.http)):
            if one is not None:
                here = f"{where}.agent.{kind}"
                yield _Call(f"{here}.url", one.url, _headers(here, one.headers_env) + headers)
        if agent.responses is not None:
            here, one = f"{where}.agent.responses", agent.responses
            yield _call_of_provider(here, _USUAL_PROVIDER, one.base_url, one.api_key_env, headers)
    for place, fallback in enumerate(target.fallbacks):
        yield from _calls_of_target(fallback, f"{where}.fallbacks[{place}]")


def _headers(where: str, headers_env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{where}.headers_env.{header}", name) for header, name in headers_env.items())


def _call_of_provider(
    where: str, provider: str, url: str, variable: str, headers: tuple[tuple[str, str], ...]
) -> _Call:
    provider = provider or _USUAL_PROVIDER
    written = ((f"{where}.api_key_env", variable),) if variable else ()
    usual = "" if variable else USUAL_VARIABLES.get(provider, "")
    return _Call(f"{where}.base_url", url, written + headers, provider, usual)


def _check_call(call: _Call, rights: OutgoingRights) -> None:
    if call.url:
        # A place of a template may stand in the path of an address, never in its host.
        rights.fence.check_url(call.url, where=call.where)
    if not rights.enforce:
        return
    for where, variable in call.variables:
        _check_credential(variable, call, where, rights)
    if call.usual and (not call.url or _granted(call.usual, rights)):
        # A server of one's own needs no key, and gets none that the project was not granted.
        _check_credential(call.usual, call, call.where, rights)


def _check_credential(variable: str, call: _Call, where: str, rights: OutgoingRights) -> None:
    covering = [grant for grant in _granted(variable, rights) if grant.covers(call.host)]
    if not covering:
        raise CredentialDeniedError(
            f"the credential {variable} is not granted to this project for {call.host}",
            where=where,
            hint="the operator grants it: credentials.grants in evalsi.yaml; or use a judge or target of the server",
        )
    if not call.is_encrypted and not any(grant.allow_http for grant in covering):
        raise InvalidSpecError(
            f"the credential {variable} would travel unencrypted to {call.host}", where=where, hint="write https://"
        )


def _granted(variable: str, rights: OutgoingRights) -> list[Grant]:
    return [grant for grant in rights.grants if grant.variable == variable]


def _named_target(target: Target, rights: OutgoingRights, where: str) -> Target:
    fallbacks = [
        _named_target(each, rights, f"{where}.fallbacks[{place}]") for place, each in enumerate(target.fallbacks)
    ]
    target = msgspec.structs.replace(target, fallbacks=fallbacks)
    if not is_named(target):
        return target
    named = rights.targets.get(target.name)
    if named is None:
        raise UnknownNameError("target", target.name, rights.targets, where=f"{where}.name")
    reaching = {
        name: getattr(named, name)
        for name in ("connector", "base_url", "api_key_env", "headers_env", "timeout")
        if getattr(named, name)
    }
    limits: dict[str, float] = {}
    # Only what is limited is said: a limit of 0 is refused wherever somebody writes one.
    if concurrency := min(filter(None, (target.max_concurrency, named.max_concurrency)), default=0):
        limits["max_concurrency"] = concurrency
    if rate := min(filter(None, (target.requests_per_minute, named.requests_per_minute)), default=0.0):
        limits["requests_per_minute"] = rate
    return msgspec.structs.replace(target, **reaching, **limits, model=named.model)


def _variable(written: str, provider: str) -> str:
    return written or USUAL_VARIABLES.get(provider, "")
