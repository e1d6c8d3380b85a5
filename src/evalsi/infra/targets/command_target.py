"""A program on this machine under evaluation: started once per question, without a shell.

What always holds. The program gets a process group of its own, and when the answer is there, the deadline has passed or we
are cancelled, the whole group is ended; only a child that left the group on purpose can outlive it. What it prints is
bounded. It sees a handful of harmless environment variables and those that the spec hands over, never our own.

Whose fault an ending is:

| what happened | what it becomes |
|---|---|
| status 0, something printed | the answer |
| status 0, nothing printed | an empty answer, noted: it chose to say nothing |
| another status or a crash, something printed | an answer with stop reason "exit", noted: evaluators see what it left |
| another status or a crash, nothing printed | TargetError (fault AGENT): nothing said is not "nothing bad said" |
| the deadline passed, something printed | an answer with stop reason "timeout", noted |
| the deadline passed, nothing printed | DeadlineError (fault AGENT) |
| printed JSON that cannot be read, or too much | TargetError (fault AGENT) |
| cannot be started; killed from outside (out of memory) | MeasurementError (kind and fault ENVIRONMENT): ask again |
"""

import asyncio
import contextlib
import os
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from evalsi.core.errors import DeadlineError, InvalidSpecError, MeasurementError, TargetError
from evalsi.infra.targets.answer_pieces import EMPTY_NOTE, content_of, is_empty, usage_of
from evalsi.infra.targets.json_path import MISSING, JsonPath, outline
from evalsi.infra.targets.questions import Conversation, needs_of, record_template, visible_record, visible_values
from evalsi.ports.target import Answer, TargetTask
from evalsi.schema import Content, ErrorKind, Fault

PASSED_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SYSTEMROOT")
"""Environment variables that every program sees, where they are set."""
DEFAULT_DEADLINE_S = 600.0
LARGEST_OUTPUT_BYTES = 16 * 1024 * 1024
_KEPT_ERROR_BYTES = 8 * 1024
_GRACE_S = 1.0
_PIECE_BYTES = 64 * 1024

Stdin = Literal["text", "json", "none"]
Stdout = Literal["text", "json", "jsonl"]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program, and how it is spoken to.

    Args:
        argv: Program and arguments; arguments may hold places, the program may not.
        stdin: "text" writes the question, "json" the visible record as a line of JSON, "none" nothing.
        stdout: "text" takes all of it as the answer, "json" one JSON document, "jsonl" the last line that holds one.
        output_path, usage_path: Where answer and usage stand in the JSON.
        folder: Where it is started.
        environment: All that it sees.
        secrets: Values that are blacked out in what is kept of its standard error.
    """

    argv: tuple[str, ...]
    stdin: Stdin = "text"
    stdout: Stdout = "text"
    output_path: JsonPath
    usage_path: JsonPath
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    deadline_s: float = DEFAULT_DEADLINE_S
    concurrency: int = 8


@dataclass(frozen=True, kw_only=True)
class _Ending:
    """How a program ended. `status` is negative for the signal that killed it; None when we did, at the deadline."""

    status: int | None
    stdout: bytes
    stderr: bytes
    overflowed: bool


class CommandTarget:
    """Implements `ports.target.Target` by starting a program.

    Raises: InvalidSpecError: there is no program, or a place stands where it should not.
    """

    def __init__(self, program: Program, conversation: Conversation, *, identity: dict[str, Any]) -> None:
        if not program.argv or not program.argv[0].strip():
            raise InvalidSpecError("there is no program to start", where="target.command.argv")
        if "{{" in program.argv[0]:
            raise InvalidSpecError("a record must not decide which program is started", where="target.command.argv[0]")
        self._program = program
        self._conversation = conversation
        self._identity = identity
        self._arguments = [
            record_template(argument, where=f"target.command.argv[{position}]")
            for position, argument in enumerate(program.argv[1:], 1)
        ]
        self._gate = asyncio.Semaphore(program.concurrency)
        self._name = Path(program.argv[0]).name

    @property
    def identity(self) -> dict[str, Any]:
        """The command line and how it is spoken to; names of variables, never their values."""
        return self._identity

    @property
    def capabilities(self) -> frozenset[str]:
        """Usage where a path says where it stands; tool calls and conversations where it prints JSON."""
        json = {"tools"} if self._program.stdout != "text" else set[str]()
        return frozenset({"messages"} | json | ({"usage"} if self._program.usage_path else set()))

    @property
    def needs(self) -> frozenset[str]:
        """What the arguments name, and what is written to a program that reads text; JSON may lack anything."""
        named = needs_of(name for argument in self._arguments for name in argument.variables)
        return named | self._conversation.needs if self._program.stdin == "text" else named

    async def check(self) -> str:
        """Looks for the program and the folder, and starts nothing."""
        self._executable()
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`, and the table above."""
        values = visible_values(task.record)
        argv = [self._executable(), *(argument.fill(values) for argument in self._arguments)]
        if any("\0" in argument for argument in argv):
            raise MeasurementError(
                "an argument of a program cannot hold a NUL character",
                kind=ErrorKind.INVALID_FIELD,
                fault=Fault.DATASET,
            )
        said = self._stdin(task)
        async with self._gate:
            start_s = time.perf_counter()
            ending = await self._run(argv, said, task.trial)
            return self._made(ending, time.perf_counter() - start_s)

    async def close(self) -> None:
        """Nothing outlives a question."""

    @property
    def lacks_folder(self) -> str:
        """That there is no folder to start it in, as a sentence; "" where there is one."""
        folder = self._program.folder
        return "" if folder.is_dir() else f"there is no folder {str(folder)!r} to start {self._program.argv[0]!r} in"

    @property
    def lacks_program(self) -> str:
        """That there is no such program, as a sentence; "" where there is one."""
        if self._found() is not None:
            return ""
        name = self._program.argv[0]
        return f"there is no program {name!r}" + (" that can be started" if _is_path(name) else " on the PATH")

    def _found(self) -> str | None:
        name = self._program.argv[0]
        named = str(self._program.folder / name) if _is_path(name) else name
        return shutil.which(named, path=self._program.environment.get("PATH"))

    def _executable(self) -> str:
        found = self._found()
        if self.lacks_folder or found is None:
            raise _environment(self.lacks_folder or self.lacks_program)
        return found

    def _stdin(self, task: TargetTask) -> bytes | None:
        match self._program.stdin:
            case "text":
                return self._conversation.text(task.record).encode()
            case "json":
                return msgspec.json.encode(msgspec.to_builtins(visible_record(task.record))) + b"\n"
            case "none":
                return None

    async def _run(self, argv: list[str], said: bytes | None, trial: int) -> _Ending:
        program = self._program
        environment = {**program.environment, "EVALSI_TRIAL": str(trial)}
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL if said is None else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=program.folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise _environment(f"{self._name} cannot be started: {error.strerror or error}") from error
        stdout, stderr = _Kept(LARGEST_OUTPUT_BYTES), _Kept(_KEPT_ERROR_BYTES, newest=True)
        talks = [
            asyncio.create_task(_read(process.stdout, stdout)),
            asyncio.create_task(_read(process.stderr, stderr)),
            asyncio.create_task(_write(process.stdin, said)),
        ]
        overflow = asyncio.create_task(stdout.overflowed.wait())
        ended = asyncio.create_task(process.wait())
        seen = asyncio.create_task(_seen_ended(process))
        try:
            await asyncio.wait((ended, seen, overflow), timeout=program.deadline_s, return_when=asyncio.FIRST_COMPLETED)
            status = process.returncode
            if status is None:
                await _end(process, ended)
            _kill_group(process)
            # Whoever held the pipes open is gone, so the rest is there within moments.
            await asyncio.wait(talks, timeout=_GRACE_S)
        finally:
            _kill_group(process)
            overflow.cancel()
            seen.cancel()
            for task in talks:
                task.cancel()
            await asyncio.gather(*talks, return_exceptions=True)
            _close_pipes(process)
            await asyncio.wait((ended,), timeout=_GRACE_S)
            ended.cancel()
        return _Ending(
            status=status, stdout=stdout.content, stderr=stderr.content, overflowed=stdout.overflowed.is_set()
        )

    def _made(self, ending: _Ending, latency_s: float) -> Answer:
        name, program = self._name, self._program
        errors = self._redacted(ending.stderr.decode(errors="replace"))
        if ending.overflowed:
            raise TargetError(f"{name} printed more than {LARGEST_OUTPUT_BYTES // 2**20} MiB", detail=errors or None)
        if ending.status in (-signal.SIGKILL, -signal.SIGTERM):
            killer = signal.Signals(-ending.status).name
            raise _environment(f"{name} was ended from outside by {killer}; was there too little memory?", errors)
        notes: list[str] = []
        stop_reason = "stop"
        if ending.status is None:
            stop_reason = "timeout"
            notes.append(f"{name} was ended at its limit of {program.deadline_s:g} s; this is what it had printed")
        elif ending.status != 0:
            stop_reason = "exit"
            notes.append(f"{name} {_ended(ending.status)}; this is what it had printed")
        if not ending.stdout.strip() and stop_reason != "stop":
            if stop_reason == "timeout":
                raise DeadlineError(
                    f"{name} gave no answer within {program.deadline_s:g} s", fault=Fault.AGENT, detail=errors or None
                )
            last = errors.strip().splitlines()[-1][:300] if errors.strip() else ""
            said = f": {last}" if last else ""
            raise TargetError(f"{name} {_ended(ending.status)} and printed no answer{said}", detail=errors or None)
        output, usage = self._read_output(ending.stdout, errors)
        if is_empty(output):
            notes.append(EMPTY_NOTE)
        return Answer(
            output=output,
            usage=msgspec.structs.replace(usage_of(usage), latency=latency_s),
            stop_reason=stop_reason,
            notes=tuple(notes),
            details={
                **({"stderr": errors} if errors else {}),
                **({"exit_status": ending.status} if ending.status else {}),
            },
        )

    def _read_output(self, printed: bytes, errors: str) -> tuple[Content, Any]:
        program = self._program
        if program.stdout == "text":
            text = printed.decode(errors="replace")
            return Content(text=text.removesuffix("\n").removesuffix("\r")), None
        documents = [printed] if program.stdout == "json" else printed.splitlines()
        decoded: list[Any] = []
        for document in documents:
            try:
                decoded.append(msgspec.json.decode(document))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if program.stdout == "json":
                    raise TargetError(
                        f"{self._name} printed no JSON: {error}", detail=printed.decode(errors="replace")[:4_000]
                    ) from error
        outputs = [found for each in decoded if (found := program.output_path.find(each)) not in (MISSING, None)]
        if not outputs:
            held = outline(decoded[-1]) if decoded else "no line is JSON"
            raise TargetError(
                f"{self._name} printed nothing at {program.output_path.text or 'the root'}: {held}",
                detail=printed.decode(errors="replace")[:4_000] + errors,
            )
        usages: list[Any] = [program.usage_path.find(each) for each in decoded] if program.usage_path else []
        said = [usage for usage in usages if usage is not MISSING]
        return content_of(outputs[-1]), said[-1] if said else None

    def _redacted(self, text: str) -> str:
        for secret in self._program.secrets:
            text = text.replace(secret, "***")
        return text


class _Kept:
    """What a pipe said: the beginning up to a limit, or the newest."""

    def __init__(self, limit_bytes: int, *, newest: bool = False) -> None:
        self._limit_bytes = limit_bytes
        self._newest = newest
        self._content = bytearray()
        self.overflowed = asyncio.Event()

    @property
    def content(self) -> bytes:
        return bytes(self._content)

    def add(self, piece: bytes) -> None:
        self._content += piece
        excess = len(self._content) - self._limit_bytes
        if excess <= 0:
            return
        if self._newest:
            del self._content[:excess]
        else:
            del self._content[self._limit_bytes :]
            self.overflowed.set()


async def _read(pipe: asyncio.StreamReader | None, kept: _Kept) -> None:
    assert pipe is not None
    while piece := await pipe.read(_PIECE_BYTES):
        kept.add(piece)


async def _write(pipe: asyncio.StreamWriter | None, said: bytes | None) -> None:
    if pipe is None:
        return
    # A program may stop listening, or end, before it has read everything; that is its own affair.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(said or b"")
        await pipe.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        pipe.close()
        await pipe.wait_closed()


async def _seen_ended(process: asyncio.subprocess.Process) -> None:
    """Returns when the program has ended. `Process.wait` may wait for its children too, as long as they hold its pipes."""
    pause_s = 0.002
    while process.returncode is None:
        await asyncio.sleep(pause_s)
        pause_s = min(0.05, pause_s * 1.5)


async def _end(process: asyncio.subprocess.Process, ended: "asyncio.Task[int]") -> None:
    """Asks the group to end, and ends it."""
    _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_seen_ended(process), _GRACE_S)
    _kill_group(process)
    await asyncio.wait((ended,), timeout=_GRACE_S)


def _kill_group(process: asyncio.subprocess.Process) -> None:
    _signal_group(process, signal.SIGKILL)


def _signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    transport: Any = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _ended(status: int | None) -> str:
    if status is not None and status < 0:
        try:
            return f"crashed with {signal.Signals(-status).name}"
        except ValueError:
            return f"crashed with signal {-status}"
    return f"ended with status {status}"


def _is_path(name: str) -> bool:
    return os.sep in name or (os.altsep is not None and os.altsep in name)


def _environment(message: str, detail: str = "") -> MeasurementError:
    return MeasurementError(message, kind=ErrorKind.ENVIRONMENT, fault=Fault.ENVIRONMENT, detail=detail or None)
