"""The action table: for every service method, the permission it needs and the project it is needed in.

What always holds: a method without a line here cannot be called, and every line names a method of the schema (a test
walks both). Whether a call is written to the audit log also stands here and nowhere else.
"""

from enum import Enum

import msgspec

from evalsi.core.errors import UnimplementedError


class Scope(Enum):
    """How the project of a call is found."""

    NAMED = "named"
    """A field of the request, mostly `project`; empty is the default project."""
    VISIBLE = "visible"
    """As NAMED, but empty is every project in which the caller has the permission: the service shows those alone."""
    RUNS = "runs"
    """The projects of the runs that the request names by id."""
    INSTALLATION = "installation"
    """None: a role in every project is needed."""
    BY_CONTENT = "by-content"
    """The service itself asks the gate about every project that the request speaks of."""
    EVERYBODY = "everybody"
    """None: whoever proved who it is may call it."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What one method needs."""

    permission: str
    scope: Scope
    mutates: bool = False
    """Whether it changes something that stays: then every call is in the audit log, not only refused ones."""
    run_fields: tuple[str, ...] = ()
    """For RUNS: the fields of the request that hold ids of runs; one id, or a list of them."""
    project_field: str = "project"
    """For NAMED and VISIBLE: where the request says the project; a mapping there has projects as its keys."""
    resource_field: str = "name"
    """The field of the request that says what it is about, for the audit log; nothing where there is none."""


def _named(
    permission: str, *, mutates: bool = False, project_field: str = "project", resource_field: str = "name"
) -> Action:
    return Action(
        permission=permission,
        scope=Scope.NAMED,
        mutates=mutates,
        project_field=project_field,
        resource_field=resource_field,
    )


def _visible(permission: str) -> Action:
    return Action(permission=permission, scope=Scope.VISIBLE)


def _runs(permission: str, *fields: str, mutates: bool = False) -> Action:
    return Action(permission=permission, scope=Scope.RUNS, mutates=mutates, run_fields=fields, resource_field=fields[0])


def _of_installation(permission: str, *, mutates: bool = False) -> Action:
    return Action(permission=permission, scope=Scope.INSTALLATION, mutates=mutates)


_EVERYBODY = Action(permission="self.read", scope=Scope.EVERYBODY)

ACTIONS: dict[str, Action] = {
    "EvaluationService.Evaluate": _named("evaluations.run"),
    "EvaluationService.EvaluateStream": _named("evaluations.run"),
    "RewardService.ScoreRewards": _named("evaluations.run"),
    "CatalogService.ListEvaluators": _EVERYBODY,
    "CatalogService.ListCredentials": _visible("catalog.read"),
    "RunService.CreateRun": _named("runs.create", mutates=True),
    "RunService.CreateShadowReplay": _named("runs.create", mutates=True),
    "RunService.ImportRun": _named("runs.create", mutates=True),
    "RunService.GetRun": _runs("runs.read", "id"),
    "RunService.ListRuns": _visible("runs.read"),
    "RunService.WatchRun": _runs("runs.read", "id"),
    "RunService.CancelRun": _runs("runs.cancel", "id", mutates=True),
    "RunService.ResumeRun": _runs("runs.resume", "id", mutates=True),
    "RunService.DeleteRun": _runs("runs.delete", "id", mutates=True),
    "RunService.ArchiveRun": _runs("runs.delete", "id", mutates=True),
    "RunService.ListRunResults": _runs("runs.read", "run_id"),
    "RunService.GetRecordEvidence": _runs("runs.read", "run_id"),
    "RunService.PromoteResults": _runs("datasets.write", "run_id", mutates=True),
    "RunService.CompareRuns": _runs("runs.read", "baseline_run_id", "candidate_run_id"),
    "RunService.SliceRuns": Action(
        permission="runs.read", scope=Scope.RUNS, run_fields=("run_ids",), resource_field="run_ids"
    ),
    "AuthService.WhoAmI": _EVERYBODY,
    "AuthService.ListProjects": _EVERYBODY,
    "AuthService.CreateProject": _of_installation("projects.manage", mutates=True),
    "AuthService.CreateAPIKey": _named("access.manage", mutates=True, project_field="roles"),
    "AuthService.ListAPIKeys": _visible("access.manage"),
    "AuthService.RevokeAPIKey": Action(permission="access.manage", scope=Scope.BY_CONTENT, mutates=True),
    "AuthService.ListRoles": _EVERYBODY,
    "AuthService.CreateRole": _named(
        "access.manage", mutates=True, project_field="role.project", resource_field="role.name"
    ),
    "AuthService.UpdateRole": _named(
        "access.manage", mutates=True, project_field="role.project", resource_field="role.name"
    ),
    "AuthService.DeleteRole": _named("access.manage", mutates=True),
    "AuthService.ListPermissions": _EVERYBODY,
    "AuthService.ListBindings": _visible("access.manage"),
    "AuthService.CreateBinding": _named(
        "access.manage", mutates=True, project_field="binding.project", resource_field="binding.subject"
    ),
    "AuthService.DeleteBinding": _named(
        "access.manage", mutates=True, project_field="binding.project", resource_field="binding.subject"
    ),
    "AuthService.ListAuditEvents": _visible("audit.read"),
    "AuthService.VerifyAuditLog": _of_installation("audit.read"),
}
"""By `<service>.<method>`, without the package."""


def action_of(method: str) -> Action:
    """The line of a method such as `RunService.GetRun`.

    Raises: UnimplementedError: the table has none, so nobody may call it.
    """
    action = ACTIONS.get(method)
    if action is None:
        raise UnimplementedError(f"the method {method} is not served")
    return action
