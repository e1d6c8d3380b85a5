# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""A function for each message and written form, from a Struct to plain JSON values.

Used through `evalsi.schema.json_codec`, which describes the two forms.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from evalsi.schema.json_text import duration_text, milliseconds, timestamp_text

if TYPE_CHECKING:
    from evalsi.schema import (
        A2AAgent,
        APIKey,
        AgentBudget,
        AgentTarget,
        Alert,
        AlertState,
        ApplyPolicyRequest,
        ApplyPolicyResponse,
        ArchiveRunRequest,
        ArchiveRunResponse,
        AuditEvent,
        BackfillPolicyRequest,
        BackfillPolicyResponse,
        BoundRunEvaluator,
        Budget,
        BuiltinHarness,
        CLIAgent,
        CancelRunRequest,
        CancelRunResponse,
        CaptureFailureRequest,
        CaptureFailureResponse,
        CascadeStage,
        Checker,
        CommandHarness,
        CommandTarget,
        CompareRunsRequest,
        CompareRunsResponse,
        CompareTrafficRequest,
        CompareTrafficResponse,
        ConfidenceInterval,
        Content,
        ContextManagement,
        CountTracesRequest,
        CountTracesResponse,
        CreateAPIKeyRequest,
        CreateAPIKeyResponse,
        CreateBindingRequest,
        CreateBindingResponse,
        CreateProjectRequest,
        CreateProjectResponse,
        CreateRoleRequest,
        CreateRoleResponse,
        CreateRunRequest,
        CreateRunResponse,
        CreateShadowReplayRequest,
        CreateShadowReplayResponse,
        CredentialGrant,
        DatasetManifest,
        DatasetRecordChange,
        DatasetSource,
        DatasetUploadConfig,
        DatasetVersion,
        DatasetVersionContent,
        DatasetVersionEvent,
        DatasetVersionRef,
        DeleteBindingRequest,
        DeleteBindingResponse,
        DeleteFailureRequest,
        DeleteFailureResponse,
        DeletePolicyRequest,
        DeletePolicyResponse,
        DeleteRoleRequest,
        DeleteRoleResponse,
        DeleteRunRequest,
        DeleteRunResponse,
        DeleteTracesRequest,
        DeleteTracesResponse,
        DiffDatasetVersionsRequest,
        DiffDatasetVersionsResponse,
        Environment,
        EnvironmentService,
        EscalationPolicy,
        EvalRun,
        EvaluateRequest,
        EvaluateResponse,
        EvaluateStreamConfig,
        EvaluateStreamRequest,
        EvaluateStreamResponse,
        EvaluationResult,
        EvaluatorExample,
        EvaluatorManifest,
        EvaluatorRef,
        ExportFailuresRequest,
        ExportFailuresResponse,
        ExportRunRequest,
        ExportRunResponse,
        ExportTraceRequest,
        ExportTraceResponse,
        ExternalHarness,
        FailureCase,
        FailureEvent,
        FailureSelection,
        Feedback,
        FetchDatasetVersionRequest,
        FetchDatasetVersionResponse,
        FewShotExample,
        Gate,
        GateResult,
        GetDatasetVersionRequest,
        GetDatasetVersionResponse,
        GetFailureRequest,
        GetFailureResponse,
        GetPolicyStatsRequest,
        GetPolicyStatsResponse,
        GetRecordEvidenceRequest,
        GetRecordEvidenceResponse,
        GetRunRequest,
        GetRunResponse,
        GetSessionRequest,
        GetSessionResponse,
        GetTraceRequest,
        GetTraceResponse,
        GitState,
        HTTPAgent,
        Harness,
        Hook,
        ImportRunRequest,
        ImportRunResponse,
        InlineRecords,
        Interjection,
        IsolationReport,
        JudgeManifest,
        JudgeSpec,
        ListAPIKeysRequest,
        ListAPIKeysResponse,
        ListAuditEventsRequest,
        ListAuditEventsResponse,
        ListBindingsRequest,
        ListBindingsResponse,
        ListCredentialsRequest,
        ListCredentialsResponse,
        ListDatasetVersionEventsRequest,
        ListDatasetVersionEventsResponse,
        ListDatasetVersionsRequest,
        ListDatasetVersionsResponse,
        ListEvaluatorsRequest,
        ListEvaluatorsResponse,
        ListFailureEventsRequest,
        ListFailureEventsResponse,
        ListFailuresRequest,
        ListFailuresResponse,
        ListFeedbackRequest,
        ListFeedbackResponse,
        ListPermissionsRequest,
        ListPermissionsResponse,
        ListPoliciesRequest,
        ListPoliciesResponse,
        ListProjectsRequest,
        ListProjectsResponse,
        ListRolesRequest,
        ListRolesResponse,
        ListRunResultsRequest,
        ListRunResultsResponse,
        ListRunsRequest,
        ListRunsResponse,
        ListScoresRequest,
        ListScoresResponse,
        ListTracesRequest,
        ListTracesResponse,
        MCPAgent,
        MCPOAuth,
        MCPServer,
        MediaRef,
        Message,
        Messages,
        MetricComparison,
        MetricDrift,
        MetricSpec,
        MetricSummaries,
        MetricSummary,
        MetricWindow,
        MockTool,
        Observation,
        OnlineEvalPolicy,
        Permission,
        PluginDescribeRequest,
        PluginDescribeResponse,
        PluginEvaluateRequest,
        PluginEvaluateResponse,
        PolicyBudget,
        PolicyResults,
        PolicyStats,
        PolicyView,
        Pricing,
        Principal,
        Progress,
        Project,
        ProjectAccess,
        PromoteResultsRequest,
        PromoteResultsResponse,
        Promotion,
        Provenance,
        PublishDatasetVersionRequest,
        PublishDatasetVersionResponse,
        Record,
        Recording,
        RejectedLine,
        Requirements,
        RescoreRunRequest,
        RescoreRunResponse,
        ResponsesAgent,
        ResultsFile,
        ResultsLayout,
        ResumeRunRequest,
        ResumeRunResponse,
        ReviewDatasetVersionRequest,
        ReviewDatasetVersionResponse,
        ReviewFailureRequest,
        ReviewFailureResponse,
        RevokeAPIKeyRequest,
        RevokeAPIKeyResponse,
        Reward,
        RewardClip,
        RewardComponent,
        RewardComponentResult,
        RewardSpec,
        Role,
        RoleBinding,
        RoleList,
        Run,
        RunEvaluationContract,
        RunManifest,
        RunMetadata,
        RunOutputs,
        RunProvenance,
        RunRecordEvidence,
        RunSpec,
        Sampling,
        SandboxCreateRequest,
        SandboxCreateResponse,
        SandboxDeleteSnapshotRequest,
        SandboxDeleteSnapshotResponse,
        SandboxDestroyRequest,
        SandboxDestroyResponse,
        SandboxEgressEvent,
        SandboxExecRequest,
        SandboxExecResponse,
        SandboxExecResult,
        SandboxFile,
        SandboxNetworkPolicy,
        SandboxPolicy,
        SandboxProbeRequest,
        SandboxProbeResponse,
        SandboxPythonRun,
        SandboxReadFilesRequest,
        SandboxReadFilesResponse,
        SandboxRenewRequest,
        SandboxRenewResponse,
        SandboxResources,
        SandboxRestoreRequest,
        SandboxRestoreResponse,
        SandboxRunPythonRequest,
        SandboxRunPythonResponse,
        SandboxRungStatus,
        SandboxServiceStatus,
        SandboxSnapshotRequest,
        SandboxSnapshotResponse,
        SandboxSpec,
        SandboxStatsRequest,
        SandboxStatsResponse,
        SandboxWriteFilesRequest,
        SandboxWriteFilesResponse,
        Scheduling,
        Score,
        ScoreRewardsRequest,
        ScoreRewardsResponse,
        Sink,
        SinkState,
        SliceRow,
        SliceRunsRequest,
        SliceRunsResponse,
        SliceSummary,
        Step,
        SubmitFeedbackRequest,
        SubmitFeedbackResponse,
        SummaryOptions,
        TabularRow,
        Target,
        TaskCheck,
        Tensor,
        TestPolicyRequest,
        TestPolicyResponse,
        Thinking,
        ToolCall,
        ToolDefinition,
        ToolFault,
        Tools,
        TraceFacet,
        TraceFilter,
        TraceProvenance,
        TraceQuery,
        TraceScores,
        TraceSummary,
        TrafficComparison,
        TrafficSlice,
        Trajectory,
        TrialAdvice,
        TrialVariance,
        Unpinned,
        UpdateFailureRequest,
        UpdateFailureResponse,
        UpdateRoleRequest,
        UpdateRoleResponse,
        UploadDatasetVersionRequest,
        UploadDatasetVersionResponse,
        Usage,
        UserSimulator,
        VerifyAuditLogRequest,
        VerifyAuditLogResponse,
        WatchRunRequest,
        WatchRunResponse,
        WatchTracesRequest,
        WatchTracesResponse,
        WhoAmIRequest,
        WhoAmIResponse,
    )


def rest_Record(m: Record) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "context": [rest_Content(v) for v in m.context],
        "metadata": m.metadata,
        "notes": m.notes,
        "stopReason": m.stop_reason,
    }
    v = m.input
    if v is not None:
        d["input"] = rest_Content(v)
    v = m.output
    if v is not None:
        d["output"] = rest_Content(v)
    v = m.reference
    if v is not None:
        d["reference"] = rest_Content(v)
    v = m.trajectory
    if v is not None:
        d["trajectory"] = rest_Trajectory(v)
    v = m.usage
    if v is not None:
        d["usage"] = rest_Usage(v)
    v = m.provenance
    if v is not None:
        d["provenance"] = rest_Provenance(v)
    v = m.check
    if v is not None:
        d["check"] = rest_TaskCheck(v)
    return d


def file_Record(m: Record) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    v = m.input
    if v is not None:
        d["input"] = file_Content(v)
    v = m.output
    if v is not None:
        d["output"] = file_Content(v)
    v = m.reference
    if v is not None:
        d["reference"] = file_Content(v)
    if m.context:
        d["context"] = [file_Content(v) for v in m.context]
    v = m.trajectory
    if v is not None:
        d["trajectory"] = file_Trajectory(v)
    v = m.usage
    if v is not None:
        d["usage"] = file_Usage(v)
    if m.metadata:
        d["metadata"] = m.metadata
    v = m.provenance
    if v is not None:
        d["provenance"] = file_Provenance(v)
    v = m.check
    if v is not None:
        d["check"] = file_TaskCheck(v)
    if m.notes:
        d["notes"] = m.notes
    if m.stop_reason:
        d["stop_reason"] = m.stop_reason
    return d


def rest_TaskCheck(m: TaskCheck) -> dict[str, Any]:
    d: dict[str, Any] = {
        "passed": m.passed,
        "details": m.details,
        "tests": m.tests,
        "error": m.error,
    }
    v = m.score
    if v is not None:
        d["score"] = v
    return d


def file_TaskCheck(m: TaskCheck) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["passed"] = m.passed
    v = m.score
    if v is not None:
        d["score"] = v
    if m.details:
        d["details"] = m.details
    if m.tests:
        d["tests"] = m.tests
    if m.error:
        d["error"] = m.error
    return d


def rest_Content(m: Content) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.text
    if v is not None:
        d["text"] = v
    v = m.messages
    if v is not None:
        d["messages"] = rest_Messages(v)
    v = m.json
    if v is not UNSET:
        d["json"] = v
    v = m.row
    if v is not None:
        d["row"] = rest_TabularRow(v)
    v = m.tensor
    if v is not None:
        d["tensor"] = rest_Tensor(v)
    v = m.media
    if v is not None:
        d["media"] = rest_MediaRef(v)
    return d


def file_Content(m: Content) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.text
    if v is not None:
        d["text"] = v
    v = m.messages
    if v is not None:
        d["messages"] = file_Messages(v)
    v = m.json
    if v is not UNSET:
        d["json"] = v
    v = m.row
    if v is not None:
        d["row"] = file_TabularRow(v)
    v = m.tensor
    if v is not None:
        d["tensor"] = file_Tensor(v)
    v = m.media
    if v is not None:
        d["media"] = file_MediaRef(v)
    return d


def rest_Messages(m: Messages) -> dict[str, Any]:
    d: dict[str, Any] = {
        "messages": [rest_Message(v) for v in m.messages],
    }
    return d


def file_Messages(m: Messages) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.messages:
        d["messages"] = [file_Message(v) for v in m.messages]
    return d


def rest_Message(m: Message) -> dict[str, Any]:
    d: dict[str, Any] = {
        "role": m.role,
        "content": m.content,
        "toolCalls": [rest_ToolCall(v) for v in m.tool_calls],
        "toolCallId": m.tool_call_id,
        "name": m.name,
    }
    return d


def file_Message(m: Message) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.role:
        d["role"] = m.role
    if m.content:
        d["content"] = m.content
    if m.tool_calls:
        d["tool_calls"] = [file_ToolCall(v) for v in m.tool_calls]
    if m.tool_call_id:
        d["tool_call_id"] = m.tool_call_id
    if m.name:
        d["name"] = m.name
    return d


def rest_ToolCall(m: ToolCall) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "name": m.name,
        "arguments": m.arguments,
    }
    return d


def file_ToolCall(m: ToolCall) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.name:
        d["name"] = m.name
    if m.arguments:
        d["arguments"] = m.arguments
    return d


def rest_TabularRow(m: TabularRow) -> dict[str, Any]:
    d: dict[str, Any] = {
        "features": m.features,
        "probabilities": m.probabilities,
    }
    v = m.prediction
    if v is not UNSET:
        d["prediction"] = v
    return d


def file_TabularRow(m: TabularRow) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.features:
        d["features"] = m.features
    v = m.prediction
    if v is not UNSET:
        d["prediction"] = v
    if m.probabilities:
        d["probabilities"] = m.probabilities
    return d


def rest_Tensor(m: Tensor) -> dict[str, Any]:
    d: dict[str, Any] = {
        "shape": m.shape,
        "dtype": m.dtype,
        "data": b64encode(m.data).decode("ascii"),
    }
    return d


def file_Tensor(m: Tensor) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.shape:
        d["shape"] = m.shape
    if m.dtype:
        d["dtype"] = m.dtype
    if m.data:
        d["data"] = b64encode(m.data).decode("ascii")
    return d


def rest_MediaRef(m: MediaRef) -> dict[str, Any]:
    d: dict[str, Any] = {
        "uri": m.uri,
        "mediaType": m.media_type,
    }
    return d


def file_MediaRef(m: MediaRef) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.uri:
        d["uri"] = m.uri
    if m.media_type:
        d["media_type"] = m.media_type
    return d


def rest_Trajectory(m: Trajectory) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traceId": m.trace_id,
        "sessionId": m.session_id,
        "steps": [rest_Step(v) for v in m.steps],
    }
    return d


def file_Trajectory(m: Trajectory) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.session_id:
        d["session_id"] = m.session_id
    if m.steps:
        d["steps"] = [file_Step(v) for v in m.steps]
    return d


def rest_Step(m: Step) -> dict[str, Any]:
    d: dict[str, Any] = {
        "spanId": m.span_id,
        "parentSpanId": m.parent_span_id,
        "type": m.type.proto_name,
        "name": m.name,
        "error": m.error,
        "attributes": m.attributes,
    }
    v = m.input
    if v is not None:
        d["input"] = rest_Content(v)
    v = m.output
    if v is not None:
        d["output"] = rest_Content(v)
    v = m.start_time
    if v is not None:
        d["startTime"] = timestamp_text(v)
    v = m.end_time
    if v is not None:
        d["endTime"] = timestamp_text(v)
    v = m.usage
    if v is not None:
        d["usage"] = rest_Usage(v)
    v = m.duration
    if v is not None:
        d["duration"] = duration_text(v)
    return d


def file_Step(m: Step) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.span_id:
        d["span_id"] = m.span_id
    if m.parent_span_id:
        d["parent_span_id"] = m.parent_span_id
    if m.type.number:
        d["type"] = m.type.value
    if m.name:
        d["name"] = m.name
    v = m.input
    if v is not None:
        d["input"] = file_Content(v)
    v = m.output
    if v is not None:
        d["output"] = file_Content(v)
    v = m.start_time
    if v is not None:
        d["start_time"] = timestamp_text(v)
    v = m.end_time
    if v is not None:
        d["end_time"] = timestamp_text(v)
    v = m.usage
    if v is not None:
        d["usage"] = file_Usage(v)
    if m.error:
        d["error"] = m.error
    if m.attributes:
        d["attributes"] = m.attributes
    v = m.duration
    if v is not None:
        d["duration_ms"] = milliseconds(v)
    return d


def rest_Usage(m: Usage) -> dict[str, Any]:
    d: dict[str, Any] = {
        "cached": m.cached,
        "unpricedRequests": m.unpriced_requests,
    }
    v = m.input_tokens
    if v is not None:
        d["inputTokens"] = v
    v = m.output_tokens
    if v is not None:
        d["outputTokens"] = v
    v = m.cost_usd
    if v is not None:
        d["costUsd"] = v
    v = m.latency
    if v is not None:
        d["latency"] = duration_text(v)
    v = m.cached_input_tokens
    if v is not None:
        d["cachedInputTokens"] = v
    v = m.cache_write_tokens
    if v is not None:
        d["cacheWriteTokens"] = v
    v = m.reasoning_tokens
    if v is not None:
        d["reasoningTokens"] = v
    v = m.cached_cost_usd
    if v is not None:
        d["cachedCostUsd"] = v
    v = m.requests
    if v is not None:
        d["requests"] = v
    v = m.time_to_first_token
    if v is not None:
        d["timeToFirstToken"] = duration_text(v)
    return d


def file_Usage(m: Usage) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.input_tokens
    if v is not None:
        d["input_tokens"] = v
    v = m.output_tokens
    if v is not None:
        d["output_tokens"] = v
    v = m.cost_usd
    if v is not None:
        d["cost_usd"] = v
    v = m.latency
    if v is not None:
        d["latency_ms"] = milliseconds(v)
    v = m.cached_input_tokens
    if v is not None:
        d["cached_input_tokens"] = v
    v = m.cache_write_tokens
    if v is not None:
        d["cache_write_tokens"] = v
    v = m.reasoning_tokens
    if v is not None:
        d["reasoning_tokens"] = v
    d["cached"] = m.cached
    v = m.cached_cost_usd
    if v is not None:
        d["cached_cost_usd"] = v
    v = m.requests
    if v is not None:
        d["requests"] = v
    d["unpriced_requests"] = m.unpriced_requests
    v = m.time_to_first_token
    if v is not None:
        d["time_to_first_token"] = duration_text(v)
    return d


def rest_Provenance(m: Provenance) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_RunProvenance(v)
    v = m.trace
    if v is not None:
        d["trace"] = rest_TraceProvenance(v)
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    return d


def file_Provenance(m: Provenance) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_RunProvenance(v)
    v = m.trace
    if v is not None:
        d["trace"] = file_TraceProvenance(v)
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    return d


def rest_RunProvenance(m: RunProvenance) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "taskId": m.task_id,
        "trial": m.trial,
    }
    return d


def file_RunProvenance(m: RunProvenance) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.task_id:
        d["task_id"] = m.task_id
    d["trial"] = m.trial
    return d


def rest_TraceProvenance(m: TraceProvenance) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traceId": m.trace_id,
        "policyId": m.policy_id,
    }
    return d


def file_TraceProvenance(m: TraceProvenance) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.policy_id:
        d["policy_id"] = m.policy_id
    return d


def rest_IsolationReport(m: IsolationReport) -> dict[str, Any]:
    d: dict[str, Any] = {
        "driver": m.driver,
        "level": m.level.proto_name,
        "enforcement": m.enforcement.proto_name,
        "notes": m.notes,
        "limits": m.limits,
    }
    return d


def file_IsolationReport(m: IsolationReport) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.driver:
        d["driver"] = m.driver
    if m.level.number:
        d["level"] = m.level.value
    if m.enforcement.number:
        d["enforcement"] = m.enforcement.value
    if m.notes:
        d["notes"] = m.notes
    if m.limits:
        d["limits"] = m.limits
    return d


def rest_Score(m: Score) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "explanation": m.explanation,
        "metadata": m.metadata,
    }
    v = m.number
    if v is not None:
        d["number"] = v
    v = m.passed
    if v is not None:
        d["passed"] = v
    v = m.label
    if v is not None:
        d["label"] = v
    v = m.structured
    if v is not UNSET:
        d["structured"] = v
    v = m.confidence
    if v is not None:
        d["confidence"] = v
    v = m.cost
    if v is not None:
        d["cost"] = rest_Usage(v)
    return d


def file_Score(m: Score) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    v = m.number
    if v is not None:
        d["number"] = v
    v = m.passed
    if v is not None:
        d["passed"] = v
    v = m.label
    if v is not None:
        d["label"] = v
    v = m.structured
    if v is not UNSET:
        d["structured"] = v
    if m.explanation:
        d["explanation"] = m.explanation
    v = m.confidence
    if v is not None:
        d["confidence"] = v
    v = m.cost
    if v is not None:
        d["cost"] = file_Usage(v)
    if m.metadata:
        d["metadata"] = m.metadata
    return d


def rest_EvaluationResult(m: EvaluationResult) -> dict[str, Any]:
    d: dict[str, Any] = {
        "recordId": m.record_id,
        "evaluator": m.evaluator,
        "evaluatorRef": m.evaluator_ref,
        "outcome": m.outcome.proto_name,
        "scores": [rest_Score(v) for v in m.scores],
        "reason": m.reason,
        "trial": m.trial,
        "errorKind": m.error_kind.proto_name,
        "fault": m.fault.proto_name,
        "spanId": m.span_id,
        "sessionId": m.session_id,
        "rawReply": m.raw_reply,
        "detail": m.detail,
        "warnings": m.warnings,
        "attempts": m.attempts,
    }
    v = m.duration
    if v is not None:
        d["duration"] = duration_text(v)
    v = m.usage
    if v is not None:
        d["usage"] = rest_Usage(v)
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    return d


def file_EvaluationResult(m: EvaluationResult) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.record_id:
        d["record_id"] = m.record_id
    if m.evaluator:
        d["evaluator"] = m.evaluator
    if m.evaluator_ref:
        d["evaluator_ref"] = m.evaluator_ref
    if m.outcome.number:
        d["outcome"] = m.outcome.value
    if m.scores:
        d["scores"] = [file_Score(v) for v in m.scores]
    if m.reason:
        d["reason"] = m.reason
    v = m.duration
    if v is not None:
        d["duration_ms"] = milliseconds(v)
    d["trial"] = m.trial
    if m.error_kind.number:
        d["error_kind"] = m.error_kind.value
    if m.fault.number:
        d["fault"] = m.fault.value
    if m.span_id:
        d["span_id"] = m.span_id
    if m.session_id:
        d["session_id"] = m.session_id
    v = m.usage
    if v is not None:
        d["usage"] = file_Usage(v)
    if m.raw_reply:
        d["raw_reply"] = m.raw_reply
    if m.detail:
        d["detail"] = m.detail
    if m.warnings:
        d["warnings"] = m.warnings
    d["attempts"] = m.attempts
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    return d


def rest_MetricSummary(m: MetricSummary) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "evaluator": m.evaluator,
        "kind": m.kind.proto_name,
        "n": m.n,
        "skipped": m.skipped,
        "errors": m.errors,
        "labels": m.labels,
        "total": m.total,
        "cancelled": m.cancelled,
        "errorKinds": m.error_kinds,
        "skipReasons": m.skip_reasons,
        "evaluatorRef": m.evaluator_ref,
        "unit": m.unit,
        "notes": m.notes,
    }
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.std
    if v is not None:
        d["std"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    v = m.clusters
    if v is not None:
        d["clusters"] = v
    v = m.coverage
    if v is not None:
        d["coverage"] = v
    v = m.higher_is_better
    if v is not None:
        d["higherIsBetter"] = v
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.median
    if v is not None:
        d["median"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    v = m.trial_variance
    if v is not None:
        d["trialVariance"] = rest_TrialVariance(v)
    return d


def file_MetricSummary(m: MetricSummary) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    if m.evaluator:
        d["evaluator"] = m.evaluator
    if m.kind.number:
        d["kind"] = m.kind.value
    d["n"] = m.n
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.std
    if v is not None:
        d["std"] = v
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    d["skipped"] = m.skipped
    d["errors"] = m.errors
    if m.labels:
        d["labels"] = m.labels
    v = m.clusters
    if v is not None:
        d["clusters"] = v
    d["total"] = m.total
    d["cancelled"] = m.cancelled
    v = m.coverage
    if v is not None:
        d["coverage"] = v
    v = m.higher_is_better
    if v is not None:
        d["higher_is_better"] = v
    if m.error_kinds:
        d["error_kinds"] = m.error_kinds
    if m.skip_reasons:
        d["skip_reasons"] = m.skip_reasons
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.median
    if v is not None:
        d["median"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    if m.evaluator_ref:
        d["evaluator_ref"] = m.evaluator_ref
    if m.unit:
        d["unit"] = m.unit
    if m.notes:
        d["notes"] = m.notes
    v = m.trial_variance
    if v is not None:
        d["trial_variance"] = file_TrialVariance(v)
    return d


def rest_TrialVariance(m: TrialVariance) -> dict[str, Any]:
    d: dict[str, Any] = {
        "betweenRecords": m.between_records,
        "withinRecords": m.within_records,
        "records": m.records,
        "trials": m.trials,
    }
    v = m.intraclass_correlation
    if v is not None:
        d["intraclassCorrelation"] = v
    return d


def file_TrialVariance(m: TrialVariance) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["between_records"] = m.between_records
    d["within_records"] = m.within_records
    v = m.intraclass_correlation
    if v is not None:
        d["intraclass_correlation"] = v
    d["records"] = m.records
    d["trials"] = m.trials
    return d


def rest_ConfidenceInterval(m: ConfidenceInterval) -> dict[str, Any]:
    d: dict[str, Any] = {
        "low": m.low,
        "high": m.high,
        "level": m.level,
        "method": m.method,
        "resamples": m.resamples,
    }
    v = m.seed
    if v is not None:
        d["seed"] = v
    return d


def file_ConfidenceInterval(m: ConfidenceInterval) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["low"] = m.low
    d["high"] = m.high
    d["level"] = m.level
    if m.method:
        d["method"] = m.method
    d["resamples"] = m.resamples
    v = m.seed
    if v is not None:
        d["seed"] = v
    return d


def rest_EvaluatorRef(m: EvaluatorRef) -> dict[str, Any]:
    d: dict[str, Any] = {
        "ref": m.ref,
        "params": m.params,
        "name": m.name,
        "judge": m.judge,
    }
    v = m.deadline
    if v is not None:
        d["deadline"] = duration_text(v)
    return d


def file_EvaluatorRef(m: EvaluatorRef) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.ref:
        d["ref"] = m.ref
    if m.params:
        d["params"] = m.params
    if m.name:
        d["name"] = m.name
    if m.judge:
        d["judge"] = m.judge
    v = m.deadline
    if v is not None:
        d["deadline"] = duration_text(v)
    return d


def rest_Requirements(m: Requirements) -> dict[str, Any]:
    d: dict[str, Any] = {
        "input": m.input,
        "output": m.output,
        "reference": m.reference,
        "context": m.context,
        "trajectory": m.trajectory,
        "judge": m.judge,
        "isolation": m.isolation.proto_name,
        "usage": m.usage,
        "check": m.check,
        "metadata": m.metadata,
    }
    return d


def file_Requirements(m: Requirements) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["input"] = m.input
    d["output"] = m.output
    d["reference"] = m.reference
    d["context"] = m.context
    d["trajectory"] = m.trajectory
    d["judge"] = m.judge
    if m.isolation.number:
        d["isolation"] = m.isolation.value
    d["usage"] = m.usage
    d["check"] = m.check
    if m.metadata:
        d["metadata"] = m.metadata
    return d


def rest_MetricSpec(m: MetricSpec) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "type": m.type.proto_name,
        "description": m.description,
        "interval": m.interval,
        "unit": m.unit,
        "labels": m.labels,
    }
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    v = m.higher_is_better
    if v is not None:
        d["higherIsBetter"] = v
    return d


def file_MetricSpec(m: MetricSpec) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.type.number:
        d["type"] = m.type.value
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    v = m.higher_is_better
    if v is not None:
        d["higher_is_better"] = v
    if m.description:
        d["description"] = m.description
    if m.interval:
        d["interval"] = m.interval
    if m.unit:
        d["unit"] = m.unit
    if m.labels:
        d["labels"] = m.labels
    return d


def rest_Scheduling(m: Scheduling) -> dict[str, Any]:
    d: dict[str, Any] = {
        "pool": m.pool,
        "batchable": m.batchable,
        "maxBatch": m.max_batch,
    }
    return d


def file_Scheduling(m: Scheduling) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.pool:
        d["pool"] = m.pool
    d["batchable"] = m.batchable
    d["max_batch"] = m.max_batch
    return d


def rest_EvaluatorManifest(m: EvaluatorManifest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "version": m.version,
        "description": m.description,
        "pack": m.pack,
        "scope": m.scope.proto_name,
        "modalities": m.modalities,
        "outputs": [rest_MetricSpec(v) for v in m.outputs],
        "paramsSchema": m.params_schema,
        "tier": m.tier,
        "runtime": m.runtime,
        "entryPoint": m.entry_point,
        "distribution": m.distribution,
        "deprecated": m.deprecated,
    }
    v = m.requires
    if v is not None:
        d["requires"] = rest_Requirements(v)
    v = m.scheduling
    if v is not None:
        d["scheduling"] = rest_Scheduling(v)
    v = m.example
    if v is not None:
        d["example"] = rest_EvaluatorExample(v)
    return d


def file_EvaluatorManifest(m: EvaluatorManifest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    if m.description:
        d["description"] = m.description
    if m.pack:
        d["pack"] = m.pack
    if m.scope.number:
        d["scope"] = m.scope.value
    if m.modalities:
        d["modalities"] = m.modalities
    v = m.requires
    if v is not None:
        d["requires"] = file_Requirements(v)
    if m.outputs:
        d["outputs"] = [file_MetricSpec(v) for v in m.outputs]
    if m.params_schema:
        d["params_schema"] = m.params_schema
    v = m.scheduling
    if v is not None:
        d["scheduling"] = file_Scheduling(v)
    if m.tier:
        d["tier"] = m.tier
    if m.runtime:
        d["runtime"] = m.runtime
    if m.entry_point:
        d["entry_point"] = m.entry_point
    v = m.example
    if v is not None:
        d["example"] = file_EvaluatorExample(v)
    if m.distribution:
        d["distribution"] = m.distribution
    if m.deprecated:
        d["deprecated"] = m.deprecated
    return d


def rest_EvaluatorExample(m: EvaluatorExample) -> dict[str, Any]:
    d: dict[str, Any] = {
        "params": m.params,
        "scores": [rest_Score(v) for v in m.scores],
    }
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    return d


def file_EvaluatorExample(m: EvaluatorExample) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    if m.params:
        d["params"] = m.params
    if m.scores:
        d["scores"] = [file_Score(v) for v in m.scores]
    return d


def rest_PluginDescribeRequest(m: PluginDescribeRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_PluginDescribeRequest(m: PluginDescribeRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_PluginDescribeResponse(m: PluginDescribeResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "evaluators": [rest_EvaluatorManifest(v) for v in m.evaluators],
    }
    return d


def file_PluginDescribeResponse(m: PluginDescribeResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorManifest(v) for v in m.evaluators]
    return d


def rest_PluginEvaluateRequest(m: PluginEvaluateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "batchId": m.batch_id,
        "evaluator": m.evaluator,
        "params": m.params,
        "records": [rest_Record(v) for v in m.records],
        "judge": m.judge,
    }
    return d


def file_PluginEvaluateRequest(m: PluginEvaluateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.batch_id:
        d["batch_id"] = m.batch_id
    if m.evaluator:
        d["evaluator"] = m.evaluator
    if m.params:
        d["params"] = m.params
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.judge:
        d["judge"] = m.judge
    return d


def rest_PluginEvaluateResponse(m: PluginEvaluateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "batchId": m.batch_id,
        "results": [rest_EvaluationResult(v) for v in m.results],
    }
    return d


def file_PluginEvaluateResponse(m: PluginEvaluateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.batch_id:
        d["batch_id"] = m.batch_id
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    return d


def rest_AgentTarget(m: AgentTarget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.a2a
    if v is not None:
        d["a2a"] = rest_A2AAgent(v)
    v = m.mcp
    if v is not None:
        d["mcp"] = rest_MCPAgent(v)
    v = m.responses
    if v is not None:
        d["responses"] = rest_ResponsesAgent(v)
    v = m.http
    if v is not None:
        d["http"] = rest_HTTPAgent(v)
    v = m.cli
    if v is not None:
        d["cli"] = rest_CLIAgent(v)
    return d


def file_AgentTarget(m: AgentTarget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.a2a
    if v is not None:
        d["a2a"] = file_A2AAgent(v)
    v = m.mcp
    if v is not None:
        d["mcp"] = file_MCPAgent(v)
    v = m.responses
    if v is not None:
        d["responses"] = file_ResponsesAgent(v)
    v = m.http
    if v is not None:
        d["http"] = file_HTTPAgent(v)
    v = m.cli
    if v is not None:
        d["cli"] = file_CLIAgent(v)
    return d


def rest_A2AAgent(m: A2AAgent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "url": m.url,
        "headersEnv": m.headers_env,
        "stream": m.stream,
        "binding": m.binding,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_A2AAgent(m: A2AAgent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.url:
        d["url"] = m.url
    if m.headers_env:
        d["headers_env"] = m.headers_env
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    d["stream"] = m.stream
    if m.binding:
        d["binding"] = m.binding
    return d


def rest_MCPAgent(m: MCPAgent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "url": m.url,
        "tool": m.tool,
        "argument": m.argument,
        "headersEnv": m.headers_env,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_MCPAgent(m: MCPAgent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.url:
        d["url"] = m.url
    if m.tool:
        d["tool"] = m.tool
    if m.argument:
        d["argument"] = m.argument
    if m.headers_env:
        d["headers_env"] = m.headers_env
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def rest_ResponsesAgent(m: ResponsesAgent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "baseUrl": m.base_url,
        "model": m.model,
        "apiKeyEnv": m.api_key_env,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_ResponsesAgent(m: ResponsesAgent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.base_url:
        d["base_url"] = m.base_url
    if m.model:
        d["model"] = m.model
    if m.api_key_env:
        d["api_key_env"] = m.api_key_env
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def rest_HTTPAgent(m: HTTPAgent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "url": m.url,
        "method": m.method,
        "headersEnv": m.headers_env,
        "bodyTemplate": m.body_template,
        "outputPath": m.output_path,
        "messagesPath": m.messages_path,
        "usagePath": m.usage_path,
        "trajectoryPath": m.trajectory_path,
        "stream": m.stream,
        "deltaPath": m.delta_path,
        "stopReasonPath": m.stop_reason_path,
        "headers": m.headers,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_HTTPAgent(m: HTTPAgent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.url:
        d["url"] = m.url
    if m.method:
        d["method"] = m.method
    if m.headers_env:
        d["headers_env"] = m.headers_env
    if m.body_template:
        d["body_template"] = m.body_template
    if m.output_path:
        d["output_path"] = m.output_path
    if m.messages_path:
        d["messages_path"] = m.messages_path
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    if m.usage_path:
        d["usage_path"] = m.usage_path
    if m.trajectory_path:
        d["trajectory_path"] = m.trajectory_path
    d["stream"] = m.stream
    if m.delta_path:
        d["delta_path"] = m.delta_path
    if m.stop_reason_path:
        d["stop_reason_path"] = m.stop_reason_path
    if m.headers:
        d["headers"] = m.headers
    return d


def rest_CLIAgent(m: CLIAgent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "command": m.command,
        "install": m.install,
        "envFrom": m.env_from,
        "allowHosts": m.allow_hosts,
        "outputFormat": m.output_format,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_CLIAgent(m: CLIAgent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.command:
        d["command"] = m.command
    if m.install:
        d["install"] = m.install
    if m.env_from:
        d["env_from"] = m.env_from
    if m.allow_hosts:
        d["allow_hosts"] = m.allow_hosts
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    if m.output_format:
        d["output_format"] = m.output_format
    return d


def rest_Harness(m: Harness) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.builtin
    if v is not None:
        d["builtin"] = rest_BuiltinHarness(v)
    v = m.external
    if v is not None:
        d["external"] = rest_ExternalHarness(v)
    return d


def file_Harness(m: Harness) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.builtin
    if v is not None:
        d["builtin"] = file_BuiltinHarness(v)
    v = m.external
    if v is not None:
        d["external"] = file_ExternalHarness(v)
    return d


def rest_AgentBudget(m: AgentBudget) -> dict[str, Any]:
    d: dict[str, Any] = {
        "usd": m.usd,
        "tokens": m.tokens,
    }
    v = m.wall_clock
    if v is not None:
        d["wallClock"] = duration_text(v)
    return d


def file_AgentBudget(m: AgentBudget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["usd"] = m.usd
    v = m.wall_clock
    if v is not None:
        d["wall_clock"] = duration_text(v)
    d["tokens"] = m.tokens
    return d


def rest_Pricing(m: Pricing) -> dict[str, Any]:
    d: dict[str, Any] = {
        "inputPerMtok": m.input_per_mtok,
        "outputPerMtok": m.output_per_mtok,
        "free": m.free,
    }
    return d


def file_Pricing(m: Pricing) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["input_per_mtok"] = m.input_per_mtok
    d["output_per_mtok"] = m.output_per_mtok
    d["free"] = m.free
    return d


def rest_MCPServer(m: MCPServer) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "url": m.url,
        "command": m.command,
        "headersEnv": m.headers_env,
        "tools": m.tools,
        "timeoutS": m.timeout_s,
        "toolTimeoutS": m.tool_timeout_s,
        "resources": m.resources,
        "prompts": m.prompts,
        "elicitation": m.elicitation,
    }
    v = m.oauth
    if v is not None:
        d["oauth"] = rest_MCPOAuth(v)
    return d


def file_MCPServer(m: MCPServer) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.url:
        d["url"] = m.url
    if m.command:
        d["command"] = m.command
    if m.headers_env:
        d["headers_env"] = m.headers_env
    if m.tools:
        d["tools"] = m.tools
    d["timeout_s"] = m.timeout_s
    if m.tool_timeout_s:
        d["tool_timeout_s"] = m.tool_timeout_s
    d["resources"] = m.resources
    d["prompts"] = m.prompts
    d["elicitation"] = m.elicitation
    v = m.oauth
    if v is not None:
        d["oauth"] = file_MCPOAuth(v)
    return d


def rest_MCPOAuth(m: MCPOAuth) -> dict[str, Any]:
    d: dict[str, Any] = {
        "tokenUrl": m.token_url,
        "clientIdEnv": m.client_id_env,
        "clientSecretEnv": m.client_secret_env,
        "scope": m.scope,
    }
    return d


def file_MCPOAuth(m: MCPOAuth) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.token_url:
        d["token_url"] = m.token_url
    if m.client_id_env:
        d["client_id_env"] = m.client_id_env
    if m.client_secret_env:
        d["client_secret_env"] = m.client_secret_env
    if m.scope:
        d["scope"] = m.scope
    return d


def rest_MockTool(m: MockTool) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "description": m.description,
        "inputSchema": m.input_schema,
        "response": m.response,
        "responses": m.responses,
    }
    return d


def file_MockTool(m: MockTool) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.description:
        d["description"] = m.description
    if m.input_schema:
        d["input_schema"] = m.input_schema
    if m.response:
        d["response"] = m.response
    if m.responses:
        d["responses"] = m.responses
    return d


def rest_ToolFault(m: ToolFault) -> dict[str, Any]:
    d: dict[str, Any] = {
        "tool": m.tool,
        "kind": m.kind,
        "rate": m.rate,
        "payload": m.payload,
    }
    return d


def file_ToolFault(m: ToolFault) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.tool:
        d["tool"] = m.tool
    if m.kind:
        d["kind"] = m.kind
    d["rate"] = m.rate
    if m.payload:
        d["payload"] = m.payload
    return d


def rest_Tools(m: Tools) -> dict[str, Any]:
    d: dict[str, Any] = {
        "mcp": [rest_MCPServer(v) for v in m.mcp],
        "mocks": [rest_MockTool(v) for v in m.mocks],
        "faults": [rest_ToolFault(v) for v in m.faults],
        "builtin": m.builtin,
    }
    v = m.sandbox
    if v is not None:
        d["sandbox"] = v
    return d


def file_Tools(m: Tools) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.sandbox
    if v is not None:
        d["sandbox"] = v
    if m.mcp:
        d["mcp"] = [file_MCPServer(v) for v in m.mcp]
    if m.mocks:
        d["mocks"] = [file_MockTool(v) for v in m.mocks]
    if m.faults:
        d["faults"] = [file_ToolFault(v) for v in m.faults]
    if m.builtin:
        d["builtin"] = m.builtin
    return d


def rest_UserSimulator(m: UserSimulator) -> dict[str, Any]:
    d: dict[str, Any] = {
        "judge": m.judge,
        "persona": m.persona,
        "goal": m.goal,
        "maxTurns": m.max_turns,
    }
    return d


def file_UserSimulator(m: UserSimulator) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.judge:
        d["judge"] = m.judge
    if m.persona:
        d["persona"] = m.persona
    if m.goal:
        d["goal"] = m.goal
    d["max_turns"] = m.max_turns
    return d


def rest_Recording(m: Recording) -> dict[str, Any]:
    d: dict[str, Any] = {
        "mode": m.mode,
        "dir": m.dir,
        "branchAtStep": m.branch_at_step,
        "forkAs": m.fork_as,
    }
    return d


def file_Recording(m: Recording) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.mode:
        d["mode"] = m.mode
    if m.dir:
        d["dir"] = m.dir
    d["branch_at_step"] = m.branch_at_step
    if m.fork_as:
        d["fork_as"] = m.fork_as
    return d


def rest_EscalationPolicy(m: EscalationPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {
        "allow": m.allow,
    }
    return d


def file_EscalationPolicy(m: EscalationPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.allow:
        d["allow"] = m.allow
    return d


def rest_BuiltinHarness(m: BuiltinHarness) -> dict[str, Any]:
    d: dict[str, Any] = {
        "maxSteps": m.max_steps,
        "instructions": m.instructions,
        "hooks": [rest_Hook(v) for v in m.hooks],
        "delegateSteps": m.delegate_steps,
        "profile": m.profile,
        "interjections": [rest_Interjection(v) for v in m.interjections],
    }
    v = m.budget
    if v is not None:
        d["budget"] = rest_AgentBudget(v)
    v = m.pricing
    if v is not None:
        d["pricing"] = rest_Pricing(v)
    v = m.tools
    if v is not None:
        d["tools"] = rest_Tools(v)
    v = m.user_simulator
    if v is not None:
        d["userSimulator"] = rest_UserSimulator(v)
    v = m.recording
    if v is not None:
        d["recording"] = rest_Recording(v)
    v = m.escalation
    if v is not None:
        d["escalation"] = rest_EscalationPolicy(v)
    v = m.parallel_tool_calls
    if v is not None:
        d["parallelToolCalls"] = v
    v = m.context
    if v is not None:
        d["context"] = rest_ContextManagement(v)
    return d


def file_BuiltinHarness(m: BuiltinHarness) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["max_steps"] = m.max_steps
    v = m.budget
    if v is not None:
        d["budget"] = file_AgentBudget(v)
    v = m.pricing
    if v is not None:
        d["pricing"] = file_Pricing(v)
    v = m.tools
    if v is not None:
        d["tools"] = file_Tools(v)
    v = m.user_simulator
    if v is not None:
        d["user_simulator"] = file_UserSimulator(v)
    v = m.recording
    if v is not None:
        d["recording"] = file_Recording(v)
    v = m.escalation
    if v is not None:
        d["escalation"] = file_EscalationPolicy(v)
    v = m.parallel_tool_calls
    if v is not None:
        d["parallel_tool_calls"] = v
    if m.instructions:
        d["instructions"] = m.instructions
    v = m.context
    if v is not None:
        d["context"] = file_ContextManagement(v)
    if m.hooks:
        d["hooks"] = [file_Hook(v) for v in m.hooks]
    d["delegate_steps"] = m.delegate_steps
    if m.profile:
        d["profile"] = m.profile
    if m.interjections:
        d["interjections"] = [file_Interjection(v) for v in m.interjections]
    return d


def rest_Interjection(m: Interjection) -> dict[str, Any]:
    d: dict[str, Any] = {
        "atStep": m.at_step,
        "message": m.message,
    }
    return d


def file_Interjection(m: Interjection) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["at_step"] = m.at_step
    if m.message:
        d["message"] = m.message
    return d


def rest_Hook(m: Hook) -> dict[str, Any]:
    d: dict[str, Any] = {
        "python": m.python,
        "config": m.config,
    }
    return d


def file_Hook(m: Hook) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.python:
        d["python"] = m.python
    if m.config:
        d["config"] = m.config
    return d


def rest_ContextManagement(m: ContextManagement) -> dict[str, Any]:
    d: dict[str, Any] = {
        "strategy": m.strategy,
        "windowTokens": m.window_tokens,
        "trigger": m.trigger,
        "target": m.target,
        "keepRecent": m.keep_recent,
        "keepTurns": m.keep_turns,
        "summaryMaxTokens": m.summary_max_tokens,
        "spillOutputs": m.spill_outputs,
        "rounds": m.rounds,
        "roundSteps": m.round_steps,
    }
    return d


def file_ContextManagement(m: ContextManagement) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.strategy:
        d["strategy"] = m.strategy
    d["window_tokens"] = m.window_tokens
    d["trigger"] = m.trigger
    d["target"] = m.target
    d["keep_recent"] = m.keep_recent
    d["keep_turns"] = m.keep_turns
    d["summary_max_tokens"] = m.summary_max_tokens
    d["spill_outputs"] = m.spill_outputs
    d["rounds"] = m.rounds
    d["round_steps"] = m.round_steps
    return d


def rest_ExternalHarness(m: ExternalHarness) -> dict[str, Any]:
    d: dict[str, Any] = {
        "config": m.config,
    }
    v = m.address
    if v is not None:
        d["address"] = v
    v = m.command
    if v is not None:
        d["command"] = rest_CommandHarness(v)
    v = m.python
    if v is not None:
        d["python"] = v
    return d


def file_ExternalHarness(m: ExternalHarness) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.address
    if v is not None:
        d["address"] = v
    v = m.command
    if v is not None:
        d["command"] = file_CommandHarness(v)
    v = m.python
    if v is not None:
        d["python"] = v
    if m.config:
        d["config"] = m.config
    return d


def rest_CommandHarness(m: CommandHarness) -> dict[str, Any]:
    d: dict[str, Any] = {
        "argv": m.argv,
    }
    return d


def file_CommandHarness(m: CommandHarness) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.argv:
        d["argv"] = m.argv
    return d


def rest_SandboxPolicy(m: SandboxPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {
        "minIsolation": m.min_isolation,
        "network": m.network,
        "allowHosts": m.allow_hosts,
        "memoryMb": m.memory_mb,
        "maxProcs": m.max_procs,
        "workdir": m.workdir,
        "readOnlyRoot": m.read_only_root,
    }
    return d


def file_SandboxPolicy(m: SandboxPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.min_isolation:
        d["min_isolation"] = m.min_isolation
    if m.network:
        d["network"] = m.network
    if m.allow_hosts:
        d["allow_hosts"] = m.allow_hosts
    d["memory_mb"] = m.memory_mb
    d["max_procs"] = m.max_procs
    if m.workdir:
        d["workdir"] = m.workdir
    d["read_only_root"] = m.read_only_root
    return d


def rest_Checker(m: Checker) -> dict[str, Any]:
    d: dict[str, Any] = {
        "command": m.command,
        "files": m.files,
        "parser": m.parser,
        "protect": m.protect,
        "onChange": m.on_change,
        "isolation": m.isolation,
        "outputs": m.outputs,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_Checker(m: Checker) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.command:
        d["command"] = m.command
    if m.files:
        d["files"] = m.files
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    if m.parser:
        d["parser"] = m.parser
    if m.protect:
        d["protect"] = m.protect
    if m.on_change:
        d["on_change"] = m.on_change
    if m.isolation:
        d["isolation"] = m.isolation
    if m.outputs:
        d["outputs"] = m.outputs
    return d


def rest_Environment(m: Environment) -> dict[str, Any]:
    d: dict[str, Any] = {
        "image": m.image,
        "files": m.files,
        "setup": m.setup,
        "setupNetwork": m.setup_network,
        "setupAllowHosts": m.setup_allow_hosts,
        "env": m.env,
        "services": [rest_EnvironmentService(v) for v in m.services],
    }
    v = m.setup_timeout
    if v is not None:
        d["setupTimeout"] = duration_text(v)
    v = m.sandbox
    if v is not None:
        d["sandbox"] = rest_SandboxPolicy(v)
    v = m.checker
    if v is not None:
        d["checker"] = rest_Checker(v)
    v = m.command_timeout
    if v is not None:
        d["commandTimeout"] = duration_text(v)
    v = m.service_lifetime
    if v is not None:
        d["serviceLifetime"] = duration_text(v)
    return d


def file_Environment(m: Environment) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.image:
        d["image"] = m.image
    if m.files:
        d["files"] = m.files
    if m.setup:
        d["setup"] = m.setup
    v = m.setup_timeout
    if v is not None:
        d["setup_timeout"] = duration_text(v)
    if m.setup_network:
        d["setup_network"] = m.setup_network
    if m.setup_allow_hosts:
        d["setup_allow_hosts"] = m.setup_allow_hosts
    v = m.sandbox
    if v is not None:
        d["sandbox"] = file_SandboxPolicy(v)
    v = m.checker
    if v is not None:
        d["checker"] = file_Checker(v)
    if m.env:
        d["env"] = m.env
    v = m.command_timeout
    if v is not None:
        d["command_timeout"] = duration_text(v)
    if m.services:
        d["services"] = [file_EnvironmentService(v) for v in m.services]
    v = m.service_lifetime
    if v is not None:
        d["service_lifetime"] = duration_text(v)
    return d


def rest_EnvironmentService(m: EnvironmentService) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "image": m.image,
        "command": m.command,
        "env": m.env,
        "port": m.port,
        "dependsOn": m.depends_on,
        "memoryMb": m.memory_mb,
        "cpuMillis": m.cpu_millis,
    }
    return d


def file_EnvironmentService(m: EnvironmentService) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.image:
        d["image"] = m.image
    if m.command:
        d["command"] = m.command
    if m.env:
        d["env"] = m.env
    d["port"] = m.port
    if m.depends_on:
        d["depends_on"] = m.depends_on
    d["memory_mb"] = m.memory_mb
    d["cpu_millis"] = m.cpu_millis
    return d


def rest_SandboxProbeRequest(m: SandboxProbeRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_SandboxProbeRequest(m: SandboxProbeRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_SandboxRungStatus(m: SandboxRungStatus) -> dict[str, Any]:
    d: dict[str, Any] = {
        "driver": m.driver,
        "level": m.level.proto_name,
        "available": m.available,
        "reason": m.reason,
        "warning": m.warning,
        "limits": m.limits,
        "remedy": m.remedy,
    }
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    return d


def file_SandboxRungStatus(m: SandboxRungStatus) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.driver:
        d["driver"] = m.driver
    if m.level.number:
        d["level"] = m.level.value
    d["available"] = m.available
    if m.reason:
        d["reason"] = m.reason
    if m.warning:
        d["warning"] = m.warning
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    if m.limits:
        d["limits"] = m.limits
    if m.remedy:
        d["remedy"] = m.remedy
    return d


def rest_SandboxProbeResponse(m: SandboxProbeResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "rungs": [rest_SandboxRungStatus(v) for v in m.rungs],
        "servicesSupported": m.services_supported,
    }
    return d


def file_SandboxProbeResponse(m: SandboxProbeResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.rungs:
        d["rungs"] = [file_SandboxRungStatus(v) for v in m.rungs]
    d["services_supported"] = m.services_supported
    return d


def rest_SandboxNetworkPolicy(m: SandboxNetworkPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {
        "mode": m.mode.proto_name,
        "allow": m.allow,
    }
    return d


def file_SandboxNetworkPolicy(m: SandboxNetworkPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.mode.number:
        d["mode"] = m.mode.value
    if m.allow:
        d["allow"] = m.allow
    return d


def rest_SandboxResources(m: SandboxResources) -> dict[str, Any]:
    d: dict[str, Any] = {
        "memoryMb": m.memory_mb,
        "maxProcs": m.max_procs,
        "maxFileMb": m.max_file_mb,
        "cpuSeconds": m.cpu_seconds,
        "diskMb": m.disk_mb,
        "maxFiles": m.max_files,
        "outputBytes": m.output_bytes,
    }
    v = m.wall
    if v is not None:
        d["wall"] = duration_text(v)
    return d


def file_SandboxResources(m: SandboxResources) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["memory_mb"] = m.memory_mb
    d["max_procs"] = m.max_procs
    d["max_file_mb"] = m.max_file_mb
    d["cpu_seconds"] = m.cpu_seconds
    d["disk_mb"] = m.disk_mb
    d["max_files"] = m.max_files
    v = m.wall
    if v is not None:
        d["wall"] = duration_text(v)
    d["output_bytes"] = m.output_bytes
    return d


def rest_SandboxSpec(m: SandboxSpec) -> dict[str, Any]:
    d: dict[str, Any] = {
        "image": m.image,
        "minIsolation": m.min_isolation,
        "mode": m.mode,
        "env": m.env,
        "files": {k: b64encode(v).decode("ascii") for k, v in m.files.items()},
        "workdir": m.workdir,
        "readOnlyRoot": m.read_only_root,
        "services": [rest_EnvironmentService(v) for v in m.services],
    }
    v = m.network
    if v is not None:
        d["network"] = rest_SandboxNetworkPolicy(v)
    v = m.resources
    if v is not None:
        d["resources"] = rest_SandboxResources(v)
    v = m.idle_timeout
    if v is not None:
        d["idleTimeout"] = duration_text(v)
    v = m.service_lifetime
    if v is not None:
        d["serviceLifetime"] = duration_text(v)
    return d


def file_SandboxSpec(m: SandboxSpec) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.image:
        d["image"] = m.image
    if m.min_isolation:
        d["min_isolation"] = m.min_isolation
    if m.mode:
        d["mode"] = m.mode
    v = m.network
    if v is not None:
        d["network"] = file_SandboxNetworkPolicy(v)
    v = m.resources
    if v is not None:
        d["resources"] = file_SandboxResources(v)
    if m.env:
        d["env"] = m.env
    if m.files:
        d["files"] = {k: b64encode(v).decode("ascii") for k, v in m.files.items()}
    if m.workdir:
        d["workdir"] = m.workdir
    v = m.idle_timeout
    if v is not None:
        d["idle_timeout"] = duration_text(v)
    d["read_only_root"] = m.read_only_root
    if m.services:
        d["services"] = [file_EnvironmentService(v) for v in m.services]
    v = m.service_lifetime
    if v is not None:
        d["service_lifetime"] = duration_text(v)
    return d


def rest_SandboxCreateRequest(m: SandboxCreateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.spec
    if v is not None:
        d["spec"] = rest_SandboxSpec(v)
    return d


def file_SandboxCreateRequest(m: SandboxCreateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.spec
    if v is not None:
        d["spec"] = file_SandboxSpec(v)
    return d


def rest_SandboxCreateResponse(m: SandboxCreateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "imageDigest": m.image_digest,
    }
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    v = m.idle_timeout
    if v is not None:
        d["idleTimeout"] = duration_text(v)
    return d


def file_SandboxCreateResponse(m: SandboxCreateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    if m.image_digest:
        d["image_digest"] = m.image_digest
    v = m.idle_timeout
    if v is not None:
        d["idle_timeout"] = duration_text(v)
    return d


def rest_SandboxExecRequest(m: SandboxExecRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "command": m.command,
        "stdin": b64encode(m.stdin).decode("ascii"),
        "env": m.env,
        "outputLimitBytes": m.output_limit_bytes,
        "cwd": m.cwd,
        "policy": m.policy.proto_name,
    }
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    return d


def file_SandboxExecRequest(m: SandboxExecRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    if m.command:
        d["command"] = m.command
    if m.stdin:
        d["stdin"] = b64encode(m.stdin).decode("ascii")
    if m.env:
        d["env"] = m.env
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    d["output_limit_bytes"] = m.output_limit_bytes
    if m.cwd:
        d["cwd"] = m.cwd
    if m.policy.number:
        d["policy"] = m.policy.value
    return d


def rest_SandboxExecResult(m: SandboxExecResult) -> dict[str, Any]:
    d: dict[str, Any] = {
        "outcome": m.outcome.proto_name,
        "exitCode": m.exit_code,
        "truncated": m.truncated,
        "denials": m.denials,
        "error": m.error,
        "hasExitCode": m.has_exit_code,
        "egress": [rest_SandboxEgressEvent(v) for v in m.egress],
    }
    v = m.duration
    if v is not None:
        d["duration"] = duration_text(v)
    v = m.cpu_time
    if v is not None:
        d["cpuTime"] = duration_text(v)
    return d


def file_SandboxExecResult(m: SandboxExecResult) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.outcome.number:
        d["outcome"] = m.outcome.value
    d["exit_code"] = m.exit_code
    v = m.duration
    if v is not None:
        d["duration_ms"] = milliseconds(v)
    d["truncated"] = m.truncated
    if m.denials:
        d["denials"] = m.denials
    if m.error:
        d["error"] = m.error
    v = m.cpu_time
    if v is not None:
        d["cpu_time"] = duration_text(v)
    d["has_exit_code"] = m.has_exit_code
    if m.egress:
        d["egress"] = [file_SandboxEgressEvent(v) for v in m.egress]
    return d


def rest_SandboxExecResponse(m: SandboxExecResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.stdout
    if v is not None:
        d["stdout"] = b64encode(v).decode("ascii")
    v = m.stderr
    if v is not None:
        d["stderr"] = b64encode(v).decode("ascii")
    v = m.result
    if v is not None:
        d["result"] = rest_SandboxExecResult(v)
    return d


def file_SandboxExecResponse(m: SandboxExecResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.stdout
    if v is not None:
        d["stdout"] = b64encode(v).decode("ascii")
    v = m.stderr
    if v is not None:
        d["stderr"] = b64encode(v).decode("ascii")
    v = m.result
    if v is not None:
        d["result"] = file_SandboxExecResult(v)
    return d


def rest_SandboxFile(m: SandboxFile) -> dict[str, Any]:
    d: dict[str, Any] = {
        "path": m.path,
        "content": b64encode(m.content).decode("ascii"),
        "mode": m.mode,
    }
    return d


def file_SandboxFile(m: SandboxFile) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.path:
        d["path"] = m.path
    if m.content:
        d["content"] = b64encode(m.content).decode("ascii")
    d["mode"] = m.mode
    return d


def rest_SandboxWriteFilesRequest(m: SandboxWriteFilesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "files": [rest_SandboxFile(v) for v in m.files],
    }
    return d


def file_SandboxWriteFilesRequest(m: SandboxWriteFilesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    if m.files:
        d["files"] = [file_SandboxFile(v) for v in m.files]
    return d


def rest_SandboxWriteFilesResponse(m: SandboxWriteFilesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_SandboxWriteFilesResponse(m: SandboxWriteFilesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_SandboxReadFilesRequest(m: SandboxReadFilesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "paths": m.paths,
        "maxBytes": m.max_bytes,
    }
    return d


def file_SandboxReadFilesRequest(m: SandboxReadFilesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    if m.paths:
        d["paths"] = m.paths
    d["max_bytes"] = m.max_bytes
    return d


def rest_SandboxReadFilesResponse(m: SandboxReadFilesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "files": [rest_SandboxFile(v) for v in m.files],
        "missing": m.missing,
        "truncated": m.truncated,
    }
    return d


def file_SandboxReadFilesResponse(m: SandboxReadFilesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.files:
        d["files"] = [file_SandboxFile(v) for v in m.files]
    if m.missing:
        d["missing"] = m.missing
    d["truncated"] = m.truncated
    return d


def rest_SandboxSnapshotRequest(m: SandboxSnapshotRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
    }
    return d


def file_SandboxSnapshotRequest(m: SandboxSnapshotRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    return d


def rest_SandboxSnapshotResponse(m: SandboxSnapshotResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "snapshotId": m.snapshot_id,
    }
    return d


def file_SandboxSnapshotResponse(m: SandboxSnapshotResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.snapshot_id:
        d["snapshot_id"] = m.snapshot_id
    return d


def rest_SandboxRestoreRequest(m: SandboxRestoreRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "snapshotId": m.snapshot_id,
    }
    v = m.network
    if v is not None:
        d["network"] = rest_SandboxNetworkPolicy(v)
    return d


def file_SandboxRestoreRequest(m: SandboxRestoreRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.snapshot_id:
        d["snapshot_id"] = m.snapshot_id
    v = m.network
    if v is not None:
        d["network"] = file_SandboxNetworkPolicy(v)
    return d


def rest_SandboxRestoreResponse(m: SandboxRestoreResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "imageDigest": m.image_digest,
    }
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    v = m.idle_timeout
    if v is not None:
        d["idleTimeout"] = duration_text(v)
    return d


def file_SandboxRestoreResponse(m: SandboxRestoreResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    if m.image_digest:
        d["image_digest"] = m.image_digest
    v = m.idle_timeout
    if v is not None:
        d["idle_timeout"] = duration_text(v)
    return d


def rest_SandboxStatsRequest(m: SandboxStatsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
        "includeServiceLogs": m.include_service_logs,
    }
    return d


def file_SandboxStatsRequest(m: SandboxStatsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    d["include_service_logs"] = m.include_service_logs
    return d


def rest_SandboxEgressEvent(m: SandboxEgressEvent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "host": m.host,
        "port": m.port,
        "allowed": m.allowed,
        "bytesSent": m.bytes_sent,
        "bytesReceived": m.bytes_received,
        "address": m.address,
        "reason": m.reason,
    }
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_SandboxEgressEvent(m: SandboxEgressEvent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    if m.host:
        d["host"] = m.host
    d["port"] = m.port
    d["allowed"] = m.allowed
    d["bytes_sent"] = m.bytes_sent
    d["bytes_received"] = m.bytes_received
    if m.address:
        d["address"] = m.address
    if m.reason:
        d["reason"] = m.reason
    return d


def rest_SandboxStatsResponse(m: SandboxStatsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "execs": m.execs,
        "maxRssBytes": m.max_rss_bytes,
        "egress": [rest_SandboxEgressEvent(v) for v in m.egress],
        "services": [rest_SandboxServiceStatus(v) for v in m.services],
    }
    v = m.cpu_time
    if v is not None:
        d["cpuTime"] = duration_text(v)
    return d


def file_SandboxStatsResponse(m: SandboxStatsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["execs"] = m.execs
    v = m.cpu_time
    if v is not None:
        d["cpu_time"] = duration_text(v)
    d["max_rss_bytes"] = m.max_rss_bytes
    if m.egress:
        d["egress"] = [file_SandboxEgressEvent(v) for v in m.egress]
    if m.services:
        d["services"] = [file_SandboxServiceStatus(v) for v in m.services]
    return d


def rest_SandboxServiceStatus(m: SandboxServiceStatus) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "ready": m.ready,
        "restarts": m.restarts,
        "reason": m.reason,
        "logs": m.logs,
    }
    return d


def file_SandboxServiceStatus(m: SandboxServiceStatus) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    d["ready"] = m.ready
    d["restarts"] = m.restarts
    if m.reason:
        d["reason"] = m.reason
    if m.logs:
        d["logs"] = m.logs
    return d


def rest_SandboxDestroyRequest(m: SandboxDestroyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
    }
    return d


def file_SandboxDestroyRequest(m: SandboxDestroyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    return d


def rest_SandboxDestroyResponse(m: SandboxDestroyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_SandboxDestroyResponse(m: SandboxDestroyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_SandboxDeleteSnapshotRequest(m: SandboxDeleteSnapshotRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "snapshotId": m.snapshot_id,
    }
    return d


def file_SandboxDeleteSnapshotRequest(m: SandboxDeleteSnapshotRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.snapshot_id:
        d["snapshot_id"] = m.snapshot_id
    return d


def rest_SandboxDeleteSnapshotResponse(m: SandboxDeleteSnapshotResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_SandboxDeleteSnapshotResponse(m: SandboxDeleteSnapshotResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_SandboxRenewRequest(m: SandboxRenewRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sandboxId": m.sandbox_id,
    }
    return d


def file_SandboxRenewRequest(m: SandboxRenewRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sandbox_id:
        d["sandbox_id"] = m.sandbox_id
    return d


def rest_SandboxRenewResponse(m: SandboxRenewResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.idle_timeout
    if v is not None:
        d["idleTimeout"] = duration_text(v)
    return d


def file_SandboxRenewResponse(m: SandboxRenewResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.idle_timeout
    if v is not None:
        d["idle_timeout"] = duration_text(v)
    return d


def rest_SandboxRunPythonRequest(m: SandboxRunPythonRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "source": m.source,
        "stdins": [b64encode(v).decode("ascii") for v in m.stdins],
        "files": [rest_SandboxFile(v) for v in m.files],
        "minIsolation": m.min_isolation,
    }
    v = m.resources
    if v is not None:
        d["resources"] = rest_SandboxResources(v)
    return d


def file_SandboxRunPythonRequest(m: SandboxRunPythonRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.source:
        d["source"] = m.source
    if m.stdins:
        d["stdins"] = [b64encode(v).decode("ascii") for v in m.stdins]
    if m.files:
        d["files"] = [file_SandboxFile(v) for v in m.files]
    v = m.resources
    if v is not None:
        d["resources"] = file_SandboxResources(v)
    if m.min_isolation:
        d["min_isolation"] = m.min_isolation
    return d


def rest_SandboxPythonRun(m: SandboxPythonRun) -> dict[str, Any]:
    d: dict[str, Any] = {
        "stdout": b64encode(m.stdout).decode("ascii"),
        "stderr": b64encode(m.stderr).decode("ascii"),
    }
    v = m.result
    if v is not None:
        d["result"] = rest_SandboxExecResult(v)
    return d


def file_SandboxPythonRun(m: SandboxPythonRun) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.result
    if v is not None:
        d["result"] = file_SandboxExecResult(v)
    if m.stdout:
        d["stdout"] = b64encode(m.stdout).decode("ascii")
    if m.stderr:
        d["stderr"] = b64encode(m.stderr).decode("ascii")
    return d


def rest_SandboxRunPythonResponse(m: SandboxRunPythonResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runs": [rest_SandboxPythonRun(v) for v in m.runs],
    }
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    return d


def file_SandboxRunPythonResponse(m: SandboxRunPythonResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.runs:
        d["runs"] = [file_SandboxPythonRun(v) for v in m.runs]
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    return d


def rest_Principal(m: Principal) -> dict[str, Any]:
    d: dict[str, Any] = {
        "kind": m.kind,
        "provider": m.provider,
        "subject": m.subject,
        "name": m.name,
        "email": m.email,
        "groups": m.groups,
        "method": m.method,
        "id": m.id,
        "labels": m.labels,
    }
    return d


def file_Principal(m: Principal) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.kind:
        d["kind"] = m.kind
    if m.provider:
        d["provider"] = m.provider
    if m.subject:
        d["subject"] = m.subject
    if m.name:
        d["name"] = m.name
    if m.email:
        d["email"] = m.email
    if m.groups:
        d["groups"] = m.groups
    if m.method:
        d["method"] = m.method
    if m.id:
        d["id"] = m.id
    if m.labels:
        d["labels"] = m.labels
    return d


def rest_ProjectAccess(m: ProjectAccess) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "roles": m.roles,
        "permissions": m.permissions,
    }
    return d


def file_ProjectAccess(m: ProjectAccess) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.roles:
        d["roles"] = m.roles
    if m.permissions:
        d["permissions"] = m.permissions
    return d


def rest_WhoAmIRequest(m: WhoAmIRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_WhoAmIRequest(m: WhoAmIRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_WhoAmIResponse(m: WhoAmIResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "owner": m.owner,
        "access": [rest_ProjectAccess(v) for v in m.access],
        "authEnabled": m.auth_enabled,
    }
    v = m.principal
    if v is not None:
        d["principal"] = rest_Principal(v)
    return d


def file_WhoAmIResponse(m: WhoAmIResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.principal
    if v is not None:
        d["principal"] = file_Principal(v)
    d["owner"] = m.owner
    if m.access:
        d["access"] = [file_ProjectAccess(v) for v in m.access]
    d["auth_enabled"] = m.auth_enabled
    return d


def rest_Project(m: Project) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "description": m.description,
        "source": m.source,
        "createdBy": m.created_by,
    }
    v = m.created_at
    if v is not None:
        d["createdAt"] = timestamp_text(v)
    return d


def file_Project(m: Project) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.description:
        d["description"] = m.description
    if m.source:
        d["source"] = m.source
    v = m.created_at
    if v is not None:
        d["created_at"] = timestamp_text(v)
    if m.created_by:
        d["created_by"] = m.created_by
    return d


def rest_ListProjectsRequest(m: ListProjectsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_ListProjectsRequest(m: ListProjectsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_ListProjectsResponse(m: ListProjectsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "projects": [rest_Project(v) for v in m.projects],
    }
    return d


def file_ListProjectsResponse(m: ListProjectsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.projects:
        d["projects"] = [file_Project(v) for v in m.projects]
    return d


def rest_CreateProjectRequest(m: CreateProjectRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "description": m.description,
    }
    return d


def file_CreateProjectRequest(m: CreateProjectRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.description:
        d["description"] = m.description
    return d


def rest_CreateProjectResponse(m: CreateProjectResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.project
    if v is not None:
        d["project"] = rest_Project(v)
    return d


def file_CreateProjectResponse(m: CreateProjectResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.project
    if v is not None:
        d["project"] = file_Project(v)
    return d


def rest_RoleList(m: RoleList) -> dict[str, Any]:
    d: dict[str, Any] = {
        "roles": m.roles,
    }
    return d


def file_RoleList(m: RoleList) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.roles:
        d["roles"] = m.roles
    return d


def rest_APIKey(m: APIKey) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "roles": {k: rest_RoleList(v) for k, v in m.roles.items()},
        "labels": m.labels,
        "createdBy": m.created_by,
        "source": m.source,
        "prefix": m.prefix,
        "revoked": m.revoked,
    }
    v = m.created_at
    if v is not None:
        d["createdAt"] = timestamp_text(v)
    v = m.expires_at
    if v is not None:
        d["expiresAt"] = timestamp_text(v)
    v = m.last_used_at
    if v is not None:
        d["lastUsedAt"] = timestamp_text(v)
    return d


def file_APIKey(m: APIKey) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.roles:
        d["roles"] = {k: file_RoleList(v) for k, v in m.roles.items()}
    if m.labels:
        d["labels"] = m.labels
    v = m.created_at
    if v is not None:
        d["created_at"] = timestamp_text(v)
    v = m.expires_at
    if v is not None:
        d["expires_at"] = timestamp_text(v)
    v = m.last_used_at
    if v is not None:
        d["last_used_at"] = timestamp_text(v)
    if m.created_by:
        d["created_by"] = m.created_by
    if m.source:
        d["source"] = m.source
    if m.prefix:
        d["prefix"] = m.prefix
    d["revoked"] = m.revoked
    return d


def rest_CreateAPIKeyRequest(m: CreateAPIKeyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "roles": {k: rest_RoleList(v) for k, v in m.roles.items()},
        "labels": m.labels,
    }
    v = m.ttl
    if v is not None:
        d["ttl"] = duration_text(v)
    return d


def file_CreateAPIKeyRequest(m: CreateAPIKeyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.roles:
        d["roles"] = {k: file_RoleList(v) for k, v in m.roles.items()}
    if m.labels:
        d["labels"] = m.labels
    v = m.ttl
    if v is not None:
        d["ttl"] = duration_text(v)
    return d


def rest_CreateAPIKeyResponse(m: CreateAPIKeyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "secret": m.secret,
    }
    v = m.key
    if v is not None:
        d["key"] = rest_APIKey(v)
    return d


def file_CreateAPIKeyResponse(m: CreateAPIKeyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.key
    if v is not None:
        d["key"] = file_APIKey(v)
    if m.secret:
        d["secret"] = m.secret
    return d


def rest_ListAPIKeysRequest(m: ListAPIKeysRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    return d


def file_ListAPIKeysRequest(m: ListAPIKeysRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    return d


def rest_ListAPIKeysResponse(m: ListAPIKeysResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "keys": [rest_APIKey(v) for v in m.keys],
    }
    return d


def file_ListAPIKeysResponse(m: ListAPIKeysResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.keys:
        d["keys"] = [file_APIKey(v) for v in m.keys]
    return d


def rest_RevokeAPIKeyRequest(m: RevokeAPIKeyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
    }
    return d


def file_RevokeAPIKeyRequest(m: RevokeAPIKeyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    return d


def rest_RevokeAPIKeyResponse(m: RevokeAPIKeyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_RevokeAPIKeyResponse(m: RevokeAPIKeyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_Role(m: Role) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "description": m.description,
        "permissions": m.permissions,
        "inherits": m.inherits,
        "condition": m.condition,
        "source": m.source,
    }
    return d


def file_Role(m: Role) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    if m.description:
        d["description"] = m.description
    if m.permissions:
        d["permissions"] = m.permissions
    if m.inherits:
        d["inherits"] = m.inherits
    if m.condition:
        d["condition"] = m.condition
    if m.source:
        d["source"] = m.source
    return d


def rest_ListRolesRequest(m: ListRolesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    return d


def file_ListRolesRequest(m: ListRolesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    return d


def rest_ListRolesResponse(m: ListRolesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "roles": [rest_Role(v) for v in m.roles],
    }
    return d


def file_ListRolesResponse(m: ListRolesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.roles:
        d["roles"] = [file_Role(v) for v in m.roles]
    return d


def rest_CreateRoleRequest(m: CreateRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = rest_Role(v)
    return d


def file_CreateRoleRequest(m: CreateRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = file_Role(v)
    return d


def rest_CreateRoleResponse(m: CreateRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = rest_Role(v)
    return d


def file_CreateRoleResponse(m: CreateRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = file_Role(v)
    return d


def rest_UpdateRoleRequest(m: UpdateRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = rest_Role(v)
    return d


def file_UpdateRoleRequest(m: UpdateRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = file_Role(v)
    return d


def rest_UpdateRoleResponse(m: UpdateRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = rest_Role(v)
    return d


def file_UpdateRoleResponse(m: UpdateRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.role
    if v is not None:
        d["role"] = file_Role(v)
    return d


def rest_DeleteRoleRequest(m: DeleteRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
    }
    return d


def file_DeleteRoleRequest(m: DeleteRoleRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    return d


def rest_DeleteRoleResponse(m: DeleteRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_DeleteRoleResponse(m: DeleteRoleResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_Permission(m: Permission) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "description": m.description,
        "installWide": m.install_wide,
    }
    return d


def file_Permission(m: Permission) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.description:
        d["description"] = m.description
    d["install_wide"] = m.install_wide
    return d


def rest_ListPermissionsRequest(m: ListPermissionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_ListPermissionsRequest(m: ListPermissionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_ListPermissionsResponse(m: ListPermissionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "permissions": [rest_Permission(v) for v in m.permissions],
    }
    return d


def file_ListPermissionsResponse(m: ListPermissionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.permissions:
        d["permissions"] = [file_Permission(v) for v in m.permissions]
    return d


def rest_RoleBinding(m: RoleBinding) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "role": m.role,
        "subject": m.subject,
        "source": m.source,
        "createdBy": m.created_by,
    }
    v = m.created_at
    if v is not None:
        d["createdAt"] = timestamp_text(v)
    return d


def file_RoleBinding(m: RoleBinding) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.role:
        d["role"] = m.role
    if m.subject:
        d["subject"] = m.subject
    if m.source:
        d["source"] = m.source
    v = m.created_at
    if v is not None:
        d["created_at"] = timestamp_text(v)
    if m.created_by:
        d["created_by"] = m.created_by
    return d


def rest_ListBindingsRequest(m: ListBindingsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    return d


def file_ListBindingsRequest(m: ListBindingsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    return d


def rest_ListBindingsResponse(m: ListBindingsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "bindings": [rest_RoleBinding(v) for v in m.bindings],
    }
    return d


def file_ListBindingsResponse(m: ListBindingsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.bindings:
        d["bindings"] = [file_RoleBinding(v) for v in m.bindings]
    return d


def rest_CreateBindingRequest(m: CreateBindingRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = rest_RoleBinding(v)
    return d


def file_CreateBindingRequest(m: CreateBindingRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = file_RoleBinding(v)
    return d


def rest_CreateBindingResponse(m: CreateBindingResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = rest_RoleBinding(v)
    return d


def file_CreateBindingResponse(m: CreateBindingResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = file_RoleBinding(v)
    return d


def rest_DeleteBindingRequest(m: DeleteBindingRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = rest_RoleBinding(v)
    return d


def file_DeleteBindingRequest(m: DeleteBindingRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.binding
    if v is not None:
        d["binding"] = file_RoleBinding(v)
    return d


def rest_DeleteBindingResponse(m: DeleteBindingResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_DeleteBindingResponse(m: DeleteBindingResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_AuditEvent(m: AuditEvent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "principal": m.principal,
        "action": m.action,
        "project": m.project,
        "resource": m.resource,
        "allowed": m.allowed,
        "reason": m.reason,
        "procedure": m.procedure,
        "requestId": m.request_id,
        "source": m.source,
        "detail": m.detail,
        "authMethod": m.auth_method,
        "issuer": m.issuer,
        "tokenId": m.token_id,
        "keyId": m.key_id,
        "apiKey": m.api_key,
        "certFingerprint": m.cert_fingerprint,
        "groups": m.groups,
        "subject": m.subject,
        "actor": m.actor,
        "sequence": m.sequence,
        "prevHash": m.prev_hash,
        "hash": m.hash,
    }
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_AuditEvent(m: AuditEvent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["id"] = m.id
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    if m.principal:
        d["principal"] = m.principal
    if m.action:
        d["action"] = m.action
    if m.project:
        d["project"] = m.project
    if m.resource:
        d["resource"] = m.resource
    d["allowed"] = m.allowed
    if m.reason:
        d["reason"] = m.reason
    if m.procedure:
        d["procedure"] = m.procedure
    if m.request_id:
        d["request_id"] = m.request_id
    if m.source:
        d["source"] = m.source
    if m.detail:
        d["detail"] = m.detail
    if m.auth_method:
        d["auth_method"] = m.auth_method
    if m.issuer:
        d["issuer"] = m.issuer
    if m.token_id:
        d["token_id"] = m.token_id
    if m.key_id:
        d["key_id"] = m.key_id
    if m.api_key:
        d["api_key"] = m.api_key
    if m.cert_fingerprint:
        d["cert_fingerprint"] = m.cert_fingerprint
    if m.groups:
        d["groups"] = m.groups
    if m.subject:
        d["subject"] = m.subject
    if m.actor:
        d["actor"] = m.actor
    d["sequence"] = m.sequence
    if m.prev_hash:
        d["prev_hash"] = m.prev_hash
    if m.hash:
        d["hash"] = m.hash
    return d


def rest_VerifyAuditLogRequest(m: VerifyAuditLogRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_VerifyAuditLogRequest(m: VerifyAuditLogRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_VerifyAuditLogResponse(m: VerifyAuditLogResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "ok": m.ok,
        "checked": m.checked,
        "firstSequence": m.first_sequence,
        "lastSequence": m.last_sequence,
        "lastHash": m.last_hash,
        "breakSequence": m.break_sequence,
        "problem": m.problem,
        "unchained": m.unchained,
    }
    return d


def file_VerifyAuditLogResponse(m: VerifyAuditLogResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["ok"] = m.ok
    d["checked"] = m.checked
    d["first_sequence"] = m.first_sequence
    d["last_sequence"] = m.last_sequence
    if m.last_hash:
        d["last_hash"] = m.last_hash
    d["break_sequence"] = m.break_sequence
    if m.problem:
        d["problem"] = m.problem
    d["unchained"] = m.unchained
    return d


def rest_ListAuditEventsRequest(m: ListAuditEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
        "action": m.action,
        "deniedOnly": m.denied_only,
    }
    return d


def file_ListAuditEventsRequest(m: ListAuditEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    if m.action:
        d["action"] = m.action
    d["denied_only"] = m.denied_only
    return d


def rest_ListAuditEventsResponse(m: ListAuditEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "events": [rest_AuditEvent(v) for v in m.events],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListAuditEventsResponse(m: ListAuditEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.events:
        d["events"] = [file_AuditEvent(v) for v in m.events]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_ListEvaluatorsRequest(m: ListEvaluatorsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_ListEvaluatorsRequest(m: ListEvaluatorsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_ListEvaluatorsResponse(m: ListEvaluatorsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "evaluators": [rest_EvaluatorManifest(v) for v in m.evaluators],
        "judges": m.judges,
        "defaultJudge": m.default_judge,
    }
    return d


def file_ListEvaluatorsResponse(m: ListEvaluatorsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorManifest(v) for v in m.evaluators]
    if m.judges:
        d["judges"] = m.judges
    if m.default_judge:
        d["default_judge"] = m.default_judge
    return d


def rest_ListCredentialsRequest(m: ListCredentialsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    return d


def file_ListCredentialsRequest(m: ListCredentialsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    return d


def rest_ListCredentialsResponse(m: ListCredentialsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "enforced": m.enforced,
        "grants": [rest_CredentialGrant(v) for v in m.grants],
        "judges": m.judges,
    }
    return d


def file_ListCredentialsResponse(m: ListCredentialsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["enforced"] = m.enforced
    if m.grants:
        d["grants"] = [file_CredentialGrant(v) for v in m.grants]
    if m.judges:
        d["judges"] = m.judges
    return d


def rest_CredentialGrant(m: CredentialGrant) -> dict[str, Any]:
    d: dict[str, Any] = {
        "env": m.env,
        "hosts": m.hosts,
        "allowHttp": m.allow_http,
        "allProjects": m.all_projects,
    }
    return d


def file_CredentialGrant(m: CredentialGrant) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.env:
        d["env"] = m.env
    if m.hosts:
        d["hosts"] = m.hosts
    d["allow_http"] = m.allow_http
    d["all_projects"] = m.all_projects
    return d


def rest_EvaluateRequest(m: EvaluateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "records": [rest_Record(v) for v in m.records],
        "evaluators": [rest_EvaluatorRef(v) for v in m.evaluators],
        "judge": m.judge,
    }
    v = m.summary
    if v is not None:
        d["summary"] = rest_SummaryOptions(v)
    return d


def file_EvaluateRequest(m: EvaluateRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorRef(v) for v in m.evaluators]
    if m.judge:
        d["judge"] = m.judge
    v = m.summary
    if v is not None:
        d["summary"] = file_SummaryOptions(v)
    return d


def rest_EvaluateResponse(m: EvaluateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "results": [rest_EvaluationResult(v) for v in m.results],
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
    }
    return d


def file_EvaluateResponse(m: EvaluateResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    return d


def rest_SummaryOptions(m: SummaryOptions) -> dict[str, Any]:
    d: dict[str, Any] = {
        "confidenceLevel": m.confidence_level,
        "clusterBy": m.cluster_by,
        "ciMethod": m.ci_method.proto_name,
        "excludeFlaggedTrials": m.exclude_flagged_trials,
        "resamples": m.resamples,
        "seed": m.seed,
    }
    return d


def file_SummaryOptions(m: SummaryOptions) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["confidence_level"] = m.confidence_level
    if m.cluster_by:
        d["cluster_by"] = m.cluster_by
    if m.ci_method.number:
        d["ci_method"] = m.ci_method.value
    d["exclude_flagged_trials"] = m.exclude_flagged_trials
    d["resamples"] = m.resamples
    d["seed"] = m.seed
    return d


def rest_EvaluateStreamConfig(m: EvaluateStreamConfig) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "evaluators": [rest_EvaluatorRef(v) for v in m.evaluators],
        "judge": m.judge,
    }
    v = m.summary
    if v is not None:
        d["summary"] = rest_SummaryOptions(v)
    return d


def file_EvaluateStreamConfig(m: EvaluateStreamConfig) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorRef(v) for v in m.evaluators]
    if m.judge:
        d["judge"] = m.judge
    v = m.summary
    if v is not None:
        d["summary"] = file_SummaryOptions(v)
    return d


def rest_EvaluateStreamRequest(m: EvaluateStreamRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.config
    if v is not None:
        d["config"] = rest_EvaluateStreamConfig(v)
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    return d


def file_EvaluateStreamRequest(m: EvaluateStreamRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.config
    if v is not None:
        d["config"] = file_EvaluateStreamConfig(v)
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    return d


def rest_MetricSummaries(m: MetricSummaries) -> dict[str, Any]:
    d: dict[str, Any] = {
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
    }
    return d


def file_MetricSummaries(m: MetricSummaries) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    return d


def rest_EvaluateStreamResponse(m: EvaluateStreamResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.result
    if v is not None:
        d["result"] = rest_EvaluationResult(v)
    v = m.summaries
    if v is not None:
        d["summaries"] = rest_MetricSummaries(v)
    return d


def file_EvaluateStreamResponse(m: EvaluateStreamResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.result
    if v is not None:
        d["result"] = file_EvaluationResult(v)
    v = m.summaries
    if v is not None:
        d["summaries"] = file_MetricSummaries(v)
    return d


def rest_EvalRun(m: EvalRun) -> dict[str, Any]:
    d: dict[str, Any] = {
        "apiVersion": m.api_version,
        "kind": m.kind,
    }
    v = m.metadata
    if v is not None:
        d["metadata"] = rest_RunMetadata(v)
    v = m.spec
    if v is not None:
        d["spec"] = rest_RunSpec(v)
    return d


def file_EvalRun(m: EvalRun) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.api_version:
        d["api_version"] = m.api_version
    if m.kind:
        d["kind"] = m.kind
    v = m.metadata
    if v is not None:
        d["metadata"] = file_RunMetadata(v)
    v = m.spec
    if v is not None:
        d["spec"] = file_RunSpec(v)
    return d


def rest_RunMetadata(m: RunMetadata) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "labels": m.labels,
        "description": m.description,
    }
    return d


def file_RunMetadata(m: RunMetadata) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    if m.labels:
        d["labels"] = m.labels
    if m.description:
        d["description"] = m.description
    return d


def rest_RunSpec(m: RunSpec) -> dict[str, Any]:
    d: dict[str, Any] = {
        "evaluators": [rest_EvaluatorRef(v) for v in m.evaluators],
        "judge": m.judge,
        "trials": m.trials,
        "gates": [rest_Gate(v) for v in m.gates],
        "judges": {k: rest_JudgeSpec(v) for k, v in m.judges.items()},
        "onInconclusive": m.on_inconclusive.proto_name,
        "sinks": [rest_Sink(v) for v in m.sinks],
        "baseline": m.baseline,
        "slices": m.slices,
    }
    v = m.target
    if v is not None:
        d["target"] = rest_Target(v)
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetSource(v)
    v = m.summary
    if v is not None:
        d["summary"] = rest_SummaryOptions(v)
    v = m.budget
    if v is not None:
        d["budget"] = rest_Budget(v)
    v = m.harness
    if v is not None:
        d["harness"] = rest_Harness(v)
    v = m.environment
    if v is not None:
        d["environment"] = rest_Environment(v)
    return d


def file_RunSpec(m: RunSpec) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.target
    if v is not None:
        d["target"] = file_Target(v)
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetSource(v)
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorRef(v) for v in m.evaluators]
    if m.judge:
        d["judge"] = m.judge
    d["trials"] = m.trials
    v = m.summary
    if v is not None:
        d["summary"] = file_SummaryOptions(v)
    if m.gates:
        d["gates"] = [file_Gate(v) for v in m.gates]
    v = m.budget
    if v is not None:
        d["budget"] = file_Budget(v)
    v = m.harness
    if v is not None:
        d["harness"] = file_Harness(v)
    v = m.environment
    if v is not None:
        d["environment"] = file_Environment(v)
    if m.judges:
        d["judges"] = {k: file_JudgeSpec(v) for k, v in m.judges.items()}
    if m.on_inconclusive.number:
        d["on_inconclusive"] = m.on_inconclusive.value
    if m.sinks:
        d["sinks"] = [file_Sink(v) for v in m.sinks]
    if m.baseline:
        d["baseline"] = m.baseline
    if m.slices:
        d["slices"] = m.slices
    return d


def rest_Target(m: Target) -> dict[str, Any]:
    d: dict[str, Any] = {
        "connector": m.connector,
        "model": m.model,
        "baseUrl": m.base_url,
        "apiKeyEnv": m.api_key_env,
        "systemPrompt": m.system_prompt,
        "maxTokens": m.max_tokens,
        "effort": m.effort,
        "stream": m.stream,
        "maxConcurrency": m.max_concurrency,
        "api": m.api,
        "fallbacks": [rest_Target(v) for v in m.fallbacks],
        "fallbackAfter": m.fallback_after,
        "name": m.name,
        "python": m.python,
        "config": m.config,
        "prompt": m.prompt,
        "messages": [rest_Message(v) for v in m.messages],
        "fewShot": [rest_FewShotExample(v) for v in m.few_shot],
        "tools": [rest_ToolDefinition(v) for v in m.tools],
        "toolChoice": m.tool_choice,
        "jsonMode": m.json_mode,
        "responseSchema": m.response_schema,
        "logprobs": m.logprobs,
        "topLogprobs": m.top_logprobs,
        "stop": m.stop,
        "requestsPerMinute": m.requests_per_minute,
        "tokensPerMinute": m.tokens_per_minute,
        "headersEnv": m.headers_env,
        "extraBody": m.extra_body,
        "recording": m.recording,
    }
    v = m.temperature
    if v is not None:
        d["temperature"] = v
    v = m.agent
    if v is not None:
        d["agent"] = rest_AgentTarget(v)
    v = m.thinking
    if v is not None:
        d["thinking"] = rest_Thinking(v)
    v = m.command
    if v is not None:
        d["command"] = rest_CommandTarget(v)
    v = m.seed
    if v is not None:
        d["seed"] = v
    v = m.top_p
    if v is not None:
        d["topP"] = v
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    v = m.total_timeout
    if v is not None:
        d["totalTimeout"] = duration_text(v)
    v = m.max_retries
    if v is not None:
        d["maxRetries"] = v
    v = m.pricing
    if v is not None:
        d["pricing"] = rest_Pricing(v)
    return d


def file_Target(m: Target) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.connector:
        d["connector"] = m.connector
    if m.model:
        d["model"] = m.model
    if m.base_url:
        d["base_url"] = m.base_url
    if m.api_key_env:
        d["api_key_env"] = m.api_key_env
    if m.system_prompt:
        d["system_prompt"] = m.system_prompt
    d["max_tokens"] = m.max_tokens
    v = m.temperature
    if v is not None:
        d["temperature"] = v
    if m.effort:
        d["effort"] = m.effort
    v = m.agent
    if v is not None:
        d["agent"] = file_AgentTarget(v)
    v = m.thinking
    if v is not None:
        d["thinking"] = file_Thinking(v)
    d["stream"] = m.stream
    d["max_concurrency"] = m.max_concurrency
    if m.api:
        d["api"] = m.api
    if m.fallbacks:
        d["fallbacks"] = [file_Target(v) for v in m.fallbacks]
    d["fallback_after"] = m.fallback_after
    if m.name:
        d["name"] = m.name
    if m.python:
        d["python"] = m.python
    if m.config:
        d["config"] = m.config
    v = m.command
    if v is not None:
        d["command"] = file_CommandTarget(v)
    if m.prompt:
        d["prompt"] = m.prompt
    if m.messages:
        d["messages"] = [file_Message(v) for v in m.messages]
    if m.few_shot:
        d["few_shot"] = [file_FewShotExample(v) for v in m.few_shot]
    if m.tools:
        d["tools"] = [file_ToolDefinition(v) for v in m.tools]
    if m.tool_choice:
        d["tool_choice"] = m.tool_choice
    d["json_mode"] = m.json_mode
    if m.response_schema:
        d["response_schema"] = m.response_schema
    d["logprobs"] = m.logprobs
    d["top_logprobs"] = m.top_logprobs
    v = m.seed
    if v is not None:
        d["seed"] = v
    v = m.top_p
    if v is not None:
        d["top_p"] = v
    if m.stop:
        d["stop"] = m.stop
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    v = m.total_timeout
    if v is not None:
        d["total_timeout"] = duration_text(v)
    v = m.max_retries
    if v is not None:
        d["max_retries"] = v
    d["requests_per_minute"] = m.requests_per_minute
    d["tokens_per_minute"] = m.tokens_per_minute
    if m.headers_env:
        d["headers_env"] = m.headers_env
    if m.extra_body:
        d["extra_body"] = m.extra_body
    v = m.pricing
    if v is not None:
        d["pricing"] = file_Pricing(v)
    if m.recording:
        d["recording"] = m.recording
    return d


def rest_CommandTarget(m: CommandTarget) -> dict[str, Any]:
    d: dict[str, Any] = {
        "argv": m.argv,
        "stdin": m.stdin,
        "stdout": m.stdout,
        "outputPath": m.output_path,
        "usagePath": m.usage_path,
        "workdir": m.workdir,
        "envFrom": m.env_from,
    }
    return d


def file_CommandTarget(m: CommandTarget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.argv:
        d["argv"] = m.argv
    if m.stdin:
        d["stdin"] = m.stdin
    if m.stdout:
        d["stdout"] = m.stdout
    if m.output_path:
        d["output_path"] = m.output_path
    if m.usage_path:
        d["usage_path"] = m.usage_path
    if m.workdir:
        d["workdir"] = m.workdir
    if m.env_from:
        d["env_from"] = m.env_from
    return d


def rest_FewShotExample(m: FewShotExample) -> dict[str, Any]:
    d: dict[str, Any] = {
        "input": m.input,
        "output": m.output,
    }
    return d


def file_FewShotExample(m: FewShotExample) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.input:
        d["input"] = m.input
    if m.output:
        d["output"] = m.output
    return d


def rest_ToolDefinition(m: ToolDefinition) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "description": m.description,
        "parameters": m.parameters,
        "strict": m.strict,
    }
    return d


def file_ToolDefinition(m: ToolDefinition) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.description:
        d["description"] = m.description
    if m.parameters:
        d["parameters"] = m.parameters
    d["strict"] = m.strict
    return d


def rest_JudgeSpec(m: JudgeSpec) -> dict[str, Any]:
    d: dict[str, Any] = {
        "provider": m.provider,
        "model": m.model,
        "baseUrl": m.base_url,
        "apiKeyEnv": m.api_key_env,
        "effort": m.effort,
        "maxTokens": m.max_tokens,
        "responseFormat": m.response_format,
        "requestsPerMinute": m.requests_per_minute,
        "tokensPerMinute": m.tokens_per_minute,
        "maxConcurrency": m.max_concurrency,
        "maxTotalTokens": m.max_total_tokens,
        "recording": m.recording,
    }
    v = m.temperature
    if v is not None:
        d["temperature"] = v
    v = m.top_p
    if v is not None:
        d["topP"] = v
    v = m.seed
    if v is not None:
        d["seed"] = v
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    v = m.max_retries
    if v is not None:
        d["maxRetries"] = v
    v = m.max_usd
    if v is not None:
        d["maxUsd"] = v
    return d


def file_JudgeSpec(m: JudgeSpec) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.provider:
        d["provider"] = m.provider
    if m.model:
        d["model"] = m.model
    if m.base_url:
        d["base_url"] = m.base_url
    if m.api_key_env:
        d["api_key_env"] = m.api_key_env
    if m.effort:
        d["effort"] = m.effort
    d["max_tokens"] = m.max_tokens
    v = m.temperature
    if v is not None:
        d["temperature"] = v
    v = m.top_p
    if v is not None:
        d["top_p"] = v
    v = m.seed
    if v is not None:
        d["seed"] = v
    if m.response_format:
        d["response_format"] = m.response_format
    d["requests_per_minute"] = m.requests_per_minute
    d["tokens_per_minute"] = m.tokens_per_minute
    d["max_concurrency"] = m.max_concurrency
    v = m.timeout
    if v is not None:
        d["timeout"] = duration_text(v)
    v = m.max_retries
    if v is not None:
        d["max_retries"] = v
    v = m.max_usd
    if v is not None:
        d["max_usd"] = v
    d["max_total_tokens"] = m.max_total_tokens
    if m.recording:
        d["recording"] = m.recording
    return d


def rest_Sink(m: Sink) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.json
    if v is not None:
        d["json"] = v
    v = m.html
    if v is not None:
        d["html"] = v
    v = m.markdown
    if v is not None:
        d["markdown"] = v
    v = m.junit
    if v is not None:
        d["junit"] = v
    v = m.csv
    if v is not None:
        d["csv"] = v
    v = m.name
    if v is not None:
        d["name"] = v
    return d


def file_Sink(m: Sink) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.json
    if v is not None:
        d["json"] = v
    v = m.html
    if v is not None:
        d["html"] = v
    v = m.markdown
    if v is not None:
        d["markdown"] = v
    v = m.junit
    if v is not None:
        d["junit"] = v
    v = m.csv
    if v is not None:
        d["csv"] = v
    v = m.name
    if v is not None:
        d["name"] = v
    return d


def rest_Thinking(m: Thinking) -> dict[str, Any]:
    d: dict[str, Any] = {
        "mode": m.mode,
        "budgetTokens": m.budget_tokens,
    }
    return d


def file_Thinking(m: Thinking) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.mode:
        d["mode"] = m.mode
    d["budget_tokens"] = m.budget_tokens
    return d


def rest_DatasetSource(m: DatasetSource) -> dict[str, Any]:
    d: dict[str, Any] = {
        "mapping": m.mapping,
        "limit": m.limit,
        "where": m.where,
        "sample": m.sample,
        "seed": m.seed,
        "skipInvalid": m.skip_invalid,
        "format": m.format,
    }
    v = m.inline
    if v is not None:
        d["inline"] = rest_InlineRecords(v)
    v = m.path
    if v is not None:
        d["path"] = v
    v = m.uri
    if v is not None:
        d["uri"] = v
    v = m.traces
    if v is not None:
        d["traces"] = rest_TraceQuery(v)
    v = m.run
    if v is not None:
        d["run"] = rest_RunOutputs(v)
    v = m.catalog
    if v is not None:
        d["catalog"] = rest_DatasetVersionRef(v)
    return d


def file_DatasetSource(m: DatasetSource) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.inline
    if v is not None:
        d["inline"] = file_InlineRecords(v)
    v = m.path
    if v is not None:
        d["path"] = v
    v = m.uri
    if v is not None:
        d["uri"] = v
    v = m.traces
    if v is not None:
        d["traces"] = file_TraceQuery(v)
    v = m.run
    if v is not None:
        d["run"] = file_RunOutputs(v)
    v = m.catalog
    if v is not None:
        d["catalog"] = file_DatasetVersionRef(v)
    if m.mapping:
        d["mapping"] = m.mapping
    d["limit"] = m.limit
    if m.where:
        d["where"] = m.where
    d["sample"] = m.sample
    d["seed"] = m.seed
    d["skip_invalid"] = m.skip_invalid
    if m.format:
        d["format"] = m.format
    return d


def rest_DatasetVersionRef(m: DatasetVersionRef) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "sha256": m.sha256,
    }
    return d


def file_DatasetVersionRef(m: DatasetVersionRef) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    if m.sha256:
        d["sha256"] = m.sha256
    return d


def rest_TraceQuery(m: TraceQuery) -> dict[str, Any]:
    d: dict[str, Any] = {
        "service": m.service,
        "policy": m.policy,
        "filter": m.filter,
    }
    v = m.lookback
    if v is not None:
        d["lookback"] = duration_text(v)
    return d


def file_TraceQuery(m: TraceQuery) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.service:
        d["service"] = m.service
    if m.policy:
        d["policy"] = m.policy
    if m.filter:
        d["filter"] = m.filter
    v = m.lookback
    if v is not None:
        d["lookback"] = duration_text(v)
    return d


def rest_RunOutputs(m: RunOutputs) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "trial": m.trial,
        "allTrials": m.all_trials,
    }
    return d


def file_RunOutputs(m: RunOutputs) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    d["trial"] = m.trial
    d["all_trials"] = m.all_trials
    return d


def rest_InlineRecords(m: InlineRecords) -> dict[str, Any]:
    d: dict[str, Any] = {
        "records": [rest_Record(v) for v in m.records],
    }
    return d


def file_InlineRecords(m: InlineRecords) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    return d


def rest_Gate(m: Gate) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "stat": m.stat.proto_name,
        "cel": m.cel,
        "slice": m.slice,
        "k": m.k,
        "baseline": m.baseline,
        "significance": m.significance,
        "name": m.name,
    }
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    v = m.max_drop
    if v is not None:
        d["maxDrop"] = v
    return d


def file_Gate(m: Gate) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    if m.stat.number:
        d["stat"] = m.stat.value
    v = m.min
    if v is not None:
        d["min"] = v
    v = m.max
    if v is not None:
        d["max"] = v
    if m.cel:
        d["cel"] = m.cel
    if m.slice:
        d["slice"] = m.slice
    d["k"] = m.k
    if m.baseline:
        d["baseline"] = m.baseline
    v = m.max_drop
    if v is not None:
        d["max_drop"] = v
    d["significance"] = m.significance
    if m.name:
        d["name"] = m.name
    return d


def rest_GateResult(m: GateResult) -> dict[str, Any]:
    d: dict[str, Any] = {
        "passed": m.passed,
        "reason": m.reason,
        "verdict": m.verdict.proto_name,
        "n": m.n,
    }
    v = m.gate
    if v is not None:
        d["gate"] = rest_Gate(v)
    v = m.value
    if v is not None:
        d["value"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    v = m.baseline_value
    if v is not None:
        d["baselineValue"] = v
    return d


def file_GateResult(m: GateResult) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.gate
    if v is not None:
        d["gate"] = file_Gate(v)
    d["passed"] = m.passed
    v = m.value
    if v is not None:
        d["value"] = v
    if m.reason:
        d["reason"] = m.reason
    if m.verdict.number:
        d["verdict"] = m.verdict.value
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    d["n"] = m.n
    v = m.baseline_value
    if v is not None:
        d["baseline_value"] = v
    return d


def rest_Budget(m: Budget) -> dict[str, Any]:
    d: dict[str, Any] = {
        "maxTargetTokens": m.max_target_tokens,
        "maxJudgeTokens": m.max_judge_tokens,
    }
    v = m.max_usd
    if v is not None:
        d["maxUsd"] = v
    v = m.max_wall_clock
    if v is not None:
        d["maxWallClock"] = duration_text(v)
    return d


def file_Budget(m: Budget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["max_target_tokens"] = m.max_target_tokens
    d["max_judge_tokens"] = m.max_judge_tokens
    v = m.max_usd
    if v is not None:
        d["max_usd"] = v
    v = m.max_wall_clock
    if v is not None:
        d["max_wall_clock"] = duration_text(v)
    return d


def rest_Progress(m: Progress) -> dict[str, Any]:
    d: dict[str, Any] = {
        "total": m.total,
        "done": m.done,
    }
    return d


def file_Progress(m: Progress) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["total"] = m.total
    d["done"] = m.done
    return d


def rest_Run(m: Run) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "name": m.name,
        "project": m.project,
        "status": m.status.proto_name,
        "error": m.error,
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
        "gates": [rest_GateResult(v) for v in m.gates],
        "datasetSha256": m.dataset_sha256,
        "records": m.records,
        "labels": m.labels,
        "createdBy": m.created_by,
        "imported": m.imported,
    }
    v = m.spec
    if v is not None:
        d["spec"] = rest_RunSpec(v)
    v = m.created_at
    if v is not None:
        d["createdAt"] = timestamp_text(v)
    v = m.started_at
    if v is not None:
        d["startedAt"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finishedAt"] = timestamp_text(v)
    v = m.progress
    if v is not None:
        d["progress"] = rest_Progress(v)
    v = m.target_usage
    if v is not None:
        d["targetUsage"] = rest_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judgeUsage"] = rest_Usage(v)
    v = m.archived_at
    if v is not None:
        d["archivedAt"] = timestamp_text(v)
    v = m.evaluation_contract
    if v is not None:
        d["evaluationContract"] = rest_RunEvaluationContract(v)
    v = m.manifest
    if v is not None:
        d["manifest"] = rest_RunManifest(v)
    return d


def file_Run(m: Run) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.spec
    if v is not None:
        d["spec"] = file_RunSpec(v)
    if m.status.number:
        d["status"] = m.status.value
    v = m.created_at
    if v is not None:
        d["created_at"] = timestamp_text(v)
    v = m.started_at
    if v is not None:
        d["started_at"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finished_at"] = timestamp_text(v)
    if m.error:
        d["error"] = m.error
    v = m.progress
    if v is not None:
        d["progress"] = file_Progress(v)
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    if m.gates:
        d["gates"] = [file_GateResult(v) for v in m.gates]
    v = m.target_usage
    if v is not None:
        d["target_usage"] = file_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judge_usage"] = file_Usage(v)
    if m.dataset_sha256:
        d["dataset_sha256"] = m.dataset_sha256
    d["records"] = m.records
    if m.labels:
        d["labels"] = m.labels
    if m.created_by:
        d["created_by"] = m.created_by
    v = m.archived_at
    if v is not None:
        d["archived_at"] = timestamp_text(v)
    d["imported"] = m.imported
    v = m.evaluation_contract
    if v is not None:
        d["evaluation_contract"] = file_RunEvaluationContract(v)
    v = m.manifest
    if v is not None:
        d["manifest"] = file_RunManifest(v)
    return d


def rest_BoundRunEvaluator(m: BoundRunEvaluator) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "params": m.params,
        "judge": m.judge,
        "judgeSettingsSha256": m.judge_settings_sha256,
        "promptSha256": m.prompt_sha256,
        "codeSha256": m.code_sha256,
    }
    v = m.manifest
    if v is not None:
        d["manifest"] = rest_EvaluatorManifest(v)
    return d


def file_BoundRunEvaluator(m: BoundRunEvaluator) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    v = m.manifest
    if v is not None:
        d["manifest"] = file_EvaluatorManifest(v)
    if m.params:
        d["params"] = m.params
    if m.judge:
        d["judge"] = m.judge
    if m.judge_settings_sha256:
        d["judge_settings_sha256"] = m.judge_settings_sha256
    if m.prompt_sha256:
        d["prompt_sha256"] = m.prompt_sha256
    if m.code_sha256:
        d["code_sha256"] = m.code_sha256
    return d


def rest_RunEvaluationContract(m: RunEvaluationContract) -> dict[str, Any]:
    d: dict[str, Any] = {
        "evaluators": [rest_BoundRunEvaluator(v) for v in m.evaluators],
        "settingsSha256": m.settings_sha256,
        "serverVersion": m.server_version,
    }
    return d


def file_RunEvaluationContract(m: RunEvaluationContract) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.evaluators:
        d["evaluators"] = [file_BoundRunEvaluator(v) for v in m.evaluators]
    if m.settings_sha256:
        d["settings_sha256"] = m.settings_sha256
    if m.server_version:
        d["server_version"] = m.server_version
    return d


def rest_RunManifest(m: RunManifest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "name": m.name,
        "project": m.project,
        "evalsiVersion": m.evalsi_version,
        "pythonVersion": m.python_version,
        "platform": m.platform,
        "packages": m.packages,
        "argv": m.argv,
        "evaluators": [rest_BoundRunEvaluator(v) for v in m.evaluators],
        "judges": [rest_JudgeManifest(v) for v in m.judges],
        "seeds": m.seeds,
        "priceTableVersion": m.price_table_version,
        "unpinned": [rest_Unpinned(v) for v in m.unpinned],
        "settingsSha256": m.settings_sha256,
        "status": m.status.proto_name,
        "trials": m.trials,
        "warnings": m.warnings,
        "labels": m.labels,
        "gates": [rest_GateResult(v) for v in m.gates],
        "specFolder": m.spec_folder,
        "sandboxes": [rest_IsolationReport(v) for v in m.sandboxes],
        "stoppedEarly": m.stopped_early,
    }
    v = m.git
    if v is not None:
        d["git"] = rest_GitState(v)
    v = m.started_at
    if v is not None:
        d["startedAt"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finishedAt"] = timestamp_text(v)
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetManifest(v)
    v = m.summary
    if v is not None:
        d["summary"] = rest_SummaryOptions(v)
    v = m.target_usage
    if v is not None:
        d["targetUsage"] = rest_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judgeUsage"] = rest_Usage(v)
    v = m.spec
    if v is not None:
        d["spec"] = rest_RunSpec(v)
    v = m.earlier_tries
    if v is not None:
        d["earlierTries"] = duration_text(v)
    return d


def file_RunManifest(m: RunManifest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    if m.evalsi_version:
        d["evalsi_version"] = m.evalsi_version
    if m.python_version:
        d["python_version"] = m.python_version
    if m.platform:
        d["platform"] = m.platform
    if m.packages:
        d["packages"] = m.packages
    if m.argv:
        d["argv"] = m.argv
    v = m.git
    if v is not None:
        d["git"] = file_GitState(v)
    v = m.started_at
    if v is not None:
        d["started_at"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finished_at"] = timestamp_text(v)
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetManifest(v)
    if m.evaluators:
        d["evaluators"] = [file_BoundRunEvaluator(v) for v in m.evaluators]
    if m.judges:
        d["judges"] = [file_JudgeManifest(v) for v in m.judges]
    v = m.summary
    if v is not None:
        d["summary"] = file_SummaryOptions(v)
    if m.seeds:
        d["seeds"] = m.seeds
    if m.price_table_version:
        d["price_table_version"] = m.price_table_version
    if m.unpinned:
        d["unpinned"] = [file_Unpinned(v) for v in m.unpinned]
    if m.settings_sha256:
        d["settings_sha256"] = m.settings_sha256
    if m.status.number:
        d["status"] = m.status.value
    v = m.target_usage
    if v is not None:
        d["target_usage"] = file_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judge_usage"] = file_Usage(v)
    d["trials"] = m.trials
    v = m.spec
    if v is not None:
        d["spec"] = file_RunSpec(v)
    if m.warnings:
        d["warnings"] = m.warnings
    if m.labels:
        d["labels"] = m.labels
    if m.gates:
        d["gates"] = [file_GateResult(v) for v in m.gates]
    if m.spec_folder:
        d["spec_folder"] = m.spec_folder
    v = m.earlier_tries
    if v is not None:
        d["earlier_tries"] = duration_text(v)
    if m.sandboxes:
        d["sandboxes"] = [file_IsolationReport(v) for v in m.sandboxes]
    if m.stopped_early:
        d["stopped_early"] = m.stopped_early
    return d


def rest_GitState(m: GitState) -> dict[str, Any]:
    d: dict[str, Any] = {
        "commit": m.commit,
        "branch": m.branch,
        "dirty": m.dirty,
    }
    return d


def file_GitState(m: GitState) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.commit:
        d["commit"] = m.commit
    if m.branch:
        d["branch"] = m.branch
    d["dirty"] = m.dirty
    return d


def rest_DatasetManifest(m: DatasetManifest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "source": m.source,
        "sha256": m.sha256,
        "records": m.records,
        "rejected": m.rejected,
        "mapping": m.mapping,
        "where": m.where,
        "limit": m.limit,
        "sample": m.sample,
        "revision": m.revision,
    }
    return d


def file_DatasetManifest(m: DatasetManifest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.source:
        d["source"] = m.source
    if m.sha256:
        d["sha256"] = m.sha256
    d["records"] = m.records
    d["rejected"] = m.rejected
    if m.mapping:
        d["mapping"] = m.mapping
    if m.where:
        d["where"] = m.where
    d["limit"] = m.limit
    d["sample"] = m.sample
    if m.revision:
        d["revision"] = m.revision
    return d


def rest_JudgeManifest(m: JudgeManifest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "provider": m.provider,
        "model": m.model,
        "reportedModels": m.reported_models,
        "baseUrl": m.base_url,
        "settings": m.settings,
        "settingsSha256": m.settings_sha256,
    }
    v = m.usage
    if v is not None:
        d["usage"] = rest_Usage(v)
    return d


def file_JudgeManifest(m: JudgeManifest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.provider:
        d["provider"] = m.provider
    if m.model:
        d["model"] = m.model
    if m.reported_models:
        d["reported_models"] = m.reported_models
    if m.base_url:
        d["base_url"] = m.base_url
    if m.settings:
        d["settings"] = m.settings
    if m.settings_sha256:
        d["settings_sha256"] = m.settings_sha256
    v = m.usage
    if v is not None:
        d["usage"] = file_Usage(v)
    return d


def rest_Unpinned(m: Unpinned) -> dict[str, Any]:
    d: dict[str, Any] = {
        "what": m.what,
        "why": m.why,
    }
    return d


def file_Unpinned(m: Unpinned) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.what:
        d["what"] = m.what
    if m.why:
        d["why"] = m.why
    return d


def rest_DatasetVersionContent(m: DatasetVersionContent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "owner": m.owner,
        "split": m.split,
        "tags": m.tags,
        "description": m.description,
        "labels": m.labels,
        "records": [rest_Record(v) for v in m.records],
    }
    return d


def file_DatasetVersionContent(m: DatasetVersionContent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    if m.owner:
        d["owner"] = m.owner
    if m.split:
        d["split"] = m.split
    if m.tags:
        d["tags"] = m.tags
    if m.description:
        d["description"] = m.description
    if m.labels:
        d["labels"] = m.labels
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    return d


def rest_DatasetVersion(m: DatasetVersion) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sha256": m.sha256,
        "records": m.records,
        "state": m.state.proto_name,
        "revision": m.revision,
        "publishedBy": m.published_by,
        "reviewedBy": m.reviewed_by,
        "reviewNote": m.review_note,
    }
    v = m.content
    if v is not None:
        d["content"] = rest_DatasetVersionContent(v)
    v = m.published_at
    if v is not None:
        d["publishedAt"] = timestamp_text(v)
    v = m.reviewed_at
    if v is not None:
        d["reviewedAt"] = timestamp_text(v)
    return d


def file_DatasetVersion(m: DatasetVersion) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.content
    if v is not None:
        d["content"] = file_DatasetVersionContent(v)
    if m.sha256:
        d["sha256"] = m.sha256
    d["records"] = m.records
    if m.state.number:
        d["state"] = m.state.value
    d["revision"] = m.revision
    if m.published_by:
        d["published_by"] = m.published_by
    v = m.published_at
    if v is not None:
        d["published_at"] = timestamp_text(v)
    if m.reviewed_by:
        d["reviewed_by"] = m.reviewed_by
    v = m.reviewed_at
    if v is not None:
        d["reviewed_at"] = timestamp_text(v)
    if m.review_note:
        d["review_note"] = m.review_note
    return d


def rest_DatasetVersionEvent(m: DatasetVersionEvent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "revision": m.revision,
        "state": m.state.proto_name,
        "actor": m.actor,
        "sha256": m.sha256,
    }
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_DatasetVersionEvent(m: DatasetVersionEvent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["revision"] = m.revision
    if m.state.number:
        d["state"] = m.state.value
    if m.actor:
        d["actor"] = m.actor
    if m.sha256:
        d["sha256"] = m.sha256
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def rest_FailureSelection(m: FailureSelection) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "revision": m.revision,
    }
    return d


def file_FailureSelection(m: FailureSelection) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    d["revision"] = m.revision
    return d


def rest_PublishDatasetVersionRequest(m: PublishDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "failures": [rest_FailureSelection(v) for v in m.failures],
    }
    v = m.content
    if v is not None:
        d["content"] = rest_DatasetVersionContent(v)
    return d


def file_PublishDatasetVersionRequest(m: PublishDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.content
    if v is not None:
        d["content"] = file_DatasetVersionContent(v)
    if m.failures:
        d["failures"] = [file_FailureSelection(v) for v in m.failures]
    return d


def rest_PublishDatasetVersionResponse(m: PublishDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = rest_DatasetVersionRef(v)
    return d


def file_PublishDatasetVersionResponse(m: PublishDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = file_DatasetVersionRef(v)
    return d


def rest_ListDatasetVersionsRequest(m: ListDatasetVersionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "state": m.state.proto_name,
        "owner": m.owner,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
        "search": m.search,
    }
    return d


def file_ListDatasetVersionsRequest(m: ListDatasetVersionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.state.number:
        d["state"] = m.state.value
    if m.owner:
        d["owner"] = m.owner
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    if m.search:
        d["search"] = m.search
    return d


def rest_ListDatasetVersionsResponse(m: ListDatasetVersionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "datasets": [rest_DatasetVersion(v) for v in m.datasets],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListDatasetVersionsResponse(m: ListDatasetVersionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.datasets:
        d["datasets"] = [file_DatasetVersion(v) for v in m.datasets]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_GetDatasetVersionRequest(m: GetDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "withoutRecords": m.without_records,
    }
    return d


def file_GetDatasetVersionRequest(m: GetDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    d["without_records"] = m.without_records
    return d


def rest_GetDatasetVersionResponse(m: GetDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = rest_DatasetVersionRef(v)
    return d


def file_GetDatasetVersionResponse(m: GetDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = file_DatasetVersionRef(v)
    return d


def rest_ReviewDatasetVersionRequest(m: ReviewDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "sha256": m.sha256,
        "expectedRevision": m.expected_revision,
        "decision": m.decision.proto_name,
        "note": m.note,
    }
    return d


def file_ReviewDatasetVersionRequest(m: ReviewDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    if m.sha256:
        d["sha256"] = m.sha256
    d["expected_revision"] = m.expected_revision
    if m.decision.number:
        d["decision"] = m.decision.value
    if m.note:
        d["note"] = m.note
    return d


def rest_ReviewDatasetVersionResponse(m: ReviewDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetVersion(v)
    return d


def file_ReviewDatasetVersionResponse(m: ReviewDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetVersion(v)
    return d


def rest_ListDatasetVersionEventsRequest(m: ListDatasetVersionEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    return d


def file_ListDatasetVersionEventsRequest(m: ListDatasetVersionEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_ListDatasetVersionEventsResponse(m: ListDatasetVersionEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "events": [rest_DatasetVersionEvent(v) for v in m.events],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListDatasetVersionEventsResponse(m: ListDatasetVersionEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.events:
        d["events"] = [file_DatasetVersionEvent(v) for v in m.events]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_DiffDatasetVersionsRequest(m: DiffDatasetVersionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "beforeVersion": m.before_version,
        "afterVersion": m.after_version,
        "beforeSha256": m.before_sha256,
        "afterSha256": m.after_sha256,
    }
    return d


def file_DiffDatasetVersionsRequest(m: DiffDatasetVersionsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.before_version:
        d["before_version"] = m.before_version
    if m.after_version:
        d["after_version"] = m.after_version
    if m.before_sha256:
        d["before_sha256"] = m.before_sha256
    if m.after_sha256:
        d["after_sha256"] = m.after_sha256
    return d


def rest_DatasetRecordChange(m: DatasetRecordChange) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "fields": m.fields,
    }
    return d


def file_DatasetRecordChange(m: DatasetRecordChange) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.fields:
        d["fields"] = m.fields
    return d


def rest_DiffDatasetVersionsResponse(m: DiffDatasetVersionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "beforeSha256": m.before_sha256,
        "afterSha256": m.after_sha256,
        "added": m.added,
        "removed": m.removed,
        "changed": [rest_DatasetRecordChange(v) for v in m.changed],
        "unchanged": m.unchanged,
        "orderChanged": m.order_changed,
        "metadataChanged": m.metadata_changed,
    }
    return d


def file_DiffDatasetVersionsResponse(m: DiffDatasetVersionsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.before_sha256:
        d["before_sha256"] = m.before_sha256
    if m.after_sha256:
        d["after_sha256"] = m.after_sha256
    if m.added:
        d["added"] = m.added
    if m.removed:
        d["removed"] = m.removed
    if m.changed:
        d["changed"] = [file_DatasetRecordChange(v) for v in m.changed]
    d["unchanged"] = m.unchanged
    d["order_changed"] = m.order_changed
    if m.metadata_changed:
        d["metadata_changed"] = m.metadata_changed
    return d


def rest_DatasetUploadConfig(m: DatasetUploadConfig) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
        "format": m.format,
        "mapping": m.mapping,
        "description": m.description,
        "labels": m.labels,
        "owner": m.owner,
        "fileSha256": m.file_sha256,
    }
    return d


def file_DatasetUploadConfig(m: DatasetUploadConfig) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    if m.format:
        d["format"] = m.format
    if m.mapping:
        d["mapping"] = m.mapping
    if m.description:
        d["description"] = m.description
    if m.labels:
        d["labels"] = m.labels
    if m.owner:
        d["owner"] = m.owner
    if m.file_sha256:
        d["file_sha256"] = m.file_sha256
    return d


def rest_UploadDatasetVersionRequest(m: UploadDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.config
    if v is not None:
        d["config"] = rest_DatasetUploadConfig(v)
    v = m.chunk
    if v is not None:
        d["chunk"] = b64encode(v).decode("ascii")
    return d


def file_UploadDatasetVersionRequest(m: UploadDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.config
    if v is not None:
        d["config"] = file_DatasetUploadConfig(v)
    v = m.chunk
    if v is not None:
        d["chunk"] = b64encode(v).decode("ascii")
    return d


def rest_UploadDatasetVersionResponse(m: UploadDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "existed": m.existed,
        "path": m.path,
        "records": m.records,
    }
    v = m.dataset
    if v is not None:
        d["dataset"] = rest_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = rest_DatasetVersionRef(v)
    return d


def file_UploadDatasetVersionResponse(m: UploadDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.dataset
    if v is not None:
        d["dataset"] = file_DatasetVersion(v)
    v = m.reference
    if v is not None:
        d["reference"] = file_DatasetVersionRef(v)
    d["existed"] = m.existed
    if m.path:
        d["path"] = m.path
    d["records"] = m.records
    return d


def rest_FetchDatasetVersionRequest(m: FetchDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "name": m.name,
        "version": m.version,
    }
    return d


def file_FetchDatasetVersionRequest(m: FetchDatasetVersionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.name:
        d["name"] = m.name
    if m.version:
        d["version"] = m.version
    return d


def rest_FetchDatasetVersionResponse(m: FetchDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "chunk": b64encode(m.chunk).decode("ascii"),
    }
    return d


def file_FetchDatasetVersionResponse(m: FetchDatasetVersionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.chunk:
        d["chunk"] = b64encode(m.chunk).decode("ascii")
    return d


def rest_TraceSummary(m: TraceSummary) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traceId": m.trace_id,
        "service": m.service,
        "name": m.name,
        "error": m.error,
        "steps": m.steps,
        "results": m.results,
        "project": m.project,
        "labels": m.labels,
        "sessionId": m.session_id,
        "userId": m.user_id,
        "version": m.version,
        "model": m.model,
        "input": m.input,
        "output": m.output,
        "complete": m.complete,
        "revision": m.revision,
        "spans": m.spans,
        "scores": m.scores,
        "failedSpans": m.failed_spans,
    }
    v = m.start_time
    if v is not None:
        d["startTime"] = timestamp_text(v)
    v = m.duration
    if v is not None:
        d["duration"] = duration_text(v)
    v = m.input_tokens
    if v is not None:
        d["inputTokens"] = v
    v = m.output_tokens
    if v is not None:
        d["outputTokens"] = v
    v = m.cost_usd
    if v is not None:
        d["costUsd"] = v
    v = m.feedback
    if v is not None:
        d["feedback"] = v
    return d


def file_TraceSummary(m: TraceSummary) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.service:
        d["service"] = m.service
    if m.name:
        d["name"] = m.name
    v = m.start_time
    if v is not None:
        d["start_time"] = timestamp_text(v)
    v = m.duration
    if v is not None:
        d["duration_ms"] = milliseconds(v)
    d["error"] = m.error
    d["steps"] = m.steps
    d["results"] = m.results
    if m.project:
        d["project"] = m.project
    if m.labels:
        d["labels"] = m.labels
    if m.session_id:
        d["session_id"] = m.session_id
    if m.user_id:
        d["user_id"] = m.user_id
    if m.version:
        d["version"] = m.version
    if m.model:
        d["model"] = m.model
    if m.input:
        d["input"] = m.input
    if m.output:
        d["output"] = m.output
    v = m.input_tokens
    if v is not None:
        d["input_tokens"] = v
    v = m.output_tokens
    if v is not None:
        d["output_tokens"] = v
    v = m.cost_usd
    if v is not None:
        d["cost_usd"] = v
    d["complete"] = m.complete
    d["revision"] = m.revision
    d["spans"] = m.spans
    v = m.feedback
    if v is not None:
        d["feedback"] = v
    if m.scores:
        d["scores"] = m.scores
    d["failed_spans"] = m.failed_spans
    return d


def rest_TraceFilter(m: TraceFilter) -> dict[str, Any]:
    d: dict[str, Any] = {
        "service": m.service,
        "text": m.text,
        "sessionId": m.session_id,
        "userId": m.user_id,
        "version": m.version,
        "model": m.model,
        "labels": m.labels,
        "scores": m.scores,
        "policy": m.policy,
        "traceIdPrefix": m.trace_id_prefix,
    }
    v = m.error
    if v is not None:
        d["error"] = v
    v = m.complete
    if v is not None:
        d["complete"] = v
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    v = m.min_duration
    if v is not None:
        d["minDuration"] = duration_text(v)
    v = m.max_duration
    if v is not None:
        d["maxDuration"] = duration_text(v)
    v = m.min_cost_usd
    if v is not None:
        d["minCostUsd"] = v
    v = m.max_cost_usd
    if v is not None:
        d["maxCostUsd"] = v
    v = m.negative_feedback
    if v is not None:
        d["negativeFeedback"] = v
    v = m.failed_step
    if v is not None:
        d["failedStep"] = v
    return d


def file_TraceFilter(m: TraceFilter) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.service:
        d["service"] = m.service
    if m.text:
        d["text"] = m.text
    if m.session_id:
        d["session_id"] = m.session_id
    if m.user_id:
        d["user_id"] = m.user_id
    if m.version:
        d["version"] = m.version
    if m.model:
        d["model"] = m.model
    if m.labels:
        d["labels"] = m.labels
    v = m.error
    if v is not None:
        d["error"] = v
    v = m.complete
    if v is not None:
        d["complete"] = v
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    v = m.min_duration
    if v is not None:
        d["min_duration"] = duration_text(v)
    v = m.max_duration
    if v is not None:
        d["max_duration"] = duration_text(v)
    v = m.min_cost_usd
    if v is not None:
        d["min_cost_usd"] = v
    v = m.max_cost_usd
    if v is not None:
        d["max_cost_usd"] = v
    if m.scores:
        d["scores"] = m.scores
    if m.policy:
        d["policy"] = m.policy
    v = m.negative_feedback
    if v is not None:
        d["negative_feedback"] = v
    if m.trace_id_prefix:
        d["trace_id_prefix"] = m.trace_id_prefix
    v = m.failed_step
    if v is not None:
        d["failed_step"] = v
    return d


def rest_ListTracesRequest(m: ListTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "service": m.service,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
        "project": m.project,
    }
    v = m.filter
    if v is not None:
        d["filter"] = rest_TraceFilter(v)
    return d


def file_ListTracesRequest(m: ListTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.service:
        d["service"] = m.service
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    if m.project:
        d["project"] = m.project
    v = m.filter
    if v is not None:
        d["filter"] = file_TraceFilter(v)
    return d


def rest_ListTracesResponse(m: ListTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traces": [rest_TraceSummary(v) for v in m.traces],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListTracesResponse(m: ListTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.traces:
        d["traces"] = [file_TraceSummary(v) for v in m.traces]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_CountTracesRequest(m: CountTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    v = m.filter
    if v is not None:
        d["filter"] = rest_TraceFilter(v)
    return d


def file_CountTracesRequest(m: CountTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    v = m.filter
    if v is not None:
        d["filter"] = file_TraceFilter(v)
    return d


def rest_TraceFacet(m: TraceFacet) -> dict[str, Any]:
    d: dict[str, Any] = {
        "field": m.field,
        "counts": m.counts,
    }
    return d


def file_TraceFacet(m: TraceFacet) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.field:
        d["field"] = m.field
    if m.counts:
        d["counts"] = m.counts
    return d


def rest_CountTracesResponse(m: CountTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "total": m.total,
        "facets": [rest_TraceFacet(v) for v in m.facets],
        "capped": m.capped,
    }
    return d


def file_CountTracesResponse(m: CountTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["total"] = m.total
    if m.facets:
        d["facets"] = [file_TraceFacet(v) for v in m.facets]
    d["capped"] = m.capped
    return d


def rest_WatchTracesRequest(m: WatchTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    v = m.filter
    if v is not None:
        d["filter"] = rest_TraceFilter(v)
    return d


def file_WatchTracesRequest(m: WatchTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    v = m.filter
    if v is not None:
        d["filter"] = file_TraceFilter(v)
    return d


def rest_WatchTracesResponse(m: WatchTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.trace
    if v is not None:
        d["trace"] = rest_TraceSummary(v)
    return d


def file_WatchTracesResponse(m: WatchTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.trace
    if v is not None:
        d["trace"] = file_TraceSummary(v)
    return d


def rest_GetTraceRequest(m: GetTraceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traceId": m.trace_id,
        "project": m.project,
    }
    return d


def file_GetTraceRequest(m: GetTraceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.project:
        d["project"] = m.project
    return d


def rest_PolicyResults(m: PolicyResults) -> dict[str, Any]:
    d: dict[str, Any] = {
        "policy": m.policy,
        "results": [rest_EvaluationResult(v) for v in m.results],
        "revision": m.revision,
    }
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_PolicyResults(m: PolicyResults) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.policy:
        d["policy"] = m.policy
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    d["revision"] = m.revision
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def rest_GetTraceResponse(m: GetTraceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "policies": [rest_PolicyResults(v) for v in m.policies],
        "feedback": [rest_Feedback(v) for v in m.feedback],
        "feedbackTotal": m.feedback_total,
        "feedbackPageToken": m.feedback_page_token,
    }
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    v = m.summary
    if v is not None:
        d["summary"] = rest_TraceSummary(v)
    return d


def file_GetTraceResponse(m: GetTraceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    if m.policies:
        d["policies"] = [file_PolicyResults(v) for v in m.policies]
    v = m.summary
    if v is not None:
        d["summary"] = file_TraceSummary(v)
    if m.feedback:
        d["feedback"] = [file_Feedback(v) for v in m.feedback]
    d["feedback_total"] = m.feedback_total
    if m.feedback_page_token:
        d["feedback_page_token"] = m.feedback_page_token
    return d


def rest_ExportTraceRequest(m: ExportTraceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traceId": m.trace_id,
        "project": m.project,
    }
    return d


def file_ExportTraceRequest(m: ExportTraceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.project:
        d["project"] = m.project
    return d


def rest_ExportTraceResponse(m: ExportTraceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "chunk": b64encode(m.chunk).decode("ascii"),
    }
    return d


def file_ExportTraceResponse(m: ExportTraceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.chunk:
        d["chunk"] = b64encode(m.chunk).decode("ascii")
    return d


def rest_GetSessionRequest(m: GetSessionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sessionId": m.session_id,
        "project": m.project,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    return d


def file_GetSessionRequest(m: GetSessionRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.session_id:
        d["session_id"] = m.session_id
    if m.project:
        d["project"] = m.project
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_GetSessionResponse(m: GetSessionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traces": [rest_TraceScores(v) for v in m.traces],
        "policies": [rest_PolicyResults(v) for v in m.policies],
        "feedback": [rest_Feedback(v) for v in m.feedback],
        "nextPageToken": m.next_page_token,
        "feedbackTotal": m.feedback_total,
        "feedbackPageToken": m.feedback_page_token,
    }
    return d


def file_GetSessionResponse(m: GetSessionResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.traces:
        d["traces"] = [file_TraceScores(v) for v in m.traces]
    if m.policies:
        d["policies"] = [file_PolicyResults(v) for v in m.policies]
    if m.feedback:
        d["feedback"] = [file_Feedback(v) for v in m.feedback]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    d["feedback_total"] = m.feedback_total
    if m.feedback_page_token:
        d["feedback_page_token"] = m.feedback_page_token
    return d


def rest_ListScoresRequest(m: ListScoresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "traceId": m.trace_id,
        "service": m.service,
        "labels": m.labels,
        "policy": m.policy,
        "evaluator": m.evaluator,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    return d


def file_ListScoresRequest(m: ListScoresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.service:
        d["service"] = m.service
    if m.labels:
        d["labels"] = m.labels
    if m.policy:
        d["policy"] = m.policy
    if m.evaluator:
        d["evaluator"] = m.evaluator
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_TraceScores(m: TraceScores) -> dict[str, Any]:
    d: dict[str, Any] = {
        "policies": [rest_PolicyResults(v) for v in m.policies],
    }
    v = m.trace
    if v is not None:
        d["trace"] = rest_TraceSummary(v)
    return d


def file_TraceScores(m: TraceScores) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.trace
    if v is not None:
        d["trace"] = file_TraceSummary(v)
    if m.policies:
        d["policies"] = [file_PolicyResults(v) for v in m.policies]
    return d


def rest_ListScoresResponse(m: ListScoresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "traces": [rest_TraceScores(v) for v in m.traces],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListScoresResponse(m: ListScoresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.traces:
        d["traces"] = [file_TraceScores(v) for v in m.traces]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_ListFeedbackRequest(m: ListFeedbackRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "traceId": m.trace_id,
        "sessionId": m.session_id,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    return d


def file_ListFeedbackRequest(m: ListFeedbackRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.session_id:
        d["session_id"] = m.session_id
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_ListFeedbackResponse(m: ListFeedbackResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "feedback": [rest_Feedback(v) for v in m.feedback],
        "nextPageToken": m.next_page_token,
        "total": m.total,
    }
    return d


def file_ListFeedbackResponse(m: ListFeedbackResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.feedback:
        d["feedback"] = [file_Feedback(v) for v in m.feedback]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    d["total"] = m.total
    return d


def rest_DeleteTracesRequest(m: DeleteTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "traceIds": m.trace_ids,
        "sessionId": m.session_id,
        "userId": m.user_id,
    }
    v = m.before
    if v is not None:
        d["before"] = timestamp_text(v)
    return d


def file_DeleteTracesRequest(m: DeleteTracesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.trace_ids:
        d["trace_ids"] = m.trace_ids
    if m.session_id:
        d["session_id"] = m.session_id
    if m.user_id:
        d["user_id"] = m.user_id
    v = m.before
    if v is not None:
        d["before"] = timestamp_text(v)
    return d


def rest_DeleteTracesResponse(m: DeleteTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "deleted": m.deleted,
    }
    return d


def file_DeleteTracesResponse(m: DeleteTracesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["deleted"] = m.deleted
    return d


def rest_Feedback(m: Feedback) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "project": m.project,
        "traceId": m.trace_id,
        "spanId": m.span_id,
        "sessionId": m.session_id,
        "key": m.key,
        "name": m.name,
        "comment": m.comment,
        "author": m.author,
    }
    v = m.number
    if v is not None:
        d["number"] = v
    v = m.passed
    if v is not None:
        d["passed"] = v
    v = m.label
    if v is not None:
        d["label"] = v
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_Feedback(m: Feedback) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.project:
        d["project"] = m.project
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.span_id:
        d["span_id"] = m.span_id
    if m.session_id:
        d["session_id"] = m.session_id
    if m.key:
        d["key"] = m.key
    if m.name:
        d["name"] = m.name
    v = m.number
    if v is not None:
        d["number"] = v
    v = m.passed
    if v is not None:
        d["passed"] = v
    v = m.label
    if v is not None:
        d["label"] = v
    if m.comment:
        d["comment"] = m.comment
    if m.author:
        d["author"] = m.author
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def rest_SubmitFeedbackRequest(m: SubmitFeedbackRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "feedback": [rest_Feedback(v) for v in m.feedback],
    }
    return d


def file_SubmitFeedbackRequest(m: SubmitFeedbackRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.feedback:
        d["feedback"] = [file_Feedback(v) for v in m.feedback]
    return d


def rest_SubmitFeedbackResponse(m: SubmitFeedbackResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "accepted": m.accepted,
        "waiting": m.waiting,
    }
    return d


def file_SubmitFeedbackResponse(m: SubmitFeedbackResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["accepted"] = m.accepted
    d["waiting"] = m.waiting
    return d


def rest_FailureCase(m: FailureCase) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "project": m.project,
        "sourceSha256": m.source_sha256,
        "title": m.title,
        "reason": m.reason,
        "assignee": m.assignee,
        "status": m.status.proto_name,
        "revision": m.revision,
        "createdBy": m.created_by,
        "updatedBy": m.updated_by,
        "reviewedBy": m.reviewed_by,
        "reviewNote": m.review_note,
    }
    v = m.source
    if v is not None:
        d["source"] = rest_TraceSummary(v)
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    v = m.created_at
    if v is not None:
        d["createdAt"] = timestamp_text(v)
    v = m.updated_at
    if v is not None:
        d["updatedAt"] = timestamp_text(v)
    v = m.reviewed_at
    if v is not None:
        d["reviewedAt"] = timestamp_text(v)
    return d


def file_FailureCase(m: FailureCase) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.project:
        d["project"] = m.project
    v = m.source
    if v is not None:
        d["source"] = file_TraceSummary(v)
    if m.source_sha256:
        d["source_sha256"] = m.source_sha256
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    if m.title:
        d["title"] = m.title
    if m.reason:
        d["reason"] = m.reason
    if m.assignee:
        d["assignee"] = m.assignee
    if m.status.number:
        d["status"] = m.status.value
    d["revision"] = m.revision
    if m.created_by:
        d["created_by"] = m.created_by
    if m.updated_by:
        d["updated_by"] = m.updated_by
    if m.reviewed_by:
        d["reviewed_by"] = m.reviewed_by
    if m.review_note:
        d["review_note"] = m.review_note
    v = m.created_at
    if v is not None:
        d["created_at"] = timestamp_text(v)
    v = m.updated_at
    if v is not None:
        d["updated_at"] = timestamp_text(v)
    v = m.reviewed_at
    if v is not None:
        d["reviewed_at"] = timestamp_text(v)
    return d


def rest_FailureEvent(m: FailureEvent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "revision": m.revision,
        "actor": m.actor,
        "action": m.action,
        "status": m.status.proto_name,
        "recordSha256": m.record_sha256,
    }
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def file_FailureEvent(m: FailureEvent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["revision"] = m.revision
    if m.actor:
        d["actor"] = m.actor
    if m.action:
        d["action"] = m.action
    if m.status.number:
        d["status"] = m.status.value
    if m.record_sha256:
        d["record_sha256"] = m.record_sha256
    v = m.time
    if v is not None:
        d["time"] = timestamp_text(v)
    return d


def rest_CaptureFailureRequest(m: CaptureFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "traceId": m.trace_id,
        "title": m.title,
        "reason": m.reason,
    }
    return d


def file_CaptureFailureRequest(m: CaptureFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.trace_id:
        d["trace_id"] = m.trace_id
    if m.title:
        d["title"] = m.title
    if m.reason:
        d["reason"] = m.reason
    return d


def rest_CaptureFailureResponse(m: CaptureFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "deduplicated": m.deduplicated,
    }
    v = m.failure
    if v is not None:
        d["failure"] = rest_FailureCase(v)
    return d


def file_CaptureFailureResponse(m: CaptureFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = file_FailureCase(v)
    d["deduplicated"] = m.deduplicated
    return d


def rest_ListFailuresRequest(m: ListFailuresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "status": m.status.proto_name,
        "assignee": m.assignee,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    return d


def file_ListFailuresRequest(m: ListFailuresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.status.number:
        d["status"] = m.status.value
    if m.assignee:
        d["assignee"] = m.assignee
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_ListFailuresResponse(m: ListFailuresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "failures": [rest_FailureCase(v) for v in m.failures],
        "nextPageToken": m.next_page_token,
        "counts": m.counts,
    }
    return d


def file_ListFailuresResponse(m: ListFailuresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.failures:
        d["failures"] = [file_FailureCase(v) for v in m.failures]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    if m.counts:
        d["counts"] = m.counts
    return d


def rest_GetFailureRequest(m: GetFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "id": m.id,
    }
    return d


def file_GetFailureRequest(m: GetFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.id:
        d["id"] = m.id
    return d


def rest_GetFailureResponse(m: GetFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = rest_FailureCase(v)
    return d


def file_GetFailureResponse(m: GetFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = file_FailureCase(v)
    return d


def rest_UpdateFailureRequest(m: UpdateFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "id": m.id,
        "expectedRevision": m.expected_revision,
        "title": m.title,
        "reason": m.reason,
        "assignee": m.assignee,
        "status": m.status.proto_name,
    }
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    return d


def file_UpdateFailureRequest(m: UpdateFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.id:
        d["id"] = m.id
    d["expected_revision"] = m.expected_revision
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    if m.title:
        d["title"] = m.title
    if m.reason:
        d["reason"] = m.reason
    if m.assignee:
        d["assignee"] = m.assignee
    if m.status.number:
        d["status"] = m.status.value
    return d


def rest_UpdateFailureResponse(m: UpdateFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = rest_FailureCase(v)
    return d


def file_UpdateFailureResponse(m: UpdateFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = file_FailureCase(v)
    return d


def rest_ReviewFailureRequest(m: ReviewFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "id": m.id,
        "expectedRevision": m.expected_revision,
        "decision": m.decision.proto_name,
        "note": m.note,
    }
    return d


def file_ReviewFailureRequest(m: ReviewFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.id:
        d["id"] = m.id
    d["expected_revision"] = m.expected_revision
    if m.decision.number:
        d["decision"] = m.decision.value
    if m.note:
        d["note"] = m.note
    return d


def rest_ReviewFailureResponse(m: ReviewFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = rest_FailureCase(v)
    return d


def file_ReviewFailureResponse(m: ReviewFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.failure
    if v is not None:
        d["failure"] = file_FailureCase(v)
    return d


def rest_ListFailureEventsRequest(m: ListFailureEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "id": m.id,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
    }
    return d


def file_ListFailureEventsRequest(m: ListFailureEventsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.id:
        d["id"] = m.id
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    return d


def rest_ListFailureEventsResponse(m: ListFailureEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "events": [rest_FailureEvent(v) for v in m.events],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListFailureEventsResponse(m: ListFailureEventsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.events:
        d["events"] = [file_FailureEvent(v) for v in m.events]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_ExportFailuresRequest(m: ExportFailuresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "selections": [rest_FailureSelection(v) for v in m.selections],
    }
    return d


def file_ExportFailuresRequest(m: ExportFailuresRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.selections:
        d["selections"] = [file_FailureSelection(v) for v in m.selections]
    return d


def rest_ExportFailuresResponse(m: ExportFailuresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "records": [rest_Record(v) for v in m.records],
        "jsonl": m.jsonl,
    }
    return d


def file_ExportFailuresResponse(m: ExportFailuresResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.jsonl:
        d["jsonl"] = m.jsonl
    return d


def rest_DeleteFailureRequest(m: DeleteFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "id": m.id,
        "expectedRevision": m.expected_revision,
    }
    return d


def file_DeleteFailureRequest(m: DeleteFailureRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    if m.id:
        d["id"] = m.id
    d["expected_revision"] = m.expected_revision
    return d


def rest_DeleteFailureResponse(m: DeleteFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_DeleteFailureResponse(m: DeleteFailureResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_OnlineEvalPolicy(m: OnlineEvalPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "disabled": m.disabled,
        "selector": m.selector,
        "stages": [rest_CascadeStage(v) for v in m.stages],
        "judge": m.judge,
        "alerts": [rest_Alert(v) for v in m.alerts],
        "labels": m.labels,
        "scope": m.scope.proto_name,
        "sinks": m.sinks,
    }
    v = m.sampling
    if v is not None:
        d["sampling"] = rest_Sampling(v)
    v = m.window
    if v is not None:
        d["window"] = duration_text(v)
    v = m.promote
    if v is not None:
        d["promote"] = rest_Promotion(v)
    v = m.budget
    if v is not None:
        d["budget"] = rest_PolicyBudget(v)
    v = m.view
    if v is not None:
        d["view"] = rest_PolicyView(v)
    return d


def file_OnlineEvalPolicy(m: OnlineEvalPolicy) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    d["disabled"] = m.disabled
    if m.selector:
        d["selector"] = m.selector
    v = m.sampling
    if v is not None:
        d["sampling"] = file_Sampling(v)
    if m.stages:
        d["stages"] = [file_CascadeStage(v) for v in m.stages]
    if m.judge:
        d["judge"] = m.judge
    v = m.window
    if v is not None:
        d["window"] = duration_text(v)
    if m.alerts:
        d["alerts"] = [file_Alert(v) for v in m.alerts]
    v = m.promote
    if v is not None:
        d["promote"] = file_Promotion(v)
    if m.labels:
        d["labels"] = m.labels
    if m.scope.number:
        d["scope"] = m.scope.value
    v = m.budget
    if v is not None:
        d["budget"] = file_PolicyBudget(v)
    v = m.view
    if v is not None:
        d["view"] = file_PolicyView(v)
    if m.sinks:
        d["sinks"] = m.sinks
    return d


def rest_PolicyBudget(m: PolicyBudget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.usd_per_day
    if v is not None:
        d["usdPerDay"] = v
    v = m.tokens_per_day
    if v is not None:
        d["tokensPerDay"] = v
    return d


def file_PolicyBudget(m: PolicyBudget) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.usd_per_day
    if v is not None:
        d["usd_per_day"] = v
    v = m.tokens_per_day
    if v is not None:
        d["tokens_per_day"] = v
    return d


def rest_PolicyView(m: PolicyView) -> dict[str, Any]:
    d: dict[str, Any] = {
        "patterns": m.patterns,
        "detectors": m.detectors,
        "dropAttributes": m.drop_attributes,
    }
    return d


def file_PolicyView(m: PolicyView) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.patterns:
        d["patterns"] = m.patterns
    if m.detectors:
        d["detectors"] = m.detectors
    if m.drop_attributes:
        d["drop_attributes"] = m.drop_attributes
    return d


def rest_Sampling(m: Sampling) -> dict[str, Any]:
    d: dict[str, Any] = {
        "always": m.always,
    }
    v = m.rate
    if v is not None:
        d["rate"] = v
    return d


def file_Sampling(m: Sampling) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.rate
    if v is not None:
        d["rate"] = v
    if m.always:
        d["always"] = m.always
    return d


def rest_CascadeStage(m: CascadeStage) -> dict[str, Any]:
    d: dict[str, Any] = {
        "evaluators": [rest_EvaluatorRef(v) for v in m.evaluators],
        "when": m.when,
    }
    return d


def file_CascadeStage(m: CascadeStage) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorRef(v) for v in m.evaluators]
    if m.when:
        d["when"] = m.when
    return d


def rest_Alert(m: Alert) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "minSamples": m.min_samples,
        "webhook": m.webhook,
        "secretEnv": m.secret_env,
        "form": m.form,
        "falseAlarmRate": m.false_alarm_rate,
    }
    v = m.below
    if v is not None:
        d["below"] = v
    v = m.above
    if v is not None:
        d["above"] = v
    return d


def file_Alert(m: Alert) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    v = m.below
    if v is not None:
        d["below"] = v
    v = m.above
    if v is not None:
        d["above"] = v
    d["min_samples"] = m.min_samples
    if m.webhook:
        d["webhook"] = m.webhook
    if m.secret_env:
        d["secret_env"] = m.secret_env
    if m.form:
        d["form"] = m.form
    d["false_alarm_rate"] = m.false_alarm_rate
    return d


def rest_Promotion(m: Promotion) -> dict[str, Any]:
    d: dict[str, Any] = {
        "when": m.when,
        "dataset": m.dataset,
    }
    return d


def file_Promotion(m: Promotion) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.when:
        d["when"] = m.when
    if m.dataset:
        d["dataset"] = m.dataset
    return d


def rest_ApplyPolicyRequest(m: ApplyPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "validateOnly": m.validate_only,
    }
    v = m.policy
    if v is not None:
        d["policy"] = rest_OnlineEvalPolicy(v)
    return d


def file_ApplyPolicyRequest(m: ApplyPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.policy
    if v is not None:
        d["policy"] = file_OnlineEvalPolicy(v)
    d["validate_only"] = m.validate_only
    return d


def rest_ApplyPolicyResponse(m: ApplyPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.policy
    if v is not None:
        d["policy"] = rest_OnlineEvalPolicy(v)
    return d


def file_ApplyPolicyResponse(m: ApplyPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.policy
    if v is not None:
        d["policy"] = file_OnlineEvalPolicy(v)
    return d


def rest_ListPoliciesRequest(m: ListPoliciesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
    }
    return d


def file_ListPoliciesRequest(m: ListPoliciesRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    return d


def rest_ListPoliciesResponse(m: ListPoliciesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "policies": [rest_OnlineEvalPolicy(v) for v in m.policies],
    }
    return d


def file_ListPoliciesResponse(m: ListPoliciesResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.policies:
        d["policies"] = [file_OnlineEvalPolicy(v) for v in m.policies]
    return d


def rest_DeletePolicyRequest(m: DeletePolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
    }
    return d


def file_DeletePolicyRequest(m: DeletePolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    return d


def rest_DeletePolicyResponse(m: DeletePolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_DeletePolicyResponse(m: DeletePolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_GetPolicyStatsRequest(m: GetPolicyStatsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "by": m.by,
    }
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.step
    if v is not None:
        d["step"] = duration_text(v)
    return d


def file_GetPolicyStatsRequest(m: GetPolicyStatsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.step
    if v is not None:
        d["step"] = duration_text(v)
    if m.by:
        d["by"] = m.by
    return d


def rest_MetricWindow(m: MetricWindow) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "n": m.n,
        "skipped": m.skipped,
        "errors": m.errors,
        "group": m.group,
        "skipReasons": m.skip_reasons,
    }
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    v = m.start
    if v is not None:
        d["start"] = timestamp_text(v)
    v = m.end
    if v is not None:
        d["end"] = timestamp_text(v)
    v = m.p05
    if v is not None:
        d["p05"] = v
    v = m.p50
    if v is not None:
        d["p50"] = v
    v = m.p95
    if v is not None:
        d["p95"] = v
    return d


def file_MetricWindow(m: MetricWindow) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    d["n"] = m.n
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    d["skipped"] = m.skipped
    d["errors"] = m.errors
    v = m.start
    if v is not None:
        d["start"] = timestamp_text(v)
    v = m.end
    if v is not None:
        d["end"] = timestamp_text(v)
    if m.group:
        d["group"] = m.group
    v = m.p05
    if v is not None:
        d["p05"] = v
    v = m.p50
    if v is not None:
        d["p50"] = v
    v = m.p95
    if v is not None:
        d["p95"] = v
    if m.skip_reasons:
        d["skip_reasons"] = m.skip_reasons
    return d


def rest_AlertState(m: AlertState) -> dict[str, Any]:
    d: dict[str, Any] = {
        "firing": m.firing,
        "n": m.n,
    }
    v = m.alert
    if v is not None:
        d["alert"] = rest_Alert(v)
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    return d


def file_AlertState(m: AlertState) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.alert
    if v is not None:
        d["alert"] = file_Alert(v)
    d["firing"] = m.firing
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    d["n"] = m.n
    v = m.mean
    if v is not None:
        d["mean"] = v
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    return d


def rest_PolicyStats(m: PolicyStats) -> dict[str, Any]:
    d: dict[str, Any] = {
        "policy": m.policy,
        "tracesSeen": m.traces_seen,
        "tracesMatched": m.traces_matched,
        "tracesSampled": m.traces_sampled,
        "tracesEvaluated": m.traces_evaluated,
        "tracesPromoted": m.traces_promoted,
        "evaluationErrors": m.evaluation_errors,
        "metrics": [rest_MetricWindow(v) for v in m.metrics],
        "alerts": [rest_AlertState(v) for v in m.alerts],
        "series": [rest_MetricWindow(v) for v in m.series],
        "tracesWaiting": m.traces_waiting,
        "tokensToday": m.tokens_today,
        "budgetReached": m.budget_reached,
        "tracesOverBudget": m.traces_over_budget,
        "warnings": m.warnings,
        "drift": [rest_MetricDrift(v) for v in m.drift],
        "sinks": [rest_SinkState(v) for v in m.sinks],
    }
    v = m.usd_today
    if v is not None:
        d["usdToday"] = v
    return d


def file_PolicyStats(m: PolicyStats) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.policy:
        d["policy"] = m.policy
    d["traces_seen"] = m.traces_seen
    d["traces_matched"] = m.traces_matched
    d["traces_sampled"] = m.traces_sampled
    d["traces_evaluated"] = m.traces_evaluated
    d["traces_promoted"] = m.traces_promoted
    d["evaluation_errors"] = m.evaluation_errors
    if m.metrics:
        d["metrics"] = [file_MetricWindow(v) for v in m.metrics]
    if m.alerts:
        d["alerts"] = [file_AlertState(v) for v in m.alerts]
    if m.series:
        d["series"] = [file_MetricWindow(v) for v in m.series]
    d["traces_waiting"] = m.traces_waiting
    v = m.usd_today
    if v is not None:
        d["usd_today"] = v
    d["tokens_today"] = m.tokens_today
    d["budget_reached"] = m.budget_reached
    d["traces_over_budget"] = m.traces_over_budget
    if m.warnings:
        d["warnings"] = m.warnings
    if m.drift:
        d["drift"] = [file_MetricDrift(v) for v in m.drift]
    if m.sinks:
        d["sinks"] = [file_SinkState(v) for v in m.sinks]
    return d


def rest_SinkState(m: SinkState) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sink": m.sink,
        "delivered": m.delivered,
        "waiting": m.waiting,
        "givenUp": m.given_up,
        "lastError": m.last_error,
    }
    v = m.last_delivered
    if v is not None:
        d["lastDelivered"] = timestamp_text(v)
    v = m.last_error_time
    if v is not None:
        d["lastErrorTime"] = timestamp_text(v)
    return d


def file_SinkState(m: SinkState) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.sink:
        d["sink"] = m.sink
    d["delivered"] = m.delivered
    d["waiting"] = m.waiting
    d["given_up"] = m.given_up
    v = m.last_delivered
    if v is not None:
        d["last_delivered"] = timestamp_text(v)
    if m.last_error:
        d["last_error"] = m.last_error
    v = m.last_error_time
    if v is not None:
        d["last_error_time"] = timestamp_text(v)
    return d


def rest_MetricDrift(m: MetricDrift) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "nBefore": m.n_before,
        "nNow": m.n_now,
        "moved": m.moved,
    }
    v = m.psi
    if v is not None:
        d["psi"] = v
    v = m.p_value
    if v is not None:
        d["pValue"] = v
    v = m.difference
    if v is not None:
        d["difference"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    return d


def file_MetricDrift(m: MetricDrift) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    v = m.psi
    if v is not None:
        d["psi"] = v
    v = m.p_value
    if v is not None:
        d["p_value"] = v
    v = m.difference
    if v is not None:
        d["difference"] = v
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    d["n_before"] = m.n_before
    d["n_now"] = m.n_now
    d["moved"] = m.moved
    return d


def rest_GetPolicyStatsResponse(m: GetPolicyStatsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.stats
    if v is not None:
        d["stats"] = rest_PolicyStats(v)
    return d


def file_GetPolicyStatsResponse(m: GetPolicyStatsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.stats
    if v is not None:
        d["stats"] = file_PolicyStats(v)
    return d


def rest_TestPolicyRequest(m: TestPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.policy
    if v is not None:
        d["policy"] = rest_OnlineEvalPolicy(v)
    v = m.lookback
    if v is not None:
        d["lookback"] = duration_text(v)
    return d


def file_TestPolicyRequest(m: TestPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.policy
    if v is not None:
        d["policy"] = file_OnlineEvalPolicy(v)
    v = m.lookback
    if v is not None:
        d["lookback"] = duration_text(v)
    return d


def rest_TestPolicyResponse(m: TestPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "seen": m.seen,
        "matched": m.matched,
        "sampled": m.sampled,
        "traceIds": m.trace_ids,
        "warnings": m.warnings,
    }
    v = m.cost_usd
    if v is not None:
        d["costUsd"] = v
    return d


def file_TestPolicyResponse(m: TestPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["seen"] = m.seen
    d["matched"] = m.matched
    d["sampled"] = m.sampled
    v = m.cost_usd
    if v is not None:
        d["cost_usd"] = v
    if m.trace_ids:
        d["trace_ids"] = m.trace_ids
    if m.warnings:
        d["warnings"] = m.warnings
    return d


def rest_BackfillPolicyRequest(m: BackfillPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
    }
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    return d


def file_BackfillPolicyRequest(m: BackfillPolicyRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    return d


def rest_BackfillPolicyResponse(m: BackfillPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "queued": m.queued,
    }
    return d


def file_BackfillPolicyResponse(m: BackfillPolicyResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["queued"] = m.queued
    return d


def rest_TrafficSlice(m: TrafficSlice) -> dict[str, Any]:
    d: dict[str, Any] = {
        "version": m.version,
        "labels": m.labels,
    }
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    return d


def file_TrafficSlice(m: TrafficSlice) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    if m.version:
        d["version"] = m.version
    if m.labels:
        d["labels"] = m.labels
    return d


def rest_CompareTrafficRequest(m: CompareTrafficRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "confidenceLevel": m.confidence_level,
    }
    v = m.baseline
    if v is not None:
        d["baseline"] = rest_TrafficSlice(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = rest_TrafficSlice(v)
    return d


def file_CompareTrafficRequest(m: CompareTrafficRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.baseline
    if v is not None:
        d["baseline"] = file_TrafficSlice(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = file_TrafficSlice(v)
    d["confidence_level"] = m.confidence_level
    return d


def rest_CompareTrafficResponse(m: CompareTrafficResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "comparisons": [rest_TrafficComparison(v) for v in m.comparisons],
        "pairedBy": m.paired_by,
    }
    return d


def file_CompareTrafficResponse(m: CompareTrafficResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.comparisons:
        d["comparisons"] = [file_TrafficComparison(v) for v in m.comparisons]
    if m.paired_by:
        d["paired_by"] = m.paired_by
    return d


def rest_TrafficComparison(m: TrafficComparison) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "verdict": m.verdict,
        "test": m.test,
        "pairs": m.pairs,
    }
    v = m.baseline
    if v is not None:
        d["baseline"] = rest_MetricWindow(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = rest_MetricWindow(v)
    v = m.difference
    if v is not None:
        d["difference"] = v
    v = m.ci
    if v is not None:
        d["ci"] = rest_ConfidenceInterval(v)
    v = m.p_value
    if v is not None:
        d["pValue"] = v
    return d


def file_TrafficComparison(m: TrafficComparison) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    v = m.baseline
    if v is not None:
        d["baseline"] = file_MetricWindow(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = file_MetricWindow(v)
    v = m.difference
    if v is not None:
        d["difference"] = v
    v = m.ci
    if v is not None:
        d["ci"] = file_ConfidenceInterval(v)
    v = m.p_value
    if v is not None:
        d["p_value"] = v
    if m.verdict:
        d["verdict"] = m.verdict
    if m.test:
        d["test"] = m.test
    d["pairs"] = m.pairs
    return d


def rest_Observation(m: Observation) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "runId": m.run_id,
        "recordId": m.record_id,
        "trial": m.trial,
        "itemDigest": m.item_digest,
        "configDigest": m.config_digest,
        "outcome": m.outcome.proto_name,
        "results": [rest_EvaluationResult(v) for v in m.results],
        "reason": m.reason,
        "errorKind": m.error_kind.proto_name,
        "fault": m.fault.proto_name,
        "project": m.project,
        "labels": m.labels,
    }
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    v = m.usage
    if v is not None:
        d["usage"] = rest_Usage(v)
    v = m.started_at
    if v is not None:
        d["startedAt"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finishedAt"] = timestamp_text(v)
    return d


def file_Observation(m: Observation) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    if m.run_id:
        d["run_id"] = m.run_id
    if m.record_id:
        d["record_id"] = m.record_id
    d["trial"] = m.trial
    if m.item_digest:
        d["item_digest"] = m.item_digest
    if m.config_digest:
        d["config_digest"] = m.config_digest
    if m.outcome.number:
        d["outcome"] = m.outcome.value
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    v = m.usage
    if v is not None:
        d["usage"] = file_Usage(v)
    if m.reason:
        d["reason"] = m.reason
    if m.error_kind.number:
        d["error_kind"] = m.error_kind.value
    if m.fault.number:
        d["fault"] = m.fault.value
    v = m.started_at
    if v is not None:
        d["started_at"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finished_at"] = timestamp_text(v)
    if m.project:
        d["project"] = m.project
    if m.labels:
        d["labels"] = m.labels
    return d


def rest_ResultsFile(m: ResultsFile) -> dict[str, Any]:
    d: dict[str, Any] = {
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
        "results": [rest_EvaluationResult(v) for v in m.results],
        "records": [rest_Record(v) for v in m.records],
        "gates": [rest_GateResult(v) for v in m.gates],
        "apiVersion": m.api_version,
        "rejected": [rest_RejectedLine(v) for v in m.rejected],
        "slices": [rest_SliceSummary(v) for v in m.slices],
    }
    v = m.manifest
    if v is not None:
        d["manifest"] = rest_RunManifest(v)
    v = m.trial_advice
    if v is not None:
        d["trialAdvice"] = rest_TrialAdvice(v)
    v = m.layout
    if v is not None:
        d["layout"] = rest_ResultsLayout(v)
    return d


def file_ResultsFile(m: ResultsFile) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.manifest
    if v is not None:
        d["manifest"] = file_RunManifest(v)
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.gates:
        d["gates"] = [file_GateResult(v) for v in m.gates]
    v = m.trial_advice
    if v is not None:
        d["trial_advice"] = file_TrialAdvice(v)
    if m.api_version:
        d["api_version"] = m.api_version
    if m.rejected:
        d["rejected"] = [file_RejectedLine(v) for v in m.rejected]
    v = m.layout
    if v is not None:
        d["layout"] = file_ResultsLayout(v)
    if m.slices:
        d["slices"] = [file_SliceSummary(v) for v in m.slices]
    return d


def rest_SliceSummary(m: SliceSummary) -> dict[str, Any]:
    d: dict[str, Any] = {
        "key": m.key,
        "value": m.value,
        "records": m.records,
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
    }
    return d


def file_SliceSummary(m: SliceSummary) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.key:
        d["key"] = m.key
    if m.value:
        d["value"] = m.value
    d["records"] = m.records
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    return d


def rest_ResultsLayout(m: ResultsLayout) -> dict[str, Any]:
    d: dict[str, Any] = {
        "records": m.records,
        "evaluators": m.evaluators,
        "wholeResults": m.whole_results,
    }
    return d


def file_ResultsLayout(m: ResultsLayout) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["records"] = m.records
    if m.evaluators:
        d["evaluators"] = m.evaluators
    d["whole_results"] = m.whole_results
    return d


def rest_TrialAdvice(m: TrialAdvice) -> dict[str, Any]:
    d: dict[str, Any] = {
        "trials": m.trials,
        "advisedTrials": m.advised_trials,
        "advice": m.advice,
        "metric": m.metric,
    }
    v = m.half_width
    if v is not None:
        d["halfWidth"] = v
    v = m.advised_half_width
    if v is not None:
        d["advisedHalfWidth"] = v
    return d


def file_TrialAdvice(m: TrialAdvice) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["trials"] = m.trials
    d["advised_trials"] = m.advised_trials
    if m.advice:
        d["advice"] = m.advice
    if m.metric:
        d["metric"] = m.metric
    v = m.half_width
    if v is not None:
        d["half_width"] = v
    v = m.advised_half_width
    if v is not None:
        d["advised_half_width"] = v
    return d


def rest_RejectedLine(m: RejectedLine) -> dict[str, Any]:
    d: dict[str, Any] = {
        "path": m.path,
        "line": m.line,
        "column": m.column,
        "reason": m.reason,
    }
    return d


def file_RejectedLine(m: RejectedLine) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.path:
        d["path"] = m.path
    d["line"] = m.line
    d["column"] = m.column
    if m.reason:
        d["reason"] = m.reason
    return d


def rest_RewardSpec(m: RewardSpec) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "components": [rest_RewardComponent(v) for v in m.components],
        "floor": m.floor,
        "onError": m.on_error.proto_name,
        "disableCache": m.disable_cache,
        "judge": m.judge,
        "referenceField": m.reference_field,
        "concurrency": m.concurrency,
    }
    v = m.clip
    if v is not None:
        d["clip"] = rest_RewardClip(v)
    v = m.deadline
    if v is not None:
        d["deadline"] = duration_text(v)
    return d


def file_RewardSpec(m: RewardSpec) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.components:
        d["components"] = [file_RewardComponent(v) for v in m.components]
    d["floor"] = m.floor
    if m.on_error.number:
        d["on_error"] = m.on_error.value
    v = m.clip
    if v is not None:
        d["clip"] = file_RewardClip(v)
    d["disable_cache"] = m.disable_cache
    if m.judge:
        d["judge"] = m.judge
    v = m.deadline
    if v is not None:
        d["deadline"] = duration_text(v)
    if m.reference_field:
        d["reference_field"] = m.reference_field
    d["concurrency"] = m.concurrency
    return d


def rest_RewardComponent(m: RewardComponent) -> dict[str, Any]:
    d: dict[str, Any] = {
        "ref": m.ref,
        "name": m.name,
        "gate": m.gate,
        "metric": m.metric,
        "params": m.params,
        "minIsolation": m.min_isolation,
    }
    v = m.weight
    if v is not None:
        d["weight"] = v
    v = m.threshold
    if v is not None:
        d["threshold"] = v
    return d


def file_RewardComponent(m: RewardComponent) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.ref:
        d["ref"] = m.ref
    if m.name:
        d["name"] = m.name
    v = m.weight
    if v is not None:
        d["weight"] = v
    d["gate"] = m.gate
    v = m.threshold
    if v is not None:
        d["threshold"] = v
    if m.metric:
        d["metric"] = m.metric
    if m.params:
        d["params"] = m.params
    if m.min_isolation:
        d["min_isolation"] = m.min_isolation
    return d


def rest_RewardClip(m: RewardClip) -> dict[str, Any]:
    d: dict[str, Any] = {
        "low": m.low,
        "high": m.high,
    }
    return d


def file_RewardClip(m: RewardClip) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["low"] = m.low
    d["high"] = m.high
    return d


def rest_ScoreRewardsRequest(m: ScoreRewardsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "rollouts": [rest_Record(v) for v in m.rollouts],
    }
    v = m.spec
    if v is not None:
        d["spec"] = rest_RewardSpec(v)
    return d


def file_ScoreRewardsRequest(m: ScoreRewardsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    v = m.spec
    if v is not None:
        d["spec"] = file_RewardSpec(v)
    if m.rollouts:
        d["rollouts"] = [file_Record(v) for v in m.rollouts]
    return d


def rest_ScoreRewardsResponse(m: ScoreRewardsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "rewards": [rest_Reward(v) for v in m.rewards],
    }
    return d


def file_ScoreRewardsResponse(m: ScoreRewardsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.rewards:
        d["rewards"] = [file_Reward(v) for v in m.rewards]
    return d


def rest_Reward(m: Reward) -> dict[str, Any]:
    d: dict[str, Any] = {
        "rolloutId": m.rollout_id,
        "gated": m.gated,
        "components": {k: rest_RewardComponentResult(v) for k, v in m.components.items()},
    }
    v = m.total
    if v is not None:
        d["total"] = v
    return d


def file_Reward(m: Reward) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.rollout_id:
        d["rollout_id"] = m.rollout_id
    v = m.total
    if v is not None:
        d["total"] = v
    d["gated"] = m.gated
    if m.components:
        d["components"] = {k: file_RewardComponentResult(v) for k, v in m.components.items()}
    return d


def rest_RewardComponentResult(m: RewardComponentResult) -> dict[str, Any]:
    d: dict[str, Any] = {
        "status": m.status.proto_name,
        "reason": m.reason,
        "cached": m.cached,
    }
    v = m.value
    if v is not None:
        d["value"] = v
    v = m.isolation
    if v is not None:
        d["isolation"] = rest_IsolationReport(v)
    return d


def file_RewardComponentResult(m: RewardComponentResult) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.status.number:
        d["status"] = m.status.value
    v = m.value
    if v is not None:
        d["value"] = v
    if m.reason:
        d["reason"] = m.reason
    d["cached"] = m.cached
    v = m.isolation
    if v is not None:
        d["isolation"] = file_IsolationReport(v)
    return d


def rest_CreateRunRequest(m: CreateRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "labels": m.labels,
        "validateOnly": m.validate_only,
        "priority": m.priority,
    }
    v = m.spec
    if v is not None:
        d["spec"] = rest_RunSpec(v)
    return d


def file_CreateRunRequest(m: CreateRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.spec
    if v is not None:
        d["spec"] = file_RunSpec(v)
    if m.labels:
        d["labels"] = m.labels
    d["validate_only"] = m.validate_only
    d["priority"] = m.priority
    return d


def rest_CreateRunResponse(m: CreateRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_CreateRunResponse(m: CreateRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


def rest_GetRunRequest(m: GetRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
    }
    return d


def file_GetRunRequest(m: GetRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    return d


def rest_GetRunResponse(m: GetRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "sinks": [rest_SinkState(v) for v in m.sinks],
    }
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_GetRunResponse(m: GetRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    if m.sinks:
        d["sinks"] = [file_SinkState(v) for v in m.sinks]
    return d


def rest_ListRunsRequest(m: ListRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "project": m.project,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
        "name": m.name,
        "labels": m.labels,
        "statuses": [v.proto_name for v in m.statuses],
        "includeArchived": m.include_archived,
        "search": m.search,
    }
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    return d


def file_ListRunsRequest(m: ListRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.project:
        d["project"] = m.project
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    if m.name:
        d["name"] = m.name
    if m.labels:
        d["labels"] = m.labels
    if m.statuses:
        d["statuses"] = [v.value for v in m.statuses]
    v = m.since
    if v is not None:
        d["since"] = timestamp_text(v)
    v = m.until
    if v is not None:
        d["until"] = timestamp_text(v)
    d["include_archived"] = m.include_archived
    if m.search:
        d["search"] = m.search
    return d


def rest_ListRunsResponse(m: ListRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runs": [rest_Run(v) for v in m.runs],
        "nextPageToken": m.next_page_token,
    }
    return d


def file_ListRunsResponse(m: ListRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.runs:
        d["runs"] = [file_Run(v) for v in m.runs]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    return d


def rest_WatchRunRequest(m: WatchRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "includeResults": m.include_results,
    }
    return d


def file_WatchRunRequest(m: WatchRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    d["include_results"] = m.include_results
    return d


def rest_WatchRunResponse(m: WatchRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    v = m.progress
    if v is not None:
        d["progress"] = rest_Progress(v)
    v = m.result
    if v is not None:
        d["result"] = rest_EvaluationResult(v)
    return d


def file_WatchRunResponse(m: WatchRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    v = m.progress
    if v is not None:
        d["progress"] = file_Progress(v)
    v = m.result
    if v is not None:
        d["result"] = file_EvaluationResult(v)
    return d


def rest_CancelRunRequest(m: CancelRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
    }
    return d


def file_CancelRunRequest(m: CancelRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    return d


def rest_CancelRunResponse(m: CancelRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_CancelRunResponse(m: CancelRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


def rest_ResumeRunRequest(m: ResumeRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
    }
    return d


def file_ResumeRunRequest(m: ResumeRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    return d


def rest_ResumeRunResponse(m: ResumeRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_ResumeRunResponse(m: ResumeRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


def rest_DeleteRunRequest(m: DeleteRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
    }
    return d


def file_DeleteRunRequest(m: DeleteRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    return d


def rest_DeleteRunResponse(m: DeleteRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def file_DeleteRunResponse(m: DeleteRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    return d


def rest_ArchiveRunRequest(m: ArchiveRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "id": m.id,
        "restore": m.restore,
    }
    return d


def file_ArchiveRunRequest(m: ArchiveRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.id:
        d["id"] = m.id
    d["restore"] = m.restore
    return d


def rest_ArchiveRunResponse(m: ArchiveRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_ArchiveRunResponse(m: ArchiveRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


def rest_ListRunResultsRequest(m: ListRunResultsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "pageSize": m.page_size,
        "pageToken": m.page_token,
        "evaluator": m.evaluator,
        "outcome": m.outcome.proto_name,
        "search": m.search,
        "orderBy": m.order_by,
        "flippedAgainst": m.flipped_against,
        "withoutRecords": m.without_records,
    }
    v = m.min_score
    if v is not None:
        d["minScore"] = v
    v = m.max_score
    if v is not None:
        d["maxScore"] = v
    v = m.trial
    if v is not None:
        d["trial"] = v
    return d


def file_ListRunResultsRequest(m: ListRunResultsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    d["page_size"] = m.page_size
    if m.page_token:
        d["page_token"] = m.page_token
    if m.evaluator:
        d["evaluator"] = m.evaluator
    if m.outcome.number:
        d["outcome"] = m.outcome.value
    v = m.min_score
    if v is not None:
        d["min_score"] = v
    v = m.max_score
    if v is not None:
        d["max_score"] = v
    if m.search:
        d["search"] = m.search
    if m.order_by:
        d["order_by"] = m.order_by
    if m.flipped_against:
        d["flipped_against"] = m.flipped_against
    v = m.trial
    if v is not None:
        d["trial"] = v
    d["without_records"] = m.without_records
    return d


def rest_ListRunResultsResponse(m: ListRunResultsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "results": [rest_EvaluationResult(v) for v in m.results],
        "records": [rest_Record(v) for v in m.records],
        "nextPageToken": m.next_page_token,
        "recordsByTrial": [rest_RunRecordEvidence(v) for v in m.records_by_trial],
        "wholeResults": [rest_EvaluationResult(v) for v in m.whole_results],
    }
    v = m.matching_records
    if v is not None:
        d["matchingRecords"] = v
    return d


def file_ListRunResultsResponse(m: ListRunResultsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.next_page_token:
        d["next_page_token"] = m.next_page_token
    if m.records_by_trial:
        d["records_by_trial"] = [file_RunRecordEvidence(v) for v in m.records_by_trial]
    v = m.matching_records
    if v is not None:
        d["matching_records"] = v
    if m.whole_results:
        d["whole_results"] = [file_EvaluationResult(v) for v in m.whole_results]
    return d


def rest_GetRecordEvidenceRequest(m: GetRecordEvidenceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "recordId": m.record_id,
        "trial": m.trial,
    }
    return d


def file_GetRecordEvidenceRequest(m: GetRecordEvidenceRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.record_id:
        d["record_id"] = m.record_id
    d["trial"] = m.trial
    return d


def rest_RunRecordEvidence(m: RunRecordEvidence) -> dict[str, Any]:
    d: dict[str, Any] = {
        "recordId": m.record_id,
        "trial": m.trial,
        "outputStored": m.output_stored,
        "outputError": m.output_error,
    }
    v = m.record
    if v is not None:
        d["record"] = rest_Record(v)
    return d


def file_RunRecordEvidence(m: RunRecordEvidence) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.record_id:
        d["record_id"] = m.record_id
    d["trial"] = m.trial
    v = m.record
    if v is not None:
        d["record"] = file_Record(v)
    d["output_stored"] = m.output_stored
    if m.output_error:
        d["output_error"] = m.output_error
    return d


def rest_GetRecordEvidenceResponse(m: GetRecordEvidenceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "results": [rest_EvaluationResult(v) for v in m.results],
    }
    v = m.evidence
    if v is not None:
        d["evidence"] = rest_RunRecordEvidence(v)
    return d


def file_GetRecordEvidenceResponse(m: GetRecordEvidenceResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.evidence
    if v is not None:
        d["evidence"] = file_RunRecordEvidence(v)
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    return d


def rest_CompareRunsRequest(m: CompareRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "baselineRunId": m.baseline_run_id,
        "candidateRunId": m.candidate_run_id,
        "confidenceLevel": m.confidence_level,
        "clusterBy": m.cluster_by,
    }
    return d


def file_CompareRunsRequest(m: CompareRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.baseline_run_id:
        d["baseline_run_id"] = m.baseline_run_id
    if m.candidate_run_id:
        d["candidate_run_id"] = m.candidate_run_id
    d["confidence_level"] = m.confidence_level
    if m.cluster_by:
        d["cluster_by"] = m.cluster_by
    return d


def rest_CompareRunsResponse(m: CompareRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "comparisons": [rest_MetricComparison(v) for v in m.comparisons],
        "baselineOnly": m.baseline_only,
        "candidateOnly": m.candidate_only,
        "warnings": m.warnings,
    }
    return d


def file_CompareRunsResponse(m: CompareRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.comparisons:
        d["comparisons"] = [file_MetricComparison(v) for v in m.comparisons]
    d["baseline_only"] = m.baseline_only
    d["candidate_only"] = m.candidate_only
    if m.warnings:
        d["warnings"] = m.warnings
    return d


def rest_MetricComparison(m: MetricComparison) -> dict[str, Any]:
    d: dict[str, Any] = {
        "metric": m.metric,
        "pairedN": m.paired_n,
        "significant": m.significant,
        "verdict": m.verdict,
        "wins": m.wins,
        "losses": m.losses,
        "ties": m.ties,
    }
    v = m.baseline_mean
    if v is not None:
        d["baselineMean"] = v
    v = m.candidate_mean
    if v is not None:
        d["candidateMean"] = v
    v = m.diff
    if v is not None:
        d["diff"] = v
    v = m.diff_ci
    if v is not None:
        d["diffCi"] = rest_ConfidenceInterval(v)
    v = m.p_value
    if v is not None:
        d["pValue"] = v
    v = m.higher_is_better
    if v is not None:
        d["higherIsBetter"] = v
    return d


def file_MetricComparison(m: MetricComparison) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.metric:
        d["metric"] = m.metric
    v = m.baseline_mean
    if v is not None:
        d["baseline_mean"] = v
    v = m.candidate_mean
    if v is not None:
        d["candidate_mean"] = v
    v = m.diff
    if v is not None:
        d["diff"] = v
    v = m.diff_ci
    if v is not None:
        d["diff_ci"] = file_ConfidenceInterval(v)
    d["paired_n"] = m.paired_n
    d["significant"] = m.significant
    if m.verdict:
        d["verdict"] = m.verdict
    v = m.p_value
    if v is not None:
        d["p_value"] = v
    d["wins"] = m.wins
    d["losses"] = m.losses
    d["ties"] = m.ties
    v = m.higher_is_better
    if v is not None:
        d["higher_is_better"] = v
    return d


def rest_SliceRunsRequest(m: SliceRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runIds": m.run_ids,
        "project": m.project,
        "labels": m.labels,
        "limit": m.limit,
        "metric": m.metric,
        "by": m.by,
        "confidenceLevel": m.confidence_level,
    }
    return d


def file_SliceRunsRequest(m: SliceRunsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_ids:
        d["run_ids"] = m.run_ids
    if m.project:
        d["project"] = m.project
    if m.labels:
        d["labels"] = m.labels
    d["limit"] = m.limit
    if m.metric:
        d["metric"] = m.metric
    if m.by:
        d["by"] = m.by
    d["confidence_level"] = m.confidence_level
    return d


def rest_SliceRow(m: SliceRow) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "runName": m.run_name,
        "key": m.key,
        "n": m.n,
        "mean": m.mean,
    }
    v = m.low
    if v is not None:
        d["low"] = v
    v = m.high
    if v is not None:
        d["high"] = v
    return d


def file_SliceRow(m: SliceRow) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.run_name:
        d["run_name"] = m.run_name
    if m.key:
        d["key"] = m.key
    d["n"] = m.n
    d["mean"] = m.mean
    v = m.low
    if v is not None:
        d["low"] = v
    v = m.high
    if v is not None:
        d["high"] = v
    return d


def rest_SliceRunsResponse(m: SliceRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "rows": [rest_SliceRow(v) for v in m.rows],
        "runs": m.runs,
    }
    return d


def file_SliceRunsResponse(m: SliceRunsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.rows:
        d["rows"] = [file_SliceRow(v) for v in m.rows]
    d["runs"] = m.runs
    return d


def rest_PromoteResultsRequest(m: PromoteResultsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "dataset": m.dataset,
        "when": m.when,
        "includeOutputs": m.include_outputs,
    }
    return d


def file_PromoteResultsRequest(m: PromoteResultsRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.dataset:
        d["dataset"] = m.dataset
    if m.when:
        d["when"] = m.when
    d["include_outputs"] = m.include_outputs
    return d


def rest_PromoteResultsResponse(m: PromoteResultsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "promoted": m.promoted,
        "path": m.path,
    }
    return d


def file_PromoteResultsResponse(m: PromoteResultsResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["promoted"] = m.promoted
    if m.path:
        d["path"] = m.path
    return d


def rest_CreateShadowReplayRequest(m: CreateShadowReplayRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "labels": m.labels,
    }
    v = m.candidate
    if v is not None:
        d["candidate"] = rest_RunSpec(v)
    return d


def file_CreateShadowReplayRequest(m: CreateShadowReplayRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    v = m.candidate
    if v is not None:
        d["candidate"] = file_RunSpec(v)
    if m.labels:
        d["labels"] = m.labels
    return d


def rest_CreateShadowReplayResponse(m: CreateShadowReplayResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.baseline
    if v is not None:
        d["baseline"] = rest_Run(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = rest_Run(v)
    return d


def file_CreateShadowReplayResponse(m: CreateShadowReplayResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.baseline
    if v is not None:
        d["baseline"] = file_Run(v)
    v = m.candidate
    if v is not None:
        d["candidate"] = file_Run(v)
    return d


def rest_ImportRunRequest(m: ImportRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "name": m.name,
        "project": m.project,
        "labels": m.labels,
        "records": [rest_Record(v) for v in m.records],
        "results": [rest_EvaluationResult(v) for v in m.results],
        "summaries": [rest_MetricSummary(v) for v in m.summaries],
    }
    v = m.spec
    if v is not None:
        d["spec"] = rest_RunSpec(v)
    v = m.started_at
    if v is not None:
        d["startedAt"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finishedAt"] = timestamp_text(v)
    v = m.target_usage
    if v is not None:
        d["targetUsage"] = rest_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judgeUsage"] = rest_Usage(v)
    return d


def file_ImportRunRequest(m: ImportRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.name:
        d["name"] = m.name
    if m.project:
        d["project"] = m.project
    if m.labels:
        d["labels"] = m.labels
    v = m.spec
    if v is not None:
        d["spec"] = file_RunSpec(v)
    if m.records:
        d["records"] = [file_Record(v) for v in m.records]
    if m.results:
        d["results"] = [file_EvaluationResult(v) for v in m.results]
    if m.summaries:
        d["summaries"] = [file_MetricSummary(v) for v in m.summaries]
    v = m.started_at
    if v is not None:
        d["started_at"] = timestamp_text(v)
    v = m.finished_at
    if v is not None:
        d["finished_at"] = timestamp_text(v)
    v = m.target_usage
    if v is not None:
        d["target_usage"] = file_Usage(v)
    v = m.judge_usage
    if v is not None:
        d["judge_usage"] = file_Usage(v)
    return d


def rest_ImportRunResponse(m: ImportRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_ImportRunResponse(m: ImportRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


def rest_ExportRunRequest(m: ExportRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
    }
    return d


def file_ExportRunRequest(m: ExportRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    return d


def rest_ExportRunResponse(m: ExportRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {
        "chunk": b64encode(m.chunk).decode("ascii"),
    }
    return d


def file_ExportRunResponse(m: ExportRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.chunk:
        d["chunk"] = b64encode(m.chunk).decode("ascii")
    return d


def rest_RescoreRunRequest(m: RescoreRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {
        "runId": m.run_id,
        "name": m.name,
        "labels": m.labels,
        "evaluators": [rest_EvaluatorRef(v) for v in m.evaluators],
        "judge": m.judge,
        "gates": [rest_Gate(v) for v in m.gates],
    }
    v = m.summary
    if v is not None:
        d["summary"] = rest_SummaryOptions(v)
    return d


def file_RescoreRunRequest(m: RescoreRunRequest) -> dict[str, Any]:
    d: dict[str, Any] = {}
    if m.run_id:
        d["run_id"] = m.run_id
    if m.name:
        d["name"] = m.name
    if m.labels:
        d["labels"] = m.labels
    if m.evaluators:
        d["evaluators"] = [file_EvaluatorRef(v) for v in m.evaluators]
    if m.judge:
        d["judge"] = m.judge
    v = m.summary
    if v is not None:
        d["summary"] = file_SummaryOptions(v)
    if m.gates:
        d["gates"] = [file_Gate(v) for v in m.gates]
    return d


def rest_RescoreRunResponse(m: RescoreRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = rest_Run(v)
    return d


def file_RescoreRunResponse(m: RescoreRunResponse) -> dict[str, Any]:
    d: dict[str, Any] = {}
    v = m.run
    if v is not None:
        d["run"] = file_Run(v)
    return d


REST_FORMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "A2AAgent": rest_A2AAgent,
    "APIKey": rest_APIKey,
    "AgentBudget": rest_AgentBudget,
    "AgentTarget": rest_AgentTarget,
    "Alert": rest_Alert,
    "AlertState": rest_AlertState,
    "ApplyPolicyRequest": rest_ApplyPolicyRequest,
    "ApplyPolicyResponse": rest_ApplyPolicyResponse,
    "ArchiveRunRequest": rest_ArchiveRunRequest,
    "ArchiveRunResponse": rest_ArchiveRunResponse,
    "AuditEvent": rest_AuditEvent,
    "BackfillPolicyRequest": rest_BackfillPolicyRequest,
    "BackfillPolicyResponse": rest_BackfillPolicyResponse,
    "BoundRunEvaluator": rest_BoundRunEvaluator,
    "Budget": rest_Budget,
    "BuiltinHarness": rest_BuiltinHarness,
    "CLIAgent": rest_CLIAgent,
    "CancelRunRequest": rest_CancelRunRequest,
    "CancelRunResponse": rest_CancelRunResponse,
    "CaptureFailureRequest": rest_CaptureFailureRequest,
    "CaptureFailureResponse": rest_CaptureFailureResponse,
    "CascadeStage": rest_CascadeStage,
    "Checker": rest_Checker,
    "CommandHarness": rest_CommandHarness,
    "CommandTarget": rest_CommandTarget,
    "CompareRunsRequest": rest_CompareRunsRequest,
    "CompareRunsResponse": rest_CompareRunsResponse,
    "CompareTrafficRequest": rest_CompareTrafficRequest,
    "CompareTrafficResponse": rest_CompareTrafficResponse,
    "ConfidenceInterval": rest_ConfidenceInterval,
    "Content": rest_Content,
    "ContextManagement": rest_ContextManagement,
    "CountTracesRequest": rest_CountTracesRequest,
    "CountTracesResponse": rest_CountTracesResponse,
    "CreateAPIKeyRequest": rest_CreateAPIKeyRequest,
    "CreateAPIKeyResponse": rest_CreateAPIKeyResponse,
    "CreateBindingRequest": rest_CreateBindingRequest,
    "CreateBindingResponse": rest_CreateBindingResponse,
    "CreateProjectRequest": rest_CreateProjectRequest,
    "CreateProjectResponse": rest_CreateProjectResponse,
    "CreateRoleRequest": rest_CreateRoleRequest,
    "CreateRoleResponse": rest_CreateRoleResponse,
    "CreateRunRequest": rest_CreateRunRequest,
    "CreateRunResponse": rest_CreateRunResponse,
    "CreateShadowReplayRequest": rest_CreateShadowReplayRequest,
    "CreateShadowReplayResponse": rest_CreateShadowReplayResponse,
    "CredentialGrant": rest_CredentialGrant,
    "DatasetManifest": rest_DatasetManifest,
    "DatasetRecordChange": rest_DatasetRecordChange,
    "DatasetSource": rest_DatasetSource,
    "DatasetUploadConfig": rest_DatasetUploadConfig,
    "DatasetVersion": rest_DatasetVersion,
    "DatasetVersionContent": rest_DatasetVersionContent,
    "DatasetVersionEvent": rest_DatasetVersionEvent,
    "DatasetVersionRef": rest_DatasetVersionRef,
    "DeleteBindingRequest": rest_DeleteBindingRequest,
    "DeleteBindingResponse": rest_DeleteBindingResponse,
    "DeleteFailureRequest": rest_DeleteFailureRequest,
    "DeleteFailureResponse": rest_DeleteFailureResponse,
    "DeletePolicyRequest": rest_DeletePolicyRequest,
    "DeletePolicyResponse": rest_DeletePolicyResponse,
    "DeleteRoleRequest": rest_DeleteRoleRequest,
    "DeleteRoleResponse": rest_DeleteRoleResponse,
    "DeleteRunRequest": rest_DeleteRunRequest,
    "DeleteRunResponse": rest_DeleteRunResponse,
    "DeleteTracesRequest": rest_DeleteTracesRequest,
    "DeleteTracesResponse": rest_DeleteTracesResponse,
    "DiffDatasetVersionsRequest": rest_DiffDatasetVersionsRequest,
    "DiffDatasetVersionsResponse": rest_DiffDatasetVersionsResponse,
    "Environment": rest_Environment,
    "EnvironmentService": rest_EnvironmentService,
    "EscalationPolicy": rest_EscalationPolicy,
    "EvalRun": rest_EvalRun,
    "EvaluateRequest": rest_EvaluateRequest,
    "EvaluateResponse": rest_EvaluateResponse,
    "EvaluateStreamConfig": rest_EvaluateStreamConfig,
    "EvaluateStreamRequest": rest_EvaluateStreamRequest,
    "EvaluateStreamResponse": rest_EvaluateStreamResponse,
    "EvaluationResult": rest_EvaluationResult,
    "EvaluatorExample": rest_EvaluatorExample,
    "EvaluatorManifest": rest_EvaluatorManifest,
    "EvaluatorRef": rest_EvaluatorRef,
    "ExportFailuresRequest": rest_ExportFailuresRequest,
    "ExportFailuresResponse": rest_ExportFailuresResponse,
    "ExportRunRequest": rest_ExportRunRequest,
    "ExportRunResponse": rest_ExportRunResponse,
    "ExportTraceRequest": rest_ExportTraceRequest,
    "ExportTraceResponse": rest_ExportTraceResponse,
    "ExternalHarness": rest_ExternalHarness,
    "FailureCase": rest_FailureCase,
    "FailureEvent": rest_FailureEvent,
    "FailureSelection": rest_FailureSelection,
    "Feedback": rest_Feedback,
    "FetchDatasetVersionRequest": rest_FetchDatasetVersionRequest,
    "FetchDatasetVersionResponse": rest_FetchDatasetVersionResponse,
    "FewShotExample": rest_FewShotExample,
    "Gate": rest_Gate,
    "GateResult": rest_GateResult,
    "GetDatasetVersionRequest": rest_GetDatasetVersionRequest,
    "GetDatasetVersionResponse": rest_GetDatasetVersionResponse,
    "GetFailureRequest": rest_GetFailureRequest,
    "GetFailureResponse": rest_GetFailureResponse,
    "GetPolicyStatsRequest": rest_GetPolicyStatsRequest,
    "GetPolicyStatsResponse": rest_GetPolicyStatsResponse,
    "GetRecordEvidenceRequest": rest_GetRecordEvidenceRequest,
    "GetRecordEvidenceResponse": rest_GetRecordEvidenceResponse,
    "GetRunRequest": rest_GetRunRequest,
    "GetRunResponse": rest_GetRunResponse,
    "GetSessionRequest": rest_GetSessionRequest,
    "GetSessionResponse": rest_GetSessionResponse,
    "GetTraceRequest": rest_GetTraceRequest,
    "GetTraceResponse": rest_GetTraceResponse,
    "GitState": rest_GitState,
    "HTTPAgent": rest_HTTPAgent,
    "Harness": rest_Harness,
    "Hook": rest_Hook,
    "ImportRunRequest": rest_ImportRunRequest,
    "ImportRunResponse": rest_ImportRunResponse,
    "InlineRecords": rest_InlineRecords,
    "Interjection": rest_Interjection,
    "IsolationReport": rest_IsolationReport,
    "JudgeManifest": rest_JudgeManifest,
    "JudgeSpec": rest_JudgeSpec,
    "ListAPIKeysRequest": rest_ListAPIKeysRequest,
    "ListAPIKeysResponse": rest_ListAPIKeysResponse,
    "ListAuditEventsRequest": rest_ListAuditEventsRequest,
    "ListAuditEventsResponse": rest_ListAuditEventsResponse,
    "ListBindingsRequest": rest_ListBindingsRequest,
    "ListBindingsResponse": rest_ListBindingsResponse,
    "ListCredentialsRequest": rest_ListCredentialsRequest,
    "ListCredentialsResponse": rest_ListCredentialsResponse,
    "ListDatasetVersionEventsRequest": rest_ListDatasetVersionEventsRequest,
    "ListDatasetVersionEventsResponse": rest_ListDatasetVersionEventsResponse,
    "ListDatasetVersionsRequest": rest_ListDatasetVersionsRequest,
    "ListDatasetVersionsResponse": rest_ListDatasetVersionsResponse,
    "ListEvaluatorsRequest": rest_ListEvaluatorsRequest,
    "ListEvaluatorsResponse": rest_ListEvaluatorsResponse,
    "ListFailureEventsRequest": rest_ListFailureEventsRequest,
    "ListFailureEventsResponse": rest_ListFailureEventsResponse,
    "ListFailuresRequest": rest_ListFailuresRequest,
    "ListFailuresResponse": rest_ListFailuresResponse,
    "ListFeedbackRequest": rest_ListFeedbackRequest,
    "ListFeedbackResponse": rest_ListFeedbackResponse,
    "ListPermissionsRequest": rest_ListPermissionsRequest,
    "ListPermissionsResponse": rest_ListPermissionsResponse,
    "ListPoliciesRequest": rest_ListPoliciesRequest,
    "ListPoliciesResponse": rest_ListPoliciesResponse,
    "ListProjectsRequest": rest_ListProjectsRequest,
    "ListProjectsResponse": rest_ListProjectsResponse,
    "ListRolesRequest": rest_ListRolesRequest,
    "ListRolesResponse": rest_ListRolesResponse,
    "ListRunResultsRequest": rest_ListRunResultsRequest,
    "ListRunResultsResponse": rest_ListRunResultsResponse,
    "ListRunsRequest": rest_ListRunsRequest,
    "ListRunsResponse": rest_ListRunsResponse,
    "ListScoresRequest": rest_ListScoresRequest,
    "ListScoresResponse": rest_ListScoresResponse,
    "ListTracesRequest": rest_ListTracesRequest,
    "ListTracesResponse": rest_ListTracesResponse,
    "MCPAgent": rest_MCPAgent,
    "MCPOAuth": rest_MCPOAuth,
    "MCPServer": rest_MCPServer,
    "MediaRef": rest_MediaRef,
    "Message": rest_Message,
    "Messages": rest_Messages,
    "MetricComparison": rest_MetricComparison,
    "MetricDrift": rest_MetricDrift,
    "MetricSpec": rest_MetricSpec,
    "MetricSummaries": rest_MetricSummaries,
    "MetricSummary": rest_MetricSummary,
    "MetricWindow": rest_MetricWindow,
    "MockTool": rest_MockTool,
    "Observation": rest_Observation,
    "OnlineEvalPolicy": rest_OnlineEvalPolicy,
    "Permission": rest_Permission,
    "PluginDescribeRequest": rest_PluginDescribeRequest,
    "PluginDescribeResponse": rest_PluginDescribeResponse,
    "PluginEvaluateRequest": rest_PluginEvaluateRequest,
    "PluginEvaluateResponse": rest_PluginEvaluateResponse,
    "PolicyBudget": rest_PolicyBudget,
    "PolicyResults": rest_PolicyResults,
    "PolicyStats": rest_PolicyStats,
    "PolicyView": rest_PolicyView,
    "Pricing": rest_Pricing,
    "Principal": rest_Principal,
    "Progress": rest_Progress,
    "Project": rest_Project,
    "ProjectAccess": rest_ProjectAccess,
    "PromoteResultsRequest": rest_PromoteResultsRequest,
    "PromoteResultsResponse": rest_PromoteResultsResponse,
    "Promotion": rest_Promotion,
    "Provenance": rest_Provenance,
    "PublishDatasetVersionRequest": rest_PublishDatasetVersionRequest,
    "PublishDatasetVersionResponse": rest_PublishDatasetVersionResponse,
    "Record": rest_Record,
    "Recording": rest_Recording,
    "RejectedLine": rest_RejectedLine,
    "Requirements": rest_Requirements,
    "RescoreRunRequest": rest_RescoreRunRequest,
    "RescoreRunResponse": rest_RescoreRunResponse,
    "ResponsesAgent": rest_ResponsesAgent,
    "ResultsFile": rest_ResultsFile,
    "ResultsLayout": rest_ResultsLayout,
    "ResumeRunRequest": rest_ResumeRunRequest,
    "ResumeRunResponse": rest_ResumeRunResponse,
    "ReviewDatasetVersionRequest": rest_ReviewDatasetVersionRequest,
    "ReviewDatasetVersionResponse": rest_ReviewDatasetVersionResponse,
    "ReviewFailureRequest": rest_ReviewFailureRequest,
    "ReviewFailureResponse": rest_ReviewFailureResponse,
    "RevokeAPIKeyRequest": rest_RevokeAPIKeyRequest,
    "RevokeAPIKeyResponse": rest_RevokeAPIKeyResponse,
    "Reward": rest_Reward,
    "RewardClip": rest_RewardClip,
    "RewardComponent": rest_RewardComponent,
    "RewardComponentResult": rest_RewardComponentResult,
    "RewardSpec": rest_RewardSpec,
    "Role": rest_Role,
    "RoleBinding": rest_RoleBinding,
    "RoleList": rest_RoleList,
    "Run": rest_Run,
    "RunEvaluationContract": rest_RunEvaluationContract,
    "RunManifest": rest_RunManifest,
    "RunMetadata": rest_RunMetadata,
    "RunOutputs": rest_RunOutputs,
    "RunProvenance": rest_RunProvenance,
    "RunRecordEvidence": rest_RunRecordEvidence,
    "RunSpec": rest_RunSpec,
    "Sampling": rest_Sampling,
    "SandboxCreateRequest": rest_SandboxCreateRequest,
    "SandboxCreateResponse": rest_SandboxCreateResponse,
    "SandboxDeleteSnapshotRequest": rest_SandboxDeleteSnapshotRequest,
    "SandboxDeleteSnapshotResponse": rest_SandboxDeleteSnapshotResponse,
    "SandboxDestroyRequest": rest_SandboxDestroyRequest,
    "SandboxDestroyResponse": rest_SandboxDestroyResponse,
    "SandboxEgressEvent": rest_SandboxEgressEvent,
    "SandboxExecRequest": rest_SandboxExecRequest,
    "SandboxExecResponse": rest_SandboxExecResponse,
    "SandboxExecResult": rest_SandboxExecResult,
    "SandboxFile": rest_SandboxFile,
    "SandboxNetworkPolicy": rest_SandboxNetworkPolicy,
    "SandboxPolicy": rest_SandboxPolicy,
    "SandboxProbeRequest": rest_SandboxProbeRequest,
    "SandboxProbeResponse": rest_SandboxProbeResponse,
    "SandboxPythonRun": rest_SandboxPythonRun,
    "SandboxReadFilesRequest": rest_SandboxReadFilesRequest,
    "SandboxReadFilesResponse": rest_SandboxReadFilesResponse,
    "SandboxRenewRequest": rest_SandboxRenewRequest,
    "SandboxRenewResponse": rest_SandboxRenewResponse,
    "SandboxResources": rest_SandboxResources,
    "SandboxRestoreRequest": rest_SandboxRestoreRequest,
    "SandboxRestoreResponse": rest_SandboxRestoreResponse,
    "SandboxRunPythonRequest": rest_SandboxRunPythonRequest,
    "SandboxRunPythonResponse": rest_SandboxRunPythonResponse,
    "SandboxRungStatus": rest_SandboxRungStatus,
    "SandboxServiceStatus": rest_SandboxServiceStatus,
    "SandboxSnapshotRequest": rest_SandboxSnapshotRequest,
    "SandboxSnapshotResponse": rest_SandboxSnapshotResponse,
    "SandboxSpec": rest_SandboxSpec,
    "SandboxStatsRequest": rest_SandboxStatsRequest,
    "SandboxStatsResponse": rest_SandboxStatsResponse,
    "SandboxWriteFilesRequest": rest_SandboxWriteFilesRequest,
    "SandboxWriteFilesResponse": rest_SandboxWriteFilesResponse,
    "Scheduling": rest_Scheduling,
    "Score": rest_Score,
    "ScoreRewardsRequest": rest_ScoreRewardsRequest,
    "ScoreRewardsResponse": rest_ScoreRewardsResponse,
    "Sink": rest_Sink,
    "SinkState": rest_SinkState,
    "SliceRow": rest_SliceRow,
    "SliceRunsRequest": rest_SliceRunsRequest,
    "SliceRunsResponse": rest_SliceRunsResponse,
    "SliceSummary": rest_SliceSummary,
    "Step": rest_Step,
    "SubmitFeedbackRequest": rest_SubmitFeedbackRequest,
    "SubmitFeedbackResponse": rest_SubmitFeedbackResponse,
    "SummaryOptions": rest_SummaryOptions,
    "TabularRow": rest_TabularRow,
    "Target": rest_Target,
    "TaskCheck": rest_TaskCheck,
    "Tensor": rest_Tensor,
    "TestPolicyRequest": rest_TestPolicyRequest,
    "TestPolicyResponse": rest_TestPolicyResponse,
    "Thinking": rest_Thinking,
    "ToolCall": rest_ToolCall,
    "ToolDefinition": rest_ToolDefinition,
    "ToolFault": rest_ToolFault,
    "Tools": rest_Tools,
    "TraceFacet": rest_TraceFacet,
    "TraceFilter": rest_TraceFilter,
    "TraceProvenance": rest_TraceProvenance,
    "TraceQuery": rest_TraceQuery,
    "TraceScores": rest_TraceScores,
    "TraceSummary": rest_TraceSummary,
    "TrafficComparison": rest_TrafficComparison,
    "TrafficSlice": rest_TrafficSlice,
    "Trajectory": rest_Trajectory,
    "TrialAdvice": rest_TrialAdvice,
    "TrialVariance": rest_TrialVariance,
    "Unpinned": rest_Unpinned,
    "UpdateFailureRequest": rest_UpdateFailureRequest,
    "UpdateFailureResponse": rest_UpdateFailureResponse,
    "UpdateRoleRequest": rest_UpdateRoleRequest,
    "UpdateRoleResponse": rest_UpdateRoleResponse,
    "UploadDatasetVersionRequest": rest_UploadDatasetVersionRequest,
    "UploadDatasetVersionResponse": rest_UploadDatasetVersionResponse,
    "Usage": rest_Usage,
    "UserSimulator": rest_UserSimulator,
    "VerifyAuditLogRequest": rest_VerifyAuditLogRequest,
    "VerifyAuditLogResponse": rest_VerifyAuditLogResponse,
    "WatchRunRequest": rest_WatchRunRequest,
    "WatchRunResponse": rest_WatchRunResponse,
    "WatchTracesRequest": rest_WatchTracesRequest,
    "WatchTracesResponse": rest_WatchTracesResponse,
    "WhoAmIRequest": rest_WhoAmIRequest,
    "WhoAmIResponse": rest_WhoAmIResponse,
}
"""Writer of the REST form of each message, by its name."""


FILE_FORMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "A2AAgent": file_A2AAgent,
    "APIKey": file_APIKey,
    "AgentBudget": file_AgentBudget,
    "AgentTarget": file_AgentTarget,
    "Alert": file_Alert,
    "AlertState": file_AlertState,
    "ApplyPolicyRequest": file_ApplyPolicyRequest,
    "ApplyPolicyResponse": file_ApplyPolicyResponse,
    "ArchiveRunRequest": file_ArchiveRunRequest,
    "ArchiveRunResponse": file_ArchiveRunResponse,
    "AuditEvent": file_AuditEvent,
    "BackfillPolicyRequest": file_BackfillPolicyRequest,
    "BackfillPolicyResponse": file_BackfillPolicyResponse,
    "BoundRunEvaluator": file_BoundRunEvaluator,
    "Budget": file_Budget,
    "BuiltinHarness": file_BuiltinHarness,
    "CLIAgent": file_CLIAgent,
    "CancelRunRequest": file_CancelRunRequest,
    "CancelRunResponse": file_CancelRunResponse,
    "CaptureFailureRequest": file_CaptureFailureRequest,
    "CaptureFailureResponse": file_CaptureFailureResponse,
    "CascadeStage": file_CascadeStage,
    "Checker": file_Checker,
    "CommandHarness": file_CommandHarness,
    "CommandTarget": file_CommandTarget,
    "CompareRunsRequest": file_CompareRunsRequest,
    "CompareRunsResponse": file_CompareRunsResponse,
    "CompareTrafficRequest": file_CompareTrafficRequest,
    "CompareTrafficResponse": file_CompareTrafficResponse,
    "ConfidenceInterval": file_ConfidenceInterval,
    "Content": file_Content,
    "ContextManagement": file_ContextManagement,
    "CountTracesRequest": file_CountTracesRequest,
    "CountTracesResponse": file_CountTracesResponse,
    "CreateAPIKeyRequest": file_CreateAPIKeyRequest,
    "CreateAPIKeyResponse": file_CreateAPIKeyResponse,
    "CreateBindingRequest": file_CreateBindingRequest,
    "CreateBindingResponse": file_CreateBindingResponse,
    "CreateProjectRequest": file_CreateProjectRequest,
    "CreateProjectResponse": file_CreateProjectResponse,
    "CreateRoleRequest": file_CreateRoleRequest,
    "CreateRoleResponse": file_CreateRoleResponse,
    "CreateRunRequest": file_CreateRunRequest,
    "CreateRunResponse": file_CreateRunResponse,
    "CreateShadowReplayRequest": file_CreateShadowReplayRequest,
    "CreateShadowReplayResponse": file_CreateShadowReplayResponse,
    "CredentialGrant": file_CredentialGrant,
    "DatasetManifest": file_DatasetManifest,
    "DatasetRecordChange": file_DatasetRecordChange,
    "DatasetSource": file_DatasetSource,
    "DatasetUploadConfig": file_DatasetUploadConfig,
    "DatasetVersion": file_DatasetVersion,
    "DatasetVersionContent": file_DatasetVersionContent,
    "DatasetVersionEvent": file_DatasetVersionEvent,
    "DatasetVersionRef": file_DatasetVersionRef,
    "DeleteBindingRequest": file_DeleteBindingRequest,
    "DeleteBindingResponse": file_DeleteBindingResponse,
    "DeleteFailureRequest": file_DeleteFailureRequest,
    "DeleteFailureResponse": file_DeleteFailureResponse,
    "DeletePolicyRequest": file_DeletePolicyRequest,
    "DeletePolicyResponse": file_DeletePolicyResponse,
    "DeleteRoleRequest": file_DeleteRoleRequest,
    "DeleteRoleResponse": file_DeleteRoleResponse,
    "DeleteRunRequest": file_DeleteRunRequest,
    "DeleteRunResponse": file_DeleteRunResponse,
    "DeleteTracesRequest": file_DeleteTracesRequest,
    "DeleteTracesResponse": file_DeleteTracesResponse,
    "DiffDatasetVersionsRequest": file_DiffDatasetVersionsRequest,
    "DiffDatasetVersionsResponse": file_DiffDatasetVersionsResponse,
    "Environment": file_Environment,
    "EnvironmentService": file_EnvironmentService,
    "EscalationPolicy": file_EscalationPolicy,
    "EvalRun": file_EvalRun,
    "EvaluateRequest": file_EvaluateRequest,
    "EvaluateResponse": file_EvaluateResponse,
    "EvaluateStreamConfig": file_EvaluateStreamConfig,
    "EvaluateStreamRequest": file_EvaluateStreamRequest,
    "EvaluateStreamResponse": file_EvaluateStreamResponse,
    "EvaluationResult": file_EvaluationResult,
    "EvaluatorExample": file_EvaluatorExample,
    "EvaluatorManifest": file_EvaluatorManifest,
    "EvaluatorRef": file_EvaluatorRef,
    "ExportFailuresRequest": file_ExportFailuresRequest,
    "ExportFailuresResponse": file_ExportFailuresResponse,
    "ExportRunRequest": file_ExportRunRequest,
    "ExportRunResponse": file_ExportRunResponse,
    "ExportTraceRequest": file_ExportTraceRequest,
    "ExportTraceResponse": file_ExportTraceResponse,
    "ExternalHarness": file_ExternalHarness,
    "FailureCase": file_FailureCase,
    "FailureEvent": file_FailureEvent,
    "FailureSelection": file_FailureSelection,
    "Feedback": file_Feedback,
    "FetchDatasetVersionRequest": file_FetchDatasetVersionRequest,
    "FetchDatasetVersionResponse": file_FetchDatasetVersionResponse,
    "FewShotExample": file_FewShotExample,
    "Gate": file_Gate,
    "GateResult": file_GateResult,
    "GetDatasetVersionRequest": file_GetDatasetVersionRequest,
    "GetDatasetVersionResponse": file_GetDatasetVersionResponse,
    "GetFailureRequest": file_GetFailureRequest,
    "GetFailureResponse": file_GetFailureResponse,
    "GetPolicyStatsRequest": file_GetPolicyStatsRequest,
    "GetPolicyStatsResponse": file_GetPolicyStatsResponse,
    "GetRecordEvidenceRequest": file_GetRecordEvidenceRequest,
    "GetRecordEvidenceResponse": file_GetRecordEvidenceResponse,
    "GetRunRequest": file_GetRunRequest,
    "GetRunResponse": file_GetRunResponse,
    "GetSessionRequest": file_GetSessionRequest,
    "GetSessionResponse": file_GetSessionResponse,
    "GetTraceRequest": file_GetTraceRequest,
    "GetTraceResponse": file_GetTraceResponse,
    "GitState": file_GitState,
    "HTTPAgent": file_HTTPAgent,
    "Harness": file_Harness,
    "Hook": file_Hook,
    "ImportRunRequest": file_ImportRunRequest,
    "ImportRunResponse": file_ImportRunResponse,
    "InlineRecords": file_InlineRecords,
    "Interjection": file_Interjection,
    "IsolationReport": file_IsolationReport,
    "JudgeManifest": file_JudgeManifest,
    "JudgeSpec": file_JudgeSpec,
    "ListAPIKeysRequest": file_ListAPIKeysRequest,
    "ListAPIKeysResponse": file_ListAPIKeysResponse,
    "ListAuditEventsRequest": file_ListAuditEventsRequest,
    "ListAuditEventsResponse": file_ListAuditEventsResponse,
    "ListBindingsRequest": file_ListBindingsRequest,
    "ListBindingsResponse": file_ListBindingsResponse,
    "ListCredentialsRequest": file_ListCredentialsRequest,
    "ListCredentialsResponse": file_ListCredentialsResponse,
    "ListDatasetVersionEventsRequest": file_ListDatasetVersionEventsRequest,
    "ListDatasetVersionEventsResponse": file_ListDatasetVersionEventsResponse,
    "ListDatasetVersionsRequest": file_ListDatasetVersionsRequest,
    "ListDatasetVersionsResponse": file_ListDatasetVersionsResponse,
    "ListEvaluatorsRequest": file_ListEvaluatorsRequest,
    "ListEvaluatorsResponse": file_ListEvaluatorsResponse,
    "ListFailureEventsRequest": file_ListFailureEventsRequest,
    "ListFailureEventsResponse": file_ListFailureEventsResponse,
    "ListFailuresRequest": file_ListFailuresRequest,
    "ListFailuresResponse": file_ListFailuresResponse,
    "ListFeedbackRequest": file_ListFeedbackRequest,
    "ListFeedbackResponse": file_ListFeedbackResponse,
    "ListPermissionsRequest": file_ListPermissionsRequest,
    "ListPermissionsResponse": file_ListPermissionsResponse,
    "ListPoliciesRequest": file_ListPoliciesRequest,
    "ListPoliciesResponse": file_ListPoliciesResponse,
    "ListProjectsRequest": file_ListProjectsRequest,
    "ListProjectsResponse": file_ListProjectsResponse,
    "ListRolesRequest": file_ListRolesRequest,
    "ListRolesResponse": file_ListRolesResponse,
    "ListRunResultsRequest": file_ListRunResultsRequest,
    "ListRunResultsResponse": file_ListRunResultsResponse,
    "ListRunsRequest": file_ListRunsRequest,
    "ListRunsResponse": file_ListRunsResponse,
    "ListScoresRequest": file_ListScoresRequest,
    "ListScoresResponse": file_ListScoresResponse,
    "ListTracesRequest": file_ListTracesRequest,
    "ListTracesResponse": file_ListTracesResponse,
    "MCPAgent": file_MCPAgent,
    "MCPOAuth": file_MCPOAuth,
    "MCPServer": file_MCPServer,
    "MediaRef": file_MediaRef,
    "Message": file_Message,
    "Messages": file_Messages,
    "MetricComparison": file_MetricComparison,
    "MetricDrift": file_MetricDrift,
    "MetricSpec": file_MetricSpec,
    "MetricSummaries": file_MetricSummaries,
    "MetricSummary": file_MetricSummary,
    "MetricWindow": file_MetricWindow,
    "MockTool": file_MockTool,
    "Observation": file_Observation,
    "OnlineEvalPolicy": file_OnlineEvalPolicy,
    "Permission": file_Permission,
    "PluginDescribeRequest": file_PluginDescribeRequest,
    "PluginDescribeResponse": file_PluginDescribeResponse,
    "PluginEvaluateRequest": file_PluginEvaluateRequest,
    "PluginEvaluateResponse": file_PluginEvaluateResponse,
    "PolicyBudget": file_PolicyBudget,
    "PolicyResults": file_PolicyResults,
    "PolicyStats": file_PolicyStats,
    "PolicyView": file_PolicyView,
    "Pricing": file_Pricing,
    "Principal": file_Principal,
    "Progress": file_Progress,
    "Project": file_Project,
    "ProjectAccess": file_ProjectAccess,
    "PromoteResultsRequest": file_PromoteResultsRequest,
    "PromoteResultsResponse": file_PromoteResultsResponse,
    "Promotion": file_Promotion,
    "Provenance": file_Provenance,
    "PublishDatasetVersionRequest": file_PublishDatasetVersionRequest,
    "PublishDatasetVersionResponse": file_PublishDatasetVersionResponse,
    "Record": file_Record,
    "Recording": file_Recording,
    "RejectedLine": file_RejectedLine,
    "Requirements": file_Requirements,
    "RescoreRunRequest": file_RescoreRunRequest,
    "RescoreRunResponse": file_RescoreRunResponse,
    "ResponsesAgent": file_ResponsesAgent,
    "ResultsFile": file_ResultsFile,
    "ResultsLayout": file_ResultsLayout,
    "ResumeRunRequest": file_ResumeRunRequest,
    "ResumeRunResponse": file_ResumeRunResponse,
    "ReviewDatasetVersionRequest": file_ReviewDatasetVersionRequest,
    "ReviewDatasetVersionResponse": file_ReviewDatasetVersionResponse,
    "ReviewFailureRequest": file_ReviewFailureRequest,
    "ReviewFailureResponse": file_ReviewFailureResponse,
    "RevokeAPIKeyRequest": file_RevokeAPIKeyRequest,
    "RevokeAPIKeyResponse": file_RevokeAPIKeyResponse,
    "Reward": file_Reward,
    "RewardClip": file_RewardClip,
    "RewardComponent": file_RewardComponent,
    "RewardComponentResult": file_RewardComponentResult,
    "RewardSpec": file_RewardSpec,
    "Role": file_Role,
    "RoleBinding": file_RoleBinding,
    "RoleList": file_RoleList,
    "Run": file_Run,
    "RunEvaluationContract": file_RunEvaluationContract,
    "RunManifest": file_RunManifest,
    "RunMetadata": file_RunMetadata,
    "RunOutputs": file_RunOutputs,
    "RunProvenance": file_RunProvenance,
    "RunRecordEvidence": file_RunRecordEvidence,
    "RunSpec": file_RunSpec,
    "Sampling": file_Sampling,
    "SandboxCreateRequest": file_SandboxCreateRequest,
    "SandboxCreateResponse": file_SandboxCreateResponse,
    "SandboxDeleteSnapshotRequest": file_SandboxDeleteSnapshotRequest,
    "SandboxDeleteSnapshotResponse": file_SandboxDeleteSnapshotResponse,
    "SandboxDestroyRequest": file_SandboxDestroyRequest,
    "SandboxDestroyResponse": file_SandboxDestroyResponse,
    "SandboxEgressEvent": file_SandboxEgressEvent,
    "SandboxExecRequest": file_SandboxExecRequest,
    "SandboxExecResponse": file_SandboxExecResponse,
    "SandboxExecResult": file_SandboxExecResult,
    "SandboxFile": file_SandboxFile,
    "SandboxNetworkPolicy": file_SandboxNetworkPolicy,
    "SandboxPolicy": file_SandboxPolicy,
    "SandboxProbeRequest": file_SandboxProbeRequest,
    "SandboxProbeResponse": file_SandboxProbeResponse,
    "SandboxPythonRun": file_SandboxPythonRun,
    "SandboxReadFilesRequest": file_SandboxReadFilesRequest,
    "SandboxReadFilesResponse": file_SandboxReadFilesResponse,
    "SandboxRenewRequest": file_SandboxRenewRequest,
    "SandboxRenewResponse": file_SandboxRenewResponse,
    "SandboxResources": file_SandboxResources,
    "SandboxRestoreRequest": file_SandboxRestoreRequest,
    "SandboxRestoreResponse": file_SandboxRestoreResponse,
    "SandboxRunPythonRequest": file_SandboxRunPythonRequest,
    "SandboxRunPythonResponse": file_SandboxRunPythonResponse,
    "SandboxRungStatus": file_SandboxRungStatus,
    "SandboxServiceStatus": file_SandboxServiceStatus,
    "SandboxSnapshotRequest": file_SandboxSnapshotRequest,
    "SandboxSnapshotResponse": file_SandboxSnapshotResponse,
    "SandboxSpec": file_SandboxSpec,
    "SandboxStatsRequest": file_SandboxStatsRequest,
    "SandboxStatsResponse": file_SandboxStatsResponse,
    "SandboxWriteFilesRequest": file_SandboxWriteFilesRequest,
    "SandboxWriteFilesResponse": file_SandboxWriteFilesResponse,
    "Scheduling": file_Scheduling,
    "Score": file_Score,
    "ScoreRewardsRequest": file_ScoreRewardsRequest,
    "ScoreRewardsResponse": file_ScoreRewardsResponse,
    "Sink": file_Sink,
    "SinkState": file_SinkState,
    "SliceRow": file_SliceRow,
    "SliceRunsRequest": file_SliceRunsRequest,
    "SliceRunsResponse": file_SliceRunsResponse,
    "SliceSummary": file_SliceSummary,
    "Step": file_Step,
    "SubmitFeedbackRequest": file_SubmitFeedbackRequest,
    "SubmitFeedbackResponse": file_SubmitFeedbackResponse,
    "SummaryOptions": file_SummaryOptions,
    "TabularRow": file_TabularRow,
    "Target": file_Target,
    "TaskCheck": file_TaskCheck,
    "Tensor": file_Tensor,
    "TestPolicyRequest": file_TestPolicyRequest,
    "TestPolicyResponse": file_TestPolicyResponse,
    "Thinking": file_Thinking,
    "ToolCall": file_ToolCall,
    "ToolDefinition": file_ToolDefinition,
    "ToolFault": file_ToolFault,
    "Tools": file_Tools,
    "TraceFacet": file_TraceFacet,
    "TraceFilter": file_TraceFilter,
    "TraceProvenance": file_TraceProvenance,
    "TraceQuery": file_TraceQuery,
    "TraceScores": file_TraceScores,
    "TraceSummary": file_TraceSummary,
    "TrafficComparison": file_TrafficComparison,
    "TrafficSlice": file_TrafficSlice,
    "Trajectory": file_Trajectory,
    "TrialAdvice": file_TrialAdvice,
    "TrialVariance": file_TrialVariance,
    "Unpinned": file_Unpinned,
    "UpdateFailureRequest": file_UpdateFailureRequest,
    "UpdateFailureResponse": file_UpdateFailureResponse,
    "UpdateRoleRequest": file_UpdateRoleRequest,
    "UpdateRoleResponse": file_UpdateRoleResponse,
    "UploadDatasetVersionRequest": file_UploadDatasetVersionRequest,
    "UploadDatasetVersionResponse": file_UploadDatasetVersionResponse,
    "Usage": file_Usage,
    "UserSimulator": file_UserSimulator,
    "VerifyAuditLogRequest": file_VerifyAuditLogRequest,
    "VerifyAuditLogResponse": file_VerifyAuditLogResponse,
    "WatchRunRequest": file_WatchRunRequest,
    "WatchRunResponse": file_WatchRunResponse,
    "WatchTracesRequest": file_WatchTracesRequest,
    "WatchTracesResponse": file_WatchTracesResponse,
    "WhoAmIRequest": file_WhoAmIRequest,
    "WhoAmIResponse": file_WhoAmIResponse,
}
"""Writer of the file form of each message, by its name."""
