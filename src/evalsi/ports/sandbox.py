"""Where programs that nobody trusts run: behind the strongest fence this machine has, or not at all.

A fence has a level, vm > kernel > namespaced > confined > none, and a report of what of it was in force. A program's end
is an `Execution`: it exited, was stopped for something forbidden, ran out of time or memory, or the sandbox itself
failed. Only the last is not the program's doing. What the program prints decides none of these.
"""

import enum
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

import msgspec

from evalsi.schema import IsolationLevel, IsolationReport


class SandboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one sandbox may use. Processes that it starts share all of it, except where a report says otherwise."""

    wall_s: float = 10.0
    """Seconds on the clock, per command."""
    cpu_s: int = 10
    """Whole seconds of processor time, per process."""
    memory_mib: int = 512
    processes: int = 64
    """Processes and threads alive at once."""
    disk_mib: int = 64
    files: int = 2048
    output_bytes: int = 1 << 20
    """Bytes kept of each of standard output and standard error; the rest is read and dropped."""


class AccessPolicy(enum.StrEnum):
    """What a command may write."""

    READ_ONLY = "read-only"
    """Nothing but /dev/null."""
    WORKSPACE_WRITE = "workspace-write"
    """The workspace and the temporary folders."""
    FULL = "full"
    """The whole file tree of the sandbox. A request for it is recorded, and denied where no image is private to the sandbox."""


class SandboxFile(msgspec.Struct, frozen=True, kw_only=True):
    """A regular file. `path` is relative to the workspace; `mode` holds the permission bits."""

    path: str
    content: bytes
    mode: int = 0o644


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandbox is made of. It has no network but `allow_hosts`, and an environment of its own that holds only `environment`."""

    min_isolation: IsolationLevel = IsolationLevel.CONFINED
    """The weakest level that will do. Only NONE allows a program that is not fenced in."""
    limits: SandboxLimits = SandboxLimits()
    environment: Mapping[str, str] = {}
    files: tuple[SandboxFile, ...] = ()
    image: str = ""
    """The image whose tree programs find, of which the sandbox has a copy of its own; "" for what the machine itself has.
    `python:3.12`, `host:5000/name@sha256:…`, `oci-layout:folder[:tag]`, `docker-archive:file[:tag]` or `dir:folder`."""
    allow_hosts: tuple[str, ...] = ()
    """What of the network commands may reach, through a proxy that HTTP_PROXY and HTTPS_PROXY name: `name`, `name:port`,
    `*.name` for everything below it; the port is 443 where none is said. Addresses that are not public are refused. Empty: nothing."""


class SandboxCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run in the workspace. `argv[0]` is looked up in the sandbox's own PATH."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    environment: Mapping[str, str] = {}
    """Added to the sandbox's own."""
    folder: str = "."
    """Working folder, relative to the workspace."""
    deadline_s: float | None = None
    """Seconds on the clock; None for the sandbox's limit, which is never exceeded."""
    policy: AccessPolicy = AccessPolicy.WORKSPACE_WRITE


class SandboxOutcome(enum.StrEnum):
    """How a program ended."""

    EXIT = "exit"
    """By itself or by a signal; `exit_code` says which."""
    DENIED = "denied"
    """Stopped for something forbidden, or not started for asking for more than its policy gives."""
    TIMEOUT = "timeout"
    """Out of wall-clock or processor time."""
    OUT_OF_MEMORY = "oom"
    """Killed for the sandbox's memory."""
    RUNNER_FAILURE = "runner_failure"
    """The sandbox failed, not the program. Never a score."""


class EgressEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of a program to reach something through the proxy: evidence, written by the host."""

    time_s: float
    """When it began, in seconds since 1970."""
    host: str
    """As the program named it; "" where it was not said in a form that can be understood."""
    port: int
    allowed: bool
    address: str = ""
    """The address that it was connected to, where it was."""
    reason: str = ""
    """Why it was refused or failed."""
    bytes_sent: int = 0
    """By the program."""
    bytes_received: int = 0


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """How one program ended and what it said."""

    outcome: SandboxOutcome
    exit_code: int | None = None
    """From 0 to 255, minus the number of the signal that ended it, or None where it has none."""
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    """Whether it said more than is kept."""
    duration_s: float = 0.0
    cpu_s: float = 0.0
    reason: str = ""
    """Why, for a person, where the outcome is not EXIT."""
    egress: tuple[EgressEvent, ...] = ()
    """What it tried to reach, in the order in which that ended."""

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with status 0. What it printed may be anything."""
        return self.outcome is SandboxOutcome.EXIT and self.exit_code == 0


class OutputPiece(msgspec.Struct, frozen=True):
    """Some of what a running program said, as it came."""

    stream: str
    """"stdout" or "stderr"."""
    data: bytes


class PythonProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A small Python program to run once per standard input, all in one fresh sandbox, each in a fresh process.

    It finds `files` in its working folder, imports the standard library and them, and is `__main__`. The runs are one
    after the other; nothing of them is left for the next program.
    """

    source: str
    stdins: tuple[bytes, ...] = (b"",)
    files: tuple[SandboxFile, ...] = ()
    limits: SandboxLimits = SandboxLimits()
    """`wall_s` and `cpu_s` hold for each run."""
    min_isolation: IsolationLevel = IsolationLevel.CONFINED


class PythonRuns(msgspec.Struct, frozen=True, kw_only=True):
    """One `Execution` per standard input, in order, and the fence they ran behind."""

    executions: tuple[Execution, ...]
    isolation: IsolationReport


class SandboxStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandbox has used so far."""

    commands: int
    cpu_s: float
    peak_memory_bytes: int
    """Of the whole sandbox where a control group counts it, else of its largest process."""
    egress: tuple[EgressEvent, ...] = ()
    """Of all commands."""


class SandboxSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a workspace at one moment, and what differs from the image. It may become any number of sandboxes, at the same time too."""

    spec: SandboxSpec
    archive: bytes = b""
    """Opaque, and hostile: only another sandbox opens it."""
    image_digest: str = ""
    """The image it was made over; no other will do."""


class FilesRead(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for and is a regular file. `missing` holds the rest: absent, links, pipes, outside the workspace."""

    files: tuple[SandboxFile, ...]
    missing: tuple[str, ...] = ()
    truncated: bool = False
    """Whether files were left out because they went over the limit of bytes."""


class Sandbox(Protocol):
    """One sandbox with a workspace that lasts. One command at a time; nothing of a command outlives it.

    A method on a sandbox that is destroyed, or died, raises SandboxError.
    """

    @property
    def isolation(self) -> IsolationReport:
        """What of the fence is in force."""
        ...

    @property
    def image_digest(self) -> str:
        """The digest of the image's manifest, "sha256:…"; "" without an image."""
        ...

    def stream(self, command: SandboxCommand) -> AsyncGenerator[OutputPiece | Execution]:
        """Runs a command. Pieces as they come, and last the `Execution`, whose own `stdout` and `stderr` are empty.

        Leaving the iteration early, or cancelling it, destroys the sandbox.
        """
        ...

    async def execute(self, command: SandboxCommand) -> Execution:
        """Runs a command to its end. A sandbox that fails meanwhile is a RUNNER_FAILURE, not an exception."""
        ...

    async def write_files(self, files: Sequence[SandboxFile]) -> None:
        """Puts files into the workspace. Folders are made; links are never followed; a file there is replaced.

        Raises: UsageError: a path is absolute, empty or climbs out. SandboxError: the disk is full.
        """
        ...

    async def read_files(self, paths: Sequence[str], *, max_bytes: int = 64 << 20) -> FilesRead:
        """Takes regular files out of the workspace, and nothing else, whatever the sandbox has put at their paths.

        Raises: UsageError: a path is absolute, empty or climbs out.
        """
        ...

    async def snapshot(self) -> SandboxSnapshot:
        """The workspace as it is: folders, regular files and symbolic links. Raises: SandboxError: it is too large."""
        ...

    async def statistics(self) -> SandboxStatistics: ...

    async def destroy(self) -> None:
        """Ends every process and removes everything. Calling it twice is fine."""
        ...


class RungStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One rung of the ladder, as it was found to work on this machine, or not."""

    driver: str
    level: IsolationLevel
    available: bool
    isolation: IsolationReport | None = None
    """What is in force, where it is available."""
    limits: tuple[str, ...] = ()
    """Which limits are in force and by what, each a short sentence."""
    reason: str = ""
    """Why it does not work, where it does not."""
    remedy: str = ""
    """How to make it work."""


class SandboxHost(Protocol):
    """Makes sandboxes on this machine. It belongs to one event loop; any number of tasks may use it at once.

    What is asked for while every place is taken waits, within `core.own_time.waiting_for_a_turn`. Methods that take a `min_isolation` raise
    SandboxUnavailableError, with the reason of every rung, where nothing here is that strong.
    """

    async def probe(self) -> Sequence[RungStatus]:
        """Every rung that is a fence, strongest first. Each was tried for real, refusals included; the findings are kept."""
        ...

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """Raises: SandboxUnavailableError; UsageError: a path of `files`, or what names the image, is wrong; ForbiddenError: the
        operator does not allow the image, or a network; ImageError: it cannot be had or trusted; SandboxError: it did not start.
        """
        ...

    async def restore(self, snapshot: SandboxSnapshot) -> Sandbox:
        """As `create`, with the files of the snapshot."""
        ...

    async def run_python(self, program: PythonProgram) -> PythonRuns:
        """Runs a small Python program on each of its inputs, in a sandbox that nothing else shares.

        A sandbox that fails is tried once more elsewhere, and then is a RUNNER_FAILURE of the runs that are missing.

        Raises: SandboxUnavailableError; UsageError: a path of `files` is wrong.
        """
        ...

    async def close(self) -> None:
        """Destroys every sandbox and gives back everything. Calling it twice is fine."""
        ...
