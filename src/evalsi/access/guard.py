"""What stands before every service method: finds the project of a call, asks the gate, writes the audit log.

Its own module because faces call it and nothing else of this package. What always holds: a call that is to be in the audit
log is in it before it happens (where the log cannot be written, the call is not made), and a run or key that the caller may
not know of is answered like one that is not there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from evalsi.access.actions import Action, Scope, is_audited, rule_of
from evalsi.access.audit_chain import sealed
from evalsi.access.caller import EVERY_PROJECT, Caller
from evalsi.access.gate import DEFAULT_PROJECT, require, visible_projects
from evalsi.access.key_making import checked_name
from evalsi.core.clock import Clock
from evalsi.core.errors import AlreadyExistsError, ForbiddenError, NotFoundError, suggestion
from evalsi.ports.access_store import AccessStore
from evalsi.schema import AuditEvent, Project
from evalsi.schema.method import Method

ProjectOfRun = Callable[[str], Awaitable[str | None]]
"""The project of a run, by its id; None when there is no such run."""

TRAFFIC_PERMISSION = "traces.write"
"""What sending traces needs."""
TRAFFIC_PROCEDURE = "opentelemetry.proto.collector.trace.v1.TraceService/Export"
_LONGEST_RESOURCE = 200


class _Place(NamedTuple):
    """A project that a call reaches into, and the run that it does so for."""

    project: str
    run: str = ""


class _Deed(NamedTuple):
    """What a call does, for the audit log."""

    permission: str
    procedure: str
    resource: str


class Guard:
    """Admits calls. Any task of the event loop may use it."""

    def __init__(self, store: AccessStore, clock: Clock, project_of_run: ProjectOfRun) -> None:
        self._store = store
        self._clock = clock
        self._project_of_run = project_of_run
        self._projects: frozenset[str] = frozenset({DEFAULT_PROJECT})
        """Names that are known to exist; a name is looked up again before it is refused."""
        self.audit_write_failures = 0
        """Entries of the audit log that could not be written; their calls were not made."""

    async def admit(self, caller: Caller, method: str, request: Any, *, again: bool = False) -> None:
        """Returns when `caller` may call `method` with `request`.

        Args:
            method: Its name in the action table, such as `RunService.GetRun`.
            request: The request message; of a stream from the client, the `config` in its first.
            again: The call was admitted before and is under way: it is in the audit log already.

        Raises:
            ForbiddenError: It may not; the refusal is in the audit log.
            NotFoundError: The project or run is not there, or the caller may read nothing where the run is.
            UnimplementedError: Nobody may: the method is not in the action table.
            StoreError: The call must be in the audit log, and that cannot be written.
        """
        entry, action = rule_of(method)
        places = await self._places_of(action, request)
        for place in places:
            try:
                _check(caller, entry.action, action.scope, place.project)
            except ForbiddenError as refusal:
                await self._note(caller, entry, action, request, places, refusal=refusal)
                if place.run and not caller.has("runs.read", place.project):
                    raise _no_run(place.run) from None
                if action.scope is Scope.KEY and not any(caller.has(entry.action, each.project) for each in places):
                    raise no_key(_resource_of(action, request)) from None
                raise
        if action.scope in (Scope.NAMED, Scope.VISIBLE):
            await self._find(caller, [place.project for place in places], make=is_audited(entry, action))
        if is_audited(entry, action) and not again:
            await self._note(caller, entry, action, request, places)

    async def admit_traffic(self, caller: Caller, project: str) -> None:
        """Returns when `caller` may send traces to `project`, which OTLP names beside the messages of the schema.

        Raises: as `admit`; InvalidParamsError: the project would have to be made, and its name is none.
        """
        try:
            require(caller, TRAFFIC_PERMISSION, project)
        except ForbiddenError as refusal:
            await self._write(caller, _Deed(TRAFFIC_PERMISSION, TRAFFIC_PROCEDURE, ""), [_Place(project)], refusal)
            raise
        await self._find(caller, [project], make=True)

    def lets_traffic_in(self, caller: Caller, project: str) -> bool:
        """Whether `admit_traffic` would return, as far as that is known without waiting: then it need not be asked."""
        return project in self._projects and caller.has(TRAFFIC_PERMISSION, project)

    async def _places_of(self, action: Action, request: Any) -> list[_Place]:
        named = [_Place(name) for name in _project_names(action, request)]
        match action.scope:
            case Scope.NAMED:
                return named or [_Place(DEFAULT_PROJECT)]
            case Scope.RUNS:
                runs = [await self._place_of(run) for run in _runs_of(action, request)]
                return runs or named or [_Place(DEFAULT_PROJECT)]
            case Scope.VISIBLE:
                return named or [_Place(EVERY_PROJECT)]
            case Scope.KEY:
                name = _resource_of(action, request)
                return [_Place(project) for project in await asyncio.to_thread(self._projects_of_key, name)]
            case Scope.INSTALLATION | Scope.EVERYBODY:
                return [_Place(EVERY_PROJECT)]

    async def _place_of(self, run: str) -> _Place:
        project = await self._project_of_run(run)
        if project is None:
            raise _no_run(run)
        return _Place(project, run)

    def _projects_of_key(self, name: str) -> list[str]:
        own = [project for stored in self._store.api_keys() if stored.key.name == name for project in stored.key.roles]
        bound = [binding.project for binding in self._store.bindings() if binding.subject == f"key:{name}"]
        return sorted({*own, *bound}) or [EVERY_PROJECT]

    async def _find(self, caller: Caller, names: list[str], *, make: bool) -> None:
        """Sees that the projects exist. Where authentication is off, naming one in a change makes it."""
        wanted = [name for name in names if name != EVERY_PROJECT and name not in self._projects]
        if not wanted:
            return
        rows = await asyncio.to_thread(self._store.projects)
        self._projects = frozenset(row.name for row in rows)
        for name in wanted:
            if name in self._projects:
                continue
            if caller.method != "none":
                raise NotFoundError(
                    f"there is no project {name!r}",
                    hint=suggestion(name, self._projects) or f"make it with: evalsi auth projects create {name}",
                )
            if make:
                checked_name(name, where="project")
                project = Project(name=name, source="api", created_at=self._clock.now(), created_by=caller.principal)
                with suppress(AlreadyExistsError):  # somebody was faster
                    await asyncio.to_thread(self._store.add_project, project)

    async def _note(
        self,
        caller: Caller,
        method: Method,
        action: Action,
        request: Any,
        places: list[_Place],
        *,
        refusal: ForbiddenError | None = None,
    ) -> None:
        await self._write(
            caller, _Deed(method.action, method.full_name, _resource_of(action, request)), places, refusal
        )

    async def _write(
        self, caller: Caller, deed: _Deed, places: list[_Place], refusal: ForbiddenError | None = None
    ) -> None:
        projects = sorted({place.project for place in places})
        event = AuditEvent(
            time=self._clock.now(),
            principal=caller.principal,
            action=deed.permission,
            project=projects[0] if len(projects) == 1 else EVERY_PROJECT,
            resource=deed.resource,
            allowed=refusal is None,
            reason=refusal.message if refusal else "",
            procedure=deed.procedure,
            request_id=caller.request_id,
            source=caller.source,
            detail=f"projects: {', '.join(projects)}" if len(projects) > 1 else "",
            auth_method=caller.method,
            subject=caller.principal,
            api_key=caller.key_name,
            key_id=caller.key_prefix,
        )
        try:
            await asyncio.to_thread(self._store.append_audit, event, sealed)
        except BaseException:
            self.audit_write_failures += 1
            raise


def _check(caller: Caller, permission: str, scope: Scope, project: str) -> None:
    if scope is Scope.EVERYBODY:
        return
    if scope is Scope.VISIBLE and project == EVERY_PROJECT:
        if visible_projects(caller, permission) != frozenset():
            return
        project = DEFAULT_PROJECT
    require(caller, permission, project)


def _value_at(request: Any, path: str) -> Any:
    value = request
    for step in path.split("."):
        value = getattr(value, step, None)
        if value is None:
            return None
    return value


def _project_names(action: Action, request: Any) -> list[str]:
    """The projects that the request names itself."""
    value = _value_at(request, action.project)
    if isinstance(value, Mapping):
        return sorted(str(name) for name in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [value] if isinstance(value, str) and value else []


def _runs_of(action: Action, request: Any) -> list[str]:
    found: list[str] = []
    for name in action.runs:
        value = _value_at(request, name)
        found += [value] if isinstance(value, str) else list(value or ())
    return found


def no_key(name: str) -> NotFoundError:
    """What is said of a key that is not there, or that the caller may not know of."""
    return NotFoundError(f"there is no key {name!r}")


def _no_run(run: str) -> NotFoundError:
    return NotFoundError(f"there is no run {run!r}")


def _resource_of(action: Action, request: Any) -> str:
    value = _value_at(request, action.resource)
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value or "")[:_LONGEST_RESOURCE]
