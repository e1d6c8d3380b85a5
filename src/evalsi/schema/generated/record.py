# Generated from proto/evalsi/v1alpha1/record.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""What is judged: a record and everything a record is made of."""

from __future__ import annotations

import msgspec

from evalsi.schema.scalar_types import Int32, Int64, JsonValue, Seconds, Timestamp
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "Content",
    "Enforcement",
    "IsolationLevel",
    "IsolationReport",
    "MediaRef",
    "Message",
    "Messages",
    "Provenance",
    "Record",
    "RunProvenance",
    "Step",
    "StepType",
    "TabularRow",
    "TaskCheck",
    "Tensor",
    "ToolCall",
    "TraceProvenance",
    "Trajectory",
    "Usage",
]


class StepType(SchemaEnum):
    """What a step does."""

    UNSPECIFIED = "unspecified", 0, "STEP_TYPE_UNSPECIFIED"
    """The kind is not known."""
    LLM = "llm", 1, "STEP_TYPE_LLM"
    """A language model was asked."""
    TOOL = "tool", 2, "STEP_TYPE_TOOL"
    """A tool ran."""
    RETRIEVAL = "retrieval", 3, "STEP_TYPE_RETRIEVAL"
    """Documents were searched."""
    AGENT = "agent", 4, "STEP_TYPE_AGENT"
    """An agent worked; its own steps are children."""
    HANDOFF = "handoff", 5, "STEP_TYPE_HANDOFF"
    """Work was handed to another agent."""
    USER = "user", 6, "STEP_TYPE_USER"
    """A person, or a simulated one, spoke."""
    GUARDRAIL = "guardrail", 7, "STEP_TYPE_GUARDRAIL"
    """A guardrail looked at a message."""
    EMBEDDING = "embedding", 8, "STEP_TYPE_EMBEDDING"
    """Text was turned into vectors."""
    GENERIC = "generic", 9, "STEP_TYPE_GENERIC"
    """Anything else worth a step."""


class IsolationLevel(SchemaEnum):
    """Strength of a sandbox; a higher number is stronger."""

    UNSPECIFIED = "unspecified", 0, "ISOLATION_LEVEL_UNSPECIFIED"
    """The level is not known."""
    NONE = "none", 1, "ISOLATION_LEVEL_NONE"
    """An ordinary process."""
    CONFINED = "confined", 2, "ISOLATION_LEVEL_CONFINED"
    """A process with limits on time, memory and files."""
    NAMESPACED = "namespaced", 3, "ISOLATION_LEVEL_NAMESPACED"
    """Linux namespaces of its own."""
    KERNEL = "kernel", 4, "ISOLATION_LEVEL_KERNEL"
    """A kernel of its own in user space."""
    VM = "vm", 5, "ISOLATION_LEVEL_VM"
    """A virtual machine."""


class Enforcement(SchemaEnum):
    """Whether a promised fence was in force."""

    UNSPECIFIED = "unspecified", 0, "ENFORCEMENT_UNSPECIFIED"
    """It is not known."""
    FULL = "full", 1, "ENFORCEMENT_FULL"
    """Everything was in force."""
    PARTIAL = "partial", 2, "ENFORCEMENT_PARTIAL"
    """Some of it was; the notes say what was missing."""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The unit every evaluator reads: what went in, what came out, what was wanted, and how it came about."""

    id: str = ""
    """Identifier of the case, unique within one dataset."""
    input: Content | None = None
    """What the target was given."""
    output: Content | None = None
    """What the target answered; absent until it has answered."""
    reference: Content | None = None
    """The answer that was wanted, where one exists."""
    context: list[Content] = []
    """Passages the answer should rest on, in the order they were retrieved."""
    trajectory: Trajectory | None = None
    """The steps that led from the input to the output, where they are known."""
    usage: Usage | None = None
    """Tokens, money and time the answer took; absent when nothing was measured."""
    metadata: dict[str, JsonValue] = {}
    """Anything else the case carries, such as topic, language or a group to slice and cluster by."""
    provenance: Provenance | None = None
    """Where the output came from."""
    check: TaskCheck | None = None
    """Verdict of a checker that ran beside the target, where there was one."""
    notes: list[str] = []
    """What happened on the way and does not decide the outcome, for example "agent hit its time limit of 600 s"."""
    stop_reason: str = ""
    """Why the target stopped, in its provider's word, for example "stop", "length" or "refusal"."""


class TaskCheck(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Verdict of a program that inspected the result of a task."""

    passed: bool = False
    """True when the checker accepted the result."""
    score: float | None = None
    """Partial credit as a fraction from 0 to 1; absent when the checker gives only a verdict."""
    details: str = ""
    """What the checker said, for a person to read."""
    tests: dict[str, str] = {}
    """State of each test by its name: "passed", "failed", "skipped" or "error"."""
    error: str = ""
    """Why there is no verdict; empty when there is one."""


class Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """What a record says, in one of six forms.

    One of `text`, `messages`, `json`, `row`, `tensor`, `media`: the form; exactly one is set.
    """

    text: str | None = None
    """Plain text."""
    messages: Messages | None = None
    """A conversation, tool calls included."""
    json: JsonValue = msgspec.UNSET
    """Any JSON value; null is a value and differs from a form that is not set."""
    row: TabularRow | None = None
    """One row of a table with the prediction made for it."""
    tensor: Tensor | None = None
    """An array of numbers."""
    media: MediaRef | None = None
    """A file kept elsewhere, such as an image."""


class Messages(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A conversation."""

    messages: list[Message] = []
    """The messages, oldest first."""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One message of a conversation."""

    role: str = ""
    """Who speaks: "system", "user", "assistant" or "tool"."""
    content: str = ""
    """Text of the message; empty when it only calls tools."""
    tool_calls: list[ToolCall] = []
    """Tools the assistant asked for, in order."""
    tool_call_id: str = ""
    """For role "tool": identifier of the call this message answers."""
    name: str = ""
    """Name of the speaker or of the tool, where one is known."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A request by a model to run one tool."""

    id: str = ""
    """Identifier that the tool's answer repeats."""
    name: str = ""
    """Name of the tool."""
    arguments: str = ""
    """Arguments as the model wrote them: JSON text that need not be valid."""


class TabularRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One row of a table with the prediction made for it."""

    features: dict[str, JsonValue] = {}
    """Value of each feature by its name."""
    prediction: JsonValue = msgspec.UNSET
    """What the model predicted; null is a value and differs from no prediction."""
    probabilities: dict[str, float] = {}
    """Probability from 0 to 1 of each class by its name."""


class Tensor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An array of numbers in row-major order."""

    shape: list[Int64] = []
    """Length of each axis."""
    dtype: str = ""
    """Type of an element in numpy's notation, for example "float32"."""
    data: bytes = b""
    """The elements, little-endian."""


class MediaRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A file kept elsewhere."""

    uri: str = ""
    """Address of the file, for example "s3://bucket/cat.png" or a path relative to the dataset."""
    media_type: str = ""
    """Media type, for example "image/png"."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The steps of one piece of work, whichever convention they were recorded in."""

    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal, where there is a trace."""
    session_id: str = ""
    """Identifier shared by the traces of one session."""
    steps: list[Step] = []
    """The steps in the order they started."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """One step: a model call, a tool call, a retrieval, a hand-over."""

    span_id: str = ""
    """Identifier of the step, unique within its trajectory."""
    parent_span_id: str = ""
    """Identifier of the step this one belongs to; empty at the root."""
    type: StepType = StepType.UNSPECIFIED
    """What kind of step it is."""
    name: str = ""
    """Name of the model, tool, retriever or agent."""
    input: Content | None = None
    """What the step was given."""
    output: Content | None = None
    """What the step gave back."""
    start_time: Timestamp | None = None
    """When the step started."""
    end_time: Timestamp | None = None
    """When the step ended."""
    usage: Usage | None = None
    """Tokens, money and time of this step alone, children not included."""
    error: str = ""
    """Why the step failed; empty when it did not."""
    attributes: dict[str, JsonValue] = {}
    """The raw attributes it was recorded with."""
    duration: Seconds | None = None
    """Time the step took, where start and end are not both known. In seconds."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Tokens, money and time. A field that is absent was not measured; 0 was measured."""

    input_tokens: Int64 | None = None
    """Tokens read, those served from the provider's prompt cache included."""
    output_tokens: Int64 | None = None
    """Tokens written, reasoning included."""
    cost_usd: float | None = None
    """Money in US dollars that this work cost; absent when a price is unknown."""
    latency: Seconds | None = None
    """Time from the request to the complete answer. In seconds."""
    cached_input_tokens: Int64 | None = None
    """Input tokens read from the provider's prompt cache, a part of `input_tokens`."""
    cache_write_tokens: Int64 | None = None
    """Input tokens written to the provider's prompt cache, a part of `input_tokens`."""
    reasoning_tokens: Int64 | None = None
    """Output tokens spent on reasoning, a part of `output_tokens`."""
    cached: bool = False
    """True when nothing was asked: the answer came from our own cache, and tokens and latency are those of the first
    time.
    """
    cached_cost_usd: float | None = None
    """Money in US dollars that the answers taken from our own cache cost the first time; not part of `cost_usd`."""
    requests: Int64 | None = None
    """Requests sent to a provider, retries included."""
    unpriced_requests: Int64 = 0
    """Requests whose price is unknown; above 0 a sum of costs is partial and `cost_usd` is its known part."""
    time_to_first_token: Seconds | None = None
    """Time from the request to the first piece of the answer, where it came as a stream. In seconds."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where an output came from.

    One of `run`, `trace`: the origin; at most one is set.
    """

    run: RunProvenance | None = None
    """The output was made by a run."""
    trace: TraceProvenance | None = None
    """The output was seen in live traffic."""
    isolation: IsolationReport | None = None
    """How the program that made the output was fenced in."""


class RunProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The place of an output within a run."""

    run_id: str = ""
    """Identifier of the run."""
    task_id: str = ""
    """Identifier of the task: one case, one trial."""
    trial: Int32 = 0
    """Number of the repetition, from 0."""


class TraceProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The place of an output within live traffic."""

    trace_id: str = ""
    """OpenTelemetry trace identifier in lower-case hexadecimal."""
    policy_id: str = ""
    """Identifier of the policy that chose the trace."""


class IsolationReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How a program was fenced in while it ran."""

    driver: str = ""
    """Name of the sandbox that ran it, for example "bubblewrap"."""
    level: IsolationLevel = IsolationLevel.UNSPECIFIED
    """Strength of the fence."""
    enforcement: Enforcement = Enforcement.UNSPECIFIED
    """Whether everything the level promises was in force."""
    notes: list[str] = []
    """What was not in force and why, for a person to read."""
    limits: list[str] = []
    """Which limits were in force and by what, for a person to read."""
