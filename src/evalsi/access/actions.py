"""The action table: for every service method, how the project is found in which its permission is needed.

The permission itself stands in the schema, beside the method. What always holds: a method without a line here cannot be
called, and every line names a method of the schema (a test walks both).
"""

from enum import Enum

import msgspec

from evalsi.core.errors import UnimplementedError
from evalsi.schema.method import METHODS, Method


class Scope(Enum):
    """Where the permission of a method is needed."""

    NAMED = "named"
    """In the project that the request names; in the default project where it names none."""
    VISIBLE = "visible"
    """As NAMED, but where it names none, in any project: the service shows those of `visible_projects` alone."""
    RUNS = "runs"
    """In the projects of the runs that the request names by id."""
    INSTALLATION = "installation"
    """In every project, by one role that holds everywhere."""
    KEY = "key"
    """In every project in which the API key has a role that the request names."""
    EVERYBODY = "everybody"
    """Nowhere: whoever proved who it is may call it."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table. A field may be a path such as `binding.project`.

    Fields are those of the request; of a stream from the client, those of the `config` in its first message.
    """

    scope: Scope
    project: str = "project"
    """For NAMED and VISIBLE: the field with the project; of a mapping there, the keys are the projects."""
    runs: tuple[str, ...] = ()
    """For RUNS: the fields with ids of runs; one id, or a list of them."""
    resource: str = "name"
    """The field that says what the call is about, for the audit log; nothing where there is none."""
    leaves_nothing: bool = False
    """Whether a method that is not safe to repeat still changes nothing that stays, so that the audit log skips it."""


def _named(project: str = "project", *, resource: str = "name") -> Action:
    return Action(scope=Scope.NAMED, project=project, resource=resource)


def _of_runs(*fields: str) -> Action:
    return Action(scope=Scope.RUNS, runs=fields, resource=fields[0])


_VISIBLE = Action(scope=Scope.VISIBLE)
_INSTALLATION = Action(scope=Scope.INSTALLATION)
_EVERYBODY = Action(scope=Scope.EVERYBODY)

ACTIONS: dict[str, Action] = {
    "EvaluationService.Evaluate": Action(scope=Scope.NAMED, leaves_nothing=True),
    "EvaluationService.EvaluateStream": Action(scope=Scope.NAMED, leaves_nothing=True),
    "RewardService.ScoreRewards": Action(scope=Scope.NAMED, leaves_nothing=True),
    "CatalogService.ListEvaluators": _VISIBLE,
    "CatalogService.ListCredentials": _VISIBLE,
    "DatasetCatalogService.PublishDatasetVersion": _named("content.project", resource="content.name"),
    "DatasetCatalogService.ListDatasetVersions": _VISIBLE,
    "DatasetCatalogService.GetDatasetVersion": _named(),
    "DatasetCatalogService.ReviewDatasetVersion": _named(),
    "DatasetCatalogService.ListDatasetVersionEvents": _named(),
    "DatasetCatalogService.DiffDatasetVersions": _named(),
    "DatasetCatalogService.UploadDatasetVersion": _named(),
    "DatasetCatalogService.FetchDatasetVersion": _named(),
    "RunService.CreateRun": _named(),
    "RunService.CreateShadowReplay": _named(),
    "RunService.ImportRun": _named(),
    "RunService.GetRun": _of_runs("id"),
    "RunService.ListRuns": _VISIBLE,
    "RunService.WatchRun": _of_runs("id"),
    "RunService.CancelRun": _of_runs("id"),
    "RunService.ResumeRun": _of_runs("id"),
    "RunService.DeleteRun": _of_runs("id"),
    "RunService.ArchiveRun": _of_runs("id"),
    "RunService.ListRunResults": _of_runs("run_id"),
    "RunService.GetRecordEvidence": _of_runs("run_id"),
    "RunService.ExportRun": _of_runs("run_id"),
    "RunService.PromoteResults": _of_runs("run_id"),
    "RunService.RescoreRun": _of_runs("run_id"),
    "RunService.CompareRuns": _of_runs("baseline_run_id", "candidate_run_id"),
    "RunService.SliceRuns": _of_runs("run_ids"),
    "TraceService.ListTraces": _VISIBLE,
    "TraceService.CountTraces": _VISIBLE,
    "TraceService.WatchTraces": _VISIBLE,
    "TraceService.GetTrace": _named(resource="trace_id"),
    "TraceService.ExportTrace": _named(resource="trace_id"),
    "TraceService.GetSession": _named(resource="session_id"),
    "TraceService.ListScores": _VISIBLE,
    "TraceService.ListFeedback": _named(resource="trace_id"),
    "TraceService.DeleteTraces": _named(resource="user_id"),
    "TraceService.SubmitFeedback": Action(scope=Scope.NAMED, leaves_nothing=True),
    "MonitorService.ApplyPolicy": _named("policy.project", resource="policy.name"),
    "MonitorService.ListPolicies": _VISIBLE,
    "MonitorService.DeletePolicy": _named(),
    "MonitorService.GetPolicyStats": _named(),
    "MonitorService.TestPolicy": _named("policy.project", resource="policy.name"),
    "MonitorService.BackfillPolicy": _named(),
    "MonitorService.CompareTraffic": _named(),
    "FailureService.CaptureFailure": _named(resource="trace_id"),
    "FailureService.ListFailures": _VISIBLE,
    "FailureService.GetFailure": _named(resource="id"),
    "FailureService.UpdateFailure": _named(resource="id"),
    "FailureService.ReviewFailure": _named(resource="id"),
    "FailureService.ListFailureEvents": _named(resource="id"),
    "FailureService.ExportFailures": _named(),
    "FailureService.DeleteFailure": _named(resource="id"),
    "AuthService.WhoAmI": _EVERYBODY,
    "AuthService.ListProjects": _EVERYBODY,
    "AuthService.CreateProject": _INSTALLATION,
    "AuthService.CreateAPIKey": _named("roles"),
    "AuthService.ListAPIKeys": _VISIBLE,
    "AuthService.RevokeAPIKey": Action(scope=Scope.KEY),
    "AuthService.ListRoles": _VISIBLE,
    "AuthService.CreateRole": _named("role.project", resource="role.name"),
    "AuthService.UpdateRole": _named("role.project", resource="role.name"),
    "AuthService.DeleteRole": _named(),
    "AuthService.ListPermissions": _EVERYBODY,
    "AuthService.ListBindings": _VISIBLE,
    "AuthService.CreateBinding": _named("binding.project", resource="binding.subject"),
    "AuthService.DeleteBinding": _named("binding.project", resource="binding.subject"),
    "AuthService.ListAuditEvents": _VISIBLE,
    "AuthService.VerifyAuditLog": _INSTALLATION,
}
"""By service and method, without the package."""


def name_of(method: Method) -> str:
    """How the table names a method: `RunService.GetRun`."""
    return f"{method.service.rpartition('.')[2]}.{method.name}"


def rule_of(name: str) -> tuple[Method, Action]:
    """A method by its name in the table, and its line.

    Raises: UnimplementedError: there is none, so nobody may call it.
    """
    method, action = _METHODS.get(name), ACTIONS.get(name)
    if method is None or action is None:
        raise UnimplementedError(f"the method {name} is not served")
    return method, action


def is_audited(method: Method, action: Action) -> bool:
    """Whether every call is in the audit log, and not only those that were refused."""
    return not method.safe and not action.leaves_nothing


_METHODS = {name_of(method): method for method in METHODS}
