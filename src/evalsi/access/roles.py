"""The built-in roles: names for sets of permissions, each containing the one before it where that is natural.

Custom roles and conditions are no part of this version; a role is looked up in one place, `permissions_of`, which is
where they would join.
"""

from collections.abc import Iterable, Mapping

from evalsi.access.caller import ANY_PERMISSION
from evalsi.core.errors import UnknownNameError
from evalsi.schema import Role


def _role(name: str, description: str, *permissions: str, inherits: str = "") -> Role:
    return Role(
        name=name,
        description=description,
        permissions=list(permissions),
        inherits=[inherits] if inherits else [],
        source="builtin",
    )


ROLES: tuple[Role, ...] = (
    _role(
        "viewer",
        "Reads everything but access and audit",
        *("catalog.read", "runs.read", "policies.read", "traces.read", "failures.read"),
        *("datasets.read", "releases.read", "annotations.read", "guardrails.read"),
    ),
    _role(
        "runner",
        "Scores records and starts, cancels and resumes runs",
        *("evaluations.run", "runs.create", "runs.cancel", "runs.resume"),
        *("releases.create", "guardrails.check", "mcp.tools.call"),
        inherits="viewer",
    ),
    _role(
        "editor",
        "Writes datasets, policies, guardrails and annotations",
        *("policies.write", "guardrails.write", "datasets.write", "annotations.manage", "annotations.write"),
        *("failures.write", "failures.review"),
        inherits="runner",
    ),
    _role(
        "admin",
        "Manages a project: access, audit, webhooks, sources, deletion",
        *("access.manage", "audit.read", "webhooks.read", "webhooks.write", "sources.read", "sources.write"),
        *("runs.delete", "traces.delete", "failures.delete", "datasets.review"),
        inherits="editor",
    ),
    _role("annotator", "Annotates", "annotations.read", "annotations.write"),
    _role("ingest", "Sends traces and nothing else", "traces.write"),
    _role("guard", "Asks guardrails and nothing else", "guardrails.check"),
    _role("monitor", "Reads the server's metrics and nothing else", "metrics.read"),
    _role("owner", "May do everything", ANY_PERMISSION),
)
"""In the order in which they are listed."""

_BY_NAME = {role.name: role for role in ROLES}
OWNER = "owner"


def role_named(name: str, *, where: str | None = None) -> Role:
    """Raises: UnknownNameError: there is no such role."""
    role = _BY_NAME.get(name)
    if role is None:
        raise UnknownNameError("role", name, _BY_NAME, where=where)
    return role


def permissions_of(roles: Iterable[str]) -> frozenset[str]:
    """Everything that the named roles allow together.

    Raises: UnknownNameError: there is no such role.
    """
    found: set[str] = set()
    for name in roles:
        role = role_named(name)
        found.update(role.permissions)
        found |= permissions_of(role.inherits)
    return frozenset(found)


def grants_of(roles: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Permissions by project, from roles by project."""
    return {project: permissions_of(names) for project, names in roles.items()}
