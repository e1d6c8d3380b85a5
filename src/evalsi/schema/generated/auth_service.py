# Generated from proto/evalsi/v1alpha1/auth_service.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Who may do what: principals, projects, keys, roles, and the log of what was tried."""

from __future__ import annotations

import msgspec

from evalsi.schema.scalar_types import Int32, Int64, Seconds, Timestamp

__all__ = [
    "APIKey",
    "AuditEvent",
    "CreateAPIKeyRequest",
    "CreateAPIKeyResponse",
    "CreateBindingRequest",
    "CreateBindingResponse",
    "CreateProjectRequest",
    "CreateProjectResponse",
    "CreateRoleRequest",
    "CreateRoleResponse",
    "DeleteBindingRequest",
    "DeleteBindingResponse",
    "DeleteRoleRequest",
    "DeleteRoleResponse",
    "ListAPIKeysRequest",
    "ListAPIKeysResponse",
    "ListAuditEventsRequest",
    "ListAuditEventsResponse",
    "ListBindingsRequest",
    "ListBindingsResponse",
    "ListPermissionsRequest",
    "ListPermissionsResponse",
    "ListProjectsRequest",
    "ListProjectsResponse",
    "ListRolesRequest",
    "ListRolesResponse",
    "Permission",
    "Principal",
    "Project",
    "ProjectAccess",
    "RevokeAPIKeyRequest",
    "RevokeAPIKeyResponse",
    "Role",
    "RoleBinding",
    "RoleList",
    "UpdateRoleRequest",
    "UpdateRoleResponse",
    "VerifyAuditLogRequest",
    "VerifyAuditLogResponse",
    "WhoAmIRequest",
    "WhoAmIResponse",
]


class Principal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Somebody, or something, that calls."""

    kind: str = ""
    """What it is: "user", "key" or "anonymous"."""
    provider: str = ""
    """Who vouched for it."""
    subject: str = ""
    """How bindings name it, for example "key:ci"."""
    name: str = ""
    """Its name for people."""
    email: str = ""
    """Its address, where it is known."""
    groups: list[str] = []
    """Groups it is in."""
    method: str = ""
    """How it showed who it is: "apikey", "oidc" or "none"."""
    id: str = ""
    """Its identifier, the same for ever."""
    labels: dict[str, str] = {}
    """What else is known of it."""


class ProjectAccess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What somebody may do in a project."""

    project: str = ""
    """The project; "*" for every one."""
    roles: list[str] = []
    """Roles held there."""
    permissions: list[str] = []
    """What the roles allow, all together."""


class WhoAmIRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks who is calling."""


class WhoAmIResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Who is calling."""

    principal: Principal | None = None
    """The caller."""
    owner: bool = False
    """True when the caller may do everything everywhere."""
    access: list[ProjectAccess] = []
    """What the caller may do, by project."""
    auth_enabled: bool = False
    """True when the server asks callers who they are."""


class Project(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A project: runs, datasets and keys that belong together, unseen from others."""

    name: str = ""
    """Its name: lower-case letters, digits and dashes, at most 63."""
    description: str = ""
    """What it is for, in a sentence for people."""
    source: str = ""
    """Where it was made: "config" or "api"."""
    created_at: Timestamp | None = None
    """When it was made."""
    created_by: str = ""
    """Who made it."""


class ListProjectsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for projects."""


class ListProjectsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The projects."""

    projects: list[Project] = []
    """The projects, by name."""


class CreateProjectRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A project to make."""

    name: str = ""
    """Its name: lower-case letters, digits and dashes, at most 63."""
    description: str = ""
    """What it is for, in a sentence for people."""


class CreateProjectResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The project that was made."""

    project: Project | None = None
    """The project."""


class RoleList(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Names of roles."""

    roles: list[str] = []
    """The names."""


class APIKey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A key, without its secret."""

    name: str = ""
    """Its name."""
    roles: dict[str, RoleList] = {}
    """Roles it has, by project; "*" stands for every project."""
    labels: dict[str, str] = {}
    """What else is known of it."""
    created_at: Timestamp | None = None
    """When it was made."""
    expires_at: Timestamp | None = None
    """When it becomes worthless; absent for never."""
    last_used_at: Timestamp | None = None
    """When it was last used, to the minute; absent when it never was."""
    created_by: str = ""
    """Who made it."""
    source: str = ""
    """Where it was made: "config" or "api"."""
    prefix: str = ""
    """How its secret begins, to tell keys apart."""
    revoked: bool = False
    """True when it was made worthless."""


class CreateAPIKeyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A key to make."""

    name: str = ""
    """Its name: lower-case letters, digits and dashes, at most 63."""
    roles: dict[str, RoleList] = {}
    """Roles it is to have, by project; "*" stands for every project."""
    labels: dict[str, str] = {}
    """What else is to be known of it."""
    ttl: Seconds | None = None
    """How long it is to be good for; absent for ever. In seconds."""


class CreateAPIKeyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The key that was made."""

    key: APIKey | None = None
    """The key."""
    secret: str = ""
    """Its secret. It is not stored; this is the only time it is shown."""


class ListAPIKeysRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for keys."""

    project: str = ""
    """Project they have roles in; empty for all the caller may manage."""


class ListAPIKeysResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The keys."""

    keys: list[APIKey] = []
    """The keys, by name."""


class RevokeAPIKeyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to make a key worthless."""

    name: str = ""
    """Its name."""


class RevokeAPIKeyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The key is worthless."""


class Role(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A set of permissions with a name."""

    name: str = ""
    """Its name."""
    project: str = ""
    """Project it is made for; empty for all."""
    description: str = ""
    """What it is for, in a sentence for people."""
    permissions: list[str] = []
    """What it allows."""
    inherits: list[str] = []
    """Roles whose permissions it has too."""
    condition: str = ""
    """Condition in CEL that a call must meet; empty for none."""
    source: str = ""
    """Where it was made: "builtin", "config" or "api"."""


class ListRolesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for roles."""

    project: str = ""
    """Project they can be given in; empty for those of all projects."""


class ListRolesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The roles."""

    roles: list[Role] = []
    """The roles, by name."""


class CreateRoleRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A role to make."""

    role: Role | None = None
    """The role."""


class CreateRoleResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The role that was made."""

    role: Role | None = None
    """The role."""


class UpdateRoleRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A role to change."""

    role: Role | None = None
    """The role."""


class UpdateRoleResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The role after the change."""

    role: Role | None = None
    """The role."""


class DeleteRoleRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A role to remove."""

    name: str = ""
    """Its name."""
    project: str = ""
    """Project it is made for; empty for all."""


class DeleteRoleResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The role is gone."""


class Permission(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Something a role can allow."""

    name: str = ""
    """Its name, for example "runs.create"."""
    description: str = ""
    """What it lets a caller do."""
    install_wide: bool = False
    """True when it concerns the whole server rather than a project."""


class ListPermissionsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for permissions."""


class ListPermissionsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The permissions."""

    permissions: list[Permission] = []
    """The permissions, by name."""


class RoleBinding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Somebody has a role somewhere."""

    project: str = ""
    """The project; "*" for every one."""
    role: str = ""
    """Name of the role."""
    subject: str = ""
    """Who has it, for example "key:ci"."""
    source: str = ""
    """Where it was made: "config" or "api"."""
    created_at: Timestamp | None = None
    """When it was made."""
    created_by: str = ""
    """Who made it."""


class ListBindingsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for bindings."""

    project: str = ""
    """The project; empty for all the caller may manage."""


class ListBindingsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The bindings."""

    bindings: list[RoleBinding] = []
    """The bindings."""


class CreateBindingRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A role to give."""

    binding: RoleBinding | None = None
    """The binding."""


class CreateBindingResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The role that was given."""

    binding: RoleBinding | None = None
    """The binding."""


class DeleteBindingRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A role to take."""

    binding: RoleBinding | None = None
    """The binding: its project, role and subject."""


class DeleteBindingResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The role is taken."""


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A call that was denied, or that changed something."""

    id: Int64 = 0
    """Its identifier."""
    time: Timestamp | None = None
    """When it came."""
    principal: str = ""
    """Who called."""
    action: str = ""
    """What was tried, for example "runs.create"."""
    project: str = ""
    """Where."""
    resource: str = ""
    """On what."""
    allowed: bool = False
    """True when it was allowed."""
    reason: str = ""
    """Why it was not."""
    procedure: str = ""
    """Method that was called, for example "/evalsi.v1alpha1.RunService/CreateRun"."""
    request_id: str = ""
    """Identifier of the request, as in logs and answers."""
    source: str = ""
    """Address it came from."""
    detail: str = ""
    """What else is worth knowing."""
    auth_method: str = ""
    """How the caller showed who it is."""
    issuer: str = ""
    """Who vouched for the caller."""
    token_id: str = ""
    """Identifier of the caller's token."""
    key_id: str = ""
    """Identifier of the key that signed the token."""
    api_key: str = ""
    """Name of the caller's key."""
    cert_fingerprint: str = ""
    """Digest of the caller's certificate."""
    groups: list[str] = []
    """Groups the caller is in."""
    subject: str = ""
    """How bindings name the caller."""
    actor: str = ""
    """Who acted in the caller's name."""
    sequence: Int64 = 0
    """Its number in the chain."""
    prev_hash: str = ""
    """Digest of the event before."""
    hash: str = ""
    """Digest of this event and the one before."""


class VerifyAuditLogRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to check the log."""


class VerifyAuditLogResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Whether the log is whole."""

    ok: bool = False
    """True when it is."""
    checked: Int64 = 0
    """Events that were looked at."""
    first_sequence: Int64 = 0
    """Number of the first."""
    last_sequence: Int64 = 0
    """Number of the last."""
    last_hash: str = ""
    """Digest of the last."""
    break_sequence: Int64 = 0
    """Number of the first event that does not fit; 0 when all fit."""
    problem: str = ""
    """What is wrong with it."""
    unchained: Int64 = 0
    """Events from before there was a chain."""


class ListAuditEventsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for events. Of several filters all must hold."""

    project: str = ""
    """Project; empty for all the caller may read."""
    page_size: Int32 = 0
    """Most events in one answer; 0 for 50."""
    page_token: str = ""
    """What the answer before gave as its `next_page_token`; empty for the first page."""
    action: str = ""
    """What was tried; empty for anything."""
    denied_only: bool = False
    """Only what was denied."""


class ListAuditEventsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A page of events."""

    events: list[AuditEvent] = []
    """The events, the newest first."""
    next_page_token: str = ""
    """What to ask the next page with; empty on the last."""
