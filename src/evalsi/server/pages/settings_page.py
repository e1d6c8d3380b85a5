"""Settings: who is signed in, projects, and API keys, which are made and revoked here.

Its own module because it holds the only forms that change who may do what. What always holds: a secret is shown in the
answer to the form that made it and on no other page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from evalsi.core.errors import EvalsiError, ForbiddenError, UsageError
from evalsi.core.outward_words import outward_words
from evalsi.schema import (
    APIKey,
    CreateAPIKeyRequest,
    CreateAPIKeyResponse,
    CreateProjectRequest,
    CreateProjectResponse,
    ListAPIKeysRequest,
    ListAPIKeysResponse,
    ListProjectsRequest,
    ListProjectsResponse,
    RevokeAPIKeyRequest,
    RevokeAPIKeyResponse,
    RoleList,
    WhoAmIRequest,
    WhoAmIResponse,
)
from evalsi.server.pages.visit import Moved, Page, Visit

LIFETIMES: Mapping[str, int | None] = {"30 days": 30, "90 days": 90, "1 year": 365, "for ever": None}
ROLES = ("viewer", "runner", "editor", "ingest", "admin", "owner")


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What a form led to."""

    secret: str = ""
    name: str = ""
    problem: str = ""
    status: int = 200


async def settings_page(visit: Visit) -> Page:
    return await _page(visit, _Outcome())


async def create_key(visit: Visit) -> Page:
    form = visit.form
    lifetime = LIFETIMES.get(form.get("lifetime"))
    request = CreateAPIKeyRequest(
        name=form.get("name"),
        roles={form.get("project") or "*": RoleList(roles=[form.get("role")])},
        ttl=timedelta(days=lifetime).total_seconds() if lifetime is not None else None,
    )
    try:
        made = await visit.call("AuthService.CreateAPIKey", request, CreateAPIKeyResponse)
    except EvalsiError as error:
        return await _page(visit, _Outcome(problem=outward_words(error), status=error.http_status))
    return await _page(visit, _Outcome(secret=made.secret, name=request.name))


async def revoke_key(visit: Visit) -> Moved:
    await visit.call("AuthService.RevokeAPIKey", RevokeAPIKeyRequest(name=visit.form.get("name")), RevokeAPIKeyResponse)
    return Moved(to="/ui/settings")


async def create_project(visit: Visit) -> Page | Moved:
    request = CreateProjectRequest(name=visit.form.get("name"), description=visit.form.get("description"))
    try:
        await visit.call("AuthService.CreateProject", request, CreateProjectResponse)
    except (UsageError, ForbiddenError) as error:
        return await _page(visit, _Outcome(problem=outward_words(error), status=error.http_status))
    return Moved(to="/ui/settings")


async def _page(visit: Visit, outcome: _Outcome) -> Page:
    me = await visit.call("AuthService.WhoAmI", WhoAmIRequest(), WhoAmIResponse)
    projects = await visit.call("AuthService.ListProjects", ListProjectsRequest(), ListProjectsResponse)
    keys: list[APIKey] = []
    refusal = ""
    try:
        keys = (await visit.call("AuthService.ListAPIKeys", ListAPIKeysRequest(), ListAPIKeysResponse)).keys
    except ForbiddenError as error:
        refusal = outward_words(error)
    return Page(
        template="settings.html.jinja",
        values={
            "me": me,
            "projects": projects.projects,
            "keys": keys,
            "refusal": refusal,
            "outcome": outcome,
            "roles": ROLES,
            "lifetimes": list(LIFETIMES),
        },
        status=outcome.status,
    )
