"""The built-in roles: names for sets of permissions, each containing the one before it where that is natural.

Custom roles and conditions are no part of this version; a role is looked up in one place, `permissions_of`, which is
where they would join.
"""

from collections.abc import Iterable, Mapping

import msgspec

from evalsi.access.caller import ANY_PERMISSION
from evalsi.core.errors import UnknownNameError


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of permissions."""

    name: str
    description: str
    permissions: tuple[str, ...]
    """Its own; those of `inherits` come on top."""
    inherits: tuple[str, ...] = ()


ROLES: tuple[Role, ...] = (
    Role(
        name="viewer",
        description="Reads everything but access and audit",
        permissions=(
            "catalog.read",
            "runs.read",
            "policies.read",
            "traces.read",
            "failures.read",
            "datasets.read",
            "releases.read",
            "annotations.read",
            "guardrails.read",
        ),
    ),
    Role(
        name="runner",
        description="Scores records and starts, cancels and resumes runs",
        permissions=(
            "evaluations.run",
            "runs.create",
            "runs.cancel",
            "runs.resume",
            "releases.create",
            "guardrails.check",
            "mcp.tools.call",
        ),
        inherits=("viewer",),
    ),
    Role(
        name="editor",
        description="Writes datasets, policies, guardrails and annotations",
        permissions=(
            "policies.write",
            "guardrails.write",
            "datasets.write",
            "annotations.manage",
            "annotations.write",
            "failures.write",
            "failures.review",
        ),
        inherits=("runner",),
    ),
    Role(
        name="admin",
        description="Manages a project: access, audit, webhooks, sources, deletion",
        permissions=(
            "access.manage",
            "audit.read",
            "webhooks.read",
            "webhooks.write",
            "sources.read",
            "sources.write",
            "runs.delete",
            "failures.delete",
            "datasets.review",
        ),
        inherits=("editor",),
    ),
    Role(name="annotator", description="Annotates", permissions=("annotations.read", "annotations.write")),
    Role(name="ingest", description="Sends traces and nothing else", permissions=("traces.write",)),
    Role(name="guard", description="Asks guardrails and nothing else", permissions=("guardrails.check",)),
    Role(name="owner", description="May do everything", permissions=(ANY_PERMISSION,)),
)

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
