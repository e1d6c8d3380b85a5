# Generated from proto/ by tools/generate_schema.py. Edit the source, then run `make generate`.
"""From each Struct to protobuf's object: `fill_<Message>(struct, wire)` sets what is not zero."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from evalsi.schema.wire_values import fill_duration, fill_object, fill_timestamp, fill_value


def fill_Record(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.input
    if v is not None:
        w.input.SetInParent()
        fill_Content(v, w.input)
    v = s.output
    if v is not None:
        w.output.SetInParent()
        fill_Content(v, w.output)
    v = s.reference
    if v is not None:
        w.reference.SetInParent()
        fill_Content(v, w.reference)
    v = s.context
    if v:
        for x in v:
            fill_Content(x, w.context.add())
    v = s.trajectory
    if v is not None:
        w.trajectory.SetInParent()
        fill_Trajectory(v, w.trajectory)
    v = s.usage
    if v is not None:
        w.usage.SetInParent()
        fill_Usage(v, w.usage)
    v = s.metadata
    if v:
        for k, x in v.items():
            fill_value(x, w.metadata[k])
    v = s.provenance
    if v is not None:
        w.provenance.SetInParent()
        fill_Provenance(v, w.provenance)
    v = s.check
    if v is not None:
        w.check.SetInParent()
        fill_TaskCheck(v, w.check)
    v = s.notes
    if v:
        w.notes.extend(v)
    v = s.stop_reason
    if v:
        w.stop_reason = v


def fill_TaskCheck(s, w):
    v = s.passed
    if v:
        w.passed = v
    v = s.score
    if v is not None:
        w.score = v
    v = s.details
    if v:
        w.details = v
    v = s.tests
    if v:
        w.tests.update(v)
    v = s.error
    if v:
        w.error = v


def fill_Content(s, w):
    v = s.text
    if v is not None:
        w.text = v
    v = s.messages
    if v is not None:
        w.messages.SetInParent()
        fill_Messages(v, w.messages)
    v = s.json
    if v is not UNSET:
        w.json.SetInParent()
        fill_value(v, w.json)
    v = s.row
    if v is not None:
        w.row.SetInParent()
        fill_TabularRow(v, w.row)
    v = s.tensor
    if v is not None:
        w.tensor.SetInParent()
        fill_Tensor(v, w.tensor)
    v = s.media
    if v is not None:
        w.media.SetInParent()
        fill_MediaRef(v, w.media)


def fill_Messages(s, w):
    v = s.messages
    if v:
        for x in v:
            fill_Message(x, w.messages.add())


def fill_Message(s, w):
    v = s.role
    if v:
        w.role = v
    v = s.content
    if v:
        w.content = v
    v = s.tool_calls
    if v:
        for x in v:
            fill_ToolCall(x, w.tool_calls.add())
    v = s.tool_call_id
    if v:
        w.tool_call_id = v
    v = s.name
    if v:
        w.name = v


def fill_ToolCall(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.name
    if v:
        w.name = v
    v = s.arguments
    if v:
        w.arguments = v


def fill_TabularRow(s, w):
    v = s.features
    if v:
        for k, x in v.items():
            fill_value(x, w.features[k])
    v = s.prediction
    if v is not UNSET:
        w.prediction.SetInParent()
        fill_value(v, w.prediction)
    v = s.probabilities
    if v:
        w.probabilities.update(v)


def fill_Tensor(s, w):
    v = s.shape
    if v:
        w.shape.extend(v)
    v = s.dtype
    if v:
        w.dtype = v
    v = s.data
    if v:
        w.data = v


def fill_MediaRef(s, w):
    v = s.uri
    if v:
        w.uri = v
    v = s.media_type
    if v:
        w.media_type = v


def fill_Trajectory(s, w):
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.session_id
    if v:
        w.session_id = v
    v = s.steps
    if v:
        for x in v:
            fill_Step(x, w.steps.add())


def fill_Step(s, w):
    v = s.span_id
    if v:
        w.span_id = v
    v = s.parent_span_id
    if v:
        w.parent_span_id = v
    v = s.type
    if v.number:
        w.type = v.number
    v = s.name
    if v:
        w.name = v
    v = s.input
    if v is not None:
        w.input.SetInParent()
        fill_Content(v, w.input)
    v = s.output
    if v is not None:
        w.output.SetInParent()
        fill_Content(v, w.output)
    v = s.start_time
    if v is not None:
        w.start_time.SetInParent()
        fill_timestamp(v, w.start_time)
    v = s.end_time
    if v is not None:
        w.end_time.SetInParent()
        fill_timestamp(v, w.end_time)
    v = s.usage
    if v is not None:
        w.usage.SetInParent()
        fill_Usage(v, w.usage)
    v = s.error
    if v:
        w.error = v
    v = s.attributes
    if v:
        for k, x in v.items():
            fill_value(x, w.attributes[k])
    v = s.duration
    if v is not None:
        w.duration.SetInParent()
        fill_duration(v, w.duration)


def fill_Usage(s, w):
    v = s.input_tokens
    if v is not None:
        w.input_tokens = v
    v = s.output_tokens
    if v is not None:
        w.output_tokens = v
    v = s.cost_usd
    if v is not None:
        w.cost_usd = v
    v = s.latency
    if v is not None:
        w.latency.SetInParent()
        fill_duration(v, w.latency)
    v = s.cached_input_tokens
    if v is not None:
        w.cached_input_tokens = v
    v = s.cache_write_tokens
    if v is not None:
        w.cache_write_tokens = v
    v = s.reasoning_tokens
    if v is not None:
        w.reasoning_tokens = v
    v = s.cached
    if v:
        w.cached = v
    v = s.cached_cost_usd
    if v is not None:
        w.cached_cost_usd = v
    v = s.requests
    if v is not None:
        w.requests = v
    v = s.unpriced_requests
    if v:
        w.unpriced_requests = v
    v = s.time_to_first_token
    if v is not None:
        w.time_to_first_token.SetInParent()
        fill_duration(v, w.time_to_first_token)


def fill_Provenance(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_RunProvenance(v, w.run)
    v = s.trace
    if v is not None:
        w.trace.SetInParent()
        fill_TraceProvenance(v, w.trace)
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)


def fill_RunProvenance(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.task_id
    if v:
        w.task_id = v
    v = s.trial
    if v:
        w.trial = v


def fill_TraceProvenance(s, w):
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.policy_id
    if v:
        w.policy_id = v


def fill_IsolationReport(s, w):
    v = s.driver
    if v:
        w.driver = v
    v = s.level
    if v.number:
        w.level = v.number
    v = s.enforcement
    if v.number:
        w.enforcement = v.number
    v = s.notes
    if v:
        w.notes.extend(v)
    v = s.limits
    if v:
        w.limits.extend(v)


def fill_Score(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.number
    if v is not None:
        w.number = v
    v = s.passed
    if v is not None:
        w.passed = v
    v = s.label
    if v is not None:
        w.label = v
    v = s.structured
    if v is not UNSET:
        w.structured.SetInParent()
        fill_value(v, w.structured)
    v = s.explanation
    if v:
        w.explanation = v
    v = s.confidence
    if v is not None:
        w.confidence = v
    v = s.cost
    if v is not None:
        w.cost.SetInParent()
        fill_Usage(v, w.cost)
    v = s.metadata
    if v:
        for k, x in v.items():
            fill_value(x, w.metadata[k])


def fill_EvaluationResult(s, w):
    v = s.record_id
    if v:
        w.record_id = v
    v = s.evaluator
    if v:
        w.evaluator = v
    v = s.evaluator_ref
    if v:
        w.evaluator_ref = v
    v = s.outcome
    if v.number:
        w.outcome = v.number
    v = s.scores
    if v:
        for x in v:
            fill_Score(x, w.scores.add())
    v = s.reason
    if v:
        w.reason = v
    v = s.duration
    if v is not None:
        w.duration.SetInParent()
        fill_duration(v, w.duration)
    v = s.trial
    if v:
        w.trial = v
    v = s.error_kind
    if v.number:
        w.error_kind = v.number
    v = s.fault
    if v.number:
        w.fault = v.number
    v = s.span_id
    if v:
        w.span_id = v
    v = s.session_id
    if v:
        w.session_id = v
    v = s.usage
    if v is not None:
        w.usage.SetInParent()
        fill_Usage(v, w.usage)
    v = s.raw_reply
    if v:
        w.raw_reply = v
    v = s.detail
    if v:
        w.detail = v
    v = s.warnings
    if v:
        w.warnings.extend(v)
    v = s.attempts
    if v:
        w.attempts = v
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)


def fill_MetricSummary(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.evaluator
    if v:
        w.evaluator = v
    v = s.kind
    if v.number:
        w.kind = v.number
    v = s.n
    if v:
        w.n = v
    v = s.mean
    if v is not None:
        w.mean = v
    v = s.std
    if v is not None:
        w.std = v
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)
    v = s.skipped
    if v:
        w.skipped = v
    v = s.errors
    if v:
        w.errors = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.clusters
    if v is not None:
        w.clusters = v
    v = s.total
    if v:
        w.total = v
    v = s.cancelled
    if v:
        w.cancelled = v
    v = s.coverage
    if v is not None:
        w.coverage = v
    v = s.higher_is_better
    if v is not None:
        w.higher_is_better = v
    v = s.error_kinds
    if v:
        w.error_kinds.update(v)
    v = s.skip_reasons
    if v:
        w.skip_reasons.update(v)
    v = s.min
    if v is not None:
        w.min = v
    v = s.median
    if v is not None:
        w.median = v
    v = s.max
    if v is not None:
        w.max = v
    v = s.evaluator_ref
    if v:
        w.evaluator_ref = v
    v = s.unit
    if v:
        w.unit = v
    v = s.notes
    if v:
        w.notes.extend(v)
    v = s.trial_variance
    if v is not None:
        w.trial_variance.SetInParent()
        fill_TrialVariance(v, w.trial_variance)


def fill_TrialVariance(s, w):
    v = s.between_records
    if v:
        w.between_records = v
    v = s.within_records
    if v:
        w.within_records = v
    v = s.intraclass_correlation
    if v is not None:
        w.intraclass_correlation = v
    v = s.records
    if v:
        w.records = v
    v = s.trials
    if v:
        w.trials = v


def fill_ConfidenceInterval(s, w):
    v = s.low
    if v:
        w.low = v
    v = s.high
    if v:
        w.high = v
    v = s.level
    if v:
        w.level = v
    v = s.method
    if v:
        w.method = v
    v = s.resamples
    if v:
        w.resamples = v
    v = s.seed
    if v is not None:
        w.seed = v


def fill_EvaluatorRef(s, w):
    v = s.ref
    if v:
        w.ref = v
    v = s.params
    if v:
        fill_object(v, w.params)
    v = s.name
    if v:
        w.name = v
    v = s.judge
    if v:
        w.judge = v
    v = s.deadline
    if v is not None:
        w.deadline.SetInParent()
        fill_duration(v, w.deadline)


def fill_Requirements(s, w):
    v = s.input
    if v:
        w.input = v
    v = s.output
    if v:
        w.output = v
    v = s.reference
    if v:
        w.reference = v
    v = s.context
    if v:
        w.context = v
    v = s.trajectory
    if v:
        w.trajectory = v
    v = s.judge
    if v:
        w.judge = v
    v = s.isolation
    if v.number:
        w.isolation = v.number
    v = s.usage
    if v:
        w.usage = v
    v = s.check
    if v:
        w.check = v
    v = s.metadata
    if v:
        w.metadata.extend(v)


def fill_MetricSpec(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.type
    if v.number:
        w.type = v.number
    v = s.min
    if v is not None:
        w.min = v
    v = s.max
    if v is not None:
        w.max = v
    v = s.higher_is_better
    if v is not None:
        w.higher_is_better = v
    v = s.description
    if v:
        w.description = v
    v = s.interval
    if v:
        w.interval = v
    v = s.unit
    if v:
        w.unit = v
    v = s.labels
    if v:
        w.labels.extend(v)


def fill_Scheduling(s, w):
    v = s.pool
    if v:
        w.pool = v
    v = s.batchable
    if v:
        w.batchable = v
    v = s.max_batch
    if v:
        w.max_batch = v


def fill_EvaluatorManifest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.description
    if v:
        w.description = v
    v = s.pack
    if v:
        w.pack = v
    v = s.scope
    if v.number:
        w.scope = v.number
    v = s.modalities
    if v:
        w.modalities.extend(v)
    v = s.requires
    if v is not None:
        w.requires.SetInParent()
        fill_Requirements(v, w.requires)
    v = s.outputs
    if v:
        for x in v:
            fill_MetricSpec(x, w.outputs.add())
    v = s.params_schema
    if v:
        fill_object(v, w.params_schema)
    v = s.scheduling
    if v is not None:
        w.scheduling.SetInParent()
        fill_Scheduling(v, w.scheduling)
    v = s.tier
    if v:
        w.tier = v
    v = s.runtime
    if v:
        w.runtime = v
    v = s.entry_point
    if v:
        w.entry_point = v
    v = s.example
    if v is not None:
        w.example.SetInParent()
        fill_EvaluatorExample(v, w.example)
    v = s.distribution
    if v:
        w.distribution = v
    v = s.deprecated
    if v:
        w.deprecated = v


def fill_EvaluatorExample(s, w):
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.params
    if v:
        fill_object(v, w.params)
    v = s.scores
    if v:
        for x in v:
            fill_Score(x, w.scores.add())


def fill_PluginDescribeRequest(s, w):
    pass


def fill_PluginDescribeResponse(s, w):
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorManifest(x, w.evaluators.add())


def fill_PluginEvaluateRequest(s, w):
    v = s.batch_id
    if v:
        w.batch_id = v
    v = s.evaluator
    if v:
        w.evaluator = v
    v = s.params
    if v:
        fill_object(v, w.params)
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.judge
    if v:
        w.judge = v


def fill_PluginEvaluateResponse(s, w):
    v = s.batch_id
    if v:
        w.batch_id = v
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())


def fill_AgentTarget(s, w):
    v = s.a2a
    if v is not None:
        w.a2a.SetInParent()
        fill_A2AAgent(v, w.a2a)
    v = s.mcp
    if v is not None:
        w.mcp.SetInParent()
        fill_MCPAgent(v, w.mcp)
    v = s.responses
    if v is not None:
        w.responses.SetInParent()
        fill_ResponsesAgent(v, w.responses)
    v = s.http
    if v is not None:
        w.http.SetInParent()
        fill_HTTPAgent(v, w.http)
    v = s.cli
    if v is not None:
        w.cli.SetInParent()
        fill_CLIAgent(v, w.cli)


def fill_A2AAgent(s, w):
    v = s.url
    if v:
        w.url = v
    v = s.headers_env
    if v:
        w.headers_env.update(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.stream
    if v:
        w.stream = v
    v = s.binding
    if v:
        w.binding = v


def fill_MCPAgent(s, w):
    v = s.url
    if v:
        w.url = v
    v = s.tool
    if v:
        w.tool = v
    v = s.argument
    if v:
        w.argument = v
    v = s.headers_env
    if v:
        w.headers_env.update(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)


def fill_ResponsesAgent(s, w):
    v = s.base_url
    if v:
        w.base_url = v
    v = s.model
    if v:
        w.model = v
    v = s.api_key_env
    if v:
        w.api_key_env = v
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)


def fill_HTTPAgent(s, w):
    v = s.url
    if v:
        w.url = v
    v = s.method
    if v:
        w.method = v
    v = s.headers_env
    if v:
        w.headers_env.update(v)
    v = s.body_template
    if v:
        w.body_template = v
    v = s.output_path
    if v:
        w.output_path = v
    v = s.messages_path
    if v:
        w.messages_path = v
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.usage_path
    if v:
        w.usage_path = v
    v = s.trajectory_path
    if v:
        w.trajectory_path = v
    v = s.stream
    if v:
        w.stream = v
    v = s.delta_path
    if v:
        w.delta_path = v
    v = s.stop_reason_path
    if v:
        w.stop_reason_path = v
    v = s.headers
    if v:
        w.headers.update(v)


def fill_CLIAgent(s, w):
    v = s.command
    if v:
        w.command.extend(v)
    v = s.install
    if v:
        w.install.extend(v)
    v = s.env_from
    if v:
        w.env_from.update(v)
    v = s.allow_hosts
    if v:
        w.allow_hosts.extend(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.output_format
    if v:
        w.output_format = v


def fill_Harness(s, w):
    v = s.builtin
    if v is not None:
        w.builtin.SetInParent()
        fill_BuiltinHarness(v, w.builtin)
    v = s.external
    if v is not None:
        w.external.SetInParent()
        fill_ExternalHarness(v, w.external)


def fill_AgentBudget(s, w):
    v = s.usd
    if v:
        w.usd = v
    v = s.wall_clock
    if v is not None:
        w.wall_clock.SetInParent()
        fill_duration(v, w.wall_clock)
    v = s.tokens
    if v:
        w.tokens = v


def fill_Pricing(s, w):
    v = s.input_per_mtok
    if v:
        w.input_per_mtok = v
    v = s.output_per_mtok
    if v:
        w.output_per_mtok = v
    v = s.free
    if v:
        w.free = v


def fill_MCPServer(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.url
    if v:
        w.url = v
    v = s.command
    if v:
        w.command.extend(v)
    v = s.headers_env
    if v:
        w.headers_env.update(v)
    v = s.tools
    if v:
        w.tools.extend(v)
    v = s.timeout_s
    if v:
        w.timeout_s = v
    v = s.tool_timeout_s
    if v:
        w.tool_timeout_s.update(v)
    v = s.resources
    if v:
        w.resources = v
    v = s.prompts
    if v:
        w.prompts = v
    v = s.elicitation
    if v:
        w.elicitation = v
    v = s.oauth
    if v is not None:
        w.oauth.SetInParent()
        fill_MCPOAuth(v, w.oauth)


def fill_MCPOAuth(s, w):
    v = s.token_url
    if v:
        w.token_url = v
    v = s.client_id_env
    if v:
        w.client_id_env = v
    v = s.client_secret_env
    if v:
        w.client_secret_env = v
    v = s.scope
    if v:
        w.scope = v


def fill_MockTool(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.description
    if v:
        w.description = v
    v = s.input_schema
    if v:
        fill_object(v, w.input_schema)
    v = s.response
    if v:
        w.response = v
    v = s.responses
    if v:
        w.responses.update(v)


def fill_ToolFault(s, w):
    v = s.tool
    if v:
        w.tool = v
    v = s.kind
    if v:
        w.kind = v
    v = s.rate
    if v:
        w.rate = v
    v = s.payload
    if v:
        w.payload = v


def fill_Tools(s, w):
    v = s.sandbox
    if v is not None:
        w.sandbox = v
    v = s.mcp
    if v:
        for x in v:
            fill_MCPServer(x, w.mcp.add())
    v = s.mocks
    if v:
        for x in v:
            fill_MockTool(x, w.mocks.add())
    v = s.faults
    if v:
        for x in v:
            fill_ToolFault(x, w.faults.add())
    v = s.builtin
    if v:
        w.builtin.extend(v)


def fill_UserSimulator(s, w):
    v = s.judge
    if v:
        w.judge = v
    v = s.persona
    if v:
        w.persona = v
    v = s.goal
    if v:
        w.goal = v
    v = s.max_turns
    if v:
        w.max_turns = v


def fill_Recording(s, w):
    v = s.mode
    if v:
        w.mode = v
    v = s.dir
    if v:
        w.dir = v
    v = s.branch_at_step
    if v:
        w.branch_at_step = v
    v = s.fork_as
    if v:
        w.fork_as = v


def fill_EscalationPolicy(s, w):
    v = s.allow
    if v:
        w.allow.extend(v)


def fill_BuiltinHarness(s, w):
    v = s.max_steps
    if v:
        w.max_steps = v
    v = s.budget
    if v is not None:
        w.budget.SetInParent()
        fill_AgentBudget(v, w.budget)
    v = s.pricing
    if v is not None:
        w.pricing.SetInParent()
        fill_Pricing(v, w.pricing)
    v = s.tools
    if v is not None:
        w.tools.SetInParent()
        fill_Tools(v, w.tools)
    v = s.user_simulator
    if v is not None:
        w.user_simulator.SetInParent()
        fill_UserSimulator(v, w.user_simulator)
    v = s.recording
    if v is not None:
        w.recording.SetInParent()
        fill_Recording(v, w.recording)
    v = s.escalation
    if v is not None:
        w.escalation.SetInParent()
        fill_EscalationPolicy(v, w.escalation)
    v = s.parallel_tool_calls
    if v is not None:
        w.parallel_tool_calls = v
    v = s.instructions
    if v:
        w.instructions = v
    v = s.context
    if v is not None:
        w.context.SetInParent()
        fill_ContextManagement(v, w.context)
    v = s.hooks
    if v:
        for x in v:
            fill_Hook(x, w.hooks.add())
    v = s.delegate_steps
    if v:
        w.delegate_steps = v
    v = s.profile
    if v:
        w.profile = v
    v = s.interjections
    if v:
        for x in v:
            fill_Interjection(x, w.interjections.add())


def fill_Interjection(s, w):
    v = s.at_step
    if v:
        w.at_step = v
    v = s.message
    if v:
        w.message = v


def fill_Hook(s, w):
    v = s.python
    if v:
        w.python = v
    v = s.config
    if v:
        fill_object(v, w.config)


def fill_ContextManagement(s, w):
    v = s.strategy
    if v:
        w.strategy = v
    v = s.window_tokens
    if v:
        w.window_tokens = v
    v = s.trigger
    if v:
        w.trigger = v
    v = s.target
    if v:
        w.target = v
    v = s.keep_recent
    if v:
        w.keep_recent = v
    v = s.keep_turns
    if v:
        w.keep_turns = v
    v = s.summary_max_tokens
    if v:
        w.summary_max_tokens = v
    v = s.spill_outputs
    if v:
        w.spill_outputs = v
    v = s.rounds
    if v:
        w.rounds = v
    v = s.round_steps
    if v:
        w.round_steps = v


def fill_ExternalHarness(s, w):
    v = s.address
    if v is not None:
        w.address = v
    v = s.command
    if v is not None:
        w.command.SetInParent()
        fill_CommandHarness(v, w.command)
    v = s.python
    if v is not None:
        w.python = v
    v = s.config
    if v:
        fill_object(v, w.config)


def fill_CommandHarness(s, w):
    v = s.argv
    if v:
        w.argv.extend(v)


def fill_SandboxPolicy(s, w):
    v = s.min_isolation
    if v:
        w.min_isolation = v
    v = s.network
    if v:
        w.network = v
    v = s.allow_hosts
    if v:
        w.allow_hosts.extend(v)
    v = s.memory_mb
    if v:
        w.memory_mb = v
    v = s.max_procs
    if v:
        w.max_procs = v
    v = s.workdir
    if v:
        w.workdir = v
    v = s.read_only_root
    if v:
        w.read_only_root = v


def fill_Checker(s, w):
    v = s.command
    if v:
        w.command.extend(v)
    v = s.files
    if v:
        w.files.update(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.parser
    if v:
        w.parser = v
    v = s.protect
    if v:
        w.protect.extend(v)
    v = s.on_change
    if v:
        w.on_change = v
    v = s.isolation
    if v:
        w.isolation = v
    v = s.outputs
    if v:
        w.outputs.extend(v)


def fill_Environment(s, w):
    v = s.image
    if v:
        w.image = v
    v = s.files
    if v:
        w.files.update(v)
    v = s.setup
    if v:
        w.setup.extend(v)
    v = s.setup_timeout
    if v is not None:
        w.setup_timeout.SetInParent()
        fill_duration(v, w.setup_timeout)
    v = s.setup_network
    if v:
        w.setup_network = v
    v = s.setup_allow_hosts
    if v:
        w.setup_allow_hosts.extend(v)
    v = s.sandbox
    if v is not None:
        w.sandbox.SetInParent()
        fill_SandboxPolicy(v, w.sandbox)
    v = s.checker
    if v is not None:
        w.checker.SetInParent()
        fill_Checker(v, w.checker)
    v = s.env
    if v:
        w.env.update(v)
    v = s.command_timeout
    if v is not None:
        w.command_timeout.SetInParent()
        fill_duration(v, w.command_timeout)
    v = s.services
    if v:
        for x in v:
            fill_EnvironmentService(x, w.services.add())
    v = s.service_lifetime
    if v is not None:
        w.service_lifetime.SetInParent()
        fill_duration(v, w.service_lifetime)


def fill_EnvironmentService(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.image
    if v:
        w.image = v
    v = s.command
    if v:
        w.command.extend(v)
    v = s.env
    if v:
        w.env.update(v)
    v = s.port
    if v:
        w.port = v
    v = s.depends_on
    if v:
        w.depends_on.extend(v)
    v = s.memory_mb
    if v:
        w.memory_mb = v
    v = s.cpu_millis
    if v:
        w.cpu_millis = v


def fill_SandboxProbeRequest(s, w):
    pass


def fill_SandboxRungStatus(s, w):
    v = s.driver
    if v:
        w.driver = v
    v = s.level
    if v.number:
        w.level = v.number
    v = s.available
    if v:
        w.available = v
    v = s.reason
    if v:
        w.reason = v
    v = s.warning
    if v:
        w.warning = v
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)
    v = s.limits
    if v:
        w.limits.extend(v)
    v = s.remedy
    if v:
        w.remedy = v


def fill_SandboxProbeResponse(s, w):
    v = s.rungs
    if v:
        for x in v:
            fill_SandboxRungStatus(x, w.rungs.add())
    v = s.services_supported
    if v:
        w.services_supported = v


def fill_SandboxNetworkPolicy(s, w):
    v = s.mode
    if v.number:
        w.mode = v.number
    v = s.allow
    if v:
        w.allow.extend(v)


def fill_SandboxResources(s, w):
    v = s.memory_mb
    if v:
        w.memory_mb = v
    v = s.max_procs
    if v:
        w.max_procs = v
    v = s.max_file_mb
    if v:
        w.max_file_mb = v
    v = s.cpu_seconds
    if v:
        w.cpu_seconds = v
    v = s.disk_mb
    if v:
        w.disk_mb = v
    v = s.max_files
    if v:
        w.max_files = v
    v = s.wall
    if v is not None:
        w.wall.SetInParent()
        fill_duration(v, w.wall)
    v = s.output_bytes
    if v:
        w.output_bytes = v


def fill_SandboxSpec(s, w):
    v = s.image
    if v:
        w.image = v
    v = s.min_isolation
    if v:
        w.min_isolation = v
    v = s.mode
    if v:
        w.mode = v
    v = s.network
    if v is not None:
        w.network.SetInParent()
        fill_SandboxNetworkPolicy(v, w.network)
    v = s.resources
    if v is not None:
        w.resources.SetInParent()
        fill_SandboxResources(v, w.resources)
    v = s.env
    if v:
        w.env.update(v)
    v = s.files
    if v:
        w.files.update(v)
    v = s.workdir
    if v:
        w.workdir = v
    v = s.idle_timeout
    if v is not None:
        w.idle_timeout.SetInParent()
        fill_duration(v, w.idle_timeout)
    v = s.read_only_root
    if v:
        w.read_only_root = v
    v = s.services
    if v:
        for x in v:
            fill_EnvironmentService(x, w.services.add())
    v = s.service_lifetime
    if v is not None:
        w.service_lifetime.SetInParent()
        fill_duration(v, w.service_lifetime)


def fill_SandboxCreateRequest(s, w):
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_SandboxSpec(v, w.spec)


def fill_SandboxCreateResponse(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)
    v = s.image_digest
    if v:
        w.image_digest = v
    v = s.idle_timeout
    if v is not None:
        w.idle_timeout.SetInParent()
        fill_duration(v, w.idle_timeout)


def fill_SandboxExecRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.command
    if v:
        w.command.extend(v)
    v = s.stdin
    if v:
        w.stdin = v
    v = s.env
    if v:
        w.env.update(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.output_limit_bytes
    if v:
        w.output_limit_bytes = v
    v = s.cwd
    if v:
        w.cwd = v
    v = s.policy
    if v.number:
        w.policy = v.number


def fill_SandboxExecResult(s, w):
    v = s.outcome
    if v.number:
        w.outcome = v.number
    v = s.exit_code
    if v:
        w.exit_code = v
    v = s.duration
    if v is not None:
        w.duration.SetInParent()
        fill_duration(v, w.duration)
    v = s.truncated
    if v:
        w.truncated = v
    v = s.denials
    if v:
        w.denials.extend(v)
    v = s.error
    if v:
        w.error = v
    v = s.cpu_time
    if v is not None:
        w.cpu_time.SetInParent()
        fill_duration(v, w.cpu_time)
    v = s.has_exit_code
    if v:
        w.has_exit_code = v
    v = s.egress
    if v:
        for x in v:
            fill_SandboxEgressEvent(x, w.egress.add())


def fill_SandboxExecResponse(s, w):
    v = s.stdout
    if v is not None:
        w.stdout = v
    v = s.stderr
    if v is not None:
        w.stderr = v
    v = s.result
    if v is not None:
        w.result.SetInParent()
        fill_SandboxExecResult(v, w.result)


def fill_SandboxFile(s, w):
    v = s.path
    if v:
        w.path = v
    v = s.content
    if v:
        w.content = v
    v = s.mode
    if v:
        w.mode = v


def fill_SandboxWriteFilesRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.files
    if v:
        for x in v:
            fill_SandboxFile(x, w.files.add())


def fill_SandboxWriteFilesResponse(s, w):
    pass


def fill_SandboxReadFilesRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.paths
    if v:
        w.paths.extend(v)
    v = s.max_bytes
    if v:
        w.max_bytes = v


def fill_SandboxReadFilesResponse(s, w):
    v = s.files
    if v:
        for x in v:
            fill_SandboxFile(x, w.files.add())
    v = s.missing
    if v:
        w.missing.extend(v)
    v = s.truncated
    if v:
        w.truncated = v


def fill_SandboxSnapshotRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v


def fill_SandboxSnapshotResponse(s, w):
    v = s.snapshot_id
    if v:
        w.snapshot_id = v


def fill_SandboxRestoreRequest(s, w):
    v = s.snapshot_id
    if v:
        w.snapshot_id = v
    v = s.network
    if v is not None:
        w.network.SetInParent()
        fill_SandboxNetworkPolicy(v, w.network)


def fill_SandboxRestoreResponse(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)
    v = s.image_digest
    if v:
        w.image_digest = v
    v = s.idle_timeout
    if v is not None:
        w.idle_timeout.SetInParent()
        fill_duration(v, w.idle_timeout)


def fill_SandboxStatsRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v
    v = s.include_service_logs
    if v:
        w.include_service_logs = v


def fill_SandboxEgressEvent(s, w):
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)
    v = s.host
    if v:
        w.host = v
    v = s.port
    if v:
        w.port = v
    v = s.allowed
    if v:
        w.allowed = v
    v = s.bytes_sent
    if v:
        w.bytes_sent = v
    v = s.bytes_received
    if v:
        w.bytes_received = v
    v = s.address
    if v:
        w.address = v
    v = s.reason
    if v:
        w.reason = v


def fill_SandboxStatsResponse(s, w):
    v = s.execs
    if v:
        w.execs = v
    v = s.cpu_time
    if v is not None:
        w.cpu_time.SetInParent()
        fill_duration(v, w.cpu_time)
    v = s.max_rss_bytes
    if v:
        w.max_rss_bytes = v
    v = s.egress
    if v:
        for x in v:
            fill_SandboxEgressEvent(x, w.egress.add())
    v = s.services
    if v:
        for x in v:
            fill_SandboxServiceStatus(x, w.services.add())


def fill_SandboxServiceStatus(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.ready
    if v:
        w.ready = v
    v = s.restarts
    if v:
        w.restarts = v
    v = s.reason
    if v:
        w.reason = v
    v = s.logs
    if v:
        w.logs = v


def fill_SandboxDestroyRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v


def fill_SandboxDestroyResponse(s, w):
    pass


def fill_SandboxDeleteSnapshotRequest(s, w):
    v = s.snapshot_id
    if v:
        w.snapshot_id = v


def fill_SandboxDeleteSnapshotResponse(s, w):
    pass


def fill_SandboxRenewRequest(s, w):
    v = s.sandbox_id
    if v:
        w.sandbox_id = v


def fill_SandboxRenewResponse(s, w):
    v = s.idle_timeout
    if v is not None:
        w.idle_timeout.SetInParent()
        fill_duration(v, w.idle_timeout)


def fill_SandboxRunPythonRequest(s, w):
    v = s.source
    if v:
        w.source = v
    v = s.stdins
    if v:
        w.stdins.extend(v)
    v = s.files
    if v:
        for x in v:
            fill_SandboxFile(x, w.files.add())
    v = s.resources
    if v is not None:
        w.resources.SetInParent()
        fill_SandboxResources(v, w.resources)
    v = s.min_isolation
    if v:
        w.min_isolation = v


def fill_SandboxPythonRun(s, w):
    v = s.result
    if v is not None:
        w.result.SetInParent()
        fill_SandboxExecResult(v, w.result)
    v = s.stdout
    if v:
        w.stdout = v
    v = s.stderr
    if v:
        w.stderr = v


def fill_SandboxRunPythonResponse(s, w):
    v = s.runs
    if v:
        for x in v:
            fill_SandboxPythonRun(x, w.runs.add())
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)


def fill_Principal(s, w):
    v = s.kind
    if v:
        w.kind = v
    v = s.provider
    if v:
        w.provider = v
    v = s.subject
    if v:
        w.subject = v
    v = s.name
    if v:
        w.name = v
    v = s.email
    if v:
        w.email = v
    v = s.groups
    if v:
        w.groups.extend(v)
    v = s.method
    if v:
        w.method = v
    v = s.id
    if v:
        w.id = v
    v = s.labels
    if v:
        w.labels.update(v)


def fill_ProjectAccess(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.roles
    if v:
        w.roles.extend(v)
    v = s.permissions
    if v:
        w.permissions.extend(v)


def fill_WhoAmIRequest(s, w):
    pass


def fill_WhoAmIResponse(s, w):
    v = s.principal
    if v is not None:
        w.principal.SetInParent()
        fill_Principal(v, w.principal)
    v = s.owner
    if v:
        w.owner = v
    v = s.access
    if v:
        for x in v:
            fill_ProjectAccess(x, w.access.add())
    v = s.auth_enabled
    if v:
        w.auth_enabled = v


def fill_Project(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.description
    if v:
        w.description = v
    v = s.source
    if v:
        w.source = v
    v = s.created_at
    if v is not None:
        w.created_at.SetInParent()
        fill_timestamp(v, w.created_at)
    v = s.created_by
    if v:
        w.created_by = v


def fill_ListProjectsRequest(s, w):
    pass


def fill_ListProjectsResponse(s, w):
    v = s.projects
    if v:
        for x in v:
            fill_Project(x, w.projects.add())


def fill_CreateProjectRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.description
    if v:
        w.description = v


def fill_CreateProjectResponse(s, w):
    v = s.project
    if v is not None:
        w.project.SetInParent()
        fill_Project(v, w.project)


def fill_RoleList(s, w):
    v = s.roles
    if v:
        w.roles.extend(v)


def fill_APIKey(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.roles
    if v:
        for k, x in v.items():
            fill_RoleList(x, w.roles[k])
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.created_at
    if v is not None:
        w.created_at.SetInParent()
        fill_timestamp(v, w.created_at)
    v = s.expires_at
    if v is not None:
        w.expires_at.SetInParent()
        fill_timestamp(v, w.expires_at)
    v = s.last_used_at
    if v is not None:
        w.last_used_at.SetInParent()
        fill_timestamp(v, w.last_used_at)
    v = s.created_by
    if v:
        w.created_by = v
    v = s.source
    if v:
        w.source = v
    v = s.prefix
    if v:
        w.prefix = v
    v = s.revoked
    if v:
        w.revoked = v


def fill_CreateAPIKeyRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.roles
    if v:
        for k, x in v.items():
            fill_RoleList(x, w.roles[k])
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.ttl
    if v is not None:
        w.ttl.SetInParent()
        fill_duration(v, w.ttl)


def fill_CreateAPIKeyResponse(s, w):
    v = s.key
    if v is not None:
        w.key.SetInParent()
        fill_APIKey(v, w.key)
    v = s.secret
    if v:
        w.secret = v


def fill_ListAPIKeysRequest(s, w):
    v = s.project
    if v:
        w.project = v


def fill_ListAPIKeysResponse(s, w):
    v = s.keys
    if v:
        for x in v:
            fill_APIKey(x, w.keys.add())


def fill_RevokeAPIKeyRequest(s, w):
    v = s.name
    if v:
        w.name = v


def fill_RevokeAPIKeyResponse(s, w):
    pass


def fill_Role(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.description
    if v:
        w.description = v
    v = s.permissions
    if v:
        w.permissions.extend(v)
    v = s.inherits
    if v:
        w.inherits.extend(v)
    v = s.condition
    if v:
        w.condition = v
    v = s.source
    if v:
        w.source = v


def fill_ListRolesRequest(s, w):
    v = s.project
    if v:
        w.project = v


def fill_ListRolesResponse(s, w):
    v = s.roles
    if v:
        for x in v:
            fill_Role(x, w.roles.add())


def fill_CreateRoleRequest(s, w):
    v = s.role
    if v is not None:
        w.role.SetInParent()
        fill_Role(v, w.role)


def fill_CreateRoleResponse(s, w):
    v = s.role
    if v is not None:
        w.role.SetInParent()
        fill_Role(v, w.role)


def fill_UpdateRoleRequest(s, w):
    v = s.role
    if v is not None:
        w.role.SetInParent()
        fill_Role(v, w.role)


def fill_UpdateRoleResponse(s, w):
    v = s.role
    if v is not None:
        w.role.SetInParent()
        fill_Role(v, w.role)


def fill_DeleteRoleRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v


def fill_DeleteRoleResponse(s, w):
    pass


def fill_Permission(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.description
    if v:
        w.description = v
    v = s.install_wide
    if v:
        w.install_wide = v


def fill_ListPermissionsRequest(s, w):
    pass


def fill_ListPermissionsResponse(s, w):
    v = s.permissions
    if v:
        for x in v:
            fill_Permission(x, w.permissions.add())


def fill_RoleBinding(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.role
    if v:
        w.role = v
    v = s.subject
    if v:
        w.subject = v
    v = s.source
    if v:
        w.source = v
    v = s.created_at
    if v is not None:
        w.created_at.SetInParent()
        fill_timestamp(v, w.created_at)
    v = s.created_by
    if v:
        w.created_by = v


def fill_ListBindingsRequest(s, w):
    v = s.project
    if v:
        w.project = v


def fill_ListBindingsResponse(s, w):
    v = s.bindings
    if v:
        for x in v:
            fill_RoleBinding(x, w.bindings.add())


def fill_CreateBindingRequest(s, w):
    v = s.binding
    if v is not None:
        w.binding.SetInParent()
        fill_RoleBinding(v, w.binding)


def fill_CreateBindingResponse(s, w):
    v = s.binding
    if v is not None:
        w.binding.SetInParent()
        fill_RoleBinding(v, w.binding)


def fill_DeleteBindingRequest(s, w):
    v = s.binding
    if v is not None:
        w.binding.SetInParent()
        fill_RoleBinding(v, w.binding)


def fill_DeleteBindingResponse(s, w):
    pass


def fill_AuditEvent(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)
    v = s.principal
    if v:
        w.principal = v
    v = s.action
    if v:
        w.action = v
    v = s.project
    if v:
        w.project = v
    v = s.resource
    if v:
        w.resource = v
    v = s.allowed
    if v:
        w.allowed = v
    v = s.reason
    if v:
        w.reason = v
    v = s.procedure
    if v:
        w.procedure = v
    v = s.request_id
    if v:
        w.request_id = v
    v = s.source
    if v:
        w.source = v
    v = s.detail
    if v:
        w.detail = v
    v = s.auth_method
    if v:
        w.auth_method = v
    v = s.issuer
    if v:
        w.issuer = v
    v = s.token_id
    if v:
        w.token_id = v
    v = s.key_id
    if v:
        w.key_id = v
    v = s.api_key
    if v:
        w.api_key = v
    v = s.cert_fingerprint
    if v:
        w.cert_fingerprint = v
    v = s.groups
    if v:
        w.groups.extend(v)
    v = s.subject
    if v:
        w.subject = v
    v = s.actor
    if v:
        w.actor = v
    v = s.sequence
    if v:
        w.sequence = v
    v = s.prev_hash
    if v:
        w.prev_hash = v
    v = s.hash
    if v:
        w.hash = v


def fill_VerifyAuditLogRequest(s, w):
    pass


def fill_VerifyAuditLogResponse(s, w):
    v = s.ok
    if v:
        w.ok = v
    v = s.checked
    if v:
        w.checked = v
    v = s.first_sequence
    if v:
        w.first_sequence = v
    v = s.last_sequence
    if v:
        w.last_sequence = v
    v = s.last_hash
    if v:
        w.last_hash = v
    v = s.break_sequence
    if v:
        w.break_sequence = v
    v = s.problem
    if v:
        w.problem = v
    v = s.unchained
    if v:
        w.unchained = v


def fill_ListAuditEventsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v
    v = s.action
    if v:
        w.action = v
    v = s.denied_only
    if v:
        w.denied_only = v


def fill_ListAuditEventsResponse(s, w):
    v = s.events
    if v:
        for x in v:
            fill_AuditEvent(x, w.events.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_ListEvaluatorsRequest(s, w):
    pass


def fill_ListEvaluatorsResponse(s, w):
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorManifest(x, w.evaluators.add())
    v = s.judges
    if v:
        w.judges.extend(v)
    v = s.default_judge
    if v:
        w.default_judge = v


def fill_ListCredentialsRequest(s, w):
    v = s.project
    if v:
        w.project = v


def fill_ListCredentialsResponse(s, w):
    v = s.enforced
    if v:
        w.enforced = v
    v = s.grants
    if v:
        for x in v:
            fill_CredentialGrant(x, w.grants.add())
    v = s.judges
    if v:
        w.judges.extend(v)


def fill_CredentialGrant(s, w):
    v = s.env
    if v:
        w.env = v
    v = s.hosts
    if v:
        w.hosts.extend(v)
    v = s.allow_http
    if v:
        w.allow_http = v
    v = s.all_projects
    if v:
        w.all_projects = v


def fill_EvaluateRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorRef(x, w.evaluators.add())
    v = s.judge
    if v:
        w.judge = v
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_SummaryOptions(v, w.summary)


def fill_EvaluateResponse(s, w):
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())


def fill_SummaryOptions(s, w):
    v = s.confidence_level
    if v:
        w.confidence_level = v
    v = s.cluster_by
    if v:
        w.cluster_by = v
    v = s.ci_method
    if v.number:
        w.ci_method = v.number
    v = s.exclude_flagged_trials
    if v:
        w.exclude_flagged_trials = v
    v = s.resamples
    if v:
        w.resamples = v
    v = s.seed
    if v:
        w.seed = v


def fill_EvaluateStreamConfig(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorRef(x, w.evaluators.add())
    v = s.judge
    if v:
        w.judge = v
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_SummaryOptions(v, w.summary)


def fill_EvaluateStreamRequest(s, w):
    v = s.config
    if v is not None:
        w.config.SetInParent()
        fill_EvaluateStreamConfig(v, w.config)
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)


def fill_MetricSummaries(s, w):
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())


def fill_EvaluateStreamResponse(s, w):
    v = s.result
    if v is not None:
        w.result.SetInParent()
        fill_EvaluationResult(v, w.result)
    v = s.summaries
    if v is not None:
        w.summaries.SetInParent()
        fill_MetricSummaries(v, w.summaries)


def fill_EvalRun(s, w):
    v = s.api_version
    if v:
        w.api_version = v
    v = s.kind
    if v:
        w.kind = v
    v = s.metadata
    if v is not None:
        w.metadata.SetInParent()
        fill_RunMetadata(v, w.metadata)
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RunSpec(v, w.spec)


def fill_RunMetadata(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.description
    if v:
        w.description = v


def fill_RunSpec(s, w):
    v = s.target
    if v is not None:
        w.target.SetInParent()
        fill_Target(v, w.target)
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetSource(v, w.dataset)
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorRef(x, w.evaluators.add())
    v = s.judge
    if v:
        w.judge = v
    v = s.trials
    if v:
        w.trials = v
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_SummaryOptions(v, w.summary)
    v = s.gates
    if v:
        for x in v:
            fill_Gate(x, w.gates.add())
    v = s.budget
    if v is not None:
        w.budget.SetInParent()
        fill_Budget(v, w.budget)
    v = s.harness
    if v is not None:
        w.harness.SetInParent()
        fill_Harness(v, w.harness)
    v = s.environment
    if v is not None:
        w.environment.SetInParent()
        fill_Environment(v, w.environment)
    v = s.judges
    if v:
        for k, x in v.items():
            fill_JudgeSpec(x, w.judges[k])
    v = s.on_inconclusive
    if v.number:
        w.on_inconclusive = v.number
    v = s.sinks
    if v:
        for x in v:
            fill_Sink(x, w.sinks.add())
    v = s.baseline
    if v:
        w.baseline = v
    v = s.slices
    if v:
        w.slices.extend(v)


def fill_Target(s, w):
    v = s.connector
    if v:
        w.connector = v
    v = s.model
    if v:
        w.model = v
    v = s.base_url
    if v:
        w.base_url = v
    v = s.api_key_env
    if v:
        w.api_key_env = v
    v = s.system_prompt
    if v:
        w.system_prompt = v
    v = s.max_tokens
    if v:
        w.max_tokens = v
    v = s.temperature
    if v is not None:
        w.temperature = v
    v = s.effort
    if v:
        w.effort = v
    v = s.agent
    if v is not None:
        w.agent.SetInParent()
        fill_AgentTarget(v, w.agent)
    v = s.thinking
    if v is not None:
        w.thinking.SetInParent()
        fill_Thinking(v, w.thinking)
    v = s.stream
    if v:
        w.stream = v
    v = s.max_concurrency
    if v:
        w.max_concurrency = v
    v = s.api
    if v:
        w.api = v
    v = s.fallbacks
    if v:
        for x in v:
            fill_Target(x, w.fallbacks.add())
    v = s.fallback_after
    if v:
        w.fallback_after = v
    v = s.name
    if v:
        w.name = v
    v = s.python
    if v:
        w.python = v
    v = s.config
    if v:
        fill_object(v, w.config)
    v = s.command
    if v is not None:
        w.command.SetInParent()
        fill_CommandTarget(v, w.command)
    v = s.prompt
    if v:
        w.prompt = v
    v = s.messages
    if v:
        for x in v:
            fill_Message(x, w.messages.add())
    v = s.few_shot
    if v:
        for x in v:
            fill_FewShotExample(x, w.few_shot.add())
    v = s.tools
    if v:
        for x in v:
            fill_ToolDefinition(x, w.tools.add())
    v = s.tool_choice
    if v:
        w.tool_choice = v
    v = s.json_mode
    if v:
        w.json_mode = v
    v = s.response_schema
    if v:
        fill_object(v, w.response_schema)
    v = s.logprobs
    if v:
        w.logprobs = v
    v = s.top_logprobs
    if v:
        w.top_logprobs = v
    v = s.seed
    if v is not None:
        w.seed = v
    v = s.top_p
    if v is not None:
        w.top_p = v
    v = s.stop
    if v:
        w.stop.extend(v)
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.total_timeout
    if v is not None:
        w.total_timeout.SetInParent()
        fill_duration(v, w.total_timeout)
    v = s.max_retries
    if v is not None:
        w.max_retries = v
    v = s.requests_per_minute
    if v:
        w.requests_per_minute = v
    v = s.tokens_per_minute
    if v:
        w.tokens_per_minute = v
    v = s.headers_env
    if v:
        w.headers_env.update(v)
    v = s.extra_body
    if v:
        fill_object(v, w.extra_body)
    v = s.pricing
    if v is not None:
        w.pricing.SetInParent()
        fill_Pricing(v, w.pricing)
    v = s.recording
    if v:
        w.recording = v


def fill_CommandTarget(s, w):
    v = s.argv
    if v:
        w.argv.extend(v)
    v = s.stdin
    if v:
        w.stdin = v
    v = s.stdout
    if v:
        w.stdout = v
    v = s.output_path
    if v:
        w.output_path = v
    v = s.usage_path
    if v:
        w.usage_path = v
    v = s.workdir
    if v:
        w.workdir = v
    v = s.env_from
    if v:
        w.env_from.update(v)


def fill_FewShotExample(s, w):
    v = s.input
    if v:
        w.input = v
    v = s.output
    if v:
        w.output = v


def fill_ToolDefinition(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.description
    if v:
        w.description = v
    v = s.parameters
    if v:
        fill_object(v, w.parameters)
    v = s.strict
    if v:
        w.strict = v


def fill_JudgeSpec(s, w):
    v = s.provider
    if v:
        w.provider = v
    v = s.model
    if v:
        w.model = v
    v = s.base_url
    if v:
        w.base_url = v
    v = s.api_key_env
    if v:
        w.api_key_env = v
    v = s.effort
    if v:
        w.effort = v
    v = s.max_tokens
    if v:
        w.max_tokens = v
    v = s.temperature
    if v is not None:
        w.temperature = v
    v = s.top_p
    if v is not None:
        w.top_p = v
    v = s.seed
    if v is not None:
        w.seed = v
    v = s.response_format
    if v:
        w.response_format = v
    v = s.requests_per_minute
    if v:
        w.requests_per_minute = v
    v = s.tokens_per_minute
    if v:
        w.tokens_per_minute = v
    v = s.max_concurrency
    if v:
        w.max_concurrency = v
    v = s.timeout
    if v is not None:
        w.timeout.SetInParent()
        fill_duration(v, w.timeout)
    v = s.max_retries
    if v is not None:
        w.max_retries = v
    v = s.max_usd
    if v is not None:
        w.max_usd = v
    v = s.max_total_tokens
    if v:
        w.max_total_tokens = v
    v = s.recording
    if v:
        w.recording = v


def fill_Sink(s, w):
    v = s.json
    if v is not None:
        w.json = v
    v = s.html
    if v is not None:
        w.html = v
    v = s.markdown
    if v is not None:
        w.markdown = v
    v = s.junit
    if v is not None:
        w.junit = v
    v = s.csv
    if v is not None:
        w.csv = v
    v = s.name
    if v is not None:
        w.name = v


def fill_Thinking(s, w):
    v = s.mode
    if v:
        w.mode = v
    v = s.budget_tokens
    if v:
        w.budget_tokens = v


def fill_DatasetSource(s, w):
    v = s.inline
    if v is not None:
        w.inline.SetInParent()
        fill_InlineRecords(v, w.inline)
    v = s.path
    if v is not None:
        w.path = v
    v = s.uri
    if v is not None:
        w.uri = v
    v = s.traces
    if v is not None:
        w.traces.SetInParent()
        fill_TraceQuery(v, w.traces)
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_RunOutputs(v, w.run)
    v = s.catalog
    if v is not None:
        w.catalog.SetInParent()
        fill_DatasetVersionRef(v, w.catalog)
    v = s.mapping
    if v:
        w.mapping.update(v)
    v = s.limit
    if v:
        w.limit = v
    v = s.where
    if v:
        w.where = v
    v = s.sample
    if v:
        w.sample = v
    v = s.seed
    if v:
        w.seed = v
    v = s.skip_invalid
    if v:
        w.skip_invalid = v
    v = s.format
    if v:
        w.format = v


def fill_DatasetVersionRef(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.sha256
    if v:
        w.sha256 = v


def fill_TraceQuery(s, w):
    v = s.service
    if v:
        w.service = v
    v = s.policy
    if v:
        w.policy = v
    v = s.filter
    if v:
        w.filter = v
    v = s.lookback
    if v is not None:
        w.lookback.SetInParent()
        fill_duration(v, w.lookback)


def fill_RunOutputs(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.trial
    if v:
        w.trial = v
    v = s.all_trials
    if v:
        w.all_trials = v


def fill_InlineRecords(s, w):
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())


def fill_Gate(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.stat
    if v.number:
        w.stat = v.number
    v = s.min
    if v is not None:
        w.min = v
    v = s.max
    if v is not None:
        w.max = v
    v = s.cel
    if v:
        w.cel = v
    v = s.slice
    if v:
        w.slice.update(v)
    v = s.k
    if v:
        w.k = v
    v = s.baseline
    if v:
        w.baseline = v
    v = s.max_drop
    if v is not None:
        w.max_drop = v
    v = s.significance
    if v:
        w.significance = v
    v = s.name
    if v:
        w.name = v


def fill_GateResult(s, w):
    v = s.gate
    if v is not None:
        w.gate.SetInParent()
        fill_Gate(v, w.gate)
    v = s.passed
    if v:
        w.passed = v
    v = s.value
    if v is not None:
        w.value = v
    v = s.reason
    if v:
        w.reason = v
    v = s.verdict
    if v.number:
        w.verdict = v.number
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)
    v = s.n
    if v:
        w.n = v
    v = s.baseline_value
    if v is not None:
        w.baseline_value = v


def fill_Budget(s, w):
    v = s.max_target_tokens
    if v:
        w.max_target_tokens = v
    v = s.max_judge_tokens
    if v:
        w.max_judge_tokens = v
    v = s.max_usd
    if v is not None:
        w.max_usd = v
    v = s.max_wall_clock
    if v is not None:
        w.max_wall_clock.SetInParent()
        fill_duration(v, w.max_wall_clock)


def fill_Progress(s, w):
    v = s.total
    if v:
        w.total = v
    v = s.done
    if v:
        w.done = v


def fill_Run(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RunSpec(v, w.spec)
    v = s.status
    if v.number:
        w.status = v.number
    v = s.created_at
    if v is not None:
        w.created_at.SetInParent()
        fill_timestamp(v, w.created_at)
    v = s.started_at
    if v is not None:
        w.started_at.SetInParent()
        fill_timestamp(v, w.started_at)
    v = s.finished_at
    if v is not None:
        w.finished_at.SetInParent()
        fill_timestamp(v, w.finished_at)
    v = s.error
    if v:
        w.error = v
    v = s.progress
    if v is not None:
        w.progress.SetInParent()
        fill_Progress(v, w.progress)
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())
    v = s.gates
    if v:
        for x in v:
            fill_GateResult(x, w.gates.add())
    v = s.target_usage
    if v is not None:
        w.target_usage.SetInParent()
        fill_Usage(v, w.target_usage)
    v = s.judge_usage
    if v is not None:
        w.judge_usage.SetInParent()
        fill_Usage(v, w.judge_usage)
    v = s.dataset_sha256
    if v:
        w.dataset_sha256 = v
    v = s.records
    if v:
        w.records = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.created_by
    if v:
        w.created_by = v
    v = s.archived_at
    if v is not None:
        w.archived_at.SetInParent()
        fill_timestamp(v, w.archived_at)
    v = s.imported
    if v:
        w.imported = v
    v = s.evaluation_contract
    if v is not None:
        w.evaluation_contract.SetInParent()
        fill_RunEvaluationContract(v, w.evaluation_contract)
    v = s.manifest
    if v is not None:
        w.manifest.SetInParent()
        fill_RunManifest(v, w.manifest)


def fill_BoundRunEvaluator(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.manifest
    if v is not None:
        w.manifest.SetInParent()
        fill_EvaluatorManifest(v, w.manifest)
    v = s.params
    if v:
        fill_object(v, w.params)
    v = s.judge
    if v:
        w.judge = v
    v = s.judge_settings_sha256
    if v:
        w.judge_settings_sha256 = v
    v = s.prompt_sha256
    if v:
        w.prompt_sha256.update(v)
    v = s.code_sha256
    if v:
        w.code_sha256 = v


def fill_RunEvaluationContract(s, w):
    v = s.evaluators
    if v:
        for x in v:
            fill_BoundRunEvaluator(x, w.evaluators.add())
    v = s.settings_sha256
    if v:
        w.settings_sha256 = v
    v = s.server_version
    if v:
        w.server_version = v


def fill_RunManifest(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.evalsi_version
    if v:
        w.evalsi_version = v
    v = s.python_version
    if v:
        w.python_version = v
    v = s.platform
    if v:
        w.platform = v
    v = s.packages
    if v:
        w.packages.update(v)
    v = s.argv
    if v:
        w.argv.extend(v)
    v = s.git
    if v is not None:
        w.git.SetInParent()
        fill_GitState(v, w.git)
    v = s.started_at
    if v is not None:
        w.started_at.SetInParent()
        fill_timestamp(v, w.started_at)
    v = s.finished_at
    if v is not None:
        w.finished_at.SetInParent()
        fill_timestamp(v, w.finished_at)
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetManifest(v, w.dataset)
    v = s.evaluators
    if v:
        for x in v:
            fill_BoundRunEvaluator(x, w.evaluators.add())
    v = s.judges
    if v:
        for x in v:
            fill_JudgeManifest(x, w.judges.add())
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_SummaryOptions(v, w.summary)
    v = s.seeds
    if v:
        w.seeds.update(v)
    v = s.price_table_version
    if v:
        w.price_table_version = v
    v = s.unpinned
    if v:
        for x in v:
            fill_Unpinned(x, w.unpinned.add())
    v = s.settings_sha256
    if v:
        w.settings_sha256 = v
    v = s.status
    if v.number:
        w.status = v.number
    v = s.target_usage
    if v is not None:
        w.target_usage.SetInParent()
        fill_Usage(v, w.target_usage)
    v = s.judge_usage
    if v is not None:
        w.judge_usage.SetInParent()
        fill_Usage(v, w.judge_usage)
    v = s.trials
    if v:
        w.trials = v
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RunSpec(v, w.spec)
    v = s.warnings
    if v:
        w.warnings.extend(v)
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.gates
    if v:
        for x in v:
            fill_GateResult(x, w.gates.add())
    v = s.spec_folder
    if v:
        w.spec_folder = v
    v = s.earlier_tries
    if v is not None:
        w.earlier_tries.SetInParent()
        fill_duration(v, w.earlier_tries)
    v = s.sandboxes
    if v:
        for x in v:
            fill_IsolationReport(x, w.sandboxes.add())
    v = s.stopped_early
    if v:
        w.stopped_early = v


def fill_GitState(s, w):
    v = s.commit
    if v:
        w.commit = v
    v = s.branch
    if v:
        w.branch = v
    v = s.dirty
    if v:
        w.dirty = v


def fill_DatasetManifest(s, w):
    v = s.source
    if v:
        w.source = v
    v = s.sha256
    if v:
        w.sha256 = v
    v = s.records
    if v:
        w.records = v
    v = s.rejected
    if v:
        w.rejected = v
    v = s.mapping
    if v:
        w.mapping.update(v)
    v = s.where
    if v:
        w.where = v
    v = s.limit
    if v:
        w.limit = v
    v = s.sample
    if v:
        w.sample = v
    v = s.revision
    if v:
        w.revision = v


def fill_JudgeManifest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.provider
    if v:
        w.provider = v
    v = s.model
    if v:
        w.model = v
    v = s.reported_models
    if v:
        w.reported_models.extend(v)
    v = s.base_url
    if v:
        w.base_url = v
    v = s.settings
    if v:
        fill_object(v, w.settings)
    v = s.settings_sha256
    if v:
        w.settings_sha256 = v
    v = s.usage
    if v is not None:
        w.usage.SetInParent()
        fill_Usage(v, w.usage)


def fill_Unpinned(s, w):
    v = s.what
    if v:
        w.what = v
    v = s.why
    if v:
        w.why = v


def fill_DatasetVersionContent(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.owner
    if v:
        w.owner = v
    v = s.split
    if v:
        w.split = v
    v = s.tags
    if v:
        w.tags.extend(v)
    v = s.description
    if v:
        w.description = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())


def fill_DatasetVersion(s, w):
    v = s.content
    if v is not None:
        w.content.SetInParent()
        fill_DatasetVersionContent(v, w.content)
    v = s.sha256
    if v:
        w.sha256 = v
    v = s.records
    if v:
        w.records = v
    v = s.state
    if v.number:
        w.state = v.number
    v = s.revision
    if v:
        w.revision = v
    v = s.published_by
    if v:
        w.published_by = v
    v = s.published_at
    if v is not None:
        w.published_at.SetInParent()
        fill_timestamp(v, w.published_at)
    v = s.reviewed_by
    if v:
        w.reviewed_by = v
    v = s.reviewed_at
    if v is not None:
        w.reviewed_at.SetInParent()
        fill_timestamp(v, w.reviewed_at)
    v = s.review_note
    if v:
        w.review_note = v


def fill_DatasetVersionEvent(s, w):
    v = s.revision
    if v:
        w.revision = v
    v = s.state
    if v.number:
        w.state = v.number
    v = s.actor
    if v:
        w.actor = v
    v = s.sha256
    if v:
        w.sha256 = v
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)


def fill_FailureSelection(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.revision
    if v:
        w.revision = v


def fill_PublishDatasetVersionRequest(s, w):
    v = s.content
    if v is not None:
        w.content.SetInParent()
        fill_DatasetVersionContent(v, w.content)
    v = s.failures
    if v:
        for x in v:
            fill_FailureSelection(x, w.failures.add())


def fill_PublishDatasetVersionResponse(s, w):
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetVersion(v, w.dataset)
    v = s.reference
    if v is not None:
        w.reference.SetInParent()
        fill_DatasetVersionRef(v, w.reference)


def fill_ListDatasetVersionsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.state
    if v.number:
        w.state = v.number
    v = s.owner
    if v:
        w.owner = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v
    v = s.search
    if v:
        w.search = v


def fill_ListDatasetVersionsResponse(s, w):
    v = s.datasets
    if v:
        for x in v:
            fill_DatasetVersion(x, w.datasets.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_GetDatasetVersionRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.without_records
    if v:
        w.without_records = v


def fill_GetDatasetVersionResponse(s, w):
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetVersion(v, w.dataset)
    v = s.reference
    if v is not None:
        w.reference.SetInParent()
        fill_DatasetVersionRef(v, w.reference)


def fill_ReviewDatasetVersionRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.sha256
    if v:
        w.sha256 = v
    v = s.expected_revision
    if v:
        w.expected_revision = v
    v = s.decision
    if v.number:
        w.decision = v.number
    v = s.note
    if v:
        w.note = v


def fill_ReviewDatasetVersionResponse(s, w):
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetVersion(v, w.dataset)


def fill_ListDatasetVersionEventsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_ListDatasetVersionEventsResponse(s, w):
    v = s.events
    if v:
        for x in v:
            fill_DatasetVersionEvent(x, w.events.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_DiffDatasetVersionsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.before_version
    if v:
        w.before_version = v
    v = s.after_version
    if v:
        w.after_version = v
    v = s.before_sha256
    if v:
        w.before_sha256 = v
    v = s.after_sha256
    if v:
        w.after_sha256 = v


def fill_DatasetRecordChange(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.fields
    if v:
        w.fields.extend(v)


def fill_DiffDatasetVersionsResponse(s, w):
    v = s.before_sha256
    if v:
        w.before_sha256 = v
    v = s.after_sha256
    if v:
        w.after_sha256 = v
    v = s.added
    if v:
        w.added.extend(v)
    v = s.removed
    if v:
        w.removed.extend(v)
    v = s.changed
    if v:
        for x in v:
            fill_DatasetRecordChange(x, w.changed.add())
    v = s.unchanged
    if v:
        w.unchanged = v
    v = s.order_changed
    if v:
        w.order_changed = v
    v = s.metadata_changed
    if v:
        w.metadata_changed.extend(v)


def fill_DatasetUploadConfig(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v
    v = s.format
    if v:
        w.format = v
    v = s.mapping
    if v:
        w.mapping.update(v)
    v = s.description
    if v:
        w.description = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.owner
    if v:
        w.owner = v
    v = s.file_sha256
    if v:
        w.file_sha256 = v


def fill_UploadDatasetVersionRequest(s, w):
    v = s.config
    if v is not None:
        w.config.SetInParent()
        fill_DatasetUploadConfig(v, w.config)
    v = s.chunk
    if v is not None:
        w.chunk = v


def fill_UploadDatasetVersionResponse(s, w):
    v = s.dataset
    if v is not None:
        w.dataset.SetInParent()
        fill_DatasetVersion(v, w.dataset)
    v = s.reference
    if v is not None:
        w.reference.SetInParent()
        fill_DatasetVersionRef(v, w.reference)
    v = s.existed
    if v:
        w.existed = v
    v = s.path
    if v:
        w.path = v
    v = s.records
    if v:
        w.records = v


def fill_FetchDatasetVersionRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.name
    if v:
        w.name = v
    v = s.version
    if v:
        w.version = v


def fill_FetchDatasetVersionResponse(s, w):
    v = s.chunk
    if v:
        w.chunk = v


def fill_TraceSummary(s, w):
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.service
    if v:
        w.service = v
    v = s.name
    if v:
        w.name = v
    v = s.start_time
    if v is not None:
        w.start_time.SetInParent()
        fill_timestamp(v, w.start_time)
    v = s.duration
    if v is not None:
        w.duration.SetInParent()
        fill_duration(v, w.duration)
    v = s.error
    if v:
        w.error = v
    v = s.steps
    if v:
        w.steps = v
    v = s.results
    if v:
        w.results = v
    v = s.project
    if v:
        w.project = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.session_id
    if v:
        w.session_id = v
    v = s.user_id
    if v:
        w.user_id = v
    v = s.version
    if v:
        w.version = v
    v = s.model
    if v:
        w.model = v
    v = s.input
    if v:
        w.input = v
    v = s.output
    if v:
        w.output = v
    v = s.input_tokens
    if v is not None:
        w.input_tokens = v
    v = s.output_tokens
    if v is not None:
        w.output_tokens = v
    v = s.cost_usd
    if v is not None:
        w.cost_usd = v
    v = s.complete
    if v:
        w.complete = v
    v = s.revision
    if v:
        w.revision = v
    v = s.spans
    if v:
        w.spans = v
    v = s.feedback
    if v is not None:
        w.feedback = v
    v = s.scores
    if v:
        w.scores.update(v)
    v = s.failed_spans
    if v:
        w.failed_spans = v


def fill_TraceFilter(s, w):
    v = s.service
    if v:
        w.service = v
    v = s.text
    if v:
        w.text = v
    v = s.session_id
    if v:
        w.session_id = v
    v = s.user_id
    if v:
        w.user_id = v
    v = s.version
    if v:
        w.version = v
    v = s.model
    if v:
        w.model = v
    v = s.labels
    if v:
        w.labels.extend(v)
    v = s.error
    if v is not None:
        w.error = v
    v = s.complete
    if v is not None:
        w.complete = v
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.until
    if v is not None:
        w.until.SetInParent()
        fill_timestamp(v, w.until)
    v = s.min_duration
    if v is not None:
        w.min_duration.SetInParent()
        fill_duration(v, w.min_duration)
    v = s.max_duration
    if v is not None:
        w.max_duration.SetInParent()
        fill_duration(v, w.max_duration)
    v = s.min_cost_usd
    if v is not None:
        w.min_cost_usd = v
    v = s.max_cost_usd
    if v is not None:
        w.max_cost_usd = v
    v = s.scores
    if v:
        w.scores.extend(v)
    v = s.policy
    if v:
        w.policy = v
    v = s.negative_feedback
    if v is not None:
        w.negative_feedback = v
    v = s.trace_id_prefix
    if v:
        w.trace_id_prefix = v
    v = s.failed_step
    if v is not None:
        w.failed_step = v


def fill_ListTracesRequest(s, w):
    v = s.service
    if v:
        w.service = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v
    v = s.project
    if v:
        w.project = v
    v = s.filter
    if v is not None:
        w.filter.SetInParent()
        fill_TraceFilter(v, w.filter)


def fill_ListTracesResponse(s, w):
    v = s.traces
    if v:
        for x in v:
            fill_TraceSummary(x, w.traces.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_CountTracesRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.filter
    if v is not None:
        w.filter.SetInParent()
        fill_TraceFilter(v, w.filter)


def fill_TraceFacet(s, w):
    v = s.field
    if v:
        w.field = v
    v = s.counts
    if v:
        w.counts.update(v)


def fill_CountTracesResponse(s, w):
    v = s.total
    if v:
        w.total = v
    v = s.facets
    if v:
        for x in v:
            fill_TraceFacet(x, w.facets.add())
    v = s.capped
    if v:
        w.capped = v


def fill_WatchTracesRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.filter
    if v is not None:
        w.filter.SetInParent()
        fill_TraceFilter(v, w.filter)


def fill_WatchTracesResponse(s, w):
    v = s.trace
    if v is not None:
        w.trace.SetInParent()
        fill_TraceSummary(v, w.trace)


def fill_GetTraceRequest(s, w):
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.project
    if v:
        w.project = v


def fill_PolicyResults(s, w):
    v = s.policy
    if v:
        w.policy = v
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.revision
    if v:
        w.revision = v
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)


def fill_GetTraceResponse(s, w):
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.policies
    if v:
        for x in v:
            fill_PolicyResults(x, w.policies.add())
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_TraceSummary(v, w.summary)
    v = s.feedback
    if v:
        for x in v:
            fill_Feedback(x, w.feedback.add())
    v = s.feedback_total
    if v:
        w.feedback_total = v
    v = s.feedback_page_token
    if v:
        w.feedback_page_token = v


def fill_ExportTraceRequest(s, w):
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.project
    if v:
        w.project = v


def fill_ExportTraceResponse(s, w):
    v = s.chunk
    if v:
        w.chunk = v


def fill_GetSessionRequest(s, w):
    v = s.session_id
    if v:
        w.session_id = v
    v = s.project
    if v:
        w.project = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_GetSessionResponse(s, w):
    v = s.traces
    if v:
        for x in v:
            fill_TraceScores(x, w.traces.add())
    v = s.policies
    if v:
        for x in v:
            fill_PolicyResults(x, w.policies.add())
    v = s.feedback
    if v:
        for x in v:
            fill_Feedback(x, w.feedback.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v
    v = s.feedback_total
    if v:
        w.feedback_total = v
    v = s.feedback_page_token
    if v:
        w.feedback_page_token = v


def fill_ListScoresRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.service
    if v:
        w.service = v
    v = s.labels
    if v:
        w.labels.extend(v)
    v = s.policy
    if v:
        w.policy = v
    v = s.evaluator
    if v:
        w.evaluator = v
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_TraceScores(s, w):
    v = s.trace
    if v is not None:
        w.trace.SetInParent()
        fill_TraceSummary(v, w.trace)
    v = s.policies
    if v:
        for x in v:
            fill_PolicyResults(x, w.policies.add())


def fill_ListScoresResponse(s, w):
    v = s.traces
    if v:
        for x in v:
            fill_TraceScores(x, w.traces.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_ListFeedbackRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.session_id
    if v:
        w.session_id = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_ListFeedbackResponse(s, w):
    v = s.feedback
    if v:
        for x in v:
            fill_Feedback(x, w.feedback.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v
    v = s.total
    if v:
        w.total = v


def fill_DeleteTracesRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.trace_ids
    if v:
        w.trace_ids.extend(v)
    v = s.session_id
    if v:
        w.session_id = v
    v = s.user_id
    if v:
        w.user_id = v
    v = s.before
    if v is not None:
        w.before.SetInParent()
        fill_timestamp(v, w.before)


def fill_DeleteTracesResponse(s, w):
    v = s.deleted
    if v:
        w.deleted = v


def fill_Feedback(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.project
    if v:
        w.project = v
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.span_id
    if v:
        w.span_id = v
    v = s.session_id
    if v:
        w.session_id = v
    v = s.key
    if v:
        w.key = v
    v = s.name
    if v:
        w.name = v
    v = s.number
    if v is not None:
        w.number = v
    v = s.passed
    if v is not None:
        w.passed = v
    v = s.label
    if v is not None:
        w.label = v
    v = s.comment
    if v:
        w.comment = v
    v = s.author
    if v:
        w.author = v
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)


def fill_SubmitFeedbackRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.feedback
    if v:
        for x in v:
            fill_Feedback(x, w.feedback.add())


def fill_SubmitFeedbackResponse(s, w):
    v = s.accepted
    if v:
        w.accepted = v
    v = s.waiting
    if v:
        w.waiting = v


def fill_FailureCase(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.project
    if v:
        w.project = v
    v = s.source
    if v is not None:
        w.source.SetInParent()
        fill_TraceSummary(v, w.source)
    v = s.source_sha256
    if v:
        w.source_sha256 = v
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.title
    if v:
        w.title = v
    v = s.reason
    if v:
        w.reason = v
    v = s.assignee
    if v:
        w.assignee = v
    v = s.status
    if v.number:
        w.status = v.number
    v = s.revision
    if v:
        w.revision = v
    v = s.created_by
    if v:
        w.created_by = v
    v = s.updated_by
    if v:
        w.updated_by = v
    v = s.reviewed_by
    if v:
        w.reviewed_by = v
    v = s.review_note
    if v:
        w.review_note = v
    v = s.created_at
    if v is not None:
        w.created_at.SetInParent()
        fill_timestamp(v, w.created_at)
    v = s.updated_at
    if v is not None:
        w.updated_at.SetInParent()
        fill_timestamp(v, w.updated_at)
    v = s.reviewed_at
    if v is not None:
        w.reviewed_at.SetInParent()
        fill_timestamp(v, w.reviewed_at)


def fill_FailureEvent(s, w):
    v = s.revision
    if v:
        w.revision = v
    v = s.actor
    if v:
        w.actor = v
    v = s.action
    if v:
        w.action = v
    v = s.status
    if v.number:
        w.status = v.number
    v = s.record_sha256
    if v:
        w.record_sha256 = v
    v = s.time
    if v is not None:
        w.time.SetInParent()
        fill_timestamp(v, w.time)


def fill_CaptureFailureRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.trace_id
    if v:
        w.trace_id = v
    v = s.title
    if v:
        w.title = v
    v = s.reason
    if v:
        w.reason = v


def fill_CaptureFailureResponse(s, w):
    v = s.failure
    if v is not None:
        w.failure.SetInParent()
        fill_FailureCase(v, w.failure)
    v = s.deduplicated
    if v:
        w.deduplicated = v


def fill_ListFailuresRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.status
    if v.number:
        w.status = v.number
    v = s.assignee
    if v:
        w.assignee = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_ListFailuresResponse(s, w):
    v = s.failures
    if v:
        for x in v:
            fill_FailureCase(x, w.failures.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v
    v = s.counts
    if v:
        w.counts.update(v)


def fill_GetFailureRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.id
    if v:
        w.id = v


def fill_GetFailureResponse(s, w):
    v = s.failure
    if v is not None:
        w.failure.SetInParent()
        fill_FailureCase(v, w.failure)


def fill_UpdateFailureRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.id
    if v:
        w.id = v
    v = s.expected_revision
    if v:
        w.expected_revision = v
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.title
    if v:
        w.title = v
    v = s.reason
    if v:
        w.reason = v
    v = s.assignee
    if v:
        w.assignee = v
    v = s.status
    if v.number:
        w.status = v.number


def fill_UpdateFailureResponse(s, w):
    v = s.failure
    if v is not None:
        w.failure.SetInParent()
        fill_FailureCase(v, w.failure)


def fill_ReviewFailureRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.id
    if v:
        w.id = v
    v = s.expected_revision
    if v:
        w.expected_revision = v
    v = s.decision
    if v.number:
        w.decision = v.number
    v = s.note
    if v:
        w.note = v


def fill_ReviewFailureResponse(s, w):
    v = s.failure
    if v is not None:
        w.failure.SetInParent()
        fill_FailureCase(v, w.failure)


def fill_ListFailureEventsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.id
    if v:
        w.id = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v


def fill_ListFailureEventsResponse(s, w):
    v = s.events
    if v:
        for x in v:
            fill_FailureEvent(x, w.events.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_ExportFailuresRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.selections
    if v:
        for x in v:
            fill_FailureSelection(x, w.selections.add())


def fill_ExportFailuresResponse(s, w):
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.jsonl
    if v:
        w.jsonl = v


def fill_DeleteFailureRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.id
    if v:
        w.id = v
    v = s.expected_revision
    if v:
        w.expected_revision = v


def fill_DeleteFailureResponse(s, w):
    pass


def fill_OnlineEvalPolicy(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.disabled
    if v:
        w.disabled = v
    v = s.selector
    if v:
        w.selector = v
    v = s.sampling
    if v is not None:
        w.sampling.SetInParent()
        fill_Sampling(v, w.sampling)
    v = s.stages
    if v:
        for x in v:
            fill_CascadeStage(x, w.stages.add())
    v = s.judge
    if v:
        w.judge = v
    v = s.window
    if v is not None:
        w.window.SetInParent()
        fill_duration(v, w.window)
    v = s.alerts
    if v:
        for x in v:
            fill_Alert(x, w.alerts.add())
    v = s.promote
    if v is not None:
        w.promote.SetInParent()
        fill_Promotion(v, w.promote)
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.scope
    if v.number:
        w.scope = v.number
    v = s.budget
    if v is not None:
        w.budget.SetInParent()
        fill_PolicyBudget(v, w.budget)
    v = s.view
    if v is not None:
        w.view.SetInParent()
        fill_PolicyView(v, w.view)
    v = s.sinks
    if v:
        w.sinks.extend(v)


def fill_PolicyBudget(s, w):
    v = s.usd_per_day
    if v is not None:
        w.usd_per_day = v
    v = s.tokens_per_day
    if v is not None:
        w.tokens_per_day = v


def fill_PolicyView(s, w):
    v = s.patterns
    if v:
        w.patterns.extend(v)
    v = s.detectors
    if v:
        w.detectors.extend(v)
    v = s.drop_attributes
    if v:
        w.drop_attributes.extend(v)


def fill_Sampling(s, w):
    v = s.rate
    if v is not None:
        w.rate = v
    v = s.always
    if v:
        w.always.extend(v)


def fill_CascadeStage(s, w):
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorRef(x, w.evaluators.add())
    v = s.when
    if v:
        w.when = v


def fill_Alert(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.below
    if v is not None:
        w.below = v
    v = s.above
    if v is not None:
        w.above = v
    v = s.min_samples
    if v:
        w.min_samples = v
    v = s.webhook
    if v:
        w.webhook = v
    v = s.secret_env
    if v:
        w.secret_env = v
    v = s.form
    if v:
        w.form = v
    v = s.false_alarm_rate
    if v:
        w.false_alarm_rate = v


def fill_Promotion(s, w):
    v = s.when
    if v:
        w.when = v
    v = s.dataset
    if v:
        w.dataset = v


def fill_ApplyPolicyRequest(s, w):
    v = s.policy
    if v is not None:
        w.policy.SetInParent()
        fill_OnlineEvalPolicy(v, w.policy)
    v = s.validate_only
    if v:
        w.validate_only = v


def fill_ApplyPolicyResponse(s, w):
    v = s.policy
    if v is not None:
        w.policy.SetInParent()
        fill_OnlineEvalPolicy(v, w.policy)


def fill_ListPoliciesRequest(s, w):
    v = s.project
    if v:
        w.project = v


def fill_ListPoliciesResponse(s, w):
    v = s.policies
    if v:
        for x in v:
            fill_OnlineEvalPolicy(x, w.policies.add())


def fill_DeletePolicyRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v


def fill_DeletePolicyResponse(s, w):
    pass


def fill_GetPolicyStatsRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.step
    if v is not None:
        w.step.SetInParent()
        fill_duration(v, w.step)
    v = s.by
    if v:
        w.by = v


def fill_MetricWindow(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.n
    if v:
        w.n = v
    v = s.mean
    if v is not None:
        w.mean = v
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)
    v = s.skipped
    if v:
        w.skipped = v
    v = s.errors
    if v:
        w.errors = v
    v = s.start
    if v is not None:
        w.start.SetInParent()
        fill_timestamp(v, w.start)
    v = s.end
    if v is not None:
        w.end.SetInParent()
        fill_timestamp(v, w.end)
    v = s.group
    if v:
        w.group = v
    v = s.p05
    if v is not None:
        w.p05 = v
    v = s.p50
    if v is not None:
        w.p50 = v
    v = s.p95
    if v is not None:
        w.p95 = v
    v = s.skip_reasons
    if v:
        w.skip_reasons.update(v)


def fill_AlertState(s, w):
    v = s.alert
    if v is not None:
        w.alert.SetInParent()
        fill_Alert(v, w.alert)
    v = s.firing
    if v:
        w.firing = v
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.n
    if v:
        w.n = v
    v = s.mean
    if v is not None:
        w.mean = v
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)


def fill_PolicyStats(s, w):
    v = s.policy
    if v:
        w.policy = v
    v = s.traces_seen
    if v:
        w.traces_seen = v
    v = s.traces_matched
    if v:
        w.traces_matched = v
    v = s.traces_sampled
    if v:
        w.traces_sampled = v
    v = s.traces_evaluated
    if v:
        w.traces_evaluated = v
    v = s.traces_promoted
    if v:
        w.traces_promoted = v
    v = s.evaluation_errors
    if v:
        w.evaluation_errors = v
    v = s.metrics
    if v:
        for x in v:
            fill_MetricWindow(x, w.metrics.add())
    v = s.alerts
    if v:
        for x in v:
            fill_AlertState(x, w.alerts.add())
    v = s.series
    if v:
        for x in v:
            fill_MetricWindow(x, w.series.add())
    v = s.traces_waiting
    if v:
        w.traces_waiting = v
    v = s.usd_today
    if v is not None:
        w.usd_today = v
    v = s.tokens_today
    if v:
        w.tokens_today = v
    v = s.budget_reached
    if v:
        w.budget_reached = v
    v = s.traces_over_budget
    if v:
        w.traces_over_budget = v
    v = s.warnings
    if v:
        w.warnings.extend(v)
    v = s.drift
    if v:
        for x in v:
            fill_MetricDrift(x, w.drift.add())
    v = s.sinks
    if v:
        for x in v:
            fill_SinkState(x, w.sinks.add())


def fill_SinkState(s, w):
    v = s.sink
    if v:
        w.sink = v
    v = s.delivered
    if v:
        w.delivered = v
    v = s.waiting
    if v:
        w.waiting = v
    v = s.given_up
    if v:
        w.given_up = v
    v = s.last_delivered
    if v is not None:
        w.last_delivered.SetInParent()
        fill_timestamp(v, w.last_delivered)
    v = s.last_error
    if v:
        w.last_error = v
    v = s.last_error_time
    if v is not None:
        w.last_error_time.SetInParent()
        fill_timestamp(v, w.last_error_time)


def fill_MetricDrift(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.psi
    if v is not None:
        w.psi = v
    v = s.p_value
    if v is not None:
        w.p_value = v
    v = s.difference
    if v is not None:
        w.difference = v
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)
    v = s.n_before
    if v:
        w.n_before = v
    v = s.n_now
    if v:
        w.n_now = v
    v = s.moved
    if v:
        w.moved = v


def fill_GetPolicyStatsResponse(s, w):
    v = s.stats
    if v is not None:
        w.stats.SetInParent()
        fill_PolicyStats(v, w.stats)


def fill_TestPolicyRequest(s, w):
    v = s.policy
    if v is not None:
        w.policy.SetInParent()
        fill_OnlineEvalPolicy(v, w.policy)
    v = s.lookback
    if v is not None:
        w.lookback.SetInParent()
        fill_duration(v, w.lookback)


def fill_TestPolicyResponse(s, w):
    v = s.seen
    if v:
        w.seen = v
    v = s.matched
    if v:
        w.matched = v
    v = s.sampled
    if v:
        w.sampled = v
    v = s.cost_usd
    if v is not None:
        w.cost_usd = v
    v = s.trace_ids
    if v:
        w.trace_ids.extend(v)
    v = s.warnings
    if v:
        w.warnings.extend(v)


def fill_BackfillPolicyRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.until
    if v is not None:
        w.until.SetInParent()
        fill_timestamp(v, w.until)


def fill_BackfillPolicyResponse(s, w):
    v = s.queued
    if v:
        w.queued = v


def fill_TrafficSlice(s, w):
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.until
    if v is not None:
        w.until.SetInParent()
        fill_timestamp(v, w.until)
    v = s.version
    if v:
        w.version = v
    v = s.labels
    if v:
        w.labels.extend(v)


def fill_CompareTrafficRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.baseline
    if v is not None:
        w.baseline.SetInParent()
        fill_TrafficSlice(v, w.baseline)
    v = s.candidate
    if v is not None:
        w.candidate.SetInParent()
        fill_TrafficSlice(v, w.candidate)
    v = s.confidence_level
    if v:
        w.confidence_level = v


def fill_CompareTrafficResponse(s, w):
    v = s.comparisons
    if v:
        for x in v:
            fill_TrafficComparison(x, w.comparisons.add())
    v = s.paired_by
    if v:
        w.paired_by = v


def fill_TrafficComparison(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.baseline
    if v is not None:
        w.baseline.SetInParent()
        fill_MetricWindow(v, w.baseline)
    v = s.candidate
    if v is not None:
        w.candidate.SetInParent()
        fill_MetricWindow(v, w.candidate)
    v = s.difference
    if v is not None:
        w.difference = v
    v = s.ci
    if v is not None:
        w.ci.SetInParent()
        fill_ConfidenceInterval(v, w.ci)
    v = s.p_value
    if v is not None:
        w.p_value = v
    v = s.verdict
    if v:
        w.verdict = v
    v = s.test
    if v:
        w.test = v
    v = s.pairs
    if v:
        w.pairs = v


def fill_Observation(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.run_id
    if v:
        w.run_id = v
    v = s.record_id
    if v:
        w.record_id = v
    v = s.trial
    if v:
        w.trial = v
    v = s.item_digest
    if v:
        w.item_digest = v
    v = s.config_digest
    if v:
        w.config_digest = v
    v = s.outcome
    if v.number:
        w.outcome = v.number
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.usage
    if v is not None:
        w.usage.SetInParent()
        fill_Usage(v, w.usage)
    v = s.reason
    if v:
        w.reason = v
    v = s.error_kind
    if v.number:
        w.error_kind = v.number
    v = s.fault
    if v.number:
        w.fault = v.number
    v = s.started_at
    if v is not None:
        w.started_at.SetInParent()
        fill_timestamp(v, w.started_at)
    v = s.finished_at
    if v is not None:
        w.finished_at.SetInParent()
        fill_timestamp(v, w.finished_at)
    v = s.project
    if v:
        w.project = v
    v = s.labels
    if v:
        w.labels.update(v)


def fill_ResultsFile(s, w):
    v = s.manifest
    if v is not None:
        w.manifest.SetInParent()
        fill_RunManifest(v, w.manifest)
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.gates
    if v:
        for x in v:
            fill_GateResult(x, w.gates.add())
    v = s.trial_advice
    if v is not None:
        w.trial_advice.SetInParent()
        fill_TrialAdvice(v, w.trial_advice)
    v = s.api_version
    if v:
        w.api_version = v
    v = s.rejected
    if v:
        for x in v:
            fill_RejectedLine(x, w.rejected.add())
    v = s.layout
    if v is not None:
        w.layout.SetInParent()
        fill_ResultsLayout(v, w.layout)
    v = s.slices
    if v:
        for x in v:
            fill_SliceSummary(x, w.slices.add())


def fill_SliceSummary(s, w):
    v = s.key
    if v:
        w.key = v
    v = s.value
    if v:
        w.value = v
    v = s.records
    if v:
        w.records = v
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())


def fill_ResultsLayout(s, w):
    v = s.records
    if v:
        w.records = v
    v = s.evaluators
    if v:
        w.evaluators.extend(v)
    v = s.whole_results
    if v:
        w.whole_results = v


def fill_TrialAdvice(s, w):
    v = s.trials
    if v:
        w.trials = v
    v = s.advised_trials
    if v:
        w.advised_trials = v
    v = s.advice
    if v:
        w.advice = v
    v = s.metric
    if v:
        w.metric = v
    v = s.half_width
    if v is not None:
        w.half_width = v
    v = s.advised_half_width
    if v is not None:
        w.advised_half_width = v


def fill_RejectedLine(s, w):
    v = s.path
    if v:
        w.path = v
    v = s.line
    if v:
        w.line = v
    v = s.column
    if v:
        w.column = v
    v = s.reason
    if v:
        w.reason = v


def fill_RewardSpec(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.components
    if v:
        for x in v:
            fill_RewardComponent(x, w.components.add())
    v = s.floor
    if v:
        w.floor = v
    v = s.on_error
    if v.number:
        w.on_error = v.number
    v = s.clip
    if v is not None:
        w.clip.SetInParent()
        fill_RewardClip(v, w.clip)
    v = s.disable_cache
    if v:
        w.disable_cache = v
    v = s.judge
    if v:
        w.judge = v
    v = s.deadline
    if v is not None:
        w.deadline.SetInParent()
        fill_duration(v, w.deadline)
    v = s.reference_field
    if v:
        w.reference_field = v
    v = s.concurrency
    if v:
        w.concurrency = v


def fill_RewardComponent(s, w):
    v = s.ref
    if v:
        w.ref = v
    v = s.name
    if v:
        w.name = v
    v = s.weight
    if v is not None:
        w.weight = v
    v = s.gate
    if v:
        w.gate = v
    v = s.threshold
    if v is not None:
        w.threshold = v
    v = s.metric
    if v:
        w.metric = v
    v = s.params
    if v:
        fill_object(v, w.params)
    v = s.min_isolation
    if v:
        w.min_isolation = v


def fill_RewardClip(s, w):
    v = s.low
    if v:
        w.low = v
    v = s.high
    if v:
        w.high = v


def fill_ScoreRewardsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RewardSpec(v, w.spec)
    v = s.rollouts
    if v:
        for x in v:
            fill_Record(x, w.rollouts.add())


def fill_ScoreRewardsResponse(s, w):
    v = s.rewards
    if v:
        for x in v:
            fill_Reward(x, w.rewards.add())


def fill_Reward(s, w):
    v = s.rollout_id
    if v:
        w.rollout_id = v
    v = s.total
    if v is not None:
        w.total = v
    v = s.gated
    if v:
        w.gated = v
    v = s.components
    if v:
        for k, x in v.items():
            fill_RewardComponentResult(x, w.components[k])


def fill_RewardComponentResult(s, w):
    v = s.status
    if v.number:
        w.status = v.number
    v = s.value
    if v is not None:
        w.value = v
    v = s.reason
    if v:
        w.reason = v
    v = s.cached
    if v:
        w.cached = v
    v = s.isolation
    if v is not None:
        w.isolation.SetInParent()
        fill_IsolationReport(v, w.isolation)


def fill_CreateRunRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RunSpec(v, w.spec)
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.validate_only
    if v:
        w.validate_only = v
    v = s.priority
    if v:
        w.priority = v


def fill_CreateRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


def fill_GetRunRequest(s, w):
    v = s.id
    if v:
        w.id = v


def fill_GetRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)
    v = s.sinks
    if v:
        for x in v:
            fill_SinkState(x, w.sinks.add())


def fill_ListRunsRequest(s, w):
    v = s.project
    if v:
        w.project = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v
    v = s.name
    if v:
        w.name = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.statuses
    if v:
        w.statuses.extend([x.number for x in v])
    v = s.since
    if v is not None:
        w.since.SetInParent()
        fill_timestamp(v, w.since)
    v = s.until
    if v is not None:
        w.until.SetInParent()
        fill_timestamp(v, w.until)
    v = s.include_archived
    if v:
        w.include_archived = v
    v = s.search
    if v:
        w.search = v


def fill_ListRunsResponse(s, w):
    v = s.runs
    if v:
        for x in v:
            fill_Run(x, w.runs.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v


def fill_WatchRunRequest(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.include_results
    if v:
        w.include_results = v


def fill_WatchRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)
    v = s.progress
    if v is not None:
        w.progress.SetInParent()
        fill_Progress(v, w.progress)
    v = s.result
    if v is not None:
        w.result.SetInParent()
        fill_EvaluationResult(v, w.result)


def fill_CancelRunRequest(s, w):
    v = s.id
    if v:
        w.id = v


def fill_CancelRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


def fill_ResumeRunRequest(s, w):
    v = s.id
    if v:
        w.id = v


def fill_ResumeRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


def fill_DeleteRunRequest(s, w):
    v = s.id
    if v:
        w.id = v


def fill_DeleteRunResponse(s, w):
    pass


def fill_ArchiveRunRequest(s, w):
    v = s.id
    if v:
        w.id = v
    v = s.restore
    if v:
        w.restore = v


def fill_ArchiveRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


def fill_ListRunResultsRequest(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.page_size
    if v:
        w.page_size = v
    v = s.page_token
    if v:
        w.page_token = v
    v = s.evaluator
    if v:
        w.evaluator = v
    v = s.outcome
    if v.number:
        w.outcome = v.number
    v = s.min_score
    if v is not None:
        w.min_score = v
    v = s.max_score
    if v is not None:
        w.max_score = v
    v = s.search
    if v:
        w.search = v
    v = s.order_by
    if v:
        w.order_by = v
    v = s.flipped_against
    if v:
        w.flipped_against = v
    v = s.trial
    if v is not None:
        w.trial = v
    v = s.without_records
    if v:
        w.without_records = v


def fill_ListRunResultsResponse(s, w):
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.next_page_token
    if v:
        w.next_page_token = v
    v = s.records_by_trial
    if v:
        for x in v:
            fill_RunRecordEvidence(x, w.records_by_trial.add())
    v = s.matching_records
    if v is not None:
        w.matching_records = v
    v = s.whole_results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.whole_results.add())


def fill_GetRecordEvidenceRequest(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.record_id
    if v:
        w.record_id = v
    v = s.trial
    if v:
        w.trial = v


def fill_RunRecordEvidence(s, w):
    v = s.record_id
    if v:
        w.record_id = v
    v = s.trial
    if v:
        w.trial = v
    v = s.record
    if v is not None:
        w.record.SetInParent()
        fill_Record(v, w.record)
    v = s.output_stored
    if v:
        w.output_stored = v
    v = s.output_error
    if v:
        w.output_error = v


def fill_GetRecordEvidenceResponse(s, w):
    v = s.evidence
    if v is not None:
        w.evidence.SetInParent()
        fill_RunRecordEvidence(v, w.evidence)
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())


def fill_CompareRunsRequest(s, w):
    v = s.baseline_run_id
    if v:
        w.baseline_run_id = v
    v = s.candidate_run_id
    if v:
        w.candidate_run_id = v
    v = s.confidence_level
    if v:
        w.confidence_level = v
    v = s.cluster_by
    if v:
        w.cluster_by = v


def fill_CompareRunsResponse(s, w):
    v = s.comparisons
    if v:
        for x in v:
            fill_MetricComparison(x, w.comparisons.add())
    v = s.baseline_only
    if v:
        w.baseline_only = v
    v = s.candidate_only
    if v:
        w.candidate_only = v
    v = s.warnings
    if v:
        w.warnings.extend(v)


def fill_MetricComparison(s, w):
    v = s.metric
    if v:
        w.metric = v
    v = s.baseline_mean
    if v is not None:
        w.baseline_mean = v
    v = s.candidate_mean
    if v is not None:
        w.candidate_mean = v
    v = s.diff
    if v is not None:
        w.diff = v
    v = s.diff_ci
    if v is not None:
        w.diff_ci.SetInParent()
        fill_ConfidenceInterval(v, w.diff_ci)
    v = s.paired_n
    if v:
        w.paired_n = v
    v = s.significant
    if v:
        w.significant = v
    v = s.verdict
    if v:
        w.verdict = v
    v = s.p_value
    if v is not None:
        w.p_value = v
    v = s.wins
    if v:
        w.wins = v
    v = s.losses
    if v:
        w.losses = v
    v = s.ties
    if v:
        w.ties = v
    v = s.higher_is_better
    if v is not None:
        w.higher_is_better = v


def fill_SliceRunsRequest(s, w):
    v = s.run_ids
    if v:
        w.run_ids.extend(v)
    v = s.project
    if v:
        w.project = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.limit
    if v:
        w.limit = v
    v = s.metric
    if v:
        w.metric = v
    v = s.by
    if v:
        w.by = v
    v = s.confidence_level
    if v:
        w.confidence_level = v


def fill_SliceRow(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.run_name
    if v:
        w.run_name = v
    v = s.key
    if v:
        w.key = v
    v = s.n
    if v:
        w.n = v
    v = s.mean
    if v:
        w.mean = v
    v = s.low
    if v is not None:
        w.low = v
    v = s.high
    if v is not None:
        w.high = v


def fill_SliceRunsResponse(s, w):
    v = s.rows
    if v:
        for x in v:
            fill_SliceRow(x, w.rows.add())
    v = s.runs
    if v:
        w.runs = v


def fill_PromoteResultsRequest(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.dataset
    if v:
        w.dataset = v
    v = s.when
    if v:
        w.when = v
    v = s.include_outputs
    if v:
        w.include_outputs = v


def fill_PromoteResultsResponse(s, w):
    v = s.promoted
    if v:
        w.promoted = v
    v = s.path
    if v:
        w.path = v


def fill_CreateShadowReplayRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.candidate
    if v is not None:
        w.candidate.SetInParent()
        fill_RunSpec(v, w.candidate)
    v = s.labels
    if v:
        w.labels.update(v)


def fill_CreateShadowReplayResponse(s, w):
    v = s.baseline
    if v is not None:
        w.baseline.SetInParent()
        fill_Run(v, w.baseline)
    v = s.candidate
    if v is not None:
        w.candidate.SetInParent()
        fill_Run(v, w.candidate)


def fill_ImportRunRequest(s, w):
    v = s.name
    if v:
        w.name = v
    v = s.project
    if v:
        w.project = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.spec
    if v is not None:
        w.spec.SetInParent()
        fill_RunSpec(v, w.spec)
    v = s.records
    if v:
        for x in v:
            fill_Record(x, w.records.add())
    v = s.results
    if v:
        for x in v:
            fill_EvaluationResult(x, w.results.add())
    v = s.summaries
    if v:
        for x in v:
            fill_MetricSummary(x, w.summaries.add())
    v = s.started_at
    if v is not None:
        w.started_at.SetInParent()
        fill_timestamp(v, w.started_at)
    v = s.finished_at
    if v is not None:
        w.finished_at.SetInParent()
        fill_timestamp(v, w.finished_at)
    v = s.target_usage
    if v is not None:
        w.target_usage.SetInParent()
        fill_Usage(v, w.target_usage)
    v = s.judge_usage
    if v is not None:
        w.judge_usage.SetInParent()
        fill_Usage(v, w.judge_usage)


def fill_ImportRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


def fill_ExportRunRequest(s, w):
    v = s.run_id
    if v:
        w.run_id = v


def fill_ExportRunResponse(s, w):
    v = s.chunk
    if v:
        w.chunk = v


def fill_RescoreRunRequest(s, w):
    v = s.run_id
    if v:
        w.run_id = v
    v = s.name
    if v:
        w.name = v
    v = s.labels
    if v:
        w.labels.update(v)
    v = s.evaluators
    if v:
        for x in v:
            fill_EvaluatorRef(x, w.evaluators.add())
    v = s.judge
    if v:
        w.judge = v
    v = s.summary
    if v is not None:
        w.summary.SetInParent()
        fill_SummaryOptions(v, w.summary)
    v = s.gates
    if v:
        for x in v:
            fill_Gate(x, w.gates.add())


def fill_RescoreRunResponse(s, w):
    v = s.run
    if v is not None:
        w.run.SetInParent()
        fill_Run(v, w.run)


FILLS: dict[str, Callable[[Any, Any], None]] = {
    "A2AAgent": fill_A2AAgent,
    "APIKey": fill_APIKey,
    "AgentBudget": fill_AgentBudget,
    "AgentTarget": fill_AgentTarget,
    "Alert": fill_Alert,
    "AlertState": fill_AlertState,
    "ApplyPolicyRequest": fill_ApplyPolicyRequest,
    "ApplyPolicyResponse": fill_ApplyPolicyResponse,
    "ArchiveRunRequest": fill_ArchiveRunRequest,
    "ArchiveRunResponse": fill_ArchiveRunResponse,
    "AuditEvent": fill_AuditEvent,
    "BackfillPolicyRequest": fill_BackfillPolicyRequest,
    "BackfillPolicyResponse": fill_BackfillPolicyResponse,
    "BoundRunEvaluator": fill_BoundRunEvaluator,
    "Budget": fill_Budget,
    "BuiltinHarness": fill_BuiltinHarness,
    "CLIAgent": fill_CLIAgent,
    "CancelRunRequest": fill_CancelRunRequest,
    "CancelRunResponse": fill_CancelRunResponse,
    "CaptureFailureRequest": fill_CaptureFailureRequest,
    "CaptureFailureResponse": fill_CaptureFailureResponse,
    "CascadeStage": fill_CascadeStage,
    "Checker": fill_Checker,
    "CommandHarness": fill_CommandHarness,
    "CommandTarget": fill_CommandTarget,
    "CompareRunsRequest": fill_CompareRunsRequest,
    "CompareRunsResponse": fill_CompareRunsResponse,
    "CompareTrafficRequest": fill_CompareTrafficRequest,
    "CompareTrafficResponse": fill_CompareTrafficResponse,
    "ConfidenceInterval": fill_ConfidenceInterval,
    "Content": fill_Content,
    "ContextManagement": fill_ContextManagement,
    "CountTracesRequest": fill_CountTracesRequest,
    "CountTracesResponse": fill_CountTracesResponse,
    "CreateAPIKeyRequest": fill_CreateAPIKeyRequest,
    "CreateAPIKeyResponse": fill_CreateAPIKeyResponse,
    "CreateBindingRequest": fill_CreateBindingRequest,
    "CreateBindingResponse": fill_CreateBindingResponse,
    "CreateProjectRequest": fill_CreateProjectRequest,
    "CreateProjectResponse": fill_CreateProjectResponse,
    "CreateRoleRequest": fill_CreateRoleRequest,
    "CreateRoleResponse": fill_CreateRoleResponse,
    "CreateRunRequest": fill_CreateRunRequest,
    "CreateRunResponse": fill_CreateRunResponse,
    "CreateShadowReplayRequest": fill_CreateShadowReplayRequest,
    "CreateShadowReplayResponse": fill_CreateShadowReplayResponse,
    "CredentialGrant": fill_CredentialGrant,
    "DatasetManifest": fill_DatasetManifest,
    "DatasetRecordChange": fill_DatasetRecordChange,
    "DatasetSource": fill_DatasetSource,
    "DatasetUploadConfig": fill_DatasetUploadConfig,
    "DatasetVersion": fill_DatasetVersion,
    "DatasetVersionContent": fill_DatasetVersionContent,
    "DatasetVersionEvent": fill_DatasetVersionEvent,
    "DatasetVersionRef": fill_DatasetVersionRef,
    "DeleteBindingRequest": fill_DeleteBindingRequest,
    "DeleteBindingResponse": fill_DeleteBindingResponse,
    "DeleteFailureRequest": fill_DeleteFailureRequest,
    "DeleteFailureResponse": fill_DeleteFailureResponse,
    "DeletePolicyRequest": fill_DeletePolicyRequest,
    "DeletePolicyResponse": fill_DeletePolicyResponse,
    "DeleteRoleRequest": fill_DeleteRoleRequest,
    "DeleteRoleResponse": fill_DeleteRoleResponse,
    "DeleteRunRequest": fill_DeleteRunRequest,
    "DeleteRunResponse": fill_DeleteRunResponse,
    "DeleteTracesRequest": fill_DeleteTracesRequest,
    "DeleteTracesResponse": fill_DeleteTracesResponse,
    "DiffDatasetVersionsRequest": fill_DiffDatasetVersionsRequest,
    "DiffDatasetVersionsResponse": fill_DiffDatasetVersionsResponse,
    "Environment": fill_Environment,
    "EnvironmentService": fill_EnvironmentService,
    "EscalationPolicy": fill_EscalationPolicy,
    "EvalRun": fill_EvalRun,
    "EvaluateRequest": fill_EvaluateRequest,
    "EvaluateResponse": fill_EvaluateResponse,
    "EvaluateStreamConfig": fill_EvaluateStreamConfig,
    "EvaluateStreamRequest": fill_EvaluateStreamRequest,
    "EvaluateStreamResponse": fill_EvaluateStreamResponse,
    "EvaluationResult": fill_EvaluationResult,
    "EvaluatorExample": fill_EvaluatorExample,
    "EvaluatorManifest": fill_EvaluatorManifest,
    "EvaluatorRef": fill_EvaluatorRef,
    "ExportFailuresRequest": fill_ExportFailuresRequest,
    "ExportFailuresResponse": fill_ExportFailuresResponse,
    "ExportRunRequest": fill_ExportRunRequest,
    "ExportRunResponse": fill_ExportRunResponse,
    "ExportTraceRequest": fill_ExportTraceRequest,
    "ExportTraceResponse": fill_ExportTraceResponse,
    "ExternalHarness": fill_ExternalHarness,
    "FailureCase": fill_FailureCase,
    "FailureEvent": fill_FailureEvent,
    "FailureSelection": fill_FailureSelection,
    "Feedback": fill_Feedback,
    "FetchDatasetVersionRequest": fill_FetchDatasetVersionRequest,
    "FetchDatasetVersionResponse": fill_FetchDatasetVersionResponse,
    "FewShotExample": fill_FewShotExample,
    "Gate": fill_Gate,
    "GateResult": fill_GateResult,
    "GetDatasetVersionRequest": fill_GetDatasetVersionRequest,
    "GetDatasetVersionResponse": fill_GetDatasetVersionResponse,
    "GetFailureRequest": fill_GetFailureRequest,
    "GetFailureResponse": fill_GetFailureResponse,
    "GetPolicyStatsRequest": fill_GetPolicyStatsRequest,
    "GetPolicyStatsResponse": fill_GetPolicyStatsResponse,
    "GetRecordEvidenceRequest": fill_GetRecordEvidenceRequest,
    "GetRecordEvidenceResponse": fill_GetRecordEvidenceResponse,
    "GetRunRequest": fill_GetRunRequest,
    "GetRunResponse": fill_GetRunResponse,
    "GetSessionRequest": fill_GetSessionRequest,
    "GetSessionResponse": fill_GetSessionResponse,
    "GetTraceRequest": fill_GetTraceRequest,
    "GetTraceResponse": fill_GetTraceResponse,
    "GitState": fill_GitState,
    "HTTPAgent": fill_HTTPAgent,
    "Harness": fill_Harness,
    "Hook": fill_Hook,
    "ImportRunRequest": fill_ImportRunRequest,
    "ImportRunResponse": fill_ImportRunResponse,
    "InlineRecords": fill_InlineRecords,
    "Interjection": fill_Interjection,
    "IsolationReport": fill_IsolationReport,
    "JudgeManifest": fill_JudgeManifest,
    "JudgeSpec": fill_JudgeSpec,
    "ListAPIKeysRequest": fill_ListAPIKeysRequest,
    "ListAPIKeysResponse": fill_ListAPIKeysResponse,
    "ListAuditEventsRequest": fill_ListAuditEventsRequest,
    "ListAuditEventsResponse": fill_ListAuditEventsResponse,
    "ListBindingsRequest": fill_ListBindingsRequest,
    "ListBindingsResponse": fill_ListBindingsResponse,
    "ListCredentialsRequest": fill_ListCredentialsRequest,
    "ListCredentialsResponse": fill_ListCredentialsResponse,
    "ListDatasetVersionEventsRequest": fill_ListDatasetVersionEventsRequest,
    "ListDatasetVersionEventsResponse": fill_ListDatasetVersionEventsResponse,
    "ListDatasetVersionsRequest": fill_ListDatasetVersionsRequest,
    "ListDatasetVersionsResponse": fill_ListDatasetVersionsResponse,
    "ListEvaluatorsRequest": fill_ListEvaluatorsRequest,
    "ListEvaluatorsResponse": fill_ListEvaluatorsResponse,
    "ListFailureEventsRequest": fill_ListFailureEventsRequest,
    "ListFailureEventsResponse": fill_ListFailureEventsResponse,
    "ListFailuresRequest": fill_ListFailuresRequest,
    "ListFailuresResponse": fill_ListFailuresResponse,
    "ListFeedbackRequest": fill_ListFeedbackRequest,
    "ListFeedbackResponse": fill_ListFeedbackResponse,
    "ListPermissionsRequest": fill_ListPermissionsRequest,
    "ListPermissionsResponse": fill_ListPermissionsResponse,
    "ListPoliciesRequest": fill_ListPoliciesRequest,
    "ListPoliciesResponse": fill_ListPoliciesResponse,
    "ListProjectsRequest": fill_ListProjectsRequest,
    "ListProjectsResponse": fill_ListProjectsResponse,
    "ListRolesRequest": fill_ListRolesRequest,
    "ListRolesResponse": fill_ListRolesResponse,
    "ListRunResultsRequest": fill_ListRunResultsRequest,
    "ListRunResultsResponse": fill_ListRunResultsResponse,
    "ListRunsRequest": fill_ListRunsRequest,
    "ListRunsResponse": fill_ListRunsResponse,
    "ListScoresRequest": fill_ListScoresRequest,
    "ListScoresResponse": fill_ListScoresResponse,
    "ListTracesRequest": fill_ListTracesRequest,
    "ListTracesResponse": fill_ListTracesResponse,
    "MCPAgent": fill_MCPAgent,
    "MCPOAuth": fill_MCPOAuth,
    "MCPServer": fill_MCPServer,
    "MediaRef": fill_MediaRef,
    "Message": fill_Message,
    "Messages": fill_Messages,
    "MetricComparison": fill_MetricComparison,
    "MetricDrift": fill_MetricDrift,
    "MetricSpec": fill_MetricSpec,
    "MetricSummaries": fill_MetricSummaries,
    "MetricSummary": fill_MetricSummary,
    "MetricWindow": fill_MetricWindow,
    "MockTool": fill_MockTool,
    "Observation": fill_Observation,
    "OnlineEvalPolicy": fill_OnlineEvalPolicy,
    "Permission": fill_Permission,
    "PluginDescribeRequest": fill_PluginDescribeRequest,
    "PluginDescribeResponse": fill_PluginDescribeResponse,
    "PluginEvaluateRequest": fill_PluginEvaluateRequest,
    "PluginEvaluateResponse": fill_PluginEvaluateResponse,
    "PolicyBudget": fill_PolicyBudget,
    "PolicyResults": fill_PolicyResults,
    "PolicyStats": fill_PolicyStats,
    "PolicyView": fill_PolicyView,
    "Pricing": fill_Pricing,
    "Principal": fill_Principal,
    "Progress": fill_Progress,
    "Project": fill_Project,
    "ProjectAccess": fill_ProjectAccess,
    "PromoteResultsRequest": fill_PromoteResultsRequest,
    "PromoteResultsResponse": fill_PromoteResultsResponse,
    "Promotion": fill_Promotion,
    "Provenance": fill_Provenance,
    "PublishDatasetVersionRequest": fill_PublishDatasetVersionRequest,
    "PublishDatasetVersionResponse": fill_PublishDatasetVersionResponse,
    "Record": fill_Record,
    "Recording": fill_Recording,
    "RejectedLine": fill_RejectedLine,
    "Requirements": fill_Requirements,
    "RescoreRunRequest": fill_RescoreRunRequest,
    "RescoreRunResponse": fill_RescoreRunResponse,
    "ResponsesAgent": fill_ResponsesAgent,
    "ResultsFile": fill_ResultsFile,
    "ResultsLayout": fill_ResultsLayout,
    "ResumeRunRequest": fill_ResumeRunRequest,
    "ResumeRunResponse": fill_ResumeRunResponse,
    "ReviewDatasetVersionRequest": fill_ReviewDatasetVersionRequest,
    "ReviewDatasetVersionResponse": fill_ReviewDatasetVersionResponse,
    "ReviewFailureRequest": fill_ReviewFailureRequest,
    "ReviewFailureResponse": fill_ReviewFailureResponse,
    "RevokeAPIKeyRequest": fill_RevokeAPIKeyRequest,
    "RevokeAPIKeyResponse": fill_RevokeAPIKeyResponse,
    "Reward": fill_Reward,
    "RewardClip": fill_RewardClip,
    "RewardComponent": fill_RewardComponent,
    "RewardComponentResult": fill_RewardComponentResult,
    "RewardSpec": fill_RewardSpec,
    "Role": fill_Role,
    "RoleBinding": fill_RoleBinding,
    "RoleList": fill_RoleList,
    "Run": fill_Run,
    "RunEvaluationContract": fill_RunEvaluationContract,
    "RunManifest": fill_RunManifest,
    "RunMetadata": fill_RunMetadata,
    "RunOutputs": fill_RunOutputs,
    "RunProvenance": fill_RunProvenance,
    "RunRecordEvidence": fill_RunRecordEvidence,
    "RunSpec": fill_RunSpec,
    "Sampling": fill_Sampling,
    "SandboxCreateRequest": fill_SandboxCreateRequest,
    "SandboxCreateResponse": fill_SandboxCreateResponse,
    "SandboxDeleteSnapshotRequest": fill_SandboxDeleteSnapshotRequest,
    "SandboxDeleteSnapshotResponse": fill_SandboxDeleteSnapshotResponse,
    "SandboxDestroyRequest": fill_SandboxDestroyRequest,
    "SandboxDestroyResponse": fill_SandboxDestroyResponse,
    "SandboxEgressEvent": fill_SandboxEgressEvent,
    "SandboxExecRequest": fill_SandboxExecRequest,
    "SandboxExecResponse": fill_SandboxExecResponse,
    "SandboxExecResult": fill_SandboxExecResult,
    "SandboxFile": fill_SandboxFile,
    "SandboxNetworkPolicy": fill_SandboxNetworkPolicy,
    "SandboxPolicy": fill_SandboxPolicy,
    "SandboxProbeRequest": fill_SandboxProbeRequest,
    "SandboxProbeResponse": fill_SandboxProbeResponse,
    "SandboxPythonRun": fill_SandboxPythonRun,
    "SandboxReadFilesRequest": fill_SandboxReadFilesRequest,
    "SandboxReadFilesResponse": fill_SandboxReadFilesResponse,
    "SandboxRenewRequest": fill_SandboxRenewRequest,
    "SandboxRenewResponse": fill_SandboxRenewResponse,
    "SandboxResources": fill_SandboxResources,
    "SandboxRestoreRequest": fill_SandboxRestoreRequest,
    "SandboxRestoreResponse": fill_SandboxRestoreResponse,
    "SandboxRunPythonRequest": fill_SandboxRunPythonRequest,
    "SandboxRunPythonResponse": fill_SandboxRunPythonResponse,
    "SandboxRungStatus": fill_SandboxRungStatus,
    "SandboxServiceStatus": fill_SandboxServiceStatus,
    "SandboxSnapshotRequest": fill_SandboxSnapshotRequest,
    "SandboxSnapshotResponse": fill_SandboxSnapshotResponse,
    "SandboxSpec": fill_SandboxSpec,
    "SandboxStatsRequest": fill_SandboxStatsRequest,
    "SandboxStatsResponse": fill_SandboxStatsResponse,
    "SandboxWriteFilesRequest": fill_SandboxWriteFilesRequest,
    "SandboxWriteFilesResponse": fill_SandboxWriteFilesResponse,
    "Scheduling": fill_Scheduling,
    "Score": fill_Score,
    "ScoreRewardsRequest": fill_ScoreRewardsRequest,
    "ScoreRewardsResponse": fill_ScoreRewardsResponse,
    "Sink": fill_Sink,
    "SinkState": fill_SinkState,
    "SliceRow": fill_SliceRow,
    "SliceRunsRequest": fill_SliceRunsRequest,
    "SliceRunsResponse": fill_SliceRunsResponse,
    "SliceSummary": fill_SliceSummary,
    "Step": fill_Step,
    "SubmitFeedbackRequest": fill_SubmitFeedbackRequest,
    "SubmitFeedbackResponse": fill_SubmitFeedbackResponse,
    "SummaryOptions": fill_SummaryOptions,
    "TabularRow": fill_TabularRow,
    "Target": fill_Target,
    "TaskCheck": fill_TaskCheck,
    "Tensor": fill_Tensor,
    "TestPolicyRequest": fill_TestPolicyRequest,
    "TestPolicyResponse": fill_TestPolicyResponse,
    "Thinking": fill_Thinking,
    "ToolCall": fill_ToolCall,
    "ToolDefinition": fill_ToolDefinition,
    "ToolFault": fill_ToolFault,
    "Tools": fill_Tools,
    "TraceFacet": fill_TraceFacet,
    "TraceFilter": fill_TraceFilter,
    "TraceProvenance": fill_TraceProvenance,
    "TraceQuery": fill_TraceQuery,
    "TraceScores": fill_TraceScores,
    "TraceSummary": fill_TraceSummary,
    "TrafficComparison": fill_TrafficComparison,
    "TrafficSlice": fill_TrafficSlice,
    "Trajectory": fill_Trajectory,
    "TrialAdvice": fill_TrialAdvice,
    "TrialVariance": fill_TrialVariance,
    "Unpinned": fill_Unpinned,
    "UpdateFailureRequest": fill_UpdateFailureRequest,
    "UpdateFailureResponse": fill_UpdateFailureResponse,
    "UpdateRoleRequest": fill_UpdateRoleRequest,
    "UpdateRoleResponse": fill_UpdateRoleResponse,
    "UploadDatasetVersionRequest": fill_UploadDatasetVersionRequest,
    "UploadDatasetVersionResponse": fill_UploadDatasetVersionResponse,
    "Usage": fill_Usage,
    "UserSimulator": fill_UserSimulator,
    "VerifyAuditLogRequest": fill_VerifyAuditLogRequest,
    "VerifyAuditLogResponse": fill_VerifyAuditLogResponse,
    "WatchRunRequest": fill_WatchRunRequest,
    "WatchRunResponse": fill_WatchRunResponse,
    "WatchTracesRequest": fill_WatchTracesRequest,
    "WatchTracesResponse": fill_WatchTracesResponse,
    "WhoAmIRequest": fill_WhoAmIRequest,
    "WhoAmIResponse": fill_WhoAmIResponse,
}

FULL_NAMES = {
    "A2AAgent": "evalsi.v1alpha1.A2AAgent",
    "APIKey": "evalsi.v1alpha1.APIKey",
    "AgentBudget": "evalsi.v1alpha1.AgentBudget",
    "AgentTarget": "evalsi.v1alpha1.AgentTarget",
    "Alert": "evalsi.v1alpha1.Alert",
    "AlertState": "evalsi.v1alpha1.AlertState",
    "ApplyPolicyRequest": "evalsi.v1alpha1.ApplyPolicyRequest",
    "ApplyPolicyResponse": "evalsi.v1alpha1.ApplyPolicyResponse",
    "ArchiveRunRequest": "evalsi.v1alpha1.ArchiveRunRequest",
    "ArchiveRunResponse": "evalsi.v1alpha1.ArchiveRunResponse",
    "AuditEvent": "evalsi.v1alpha1.AuditEvent",
    "BackfillPolicyRequest": "evalsi.v1alpha1.BackfillPolicyRequest",
    "BackfillPolicyResponse": "evalsi.v1alpha1.BackfillPolicyResponse",
    "BoundRunEvaluator": "evalsi.v1alpha1.BoundRunEvaluator",
    "Budget": "evalsi.v1alpha1.Budget",
    "BuiltinHarness": "evalsi.v1alpha1.BuiltinHarness",
    "CLIAgent": "evalsi.v1alpha1.CLIAgent",
    "CancelRunRequest": "evalsi.v1alpha1.CancelRunRequest",
    "CancelRunResponse": "evalsi.v1alpha1.CancelRunResponse",
    "CaptureFailureRequest": "evalsi.v1alpha1.CaptureFailureRequest",
    "CaptureFailureResponse": "evalsi.v1alpha1.CaptureFailureResponse",
    "CascadeStage": "evalsi.v1alpha1.CascadeStage",
    "Checker": "evalsi.v1alpha1.Checker",
    "CommandHarness": "evalsi.v1alpha1.CommandHarness",
    "CommandTarget": "evalsi.v1alpha1.CommandTarget",
    "CompareRunsRequest": "evalsi.v1alpha1.CompareRunsRequest",
    "CompareRunsResponse": "evalsi.v1alpha1.CompareRunsResponse",
    "CompareTrafficRequest": "evalsi.v1alpha1.CompareTrafficRequest",
    "CompareTrafficResponse": "evalsi.v1alpha1.CompareTrafficResponse",
    "ConfidenceInterval": "evalsi.v1alpha1.ConfidenceInterval",
    "Content": "evalsi.v1alpha1.Content",
    "ContextManagement": "evalsi.v1alpha1.ContextManagement",
    "CountTracesRequest": "evalsi.v1alpha1.CountTracesRequest",
    "CountTracesResponse": "evalsi.v1alpha1.CountTracesResponse",
    "CreateAPIKeyRequest": "evalsi.v1alpha1.CreateAPIKeyRequest",
    "CreateAPIKeyResponse": "evalsi.v1alpha1.CreateAPIKeyResponse",
    "CreateBindingRequest": "evalsi.v1alpha1.CreateBindingRequest",
    "CreateBindingResponse": "evalsi.v1alpha1.CreateBindingResponse",
    "CreateProjectRequest": "evalsi.v1alpha1.CreateProjectRequest",
    "CreateProjectResponse": "evalsi.v1alpha1.CreateProjectResponse",
    "CreateRoleRequest": "evalsi.v1alpha1.CreateRoleRequest",
    "CreateRoleResponse": "evalsi.v1alpha1.CreateRoleResponse",
    "CreateRunRequest": "evalsi.v1alpha1.CreateRunRequest",
    "CreateRunResponse": "evalsi.v1alpha1.CreateRunResponse",
    "CreateShadowReplayRequest": "evalsi.v1alpha1.CreateShadowReplayRequest",
    "CreateShadowReplayResponse": "evalsi.v1alpha1.CreateShadowReplayResponse",
    "CredentialGrant": "evalsi.v1alpha1.CredentialGrant",
    "DatasetManifest": "evalsi.v1alpha1.DatasetManifest",
    "DatasetRecordChange": "evalsi.v1alpha1.DatasetRecordChange",
    "DatasetSource": "evalsi.v1alpha1.DatasetSource",
    "DatasetUploadConfig": "evalsi.v1alpha1.DatasetUploadConfig",
    "DatasetVersion": "evalsi.v1alpha1.DatasetVersion",
    "DatasetVersionContent": "evalsi.v1alpha1.DatasetVersionContent",
    "DatasetVersionEvent": "evalsi.v1alpha1.DatasetVersionEvent",
    "DatasetVersionRef": "evalsi.v1alpha1.DatasetVersionRef",
    "DeleteBindingRequest": "evalsi.v1alpha1.DeleteBindingRequest",
    "DeleteBindingResponse": "evalsi.v1alpha1.DeleteBindingResponse",
    "DeleteFailureRequest": "evalsi.v1alpha1.DeleteFailureRequest",
    "DeleteFailureResponse": "evalsi.v1alpha1.DeleteFailureResponse",
    "DeletePolicyRequest": "evalsi.v1alpha1.DeletePolicyRequest",
    "DeletePolicyResponse": "evalsi.v1alpha1.DeletePolicyResponse",
    "DeleteRoleRequest": "evalsi.v1alpha1.DeleteRoleRequest",
    "DeleteRoleResponse": "evalsi.v1alpha1.DeleteRoleResponse",
    "DeleteRunRequest": "evalsi.v1alpha1.DeleteRunRequest",
    "DeleteRunResponse": "evalsi.v1alpha1.DeleteRunResponse",
    "DeleteTracesRequest": "evalsi.v1alpha1.DeleteTracesRequest",
    "DeleteTracesResponse": "evalsi.v1alpha1.DeleteTracesResponse",
    "DiffDatasetVersionsRequest": "evalsi.v1alpha1.DiffDatasetVersionsRequest",
    "DiffDatasetVersionsResponse": "evalsi.v1alpha1.DiffDatasetVersionsResponse",
    "Environment": "evalsi.v1alpha1.Environment",
    "EnvironmentService": "evalsi.v1alpha1.EnvironmentService",
    "EscalationPolicy": "evalsi.v1alpha1.EscalationPolicy",
    "EvalRun": "evalsi.v1alpha1.EvalRun",
    "EvaluateRequest": "evalsi.v1alpha1.EvaluateRequest",
    "EvaluateResponse": "evalsi.v1alpha1.EvaluateResponse",
    "EvaluateStreamConfig": "evalsi.v1alpha1.EvaluateStreamConfig",
    "EvaluateStreamRequest": "evalsi.v1alpha1.EvaluateStreamRequest",
    "EvaluateStreamResponse": "evalsi.v1alpha1.EvaluateStreamResponse",
    "EvaluationResult": "evalsi.v1alpha1.EvaluationResult",
    "EvaluatorExample": "evalsi.v1alpha1.EvaluatorExample",
    "EvaluatorManifest": "evalsi.v1alpha1.EvaluatorManifest",
    "EvaluatorRef": "evalsi.v1alpha1.EvaluatorRef",
    "ExportFailuresRequest": "evalsi.v1alpha1.ExportFailuresRequest",
    "ExportFailuresResponse": "evalsi.v1alpha1.ExportFailuresResponse",
    "ExportRunRequest": "evalsi.v1alpha1.ExportRunRequest",
    "ExportRunResponse": "evalsi.v1alpha1.ExportRunResponse",
    "ExportTraceRequest": "evalsi.v1alpha1.ExportTraceRequest",
    "ExportTraceResponse": "evalsi.v1alpha1.ExportTraceResponse",
    "ExternalHarness": "evalsi.v1alpha1.ExternalHarness",
    "FailureCase": "evalsi.v1alpha1.FailureCase",
    "FailureEvent": "evalsi.v1alpha1.FailureEvent",
    "FailureSelection": "evalsi.v1alpha1.FailureSelection",
    "Feedback": "evalsi.v1alpha1.Feedback",
    "FetchDatasetVersionRequest": "evalsi.v1alpha1.FetchDatasetVersionRequest",
    "FetchDatasetVersionResponse": "evalsi.v1alpha1.FetchDatasetVersionResponse",
    "FewShotExample": "evalsi.v1alpha1.FewShotExample",
    "Gate": "evalsi.v1alpha1.Gate",
    "GateResult": "evalsi.v1alpha1.GateResult",
    "GetDatasetVersionRequest": "evalsi.v1alpha1.GetDatasetVersionRequest",
    "GetDatasetVersionResponse": "evalsi.v1alpha1.GetDatasetVersionResponse",
    "GetFailureRequest": "evalsi.v1alpha1.GetFailureRequest",
    "GetFailureResponse": "evalsi.v1alpha1.GetFailureResponse",
    "GetPolicyStatsRequest": "evalsi.v1alpha1.GetPolicyStatsRequest",
    "GetPolicyStatsResponse": "evalsi.v1alpha1.GetPolicyStatsResponse",
    "GetRecordEvidenceRequest": "evalsi.v1alpha1.GetRecordEvidenceRequest",
    "GetRecordEvidenceResponse": "evalsi.v1alpha1.GetRecordEvidenceResponse",
    "GetRunRequest": "evalsi.v1alpha1.GetRunRequest",
    "GetRunResponse": "evalsi.v1alpha1.GetRunResponse",
    "GetSessionRequest": "evalsi.v1alpha1.GetSessionRequest",
    "GetSessionResponse": "evalsi.v1alpha1.GetSessionResponse",
    "GetTraceRequest": "evalsi.v1alpha1.GetTraceRequest",
    "GetTraceResponse": "evalsi.v1alpha1.GetTraceResponse",
    "GitState": "evalsi.v1alpha1.GitState",
    "HTTPAgent": "evalsi.v1alpha1.HTTPAgent",
    "Harness": "evalsi.v1alpha1.Harness",
    "Hook": "evalsi.v1alpha1.Hook",
    "ImportRunRequest": "evalsi.v1alpha1.ImportRunRequest",
    "ImportRunResponse": "evalsi.v1alpha1.ImportRunResponse",
    "InlineRecords": "evalsi.v1alpha1.InlineRecords",
    "Interjection": "evalsi.v1alpha1.Interjection",
    "IsolationReport": "evalsi.v1alpha1.IsolationReport",
    "JudgeManifest": "evalsi.v1alpha1.JudgeManifest",
    "JudgeSpec": "evalsi.v1alpha1.JudgeSpec",
    "ListAPIKeysRequest": "evalsi.v1alpha1.ListAPIKeysRequest",
    "ListAPIKeysResponse": "evalsi.v1alpha1.ListAPIKeysResponse",
    "ListAuditEventsRequest": "evalsi.v1alpha1.ListAuditEventsRequest",
    "ListAuditEventsResponse": "evalsi.v1alpha1.ListAuditEventsResponse",
    "ListBindingsRequest": "evalsi.v1alpha1.ListBindingsRequest",
    "ListBindingsResponse": "evalsi.v1alpha1.ListBindingsResponse",
    "ListCredentialsRequest": "evalsi.v1alpha1.ListCredentialsRequest",
    "ListCredentialsResponse": "evalsi.v1alpha1.ListCredentialsResponse",
    "ListDatasetVersionEventsRequest": "evalsi.v1alpha1.ListDatasetVersionEventsRequest",
    "ListDatasetVersionEventsResponse": "evalsi.v1alpha1.ListDatasetVersionEventsResponse",
    "ListDatasetVersionsRequest": "evalsi.v1alpha1.ListDatasetVersionsRequest",
    "ListDatasetVersionsResponse": "evalsi.v1alpha1.ListDatasetVersionsResponse",
    "ListEvaluatorsRequest": "evalsi.v1alpha1.ListEvaluatorsRequest",
    "ListEvaluatorsResponse": "evalsi.v1alpha1.ListEvaluatorsResponse",
    "ListFailureEventsRequest": "evalsi.v1alpha1.ListFailureEventsRequest",
    "ListFailureEventsResponse": "evalsi.v1alpha1.ListFailureEventsResponse",
    "ListFailuresRequest": "evalsi.v1alpha1.ListFailuresRequest",
    "ListFailuresResponse": "evalsi.v1alpha1.ListFailuresResponse",
    "ListFeedbackRequest": "evalsi.v1alpha1.ListFeedbackRequest",
    "ListFeedbackResponse": "evalsi.v1alpha1.ListFeedbackResponse",
    "ListPermissionsRequest": "evalsi.v1alpha1.ListPermissionsRequest",
    "ListPermissionsResponse": "evalsi.v1alpha1.ListPermissionsResponse",
    "ListPoliciesRequest": "evalsi.v1alpha1.ListPoliciesRequest",
    "ListPoliciesResponse": "evalsi.v1alpha1.ListPoliciesResponse",
    "ListProjectsRequest": "evalsi.v1alpha1.ListProjectsRequest",
    "ListProjectsResponse": "evalsi.v1alpha1.ListProjectsResponse",
    "ListRolesRequest": "evalsi.v1alpha1.ListRolesRequest",
    "ListRolesResponse": "evalsi.v1alpha1.ListRolesResponse",
    "ListRunResultsRequest": "evalsi.v1alpha1.ListRunResultsRequest",
    "ListRunResultsResponse": "evalsi.v1alpha1.ListRunResultsResponse",
    "ListRunsRequest": "evalsi.v1alpha1.ListRunsRequest",
    "ListRunsResponse": "evalsi.v1alpha1.ListRunsResponse",
    "ListScoresRequest": "evalsi.v1alpha1.ListScoresRequest",
    "ListScoresResponse": "evalsi.v1alpha1.ListScoresResponse",
    "ListTracesRequest": "evalsi.v1alpha1.ListTracesRequest",
    "ListTracesResponse": "evalsi.v1alpha1.ListTracesResponse",
    "MCPAgent": "evalsi.v1alpha1.MCPAgent",
    "MCPOAuth": "evalsi.v1alpha1.MCPOAuth",
    "MCPServer": "evalsi.v1alpha1.MCPServer",
    "MediaRef": "evalsi.v1alpha1.MediaRef",
    "Message": "evalsi.v1alpha1.Message",
    "Messages": "evalsi.v1alpha1.Messages",
    "MetricComparison": "evalsi.v1alpha1.MetricComparison",
    "MetricDrift": "evalsi.v1alpha1.MetricDrift",
    "MetricSpec": "evalsi.v1alpha1.MetricSpec",
    "MetricSummaries": "evalsi.v1alpha1.MetricSummaries",
    "MetricSummary": "evalsi.v1alpha1.MetricSummary",
    "MetricWindow": "evalsi.v1alpha1.MetricWindow",
    "MockTool": "evalsi.v1alpha1.MockTool",
    "Observation": "evalsi.v1alpha1.Observation",
    "OnlineEvalPolicy": "evalsi.v1alpha1.OnlineEvalPolicy",
    "Permission": "evalsi.v1alpha1.Permission",
    "PluginDescribeRequest": "evalsi.plugin.v1alpha1.DescribeRequest",
    "PluginDescribeResponse": "evalsi.plugin.v1alpha1.DescribeResponse",
    "PluginEvaluateRequest": "evalsi.plugin.v1alpha1.EvaluateRequest",
    "PluginEvaluateResponse": "evalsi.plugin.v1alpha1.EvaluateResponse",
    "PolicyBudget": "evalsi.v1alpha1.PolicyBudget",
    "PolicyResults": "evalsi.v1alpha1.PolicyResults",
    "PolicyStats": "evalsi.v1alpha1.PolicyStats",
    "PolicyView": "evalsi.v1alpha1.PolicyView",
    "Pricing": "evalsi.v1alpha1.Pricing",
    "Principal": "evalsi.v1alpha1.Principal",
    "Progress": "evalsi.v1alpha1.Progress",
    "Project": "evalsi.v1alpha1.Project",
    "ProjectAccess": "evalsi.v1alpha1.ProjectAccess",
    "PromoteResultsRequest": "evalsi.v1alpha1.PromoteResultsRequest",
    "PromoteResultsResponse": "evalsi.v1alpha1.PromoteResultsResponse",
    "Promotion": "evalsi.v1alpha1.Promotion",
    "Provenance": "evalsi.v1alpha1.Provenance",
    "PublishDatasetVersionRequest": "evalsi.v1alpha1.PublishDatasetVersionRequest",
    "PublishDatasetVersionResponse": "evalsi.v1alpha1.PublishDatasetVersionResponse",
    "Record": "evalsi.v1alpha1.Record",
    "Recording": "evalsi.v1alpha1.Recording",
    "RejectedLine": "evalsi.v1alpha1.RejectedLine",
    "Requirements": "evalsi.v1alpha1.Requirements",
    "RescoreRunRequest": "evalsi.v1alpha1.RescoreRunRequest",
    "RescoreRunResponse": "evalsi.v1alpha1.RescoreRunResponse",
    "ResponsesAgent": "evalsi.v1alpha1.ResponsesAgent",
    "ResultsFile": "evalsi.v1alpha1.ResultsFile",
    "ResultsLayout": "evalsi.v1alpha1.ResultsLayout",
    "ResumeRunRequest": "evalsi.v1alpha1.ResumeRunRequest",
    "ResumeRunResponse": "evalsi.v1alpha1.ResumeRunResponse",
    "ReviewDatasetVersionRequest": "evalsi.v1alpha1.ReviewDatasetVersionRequest",
    "ReviewDatasetVersionResponse": "evalsi.v1alpha1.ReviewDatasetVersionResponse",
    "ReviewFailureRequest": "evalsi.v1alpha1.ReviewFailureRequest",
    "ReviewFailureResponse": "evalsi.v1alpha1.ReviewFailureResponse",
    "RevokeAPIKeyRequest": "evalsi.v1alpha1.RevokeAPIKeyRequest",
    "RevokeAPIKeyResponse": "evalsi.v1alpha1.RevokeAPIKeyResponse",
    "Reward": "evalsi.v1alpha1.Reward",
    "RewardClip": "evalsi.v1alpha1.RewardClip",
    "RewardComponent": "evalsi.v1alpha1.RewardComponent",
    "RewardComponentResult": "evalsi.v1alpha1.RewardComponentResult",
    "RewardSpec": "evalsi.v1alpha1.RewardSpec",
    "Role": "evalsi.v1alpha1.Role",
    "RoleBinding": "evalsi.v1alpha1.RoleBinding",
    "RoleList": "evalsi.v1alpha1.RoleList",
    "Run": "evalsi.v1alpha1.Run",
    "RunEvaluationContract": "evalsi.v1alpha1.RunEvaluationContract",
    "RunManifest": "evalsi.v1alpha1.RunManifest",
    "RunMetadata": "evalsi.v1alpha1.RunMetadata",
    "RunOutputs": "evalsi.v1alpha1.RunOutputs",
    "RunProvenance": "evalsi.v1alpha1.RunProvenance",
    "RunRecordEvidence": "evalsi.v1alpha1.RunRecordEvidence",
    "RunSpec": "evalsi.v1alpha1.RunSpec",
    "Sampling": "evalsi.v1alpha1.Sampling",
    "SandboxCreateRequest": "evalsi.sandbox.v1alpha1.CreateRequest",
    "SandboxCreateResponse": "evalsi.sandbox.v1alpha1.CreateResponse",
    "SandboxDeleteSnapshotRequest": "evalsi.sandbox.v1alpha1.DeleteSnapshotRequest",
    "SandboxDeleteSnapshotResponse": "evalsi.sandbox.v1alpha1.DeleteSnapshotResponse",
    "SandboxDestroyRequest": "evalsi.sandbox.v1alpha1.DestroyRequest",
    "SandboxDestroyResponse": "evalsi.sandbox.v1alpha1.DestroyResponse",
    "SandboxEgressEvent": "evalsi.sandbox.v1alpha1.EgressEvent",
    "SandboxExecRequest": "evalsi.sandbox.v1alpha1.ExecRequest",
    "SandboxExecResponse": "evalsi.sandbox.v1alpha1.ExecResponse",
    "SandboxExecResult": "evalsi.sandbox.v1alpha1.ExecResult",
    "SandboxFile": "evalsi.sandbox.v1alpha1.File",
    "SandboxNetworkPolicy": "evalsi.sandbox.v1alpha1.NetworkPolicy",
    "SandboxPolicy": "evalsi.v1alpha1.SandboxPolicy",
    "SandboxProbeRequest": "evalsi.sandbox.v1alpha1.ProbeRequest",
    "SandboxProbeResponse": "evalsi.sandbox.v1alpha1.ProbeResponse",
    "SandboxPythonRun": "evalsi.sandbox.v1alpha1.PythonRun",
    "SandboxReadFilesRequest": "evalsi.sandbox.v1alpha1.ReadFilesRequest",
    "SandboxReadFilesResponse": "evalsi.sandbox.v1alpha1.ReadFilesResponse",
    "SandboxRenewRequest": "evalsi.sandbox.v1alpha1.RenewRequest",
    "SandboxRenewResponse": "evalsi.sandbox.v1alpha1.RenewResponse",
    "SandboxResources": "evalsi.sandbox.v1alpha1.Resources",
    "SandboxRestoreRequest": "evalsi.sandbox.v1alpha1.RestoreRequest",
    "SandboxRestoreResponse": "evalsi.sandbox.v1alpha1.RestoreResponse",
    "SandboxRunPythonRequest": "evalsi.sandbox.v1alpha1.RunPythonRequest",
    "SandboxRunPythonResponse": "evalsi.sandbox.v1alpha1.RunPythonResponse",
    "SandboxRungStatus": "evalsi.sandbox.v1alpha1.RungStatus",
    "SandboxServiceStatus": "evalsi.sandbox.v1alpha1.ServiceStatus",
    "SandboxSnapshotRequest": "evalsi.sandbox.v1alpha1.SnapshotRequest",
    "SandboxSnapshotResponse": "evalsi.sandbox.v1alpha1.SnapshotResponse",
    "SandboxSpec": "evalsi.sandbox.v1alpha1.SandboxSpec",
    "SandboxStatsRequest": "evalsi.sandbox.v1alpha1.StatsRequest",
    "SandboxStatsResponse": "evalsi.sandbox.v1alpha1.StatsResponse",
    "SandboxWriteFilesRequest": "evalsi.sandbox.v1alpha1.WriteFilesRequest",
    "SandboxWriteFilesResponse": "evalsi.sandbox.v1alpha1.WriteFilesResponse",
    "Scheduling": "evalsi.v1alpha1.Scheduling",
    "Score": "evalsi.v1alpha1.Score",
    "ScoreRewardsRequest": "evalsi.v1alpha1.ScoreRewardsRequest",
    "ScoreRewardsResponse": "evalsi.v1alpha1.ScoreRewardsResponse",
    "Sink": "evalsi.v1alpha1.Sink",
    "SinkState": "evalsi.v1alpha1.SinkState",
    "SliceRow": "evalsi.v1alpha1.SliceRow",
    "SliceRunsRequest": "evalsi.v1alpha1.SliceRunsRequest",
    "SliceRunsResponse": "evalsi.v1alpha1.SliceRunsResponse",
    "SliceSummary": "evalsi.v1alpha1.SliceSummary",
    "Step": "evalsi.v1alpha1.Step",
    "SubmitFeedbackRequest": "evalsi.v1alpha1.SubmitFeedbackRequest",
    "SubmitFeedbackResponse": "evalsi.v1alpha1.SubmitFeedbackResponse",
    "SummaryOptions": "evalsi.v1alpha1.SummaryOptions",
    "TabularRow": "evalsi.v1alpha1.TabularRow",
    "Target": "evalsi.v1alpha1.Target",
    "TaskCheck": "evalsi.v1alpha1.TaskCheck",
    "Tensor": "evalsi.v1alpha1.Tensor",
    "TestPolicyRequest": "evalsi.v1alpha1.TestPolicyRequest",
    "TestPolicyResponse": "evalsi.v1alpha1.TestPolicyResponse",
    "Thinking": "evalsi.v1alpha1.Thinking",
    "ToolCall": "evalsi.v1alpha1.ToolCall",
    "ToolDefinition": "evalsi.v1alpha1.ToolDefinition",
    "ToolFault": "evalsi.v1alpha1.ToolFault",
    "Tools": "evalsi.v1alpha1.Tools",
    "TraceFacet": "evalsi.v1alpha1.TraceFacet",
    "TraceFilter": "evalsi.v1alpha1.TraceFilter",
    "TraceProvenance": "evalsi.v1alpha1.TraceProvenance",
    "TraceQuery": "evalsi.v1alpha1.TraceQuery",
    "TraceScores": "evalsi.v1alpha1.TraceScores",
    "TraceSummary": "evalsi.v1alpha1.TraceSummary",
    "TrafficComparison": "evalsi.v1alpha1.TrafficComparison",
    "TrafficSlice": "evalsi.v1alpha1.TrafficSlice",
    "Trajectory": "evalsi.v1alpha1.Trajectory",
    "TrialAdvice": "evalsi.v1alpha1.TrialAdvice",
    "TrialVariance": "evalsi.v1alpha1.TrialVariance",
    "Unpinned": "evalsi.v1alpha1.Unpinned",
    "UpdateFailureRequest": "evalsi.v1alpha1.UpdateFailureRequest",
    "UpdateFailureResponse": "evalsi.v1alpha1.UpdateFailureResponse",
    "UpdateRoleRequest": "evalsi.v1alpha1.UpdateRoleRequest",
    "UpdateRoleResponse": "evalsi.v1alpha1.UpdateRoleResponse",
    "UploadDatasetVersionRequest": "evalsi.v1alpha1.UploadDatasetVersionRequest",
    "UploadDatasetVersionResponse": "evalsi.v1alpha1.UploadDatasetVersionResponse",
    "Usage": "evalsi.v1alpha1.Usage",
    "UserSimulator": "evalsi.v1alpha1.UserSimulator",
    "VerifyAuditLogRequest": "evalsi.v1alpha1.VerifyAuditLogRequest",
    "VerifyAuditLogResponse": "evalsi.v1alpha1.VerifyAuditLogResponse",
    "WatchRunRequest": "evalsi.v1alpha1.WatchRunRequest",
    "WatchRunResponse": "evalsi.v1alpha1.WatchRunResponse",
    "WatchTracesRequest": "evalsi.v1alpha1.WatchTracesRequest",
    "WatchTracesResponse": "evalsi.v1alpha1.WatchTracesResponse",
    "WhoAmIRequest": "evalsi.v1alpha1.WhoAmIRequest",
    "WhoAmIResponse": "evalsi.v1alpha1.WhoAmIResponse",
}
"""What each message is called on the wire."""
