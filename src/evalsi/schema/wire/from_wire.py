# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""From protobuf's object to each Struct: `read_<Message>(wire)`. An enum number that is not known reads as UNSPECIFIED.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from evalsi.schema import (
    A2AAgent,
    AgentBudget,
    AgentTarget,
    BoundRunEvaluator,
    Budget,
    BuiltinHarness,
    CLIAgent,
    Checker,
    CiMethod,
    CommandHarness,
    CommandTarget,
    ConfidenceInterval,
    Content,
    ContextManagement,
    CredentialGrant,
    DatasetManifest,
    DatasetSource,
    DatasetVersionRef,
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
    ExternalHarness,
    Fault,
    FewShotExample,
    Gate,
    GateResult,
    GateStat,
    GateVerdict,
    GitState,
    HTTPAgent,
    Harness,
    Hook,
    InlineRecords,
    Interjection,
    IsolationLevel,
    IsolationReport,
    JudgeManifest,
    JudgeSpec,
    ListCredentialsRequest,
    ListCredentialsResponse,
    ListEvaluatorsRequest,
    ListEvaluatorsResponse,
    MCPAgent,
    MCPOAuth,
    MCPServer,
    MediaRef,
    Message,
    Messages,
    MetricKind,
    MetricSpec,
    MetricSummaries,
    MetricSummary,
    MockTool,
    Observation,
    OnInconclusive,
    Outcome,
    Pricing,
    Progress,
    Provenance,
    Record,
    Recording,
    RejectedLine,
    Requirements,
    ResponsesAgent,
    ResultsFile,
    ResultsLayout,
    Run,
    RunEvaluationContract,
    RunManifest,
    RunMetadata,
    RunOutputs,
    RunProvenance,
    RunSpec,
    RunStatus,
    SandboxPolicy,
    Scheduling,
    Scope,
    Score,
    ScoreType,
    Sink,
    Step,
    StepType,
    SummaryOptions,
    TabularRow,
    Target,
    TaskCheck,
    Tensor,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolFault,
    Tools,
    TraceProvenance,
    TraceQuery,
    Trajectory,
    TrialAdvice,
    Unpinned,
    Usage,
    UserSimulator,
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
_CiMethod = {member.number: member for member in CiMethod}
_OnInconclusive = {member.number: member for member in OnInconclusive}
_GateStat = {member.number: member for member in GateStat}
_GateVerdict = {member.number: member for member in GateVerdict}
_RunStatus = {member.number: member for member in RunStatus}


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


READS: dict[str, Callable[[Any], Any]] = {
    "A2AAgent": read_A2AAgent,
    "AgentBudget": read_AgentBudget,
    "AgentTarget": read_AgentTarget,
    "BoundRunEvaluator": read_BoundRunEvaluator,
    "Budget": read_Budget,
    "BuiltinHarness": read_BuiltinHarness,
    "CLIAgent": read_CLIAgent,
    "Checker": read_Checker,
    "CommandHarness": read_CommandHarness,
    "CommandTarget": read_CommandTarget,
    "ConfidenceInterval": read_ConfidenceInterval,
    "Content": read_Content,
    "ContextManagement": read_ContextManagement,
    "CredentialGrant": read_CredentialGrant,
    "DatasetManifest": read_DatasetManifest,
    "DatasetSource": read_DatasetSource,
    "DatasetVersionRef": read_DatasetVersionRef,
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
    "ExternalHarness": read_ExternalHarness,
    "FewShotExample": read_FewShotExample,
    "Gate": read_Gate,
    "GateResult": read_GateResult,
    "GitState": read_GitState,
    "HTTPAgent": read_HTTPAgent,
    "Harness": read_Harness,
    "Hook": read_Hook,
    "InlineRecords": read_InlineRecords,
    "Interjection": read_Interjection,
    "IsolationReport": read_IsolationReport,
    "JudgeManifest": read_JudgeManifest,
    "JudgeSpec": read_JudgeSpec,
    "ListCredentialsRequest": read_ListCredentialsRequest,
    "ListCredentialsResponse": read_ListCredentialsResponse,
    "ListEvaluatorsRequest": read_ListEvaluatorsRequest,
    "ListEvaluatorsResponse": read_ListEvaluatorsResponse,
    "MCPAgent": read_MCPAgent,
    "MCPOAuth": read_MCPOAuth,
    "MCPServer": read_MCPServer,
    "MediaRef": read_MediaRef,
    "Message": read_Message,
    "Messages": read_Messages,
    "MetricSpec": read_MetricSpec,
    "MetricSummaries": read_MetricSummaries,
    "MetricSummary": read_MetricSummary,
    "MockTool": read_MockTool,
    "Observation": read_Observation,
    "Pricing": read_Pricing,
    "Progress": read_Progress,
    "Provenance": read_Provenance,
    "Record": read_Record,
    "Recording": read_Recording,
    "RejectedLine": read_RejectedLine,
    "Requirements": read_Requirements,
    "ResponsesAgent": read_ResponsesAgent,
    "ResultsFile": read_ResultsFile,
    "ResultsLayout": read_ResultsLayout,
    "Run": read_Run,
    "RunEvaluationContract": read_RunEvaluationContract,
    "RunManifest": read_RunManifest,
    "RunMetadata": read_RunMetadata,
    "RunOutputs": read_RunOutputs,
    "RunProvenance": read_RunProvenance,
    "RunSpec": read_RunSpec,
    "SandboxPolicy": read_SandboxPolicy,
    "Scheduling": read_Scheduling,
    "Score": read_Score,
    "Sink": read_Sink,
    "Step": read_Step,
    "SummaryOptions": read_SummaryOptions,
    "TabularRow": read_TabularRow,
    "Target": read_Target,
    "TaskCheck": read_TaskCheck,
    "Tensor": read_Tensor,
    "Thinking": read_Thinking,
    "ToolCall": read_ToolCall,
    "ToolDefinition": read_ToolDefinition,
    "ToolFault": read_ToolFault,
    "Tools": read_Tools,
    "TraceProvenance": read_TraceProvenance,
    "TraceQuery": read_TraceQuery,
    "Trajectory": read_Trajectory,
    "TrialAdvice": read_TrialAdvice,
    "Unpinned": read_Unpinned,
    "Usage": read_Usage,
    "UserSimulator": read_UserSimulator,
}
