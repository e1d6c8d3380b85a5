"""The gate: may this caller do this, here? Every answer to that question is given by these functions.

Its own module so that whatever decides later (conditions, an outside policy) has one place to stand in. What always holds:
what is not allowed is refused, and a refusal says which permission was missing, where, and what the caller has there.
"""

from collections.abc import Iterable

from evalsi.access.caller import EVERY_PROJECT, Caller
from evalsi.core.errors import ForbiddenError

DEFAULT_PROJECT = "default"
"""The project of a request that names none."""


def require(caller: Caller, permission: str, project: str) -> None:
    """Passes a caller that has `permission` in `project`.

    Args:
        project: Its name; empty for the default project, `EVERY_PROJECT` for a thing of the installation.
    Raises: ForbiddenError: it has not.
    """
    project = project or DEFAULT_PROJECT
    if caller.has(permission, project):
        return
    roles = sorted({*caller.roles.get(EVERY_PROJECT, ()), *caller.roles.get(project, ())})
    place = "in every project" if project == EVERY_PROJECT else f"in the project {project!r}"
    held = f"it has {', '.join(roles)} there" if roles else "it has no role there"
    raise ForbiddenError(
        f"{caller.principal} may not do this: the permission {permission} is needed {place}, and {held}",
        hint="somebody with the permission access.manage can bind a role to it: evalsi auth bindings create",
    )


def require_nothing_more(caller: Caller, permissions: Iterable[str], project: str) -> None:
    """Passes a caller that has every one of `permissions` itself: nobody hands out more than they have.

    Raises: ForbiddenError: one is missing.
    """
    for permission in sorted(permissions):
        if not caller.has(permission, project):
            raise ForbiddenError(
                f"{caller.principal} may not give what it has not: {_shown(permission)} in {_place(project)}"
            )


def visible_projects(caller: Caller, permission: str) -> frozenset[str] | None:
    """The projects in which the caller has `permission`; None for all of them."""
    if caller.has(permission, EVERY_PROJECT):
        return None
    return frozenset(project for project in caller.grants if caller.has(permission, project))


def _shown(permission: str) -> str:
    return "every permission" if permission == "*" else f"the permission {permission}"


def _place(project: str) -> str:
    return "every project" if project == EVERY_PROJECT else f"the project {project!r}"
