"""What stands before every service method: finds the project of a call, asks the gate, writes the audit log.

Its own module because faces call it and nothing else of this package. What always holds: a call that is to be in the audit
log is in it before it happens (where the log cannot be written, the call is not made), and a run that the caller may not
read is answered like one that is not there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from evalsi.access.actions import Action, Scope, action_of
from evalsi.access.audit_chain import sealed
from evalsi.access.caller import EVERY_PROJECT, Caller
from evalsi.access.gate import DEFAULT_PROJECT, require, visible_projects
from evalsi.access.instant import instant_text
from evalsi.core.clock import Clock
from evalsi.core.errors import AlreadyExistsError, ForbiddenError, NotFoundError, suggestion
from evalsi.ports.access_store import AccessStore, AuditRow, ProjectRow

ProjectOfRun = Callable[[str], Awaitable[str | None]]
"""The project of a run, by its id; None when there is no such run."""

_LONGEST_RESOURCE = 200


class Guard:
    """Admits calls. Any task of the event loop may use it."""

    def __init__(self, store: AccessStore, clock: Clock, project_of_run: ProjectOfRun) -> None:
        self._store = store
        self._clock = clock
        self._project_of_run = project_of_run
        self._projects: frozenset[str] = frozenset({DEFAULT_PROJECT})
        """Names that are known to exist; a name is looked up again before it is refused."""

    async def admit(self, caller: Caller, method: str, request: Any) -> None:
        """Returns when `caller` may call `method` with `request`.

        Args:
            method: `<service>.<method>`, such as `RunService.GetRun`.
            request: The request message.

        Raises:
            ForbiddenError: It may not; the refusal is in the audit log.
            NotFoundError: The project or run is not there, or the caller may read nothing where the run is.
            UnimplementedError: Nobody may: the method is not in the action table.
            StoreError: The call must be in the audit log, and that cannot be written.
        """
        action = action_of(method)
        projects = await self._projects_of(action, request)
        try:
            for project in projects:
                self._check(caller, action, project, named=bool(_project_names(action, request)))
        except ForbiddenError as refusal:
            await self._note(caller, method, action, request, projects, refusal=refusal)
            if action.scope is Scope.RUNS and not all(caller.has("runs.read", project) for project in projects):
                raise NotFoundError(f"there is no run {_first_run(action, request)!r}") from None
            raise
        if action.scope in (Scope.NAMED, Scope.VISIBLE):
            await self._find(caller, _project_names(action, request), make=action.mutates)
        if action.mutates:
            await self._note(caller, method, action, request, projects)

    def _check(self, caller: Caller, action: Action, project: str, *, named: bool) -> None:
        match action.scope:
            case Scope.EVERYBODY | Scope.BY_CONTENT:
                return
            case Scope.VISIBLE if not named:
                if visible_projects(caller, action.permission) == frozenset():
                    require(caller, action.permission, DEFAULT_PROJECT)
            case _:
                require(caller, action.permission, project)

    async def _projects_of(self, action: Action, request: Any) -> list[str]:
        match action.scope:
            case Scope.NAMED | Scope.VISIBLE:
                return _project_names(action, request) or [
                    DEFAULT_PROJECT if action.scope is Scope.NAMED else EVERY_PROJECT
                ]
            case Scope.RUNS:
                runs = _runs_of(action, request)
                if not runs:
                    return _project_names(action, request) or [DEFAULT_PROJECT]
                return sorted({await self._project_of(run) for run in runs})
            case Scope.INSTALLATION | Scope.BY_CONTENT | Scope.EVERYBODY:
                return [EVERY_PROJECT]

    async def _project_of(self, run: str) -> str:
        project = await self._project_of_run(run)
        if project is None:
            raise NotFoundError(f"there is no run {run!r}")
        return project

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
                row = ProjectRow(name=name, created_at=instant_text(self._clock.now()), created_by=caller.principal)
                with suppress(AlreadyExistsError):  # somebody was faster
                    await asyncio.to_thread(self._store.add_project, row)

    async def _note(
        self,
        caller: Caller,
        method: str,
        action: Action,
        request: Any,
        projects: list[str],
        *,
        refusal: ForbiddenError | None = None,
    ) -> None:
        row = AuditRow(
            time=instant_text(self._clock.now()),
            principal=caller.principal,
            action=action.permission,
            project=projects[0] if len(projects) == 1 else EVERY_PROJECT,
            resource=_resource_of(action, request),
            allowed=refusal is None,
            reason=refusal.message if refusal else "",
            procedure=method,
            request_id=caller.request_id,
            source=caller.source,
            detail=f"projects: {', '.join(projects)}" if len(projects) > 1 else "",
            auth_method=caller.method,
            api_key=caller.key_name,
            key_id=caller.key_prefix,
        )
        await asyncio.to_thread(self._store.append_audit, row, sealed)


def _value_at(request: Any, path: str) -> Any:
    value = request
    for step in path.split("."):
        value = getattr(value, step, None)
        if value is None:
            return None
    return value


def _project_names(action: Action, request: Any) -> list[str]:
    """The projects that the request names itself."""
    value = _value_at(request, action.project_field)
    if isinstance(value, Mapping):
        return sorted(str(name) for name in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [value] if isinstance(value, str) and value else []


def _runs_of(action: Action, request: Any) -> list[str]:
    found: list[str] = []
    for name in action.run_fields:
        value = _value_at(request, name)
        found += [value] if isinstance(value, str) else list(value or ())
    return found


def _first_run(action: Action, request: Any) -> str:
    return next(iter(_runs_of(action, request)), "")


def _resource_of(action: Action, request: Any) -> str:
    value = _value_at(request, action.resource_field)
    if isinstance(value, (list, tuple)):
        value = ", ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value or "")[:_LONGEST_RESOURCE]
