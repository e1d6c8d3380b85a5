"""From the settings of a server to what access needs: the rights of a project, and the keys and bindings of the file.

Its own module because `access` knows no configuration, and a configuration no rules.
"""

import ipaddress
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache, partial

import msgspec

from evalsi.access.caller import EVERY_PROJECT
from evalsi.access.outgoing_rights import Grant, OutgoingRights
from evalsi.access.roles import OWNER
from evalsi.core.address_fence import AddressFence
from evalsi.ports.access_store import StoredKey
from evalsi.schema import APIKey, CredentialGrant, JudgeSpec, RoleBinding, RoleList, Target
from evalsi.schema.json_text import parse_timestamp
from evalsi.settings.server import ConfiguredKey, JudgeSettings, ServerSettings, TargetSettings
from evalsi.settings.server_sinks import sink_address, sinks_for

_PROJECTS_KEPT = 1024


def fence_of(settings: ServerSettings) -> AddressFence:
    """Where addresses in specs may lead."""
    named = (*settings.judges.values(), *settings.targets.values())
    return AddressFence(
        allow_hosts=frozenset(host.lower() for host in settings.outbound.allow_hosts),
        allow_networks=tuple(ipaddress.ip_network(network) for network in settings.outbound.allow_networks),
        allow_urls=frozenset(part.base_url for part in named if part.base_url)
        | {sink_address(sink) for sink in settings.sinks},
    )


def rights_of(settings: ServerSettings, project: str) -> OutgoingRights:
    """What runs of `project` may call."""
    judges = {
        name: _judge(judge)
        for name, judge in settings.judges.items()
        if not judge.projects or project in judge.projects
    }
    return OutgoingRights(
        judges=judges,
        targets={
            name: _target(name, target)
            for name, target in settings.targets.items()
            if not target.projects or project in target.projects
        },
        sinks=sinks_for(settings, project),
        grants=tuple(
            Grant(variable=grant.env, hosts=tuple(host.lower() for host in grant.hosts), allow_http=grant.allow_http)
            for grant in settings.credentials.grants
            if not grant.projects or project in grant.projects
        ),
        enforce=settings.credentials.enforce,
        fence=fence_of(settings),
    )


def rights_by_project(settings: ServerSettings) -> Callable[[str], OutgoingRights]:
    """`rights_of`, worked out once for each project: settings do not change while a server runs, and every call asks."""
    return lru_cache(_PROJECTS_KEPT)(partial(rights_of, settings))


def granted_to(settings: ServerSettings, project: str) -> list[CredentialGrant]:
    """The credentials that specs of `project` may name, as a catalog lists them."""
    return [
        CredentialGrant(env=grant.env, hosts=grant.hosts, allow_http=grant.allow_http, all_projects=not grant.projects)
        for grant in settings.credentials.grants
        if not grant.projects or project in grant.projects
    ]


def environment_of(settings: ServerSettings, project: str, environment: Mapping[str, str]) -> Mapping[str, str]:
    """The variables that runs of `project` may see: granted ones and those of its judges and targets, nothing else."""
    if not settings.credentials.enforce:
        return environment
    allowed = rights_of(settings, project).variables()
    return {name: value for name, value in environment.items() if name in allowed}


def configured_keys(settings: ServerSettings) -> list[StoredKey]:
    """The API keys of the file."""
    return [_key(key) for key in settings.auth.api_keys.keys] if settings.auth else []


def configured_bindings(settings: ServerSettings) -> list[RoleBinding]:
    """The bindings of the file, owners too."""
    owners = [_binding(EVERY_PROJECT, OWNER, subject) for subject in settings.rbac.owners]
    others = [
        _binding(project, role, subject)
        for project, roles in settings.rbac.projects.items()
        for role, subjects in roles.items()
        for subject in subjects
    ]
    return owners + others


def configured_projects(settings: ServerSettings) -> dict[str, str]:
    """Every project that the file names, with what is said about it."""
    named = {project for binding in configured_bindings(settings) if (project := binding.project) != EVERY_PROJECT}
    for stored in configured_keys(settings):
        named |= stored.key.roles.keys() - {EVERY_PROJECT}
    described = {name: project.description for name, project in settings.projects.items()}
    return dict.fromkeys(sorted(named), "") | described


def _key(key: ConfiguredKey) -> StoredKey:
    return StoredKey(
        digest=key.key,
        key=APIKey(
            name=key.name,
            roles={project: RoleList(roles=roles) for project, roles in key.roles.items()},
            labels=key.labels,
            expires_at=parse_timestamp(key.expires_at) if key.expires_at else None,
            created_at=datetime.fromtimestamp(0, UTC),
            source="config",
        ),
    )


def _binding(project: str, role: str, subject: str) -> RoleBinding:
    return RoleBinding(project=project, role=role, subject=subject, source="config")


def _judge(judge: JudgeSettings) -> JudgeSpec:
    spec = JudgeSpec(
        provider=judge.provider,
        model=judge.model,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        effort=judge.effort,
        max_tokens=judge.max_tokens,
        temperature=judge.temperature,
        response_format=judge.response_format,
        timeout=judge.timeout_s or None,
    )
    rate = judge.requests_per_minute
    # A limit of 0 counts as written, and nobody may write that.
    return msgspec.structs.replace(spec, requests_per_minute=rate) if rate else spec


def _target(name: str, target: TargetSettings) -> Target:
    made = Target(
        name=name,
        connector=target.connector,
        model=target.model,
        base_url=target.base_url,
        api_key_env=target.api_key_env,
        headers_env=target.headers_env,
        timeout=target.timeout_s or None,
        max_concurrency=target.max_concurrency,
    )
    rate = target.requests_per_minute
    return msgspec.structs.replace(made, requests_per_minute=rate) if rate else made
