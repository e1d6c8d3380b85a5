"""AuthService: who is calling, projects, API keys, bindings of built-in roles, and the audit log.

The guard has admitted a call before it comes here; what is left to ask the gate is what only the content tells: that
nobody gives more than they have, and that lists show what the caller may see. What always holds: a key leaves the server
once, in the answer that made it.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import msgspec

from evalsi.access.audit_chain import verify
from evalsi.access.caller import EVERY_PROJECT, Caller
from evalsi.access.gate import DEFAULT_PROJECT, require_nothing_more, visible_projects
from evalsi.access.guard import no_key
from evalsi.access.key_making import checked_name, checked_text, made_key
from evalsi.access.permissions import PERMISSIONS
from evalsi.access.roles import ROLES, permissions_of, role_named
from evalsi.core.clock import Clock
from evalsi.core.errors import InvalidParamsError, NotFoundError, UnimplementedError, UsageError
from evalsi.ports.access_store import AccessStore, AuditFilter, StoredKey
from evalsi.schema import (
    APIKey,
    AuditEvent,
    CreateAPIKeyRequest,
    CreateAPIKeyResponse,
    CreateBindingRequest,
    CreateBindingResponse,
    CreateProjectRequest,
    CreateProjectResponse,
    CreateRoleRequest,
    CreateRoleResponse,
    DeleteBindingRequest,
    DeleteBindingResponse,
    DeleteRoleRequest,
    DeleteRoleResponse,
    ListAPIKeysRequest,
    ListAPIKeysResponse,
    ListAuditEventsRequest,
    ListAuditEventsResponse,
    ListBindingsRequest,
    ListBindingsResponse,
    ListPermissionsRequest,
    ListPermissionsResponse,
    ListProjectsRequest,
    ListProjectsResponse,
    ListRolesRequest,
    ListRolesResponse,
    Principal,
    Project,
    ProjectAccess,
    RevokeAPIKeyRequest,
    RevokeAPIKeyResponse,
    RoleBinding,
    UpdateRoleRequest,
    UpdateRoleResponse,
    VerifyAuditLogRequest,
    VerifyAuditLogResponse,
    WhoAmIRequest,
    WhoAmIResponse,
)

_PAGE, _LARGEST_PAGE = 50, 1000
_VERIFIED_AT_ONCE = 1000
_KINDS_TO_COME = ("user:", "email:", "group:", "cel:")


class AuthService:
    """Implements the service of that name.

    Args:
        store: Where projects, keys, bindings and the log are.
        clock: Of the server.
        on_change: Called after keys or bindings changed, so that whoever keeps what it read forgets it.
        configured_keys: Keys of the configuration file; they are listed, and changed there alone.
        configured_bindings: Bindings of the configuration file.
    """

    service = "AuthService"

    def __init__(
        self,
        store: AccessStore,
        clock: Clock,
        on_change: Callable[[], None],
        configured_keys: Sequence[StoredKey] = (),
        configured_bindings: Sequence[RoleBinding] = (),
    ) -> None:
        self._store = store
        self._clock = clock
        self._on_change = on_change
        self._configured_keys = tuple(configured_keys)
        self._configured_bindings = tuple(configured_bindings)

    async def who_am_i(self, request: WhoAmIRequest, caller: Caller) -> WhoAmIResponse:
        asked = caller.method != "none"
        principal = Principal(
            kind="key" if caller.key_name else "anonymous",
            provider="evalsi",
            subject=caller.principal,
            name=caller.key_name or caller.principal,
            method=caller.method,
            id=caller.principal,
        )
        access = [
            ProjectAccess(
                project=project, roles=list(caller.roles.get(project, ())), permissions=_spelled_out(permissions)
            )
            for project, permissions in sorted(caller.grants.items())
        ]
        return WhoAmIResponse(principal=principal, owner=caller.is_owner, access=access, auth_enabled=asked)

    async def list_projects(self, request: ListProjectsRequest, caller: Caller) -> ListProjectsResponse:
        projects = await asyncio.to_thread(self._store.projects)
        if EVERY_PROJECT not in caller.grants:
            projects = [project for project in projects if project.name in caller.grants]
        return ListProjectsResponse(projects=projects)

    async def create_project(self, request: CreateProjectRequest, caller: Caller) -> CreateProjectResponse:
        project = Project(
            name=checked_name(request.name),
            description=checked_text(request.description, "description"),
            source="api",
            created_at=self._clock.now(),
            created_by=caller.principal,
        )
        await asyncio.to_thread(self._store.add_project, project)
        return CreateProjectResponse(project=project)

    async def create_api_key(self, request: CreateAPIKeyRequest, caller: Caller) -> CreateAPIKeyResponse:
        made = made_key(request, self._clock.now(), caller.principal)
        key = made.stored.key
        for project, listed in key.roles.items():
            require_nothing_more(caller, permissions_of(listed.roles), project)
        if any(stored.key.name == key.name for stored in self._configured_keys):
            raise UsageError(
                f"there is a key {key.name!r} in the configuration file already", hint="choose another name"
            )
        await asyncio.to_thread(self._store.add_key, made.stored)
        self._on_change()
        return CreateAPIKeyResponse(key=key, secret=made.text)

    async def list_api_keys(self, request: ListAPIKeysRequest, caller: Caller) -> ListAPIKeysResponse:
        stored = [*self._configured_keys, *await asyncio.to_thread(self._store.api_keys)]
        visible = visible_projects(caller, "access.manage")
        shown = (_as_seen(each.key, visible) for each in stored)
        wanted = {request.project, EVERY_PROJECT} if request.project else None
        keys = [key for key in shown if key.roles and (wanted is None or wanted & key.roles.keys())]
        return ListAPIKeysResponse(keys=sorted(keys, key=lambda key: key.name))

    async def revoke_api_key(self, request: RevokeAPIKeyRequest, caller: Caller) -> RevokeAPIKeyResponse:
        if any(stored.key.name == request.name for stored in self._configured_keys):
            raise UsageError(f"the key {request.name!r} is in the configuration file", hint="remove it there")
        try:
            await asyncio.to_thread(lambda: self._store.revoke_key(request.name, at=self._clock.now()))
        except NotFoundError:  # its hint names other keys
            raise no_key(request.name) from None
        self._on_change()
        return RevokeAPIKeyResponse()

    async def list_roles(self, request: ListRolesRequest, caller: Caller) -> ListRolesResponse:
        return ListRolesResponse(roles=list(ROLES))

    async def create_role(self, request: CreateRoleRequest, caller: Caller) -> CreateRoleResponse:
        raise _no_custom_roles()

    async def update_role(self, request: UpdateRoleRequest, caller: Caller) -> UpdateRoleResponse:
        raise _no_custom_roles()

    async def delete_role(self, request: DeleteRoleRequest, caller: Caller) -> DeleteRoleResponse:
        raise _no_custom_roles()

    async def list_permissions(self, request: ListPermissionsRequest, caller: Caller) -> ListPermissionsResponse:
        return ListPermissionsResponse(permissions=sorted(PERMISSIONS, key=lambda permission: permission.name))

    async def list_bindings(self, request: ListBindingsRequest, caller: Caller) -> ListBindingsResponse:
        bindings = [*self._configured_bindings, *await asyncio.to_thread(self._store.bindings)]
        visible = visible_projects(caller, "access.manage")
        shown = [
            binding
            for binding in bindings
            if (visible is None or binding.project in visible or binding.project == EVERY_PROJECT)
            and (not request.project or binding.project in (request.project, EVERY_PROJECT))
        ]
        return ListBindingsResponse(bindings=shown)

    async def create_binding(self, request: CreateBindingRequest, caller: Caller) -> CreateBindingResponse:
        asked = request.binding or RoleBinding()
        role = role_named(asked.role, where="binding.role")
        project = asked.project or DEFAULT_PROJECT
        require_nothing_more(caller, permissions_of([role.name]), project)
        await self._check_subject(asked.subject)
        binding = RoleBinding(
            project=project,
            role=role.name,
            subject=asked.subject,
            source="api",
            created_at=self._clock.now(),
            created_by=caller.principal,
        )
        kept = await asyncio.to_thread(self._store.add_binding, binding)
        self._on_change()
        return CreateBindingResponse(binding=kept)

    async def delete_binding(self, request: DeleteBindingRequest, caller: Caller) -> DeleteBindingResponse:
        asked = request.binding or RoleBinding()
        project = asked.project or DEFAULT_PROJECT
        place = (project, asked.role, asked.subject)
        if any((each.project, each.role, each.subject) == place for each in self._configured_bindings):
            raise UsageError("this binding is in the configuration file", hint="remove it there")
        await asyncio.to_thread(self._store.remove_binding, *place)
        self._on_change()
        return DeleteBindingResponse()

    async def list_audit_events(self, request: ListAuditEventsRequest, caller: Caller) -> ListAuditEventsResponse:
        projects = frozenset({request.project}) if request.project else visible_projects(caller, "audit.read")
        wanted = AuditFilter(projects=projects, action=request.action, denied_only=request.denied_only)
        if request.page_size < 0:
            raise InvalidParamsError(f"must be 0 or more, not {request.page_size}", where="page_size")
        limit = min(request.page_size or _PAGE, _LARGEST_PAGE)
        before = _sequence_of(request.page_token)
        events = await asyncio.to_thread(lambda: self._store.audit_page(wanted, before=before, limit=limit + 1))
        more = len(events) > limit
        return ListAuditEventsResponse(
            events=events[:limit], next_page_token=str(events[limit - 1].sequence) if more else ""
        )

    async def verify_audit_log(self, request: VerifyAuditLogRequest, caller: Caller) -> VerifyAuditLogResponse:
        return await asyncio.to_thread(self._verify)

    def _verify(self) -> VerifyAuditLogResponse:
        # Entries that are written meanwhile come after this head and are left out.
        head = self._store.audit_head()
        return verify(_up_to(self._store, head.base_sequence, head.last_sequence), head)

    async def _check_subject(self, subject: str) -> None:
        kind, _, name = subject.partition(":")
        if subject.startswith(_KINDS_TO_COME):
            raise UnimplementedError(f"subjects of the kind {kind!r} are not served", hint="bind a key: key:<name>")
        if kind != "key" or not name:
            raise InvalidParamsError(
                f"{subject!r} is no subject", where="binding.subject", hint="write it as key:<name>"
            )
        stored = [*self._configured_keys, *await asyncio.to_thread(self._store.api_keys)]
        if not any(each.key.name == name and not each.key.revoked for each in stored):
            raise no_key(name)


def _up_to(store: AccessStore, after: int, last: int) -> Iterator[AuditEvent]:
    while after < last:
        events = store.audit_from(after, limit=min(_VERIFIED_AT_ONCE, last - after))
        for event in events:
            if event.sequence > last:
                return
            yield event
        if not events:
            return
        after = events[-1].sequence


def _as_seen(key: APIKey, visible: frozenset[str] | None) -> APIKey:
    """The key with those of its roles that concern the projects a caller manages."""
    if visible is None:
        return key
    roles = {name: listed for name, listed in key.roles.items() if name in visible or name == EVERY_PROJECT}
    return msgspec.structs.replace(key, roles=roles)


def _spelled_out(permissions: frozenset[str]) -> list[str]:
    if "*" in permissions:
        return [permission.name for permission in PERMISSIONS]
    return sorted(permissions)


def _sequence_of(page_token: str) -> int | None:
    if not page_token:
        return None
    if not page_token.isascii() or not page_token.isdecimal() or len(page_token) > 18:
        raise InvalidParamsError("is no token of a page", where="page_token", hint="take it from the page before")
    return int(page_token)


def _no_custom_roles() -> UnimplementedError:
    names = ", ".join(role.name for role in ROLES)
    return UnimplementedError("custom roles are not served", hint=f"bind one of the built-in roles: {names}")
