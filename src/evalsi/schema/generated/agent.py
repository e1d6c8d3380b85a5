# Generated from proto/evalsi/v1alpha1/agent.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Agents under evaluation: how to reach one, or the loop, tools and surroundings to build one from."""

from __future__ import annotations

import msgspec

from evalsi.schema.scalar_types import Int32, Int64, JsonObject, Seconds

__all__ = [
    "A2AAgent",
    "AgentBudget",
    "AgentTarget",
    "BuiltinHarness",
    "CLIAgent",
    "Checker",
    "CommandHarness",
    "ContextManagement",
    "Environment",
    "EnvironmentService",
    "EscalationPolicy",
    "ExternalHarness",
    "HTTPAgent",
    "Harness",
    "Hook",
    "Interjection",
    "MCPAgent",
    "MCPOAuth",
    "MCPServer",
    "MockTool",
    "Pricing",
    "Recording",
    "ResponsesAgent",
    "SandboxPolicy",
    "ToolFault",
    "Tools",
    "UserSimulator",
]


class AgentTarget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How to reach an agent that exists.

    One of `a2a`, `mcp`, `responses`, `http`, `cli`: the way in; exactly one is set.
    """

    a2a: A2AAgent | None = None
    """Over the Agent2Agent protocol."""
    mcp: MCPAgent | None = None
    """As a tool of a Model Context Protocol server."""
    responses: ResponsesAgent | None = None
    """Over the Responses API."""
    http: HTTPAgent | None = None
    """Over plain HTTP."""
    cli: CLIAgent | None = None
    """As a command line."""


class A2AAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An agent that speaks Agent2Agent."""

    url: str = ""
    """Address of the agent."""
    headers_env: dict[str, str] = {}
    """Environment variable for the value of each header, by the header's name."""
    timeout: Seconds | None = None
    """Longest time one task may take. In seconds."""
    stream: bool = False
    """Take the answer as a stream."""
    binding: str = ""
    """Protocol binding: "jsonrpc", "grpc" or "http+json"; empty to follow the agent's card."""


class MCPAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An agent that is a tool of a Model Context Protocol server."""

    url: str = ""
    """Address of the server."""
    tool: str = ""
    """Name of the tool."""
    argument: str = ""
    """Argument of the tool that takes the input."""
    headers_env: dict[str, str] = {}
    """Environment variable for the value of each header, by the header's name."""
    timeout: Seconds | None = None
    """Longest time one call may take. In seconds."""


class ResponsesAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An agent behind the Responses API."""

    base_url: str = ""
    """Address of the API."""
    model: str = ""
    """Model or agent to ask for."""
    api_key_env: str = ""
    """Environment variable that holds the key."""
    timeout: Seconds | None = None
    """Longest time one answer may take. In seconds."""


class HTTPAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An agent behind plain HTTP."""

    url: str = ""
    """Address to send to."""
    method: str = ""
    """HTTP method; empty for POST."""
    headers_env: dict[str, str] = {}
    """Environment variable for the value of each header, by the header's name."""
    body_template: str = ""
    """Body with places for the fields of the record."""
    output_path: str = ""
    """Path of the output in the answer."""
    messages_path: str = ""
    """Path of the messages in the answer."""
    timeout: Seconds | None = None
    """Longest time one answer may take. In seconds."""
    usage_path: str = ""
    """Path of the usage in the answer."""
    trajectory_path: str = ""
    """Path of the trajectory in the answer."""
    stream: bool = False
    """Take the answer as server-sent events."""
    delta_path: str = ""
    """Path of the new text in an event."""
    stop_reason_path: str = ""
    """Path of the reason the agent stopped."""
    headers: dict[str, str] = {}
    """Values of headers that are no secret, by the header's name."""


class CLIAgent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """An agent that is a command line."""

    command: list[str] = []
    """Program and arguments, with places for the fields of the record."""
    install: list[str] = []
    """Commands that install it."""
    env_from: dict[str, str] = {}
    """Environment variable here for each environment variable there."""
    allow_hosts: list[str] = []
    """Hosts it may reach."""
    timeout: Seconds | None = None
    """Longest time one task may take. In seconds."""
    output_format: str = ""
    """Form of what it prints: "text", "json" or "stream-json"."""


class Harness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The agent loop that drives a model.

    One of `builtin`, `external`: the loop; exactly one is set.
    """

    builtin: BuiltinHarness | None = None
    """The loop that ships with Evals.si."""
    external: ExternalHarness | None = None
    """A loop brought by the user."""


class AgentBudget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Limits on one task of an agent."""

    usd: float = 0.0
    """Most US dollars; 0 for no limit."""
    wall_clock: Seconds | None = None
    """Longest time. In seconds."""
    tokens: Int64 = 0
    """Most tokens read and written; 0 for no limit."""


class Pricing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Prices that stand in for the price table."""

    input_per_mtok: float = 0.0
    """US dollars for a million input tokens."""
    output_per_mtok: float = 0.0
    """US dollars for a million output tokens."""
    free: bool = False
    """Whether the model costs nothing; a 0 alone is a price that nobody gave. Two prices that a file gives as 0 set it.
    """


class MCPServer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A Model Context Protocol server whose tools the agent may use."""

    name: str = ""
    """Name that prefixes its tools."""
    url: str = ""
    """Address, for a server over HTTP."""
    command: list[str] = []
    """Program and arguments, for a server over standard input and output."""
    headers_env: dict[str, str] = {}
    """Environment variable for the value of each header, by the header's name."""
    tools: list[str] = []
    """Tools to offer; empty for all."""
    timeout_s: Int32 = 0
    """Longest time to connect, in seconds."""
    tool_timeout_s: dict[str, Int32] = {}
    """Longest time one call may take, in seconds, by the tool's name."""
    resources: bool = False
    """Offer its resources."""
    prompts: bool = False
    """Offer its prompts."""
    elicitation: bool = False
    """Let it ask the simulated user questions."""
    oauth: MCPOAuth | None = None
    """How to get a token for it."""


class MCPOAuth(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Client credentials for a Model Context Protocol server."""

    token_url: str = ""
    """Address that gives tokens."""
    client_id_env: str = ""
    """Environment variable that holds the client identifier."""
    client_secret_env: str = ""
    """Environment variable that holds the client secret."""
    scope: str = ""
    """Scope to ask for."""


class MockTool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A tool with canned answers."""

    name: str = ""
    """Name of the tool."""
    description: str = ""
    """What the model is told about it."""
    input_schema: JsonObject = {}
    """JSON Schema of its arguments."""
    response: str = ""
    """Answer to every call that `responses` does not cover."""
    responses: dict[str, str] = {}
    """Answer by the arguments of the call, written as sorted JSON."""


class ToolFault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A fault put into tool answers on purpose."""

    tool: str = ""
    """Tool it concerns; empty for all."""
    kind: str = ""
    """What happens: "error", "timeout", "empty", "malformed" or "inject"."""
    rate: float = 0.0
    """Fraction of the calls it happens to, from 0 to 1."""
    payload: str = ""
    """Text put into the answer, for "inject"."""


class Tools(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The tools of an agent."""

    sandbox: bool | None = None
    """Offer a shell and files in the sandbox; absent for the default of the environment."""
    mcp: list[MCPServer] = []
    """Servers whose tools are offered."""
    mocks: list[MockTool] = []
    """Tools with canned answers."""
    faults: list[ToolFault] = []
    """Faults put into tool answers."""
    builtin: list[str] = []
    """Built-in tools to offer, by name."""


class UserSimulator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A model that plays the user."""

    judge: str = ""
    """Judge that plays."""
    persona: str = ""
    """Who it plays."""
    goal: str = ""
    """What it wants to reach."""
    max_turns: Int32 = 0
    """Most turns it takes."""


class Recording(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Recording and replay of model answers."""

    mode: str = ""
    """What to do: "record", "replay" or "branch"."""
    dir: str = ""
    """Folder that holds the recordings."""
    branch_at_step: Int32 = 0
    """For "branch": step up to which answers are replayed."""
    fork_as: str = ""
    """For "branch": name of the new recording."""


class EscalationPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What an agent may ask a person for."""

    allow: list[str] = []
    """Kinds of requests that are granted."""


class BuiltinHarness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """The loop that ships with Evals.si."""

    max_steps: Int32 = 0
    """Most model calls in one task; 0 for the default."""
    budget: AgentBudget | None = None
    """Limits on one task."""
    pricing: Pricing | None = None
    """Prices that stand in for the price table."""
    tools: Tools | None = None
    """The tools."""
    user_simulator: UserSimulator | None = None
    """A model that plays the user."""
    recording: Recording | None = None
    """Recording and replay."""
    escalation: EscalationPolicy | None = None
    """What the agent may ask a person for."""
    parallel_tool_calls: bool | None = None
    """Let the model call several tools at once; absent for the provider's default."""
    instructions: str = ""
    """Instructions put before the conversation."""
    context: ContextManagement | None = None
    """What to do when the conversation outgrows the window."""
    hooks: list[Hook] = []
    """User code called at each step."""
    delegate_steps: Int32 = 0
    """Most steps of a delegated task."""
    profile: str = ""
    """Named set of defaults."""
    interjections: list[Interjection] = []
    """Messages put in on the way."""


class Interjection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A message put into a conversation at a fixed step."""

    at_step: Int32 = 0
    """Step before which it is put in, from 1."""
    message: str = ""
    """The message, in the user's name."""


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """User code called at each step."""

    python: str = ""
    """Where the code is: "module:attribute"."""
    config: JsonObject = {}
    """Settings handed to it."""


class ContextManagement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What to do when a conversation outgrows the window of the model."""

    strategy: str = ""
    """How: "truncate", "summarize", "spill" or "rounds"."""
    window_tokens: Int32 = 0
    """Size of the window in tokens."""
    trigger: float = 0.0
    """Fraction of the window at which it begins."""
    target: float = 0.0
    """Fraction of the window it goes down to."""
    keep_recent: Int32 = 0
    """Latest messages that stay."""
    keep_turns: Int32 = 0
    """Latest turns that stay."""
    summary_max_tokens: Int32 = 0
    """Longest summary in tokens."""
    spill_outputs: bool = False
    """Move long tool outputs to files."""
    rounds: Int32 = 0
    """Fresh starts, each with the notes of the last."""
    round_steps: Int32 = 0
    """Most steps of one round."""


class ExternalHarness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True):
    """A loop brought by the user.

    One of `address`, `command`, `python`: where it is; exactly one is set.
    """

    address: str | None = None
    """Address of a harness service."""
    command: CommandHarness | None = None
    """A command that starts one."""
    python: str | None = None
    """Python code: "module:attribute"."""
    config: JsonObject = {}
    """Settings handed to it."""


class CommandHarness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A command that starts a harness."""

    argv: list[str] = []
    """Program and arguments."""


class SandboxPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The fence around a program."""

    min_isolation: str = ""
    """Weakest fence that will do: "none", "confined", "namespaced", "kernel" or "vm"."""
    network: str = ""
    """Network: "deny", "allow" or "allowlist"."""
    allow_hosts: list[str] = []
    """For "allowlist": hosts that may be reached."""
    memory_mb: Int32 = 0
    """Most memory in mebibytes; 0 for the default."""
    max_procs: Int32 = 0
    """Most processes; 0 for the default."""
    workdir: str = ""
    """Working folder inside."""
    read_only_root: bool = False
    """Keep everything but the working folder unwritable."""


class Checker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A program that inspects the result of a task."""

    command: list[str] = []
    """Program and arguments."""
    files: dict[str, str] = {}
    """Files put in after the task, content by path; the agent never sees them."""
    timeout: Seconds | None = None
    """Longest time it may take. In seconds."""
    parser: str = ""
    """How its verdict is read: "exit", "json", "junit" or "python"."""
    protect: list[str] = []
    """Paths the task must not change."""
    on_change: str = ""
    """What a change of a protected path means: "fail", "restore" or "flag"."""
    isolation: str = ""
    """Where it runs: "same" or "fresh"."""
    outputs: list[str] = []
    """Files of the task that are kept."""


class Environment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where a task takes place."""

    image: str = ""
    """Image of the file system."""
    files: dict[str, str] = {}
    """Files put in before the task, content by path."""
    setup: list[str] = []
    """Commands that make it ready."""
    setup_timeout: Seconds | None = None
    """Longest time making it ready may take. In seconds."""
    setup_network: str = ""
    """Network while it is made ready: "deny", "allow" or "allowlist"."""
    setup_allow_hosts: list[str] = []
    """For "allowlist": hosts that may be reached while it is made ready."""
    sandbox: SandboxPolicy | None = None
    """The fence around the task."""
    checker: Checker | None = None
    """The program that inspects the result."""
    env: dict[str, str] = {}
    """Environment variables inside."""
    command_timeout: Seconds | None = None
    """Longest time one command may take. In seconds."""
    services: list[EnvironmentService] = []
    """Services that run beside the task."""
    service_lifetime: Seconds | None = None
    """Longest time the services live. In seconds."""


class EnvironmentService(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A service that runs beside a task."""

    name: str = ""
    """Name it is reached by."""
    image: str = ""
    """Image of the file system."""
    command: list[str] = []
    """Program and arguments; empty for the image's own."""
    env: dict[str, str] = {}
    """Environment variables inside."""
    port: Int32 = 0
    """Port it listens on."""
    depends_on: list[str] = []
    """Services that must be up first."""
    memory_mb: Int32 = 0
    """Most memory in mebibytes; 0 for the default."""
    cpu_millis: Int32 = 0
    """Most CPU in thousandths of a core; 0 for the default."""
