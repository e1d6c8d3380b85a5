# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""For each message with alternatives or free values: whether they are in order, all below included.

Used through `evalsi.schema.message_check`, which finds the place and the words when they are not.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from evalsi.schema.nesting import is_shallow


def check_Record(m: Any) -> bool:
    v = m.input
    if v is not None and not check_Content(v):
        return False
    v = m.output
    if v is not None and not check_Content(v):
        return False
    v = m.reference
    if v is not None and not check_Content(v):
        return False
    v = m.context
    for x in v:
        if not check_Content(x):
            return False
    v = m.trajectory
    if v is not None and not check_Trajectory(v):
        return False
    v = m.metadata
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.provenance
    if v is not None and not check_Provenance(v):
        return False
    return True


def check_Content(m: Any) -> bool:
    if (m.text is not None) + (m.messages is not None) + (m.json is not UNSET) + (m.row is not None) + (m.tensor is not None) + (m.media is not None) != 1:
        return False
    v = m.json
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.row
    if v is not None and not check_TabularRow(v):
        return False
    return True


def check_TabularRow(m: Any) -> bool:
    v = m.features
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.prediction
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_Trajectory(m: Any) -> bool:
    v = m.steps
    for x in v:
        if not check_Step(x):
            return False
    return True


def check_Step(m: Any) -> bool:
    v = m.input
    if v is not None and not check_Content(v):
        return False
    v = m.output
    if v is not None and not check_Content(v):
        return False
    v = m.attributes
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_Provenance(m: Any) -> bool:
    if (m.run is not None) + (m.trace is not None) > 1:
        return False
    return True


def check_Score(m: Any) -> bool:
    if (m.number is not None) + (m.passed is not None) + (m.label is not None) + (m.structured is not UNSET) > 1:
        return False
    v = m.structured
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.metadata
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_EvaluationResult(m: Any) -> bool:
    v = m.scores
    for x in v:
        if not check_Score(x):
            return False
    return True


def check_EvaluatorRef(m: Any) -> bool:
    v = m.params
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_EvaluatorManifest(m: Any) -> bool:
    v = m.params_schema
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.example
    if v is not None and not check_EvaluatorExample(v):
        return False
    return True


def check_EvaluatorExample(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    v = m.params
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.scores
    for x in v:
        if not check_Score(x):
            return False
    return True


def check_PluginDescribeResponse(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_EvaluatorManifest(x):
            return False
    return True


def check_PluginEvaluateRequest(m: Any) -> bool:
    v = m.params
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_PluginEvaluateResponse(m: Any) -> bool:
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_AgentTarget(m: Any) -> bool:
    if (m.a2a is not None) + (m.mcp is not None) + (m.responses is not None) + (m.http is not None) + (m.cli is not None) != 1:
        return False
    return True


def check_Harness(m: Any) -> bool:
    if (m.builtin is not None) + (m.external is not None) != 1:
        return False
    v = m.builtin
    if v is not None and not check_BuiltinHarness(v):
        return False
    v = m.external
    if v is not None and not check_ExternalHarness(v):
        return False
    return True


def check_MockTool(m: Any) -> bool:
    v = m.input_schema
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_Tools(m: Any) -> bool:
    v = m.mocks
    for x in v:
        if not check_MockTool(x):
            return False
    return True


def check_BuiltinHarness(m: Any) -> bool:
    v = m.tools
    if v is not None and not check_Tools(v):
        return False
    v = m.hooks
    for x in v:
        if not check_Hook(x):
            return False
    return True


def check_Hook(m: Any) -> bool:
    v = m.config
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_ExternalHarness(m: Any) -> bool:
    if (m.address is not None) + (m.command is not None) + (m.python is not None) > 1:
        return False
    v = m.config
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_SandboxExecResponse(m: Any) -> bool:
    if (m.stdout is not None) + (m.stderr is not None) + (m.result is not None) != 1:
        return False
    return True


def check_ListEvaluatorsResponse(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_EvaluatorManifest(x):
            return False
    return True


def check_EvaluateRequest(m: Any) -> bool:
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    v = m.evaluators
    for x in v:
        if not check_EvaluatorRef(x):
            return False
    return True


def check_EvaluateResponse(m: Any) -> bool:
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_EvaluateStreamConfig(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_EvaluatorRef(x):
            return False
    return True


def check_EvaluateStreamRequest(m: Any) -> bool:
    if (m.config is not None) + (m.record is not None) != 1:
        return False
    v = m.config
    if v is not None and not check_EvaluateStreamConfig(v):
        return False
    v = m.record
    if v is not None and not check_Record(v):
        return False
    return True


def check_EvaluateStreamResponse(m: Any) -> bool:
    if (m.result is not None) + (m.summaries is not None) != 1:
        return False
    v = m.result
    if v is not None and not check_EvaluationResult(v):
        return False
    return True


def check_EvalRun(m: Any) -> bool:
    v = m.spec
    if v is not None and not check_RunSpec(v):
        return False
    return True


def check_RunSpec(m: Any) -> bool:
    v = m.target
    if v is not None and not check_Target(v):
        return False
    v = m.dataset
    if v is not None and not check_DatasetSource(v):
        return False
    v = m.evaluators
    for x in v:
        if not check_EvaluatorRef(x):
            return False
    v = m.harness
    if v is not None and not check_Harness(v):
        return False
    v = m.sinks
    for x in v:
        if not check_Sink(x):
            return False
    return True


def check_Target(m: Any) -> bool:
    v = m.agent
    if v is not None and not check_AgentTarget(v):
        return False
    v = m.fallbacks
    for x in v:
        if not check_Target(x):
            return False
    v = m.config
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.tools
    for x in v:
        if not check_ToolDefinition(x):
            return False
    v = m.response_schema
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    v = m.extra_body
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_ToolDefinition(m: Any) -> bool:
    v = m.parameters
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_Sink(m: Any) -> bool:
    if (m.json is not None) + (m.html is not None) + (m.markdown is not None) + (m.junit is not None) + (m.csv is not None) + (m.name is not None) != 1:
        return False
    return True


def check_DatasetSource(m: Any) -> bool:
    if (m.inline is not None) + (m.path is not None) + (m.uri is not None) + (m.traces is not None) + (m.run is not None) + (m.catalog is not None) > 1:
        return False
    v = m.inline
    if v is not None and not check_InlineRecords(v):
        return False
    return True


def check_InlineRecords(m: Any) -> bool:
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_Run(m: Any) -> bool:
    v = m.spec
    if v is not None and not check_RunSpec(v):
        return False
    v = m.evaluation_contract
    if v is not None and not check_RunEvaluationContract(v):
        return False
    v = m.manifest
    if v is not None and not check_RunManifest(v):
        return False
    return True


def check_BoundRunEvaluator(m: Any) -> bool:
    v = m.manifest
    if v is not None and not check_EvaluatorManifest(v):
        return False
    v = m.params
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_RunEvaluationContract(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_BoundRunEvaluator(x):
            return False
    return True


def check_RunManifest(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_BoundRunEvaluator(x):
            return False
    v = m.judges
    for x in v:
        if not check_JudgeManifest(x):
            return False
    v = m.spec
    if v is not None and not check_RunSpec(v):
        return False
    return True


def check_JudgeManifest(m: Any) -> bool:
    v = m.settings
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_DatasetVersionContent(m: Any) -> bool:
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_DatasetVersion(m: Any) -> bool:
    v = m.content
    if v is not None and not check_DatasetVersionContent(v):
        return False
    return True


def check_PublishDatasetVersionRequest(m: Any) -> bool:
    v = m.content
    if v is not None and not check_DatasetVersionContent(v):
        return False
    return True


def check_PublishDatasetVersionResponse(m: Any) -> bool:
    v = m.dataset
    if v is not None and not check_DatasetVersion(v):
        return False
    return True


def check_ListDatasetVersionsResponse(m: Any) -> bool:
    v = m.datasets
    for x in v:
        if not check_DatasetVersion(x):
            return False
    return True


def check_GetDatasetVersionResponse(m: Any) -> bool:
    v = m.dataset
    if v is not None and not check_DatasetVersion(v):
        return False
    return True


def check_ReviewDatasetVersionResponse(m: Any) -> bool:
    v = m.dataset
    if v is not None and not check_DatasetVersion(v):
        return False
    return True


def check_UploadDatasetVersionRequest(m: Any) -> bool:
    if (m.config is not None) + (m.chunk is not None) != 1:
        return False
    return True


def check_UploadDatasetVersionResponse(m: Any) -> bool:
    v = m.dataset
    if v is not None and not check_DatasetVersion(v):
        return False
    return True


def check_PolicyResults(m: Any) -> bool:
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_GetTraceResponse(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    v = m.policies
    for x in v:
        if not check_PolicyResults(x):
            return False
    v = m.feedback
    for x in v:
        if not check_Feedback(x):
            return False
    return True


def check_GetSessionResponse(m: Any) -> bool:
    v = m.traces
    for x in v:
        if not check_TraceScores(x):
            return False
    v = m.policies
    for x in v:
        if not check_PolicyResults(x):
            return False
    v = m.feedback
    for x in v:
        if not check_Feedback(x):
            return False
    return True


def check_TraceScores(m: Any) -> bool:
    v = m.policies
    for x in v:
        if not check_PolicyResults(x):
            return False
    return True


def check_ListScoresResponse(m: Any) -> bool:
    v = m.traces
    for x in v:
        if not check_TraceScores(x):
            return False
    return True


def check_ListFeedbackResponse(m: Any) -> bool:
    v = m.feedback
    for x in v:
        if not check_Feedback(x):
            return False
    return True


def check_Feedback(m: Any) -> bool:
    if (m.number is not None) + (m.passed is not None) + (m.label is not None) > 1:
        return False
    return True


def check_SubmitFeedbackRequest(m: Any) -> bool:
    v = m.feedback
    for x in v:
        if not check_Feedback(x):
            return False
    return True


def check_FailureCase(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    return True


def check_CaptureFailureResponse(m: Any) -> bool:
    v = m.failure
    if v is not None and not check_FailureCase(v):
        return False
    return True


def check_ListFailuresResponse(m: Any) -> bool:
    v = m.failures
    for x in v:
        if not check_FailureCase(x):
            return False
    return True


def check_GetFailureResponse(m: Any) -> bool:
    v = m.failure
    if v is not None and not check_FailureCase(v):
        return False
    return True


def check_UpdateFailureRequest(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    return True


def check_UpdateFailureResponse(m: Any) -> bool:
    v = m.failure
    if v is not None and not check_FailureCase(v):
        return False
    return True


def check_ReviewFailureResponse(m: Any) -> bool:
    v = m.failure
    if v is not None and not check_FailureCase(v):
        return False
    return True


def check_ExportFailuresResponse(m: Any) -> bool:
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_OnlineEvalPolicy(m: Any) -> bool:
    v = m.stages
    for x in v:
        if not check_CascadeStage(x):
            return False
    return True


def check_CascadeStage(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_EvaluatorRef(x):
            return False
    return True


def check_ApplyPolicyRequest(m: Any) -> bool:
    v = m.policy
    if v is not None and not check_OnlineEvalPolicy(v):
        return False
    return True


def check_ApplyPolicyResponse(m: Any) -> bool:
    v = m.policy
    if v is not None and not check_OnlineEvalPolicy(v):
        return False
    return True


def check_ListPoliciesResponse(m: Any) -> bool:
    v = m.policies
    for x in v:
        if not check_OnlineEvalPolicy(x):
            return False
    return True


def check_TestPolicyRequest(m: Any) -> bool:
    v = m.policy
    if v is not None and not check_OnlineEvalPolicy(v):
        return False
    return True


def check_Observation(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_ResultsFile(m: Any) -> bool:
    v = m.manifest
    if v is not None and not check_RunManifest(v):
        return False
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_RewardSpec(m: Any) -> bool:
    v = m.components
    for x in v:
        if not check_RewardComponent(x):
            return False
    return True


def check_RewardComponent(m: Any) -> bool:
    v = m.params
    if v and v.__class__ in (dict, list) and not is_shallow(v):
        return False
    return True


def check_ScoreRewardsRequest(m: Any) -> bool:
    v = m.spec
    if v is not None and not check_RewardSpec(v):
        return False
    v = m.rollouts
    for x in v:
        if not check_Record(x):
            return False
    return True


def check_CreateRunRequest(m: Any) -> bool:
    v = m.spec
    if v is not None and not check_RunSpec(v):
        return False
    return True


def check_CreateRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_GetRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_ListRunsResponse(m: Any) -> bool:
    v = m.runs
    for x in v:
        if not check_Run(x):
            return False
    return True


def check_WatchRunResponse(m: Any) -> bool:
    if (m.run is not None) + (m.progress is not None) + (m.result is not None) != 1:
        return False
    v = m.run
    if v is not None and not check_Run(v):
        return False
    v = m.result
    if v is not None and not check_EvaluationResult(v):
        return False
    return True


def check_CancelRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_ResumeRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_ArchiveRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_ListRunResultsResponse(m: Any) -> bool:
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    v = m.records_by_trial
    for x in v:
        if not check_RunRecordEvidence(x):
            return False
    v = m.whole_results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_RunRecordEvidence(m: Any) -> bool:
    v = m.record
    if v is not None and not check_Record(v):
        return False
    return True


def check_GetRecordEvidenceResponse(m: Any) -> bool:
    v = m.evidence
    if v is not None and not check_RunRecordEvidence(v):
        return False
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_CreateShadowReplayRequest(m: Any) -> bool:
    v = m.candidate
    if v is not None and not check_RunSpec(v):
        return False
    return True


def check_CreateShadowReplayResponse(m: Any) -> bool:
    v = m.baseline
    if v is not None and not check_Run(v):
        return False
    v = m.candidate
    if v is not None and not check_Run(v):
        return False
    return True


def check_ImportRunRequest(m: Any) -> bool:
    v = m.spec
    if v is not None and not check_RunSpec(v):
        return False
    v = m.records
    for x in v:
        if not check_Record(x):
            return False
    v = m.results
    for x in v:
        if not check_EvaluationResult(x):
            return False
    return True


def check_ImportRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


def check_RescoreRunRequest(m: Any) -> bool:
    v = m.evaluators
    for x in v:
        if not check_EvaluatorRef(x):
            return False
    return True


def check_RescoreRunResponse(m: Any) -> bool:
    v = m.run
    if v is not None and not check_Run(v):
        return False
    return True


QUICK_CHECKS: dict[str, Callable[[Any], bool]] = {
    "Record": check_Record,
    "Content": check_Content,
    "TabularRow": check_TabularRow,
    "Trajectory": check_Trajectory,
    "Step": check_Step,
    "Provenance": check_Provenance,
    "Score": check_Score,
    "EvaluationResult": check_EvaluationResult,
    "EvaluatorRef": check_EvaluatorRef,
    "EvaluatorManifest": check_EvaluatorManifest,
    "EvaluatorExample": check_EvaluatorExample,
    "PluginDescribeResponse": check_PluginDescribeResponse,
    "PluginEvaluateRequest": check_PluginEvaluateRequest,
    "PluginEvaluateResponse": check_PluginEvaluateResponse,
    "AgentTarget": check_AgentTarget,
    "Harness": check_Harness,
    "MockTool": check_MockTool,
    "Tools": check_Tools,
    "BuiltinHarness": check_BuiltinHarness,
    "Hook": check_Hook,
    "ExternalHarness": check_ExternalHarness,
    "SandboxExecResponse": check_SandboxExecResponse,
    "ListEvaluatorsResponse": check_ListEvaluatorsResponse,
    "EvaluateRequest": check_EvaluateRequest,
    "EvaluateResponse": check_EvaluateResponse,
    "EvaluateStreamConfig": check_EvaluateStreamConfig,
    "EvaluateStreamRequest": check_EvaluateStreamRequest,
    "EvaluateStreamResponse": check_EvaluateStreamResponse,
    "EvalRun": check_EvalRun,
    "RunSpec": check_RunSpec,
    "Target": check_Target,
    "ToolDefinition": check_ToolDefinition,
    "Sink": check_Sink,
    "DatasetSource": check_DatasetSource,
    "InlineRecords": check_InlineRecords,
    "Run": check_Run,
    "BoundRunEvaluator": check_BoundRunEvaluator,
    "RunEvaluationContract": check_RunEvaluationContract,
    "RunManifest": check_RunManifest,
    "JudgeManifest": check_JudgeManifest,
    "DatasetVersionContent": check_DatasetVersionContent,
    "DatasetVersion": check_DatasetVersion,
    "PublishDatasetVersionRequest": check_PublishDatasetVersionRequest,
    "PublishDatasetVersionResponse": check_PublishDatasetVersionResponse,
    "ListDatasetVersionsResponse": check_ListDatasetVersionsResponse,
    "GetDatasetVersionResponse": check_GetDatasetVersionResponse,
    "ReviewDatasetVersionResponse": check_ReviewDatasetVersionResponse,
    "UploadDatasetVersionRequest": check_UploadDatasetVersionRequest,
    "UploadDatasetVersionResponse": check_UploadDatasetVersionResponse,
    "PolicyResults": check_PolicyResults,
    "GetTraceResponse": check_GetTraceResponse,
    "GetSessionResponse": check_GetSessionResponse,
    "TraceScores": check_TraceScores,
    "ListScoresResponse": check_ListScoresResponse,
    "ListFeedbackResponse": check_ListFeedbackResponse,
    "Feedback": check_Feedback,
    "SubmitFeedbackRequest": check_SubmitFeedbackRequest,
    "FailureCase": check_FailureCase,
    "CaptureFailureResponse": check_CaptureFailureResponse,
    "ListFailuresResponse": check_ListFailuresResponse,
    "GetFailureResponse": check_GetFailureResponse,
    "UpdateFailureRequest": check_UpdateFailureRequest,
    "UpdateFailureResponse": check_UpdateFailureResponse,
    "ReviewFailureResponse": check_ReviewFailureResponse,
    "ExportFailuresResponse": check_ExportFailuresResponse,
    "OnlineEvalPolicy": check_OnlineEvalPolicy,
    "CascadeStage": check_CascadeStage,
    "ApplyPolicyRequest": check_ApplyPolicyRequest,
    "ApplyPolicyResponse": check_ApplyPolicyResponse,
    "ListPoliciesResponse": check_ListPoliciesResponse,
    "TestPolicyRequest": check_TestPolicyRequest,
    "Observation": check_Observation,
    "ResultsFile": check_ResultsFile,
    "RewardSpec": check_RewardSpec,
    "RewardComponent": check_RewardComponent,
    "ScoreRewardsRequest": check_ScoreRewardsRequest,
    "CreateRunRequest": check_CreateRunRequest,
    "CreateRunResponse": check_CreateRunResponse,
    "GetRunResponse": check_GetRunResponse,
    "ListRunsResponse": check_ListRunsResponse,
    "WatchRunResponse": check_WatchRunResponse,
    "CancelRunResponse": check_CancelRunResponse,
    "ResumeRunResponse": check_ResumeRunResponse,
    "ArchiveRunResponse": check_ArchiveRunResponse,
    "ListRunResultsResponse": check_ListRunResultsResponse,
    "RunRecordEvidence": check_RunRecordEvidence,
    "GetRecordEvidenceResponse": check_GetRecordEvidenceResponse,
    "CreateShadowReplayRequest": check_CreateShadowReplayRequest,
    "CreateShadowReplayResponse": check_CreateShadowReplayResponse,
    "ImportRunRequest": check_ImportRunRequest,
    "ImportRunResponse": check_ImportRunResponse,
    "RescoreRunRequest": check_RescoreRunRequest,
    "RescoreRunResponse": check_RescoreRunResponse,
}
