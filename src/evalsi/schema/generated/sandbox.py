# Generated from proto/evalsi/sandbox/v1alpha1/sandbox.proto by tools/generate_schema.py. Edit the source, then run `make generate`.
"""Sandboxes of another machine: made, used and destroyed over the network by whoever shows a certificate."""

from __future__ import annotations

import msgspec

from evalsi.schema.generated.agent import EnvironmentService
from evalsi.schema.generated.record import IsolationLevel, IsolationReport
from evalsi.schema.scalar_types import Int32, Int64, Seconds, Timestamp, Uint32
from evalsi.schema.schema_enum import SchemaEnum

__all__ = [
    "SandboxAccessPolicy",
    "SandboxCreateRequest",
    "SandboxCreateResponse",
    "SandboxDeleteSnapshotRequest",
    "SandboxDeleteSnapshotResponse",
    "SandboxDestroyRequest",
    "SandboxDestroyResponse",
    "SandboxEgressEvent",
    "SandboxExecRequest",
    "SandboxExecResponse",
    "SandboxExecResult",
    "SandboxFile",
    "SandboxNetworkMode",
    "SandboxNetworkPolicy",
    "SandboxOutcome",
    "SandboxProbeRequest",
    "SandboxProbeResponse",
    "SandboxPythonRun",
    "SandboxReadFilesRequest",
    "SandboxReadFilesResponse",
    "SandboxRenewRequest",
    "SandboxRenewResponse",
    "SandboxResources",
    "SandboxRestoreRequest",
    "SandboxRestoreResponse",
    "SandboxRunPythonRequest",
    "SandboxRunPythonResponse",
    "SandboxRungStatus",
    "SandboxServiceStatus",
    "SandboxSnapshotRequest",
    "SandboxSnapshotResponse",
    "SandboxSpec",
    "SandboxStatsRequest",
    "SandboxStatsResponse",
    "SandboxWriteFilesRequest",
    "SandboxWriteFilesResponse",
]


class SandboxNetworkMode(SchemaEnum):
    """What a sandbox may reach."""

    UNSPECIFIED = "unspecified", 0, "NETWORK_MODE_UNSPECIFIED"
    """Not said; DENY."""
    DENY = "deny", 1, "NETWORK_MODE_DENY"
    """Nothing."""
    ALLOWLIST = "allowlist", 2, "NETWORK_MODE_ALLOWLIST"
    """Named hosts."""
    ALLOW = "allow", 3, "NETWORK_MODE_ALLOW"
    """Everything; refused by this version."""


class SandboxOutcome(SchemaEnum):
    """How a command ended."""

    UNSPECIFIED = "unspecified", 0, "OUTCOME_UNSPECIFIED"
    """Not known; never sent."""
    EXIT = "exit", 1, "OUTCOME_EXIT"
    """It ended by itself or by a signal; the exit code says which."""
    DENIED = "denied", 2, "OUTCOME_DENIED"
    """It was stopped for something forbidden."""
    TIMEOUT = "timeout", 3, "OUTCOME_TIMEOUT"
    """It ran out of wall-clock or processor time."""
    RUNNER_FAILURE = "runner_failure", 4, "OUTCOME_RUNNER_FAILURE"
    """The sandbox failed, not the program."""
    OUT_OF_MEMORY = "out_of_memory", 50, "OUTCOME_OUT_OF_MEMORY"
    """It was killed for the sandbox's memory."""


class SandboxAccessPolicy(SchemaEnum):
    """What a command may write."""

    UNSPECIFIED = "unspecified", 0, "ACCESS_POLICY_UNSPECIFIED"
    """Not said; WORKSPACE_WRITE."""
    READ_ONLY = "read_only", 1, "ACCESS_POLICY_READ_ONLY"
    """Nothing but /dev/null."""
    WORKSPACE_WRITE = "workspace_write", 2, "ACCESS_POLICY_WORKSPACE_WRITE"
    """The workspace and the temporary folders."""
    FULL = "full", 3, "ACCESS_POLICY_FULL"
    """The whole file tree of the sandbox."""


class SandboxProbeRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for the kinds of sandbox."""


class SandboxRungStatus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One kind of sandbox, as it was found to work or not."""

    driver: str = ""
    """Its name."""
    level: IsolationLevel = IsolationLevel.UNSPECIFIED
    """How strongly it fences in."""
    available: bool = False
    """Whether it works here."""
    reason: str = ""
    """Why it does not."""
    warning: str = ""
    """What of its promises is not in force."""
    isolation: IsolationReport | None = None
    """The report that goes with results, where it works."""
    limits: list[str] = []
    """Which limits are in force and by what."""
    remedy: str = ""
    """How to make it work, where it does not."""


class SandboxProbeResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The kinds of sandbox, strongest first."""

    rungs: list[SandboxRungStatus] = []
    """Every kind."""
    services_supported: bool = False
    """Whether services can run beside a sandbox."""


class SandboxNetworkPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a sandbox may reach."""

    mode: SandboxNetworkMode = SandboxNetworkMode.UNSPECIFIED
    """How much."""
    allow: list[str] = []
    """Hosts, for ALLOWLIST: "name", "name:port" or "*.name"."""


class SandboxResources(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a sandbox may use. 0 takes the host's usual limit."""

    memory_mb: Int32 = 0
    """Memory in mebibytes, of all its processes together where a control group counts."""
    max_procs: Int32 = 0
    """Processes and threads alive at once."""
    max_file_mb: Int32 = 0
    """Mebibytes of one file."""
    cpu_seconds: Int32 = 0
    """Processor seconds of a process."""
    disk_mb: Int32 = 0
    """Mebibytes of all files together."""
    max_files: Int32 = 0
    """Number of files."""
    wall: Seconds | None = None
    """Longest time of a command. In seconds."""
    output_bytes: Int64 = 0
    """Bytes kept of each of standard output and standard error."""


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a sandbox is made of."""

    image: str = ""
    """Image whose tree programs find; empty for what the host has."""
    min_isolation: str = ""
    """Weakest level that will do, for example "namespaced"; empty for confined."""
    mode: str = ""
    """What commands may write unless they say it: "read-only", "workspace-write" or "full"; empty for workspace-write.
    """
    network: SandboxNetworkPolicy | None = None
    """What it may reach; absent for nothing."""
    resources: SandboxResources | None = None
    """What it may use."""
    env: dict[str, str] = {}
    """Environment variables inside."""
    files: dict[str, bytes] = {}
    """Files by their path in the workspace."""
    workdir: str = ""
    """Folder of the workspace in which commands run unless they say it."""
    idle_timeout: Seconds | None = None
    """Time without a call after which it is destroyed; absent for the host's. In seconds."""
    read_only_root: bool = False
    """Whether commands may write nothing unless they say it."""
    services: list[EnvironmentService] = []
    """Services beside it."""
    service_lifetime: Seconds | None = None
    """Longest time the services live. In seconds."""


class SandboxCreateRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for a sandbox."""

    spec: SandboxSpec | None = None
    """What it is made of."""


class SandboxCreateResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A sandbox that is ready."""

    sandbox_id: str = ""
    """Its name in all further calls. Who knows it may use it."""
    isolation: IsolationReport | None = None
    """What of its fence is in force."""
    image_digest: str = ""
    """Digest of the image's manifest; empty without an image."""
    idle_timeout: Seconds | None = None
    """Time without a call after which it is destroyed. In seconds."""


class SandboxExecRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A command."""

    sandbox_id: str = ""
    """The sandbox."""
    command: list[str] = []
    """Program and arguments."""
    stdin: bytes = b""
    """Its standard input."""
    env: dict[str, str] = {}
    """Environment variables, added to the sandbox's own."""
    timeout: Seconds | None = None
    """Time on the clock; absent for the sandbox's limit, which is never exceeded. In seconds."""
    output_limit_bytes: Int32 = 0
    """Bytes that are sent of each stream; 0 for the sandbox's limit, which is never exceeded."""
    cwd: str = ""
    """Working folder below the workspace; empty for the sandbox's."""
    policy: SandboxAccessPolicy = SandboxAccessPolicy.UNSPECIFIED
    """What it may write; unspecified for what the sandbox's spec says."""


class SandboxExecResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How a command ended."""

    outcome: SandboxOutcome = SandboxOutcome.UNSPECIFIED
    """Which way."""
    exit_code: Int32 = 0
    """From 0 to 255, or minus the number of the signal that ended it. Means nothing unless the outcome is EXIT or
    DENIED.
    """
    duration: Seconds | None = None
    """Time on the clock. In seconds."""
    truncated: bool = False
    """Whether it said more than was kept."""
    denials: list[str] = []
    """What it asked for and was refused, a sentence each."""
    error: str = ""
    """Why, where it did not end by itself."""
    cpu_time: Seconds | None = None
    """Processor time. In seconds."""
    has_exit_code: bool = False
    """Whether there is an exit code."""
    egress: list[SandboxEgressEvent] = []
    """What it tried to reach."""


class SandboxExecResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Some of what a command says, or how it ended.

    One of `stdout`, `stderr`, `result`: what came.
    """

    stdout: bytes | None = None
    """Of standard output."""
    stderr: bytes | None = None
    """Of standard error."""
    result: SandboxExecResult | None = None
    """The end; nothing comes after it."""


class SandboxFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A regular file."""

    path: str = ""
    """Path in the workspace."""
    content: bytes = b""
    """What is in it."""
    mode: Uint32 = 0
    """Permission bits; 0 for 0644."""


class SandboxWriteFilesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Files to put into a workspace."""

    sandbox_id: str = ""
    """The sandbox."""
    files: list[SandboxFile] = []
    """The files."""


class SandboxWriteFilesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """They are there."""


class SandboxReadFilesRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Files to take out of a workspace."""

    sandbox_id: str = ""
    """The sandbox."""
    paths: list[str] = []
    """Their paths."""
    max_bytes: Int64 = 0
    """Most bytes of all together; 0 for the host's limit."""


class SandboxReadFilesResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What was found."""

    files: list[SandboxFile] = []
    """The regular files among those that were asked for."""
    missing: list[str] = []
    """The rest: absent, links, pipes."""
    truncated: bool = False
    """Whether files were left out because they went over the limit of bytes."""


class SandboxSnapshotRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for a snapshot."""

    sandbox_id: str = ""
    """The sandbox."""


class SandboxSnapshotResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A snapshot was made."""

    snapshot_id: str = ""
    """Its name. Who knows it may restore it."""


class SandboxRestoreRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks for a sandbox with the files of a snapshot."""

    snapshot_id: str = ""
    """The snapshot."""
    network: SandboxNetworkPolicy | None = None
    """What it may reach; absent for what the first sandbox might."""


class SandboxRestoreResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A sandbox that is ready."""

    sandbox_id: str = ""
    """Its name in all further calls."""
    isolation: IsolationReport | None = None
    """What of its fence is in force."""
    image_digest: str = ""
    """Digest of the image's manifest; empty without an image."""
    idle_timeout: Seconds | None = None
    """Time without a call after which it is destroyed. In seconds."""


class SandboxStatsRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks what was used."""

    sandbox_id: str = ""
    """The sandbox."""
    include_service_logs: bool = False
    """Whether the logs of services are wanted."""


class SandboxEgressEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A connection to elsewhere, made or refused."""

    time: Timestamp | None = None
    """When."""
    host: str = ""
    """Where to."""
    port: Int32 = 0
    """Which port."""
    allowed: bool = False
    """Whether it was made."""
    bytes_sent: Int64 = 0
    """Bytes out."""
    bytes_received: Int64 = 0
    """Bytes in."""
    address: str = ""
    """Address that it was connected to."""
    reason: str = ""
    """Why it was refused or failed."""


class SandboxStatsResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a sandbox has used so far."""

    execs: Int64 = 0
    """Commands run."""
    cpu_time: Seconds | None = None
    """Processor time. In seconds."""
    max_rss_bytes: Int64 = 0
    """Most memory at once."""
    egress: list[SandboxEgressEvent] = []
    """Connections to elsewhere."""
    services: list[SandboxServiceStatus] = []
    """Services beside it."""


class SandboxServiceStatus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A service beside a sandbox."""

    name: str = ""
    """Its name."""
    ready: bool = False
    """Whether it is ready."""
    restarts: Int32 = 0
    """Times that it was started again."""
    reason: str = ""
    """Why it is not ready."""
    logs: str = ""
    """What it said."""


class SandboxDestroyRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to end a sandbox."""

    sandbox_id: str = ""
    """The sandbox."""


class SandboxDestroyResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """It is gone."""


class SandboxDeleteSnapshotRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to forget a snapshot."""

    snapshot_id: str = ""
    """The snapshot."""


class SandboxDeleteSnapshotResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """It is forgotten."""


class SandboxRenewRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Asks to keep a sandbox."""

    sandbox_id: str = ""
    """The sandbox."""


class SandboxRenewResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """It is kept."""

    idle_timeout: Seconds | None = None
    """Time without a call after which it is destroyed. In seconds."""


class SandboxRunPythonRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A small Python program and its inputs."""

    source: str = ""
    """The source, which is `__main__`."""
    stdins: list[bytes] = []
    """One run for each standard input, one after the other, each in a fresh process."""
    files: list[SandboxFile] = []
    """Files in its working folder."""
    resources: SandboxResources | None = None
    """What it may use; the times hold for each run."""
    min_isolation: str = ""
    """Weakest level that will do; empty for confined."""


class SandboxPythonRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """How one run of a program ended and what it said."""

    result: SandboxExecResult | None = None
    """How it ended."""
    stdout: bytes = b""
    """Its standard output."""
    stderr: bytes = b""
    """Its standard error."""


class SandboxRunPythonResponse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The runs of a program."""

    runs: list[SandboxPythonRun] = []
    """One for each input, in order."""
    isolation: IsolationReport | None = None
    """The fence that they ran behind."""
