# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""From protobuf's object to each Struct: `read_<Message>(wire)`. An enum number that is not known reads as UNSPECIFIED.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

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
    CiMethod,
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
    DatasetVersionState,
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
    Enforcement,
    Environment,
    EnvironmentService,
    ErrorKind,
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
    FailureStatus,
    Fault,
    Feedback,
    FetchDatasetVersionRequest,
    FetchDatasetVersionResponse,
    FewShotExample,
    Gate,
    GateResult,
    GateStat,
    GateVerdict,
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
    IsolationLevel,
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
    MetricKind,
    MetricSpec,
    MetricSummaries,
    MetricSummary,
    MetricWindow,
    MockTool,
    Observation,
    OnInconclusive,
    OnlineEvalPolicy,
    Outcome,
    Permission,
    PluginDescribeRequest,
    PluginDescribeResponse,
    PluginEvaluateRequest,
    PluginEvaluateResponse,
    PolicyBudget,
    PolicyResults,
    PolicyScope,
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
    RewardComponentStatus,
    RewardOnError,
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
    RunStatus,
    Sampling,
    SandboxAccessPolicy,
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
    SandboxNetworkMode,
    SandboxNetworkPolicy,
    SandboxOutcome,
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
    Scope,
    Score,
    ScoreRewardsRequest,
    ScoreRewardsResponse,
    ScoreType,
    Sink,
    SinkState,
    SliceRow,
    SliceRunsRequest,
    SliceRunsResponse,
    SliceSummary,
    Step,
    StepType,
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
from evalsi.schema.wire_values import read_duration, read_object, read_timestamp, read_value

_StepType = {member.number: member for member in StepType}
_IsolationLevel = {member.number: member for member in IsolationLevel}
_Enforcement = {member.number: member for member in Enforcement}
_Outcome = {member.number: member for member in Outcome}
_ErrorKind = {member.number: member for member in ErrorKind}
_Fault = {member.number: member for member in Fault}
_MetricKind = {member.number: member for member in MetricKind}
_Scope = {member.number: member for member in Scope}
_ScoreType = {member.number: member for member in ScoreType}
_SandboxNetworkMode = {member.number: member for member in SandboxNetworkMode}
_SandboxOutcome = {member.number: member for member in SandboxOutcome}
_SandboxAccessPolicy = {member.number: member for member in SandboxAccessPolicy}
_CiMethod = {member.number: member for member in CiMethod}
_OnInconclusive = {member.number: member for member in OnInconclusive}
_GateStat = {member.number: member for member in GateStat}
_GateVerdict = {member.number: member for member in GateVerdict}
_RunStatus = {member.number: member for member in RunStatus}
_DatasetVersionState = {member.number: member for member in DatasetVersionState}
_FailureStatus = {member.number: member for member in FailureStatus}
_PolicyScope = {member.number: member for member in PolicyScope}
_RewardOnError = {member.number: member for member in RewardOnError}
_RewardComponentStatus = {member.number: member for member in RewardComponentStatus}


def read_Record(w):
    return Record(
        id=w.id,
        input=read_Content(w.input) if w.HasField("input") else None,
        output=read_Content(w.output) if w.HasField("output") else None,
        reference=read_Content(w.reference) if w.HasField("reference") else None,
        context=[read_Content(x) for x in w.context],
        trajectory=read_Trajectory(w.trajectory) if w.HasField("trajectory") else None,
        usage=read_Usage(w.usage) if w.HasField("usage") else None,
        metadata={k: read_value(x) for k, x in w.metadata.items()},
        provenance=read_Provenance(w.provenance) if w.HasField("provenance") else None,
        check=read_TaskCheck(w.check) if w.HasField("check") else None,
        notes=list(w.notes),
        stop_reason=w.stop_reason,
    )


def read_TaskCheck(w):
    return TaskCheck(
        passed=w.passed,
        score=w.score if w.HasField("score") else None,
        details=w.details,
        tests=dict(w.tests),
        error=w.error,
    )


def read_Content(w):
    return Content(
        text=w.text if w.HasField("text") else None,
        messages=read_Messages(w.messages) if w.HasField("messages") else None,
        json=read_value(w.json) if w.HasField("json") else UNSET,
        row=read_TabularRow(w.row) if w.HasField("row") else None,
        tensor=read_Tensor(w.tensor) if w.HasField("tensor") else None,
        media=read_MediaRef(w.media) if w.HasField("media") else None,
    )


def read_Messages(w):
    return Messages(
        messages=[read_Message(x) for x in w.messages],
    )


def read_Message(w):
    return Message(
        role=w.role,
        content=w.content,
        tool_calls=[read_ToolCall(x) for x in w.tool_calls],
        tool_call_id=w.tool_call_id,
        name=w.name,
    )


def read_ToolCall(w):
    return ToolCall(
        id=w.id,
        name=w.name,
        arguments=w.arguments,
    )


def read_TabularRow(w):
    return TabularRow(
        features={k: read_value(x) for k, x in w.features.items()},
        prediction=read_value(w.prediction) if w.HasField("prediction") else UNSET,
        probabilities=dict(w.probabilities),
    )


def read_Tensor(w):
    return Tensor(
        shape=list(w.shape),
        dtype=w.dtype,
        data=w.data,
    )


def read_MediaRef(w):
    return MediaRef(
        uri=w.uri,
        media_type=w.media_type,
    )


def read_Trajectory(w):
    return Trajectory(
        trace_id=w.trace_id,
        session_id=w.session_id,
        steps=[read_Step(x) for x in w.steps],
    )


def read_Step(w):
    return Step(
        span_id=w.span_id,
        parent_span_id=w.parent_span_id,
        type=_StepType.get(w.type, StepType.UNSPECIFIED),
        name=w.name,
        input=read_Content(w.input) if w.HasField("input") else None,
        output=read_Content(w.output) if w.HasField("output") else None,
        start_time=read_timestamp(w.start_time) if w.HasField("start_time") else None,
        end_time=read_timestamp(w.end_time) if w.HasField("end_time") else None,
        usage=read_Usage(w.usage) if w.HasField("usage") else None,
        error=w.error,
        attributes={k: read_value(x) for k, x in w.attributes.items()},
        duration=read_duration(w.duration) if w.HasField("duration") else None,
    )


def read_Usage(w):
    return Usage(
        input_tokens=w.input_tokens if w.HasField("input_tokens") else None,
        output_tokens=w.output_tokens if w.HasField("output_tokens") else None,
        cost_usd=w.cost_usd if w.HasField("cost_usd") else None,
        latency=read_duration(w.latency) if w.HasField("latency") else None,
        cached_input_tokens=w.cached_input_tokens if w.HasField("cached_input_tokens") else None,
        cache_write_tokens=w.cache_write_tokens if w.HasField("cache_write_tokens") else None,
        reasoning_tokens=w.reasoning_tokens if w.HasField("reasoning_tokens") else None,
        cached=w.cached,
        cached_cost_usd=w.cached_cost_usd if w.HasField("cached_cost_usd") else None,
        requests=w.requests if w.HasField("requests") else None,
        unpriced_requests=w.unpriced_requests,
        time_to_first_token=read_duration(w.time_to_first_token) if w.HasField("time_to_first_token") else None,
    )


def read_Provenance(w):
    return Provenance(
        run=read_RunProvenance(w.run) if w.HasField("run") else None,
        trace=read_TraceProvenance(w.trace) if w.HasField("trace") else None,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
    )


def read_RunProvenance(w):
    return RunProvenance(
        run_id=w.run_id,
        task_id=w.task_id,
        trial=w.trial,
    )


def read_TraceProvenance(w):
    return TraceProvenance(
        trace_id=w.trace_id,
        policy_id=w.policy_id,
    )


def read_IsolationReport(w):
    return IsolationReport(
        driver=w.driver,
        level=_IsolationLevel.get(w.level, IsolationLevel.UNSPECIFIED),
        enforcement=_Enforcement.get(w.enforcement, Enforcement.UNSPECIFIED),
        notes=list(w.notes),
        limits=list(w.limits),
    )


def read_Score(w):
    return Score(
        name=w.name,
        number=w.number if w.HasField("number") else None,
        passed=w.passed if w.HasField("passed") else None,
        label=w.label if w.HasField("label") else None,
        structured=read_value(w.structured) if w.HasField("structured") else UNSET,
        explanation=w.explanation,
        confidence=w.confidence if w.HasField("confidence") else None,
        cost=read_Usage(w.cost) if w.HasField("cost") else None,
        metadata={k: read_value(x) for k, x in w.metadata.items()},
    )


def read_EvaluationResult(w):
    return EvaluationResult(
        record_id=w.record_id,
        evaluator=w.evaluator,
        evaluator_ref=w.evaluator_ref,
        outcome=_Outcome.get(w.outcome, Outcome.UNSPECIFIED),
        scores=[read_Score(x) for x in w.scores],
        reason=w.reason,
        duration=read_duration(w.duration) if w.HasField("duration") else None,
        trial=w.trial,
        error_kind=_ErrorKind.get(w.error_kind, ErrorKind.UNSPECIFIED),
        fault=_Fault.get(w.fault, Fault.UNSPECIFIED),
        span_id=w.span_id,
        session_id=w.session_id,
        usage=read_Usage(w.usage) if w.HasField("usage") else None,
        raw_reply=w.raw_reply,
        detail=w.detail,
        warnings=list(w.warnings),
        attempts=w.attempts,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
    )


def read_MetricSummary(w):
    return MetricSummary(
        metric=w.metric,
        evaluator=w.evaluator,
        kind=_MetricKind.get(w.kind, MetricKind.UNSPECIFIED),
        n=w.n,
        mean=w.mean if w.HasField("mean") else None,
        std=w.std if w.HasField("std") else None,
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
        skipped=w.skipped,
        errors=w.errors,
        labels=dict(w.labels),
        clusters=w.clusters if w.HasField("clusters") else None,
        total=w.total,
        cancelled=w.cancelled,
        coverage=w.coverage if w.HasField("coverage") else None,
        higher_is_better=w.higher_is_better if w.HasField("higher_is_better") else None,
        error_kinds=dict(w.error_kinds),
        skip_reasons=dict(w.skip_reasons),
        min=w.min if w.HasField("min") else None,
        median=w.median if w.HasField("median") else None,
        max=w.max if w.HasField("max") else None,
        evaluator_ref=w.evaluator_ref,
        unit=w.unit,
        notes=list(w.notes),
        trial_variance=read_TrialVariance(w.trial_variance) if w.HasField("trial_variance") else None,
    )


def read_TrialVariance(w):
    return TrialVariance(
        between_records=w.between_records,
        within_records=w.within_records,
        intraclass_correlation=w.intraclass_correlation if w.HasField("intraclass_correlation") else None,
        records=w.records,
        trials=w.trials,
    )


def read_ConfidenceInterval(w):
    return ConfidenceInterval(
        low=w.low,
        high=w.high,
        level=w.level,
        method=w.method,
        resamples=w.resamples,
        seed=w.seed if w.HasField("seed") else None,
    )


def read_EvaluatorRef(w):
    return EvaluatorRef(
        ref=w.ref,
        params=read_object(w.params),
        name=w.name,
        judge=w.judge,
        deadline=read_duration(w.deadline) if w.HasField("deadline") else None,
    )


def read_Requirements(w):
    return Requirements(
        input=w.input,
        output=w.output,
        reference=w.reference,
        context=w.context,
        trajectory=w.trajectory,
        judge=w.judge,
        isolation=_IsolationLevel.get(w.isolation, IsolationLevel.UNSPECIFIED),
        usage=w.usage,
        check=w.check,
        metadata=list(w.metadata),
    )


def read_MetricSpec(w):
    return MetricSpec(
        name=w.name,
        type=_ScoreType.get(w.type, ScoreType.UNSPECIFIED),
        min=w.min if w.HasField("min") else None,
        max=w.max if w.HasField("max") else None,
        higher_is_better=w.higher_is_better if w.HasField("higher_is_better") else None,
        description=w.description,
        interval=w.interval,
        unit=w.unit,
        labels=list(w.labels),
    )


def read_Scheduling(w):
    return Scheduling(
        pool=w.pool,
        batchable=w.batchable,
        max_batch=w.max_batch,
    )


def read_EvaluatorManifest(w):
    return EvaluatorManifest(
        name=w.name,
        version=w.version,
        description=w.description,
        pack=w.pack,
        scope=_Scope.get(w.scope, Scope.UNSPECIFIED),
        modalities=list(w.modalities),
        requires=read_Requirements(w.requires) if w.HasField("requires") else None,
        outputs=[read_MetricSpec(x) for x in w.outputs],
        params_schema=read_object(w.params_schema),
        scheduling=read_Scheduling(w.scheduling) if w.HasField("scheduling") else None,
        tier=w.tier,
        runtime=w.runtime,
        entry_point=w.entry_point,
        example=read_EvaluatorExample(w.example) if w.HasField("example") else None,
        distribution=w.distribution,
        deprecated=w.deprecated,
    )


def read_EvaluatorExample(w):
    return EvaluatorExample(
        record=read_Record(w.record) if w.HasField("record") else None,
        params=read_object(w.params),
        scores=[read_Score(x) for x in w.scores],
    )


def read_PluginDescribeRequest(w):
    return PluginDescribeRequest()


def read_PluginDescribeResponse(w):
    return PluginDescribeResponse(
        evaluators=[read_EvaluatorManifest(x) for x in w.evaluators],
    )


def read_PluginEvaluateRequest(w):
    return PluginEvaluateRequest(
        batch_id=w.batch_id,
        evaluator=w.evaluator,
        params=read_object(w.params),
        records=[read_Record(x) for x in w.records],
        judge=w.judge,
    )


def read_PluginEvaluateResponse(w):
    return PluginEvaluateResponse(
        batch_id=w.batch_id,
        results=[read_EvaluationResult(x) for x in w.results],
    )


def read_AgentTarget(w):
    return AgentTarget(
        a2a=read_A2AAgent(w.a2a) if w.HasField("a2a") else None,
        mcp=read_MCPAgent(w.mcp) if w.HasField("mcp") else None,
        responses=read_ResponsesAgent(w.responses) if w.HasField("responses") else None,
        http=read_HTTPAgent(w.http) if w.HasField("http") else None,
        cli=read_CLIAgent(w.cli) if w.HasField("cli") else None,
    )


def read_A2AAgent(w):
    return A2AAgent(
        url=w.url,
        headers_env=dict(w.headers_env),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        stream=w.stream,
        binding=w.binding,
    )


def read_MCPAgent(w):
    return MCPAgent(
        url=w.url,
        tool=w.tool,
        argument=w.argument,
        headers_env=dict(w.headers_env),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
    )


def read_ResponsesAgent(w):
    return ResponsesAgent(
        base_url=w.base_url,
        model=w.model,
        api_key_env=w.api_key_env,
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
    )


def read_HTTPAgent(w):
    return HTTPAgent(
        url=w.url,
        method=w.method,
        headers_env=dict(w.headers_env),
        body_template=w.body_template,
        output_path=w.output_path,
        messages_path=w.messages_path,
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        usage_path=w.usage_path,
        trajectory_path=w.trajectory_path,
        stream=w.stream,
        delta_path=w.delta_path,
        stop_reason_path=w.stop_reason_path,
        headers=dict(w.headers),
    )


def read_CLIAgent(w):
    return CLIAgent(
        command=list(w.command),
        install=list(w.install),
        env_from=dict(w.env_from),
        allow_hosts=list(w.allow_hosts),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        output_format=w.output_format,
    )


def read_Harness(w):
    return Harness(
        builtin=read_BuiltinHarness(w.builtin) if w.HasField("builtin") else None,
        external=read_ExternalHarness(w.external) if w.HasField("external") else None,
    )


def read_AgentBudget(w):
    return AgentBudget(
        usd=w.usd,
        wall_clock=read_duration(w.wall_clock) if w.HasField("wall_clock") else None,
        tokens=w.tokens,
    )


def read_Pricing(w):
    return Pricing(
        input_per_mtok=w.input_per_mtok,
        output_per_mtok=w.output_per_mtok,
        free=w.free,
    )


def read_MCPServer(w):
    return MCPServer(
        name=w.name,
        url=w.url,
        command=list(w.command),
        headers_env=dict(w.headers_env),
        tools=list(w.tools),
        timeout_s=w.timeout_s,
        tool_timeout_s=dict(w.tool_timeout_s),
        resources=w.resources,
        prompts=w.prompts,
        elicitation=w.elicitation,
        oauth=read_MCPOAuth(w.oauth) if w.HasField("oauth") else None,
    )


def read_MCPOAuth(w):
    return MCPOAuth(
        token_url=w.token_url,
        client_id_env=w.client_id_env,
        client_secret_env=w.client_secret_env,
        scope=w.scope,
    )


def read_MockTool(w):
    return MockTool(
        name=w.name,
        description=w.description,
        input_schema=read_object(w.input_schema),
        response=w.response,
        responses=dict(w.responses),
    )


def read_ToolFault(w):
    return ToolFault(
        tool=w.tool,
        kind=w.kind,
        rate=w.rate,
        payload=w.payload,
    )


def read_Tools(w):
    return Tools(
        sandbox=w.sandbox if w.HasField("sandbox") else None,
        mcp=[read_MCPServer(x) for x in w.mcp],
        mocks=[read_MockTool(x) for x in w.mocks],
        faults=[read_ToolFault(x) for x in w.faults],
        builtin=list(w.builtin),
    )


def read_UserSimulator(w):
    return UserSimulator(
        judge=w.judge,
        persona=w.persona,
        goal=w.goal,
        max_turns=w.max_turns,
    )


def read_Recording(w):
    return Recording(
        mode=w.mode,
        dir=w.dir,
        branch_at_step=w.branch_at_step,
        fork_as=w.fork_as,
    )


def read_EscalationPolicy(w):
    return EscalationPolicy(
        allow=list(w.allow),
    )


def read_BuiltinHarness(w):
    return BuiltinHarness(
        max_steps=w.max_steps,
        budget=read_AgentBudget(w.budget) if w.HasField("budget") else None,
        pricing=read_Pricing(w.pricing) if w.HasField("pricing") else None,
        tools=read_Tools(w.tools) if w.HasField("tools") else None,
        user_simulator=read_UserSimulator(w.user_simulator) if w.HasField("user_simulator") else None,
        recording=read_Recording(w.recording) if w.HasField("recording") else None,
        escalation=read_EscalationPolicy(w.escalation) if w.HasField("escalation") else None,
        parallel_tool_calls=w.parallel_tool_calls if w.HasField("parallel_tool_calls") else None,
        instructions=w.instructions,
        context=read_ContextManagement(w.context) if w.HasField("context") else None,
        hooks=[read_Hook(x) for x in w.hooks],
        delegate_steps=w.delegate_steps,
        profile=w.profile,
        interjections=[read_Interjection(x) for x in w.interjections],
    )


def read_Interjection(w):
    return Interjection(
        at_step=w.at_step,
        message=w.message,
    )


def read_Hook(w):
    return Hook(
        python=w.python,
        config=read_object(w.config),
    )


def read_ContextManagement(w):
    return ContextManagement(
        strategy=w.strategy,
        window_tokens=w.window_tokens,
        trigger=w.trigger,
        target=w.target,
        keep_recent=w.keep_recent,
        keep_turns=w.keep_turns,
        summary_max_tokens=w.summary_max_tokens,
        spill_outputs=w.spill_outputs,
        rounds=w.rounds,
        round_steps=w.round_steps,
    )


def read_ExternalHarness(w):
    return ExternalHarness(
        address=w.address if w.HasField("address") else None,
        command=read_CommandHarness(w.command) if w.HasField("command") else None,
        python=w.python if w.HasField("python") else None,
        config=read_object(w.config),
    )


def read_CommandHarness(w):
    return CommandHarness(
        argv=list(w.argv),
    )


def read_SandboxPolicy(w):
    return SandboxPolicy(
        min_isolation=w.min_isolation,
        network=w.network,
        allow_hosts=list(w.allow_hosts),
        memory_mb=w.memory_mb,
        max_procs=w.max_procs,
        workdir=w.workdir,
        read_only_root=w.read_only_root,
    )


def read_Checker(w):
    return Checker(
        command=list(w.command),
        files=dict(w.files),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        parser=w.parser,
        protect=list(w.protect),
        on_change=w.on_change,
        isolation=w.isolation,
        outputs=list(w.outputs),
    )


def read_Environment(w):
    return Environment(
        image=w.image,
        files=dict(w.files),
        setup=list(w.setup),
        setup_timeout=read_duration(w.setup_timeout) if w.HasField("setup_timeout") else None,
        setup_network=w.setup_network,
        setup_allow_hosts=list(w.setup_allow_hosts),
        sandbox=read_SandboxPolicy(w.sandbox) if w.HasField("sandbox") else None,
        checker=read_Checker(w.checker) if w.HasField("checker") else None,
        env=dict(w.env),
        command_timeout=read_duration(w.command_timeout) if w.HasField("command_timeout") else None,
        services=[read_EnvironmentService(x) for x in w.services],
        service_lifetime=read_duration(w.service_lifetime) if w.HasField("service_lifetime") else None,
    )


def read_EnvironmentService(w):
    return EnvironmentService(
        name=w.name,
        image=w.image,
        command=list(w.command),
        env=dict(w.env),
        port=w.port,
        depends_on=list(w.depends_on),
        memory_mb=w.memory_mb,
        cpu_millis=w.cpu_millis,
    )


def read_SandboxProbeRequest(w):
    return SandboxProbeRequest()


def read_SandboxRungStatus(w):
    return SandboxRungStatus(
        driver=w.driver,
        level=_IsolationLevel.get(w.level, IsolationLevel.UNSPECIFIED),
        available=w.available,
        reason=w.reason,
        warning=w.warning,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
        limits=list(w.limits),
        remedy=w.remedy,
    )


def read_SandboxProbeResponse(w):
    return SandboxProbeResponse(
        rungs=[read_SandboxRungStatus(x) for x in w.rungs],
        services_supported=w.services_supported,
    )


def read_SandboxNetworkPolicy(w):
    return SandboxNetworkPolicy(
        mode=_SandboxNetworkMode.get(w.mode, SandboxNetworkMode.UNSPECIFIED),
        allow=list(w.allow),
    )


def read_SandboxResources(w):
    return SandboxResources(
        memory_mb=w.memory_mb,
        max_procs=w.max_procs,
        max_file_mb=w.max_file_mb,
        cpu_seconds=w.cpu_seconds,
        disk_mb=w.disk_mb,
        max_files=w.max_files,
        wall=read_duration(w.wall) if w.HasField("wall") else None,
        output_bytes=w.output_bytes,
    )


def read_SandboxSpec(w):
    return SandboxSpec(
        image=w.image,
        min_isolation=w.min_isolation,
        mode=w.mode,
        network=read_SandboxNetworkPolicy(w.network) if w.HasField("network") else None,
        resources=read_SandboxResources(w.resources) if w.HasField("resources") else None,
        env=dict(w.env),
        files=dict(w.files),
        workdir=w.workdir,
        idle_timeout=read_duration(w.idle_timeout) if w.HasField("idle_timeout") else None,
        read_only_root=w.read_only_root,
        services=[read_EnvironmentService(x) for x in w.services],
        service_lifetime=read_duration(w.service_lifetime) if w.HasField("service_lifetime") else None,
    )


def read_SandboxCreateRequest(w):
    return SandboxCreateRequest(
        spec=read_SandboxSpec(w.spec) if w.HasField("spec") else None,
    )


def read_SandboxCreateResponse(w):
    return SandboxCreateResponse(
        sandbox_id=w.sandbox_id,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
        image_digest=w.image_digest,
        idle_timeout=read_duration(w.idle_timeout) if w.HasField("idle_timeout") else None,
    )


def read_SandboxExecRequest(w):
    return SandboxExecRequest(
        sandbox_id=w.sandbox_id,
        command=list(w.command),
        stdin=w.stdin,
        env=dict(w.env),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        output_limit_bytes=w.output_limit_bytes,
        cwd=w.cwd,
        policy=_SandboxAccessPolicy.get(w.policy, SandboxAccessPolicy.UNSPECIFIED),
    )


def read_SandboxExecResult(w):
    return SandboxExecResult(
        outcome=_SandboxOutcome.get(w.outcome, SandboxOutcome.UNSPECIFIED),
        exit_code=w.exit_code,
        duration=read_duration(w.duration) if w.HasField("duration") else None,
        truncated=w.truncated,
        denials=list(w.denials),
        error=w.error,
        cpu_time=read_duration(w.cpu_time) if w.HasField("cpu_time") else None,
        has_exit_code=w.has_exit_code,
        egress=[read_SandboxEgressEvent(x) for x in w.egress],
    )


def read_SandboxExecResponse(w):
    return SandboxExecResponse(
        stdout=w.stdout if w.HasField("stdout") else None,
        stderr=w.stderr if w.HasField("stderr") else None,
        result=read_SandboxExecResult(w.result) if w.HasField("result") else None,
    )


def read_SandboxFile(w):
    return SandboxFile(
        path=w.path,
        content=w.content,
        mode=w.mode,
    )


def read_SandboxWriteFilesRequest(w):
    return SandboxWriteFilesRequest(
        sandbox_id=w.sandbox_id,
        files=[read_SandboxFile(x) for x in w.files],
    )


def read_SandboxWriteFilesResponse(w):
    return SandboxWriteFilesResponse()


def read_SandboxReadFilesRequest(w):
    return SandboxReadFilesRequest(
        sandbox_id=w.sandbox_id,
        paths=list(w.paths),
        max_bytes=w.max_bytes,
    )


def read_SandboxReadFilesResponse(w):
    return SandboxReadFilesResponse(
        files=[read_SandboxFile(x) for x in w.files],
        missing=list(w.missing),
        truncated=w.truncated,
    )


def read_SandboxSnapshotRequest(w):
    return SandboxSnapshotRequest(
        sandbox_id=w.sandbox_id,
    )


def read_SandboxSnapshotResponse(w):
    return SandboxSnapshotResponse(
        snapshot_id=w.snapshot_id,
    )


def read_SandboxRestoreRequest(w):
    return SandboxRestoreRequest(
        snapshot_id=w.snapshot_id,
        network=read_SandboxNetworkPolicy(w.network) if w.HasField("network") else None,
    )


def read_SandboxRestoreResponse(w):
    return SandboxRestoreResponse(
        sandbox_id=w.sandbox_id,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
        image_digest=w.image_digest,
        idle_timeout=read_duration(w.idle_timeout) if w.HasField("idle_timeout") else None,
    )


def read_SandboxStatsRequest(w):
    return SandboxStatsRequest(
        sandbox_id=w.sandbox_id,
        include_service_logs=w.include_service_logs,
    )


def read_SandboxEgressEvent(w):
    return SandboxEgressEvent(
        time=read_timestamp(w.time) if w.HasField("time") else None,
        host=w.host,
        port=w.port,
        allowed=w.allowed,
        bytes_sent=w.bytes_sent,
        bytes_received=w.bytes_received,
        address=w.address,
        reason=w.reason,
    )


def read_SandboxStatsResponse(w):
    return SandboxStatsResponse(
        execs=w.execs,
        cpu_time=read_duration(w.cpu_time) if w.HasField("cpu_time") else None,
        max_rss_bytes=w.max_rss_bytes,
        egress=[read_SandboxEgressEvent(x) for x in w.egress],
        services=[read_SandboxServiceStatus(x) for x in w.services],
    )


def read_SandboxServiceStatus(w):
    return SandboxServiceStatus(
        name=w.name,
        ready=w.ready,
        restarts=w.restarts,
        reason=w.reason,
        logs=w.logs,
    )


def read_SandboxDestroyRequest(w):
    return SandboxDestroyRequest(
        sandbox_id=w.sandbox_id,
    )


def read_SandboxDestroyResponse(w):
    return SandboxDestroyResponse()


def read_SandboxDeleteSnapshotRequest(w):
    return SandboxDeleteSnapshotRequest(
        snapshot_id=w.snapshot_id,
    )


def read_SandboxDeleteSnapshotResponse(w):
    return SandboxDeleteSnapshotResponse()


def read_SandboxRenewRequest(w):
    return SandboxRenewRequest(
        sandbox_id=w.sandbox_id,
    )


def read_SandboxRenewResponse(w):
    return SandboxRenewResponse(
        idle_timeout=read_duration(w.idle_timeout) if w.HasField("idle_timeout") else None,
    )


def read_SandboxRunPythonRequest(w):
    return SandboxRunPythonRequest(
        source=w.source,
        stdins=list(w.stdins),
        files=[read_SandboxFile(x) for x in w.files],
        resources=read_SandboxResources(w.resources) if w.HasField("resources") else None,
        min_isolation=w.min_isolation,
    )


def read_SandboxPythonRun(w):
    return SandboxPythonRun(
        result=read_SandboxExecResult(w.result) if w.HasField("result") else None,
        stdout=w.stdout,
        stderr=w.stderr,
    )


def read_SandboxRunPythonResponse(w):
    return SandboxRunPythonResponse(
        runs=[read_SandboxPythonRun(x) for x in w.runs],
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
    )


def read_Principal(w):
    return Principal(
        kind=w.kind,
        provider=w.provider,
        subject=w.subject,
        name=w.name,
        email=w.email,
        groups=list(w.groups),
        method=w.method,
        id=w.id,
        labels=dict(w.labels),
    )


def read_ProjectAccess(w):
    return ProjectAccess(
        project=w.project,
        roles=list(w.roles),
        permissions=list(w.permissions),
    )


def read_WhoAmIRequest(w):
    return WhoAmIRequest()


def read_WhoAmIResponse(w):
    return WhoAmIResponse(
        principal=read_Principal(w.principal) if w.HasField("principal") else None,
        owner=w.owner,
        access=[read_ProjectAccess(x) for x in w.access],
        auth_enabled=w.auth_enabled,
    )


def read_Project(w):
    return Project(
        name=w.name,
        description=w.description,
        source=w.source,
        created_at=read_timestamp(w.created_at) if w.HasField("created_at") else None,
        created_by=w.created_by,
    )


def read_ListProjectsRequest(w):
    return ListProjectsRequest()


def read_ListProjectsResponse(w):
    return ListProjectsResponse(
        projects=[read_Project(x) for x in w.projects],
    )


def read_CreateProjectRequest(w):
    return CreateProjectRequest(
        name=w.name,
        description=w.description,
    )


def read_CreateProjectResponse(w):
    return CreateProjectResponse(
        project=read_Project(w.project) if w.HasField("project") else None,
    )


def read_RoleList(w):
    return RoleList(
        roles=list(w.roles),
    )


def read_APIKey(w):
    return APIKey(
        name=w.name,
        roles={k: read_RoleList(x) for k, x in w.roles.items()},
        labels=dict(w.labels),
        created_at=read_timestamp(w.created_at) if w.HasField("created_at") else None,
        expires_at=read_timestamp(w.expires_at) if w.HasField("expires_at") else None,
        last_used_at=read_timestamp(w.last_used_at) if w.HasField("last_used_at") else None,
        created_by=w.created_by,
        source=w.source,
        prefix=w.prefix,
        revoked=w.revoked,
    )


def read_CreateAPIKeyRequest(w):
    return CreateAPIKeyRequest(
        name=w.name,
        roles={k: read_RoleList(x) for k, x in w.roles.items()},
        labels=dict(w.labels),
        ttl=read_duration(w.ttl) if w.HasField("ttl") else None,
    )


def read_CreateAPIKeyResponse(w):
    return CreateAPIKeyResponse(
        key=read_APIKey(w.key) if w.HasField("key") else None,
        secret=w.secret,
    )


def read_ListAPIKeysRequest(w):
    return ListAPIKeysRequest(
        project=w.project,
    )


def read_ListAPIKeysResponse(w):
    return ListAPIKeysResponse(
        keys=[read_APIKey(x) for x in w.keys],
    )


def read_RevokeAPIKeyRequest(w):
    return RevokeAPIKeyRequest(
        name=w.name,
    )


def read_RevokeAPIKeyResponse(w):
    return RevokeAPIKeyResponse()


def read_Role(w):
    return Role(
        name=w.name,
        project=w.project,
        description=w.description,
        permissions=list(w.permissions),
        inherits=list(w.inherits),
        condition=w.condition,
        source=w.source,
    )


def read_ListRolesRequest(w):
    return ListRolesRequest(
        project=w.project,
    )


def read_ListRolesResponse(w):
    return ListRolesResponse(
        roles=[read_Role(x) for x in w.roles],
    )


def read_CreateRoleRequest(w):
    return CreateRoleRequest(
        role=read_Role(w.role) if w.HasField("role") else None,
    )


def read_CreateRoleResponse(w):
    return CreateRoleResponse(
        role=read_Role(w.role) if w.HasField("role") else None,
    )


def read_UpdateRoleRequest(w):
    return UpdateRoleRequest(
        role=read_Role(w.role) if w.HasField("role") else None,
    )


def read_UpdateRoleResponse(w):
    return UpdateRoleResponse(
        role=read_Role(w.role) if w.HasField("role") else None,
    )


def read_DeleteRoleRequest(w):
    return DeleteRoleRequest(
        name=w.name,
        project=w.project,
    )


def read_DeleteRoleResponse(w):
    return DeleteRoleResponse()


def read_Permission(w):
    return Permission(
        name=w.name,
        description=w.description,
        install_wide=w.install_wide,
    )


def read_ListPermissionsRequest(w):
    return ListPermissionsRequest()


def read_ListPermissionsResponse(w):
    return ListPermissionsResponse(
        permissions=[read_Permission(x) for x in w.permissions],
    )


def read_RoleBinding(w):
    return RoleBinding(
        project=w.project,
        role=w.role,
        subject=w.subject,
        source=w.source,
        created_at=read_timestamp(w.created_at) if w.HasField("created_at") else None,
        created_by=w.created_by,
    )


def read_ListBindingsRequest(w):
    return ListBindingsRequest(
        project=w.project,
    )


def read_ListBindingsResponse(w):
    return ListBindingsResponse(
        bindings=[read_RoleBinding(x) for x in w.bindings],
    )


def read_CreateBindingRequest(w):
    return CreateBindingRequest(
        binding=read_RoleBinding(w.binding) if w.HasField("binding") else None,
    )


def read_CreateBindingResponse(w):
    return CreateBindingResponse(
        binding=read_RoleBinding(w.binding) if w.HasField("binding") else None,
    )


def read_DeleteBindingRequest(w):
    return DeleteBindingRequest(
        binding=read_RoleBinding(w.binding) if w.HasField("binding") else None,
    )


def read_DeleteBindingResponse(w):
    return DeleteBindingResponse()


def read_AuditEvent(w):
    return AuditEvent(
        id=w.id,
        time=read_timestamp(w.time) if w.HasField("time") else None,
        principal=w.principal,
        action=w.action,
        project=w.project,
        resource=w.resource,
        allowed=w.allowed,
        reason=w.reason,
        procedure=w.procedure,
        request_id=w.request_id,
        source=w.source,
        detail=w.detail,
        auth_method=w.auth_method,
        issuer=w.issuer,
        token_id=w.token_id,
        key_id=w.key_id,
        api_key=w.api_key,
        cert_fingerprint=w.cert_fingerprint,
        groups=list(w.groups),
        subject=w.subject,
        actor=w.actor,
        sequence=w.sequence,
        prev_hash=w.prev_hash,
        hash=w.hash,
    )


def read_VerifyAuditLogRequest(w):
    return VerifyAuditLogRequest()


def read_VerifyAuditLogResponse(w):
    return VerifyAuditLogResponse(
        ok=w.ok,
        checked=w.checked,
        first_sequence=w.first_sequence,
        last_sequence=w.last_sequence,
        last_hash=w.last_hash,
        break_sequence=w.break_sequence,
        problem=w.problem,
        unchained=w.unchained,
    )


def read_ListAuditEventsRequest(w):
    return ListAuditEventsRequest(
        project=w.project,
        page_size=w.page_size,
        page_token=w.page_token,
        action=w.action,
        denied_only=w.denied_only,
    )


def read_ListAuditEventsResponse(w):
    return ListAuditEventsResponse(
        events=[read_AuditEvent(x) for x in w.events],
        next_page_token=w.next_page_token,
    )


def read_ListEvaluatorsRequest(w):
    return ListEvaluatorsRequest()


def read_ListEvaluatorsResponse(w):
    return ListEvaluatorsResponse(
        evaluators=[read_EvaluatorManifest(x) for x in w.evaluators],
        judges=list(w.judges),
        default_judge=w.default_judge,
    )


def read_ListCredentialsRequest(w):
    return ListCredentialsRequest(
        project=w.project,
    )


def read_ListCredentialsResponse(w):
    return ListCredentialsResponse(
        enforced=w.enforced,
        grants=[read_CredentialGrant(x) for x in w.grants],
        judges=list(w.judges),
    )


def read_CredentialGrant(w):
    return CredentialGrant(
        env=w.env,
        hosts=list(w.hosts),
        allow_http=w.allow_http,
        all_projects=w.all_projects,
    )


def read_EvaluateRequest(w):
    return EvaluateRequest(
        project=w.project,
        records=[read_Record(x) for x in w.records],
        evaluators=[read_EvaluatorRef(x) for x in w.evaluators],
        judge=w.judge,
        summary=read_SummaryOptions(w.summary) if w.HasField("summary") else None,
    )


def read_EvaluateResponse(w):
    return EvaluateResponse(
        results=[read_EvaluationResult(x) for x in w.results],
        summaries=[read_MetricSummary(x) for x in w.summaries],
    )


def read_SummaryOptions(w):
    return SummaryOptions(
        confidence_level=w.confidence_level,
        cluster_by=w.cluster_by,
        ci_method=_CiMethod.get(w.ci_method, CiMethod.UNSPECIFIED),
        exclude_flagged_trials=w.exclude_flagged_trials,
        resamples=w.resamples,
        seed=w.seed,
    )


def read_EvaluateStreamConfig(w):
    return EvaluateStreamConfig(
        project=w.project,
        evaluators=[read_EvaluatorRef(x) for x in w.evaluators],
        judge=w.judge,
        summary=read_SummaryOptions(w.summary) if w.HasField("summary") else None,
    )


def read_EvaluateStreamRequest(w):
    return EvaluateStreamRequest(
        config=read_EvaluateStreamConfig(w.config) if w.HasField("config") else None,
        record=read_Record(w.record) if w.HasField("record") else None,
    )


def read_MetricSummaries(w):
    return MetricSummaries(
        summaries=[read_MetricSummary(x) for x in w.summaries],
    )


def read_EvaluateStreamResponse(w):
    return EvaluateStreamResponse(
        result=read_EvaluationResult(w.result) if w.HasField("result") else None,
        summaries=read_MetricSummaries(w.summaries) if w.HasField("summaries") else None,
    )


def read_EvalRun(w):
    return EvalRun(
        api_version=w.api_version,
        kind=w.kind,
        metadata=read_RunMetadata(w.metadata) if w.HasField("metadata") else None,
        spec=read_RunSpec(w.spec) if w.HasField("spec") else None,
    )


def read_RunMetadata(w):
    return RunMetadata(
        name=w.name,
        project=w.project,
        labels=dict(w.labels),
        description=w.description,
    )


def read_RunSpec(w):
    return RunSpec(
        target=read_Target(w.target) if w.HasField("target") else None,
        dataset=read_DatasetSource(w.dataset) if w.HasField("dataset") else None,
        evaluators=[read_EvaluatorRef(x) for x in w.evaluators],
        judge=w.judge,
        trials=w.trials,
        summary=read_SummaryOptions(w.summary) if w.HasField("summary") else None,
        gates=[read_Gate(x) for x in w.gates],
        budget=read_Budget(w.budget) if w.HasField("budget") else None,
        harness=read_Harness(w.harness) if w.HasField("harness") else None,
        environment=read_Environment(w.environment) if w.HasField("environment") else None,
        judges={k: read_JudgeSpec(x) for k, x in w.judges.items()},
        on_inconclusive=_OnInconclusive.get(w.on_inconclusive, OnInconclusive.UNSPECIFIED),
        sinks=[read_Sink(x) for x in w.sinks],
        baseline=w.baseline,
        slices=list(w.slices),
    )


def read_Target(w):
    return Target(
        connector=w.connector,
        model=w.model,
        base_url=w.base_url,
        api_key_env=w.api_key_env,
        system_prompt=w.system_prompt,
        max_tokens=w.max_tokens,
        temperature=w.temperature if w.HasField("temperature") else None,
        effort=w.effort,
        agent=read_AgentTarget(w.agent) if w.HasField("agent") else None,
        thinking=read_Thinking(w.thinking) if w.HasField("thinking") else None,
        stream=w.stream,
        max_concurrency=w.max_concurrency,
        api=w.api,
        fallbacks=[read_Target(x) for x in w.fallbacks],
        fallback_after=w.fallback_after,
        name=w.name,
        python=w.python,
        config=read_object(w.config),
        command=read_CommandTarget(w.command) if w.HasField("command") else None,
        prompt=w.prompt,
        messages=[read_Message(x) for x in w.messages],
        few_shot=[read_FewShotExample(x) for x in w.few_shot],
        tools=[read_ToolDefinition(x) for x in w.tools],
        tool_choice=w.tool_choice,
        json_mode=w.json_mode,
        response_schema=read_object(w.response_schema),
        logprobs=w.logprobs,
        top_logprobs=w.top_logprobs,
        seed=w.seed if w.HasField("seed") else None,
        top_p=w.top_p if w.HasField("top_p") else None,
        stop=list(w.stop),
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        total_timeout=read_duration(w.total_timeout) if w.HasField("total_timeout") else None,
        max_retries=w.max_retries if w.HasField("max_retries") else None,
        requests_per_minute=w.requests_per_minute,
        tokens_per_minute=w.tokens_per_minute,
        headers_env=dict(w.headers_env),
        extra_body=read_object(w.extra_body),
        pricing=read_Pricing(w.pricing) if w.HasField("pricing") else None,
        recording=w.recording,
    )


def read_CommandTarget(w):
    return CommandTarget(
        argv=list(w.argv),
        stdin=w.stdin,
        stdout=w.stdout,
        output_path=w.output_path,
        usage_path=w.usage_path,
        workdir=w.workdir,
        env_from=dict(w.env_from),
    )


def read_FewShotExample(w):
    return FewShotExample(
        input=w.input,
        output=w.output,
    )


def read_ToolDefinition(w):
    return ToolDefinition(
        name=w.name,
        description=w.description,
        parameters=read_object(w.parameters),
        strict=w.strict,
    )


def read_JudgeSpec(w):
    return JudgeSpec(
        provider=w.provider,
        model=w.model,
        base_url=w.base_url,
        api_key_env=w.api_key_env,
        effort=w.effort,
        max_tokens=w.max_tokens,
        temperature=w.temperature if w.HasField("temperature") else None,
        top_p=w.top_p if w.HasField("top_p") else None,
        seed=w.seed if w.HasField("seed") else None,
        response_format=w.response_format,
        requests_per_minute=w.requests_per_minute,
        tokens_per_minute=w.tokens_per_minute,
        max_concurrency=w.max_concurrency,
        timeout=read_duration(w.timeout) if w.HasField("timeout") else None,
        max_retries=w.max_retries if w.HasField("max_retries") else None,
        max_usd=w.max_usd if w.HasField("max_usd") else None,
        max_total_tokens=w.max_total_tokens,
        recording=w.recording,
    )


def read_Sink(w):
    return Sink(
        json=w.json if w.HasField("json") else None,
        html=w.html if w.HasField("html") else None,
        markdown=w.markdown if w.HasField("markdown") else None,
        junit=w.junit if w.HasField("junit") else None,
        csv=w.csv if w.HasField("csv") else None,
        name=w.name if w.HasField("name") else None,
    )


def read_Thinking(w):
    return Thinking(
        mode=w.mode,
        budget_tokens=w.budget_tokens,
    )


def read_DatasetSource(w):
    return DatasetSource(
        inline=read_InlineRecords(w.inline) if w.HasField("inline") else None,
        path=w.path if w.HasField("path") else None,
        uri=w.uri if w.HasField("uri") else None,
        traces=read_TraceQuery(w.traces) if w.HasField("traces") else None,
        run=read_RunOutputs(w.run) if w.HasField("run") else None,
        catalog=read_DatasetVersionRef(w.catalog) if w.HasField("catalog") else None,
        mapping=dict(w.mapping),
        limit=w.limit,
        where=w.where,
        sample=w.sample,
        seed=w.seed,
        skip_invalid=w.skip_invalid,
        format=w.format,
    )


def read_DatasetVersionRef(w):
    return DatasetVersionRef(
        project=w.project,
        name=w.name,
        version=w.version,
        sha256=w.sha256,
    )


def read_TraceQuery(w):
    return TraceQuery(
        service=w.service,
        policy=w.policy,
        filter=w.filter,
        lookback=read_duration(w.lookback) if w.HasField("lookback") else None,
    )


def read_RunOutputs(w):
    return RunOutputs(
        run_id=w.run_id,
        trial=w.trial,
        all_trials=w.all_trials,
    )


def read_InlineRecords(w):
    return InlineRecords(
        records=[read_Record(x) for x in w.records],
    )


def read_Gate(w):
    return Gate(
        metric=w.metric,
        stat=_GateStat.get(w.stat, GateStat.UNSPECIFIED),
        min=w.min if w.HasField("min") else None,
        max=w.max if w.HasField("max") else None,
        cel=w.cel,
        slice=dict(w.slice),
        k=w.k,
        baseline=w.baseline,
        max_drop=w.max_drop if w.HasField("max_drop") else None,
        significance=w.significance,
        name=w.name,
    )


def read_GateResult(w):
    return GateResult(
        gate=read_Gate(w.gate) if w.HasField("gate") else None,
        passed=w.passed,
        value=w.value if w.HasField("value") else None,
        reason=w.reason,
        verdict=_GateVerdict.get(w.verdict, GateVerdict.UNSPECIFIED),
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
        n=w.n,
        baseline_value=w.baseline_value if w.HasField("baseline_value") else None,
    )


def read_Budget(w):
    return Budget(
        max_target_tokens=w.max_target_tokens,
        max_judge_tokens=w.max_judge_tokens,
        max_usd=w.max_usd if w.HasField("max_usd") else None,
        max_wall_clock=read_duration(w.max_wall_clock) if w.HasField("max_wall_clock") else None,
    )


def read_Progress(w):
    return Progress(
        total=w.total,
        done=w.done,
    )


def read_Run(w):
    return Run(
        id=w.id,
        name=w.name,
        project=w.project,
        spec=read_RunSpec(w.spec) if w.HasField("spec") else None,
        status=_RunStatus.get(w.status, RunStatus.UNSPECIFIED),
        created_at=read_timestamp(w.created_at) if w.HasField("created_at") else None,
        started_at=read_timestamp(w.started_at) if w.HasField("started_at") else None,
        finished_at=read_timestamp(w.finished_at) if w.HasField("finished_at") else None,
        error=w.error,
        progress=read_Progress(w.progress) if w.HasField("progress") else None,
        summaries=[read_MetricSummary(x) for x in w.summaries],
        gates=[read_GateResult(x) for x in w.gates],
        target_usage=read_Usage(w.target_usage) if w.HasField("target_usage") else None,
        judge_usage=read_Usage(w.judge_usage) if w.HasField("judge_usage") else None,
        dataset_sha256=w.dataset_sha256,
        records=w.records,
        labels=dict(w.labels),
        created_by=w.created_by,
        archived_at=read_timestamp(w.archived_at) if w.HasField("archived_at") else None,
        imported=w.imported,
        evaluation_contract=read_RunEvaluationContract(w.evaluation_contract) if w.HasField("evaluation_contract") else None,
        manifest=read_RunManifest(w.manifest) if w.HasField("manifest") else None,
    )


def read_BoundRunEvaluator(w):
    return BoundRunEvaluator(
        name=w.name,
        manifest=read_EvaluatorManifest(w.manifest) if w.HasField("manifest") else None,
        params=read_object(w.params),
        judge=w.judge,
        judge_settings_sha256=w.judge_settings_sha256,
        prompt_sha256=dict(w.prompt_sha256),
        code_sha256=w.code_sha256,
    )


def read_RunEvaluationContract(w):
    return RunEvaluationContract(
        evaluators=[read_BoundRunEvaluator(x) for x in w.evaluators],
        settings_sha256=w.settings_sha256,
        server_version=w.server_version,
    )


def read_RunManifest(w):
    return RunManifest(
        run_id=w.run_id,
        name=w.name,
        project=w.project,
        evalsi_version=w.evalsi_version,
        python_version=w.python_version,
        platform=w.platform,
        packages=dict(w.packages),
        argv=list(w.argv),
        git=read_GitState(w.git) if w.HasField("git") else None,
        started_at=read_timestamp(w.started_at) if w.HasField("started_at") else None,
        finished_at=read_timestamp(w.finished_at) if w.HasField("finished_at") else None,
        dataset=read_DatasetManifest(w.dataset) if w.HasField("dataset") else None,
        evaluators=[read_BoundRunEvaluator(x) for x in w.evaluators],
        judges=[read_JudgeManifest(x) for x in w.judges],
        summary=read_SummaryOptions(w.summary) if w.HasField("summary") else None,
        seeds=dict(w.seeds),
        price_table_version=w.price_table_version,
        unpinned=[read_Unpinned(x) for x in w.unpinned],
        settings_sha256=w.settings_sha256,
        status=_RunStatus.get(w.status, RunStatus.UNSPECIFIED),
        target_usage=read_Usage(w.target_usage) if w.HasField("target_usage") else None,
        judge_usage=read_Usage(w.judge_usage) if w.HasField("judge_usage") else None,
        trials=w.trials,
        spec=read_RunSpec(w.spec) if w.HasField("spec") else None,
        warnings=list(w.warnings),
        labels=dict(w.labels),
        gates=[read_GateResult(x) for x in w.gates],
        spec_folder=w.spec_folder,
        earlier_tries=read_duration(w.earlier_tries) if w.HasField("earlier_tries") else None,
        sandboxes=[read_IsolationReport(x) for x in w.sandboxes],
        stopped_early=w.stopped_early,
    )


def read_GitState(w):
    return GitState(
        commit=w.commit,
        branch=w.branch,
        dirty=w.dirty,
    )


def read_DatasetManifest(w):
    return DatasetManifest(
        source=w.source,
        sha256=w.sha256,
        records=w.records,
        rejected=w.rejected,
        mapping=dict(w.mapping),
        where=w.where,
        limit=w.limit,
        sample=w.sample,
        revision=w.revision,
    )


def read_JudgeManifest(w):
    return JudgeManifest(
        name=w.name,
        provider=w.provider,
        model=w.model,
        reported_models=list(w.reported_models),
        base_url=w.base_url,
        settings=read_object(w.settings),
        settings_sha256=w.settings_sha256,
        usage=read_Usage(w.usage) if w.HasField("usage") else None,
    )


def read_Unpinned(w):
    return Unpinned(
        what=w.what,
        why=w.why,
    )


def read_DatasetVersionContent(w):
    return DatasetVersionContent(
        project=w.project,
        name=w.name,
        version=w.version,
        owner=w.owner,
        split=w.split,
        tags=list(w.tags),
        description=w.description,
        labels=dict(w.labels),
        records=[read_Record(x) for x in w.records],
    )


def read_DatasetVersion(w):
    return DatasetVersion(
        content=read_DatasetVersionContent(w.content) if w.HasField("content") else None,
        sha256=w.sha256,
        records=w.records,
        state=_DatasetVersionState.get(w.state, DatasetVersionState.UNSPECIFIED),
        revision=w.revision,
        published_by=w.published_by,
        published_at=read_timestamp(w.published_at) if w.HasField("published_at") else None,
        reviewed_by=w.reviewed_by,
        reviewed_at=read_timestamp(w.reviewed_at) if w.HasField("reviewed_at") else None,
        review_note=w.review_note,
    )


def read_DatasetVersionEvent(w):
    return DatasetVersionEvent(
        revision=w.revision,
        state=_DatasetVersionState.get(w.state, DatasetVersionState.UNSPECIFIED),
        actor=w.actor,
        sha256=w.sha256,
        time=read_timestamp(w.time) if w.HasField("time") else None,
    )


def read_FailureSelection(w):
    return FailureSelection(
        id=w.id,
        revision=w.revision,
    )


def read_PublishDatasetVersionRequest(w):
    return PublishDatasetVersionRequest(
        content=read_DatasetVersionContent(w.content) if w.HasField("content") else None,
        failures=[read_FailureSelection(x) for x in w.failures],
    )


def read_PublishDatasetVersionResponse(w):
    return PublishDatasetVersionResponse(
        dataset=read_DatasetVersion(w.dataset) if w.HasField("dataset") else None,
        reference=read_DatasetVersionRef(w.reference) if w.HasField("reference") else None,
    )


def read_ListDatasetVersionsRequest(w):
    return ListDatasetVersionsRequest(
        project=w.project,
        name=w.name,
        state=_DatasetVersionState.get(w.state, DatasetVersionState.UNSPECIFIED),
        owner=w.owner,
        page_size=w.page_size,
        page_token=w.page_token,
        search=w.search,
    )


def read_ListDatasetVersionsResponse(w):
    return ListDatasetVersionsResponse(
        datasets=[read_DatasetVersion(x) for x in w.datasets],
        next_page_token=w.next_page_token,
    )


def read_GetDatasetVersionRequest(w):
    return GetDatasetVersionRequest(
        project=w.project,
        name=w.name,
        version=w.version,
        without_records=w.without_records,
    )


def read_GetDatasetVersionResponse(w):
    return GetDatasetVersionResponse(
        dataset=read_DatasetVersion(w.dataset) if w.HasField("dataset") else None,
        reference=read_DatasetVersionRef(w.reference) if w.HasField("reference") else None,
    )


def read_ReviewDatasetVersionRequest(w):
    return ReviewDatasetVersionRequest(
        project=w.project,
        name=w.name,
        version=w.version,
        sha256=w.sha256,
        expected_revision=w.expected_revision,
        decision=_DatasetVersionState.get(w.decision, DatasetVersionState.UNSPECIFIED),
        note=w.note,
    )


def read_ReviewDatasetVersionResponse(w):
    return ReviewDatasetVersionResponse(
        dataset=read_DatasetVersion(w.dataset) if w.HasField("dataset") else None,
    )


def read_ListDatasetVersionEventsRequest(w):
    return ListDatasetVersionEventsRequest(
        project=w.project,
        name=w.name,
        version=w.version,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_ListDatasetVersionEventsResponse(w):
    return ListDatasetVersionEventsResponse(
        events=[read_DatasetVersionEvent(x) for x in w.events],
        next_page_token=w.next_page_token,
    )


def read_DiffDatasetVersionsRequest(w):
    return DiffDatasetVersionsRequest(
        project=w.project,
        name=w.name,
        before_version=w.before_version,
        after_version=w.after_version,
        before_sha256=w.before_sha256,
        after_sha256=w.after_sha256,
    )


def read_DatasetRecordChange(w):
    return DatasetRecordChange(
        id=w.id,
        fields=list(w.fields),
    )


def read_DiffDatasetVersionsResponse(w):
    return DiffDatasetVersionsResponse(
        before_sha256=w.before_sha256,
        after_sha256=w.after_sha256,
        added=list(w.added),
        removed=list(w.removed),
        changed=[read_DatasetRecordChange(x) for x in w.changed],
        unchanged=w.unchanged,
        order_changed=w.order_changed,
        metadata_changed=list(w.metadata_changed),
    )


def read_DatasetUploadConfig(w):
    return DatasetUploadConfig(
        project=w.project,
        name=w.name,
        version=w.version,
        format=w.format,
        mapping=dict(w.mapping),
        description=w.description,
        labels=dict(w.labels),
        owner=w.owner,
        file_sha256=w.file_sha256,
    )


def read_UploadDatasetVersionRequest(w):
    return UploadDatasetVersionRequest(
        config=read_DatasetUploadConfig(w.config) if w.HasField("config") else None,
        chunk=w.chunk if w.HasField("chunk") else None,
    )


def read_UploadDatasetVersionResponse(w):
    return UploadDatasetVersionResponse(
        dataset=read_DatasetVersion(w.dataset) if w.HasField("dataset") else None,
        reference=read_DatasetVersionRef(w.reference) if w.HasField("reference") else None,
        existed=w.existed,
        path=w.path,
        records=w.records,
    )


def read_FetchDatasetVersionRequest(w):
    return FetchDatasetVersionRequest(
        project=w.project,
        name=w.name,
        version=w.version,
    )


def read_FetchDatasetVersionResponse(w):
    return FetchDatasetVersionResponse(
        chunk=w.chunk,
    )


def read_TraceSummary(w):
    return TraceSummary(
        trace_id=w.trace_id,
        service=w.service,
        name=w.name,
        start_time=read_timestamp(w.start_time) if w.HasField("start_time") else None,
        duration=read_duration(w.duration) if w.HasField("duration") else None,
        error=w.error,
        steps=w.steps,
        results=w.results,
        project=w.project,
        labels=dict(w.labels),
        session_id=w.session_id,
        user_id=w.user_id,
        version=w.version,
        model=w.model,
        input=w.input,
        output=w.output,
        input_tokens=w.input_tokens if w.HasField("input_tokens") else None,
        output_tokens=w.output_tokens if w.HasField("output_tokens") else None,
        cost_usd=w.cost_usd if w.HasField("cost_usd") else None,
        complete=w.complete,
        revision=w.revision,
        spans=w.spans,
        feedback=w.feedback if w.HasField("feedback") else None,
        scores=dict(w.scores),
        failed_spans=w.failed_spans,
    )


def read_TraceFilter(w):
    return TraceFilter(
        service=w.service,
        text=w.text,
        session_id=w.session_id,
        user_id=w.user_id,
        version=w.version,
        model=w.model,
        labels=list(w.labels),
        error=w.error if w.HasField("error") else None,
        complete=w.complete if w.HasField("complete") else None,
        since=read_timestamp(w.since) if w.HasField("since") else None,
        until=read_timestamp(w.until) if w.HasField("until") else None,
        min_duration=read_duration(w.min_duration) if w.HasField("min_duration") else None,
        max_duration=read_duration(w.max_duration) if w.HasField("max_duration") else None,
        min_cost_usd=w.min_cost_usd if w.HasField("min_cost_usd") else None,
        max_cost_usd=w.max_cost_usd if w.HasField("max_cost_usd") else None,
        scores=list(w.scores),
        policy=w.policy,
        negative_feedback=w.negative_feedback if w.HasField("negative_feedback") else None,
        trace_id_prefix=w.trace_id_prefix,
        failed_step=w.failed_step if w.HasField("failed_step") else None,
    )


def read_ListTracesRequest(w):
    return ListTracesRequest(
        service=w.service,
        page_size=w.page_size,
        page_token=w.page_token,
        project=w.project,
        filter=read_TraceFilter(w.filter) if w.HasField("filter") else None,
    )


def read_ListTracesResponse(w):
    return ListTracesResponse(
        traces=[read_TraceSummary(x) for x in w.traces],
        next_page_token=w.next_page_token,
    )


def read_CountTracesRequest(w):
    return CountTracesRequest(
        project=w.project,
        filter=read_TraceFilter(w.filter) if w.HasField("filter") else None,
    )


def read_TraceFacet(w):
    return TraceFacet(
        field=w.field,
        counts=dict(w.counts),
    )


def read_CountTracesResponse(w):
    return CountTracesResponse(
        total=w.total,
        facets=[read_TraceFacet(x) for x in w.facets],
        capped=w.capped,
    )


def read_WatchTracesRequest(w):
    return WatchTracesRequest(
        project=w.project,
        filter=read_TraceFilter(w.filter) if w.HasField("filter") else None,
    )


def read_WatchTracesResponse(w):
    return WatchTracesResponse(
        trace=read_TraceSummary(w.trace) if w.HasField("trace") else None,
    )


def read_GetTraceRequest(w):
    return GetTraceRequest(
        trace_id=w.trace_id,
        project=w.project,
    )


def read_PolicyResults(w):
    return PolicyResults(
        policy=w.policy,
        results=[read_EvaluationResult(x) for x in w.results],
        revision=w.revision,
        time=read_timestamp(w.time) if w.HasField("time") else None,
    )


def read_GetTraceResponse(w):
    return GetTraceResponse(
        record=read_Record(w.record) if w.HasField("record") else None,
        policies=[read_PolicyResults(x) for x in w.policies],
        summary=read_TraceSummary(w.summary) if w.HasField("summary") else None,
        feedback=[read_Feedback(x) for x in w.feedback],
        feedback_total=w.feedback_total,
        feedback_page_token=w.feedback_page_token,
    )


def read_ExportTraceRequest(w):
    return ExportTraceRequest(
        trace_id=w.trace_id,
        project=w.project,
    )


def read_ExportTraceResponse(w):
    return ExportTraceResponse(
        chunk=w.chunk,
    )


def read_GetSessionRequest(w):
    return GetSessionRequest(
        session_id=w.session_id,
        project=w.project,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_GetSessionResponse(w):
    return GetSessionResponse(
        traces=[read_TraceScores(x) for x in w.traces],
        policies=[read_PolicyResults(x) for x in w.policies],
        feedback=[read_Feedback(x) for x in w.feedback],
        next_page_token=w.next_page_token,
        feedback_total=w.feedback_total,
        feedback_page_token=w.feedback_page_token,
    )


def read_ListScoresRequest(w):
    return ListScoresRequest(
        project=w.project,
        trace_id=w.trace_id,
        service=w.service,
        labels=list(w.labels),
        policy=w.policy,
        evaluator=w.evaluator,
        since=read_timestamp(w.since) if w.HasField("since") else None,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_TraceScores(w):
    return TraceScores(
        trace=read_TraceSummary(w.trace) if w.HasField("trace") else None,
        policies=[read_PolicyResults(x) for x in w.policies],
    )


def read_ListScoresResponse(w):
    return ListScoresResponse(
        traces=[read_TraceScores(x) for x in w.traces],
        next_page_token=w.next_page_token,
    )


def read_ListFeedbackRequest(w):
    return ListFeedbackRequest(
        project=w.project,
        trace_id=w.trace_id,
        session_id=w.session_id,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_ListFeedbackResponse(w):
    return ListFeedbackResponse(
        feedback=[read_Feedback(x) for x in w.feedback],
        next_page_token=w.next_page_token,
        total=w.total,
    )


def read_DeleteTracesRequest(w):
    return DeleteTracesRequest(
        project=w.project,
        trace_ids=list(w.trace_ids),
        session_id=w.session_id,
        user_id=w.user_id,
        before=read_timestamp(w.before) if w.HasField("before") else None,
    )


def read_DeleteTracesResponse(w):
    return DeleteTracesResponse(
        deleted=w.deleted,
    )


def read_Feedback(w):
    return Feedback(
        id=w.id,
        project=w.project,
        trace_id=w.trace_id,
        span_id=w.span_id,
        session_id=w.session_id,
        key=w.key,
        name=w.name,
        number=w.number if w.HasField("number") else None,
        passed=w.passed if w.HasField("passed") else None,
        label=w.label if w.HasField("label") else None,
        comment=w.comment,
        author=w.author,
        time=read_timestamp(w.time) if w.HasField("time") else None,
    )


def read_SubmitFeedbackRequest(w):
    return SubmitFeedbackRequest(
        project=w.project,
        feedback=[read_Feedback(x) for x in w.feedback],
    )


def read_SubmitFeedbackResponse(w):
    return SubmitFeedbackResponse(
        accepted=w.accepted,
        waiting=w.waiting,
    )


def read_FailureCase(w):
    return FailureCase(
        id=w.id,
        project=w.project,
        source=read_TraceSummary(w.source) if w.HasField("source") else None,
        source_sha256=w.source_sha256,
        record=read_Record(w.record) if w.HasField("record") else None,
        title=w.title,
        reason=w.reason,
        assignee=w.assignee,
        status=_FailureStatus.get(w.status, FailureStatus.UNSPECIFIED),
        revision=w.revision,
        created_by=w.created_by,
        updated_by=w.updated_by,
        reviewed_by=w.reviewed_by,
        review_note=w.review_note,
        created_at=read_timestamp(w.created_at) if w.HasField("created_at") else None,
        updated_at=read_timestamp(w.updated_at) if w.HasField("updated_at") else None,
        reviewed_at=read_timestamp(w.reviewed_at) if w.HasField("reviewed_at") else None,
    )


def read_FailureEvent(w):
    return FailureEvent(
        revision=w.revision,
        actor=w.actor,
        action=w.action,
        status=_FailureStatus.get(w.status, FailureStatus.UNSPECIFIED),
        record_sha256=w.record_sha256,
        time=read_timestamp(w.time) if w.HasField("time") else None,
    )


def read_CaptureFailureRequest(w):
    return CaptureFailureRequest(
        project=w.project,
        trace_id=w.trace_id,
        title=w.title,
        reason=w.reason,
    )


def read_CaptureFailureResponse(w):
    return CaptureFailureResponse(
        failure=read_FailureCase(w.failure) if w.HasField("failure") else None,
        deduplicated=w.deduplicated,
    )


def read_ListFailuresRequest(w):
    return ListFailuresRequest(
        project=w.project,
        status=_FailureStatus.get(w.status, FailureStatus.UNSPECIFIED),
        assignee=w.assignee,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_ListFailuresResponse(w):
    return ListFailuresResponse(
        failures=[read_FailureCase(x) for x in w.failures],
        next_page_token=w.next_page_token,
        counts=dict(w.counts),
    )


def read_GetFailureRequest(w):
    return GetFailureRequest(
        project=w.project,
        id=w.id,
    )


def read_GetFailureResponse(w):
    return GetFailureResponse(
        failure=read_FailureCase(w.failure) if w.HasField("failure") else None,
    )


def read_UpdateFailureRequest(w):
    return UpdateFailureRequest(
        project=w.project,
        id=w.id,
        expected_revision=w.expected_revision,
        record=read_Record(w.record) if w.HasField("record") else None,
        title=w.title,
        reason=w.reason,
        assignee=w.assignee,
        status=_FailureStatus.get(w.status, FailureStatus.UNSPECIFIED),
    )


def read_UpdateFailureResponse(w):
    return UpdateFailureResponse(
        failure=read_FailureCase(w.failure) if w.HasField("failure") else None,
    )


def read_ReviewFailureRequest(w):
    return ReviewFailureRequest(
        project=w.project,
        id=w.id,
        expected_revision=w.expected_revision,
        decision=_FailureStatus.get(w.decision, FailureStatus.UNSPECIFIED),
        note=w.note,
    )


def read_ReviewFailureResponse(w):
    return ReviewFailureResponse(
        failure=read_FailureCase(w.failure) if w.HasField("failure") else None,
    )


def read_ListFailureEventsRequest(w):
    return ListFailureEventsRequest(
        project=w.project,
        id=w.id,
        page_size=w.page_size,
        page_token=w.page_token,
    )


def read_ListFailureEventsResponse(w):
    return ListFailureEventsResponse(
        events=[read_FailureEvent(x) for x in w.events],
        next_page_token=w.next_page_token,
    )


def read_ExportFailuresRequest(w):
    return ExportFailuresRequest(
        project=w.project,
        selections=[read_FailureSelection(x) for x in w.selections],
    )


def read_ExportFailuresResponse(w):
    return ExportFailuresResponse(
        records=[read_Record(x) for x in w.records],
        jsonl=w.jsonl,
    )


def read_DeleteFailureRequest(w):
    return DeleteFailureRequest(
        project=w.project,
        id=w.id,
        expected_revision=w.expected_revision,
    )


def read_DeleteFailureResponse(w):
    return DeleteFailureResponse()


def read_OnlineEvalPolicy(w):
    return OnlineEvalPolicy(
        name=w.name,
        project=w.project,
        disabled=w.disabled,
        selector=w.selector,
        sampling=read_Sampling(w.sampling) if w.HasField("sampling") else None,
        stages=[read_CascadeStage(x) for x in w.stages],
        judge=w.judge,
        window=read_duration(w.window) if w.HasField("window") else None,
        alerts=[read_Alert(x) for x in w.alerts],
        promote=read_Promotion(w.promote) if w.HasField("promote") else None,
        labels=dict(w.labels),
        scope=_PolicyScope.get(w.scope, PolicyScope.UNSPECIFIED),
        budget=read_PolicyBudget(w.budget) if w.HasField("budget") else None,
        view=read_PolicyView(w.view) if w.HasField("view") else None,
        sinks=list(w.sinks),
    )


def read_PolicyBudget(w):
    return PolicyBudget(
        usd_per_day=w.usd_per_day if w.HasField("usd_per_day") else None,
        tokens_per_day=w.tokens_per_day if w.HasField("tokens_per_day") else None,
    )


def read_PolicyView(w):
    return PolicyView(
        patterns=list(w.patterns),
        detectors=list(w.detectors),
        drop_attributes=list(w.drop_attributes),
    )


def read_Sampling(w):
    return Sampling(
        rate=w.rate if w.HasField("rate") else None,
        always=list(w.always),
    )


def read_CascadeStage(w):
    return CascadeStage(
        evaluators=[read_EvaluatorRef(x) for x in w.evaluators],
        when=w.when,
    )


def read_Alert(w):
    return Alert(
        metric=w.metric,
        below=w.below if w.HasField("below") else None,
        above=w.above if w.HasField("above") else None,
        min_samples=w.min_samples,
        webhook=w.webhook,
        secret_env=w.secret_env,
        form=w.form,
        false_alarm_rate=w.false_alarm_rate,
    )


def read_Promotion(w):
    return Promotion(
        when=w.when,
        dataset=w.dataset,
    )


def read_ApplyPolicyRequest(w):
    return ApplyPolicyRequest(
        policy=read_OnlineEvalPolicy(w.policy) if w.HasField("policy") else None,
        validate_only=w.validate_only,
    )


def read_ApplyPolicyResponse(w):
    return ApplyPolicyResponse(
        policy=read_OnlineEvalPolicy(w.policy) if w.HasField("policy") else None,
    )


def read_ListPoliciesRequest(w):
    return ListPoliciesRequest(
        project=w.project,
    )


def read_ListPoliciesResponse(w):
    return ListPoliciesResponse(
        policies=[read_OnlineEvalPolicy(x) for x in w.policies],
    )


def read_DeletePolicyRequest(w):
    return DeletePolicyRequest(
        name=w.name,
        project=w.project,
    )


def read_DeletePolicyResponse(w):
    return DeletePolicyResponse()


def read_GetPolicyStatsRequest(w):
    return GetPolicyStatsRequest(
        name=w.name,
        project=w.project,
        since=read_timestamp(w.since) if w.HasField("since") else None,
        step=read_duration(w.step) if w.HasField("step") else None,
        by=w.by,
    )


def read_MetricWindow(w):
    return MetricWindow(
        metric=w.metric,
        n=w.n,
        mean=w.mean if w.HasField("mean") else None,
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
        skipped=w.skipped,
        errors=w.errors,
        start=read_timestamp(w.start) if w.HasField("start") else None,
        end=read_timestamp(w.end) if w.HasField("end") else None,
        group=w.group,
        p05=w.p05 if w.HasField("p05") else None,
        p50=w.p50 if w.HasField("p50") else None,
        p95=w.p95 if w.HasField("p95") else None,
        skip_reasons=dict(w.skip_reasons),
    )


def read_AlertState(w):
    return AlertState(
        alert=read_Alert(w.alert) if w.HasField("alert") else None,
        firing=w.firing,
        since=read_timestamp(w.since) if w.HasField("since") else None,
        n=w.n,
        mean=w.mean if w.HasField("mean") else None,
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
    )


def read_PolicyStats(w):
    return PolicyStats(
        policy=w.policy,
        traces_seen=w.traces_seen,
        traces_matched=w.traces_matched,
        traces_sampled=w.traces_sampled,
        traces_evaluated=w.traces_evaluated,
        traces_promoted=w.traces_promoted,
        evaluation_errors=w.evaluation_errors,
        metrics=[read_MetricWindow(x) for x in w.metrics],
        alerts=[read_AlertState(x) for x in w.alerts],
        series=[read_MetricWindow(x) for x in w.series],
        traces_waiting=w.traces_waiting,
        usd_today=w.usd_today if w.HasField("usd_today") else None,
        tokens_today=w.tokens_today,
        budget_reached=w.budget_reached,
        traces_over_budget=w.traces_over_budget,
        warnings=list(w.warnings),
        drift=[read_MetricDrift(x) for x in w.drift],
        sinks=[read_SinkState(x) for x in w.sinks],
    )


def read_SinkState(w):
    return SinkState(
        sink=w.sink,
        delivered=w.delivered,
        waiting=w.waiting,
        given_up=w.given_up,
        last_delivered=read_timestamp(w.last_delivered) if w.HasField("last_delivered") else None,
        last_error=w.last_error,
        last_error_time=read_timestamp(w.last_error_time) if w.HasField("last_error_time") else None,
    )


def read_MetricDrift(w):
    return MetricDrift(
        metric=w.metric,
        psi=w.psi if w.HasField("psi") else None,
        p_value=w.p_value if w.HasField("p_value") else None,
        difference=w.difference if w.HasField("difference") else None,
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
        n_before=w.n_before,
        n_now=w.n_now,
        moved=w.moved,
    )


def read_GetPolicyStatsResponse(w):
    return GetPolicyStatsResponse(
        stats=read_PolicyStats(w.stats) if w.HasField("stats") else None,
    )


def read_TestPolicyRequest(w):
    return TestPolicyRequest(
        policy=read_OnlineEvalPolicy(w.policy) if w.HasField("policy") else None,
        lookback=read_duration(w.lookback) if w.HasField("lookback") else None,
    )


def read_TestPolicyResponse(w):
    return TestPolicyResponse(
        seen=w.seen,
        matched=w.matched,
        sampled=w.sampled,
        cost_usd=w.cost_usd if w.HasField("cost_usd") else None,
        trace_ids=list(w.trace_ids),
        warnings=list(w.warnings),
    )


def read_BackfillPolicyRequest(w):
    return BackfillPolicyRequest(
        name=w.name,
        project=w.project,
        since=read_timestamp(w.since) if w.HasField("since") else None,
        until=read_timestamp(w.until) if w.HasField("until") else None,
    )


def read_BackfillPolicyResponse(w):
    return BackfillPolicyResponse(
        queued=w.queued,
    )


def read_TrafficSlice(w):
    return TrafficSlice(
        since=read_timestamp(w.since) if w.HasField("since") else None,
        until=read_timestamp(w.until) if w.HasField("until") else None,
        version=w.version,
        labels=list(w.labels),
    )


def read_CompareTrafficRequest(w):
    return CompareTrafficRequest(
        name=w.name,
        project=w.project,
        baseline=read_TrafficSlice(w.baseline) if w.HasField("baseline") else None,
        candidate=read_TrafficSlice(w.candidate) if w.HasField("candidate") else None,
        confidence_level=w.confidence_level,
    )


def read_CompareTrafficResponse(w):
    return CompareTrafficResponse(
        comparisons=[read_TrafficComparison(x) for x in w.comparisons],
        paired_by=w.paired_by,
    )


def read_TrafficComparison(w):
    return TrafficComparison(
        metric=w.metric,
        baseline=read_MetricWindow(w.baseline) if w.HasField("baseline") else None,
        candidate=read_MetricWindow(w.candidate) if w.HasField("candidate") else None,
        difference=w.difference if w.HasField("difference") else None,
        ci=read_ConfidenceInterval(w.ci) if w.HasField("ci") else None,
        p_value=w.p_value if w.HasField("p_value") else None,
        verdict=w.verdict,
        test=w.test,
        pairs=w.pairs,
    )


def read_Observation(w):
    return Observation(
        id=w.id,
        run_id=w.run_id,
        record_id=w.record_id,
        trial=w.trial,
        item_digest=w.item_digest,
        config_digest=w.config_digest,
        outcome=_Outcome.get(w.outcome, Outcome.UNSPECIFIED),
        record=read_Record(w.record) if w.HasField("record") else None,
        results=[read_EvaluationResult(x) for x in w.results],
        usage=read_Usage(w.usage) if w.HasField("usage") else None,
        reason=w.reason,
        error_kind=_ErrorKind.get(w.error_kind, ErrorKind.UNSPECIFIED),
        fault=_Fault.get(w.fault, Fault.UNSPECIFIED),
        started_at=read_timestamp(w.started_at) if w.HasField("started_at") else None,
        finished_at=read_timestamp(w.finished_at) if w.HasField("finished_at") else None,
        project=w.project,
        labels=dict(w.labels),
    )


def read_ResultsFile(w):
    return ResultsFile(
        manifest=read_RunManifest(w.manifest) if w.HasField("manifest") else None,
        summaries=[read_MetricSummary(x) for x in w.summaries],
        results=[read_EvaluationResult(x) for x in w.results],
        records=[read_Record(x) for x in w.records],
        gates=[read_GateResult(x) for x in w.gates],
        trial_advice=read_TrialAdvice(w.trial_advice) if w.HasField("trial_advice") else None,
        api_version=w.api_version,
        rejected=[read_RejectedLine(x) for x in w.rejected],
        layout=read_ResultsLayout(w.layout) if w.HasField("layout") else None,
        slices=[read_SliceSummary(x) for x in w.slices],
    )


def read_SliceSummary(w):
    return SliceSummary(
        key=w.key,
        value=w.value,
        records=w.records,
        summaries=[read_MetricSummary(x) for x in w.summaries],
    )


def read_ResultsLayout(w):
    return ResultsLayout(
        records=w.records,
        evaluators=list(w.evaluators),
        whole_results=w.whole_results,
    )


def read_TrialAdvice(w):
    return TrialAdvice(
        trials=w.trials,
        advised_trials=w.advised_trials,
        advice=w.advice,
        metric=w.metric,
        half_width=w.half_width if w.HasField("half_width") else None,
        advised_half_width=w.advised_half_width if w.HasField("advised_half_width") else None,
    )


def read_RejectedLine(w):
    return RejectedLine(
        path=w.path,
        line=w.line,
        column=w.column,
        reason=w.reason,
    )


def read_RewardSpec(w):
    return RewardSpec(
        name=w.name,
        components=[read_RewardComponent(x) for x in w.components],
        floor=w.floor,
        on_error=_RewardOnError.get(w.on_error, RewardOnError.UNSPECIFIED),
        clip=read_RewardClip(w.clip) if w.HasField("clip") else None,
        disable_cache=w.disable_cache,
        judge=w.judge,
        deadline=read_duration(w.deadline) if w.HasField("deadline") else None,
        reference_field=w.reference_field,
        concurrency=w.concurrency,
    )


def read_RewardComponent(w):
    return RewardComponent(
        ref=w.ref,
        name=w.name,
        weight=w.weight if w.HasField("weight") else None,
        gate=w.gate,
        threshold=w.threshold if w.HasField("threshold") else None,
        metric=w.metric,
        params=read_object(w.params),
        min_isolation=w.min_isolation,
    )


def read_RewardClip(w):
    return RewardClip(
        low=w.low,
        high=w.high,
    )


def read_ScoreRewardsRequest(w):
    return ScoreRewardsRequest(
        project=w.project,
        spec=read_RewardSpec(w.spec) if w.HasField("spec") else None,
        rollouts=[read_Record(x) for x in w.rollouts],
    )


def read_ScoreRewardsResponse(w):
    return ScoreRewardsResponse(
        rewards=[read_Reward(x) for x in w.rewards],
    )


def read_Reward(w):
    return Reward(
        rollout_id=w.rollout_id,
        total=w.total if w.HasField("total") else None,
        gated=w.gated,
        components={k: read_RewardComponentResult(x) for k, x in w.components.items()},
    )


def read_RewardComponentResult(w):
    return RewardComponentResult(
        status=_RewardComponentStatus.get(w.status, RewardComponentStatus.UNSPECIFIED),
        value=w.value if w.HasField("value") else None,
        reason=w.reason,
        cached=w.cached,
        isolation=read_IsolationReport(w.isolation) if w.HasField("isolation") else None,
    )


def read_CreateRunRequest(w):
    return CreateRunRequest(
        name=w.name,
        project=w.project,
        spec=read_RunSpec(w.spec) if w.HasField("spec") else None,
        labels=dict(w.labels),
        validate_only=w.validate_only,
        priority=w.priority,
    )


def read_CreateRunResponse(w):
    return CreateRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


def read_GetRunRequest(w):
    return GetRunRequest(
        id=w.id,
    )


def read_GetRunResponse(w):
    return GetRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
        sinks=[read_SinkState(x) for x in w.sinks],
    )


def read_ListRunsRequest(w):
    return ListRunsRequest(
        project=w.project,
        page_size=w.page_size,
        page_token=w.page_token,
        name=w.name,
        labels=dict(w.labels),
        statuses=[_RunStatus.get(x, RunStatus.UNSPECIFIED) for x in w.statuses],
        since=read_timestamp(w.since) if w.HasField("since") else None,
        until=read_timestamp(w.until) if w.HasField("until") else None,
        include_archived=w.include_archived,
        search=w.search,
    )


def read_ListRunsResponse(w):
    return ListRunsResponse(
        runs=[read_Run(x) for x in w.runs],
        next_page_token=w.next_page_token,
    )


def read_WatchRunRequest(w):
    return WatchRunRequest(
        id=w.id,
        include_results=w.include_results,
    )


def read_WatchRunResponse(w):
    return WatchRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
        progress=read_Progress(w.progress) if w.HasField("progress") else None,
        result=read_EvaluationResult(w.result) if w.HasField("result") else None,
    )


def read_CancelRunRequest(w):
    return CancelRunRequest(
        id=w.id,
    )


def read_CancelRunResponse(w):
    return CancelRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


def read_ResumeRunRequest(w):
    return ResumeRunRequest(
        id=w.id,
    )


def read_ResumeRunResponse(w):
    return ResumeRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


def read_DeleteRunRequest(w):
    return DeleteRunRequest(
        id=w.id,
    )


def read_DeleteRunResponse(w):
    return DeleteRunResponse()


def read_ArchiveRunRequest(w):
    return ArchiveRunRequest(
        id=w.id,
        restore=w.restore,
    )


def read_ArchiveRunResponse(w):
    return ArchiveRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


def read_ListRunResultsRequest(w):
    return ListRunResultsRequest(
        run_id=w.run_id,
        page_size=w.page_size,
        page_token=w.page_token,
        evaluator=w.evaluator,
        outcome=_Outcome.get(w.outcome, Outcome.UNSPECIFIED),
        min_score=w.min_score if w.HasField("min_score") else None,
        max_score=w.max_score if w.HasField("max_score") else None,
        search=w.search,
        order_by=w.order_by,
        flipped_against=w.flipped_against,
        trial=w.trial if w.HasField("trial") else None,
        without_records=w.without_records,
    )


def read_ListRunResultsResponse(w):
    return ListRunResultsResponse(
        results=[read_EvaluationResult(x) for x in w.results],
        records=[read_Record(x) for x in w.records],
        next_page_token=w.next_page_token,
        records_by_trial=[read_RunRecordEvidence(x) for x in w.records_by_trial],
        matching_records=w.matching_records if w.HasField("matching_records") else None,
        whole_results=[read_EvaluationResult(x) for x in w.whole_results],
    )


def read_GetRecordEvidenceRequest(w):
    return GetRecordEvidenceRequest(
        run_id=w.run_id,
        record_id=w.record_id,
        trial=w.trial,
    )


def read_RunRecordEvidence(w):
    return RunRecordEvidence(
        record_id=w.record_id,
        trial=w.trial,
        record=read_Record(w.record) if w.HasField("record") else None,
        output_stored=w.output_stored,
        output_error=w.output_error,
    )


def read_GetRecordEvidenceResponse(w):
    return GetRecordEvidenceResponse(
        evidence=read_RunRecordEvidence(w.evidence) if w.HasField("evidence") else None,
        results=[read_EvaluationResult(x) for x in w.results],
    )


def read_CompareRunsRequest(w):
    return CompareRunsRequest(
        baseline_run_id=w.baseline_run_id,
        candidate_run_id=w.candidate_run_id,
        confidence_level=w.confidence_level,
        cluster_by=w.cluster_by,
    )


def read_CompareRunsResponse(w):
    return CompareRunsResponse(
        comparisons=[read_MetricComparison(x) for x in w.comparisons],
        baseline_only=w.baseline_only,
        candidate_only=w.candidate_only,
        warnings=list(w.warnings),
    )


def read_MetricComparison(w):
    return MetricComparison(
        metric=w.metric,
        baseline_mean=w.baseline_mean if w.HasField("baseline_mean") else None,
        candidate_mean=w.candidate_mean if w.HasField("candidate_mean") else None,
        diff=w.diff if w.HasField("diff") else None,
        diff_ci=read_ConfidenceInterval(w.diff_ci) if w.HasField("diff_ci") else None,
        paired_n=w.paired_n,
        significant=w.significant,
        verdict=w.verdict,
        p_value=w.p_value if w.HasField("p_value") else None,
        wins=w.wins,
        losses=w.losses,
        ties=w.ties,
        higher_is_better=w.higher_is_better if w.HasField("higher_is_better") else None,
    )


def read_SliceRunsRequest(w):
    return SliceRunsRequest(
        run_ids=list(w.run_ids),
        project=w.project,
        labels=dict(w.labels),
        limit=w.limit,
        metric=w.metric,
        by=w.by,
        confidence_level=w.confidence_level,
    )


def read_SliceRow(w):
    return SliceRow(
        run_id=w.run_id,
        run_name=w.run_name,
        key=w.key,
        n=w.n,
        mean=w.mean,
        low=w.low if w.HasField("low") else None,
        high=w.high if w.HasField("high") else None,
    )


def read_SliceRunsResponse(w):
    return SliceRunsResponse(
        rows=[read_SliceRow(x) for x in w.rows],
        runs=w.runs,
    )


def read_PromoteResultsRequest(w):
    return PromoteResultsRequest(
        run_id=w.run_id,
        dataset=w.dataset,
        when=w.when,
        include_outputs=w.include_outputs,
    )


def read_PromoteResultsResponse(w):
    return PromoteResultsResponse(
        promoted=w.promoted,
        path=w.path,
    )


def read_CreateShadowReplayRequest(w):
    return CreateShadowReplayRequest(
        name=w.name,
        project=w.project,
        candidate=read_RunSpec(w.candidate) if w.HasField("candidate") else None,
        labels=dict(w.labels),
    )


def read_CreateShadowReplayResponse(w):
    return CreateShadowReplayResponse(
        baseline=read_Run(w.baseline) if w.HasField("baseline") else None,
        candidate=read_Run(w.candidate) if w.HasField("candidate") else None,
    )


def read_ImportRunRequest(w):
    return ImportRunRequest(
        name=w.name,
        project=w.project,
        labels=dict(w.labels),
        spec=read_RunSpec(w.spec) if w.HasField("spec") else None,
        records=[read_Record(x) for x in w.records],
        results=[read_EvaluationResult(x) for x in w.results],
        summaries=[read_MetricSummary(x) for x in w.summaries],
        started_at=read_timestamp(w.started_at) if w.HasField("started_at") else None,
        finished_at=read_timestamp(w.finished_at) if w.HasField("finished_at") else None,
        target_usage=read_Usage(w.target_usage) if w.HasField("target_usage") else None,
        judge_usage=read_Usage(w.judge_usage) if w.HasField("judge_usage") else None,
    )


def read_ImportRunResponse(w):
    return ImportRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


def read_ExportRunRequest(w):
    return ExportRunRequest(
        run_id=w.run_id,
    )


def read_ExportRunResponse(w):
    return ExportRunResponse(
        chunk=w.chunk,
    )


def read_RescoreRunRequest(w):
    return RescoreRunRequest(
        run_id=w.run_id,
        name=w.name,
        labels=dict(w.labels),
        evaluators=[read_EvaluatorRef(x) for x in w.evaluators],
        judge=w.judge,
        summary=read_SummaryOptions(w.summary) if w.HasField("summary") else None,
        gates=[read_Gate(x) for x in w.gates],
    )


def read_RescoreRunResponse(w):
    return RescoreRunResponse(
        run=read_Run(w.run) if w.HasField("run") else None,
    )


READS: dict[str, Callable[[Any], Any]] = {
    "A2AAgent": read_A2AAgent,
    "APIKey": read_APIKey,
    "AgentBudget": read_AgentBudget,
    "AgentTarget": read_AgentTarget,
    "Alert": read_Alert,
    "AlertState": read_AlertState,
    "ApplyPolicyRequest": read_ApplyPolicyRequest,
    "ApplyPolicyResponse": read_ApplyPolicyResponse,
    "ArchiveRunRequest": read_ArchiveRunRequest,
    "ArchiveRunResponse": read_ArchiveRunResponse,
    "AuditEvent": read_AuditEvent,
    "BackfillPolicyRequest": read_BackfillPolicyRequest,
    "BackfillPolicyResponse": read_BackfillPolicyResponse,
    "BoundRunEvaluator": read_BoundRunEvaluator,
    "Budget": read_Budget,
    "BuiltinHarness": read_BuiltinHarness,
    "CLIAgent": read_CLIAgent,
    "CancelRunRequest": read_CancelRunRequest,
    "CancelRunResponse": read_CancelRunResponse,
    "CaptureFailureRequest": read_CaptureFailureRequest,
    "CaptureFailureResponse": read_CaptureFailureResponse,
    "CascadeStage": read_CascadeStage,
    "Checker": read_Checker,
    "CommandHarness": read_CommandHarness,
    "CommandTarget": read_CommandTarget,
    "CompareRunsRequest": read_CompareRunsRequest,
    "CompareRunsResponse": read_CompareRunsResponse,
    "CompareTrafficRequest": read_CompareTrafficRequest,
    "CompareTrafficResponse": read_CompareTrafficResponse,
    "ConfidenceInterval": read_ConfidenceInterval,
    "Content": read_Content,
    "ContextManagement": read_ContextManagement,
    "CountTracesRequest": read_CountTracesRequest,
    "CountTracesResponse": read_CountTracesResponse,
    "CreateAPIKeyRequest": read_CreateAPIKeyRequest,
    "CreateAPIKeyResponse": read_CreateAPIKeyResponse,
    "CreateBindingRequest": read_CreateBindingRequest,
    "CreateBindingResponse": read_CreateBindingResponse,
    "CreateProjectRequest": read_CreateProjectRequest,
    "CreateProjectResponse": read_CreateProjectResponse,
    "CreateRoleRequest": read_CreateRoleRequest,
    "CreateRoleResponse": read_CreateRoleResponse,
    "CreateRunRequest": read_CreateRunRequest,
    "CreateRunResponse": read_CreateRunResponse,
    "CreateShadowReplayRequest": read_CreateShadowReplayRequest,
    "CreateShadowReplayResponse": read_CreateShadowReplayResponse,
    "CredentialGrant": read_CredentialGrant,
    "DatasetManifest": read_DatasetManifest,
    "DatasetRecordChange": read_DatasetRecordChange,
    "DatasetSource": read_DatasetSource,
    "DatasetUploadConfig": read_DatasetUploadConfig,
    "DatasetVersion": read_DatasetVersion,
    "DatasetVersionContent": read_DatasetVersionContent,
    "DatasetVersionEvent": read_DatasetVersionEvent,
    "DatasetVersionRef": read_DatasetVersionRef,
    "DeleteBindingRequest": read_DeleteBindingRequest,
    "DeleteBindingResponse": read_DeleteBindingResponse,
    "DeleteFailureRequest": read_DeleteFailureRequest,
    "DeleteFailureResponse": read_DeleteFailureResponse,
    "DeletePolicyRequest": read_DeletePolicyRequest,
    "DeletePolicyResponse": read_DeletePolicyResponse,
    "DeleteRoleRequest": read_DeleteRoleRequest,
    "DeleteRoleResponse": read_DeleteRoleResponse,
    "DeleteRunRequest": read_DeleteRunRequest,
    "DeleteRunResponse": read_DeleteRunResponse,
    "DeleteTracesRequest": read_DeleteTracesRequest,
    "DeleteTracesResponse": read_DeleteTracesResponse,
    "DiffDatasetVersionsRequest": read_DiffDatasetVersionsRequest,
    "DiffDatasetVersionsResponse": read_DiffDatasetVersionsResponse,
    "Environment": read_Environment,
    "EnvironmentService": read_EnvironmentService,
    "EscalationPolicy": read_EscalationPolicy,
    "EvalRun": read_EvalRun,
    "EvaluateRequest": read_EvaluateRequest,
    "EvaluateResponse": read_EvaluateResponse,
    "EvaluateStreamConfig": read_EvaluateStreamConfig,
    "EvaluateStreamRequest": read_EvaluateStreamRequest,
    "EvaluateStreamResponse": read_EvaluateStreamResponse,
    "EvaluationResult": read_EvaluationResult,
    "EvaluatorExample": read_EvaluatorExample,
    "EvaluatorManifest": read_EvaluatorManifest,
    "EvaluatorRef": read_EvaluatorRef,
    "ExportFailuresRequest": read_ExportFailuresRequest,
    "ExportFailuresResponse": read_ExportFailuresResponse,
    "ExportRunRequest": read_ExportRunRequest,
    "ExportRunResponse": read_ExportRunResponse,
    "ExportTraceRequest": read_ExportTraceRequest,
    "ExportTraceResponse": read_ExportTraceResponse,
    "ExternalHarness": read_ExternalHarness,
    "FailureCase": read_FailureCase,
    "FailureEvent": read_FailureEvent,
    "FailureSelection": read_FailureSelection,
    "Feedback": read_Feedback,
    "FetchDatasetVersionRequest": read_FetchDatasetVersionRequest,
    "FetchDatasetVersionResponse": read_FetchDatasetVersionResponse,
    "FewShotExample": read_FewShotExample,
    "Gate": read_Gate,
    "GateResult": read_GateResult,
    "GetDatasetVersionRequest": read_GetDatasetVersionRequest,
    "GetDatasetVersionResponse": read_GetDatasetVersionResponse,
    "GetFailureRequest": read_GetFailureRequest,
    "GetFailureResponse": read_GetFailureResponse,
    "GetPolicyStatsRequest": read_GetPolicyStatsRequest,
    "GetPolicyStatsResponse": read_GetPolicyStatsResponse,
    "GetRecordEvidenceRequest": read_GetRecordEvidenceRequest,
    "GetRecordEvidenceResponse": read_GetRecordEvidenceResponse,
    "GetRunRequest": read_GetRunRequest,
    "GetRunResponse": read_GetRunResponse,
    "GetSessionRequest": read_GetSessionRequest,
    "GetSessionResponse": read_GetSessionResponse,
    "GetTraceRequest": read_GetTraceRequest,
    "GetTraceResponse": read_GetTraceResponse,
    "GitState": read_GitState,
    "HTTPAgent": read_HTTPAgent,
    "Harness": read_Harness,
    "Hook": read_Hook,
    "ImportRunRequest": read_ImportRunRequest,
    "ImportRunResponse": read_ImportRunResponse,
    "InlineRecords": read_InlineRecords,
    "Interjection": read_Interjection,
    "IsolationReport": read_IsolationReport,
    "JudgeManifest": read_JudgeManifest,
    "JudgeSpec": read_JudgeSpec,
    "ListAPIKeysRequest": read_ListAPIKeysRequest,
    "ListAPIKeysResponse": read_ListAPIKeysResponse,
    "ListAuditEventsRequest": read_ListAuditEventsRequest,
    "ListAuditEventsResponse": read_ListAuditEventsResponse,
    "ListBindingsRequest": read_ListBindingsRequest,
    "ListBindingsResponse": read_ListBindingsResponse,
    "ListCredentialsRequest": read_ListCredentialsRequest,
    "ListCredentialsResponse": read_ListCredentialsResponse,
    "ListDatasetVersionEventsRequest": read_ListDatasetVersionEventsRequest,
    "ListDatasetVersionEventsResponse": read_ListDatasetVersionEventsResponse,
    "ListDatasetVersionsRequest": read_ListDatasetVersionsRequest,
    "ListDatasetVersionsResponse": read_ListDatasetVersionsResponse,
    "ListEvaluatorsRequest": read_ListEvaluatorsRequest,
    "ListEvaluatorsResponse": read_ListEvaluatorsResponse,
    "ListFailureEventsRequest": read_ListFailureEventsRequest,
    "ListFailureEventsResponse": read_ListFailureEventsResponse,
    "ListFailuresRequest": read_ListFailuresRequest,
    "ListFailuresResponse": read_ListFailuresResponse,
    "ListFeedbackRequest": read_ListFeedbackRequest,
    "ListFeedbackResponse": read_ListFeedbackResponse,
    "ListPermissionsRequest": read_ListPermissionsRequest,
    "ListPermissionsResponse": read_ListPermissionsResponse,
    "ListPoliciesRequest": read_ListPoliciesRequest,
    "ListPoliciesResponse": read_ListPoliciesResponse,
    "ListProjectsRequest": read_ListProjectsRequest,
    "ListProjectsResponse": read_ListProjectsResponse,
    "ListRolesRequest": read_ListRolesRequest,
    "ListRolesResponse": read_ListRolesResponse,
    "ListRunResultsRequest": read_ListRunResultsRequest,
    "ListRunResultsResponse": read_ListRunResultsResponse,
    "ListRunsRequest": read_ListRunsRequest,
    "ListRunsResponse": read_ListRunsResponse,
    "ListScoresRequest": read_ListScoresRequest,
    "ListScoresResponse": read_ListScoresResponse,
    "ListTracesRequest": read_ListTracesRequest,
    "ListTracesResponse": read_ListTracesResponse,
    "MCPAgent": read_MCPAgent,
    "MCPOAuth": read_MCPOAuth,
    "MCPServer": read_MCPServer,
    "MediaRef": read_MediaRef,
    "Message": read_Message,
    "Messages": read_Messages,
    "MetricComparison": read_MetricComparison,
    "MetricDrift": read_MetricDrift,
    "MetricSpec": read_MetricSpec,
    "MetricSummaries": read_MetricSummaries,
    "MetricSummary": read_MetricSummary,
    "MetricWindow": read_MetricWindow,
    "MockTool": read_MockTool,
    "Observation": read_Observation,
    "OnlineEvalPolicy": read_OnlineEvalPolicy,
    "Permission": read_Permission,
    "PluginDescribeRequest": read_PluginDescribeRequest,
    "PluginDescribeResponse": read_PluginDescribeResponse,
    "PluginEvaluateRequest": read_PluginEvaluateRequest,
    "PluginEvaluateResponse": read_PluginEvaluateResponse,
    "PolicyBudget": read_PolicyBudget,
    "PolicyResults": read_PolicyResults,
    "PolicyStats": read_PolicyStats,
    "PolicyView": read_PolicyView,
    "Pricing": read_Pricing,
    "Principal": read_Principal,
    "Progress": read_Progress,
    "Project": read_Project,
    "ProjectAccess": read_ProjectAccess,
    "PromoteResultsRequest": read_PromoteResultsRequest,
    "PromoteResultsResponse": read_PromoteResultsResponse,
    "Promotion": read_Promotion,
    "Provenance": read_Provenance,
    "PublishDatasetVersionRequest": read_PublishDatasetVersionRequest,
    "PublishDatasetVersionResponse": read_PublishDatasetVersionResponse,
    "Record": read_Record,
    "Recording": read_Recording,
    "RejectedLine": read_RejectedLine,
    "Requirements": read_Requirements,
    "RescoreRunRequest": read_RescoreRunRequest,
    "RescoreRunResponse": read_RescoreRunResponse,
    "ResponsesAgent": read_ResponsesAgent,
    "ResultsFile": read_ResultsFile,
    "ResultsLayout": read_ResultsLayout,
    "ResumeRunRequest": read_ResumeRunRequest,
    "ResumeRunResponse": read_ResumeRunResponse,
    "ReviewDatasetVersionRequest": read_ReviewDatasetVersionRequest,
    "ReviewDatasetVersionResponse": read_ReviewDatasetVersionResponse,
    "ReviewFailureRequest": read_ReviewFailureRequest,
    "ReviewFailureResponse": read_ReviewFailureResponse,
    "RevokeAPIKeyRequest": read_RevokeAPIKeyRequest,
    "RevokeAPIKeyResponse": read_RevokeAPIKeyResponse,
    "Reward": read_Reward,
    "RewardClip": read_RewardClip,
    "RewardComponent": read_RewardComponent,
    "RewardComponentResult": read_RewardComponentResult,
    "RewardSpec": read_RewardSpec,
    "Role": read_Role,
    "RoleBinding": read_RoleBinding,
    "RoleList": read_RoleList,
    "Run": read_Run,
    "RunEvaluationContract": read_RunEvaluationContract,
    "RunManifest": read_RunManifest,
    "RunMetadata": read_RunMetadata,
    "RunOutputs": read_RunOutputs,
    "RunProvenance": read_RunProvenance,
    "RunRecordEvidence": read_RunRecordEvidence,
    "RunSpec": read_RunSpec,
    "Sampling": read_Sampling,
    "SandboxCreateRequest": read_SandboxCreateRequest,
    "SandboxCreateResponse": read_SandboxCreateResponse,
    "SandboxDeleteSnapshotRequest": read_SandboxDeleteSnapshotRequest,
    "SandboxDeleteSnapshotResponse": read_SandboxDeleteSnapshotResponse,
    "SandboxDestroyRequest": read_SandboxDestroyRequest,
    "SandboxDestroyResponse": read_SandboxDestroyResponse,
    "SandboxEgressEvent": read_SandboxEgressEvent,
    "SandboxExecRequest": read_SandboxExecRequest,
    "SandboxExecResponse": read_SandboxExecResponse,
    "SandboxExecResult": read_SandboxExecResult,
    "SandboxFile": read_SandboxFile,
    "SandboxNetworkPolicy": read_SandboxNetworkPolicy,
    "SandboxPolicy": read_SandboxPolicy,
    "SandboxProbeRequest": read_SandboxProbeRequest,
    "SandboxProbeResponse": read_SandboxProbeResponse,
    "SandboxPythonRun": read_SandboxPythonRun,
    "SandboxReadFilesRequest": read_SandboxReadFilesRequest,
    "SandboxReadFilesResponse": read_SandboxReadFilesResponse,
    "SandboxRenewRequest": read_SandboxRenewRequest,
    "SandboxRenewResponse": read_SandboxRenewResponse,
    "SandboxResources": read_SandboxResources,
    "SandboxRestoreRequest": read_SandboxRestoreRequest,
    "SandboxRestoreResponse": read_SandboxRestoreResponse,
    "SandboxRunPythonRequest": read_SandboxRunPythonRequest,
    "SandboxRunPythonResponse": read_SandboxRunPythonResponse,
    "SandboxRungStatus": read_SandboxRungStatus,
    "SandboxServiceStatus": read_SandboxServiceStatus,
    "SandboxSnapshotRequest": read_SandboxSnapshotRequest,
    "SandboxSnapshotResponse": read_SandboxSnapshotResponse,
    "SandboxSpec": read_SandboxSpec,
    "SandboxStatsRequest": read_SandboxStatsRequest,
    "SandboxStatsResponse": read_SandboxStatsResponse,
    "SandboxWriteFilesRequest": read_SandboxWriteFilesRequest,
    "SandboxWriteFilesResponse": read_SandboxWriteFilesResponse,
    "Scheduling": read_Scheduling,
    "Score": read_Score,
    "ScoreRewardsRequest": read_ScoreRewardsRequest,
    "ScoreRewardsResponse": read_ScoreRewardsResponse,
    "Sink": read_Sink,
    "SinkState": read_SinkState,
    "SliceRow": read_SliceRow,
    "SliceRunsRequest": read_SliceRunsRequest,
    "SliceRunsResponse": read_SliceRunsResponse,
    "SliceSummary": read_SliceSummary,
    "Step": read_Step,
    "SubmitFeedbackRequest": read_SubmitFeedbackRequest,
    "SubmitFeedbackResponse": read_SubmitFeedbackResponse,
    "SummaryOptions": read_SummaryOptions,
    "TabularRow": read_TabularRow,
    "Target": read_Target,
    "TaskCheck": read_TaskCheck,
    "Tensor": read_Tensor,
    "TestPolicyRequest": read_TestPolicyRequest,
    "TestPolicyResponse": read_TestPolicyResponse,
    "Thinking": read_Thinking,
    "ToolCall": read_ToolCall,
    "ToolDefinition": read_ToolDefinition,
    "ToolFault": read_ToolFault,
    "Tools": read_Tools,
    "TraceFacet": read_TraceFacet,
    "TraceFilter": read_TraceFilter,
    "TraceProvenance": read_TraceProvenance,
    "TraceQuery": read_TraceQuery,
    "TraceScores": read_TraceScores,
    "TraceSummary": read_TraceSummary,
    "TrafficComparison": read_TrafficComparison,
    "TrafficSlice": read_TrafficSlice,
    "Trajectory": read_Trajectory,
    "TrialAdvice": read_TrialAdvice,
    "TrialVariance": read_TrialVariance,
    "Unpinned": read_Unpinned,
    "UpdateFailureRequest": read_UpdateFailureRequest,
    "UpdateFailureResponse": read_UpdateFailureResponse,
    "UpdateRoleRequest": read_UpdateRoleRequest,
    "UpdateRoleResponse": read_UpdateRoleResponse,
    "UploadDatasetVersionRequest": read_UploadDatasetVersionRequest,
    "UploadDatasetVersionResponse": read_UploadDatasetVersionResponse,
    "Usage": read_Usage,
    "UserSimulator": read_UserSimulator,
    "VerifyAuditLogRequest": read_VerifyAuditLogRequest,
    "VerifyAuditLogResponse": read_VerifyAuditLogResponse,
    "WatchRunRequest": read_WatchRunRequest,
    "WatchRunResponse": read_WatchRunResponse,
    "WatchTracesRequest": read_WatchTracesRequest,
    "WatchTracesResponse": read_WatchTracesResponse,
    "WhoAmIRequest": read_WhoAmIRequest,
    "WhoAmIResponse": read_WhoAmIResponse,
}
