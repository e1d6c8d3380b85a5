"""Which project traces belong to that name none: the one that their credential is for.

Pure. Its own module because it is the one place where a credential chooses a project instead of a request.
"""

from evalsi.access.caller import EVERY_PROJECT, Caller
from evalsi.access.gate import DEFAULT_PROJECT, visible_projects
from evalsi.core.errors import ForbiddenError


def traffic_project(caller: Caller, permission: str) -> str:
    """The project of traces that `caller` sends without naming one.

    It is the default project where the caller may write there, else the only one where it may.

    Raises: ForbiddenError: it may write to none, or to several of which none is the default one.
    """
    if caller.has(permission, DEFAULT_PROJECT):
        return DEFAULT_PROJECT
    writable = sorted((visible_projects(caller, permission) or frozenset()) - {EVERY_PROJECT})
    if len(writable) == 1:
        return writable[0]
    if not writable:
        raise ForbiddenError(
            f"{caller.principal} may send traces to no project: the permission {permission} is needed",
            hint="the role ingest has it: evalsi auth bindings create",
        )
    raise ForbiddenError(
        f"{caller.principal} may send traces to several projects, and these name none: {', '.join(writable[:5])}",
        hint="name one in the resource attribute evalsi.project, for example with OTEL_RESOURCE_ATTRIBUTES",
    )
