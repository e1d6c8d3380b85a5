# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Every method of every service as a typed call, async and sync.

The code behind them is in `connection`; `AsyncClient` and `Client` add what makes them comfortable.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Coroutine, Generator, Iterable
from typing import Any, TypeVar

from evalsi import schema
from evalsi.client.connection import Connection
from evalsi.schema.method import METHODS

T = TypeVar("T")

_METHODS = {method.full_name.rpartition(".")[2]: method for method in METHODS}


class AsyncCalls:
    """The calls, for an event loop."""

    _connection: Connection

    async def who_am_i(self, request: schema.WhoAmIRequest, *, idempotency_key: str = "") -> schema.WhoAmIResponse:
        """Says who the caller is and what the caller may do."""
        return await self._connection.call(_METHODS["AuthService/WhoAmI"], request, schema.WhoAmIResponse, idempotency_key=idempotency_key)

    async def list_projects(self, request: schema.ListProjectsRequest, *, idempotency_key: str = "") -> schema.ListProjectsResponse:
        """Lists the projects the caller may see."""
        return await self._connection.call(_METHODS["AuthService/ListProjects"], request, schema.ListProjectsResponse, idempotency_key=idempotency_key)

    async def create_project(self, request: schema.CreateProjectRequest, *, idempotency_key: str = "") -> schema.CreateProjectResponse:
        """Makes a project."""
        return await self._connection.call(_METHODS["AuthService/CreateProject"], request, schema.CreateProjectResponse, idempotency_key=idempotency_key)

    async def create_api_key(self, request: schema.CreateAPIKeyRequest, *, idempotency_key: str = "") -> schema.CreateAPIKeyResponse:
        """Makes a key. Its secret is in this answer and nowhere else."""
        return await self._connection.call(_METHODS["AuthService/CreateAPIKey"], request, schema.CreateAPIKeyResponse, idempotency_key=idempotency_key)

    async def list_api_keys(self, request: schema.ListAPIKeysRequest, *, idempotency_key: str = "") -> schema.ListAPIKeysResponse:
        """Lists keys, never their secrets."""
        return await self._connection.call(_METHODS["AuthService/ListAPIKeys"], request, schema.ListAPIKeysResponse, idempotency_key=idempotency_key)

    async def revoke_api_key(self, request: schema.RevokeAPIKeyRequest, *, idempotency_key: str = "") -> schema.RevokeAPIKeyResponse:
        """Makes a key worthless from now on."""
        return await self._connection.call(_METHODS["AuthService/RevokeAPIKey"], request, schema.RevokeAPIKeyResponse, idempotency_key=idempotency_key)

    async def list_roles(self, request: schema.ListRolesRequest, *, idempotency_key: str = "") -> schema.ListRolesResponse:
        """Lists roles."""
        return await self._connection.call(_METHODS["AuthService/ListRoles"], request, schema.ListRolesResponse, idempotency_key=idempotency_key)

    async def create_role(self, request: schema.CreateRoleRequest, *, idempotency_key: str = "") -> schema.CreateRoleResponse:
        """Makes a role."""
        return await self._connection.call(_METHODS["AuthService/CreateRole"], request, schema.CreateRoleResponse, idempotency_key=idempotency_key)

    async def update_role(self, request: schema.UpdateRoleRequest, *, idempotency_key: str = "") -> schema.UpdateRoleResponse:
        """Changes a role."""
        return await self._connection.call(_METHODS["AuthService/UpdateRole"], request, schema.UpdateRoleResponse, idempotency_key=idempotency_key)

    async def delete_role(self, request: schema.DeleteRoleRequest, *, idempotency_key: str = "") -> schema.DeleteRoleResponse:
        """Removes a role."""
        return await self._connection.call(_METHODS["AuthService/DeleteRole"], request, schema.DeleteRoleResponse, idempotency_key=idempotency_key)

    async def list_permissions(self, request: schema.ListPermissionsRequest, *, idempotency_key: str = "") -> schema.ListPermissionsResponse:
        """Lists everything a role can allow."""
        return await self._connection.call(_METHODS["AuthService/ListPermissions"], request, schema.ListPermissionsResponse, idempotency_key=idempotency_key)

    async def list_bindings(self, request: schema.ListBindingsRequest, *, idempotency_key: str = "") -> schema.ListBindingsResponse:
        """Lists who has which role where."""
        return await self._connection.call(_METHODS["AuthService/ListBindings"], request, schema.ListBindingsResponse, idempotency_key=idempotency_key)

    async def create_binding(self, request: schema.CreateBindingRequest, *, idempotency_key: str = "") -> schema.CreateBindingResponse:
        """Gives somebody a role."""
        return await self._connection.call(_METHODS["AuthService/CreateBinding"], request, schema.CreateBindingResponse, idempotency_key=idempotency_key)

    async def delete_binding(self, request: schema.DeleteBindingRequest, *, idempotency_key: str = "") -> schema.DeleteBindingResponse:
        """Takes a role from somebody."""
        return await self._connection.call(_METHODS["AuthService/DeleteBinding"], request, schema.DeleteBindingResponse, idempotency_key=idempotency_key)

    async def list_audit_events(self, request: schema.ListAuditEventsRequest, *, idempotency_key: str = "") -> schema.ListAuditEventsResponse:
        """Lists denied and changing calls, the newest first."""
        return await self._connection.call(_METHODS["AuthService/ListAuditEvents"], request, schema.ListAuditEventsResponse, idempotency_key=idempotency_key)

    async def verify_audit_log(self, request: schema.VerifyAuditLogRequest, *, idempotency_key: str = "") -> schema.VerifyAuditLogResponse:
        """Checks that nothing was taken out of the log or changed in it."""
        return await self._connection.call(_METHODS["AuthService/VerifyAuditLog"], request, schema.VerifyAuditLogResponse, idempotency_key=idempotency_key)

    async def list_evaluators(self, request: schema.ListEvaluatorsRequest, *, idempotency_key: str = "") -> schema.ListEvaluatorsResponse:
        """Lists the evaluators and judges at hand."""
        return await self._connection.call(_METHODS["CatalogService/ListEvaluators"], request, schema.ListEvaluatorsResponse, idempotency_key=idempotency_key)

    async def list_credentials(self, request: schema.ListCredentialsRequest, *, idempotency_key: str = "") -> schema.ListCredentialsResponse:
        """Lists the credentials a project may use, by name and never by value."""
        return await self._connection.call(_METHODS["CatalogService/ListCredentials"], request, schema.ListCredentialsResponse, idempotency_key=idempotency_key)

    async def evaluate(self, request: schema.EvaluateRequest, *, idempotency_key: str = "") -> schema.EvaluateResponse:
        """Scores a batch of records and answers when all are done."""
        return await self._connection.call(_METHODS["EvaluationService/Evaluate"], request, schema.EvaluateResponse, idempotency_key=idempotency_key)

    def evaluate_stream(self, requests: AsyncIterable[schema.EvaluateStreamRequest]) -> AsyncGenerator[schema.EvaluateStreamResponse]:
        """Scores records as they arrive; the first message is the configuration, results come in any order."""
        return self._connection.exchange(_METHODS["EvaluationService/EvaluateStream"], requests, schema.EvaluateStreamResponse)

    async def publish_dataset_version(self, request: schema.PublishDatasetVersionRequest, *, idempotency_key: str = "") -> schema.PublishDatasetVersionResponse:
        """Stores a version from records in the request."""
        return await self._connection.call(_METHODS["DatasetCatalogService/PublishDatasetVersion"], request, schema.PublishDatasetVersionResponse, idempotency_key=idempotency_key)

    async def list_dataset_versions(self, request: schema.ListDatasetVersionsRequest, *, idempotency_key: str = "") -> schema.ListDatasetVersionsResponse:
        """Lists versions, the newest first."""
        return await self._connection.call(_METHODS["DatasetCatalogService/ListDatasetVersions"], request, schema.ListDatasetVersionsResponse, idempotency_key=idempotency_key)

    async def get_dataset_version(self, request: schema.GetDatasetVersionRequest, *, idempotency_key: str = "") -> schema.GetDatasetVersionResponse:
        """Gives one version with its records."""
        return await self._connection.call(_METHODS["DatasetCatalogService/GetDatasetVersion"], request, schema.GetDatasetVersionResponse, idempotency_key=idempotency_key)

    async def review_dataset_version(self, request: schema.ReviewDatasetVersionRequest, *, idempotency_key: str = "") -> schema.ReviewDatasetVersionResponse:
        """Decides about a version: approved, or not to be used any more."""
        return await self._connection.call(_METHODS["DatasetCatalogService/ReviewDatasetVersion"], request, schema.ReviewDatasetVersionResponse, idempotency_key=idempotency_key)

    async def list_dataset_version_events(self, request: schema.ListDatasetVersionEventsRequest, *, idempotency_key: str = "") -> schema.ListDatasetVersionEventsResponse:
        """Lists what was decided about a version, the oldest first."""
        return await self._connection.call(_METHODS["DatasetCatalogService/ListDatasetVersionEvents"], request, schema.ListDatasetVersionEventsResponse, idempotency_key=idempotency_key)

    async def diff_dataset_versions(self, request: schema.DiffDatasetVersionsRequest, *, idempotency_key: str = "") -> schema.DiffDatasetVersionsResponse:
        """Says what differs between two versions."""
        return await self._connection.call(_METHODS["DatasetCatalogService/DiffDatasetVersions"], request, schema.DiffDatasetVersionsResponse, idempotency_key=idempotency_key)

    async def upload_dataset_version(self, about: schema.DatasetUploadConfig, pieces: AsyncIterable[bytes]) -> schema.UploadDatasetVersionResponse:
        """Stores a version from a file that is sent in pieces; the first message says what it is."""
        return await self._connection.upload(_METHODS["DatasetCatalogService/UploadDatasetVersion"], about, pieces, schema.UploadDatasetVersionResponse)

    def fetch_dataset_version(self, request: schema.FetchDatasetVersionRequest) -> AsyncGenerator[bytes]:
        """Sends the records of a version as JSON Lines, in pieces."""
        return self._connection.download(_METHODS["DatasetCatalogService/FetchDatasetVersion"], request)

    async def list_traces(self, request: schema.ListTracesRequest, *, idempotency_key: str = "") -> schema.ListTracesResponse:
        """Lists traces, the newest first."""
        return await self._connection.call(_METHODS["TraceService/ListTraces"], request, schema.ListTracesResponse, idempotency_key=idempotency_key)

    async def count_traces(self, request: schema.CountTracesRequest, *, idempotency_key: str = "") -> schema.CountTracesResponse:
        """Counts the traces of a choice by service, model, version, user, label and error."""
        return await self._connection.call(_METHODS["TraceService/CountTraces"], request, schema.CountTracesResponse, idempotency_key=idempotency_key)

    def watch_traces(self, request: schema.WatchTracesRequest) -> AsyncGenerator[schema.WatchTracesResponse]:
        """Follows traces as they become complete."""
        return self._connection.receive(_METHODS["TraceService/WatchTraces"], request, schema.WatchTracesResponse)

    async def get_trace(self, request: schema.GetTraceRequest, *, idempotency_key: str = "") -> schema.GetTraceResponse:
        """Gives a trace as a record with its trajectory, and what policies found in it."""
        return await self._connection.call(_METHODS["TraceService/GetTrace"], request, schema.GetTraceResponse, idempotency_key=idempotency_key)

    def export_trace(self, request: schema.ExportTraceRequest) -> AsyncGenerator[bytes]:
        """Gives a trace as it was sent: its spans with their resources, scopes and events, as a request of OTLP in protobuf.
        What is damaged is left out.
        """
        return self._connection.download(_METHODS["TraceService/ExportTrace"], request)

    async def get_session(self, request: schema.GetSessionRequest, *, idempotency_key: str = "") -> schema.GetSessionResponse:
        """Gives the traces of a session in order of time, with what policies found in the session as a whole."""
        return await self._connection.call(_METHODS["TraceService/GetSession"], request, schema.GetSessionResponse, idempotency_key=idempotency_key)

    async def list_scores(self, request: schema.ListScoresRequest, *, idempotency_key: str = "") -> schema.ListScoresResponse:
        """Lists scores of traces, those of the newest trace first."""
        return await self._connection.call(_METHODS["TraceService/ListScores"], request, schema.ListScoresResponse, idempotency_key=idempotency_key)

    async def list_feedback(self, request: schema.ListFeedbackRequest, *, idempotency_key: str = "") -> schema.ListFeedbackResponse:
        """Lists what was said about a trace or a session, the newest first."""
        return await self._connection.call(_METHODS["TraceService/ListFeedback"], request, schema.ListFeedbackResponse, idempotency_key=idempotency_key)

    async def delete_traces(self, request: schema.DeleteTracesRequest, *, idempotency_key: str = "") -> schema.DeleteTracesResponse:
        """Removes traces for good, with their scores and feedback: those named, or all of a session or user."""
        return await self._connection.call(_METHODS["TraceService/DeleteTraces"], request, schema.DeleteTracesResponse, idempotency_key=idempotency_key)

    async def submit_feedback(self, request: schema.SubmitFeedbackRequest, *, idempotency_key: str = "") -> schema.SubmitFeedbackResponse:
        """Takes what a person or program said about traffic, at once or days later. Repeating it changes nothing."""
        return await self._connection.call(_METHODS["TraceService/SubmitFeedback"], request, schema.SubmitFeedbackResponse, idempotency_key=idempotency_key)

    async def capture_failure(self, request: schema.CaptureFailureRequest, *, idempotency_key: str = "") -> schema.CaptureFailureResponse:
        """Puts a trace into the inbox. A trace that is there already, by its content, is not put in twice."""
        return await self._connection.call(_METHODS["FailureService/CaptureFailure"], request, schema.CaptureFailureResponse, idempotency_key=idempotency_key)

    async def list_failures(self, request: schema.ListFailuresRequest, *, idempotency_key: str = "") -> schema.ListFailuresResponse:
        """Lists failures, the newest first."""
        return await self._connection.call(_METHODS["FailureService/ListFailures"], request, schema.ListFailuresResponse, idempotency_key=idempotency_key)

    async def get_failure(self, request: schema.GetFailureRequest, *, idempotency_key: str = "") -> schema.GetFailureResponse:
        """Gives a failure."""
        return await self._connection.call(_METHODS["FailureService/GetFailure"], request, schema.GetFailureResponse, idempotency_key=idempotency_key)

    async def update_failure(self, request: schema.UpdateFailureRequest, *, idempotency_key: str = "") -> schema.UpdateFailureResponse:
        """Changes a failure: its record, title, reason, assignee or state."""
        return await self._connection.call(_METHODS["FailureService/UpdateFailure"], request, schema.UpdateFailureResponse, idempotency_key=idempotency_key)

    async def review_failure(self, request: schema.ReviewFailureRequest, *, idempotency_key: str = "") -> schema.ReviewFailureResponse:
        """Approves or dismisses a failure."""
        return await self._connection.call(_METHODS["FailureService/ReviewFailure"], request, schema.ReviewFailureResponse, idempotency_key=idempotency_key)

    async def list_failure_events(self, request: schema.ListFailureEventsRequest, *, idempotency_key: str = "") -> schema.ListFailureEventsResponse:
        """Lists what happened to a failure, the oldest first."""
        return await self._connection.call(_METHODS["FailureService/ListFailureEvents"], request, schema.ListFailureEventsResponse, idempotency_key=idempotency_key)

    async def export_failures(self, request: schema.ExportFailuresRequest, *, idempotency_key: str = "") -> schema.ExportFailuresResponse:
        """Gives approved failures as the records of a dataset."""
        return await self._connection.call(_METHODS["FailureService/ExportFailures"], request, schema.ExportFailuresResponse, idempotency_key=idempotency_key)

    async def delete_failure(self, request: schema.DeleteFailureRequest, *, idempotency_key: str = "") -> schema.DeleteFailureResponse:
        """Removes a failure for good."""
        return await self._connection.call(_METHODS["FailureService/DeleteFailure"], request, schema.DeleteFailureResponse, idempotency_key=idempotency_key)

    async def apply_policy(self, request: schema.ApplyPolicyRequest, *, idempotency_key: str = "") -> schema.ApplyPolicyResponse:
        """Makes a policy, or replaces the one of that name."""
        return await self._connection.call(_METHODS["MonitorService/ApplyPolicy"], request, schema.ApplyPolicyResponse, idempotency_key=idempotency_key)

    async def list_policies(self, request: schema.ListPoliciesRequest, *, idempotency_key: str = "") -> schema.ListPoliciesResponse:
        """Lists policies."""
        return await self._connection.call(_METHODS["MonitorService/ListPolicies"], request, schema.ListPoliciesResponse, idempotency_key=idempotency_key)

    async def delete_policy(self, request: schema.DeletePolicyRequest, *, idempotency_key: str = "") -> schema.DeletePolicyResponse:
        """Removes a policy. What it found stays."""
        return await self._connection.call(_METHODS["MonitorService/DeletePolicy"], request, schema.DeletePolicyResponse, idempotency_key=idempotency_key)

    async def get_policy_stats(self, request: schema.GetPolicyStatsRequest, *, idempotency_key: str = "") -> schema.GetPolicyStatsResponse:
        """Says what a policy did and found, now and over time."""
        return await self._connection.call(_METHODS["MonitorService/GetPolicyStats"], request, schema.GetPolicyStatsResponse, idempotency_key=idempotency_key)

    async def test_policy(self, request: schema.TestPolicyRequest, *, idempotency_key: str = "") -> schema.TestPolicyResponse:
        """Says which stored traces a policy would have matched and what that would have cost. Nothing is evaluated."""
        return await self._connection.call(_METHODS["MonitorService/TestPolicy"], request, schema.TestPolicyResponse, idempotency_key=idempotency_key)

    async def backfill_policy(self, request: schema.BackfillPolicyRequest, *, idempotency_key: str = "") -> schema.BackfillPolicyResponse:
        """Applies a policy to stored traces that it has not evaluated yet."""
        return await self._connection.call(_METHODS["MonitorService/BackfillPolicy"], request, schema.BackfillPolicyResponse, idempotency_key=idempotency_key)

    async def compare_traffic(self, request: schema.CompareTrafficRequest, *, idempotency_key: str = "") -> schema.CompareTrafficResponse:
        """Compares what a policy found in two periods or versions, with the tests that compare runs."""
        return await self._connection.call(_METHODS["MonitorService/CompareTraffic"], request, schema.CompareTrafficResponse, idempotency_key=idempotency_key)

    async def score_rewards(self, request: schema.ScoreRewardsRequest, *, idempotency_key: str = "") -> schema.ScoreRewardsResponse:
        """Scores a batch of rollouts and answers when all are done, in the order of the request."""
        return await self._connection.call(_METHODS["RewardService/ScoreRewards"], request, schema.ScoreRewardsResponse, idempotency_key=idempotency_key)

    async def create_run(self, request: schema.CreateRunRequest, *, idempotency_key: str = "") -> schema.CreateRunResponse:
        """Asks for a run. It is stored before the answer, and carried out as soon as there is room."""
        return await self._connection.call(_METHODS["RunService/CreateRun"], request, schema.CreateRunResponse, idempotency_key=idempotency_key)

    async def get_run(self, request: schema.GetRunRequest, *, idempotency_key: str = "") -> schema.GetRunResponse:
        """Gives one run."""
        return await self._connection.call(_METHODS["RunService/GetRun"], request, schema.GetRunResponse, idempotency_key=idempotency_key)

    async def list_runs(self, request: schema.ListRunsRequest, *, idempotency_key: str = "") -> schema.ListRunsResponse:
        """Lists runs, the newest first."""
        return await self._connection.call(_METHODS["RunService/ListRuns"], request, schema.ListRunsResponse, idempotency_key=idempotency_key)

    def watch_run(self, request: schema.WatchRunRequest) -> AsyncGenerator[schema.WatchRunResponse]:
        """Follows a run until it ends: the run as it stands, then what changes, then the run as it ended."""
        return self._connection.receive(_METHODS["RunService/WatchRun"], request, schema.WatchRunResponse)

    async def cancel_run(self, request: schema.CancelRunRequest, *, idempotency_key: str = "") -> schema.CancelRunResponse:
        """Stops a run. What it found so far stays."""
        return await self._connection.call(_METHODS["RunService/CancelRun"], request, schema.CancelRunResponse, idempotency_key=idempotency_key)

    async def resume_run(self, request: schema.ResumeRunRequest, *, idempotency_key: str = "") -> schema.ResumeRunResponse:
        """Continues a run that was stopped or could not finish. What is stored is not done again."""
        return await self._connection.call(_METHODS["RunService/ResumeRun"], request, schema.ResumeRunResponse, idempotency_key=idempotency_key)

    async def delete_run(self, request: schema.DeleteRunRequest, *, idempotency_key: str = "") -> schema.DeleteRunResponse:
        """Removes a run and everything it found."""
        return await self._connection.call(_METHODS["RunService/DeleteRun"], request, schema.DeleteRunResponse, idempotency_key=idempotency_key)

    async def archive_run(self, request: schema.ArchiveRunRequest, *, idempotency_key: str = "") -> schema.ArchiveRunResponse:
        """Puts a run away: it is kept, and listed only when asked for."""
        return await self._connection.call(_METHODS["RunService/ArchiveRun"], request, schema.ArchiveRunResponse, idempotency_key=idempotency_key)

    async def list_run_results(self, request: schema.ListRunResultsRequest, *, idempotency_key: str = "") -> schema.ListRunResultsResponse:
        """Lists what evaluators said about the records of a run, with the records."""
        return await self._connection.call(_METHODS["RunService/ListRunResults"], request, schema.ListRunResultsResponse, idempotency_key=idempotency_key)

    async def get_record_evidence(self, request: schema.GetRecordEvidenceRequest, *, idempotency_key: str = "") -> schema.GetRecordEvidenceResponse:
        """Gives one record of a run with all that was said about it."""
        return await self._connection.call(_METHODS["RunService/GetRecordEvidence"], request, schema.GetRecordEvidenceResponse, idempotency_key=idempotency_key)

    async def compare_runs(self, request: schema.CompareRunsRequest, *, idempotency_key: str = "") -> schema.CompareRunsResponse:
        """Compares two runs, record by record."""
        return await self._connection.call(_METHODS["RunService/CompareRuns"], request, schema.CompareRunsResponse, idempotency_key=idempotency_key)

    async def slice_runs(self, request: schema.SliceRunsRequest, *, idempotency_key: str = "") -> schema.SliceRunsResponse:
        """Parts the records of runs by what they say of themselves, and gives a metric for each part."""
        return await self._connection.call(_METHODS["RunService/SliceRuns"], request, schema.SliceRunsResponse, idempotency_key=idempotency_key)

    async def promote_results(self, request: schema.PromoteResultsRequest, *, idempotency_key: str = "") -> schema.PromoteResultsResponse:
        """Adds the records of a run that meet a condition to a dataset."""
        return await self._connection.call(_METHODS["RunService/PromoteResults"], request, schema.PromoteResultsResponse, idempotency_key=idempotency_key)

    async def create_shadow_replay(self, request: schema.CreateShadowReplayRequest, *, idempotency_key: str = "") -> schema.CreateShadowReplayResponse:
        """Asks for two runs: recorded live traffic as it was answered, and a candidate on the same inputs."""
        return await self._connection.call(_METHODS["RunService/CreateShadowReplay"], request, schema.CreateShadowReplayResponse, idempotency_key=idempotency_key)

    async def import_run(self, request: schema.ImportRunRequest, *, idempotency_key: str = "") -> schema.ImportRunResponse:
        """Stores a run that was made elsewhere."""
        return await self._connection.call(_METHODS["RunService/ImportRun"], request, schema.ImportRunResponse, idempotency_key=idempotency_key)

    def export_run(self, request: schema.ExportRunRequest) -> AsyncGenerator[bytes]:
        """Sends a run and all there is of it as one file, in pieces, which another store takes in. A run that is under way is
        sent as far as it is.
        """
        return self._connection.download(_METHODS["RunService/ExportRun"], request)

    async def rescore_run(self, request: schema.RescoreRunRequest, *, idempotency_key: str = "") -> schema.RescoreRunResponse:
        """Grades the answers a run kept once more, with other evaluators, as a run of its own. No target is asked."""
        return await self._connection.call(_METHODS["RunService/RescoreRun"], request, schema.RescoreRunResponse, idempotency_key=idempotency_key)


class Calls:
    """The calls, for ordinary code."""

    _calls: AsyncCalls

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError

    def _each(self, answers: AsyncGenerator[T]) -> Generator[T]:
        raise NotImplementedError

    def _given(self, items: Iterable[T]) -> AsyncIterable[T]:
        raise NotImplementedError

    def who_am_i(self, request: schema.WhoAmIRequest, *, idempotency_key: str = "") -> schema.WhoAmIResponse:
        """Says who the caller is and what the caller may do."""
        return self._wait(self._calls.who_am_i(request, idempotency_key=idempotency_key))

    def list_projects(self, request: schema.ListProjectsRequest, *, idempotency_key: str = "") -> schema.ListProjectsResponse:
        """Lists the projects the caller may see."""
        return self._wait(self._calls.list_projects(request, idempotency_key=idempotency_key))

    def create_project(self, request: schema.CreateProjectRequest, *, idempotency_key: str = "") -> schema.CreateProjectResponse:
        """Makes a project."""
        return self._wait(self._calls.create_project(request, idempotency_key=idempotency_key))

    def create_api_key(self, request: schema.CreateAPIKeyRequest, *, idempotency_key: str = "") -> schema.CreateAPIKeyResponse:
        """Makes a key. Its secret is in this answer and nowhere else."""
        return self._wait(self._calls.create_api_key(request, idempotency_key=idempotency_key))

    def list_api_keys(self, request: schema.ListAPIKeysRequest, *, idempotency_key: str = "") -> schema.ListAPIKeysResponse:
        """Lists keys, never their secrets."""
        return self._wait(self._calls.list_api_keys(request, idempotency_key=idempotency_key))

    def revoke_api_key(self, request: schema.RevokeAPIKeyRequest, *, idempotency_key: str = "") -> schema.RevokeAPIKeyResponse:
        """Makes a key worthless from now on."""
        return self._wait(self._calls.revoke_api_key(request, idempotency_key=idempotency_key))

    def list_roles(self, request: schema.ListRolesRequest, *, idempotency_key: str = "") -> schema.ListRolesResponse:
        """Lists roles."""
        return self._wait(self._calls.list_roles(request, idempotency_key=idempotency_key))

    def create_role(self, request: schema.CreateRoleRequest, *, idempotency_key: str = "") -> schema.CreateRoleResponse:
        """Makes a role."""
        return self._wait(self._calls.create_role(request, idempotency_key=idempotency_key))

    def update_role(self, request: schema.UpdateRoleRequest, *, idempotency_key: str = "") -> schema.UpdateRoleResponse:
        """Changes a role."""
        return self._wait(self._calls.update_role(request, idempotency_key=idempotency_key))

    def delete_role(self, request: schema.DeleteRoleRequest, *, idempotency_key: str = "") -> schema.DeleteRoleResponse:
        """Removes a role."""
        return self._wait(self._calls.delete_role(request, idempotency_key=idempotency_key))

    def list_permissions(self, request: schema.ListPermissionsRequest, *, idempotency_key: str = "") -> schema.ListPermissionsResponse:
        """Lists everything a role can allow."""
        return self._wait(self._calls.list_permissions(request, idempotency_key=idempotency_key))

    def list_bindings(self, request: schema.ListBindingsRequest, *, idempotency_key: str = "") -> schema.ListBindingsResponse:
        """Lists who has which role where."""
        return self._wait(self._calls.list_bindings(request, idempotency_key=idempotency_key))

    def create_binding(self, request: schema.CreateBindingRequest, *, idempotency_key: str = "") -> schema.CreateBindingResponse:
        """Gives somebody a role."""
        return self._wait(self._calls.create_binding(request, idempotency_key=idempotency_key))

    def delete_binding(self, request: schema.DeleteBindingRequest, *, idempotency_key: str = "") -> schema.DeleteBindingResponse:
        """Takes a role from somebody."""
        return self._wait(self._calls.delete_binding(request, idempotency_key=idempotency_key))

    def list_audit_events(self, request: schema.ListAuditEventsRequest, *, idempotency_key: str = "") -> schema.ListAuditEventsResponse:
        """Lists denied and changing calls, the newest first."""
        return self._wait(self._calls.list_audit_events(request, idempotency_key=idempotency_key))

    def verify_audit_log(self, request: schema.VerifyAuditLogRequest, *, idempotency_key: str = "") -> schema.VerifyAuditLogResponse:
        """Checks that nothing was taken out of the log or changed in it."""
        return self._wait(self._calls.verify_audit_log(request, idempotency_key=idempotency_key))

    def list_evaluators(self, request: schema.ListEvaluatorsRequest, *, idempotency_key: str = "") -> schema.ListEvaluatorsResponse:
        """Lists the evaluators and judges at hand."""
        return self._wait(self._calls.list_evaluators(request, idempotency_key=idempotency_key))

    def list_credentials(self, request: schema.ListCredentialsRequest, *, idempotency_key: str = "") -> schema.ListCredentialsResponse:
        """Lists the credentials a project may use, by name and never by value."""
        return self._wait(self._calls.list_credentials(request, idempotency_key=idempotency_key))

    def evaluate(self, request: schema.EvaluateRequest, *, idempotency_key: str = "") -> schema.EvaluateResponse:
        """Scores a batch of records and answers when all are done."""
        return self._wait(self._calls.evaluate(request, idempotency_key=idempotency_key))

    def evaluate_stream(self, requests: Iterable[schema.EvaluateStreamRequest]) -> Generator[schema.EvaluateStreamResponse]:
        """Scores records as they arrive; the first message is the configuration, results come in any order."""
        return self._each(self._calls.evaluate_stream(self._given(requests)))

    def publish_dataset_version(self, request: schema.PublishDatasetVersionRequest, *, idempotency_key: str = "") -> schema.PublishDatasetVersionResponse:
        """Stores a version from records in the request."""
        return self._wait(self._calls.publish_dataset_version(request, idempotency_key=idempotency_key))

    def list_dataset_versions(self, request: schema.ListDatasetVersionsRequest, *, idempotency_key: str = "") -> schema.ListDatasetVersionsResponse:
        """Lists versions, the newest first."""
        return self._wait(self._calls.list_dataset_versions(request, idempotency_key=idempotency_key))

    def get_dataset_version(self, request: schema.GetDatasetVersionRequest, *, idempotency_key: str = "") -> schema.GetDatasetVersionResponse:
        """Gives one version with its records."""
        return self._wait(self._calls.get_dataset_version(request, idempotency_key=idempotency_key))

    def review_dataset_version(self, request: schema.ReviewDatasetVersionRequest, *, idempotency_key: str = "") -> schema.ReviewDatasetVersionResponse:
        """Decides about a version: approved, or not to be used any more."""
        return self._wait(self._calls.review_dataset_version(request, idempotency_key=idempotency_key))

    def list_dataset_version_events(self, request: schema.ListDatasetVersionEventsRequest, *, idempotency_key: str = "") -> schema.ListDatasetVersionEventsResponse:
        """Lists what was decided about a version, the oldest first."""
        return self._wait(self._calls.list_dataset_version_events(request, idempotency_key=idempotency_key))

    def diff_dataset_versions(self, request: schema.DiffDatasetVersionsRequest, *, idempotency_key: str = "") -> schema.DiffDatasetVersionsResponse:
        """Says what differs between two versions."""
        return self._wait(self._calls.diff_dataset_versions(request, idempotency_key=idempotency_key))

    def upload_dataset_version(self, about: schema.DatasetUploadConfig, pieces: Iterable[bytes]) -> schema.UploadDatasetVersionResponse:
        """Stores a version from a file that is sent in pieces; the first message says what it is."""
        return self._wait(self._calls.upload_dataset_version(about, self._given(pieces)))

    def fetch_dataset_version(self, request: schema.FetchDatasetVersionRequest) -> Generator[bytes]:
        """Sends the records of a version as JSON Lines, in pieces."""
        return self._each(self._calls.fetch_dataset_version(request))

    def list_traces(self, request: schema.ListTracesRequest, *, idempotency_key: str = "") -> schema.ListTracesResponse:
        """Lists traces, the newest first."""
        return self._wait(self._calls.list_traces(request, idempotency_key=idempotency_key))

    def count_traces(self, request: schema.CountTracesRequest, *, idempotency_key: str = "") -> schema.CountTracesResponse:
        """Counts the traces of a choice by service, model, version, user, label and error."""
        return self._wait(self._calls.count_traces(request, idempotency_key=idempotency_key))

    def watch_traces(self, request: schema.WatchTracesRequest) -> Generator[schema.WatchTracesResponse]:
        """Follows traces as they become complete."""
        return self._each(self._calls.watch_traces(request))

    def get_trace(self, request: schema.GetTraceRequest, *, idempotency_key: str = "") -> schema.GetTraceResponse:
        """Gives a trace as a record with its trajectory, and what policies found in it."""
        return self._wait(self._calls.get_trace(request, idempotency_key=idempotency_key))

    def export_trace(self, request: schema.ExportTraceRequest) -> Generator[bytes]:
        """Gives a trace as it was sent: its spans with their resources, scopes and events, as a request of OTLP in protobuf.
        What is damaged is left out.
        """
        return self._each(self._calls.export_trace(request))

    def get_session(self, request: schema.GetSessionRequest, *, idempotency_key: str = "") -> schema.GetSessionResponse:
        """Gives the traces of a session in order of time, with what policies found in the session as a whole."""
        return self._wait(self._calls.get_session(request, idempotency_key=idempotency_key))

    def list_scores(self, request: schema.ListScoresRequest, *, idempotency_key: str = "") -> schema.ListScoresResponse:
        """Lists scores of traces, those of the newest trace first."""
        return self._wait(self._calls.list_scores(request, idempotency_key=idempotency_key))

    def list_feedback(self, request: schema.ListFeedbackRequest, *, idempotency_key: str = "") -> schema.ListFeedbackResponse:
        """Lists what was said about a trace or a session, the newest first."""
        return self._wait(self._calls.list_feedback(request, idempotency_key=idempotency_key))

    def delete_traces(self, request: schema.DeleteTracesRequest, *, idempotency_key: str = "") -> schema.DeleteTracesResponse:
        """Removes traces for good, with their scores and feedback: those named, or all of a session or user."""
        return self._wait(self._calls.delete_traces(request, idempotency_key=idempotency_key))

    def submit_feedback(self, request: schema.SubmitFeedbackRequest, *, idempotency_key: str = "") -> schema.SubmitFeedbackResponse:
        """Takes what a person or program said about traffic, at once or days later. Repeating it changes nothing."""
        return self._wait(self._calls.submit_feedback(request, idempotency_key=idempotency_key))

    def capture_failure(self, request: schema.CaptureFailureRequest, *, idempotency_key: str = "") -> schema.CaptureFailureResponse:
        """Puts a trace into the inbox. A trace that is there already, by its content, is not put in twice."""
        return self._wait(self._calls.capture_failure(request, idempotency_key=idempotency_key))

    def list_failures(self, request: schema.ListFailuresRequest, *, idempotency_key: str = "") -> schema.ListFailuresResponse:
        """Lists failures, the newest first."""
        return self._wait(self._calls.list_failures(request, idempotency_key=idempotency_key))

    def get_failure(self, request: schema.GetFailureRequest, *, idempotency_key: str = "") -> schema.GetFailureResponse:
        """Gives a failure."""
        return self._wait(self._calls.get_failure(request, idempotency_key=idempotency_key))

    def update_failure(self, request: schema.UpdateFailureRequest, *, idempotency_key: str = "") -> schema.UpdateFailureResponse:
        """Changes a failure: its record, title, reason, assignee or state."""
        return self._wait(self._calls.update_failure(request, idempotency_key=idempotency_key))

    def review_failure(self, request: schema.ReviewFailureRequest, *, idempotency_key: str = "") -> schema.ReviewFailureResponse:
        """Approves or dismisses a failure."""
        return self._wait(self._calls.review_failure(request, idempotency_key=idempotency_key))

    def list_failure_events(self, request: schema.ListFailureEventsRequest, *, idempotency_key: str = "") -> schema.ListFailureEventsResponse:
        """Lists what happened to a failure, the oldest first."""
        return self._wait(self._calls.list_failure_events(request, idempotency_key=idempotency_key))

    def export_failures(self, request: schema.ExportFailuresRequest, *, idempotency_key: str = "") -> schema.ExportFailuresResponse:
        """Gives approved failures as the records of a dataset."""
        return self._wait(self._calls.export_failures(request, idempotency_key=idempotency_key))

    def delete_failure(self, request: schema.DeleteFailureRequest, *, idempotency_key: str = "") -> schema.DeleteFailureResponse:
        """Removes a failure for good."""
        return self._wait(self._calls.delete_failure(request, idempotency_key=idempotency_key))

    def apply_policy(self, request: schema.ApplyPolicyRequest, *, idempotency_key: str = "") -> schema.ApplyPolicyResponse:
        """Makes a policy, or replaces the one of that name."""
        return self._wait(self._calls.apply_policy(request, idempotency_key=idempotency_key))

    def list_policies(self, request: schema.ListPoliciesRequest, *, idempotency_key: str = "") -> schema.ListPoliciesResponse:
        """Lists policies."""
        return self._wait(self._calls.list_policies(request, idempotency_key=idempotency_key))

    def delete_policy(self, request: schema.DeletePolicyRequest, *, idempotency_key: str = "") -> schema.DeletePolicyResponse:
        """Removes a policy. What it found stays."""
        return self._wait(self._calls.delete_policy(request, idempotency_key=idempotency_key))

    def get_policy_stats(self, request: schema.GetPolicyStatsRequest, *, idempotency_key: str = "") -> schema.GetPolicyStatsResponse:
        """Says what a policy did and found, now and over time."""
        return self._wait(self._calls.get_policy_stats(request, idempotency_key=idempotency_key))

    def test_policy(self, request: schema.TestPolicyRequest, *, idempotency_key: str = "") -> schema.TestPolicyResponse:
        """Says which stored traces a policy would have matched and what that would have cost. Nothing is evaluated."""
        return self._wait(self._calls.test_policy(request, idempotency_key=idempotency_key))

    def backfill_policy(self, request: schema.BackfillPolicyRequest, *, idempotency_key: str = "") -> schema.BackfillPolicyResponse:
        """Applies a policy to stored traces that it has not evaluated yet."""
        return self._wait(self._calls.backfill_policy(request, idempotency_key=idempotency_key))

    def compare_traffic(self, request: schema.CompareTrafficRequest, *, idempotency_key: str = "") -> schema.CompareTrafficResponse:
        """Compares what a policy found in two periods or versions, with the tests that compare runs."""
        return self._wait(self._calls.compare_traffic(request, idempotency_key=idempotency_key))

    def score_rewards(self, request: schema.ScoreRewardsRequest, *, idempotency_key: str = "") -> schema.ScoreRewardsResponse:
        """Scores a batch of rollouts and answers when all are done, in the order of the request."""
        return self._wait(self._calls.score_rewards(request, idempotency_key=idempotency_key))

    def create_run(self, request: schema.CreateRunRequest, *, idempotency_key: str = "") -> schema.CreateRunResponse:
        """Asks for a run. It is stored before the answer, and carried out as soon as there is room."""
        return self._wait(self._calls.create_run(request, idempotency_key=idempotency_key))

    def get_run(self, request: schema.GetRunRequest, *, idempotency_key: str = "") -> schema.GetRunResponse:
        """Gives one run."""
        return self._wait(self._calls.get_run(request, idempotency_key=idempotency_key))

    def list_runs(self, request: schema.ListRunsRequest, *, idempotency_key: str = "") -> schema.ListRunsResponse:
        """Lists runs, the newest first."""
        return self._wait(self._calls.list_runs(request, idempotency_key=idempotency_key))

    def watch_run(self, request: schema.WatchRunRequest) -> Generator[schema.WatchRunResponse]:
        """Follows a run until it ends: the run as it stands, then what changes, then the run as it ended."""
        return self._each(self._calls.watch_run(request))

    def cancel_run(self, request: schema.CancelRunRequest, *, idempotency_key: str = "") -> schema.CancelRunResponse:
        """Stops a run. What it found so far stays."""
        return self._wait(self._calls.cancel_run(request, idempotency_key=idempotency_key))

    def resume_run(self, request: schema.ResumeRunRequest, *, idempotency_key: str = "") -> schema.ResumeRunResponse:
        """Continues a run that was stopped or could not finish. What is stored is not done again."""
        return self._wait(self._calls.resume_run(request, idempotency_key=idempotency_key))

    def delete_run(self, request: schema.DeleteRunRequest, *, idempotency_key: str = "") -> schema.DeleteRunResponse:
        """Removes a run and everything it found."""
        return self._wait(self._calls.delete_run(request, idempotency_key=idempotency_key))

    def archive_run(self, request: schema.ArchiveRunRequest, *, idempotency_key: str = "") -> schema.ArchiveRunResponse:
        """Puts a run away: it is kept, and listed only when asked for."""
        return self._wait(self._calls.archive_run(request, idempotency_key=idempotency_key))

    def list_run_results(self, request: schema.ListRunResultsRequest, *, idempotency_key: str = "") -> schema.ListRunResultsResponse:
        """Lists what evaluators said about the records of a run, with the records."""
        return self._wait(self._calls.list_run_results(request, idempotency_key=idempotency_key))

    def get_record_evidence(self, request: schema.GetRecordEvidenceRequest, *, idempotency_key: str = "") -> schema.GetRecordEvidenceResponse:
        """Gives one record of a run with all that was said about it."""
        return self._wait(self._calls.get_record_evidence(request, idempotency_key=idempotency_key))

    def compare_runs(self, request: schema.CompareRunsRequest, *, idempotency_key: str = "") -> schema.CompareRunsResponse:
        """Compares two runs, record by record."""
        return self._wait(self._calls.compare_runs(request, idempotency_key=idempotency_key))

    def slice_runs(self, request: schema.SliceRunsRequest, *, idempotency_key: str = "") -> schema.SliceRunsResponse:
        """Parts the records of runs by what they say of themselves, and gives a metric for each part."""
        return self._wait(self._calls.slice_runs(request, idempotency_key=idempotency_key))

    def promote_results(self, request: schema.PromoteResultsRequest, *, idempotency_key: str = "") -> schema.PromoteResultsResponse:
        """Adds the records of a run that meet a condition to a dataset."""
        return self._wait(self._calls.promote_results(request, idempotency_key=idempotency_key))

    def create_shadow_replay(self, request: schema.CreateShadowReplayRequest, *, idempotency_key: str = "") -> schema.CreateShadowReplayResponse:
        """Asks for two runs: recorded live traffic as it was answered, and a candidate on the same inputs."""
        return self._wait(self._calls.create_shadow_replay(request, idempotency_key=idempotency_key))

    def import_run(self, request: schema.ImportRunRequest, *, idempotency_key: str = "") -> schema.ImportRunResponse:
        """Stores a run that was made elsewhere."""
        return self._wait(self._calls.import_run(request, idempotency_key=idempotency_key))

    def export_run(self, request: schema.ExportRunRequest) -> Generator[bytes]:
        """Sends a run and all there is of it as one file, in pieces, which another store takes in. A run that is under way is
        sent as far as it is.
        """
        return self._each(self._calls.export_run(request))

    def rescore_run(self, request: schema.RescoreRunRequest, *, idempotency_key: str = "") -> schema.RescoreRunResponse:
        """Grades the answers a run kept once more, with other evaluators, as a run of its own. No target is asked."""
        return self._wait(self._calls.rescore_run(request, idempotency_key=idempotency_key))
