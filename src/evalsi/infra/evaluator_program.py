"""A program that grades, as a process that is watched: started, spoken to over gRPC on a unix socket, started again.

Implements `ports.evaluator_program`. It has a thread with an event loop of its own, because those who ask live in loops
that come and go, and because the system ends a tied process when the thread that started it ends. What always holds: a
record over which the process dies is tried once more alone, so that it costs no other record; a process that is left
waiting for by somebody who gave up is ended; the program sees only what it was given of the environment.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import msgspec

from evalsi.core.errors import MeasurementError, MissingExtraError, PluginError, WorkerCrashError
from evalsi.schema import (
    ErrorKind,
    EvaluationResult,
    EvaluatorManifest,
    PluginDescribeRequest,
    PluginDescribeResponse,
    PluginEvaluateRequest,
    PluginEvaluateResponse,
    Record,
    proto_codec,
)
from evalsi.schema.schema_error import SchemaError

StructT = TypeVar("StructT", bound=msgspec.Struct)

SERVICE = "/evalsi.plugin.v1alpha1.EvaluatorPluginService"
AFTER_FAILURE_S = 5.0
"""Seconds for which a program that could not be started is not started again."""
_LOOK_S = 0.02
_MOMENT_S = 0.2
_LARGEST = 64 << 20
_OPTIONS = (
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
)


@dataclass(frozen=True, kw_only=True)
class ProgramPlan:
    """What is started, and how."""

    name: str
    command: Sequence[str]
    """Program and arguments; `--listen unix:///…` is added."""
    environment: Mapping[str, str]
    """All that it sees of the environment."""
    folder: Path
    start_timeout_s: float = 60.0
    batch: int = 32
    """Most records given at once to an evaluator that takes several."""


class _DiedError(Exception):
    """The process died over a batch; the text says how."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A record that waits for its result."""

    record: Record
    answer: "asyncio.Future[EvaluationResult]"


@dataclass(slots=True)
class _Process:
    """A process that is up."""

    process: asyncio.subprocess.Process
    channel: Any
    folder: Path
    manifests: list[EvaluatorManifest] = field(default_factory=list[EvaluatorManifest])


class ProgramProcess:
    """Implements `EvaluatorProgram`. One process at a time; it ends with this one."""

    def __init__(self, plan: ProgramPlan) -> None:
        self._plan = plan
        self._loop: asyncio.AbstractEventLoop | None = None
        self._up: _Process | None = None
        self._starting: asyncio.Lock | None = None
        self._alone: asyncio.Lock | None = None
        self._waiting: dict[bytes, list[_Asked]] = {}
        self._batches = count(1)
        self._failed: tuple[float, PluginError] | None = None

    @property
    def name(self) -> str:
        return self._plan.name

    def describe(self) -> Sequence[EvaluatorManifest]:
        return asyncio.run_coroutine_threadsafe(self._described(), self._running_loop()).result()

    async def grade(self, manifest: EvaluatorManifest, params: Mapping[str, Any], record: Record) -> EvaluationResult:
        work = asyncio.run_coroutine_threadsafe(self._grade(manifest, params, record), self._running_loop())
        return await asyncio.wrap_future(work)

    def close(self) -> None:
        """Ends the process, if one is up."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            _need_grpc()
            self._loop = asyncio.new_event_loop()
            self._starting, self._alone = asyncio.Lock(), asyncio.Lock()
            threading.Thread(target=self._loop.run_forever, name=f"program-{self.name}", daemon=True).start()
        return self._loop

    async def _described(self) -> Sequence[EvaluatorManifest]:
        return (await self._running()).manifests

    async def _grade(self, manifest: EvaluatorManifest, params: Mapping[str, Any], record: Record) -> EvaluationResult:
        assert self._alone is not None
        try:
            return await self._in_a_batch(manifest, params, record)
        except _DiedError:
            # Whose doing it was nobody knows, so each is tried again by itself.
            async with self._alone:
                try:
                    return await self._in_a_batch(manifest, params, record)
                except _DiedError as again:
                    raise WorkerCrashError(f"program {self.name!r} died over the record twice: {again}") from None
        except PluginError as error:
            raise MeasurementError(str(error)) from None
        except asyncio.CancelledError:
            # Nobody waits any more, and a program cannot be told to stop but by ending it.
            await self._end()
            raise

    async def _in_a_batch(
        self, manifest: EvaluatorManifest, params: Mapping[str, Any], record: Record
    ) -> EvaluationResult:
        """The result of a record, sent together with those that are asked about at the same moment."""
        scheduling = manifest.scheduling
        most = self._plan.batch if scheduling is not None and scheduling.batchable else 1
        if scheduling is not None and scheduling.max_batch:
            most = min(most, scheduling.max_batch)
        key = msgspec.json.encode((manifest.name, params))
        loop = asyncio.get_running_loop()
        asked = _Asked(record, loop.create_future())
        waiting = self._waiting.setdefault(key, [])
        # Ids tell the results of a batch apart, and records of other datasets may bear the same ones.
        if len(waiting) >= most or any(each.record.id == record.id for each in waiting):
            self._send(key, manifest, params)
            waiting = self._waiting.setdefault(key, [])
        waiting.append(asked)
        if len(waiting) == 1:
            loop.call_soon(loop.call_soon, self._send, key, manifest, params, waiting)
        return await asked.answer

    def _send(
        self, key: bytes, manifest: EvaluatorManifest, params: Mapping[str, Any], only: list[_Asked] | None = None
    ) -> None:
        """Sends what waits; `only` where nothing was sent of it meanwhile."""
        asked = self._waiting.get(key, [])
        if only is not None and asked is not only:
            return
        self._waiting.pop(key, None)
        request = PluginEvaluateRequest(
            batch_id=str(next(self._batches)),
            evaluator=manifest.name,
            params=dict(params),
            records=[each.record for each in asked],
        )
        work = asyncio.get_running_loop().create_task(self._exchange(request, asked))
        # Where all have given up, so does the exchange.
        for each in asked:
            each.answer.add_done_callback(lambda _: work.cancel() if all(one.answer.done() for one in asked) else None)

    async def _exchange(self, request: PluginEvaluateRequest, asked: Sequence[_Asked]) -> None:
        """Gives every record of a batch its result, or the reason why it has none."""
        try:
            up = await self._running()
            answered = {result.record_id: result for result in await self._answers(up, request)}
        except asyncio.CancelledError:
            raise
        except Exception as error:
            failure = error if isinstance(error, (_DiedError, PluginError, MeasurementError)) else _odd(error)
            for each in asked:
                if not each.answer.done():
                    each.answer.set_exception(failure)
            return
        for each in asked:
            if each.answer.done():
                continue
            result = answered.get(each.record.id)
            if result is None:
                message = f"program {self.name!r} gave no result for the record"
                each.answer.set_exception(MeasurementError(message, kind=ErrorKind.NO_SCORE))
            else:
                each.answer.set_result(result)

    async def _answers(self, up: _Process, request: PluginEvaluateRequest) -> Sequence[EvaluationResult]:
        """The results of a batch. Raises: _DiedError, MeasurementError."""
        import grpc.aio

        async def sent() -> AsyncIterator[PluginEvaluateRequest]:
            yield request

        call = up.channel.stream_stream(
            f"{SERVICE}/Evaluate",
            request_serializer=proto_codec.encode,
            response_deserializer=_reader(PluginEvaluateResponse),
        )(sent())
        try:
            async for response in call:
                if response.batch_id == request.batch_id:
                    return response.results
        except grpc.aio.AioRpcError as error:
            # A connection that breaks under a call may be told in other words too.
            if error.code() is grpc.StatusCode.UNAVAILABLE or await _has_ended(up):
                raise _DiedError(await self._ending(up)) from None
            told = f"{error.code().name}: {(error.details() or '')[:300]}"
            raise MeasurementError(f"program {self.name!r} failed on the batch: {told}") from None
        finally:
            call.cancel()
        if await _has_ended(up):
            raise _DiedError(await self._ending(up))
        raise MeasurementError(f"program {self.name!r} ended the call without an answer to the batch")

    async def _running(self) -> _Process:
        """The process, started where none is up. Raises: PluginError."""
        assert self._starting is not None
        async with self._starting:
            if self._up is not None and self._up.process.returncode is None:
                return self._up
            if self._failed is not None and monotonic() < self._failed[0] + AFTER_FAILURE_S:
                raise self._failed[1]
            await self._end()
            try:
                self._up = await self._start()
            except PluginError as error:
                self._failed = (monotonic(), error)
                raise
            self._failed = None
            return self._up

    async def _start(self) -> _Process:
        import grpc.aio

        plan = self._plan
        folder = Path(tempfile.mkdtemp(prefix="evalsi-program-"))
        socket = folder / "socket"
        tied = (sys.executable, "-m", "evalsi.worker", "tied", str(os.getpid()))
        try:
            process = await asyncio.create_subprocess_exec(
                *tied,
                *plan.command,
                "--listen",
                f"unix://{socket}",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),
                cwd=plan.folder,
                env=dict(plan.environment),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise PluginError(f"program {self.name!r} cannot be started: {error.strerror or error}") from None
        up = _Process(process, grpc.aio.insecure_channel(f"unix://{socket}", options=_OPTIONS), folder)
        try:
            async with asyncio.timeout(plan.start_timeout_s):
                while not socket.exists():
                    if process.returncode is not None:
                        raise PluginError(f"program {self.name!r} ended with {_status(process)} before it was ready")
                    await asyncio.sleep(_LOOK_S)
                up.manifests = await self._asked_what_it_has(up)
        except TimeoutError:
            await _put_away(up)
            raise PluginError(f"program {self.name!r} was not ready within {plan.start_timeout_s:g} s") from None
        except BaseException:
            await _put_away(up)
            raise
        return up

    async def _asked_what_it_has(self, up: _Process) -> list[EvaluatorManifest]:
        import grpc.aio

        describe = up.channel.unary_unary(
            f"{SERVICE}/Describe",
            request_serializer=proto_codec.encode,
            response_deserializer=_reader(PluginDescribeResponse),
        )
        try:
            response: PluginDescribeResponse = await describe(PluginDescribeRequest(), wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            if up.process.returncode is not None:
                raise PluginError(f"program {self.name!r} ended with {_status(up.process)} when it was asked") from None
            told = f"{error.code().name}: {(error.details() or '')[:300]}"
            raise PluginError(f"program {self.name!r} does not say what evaluators it has: {told}") from None
        return response.evaluators

    async def _ending(self, up: _Process) -> str:
        """How the process ended that does not answer any more, in words."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await up.process.wait()
        if up.process.returncode is None:
            await _put_away(up)
            return "it did not answer any more"
        return _status(up.process)

    async def _end(self) -> None:
        up, self._up = self._up, None
        if up is not None:
            await _put_away(up)


async def _has_ended(up: _Process) -> bool:
    """Whether the process is gone, or goes within a moment."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_MOMENT_S):
            await up.process.wait()
    return up.process.returncode is not None


async def _put_away(up: _Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(up.process.pid, signal.SIGKILL)
    await up.process.wait()
    await up.channel.close()
    shutil.rmtree(up.folder, ignore_errors=True)


def _status(process: asyncio.subprocess.Process) -> str:
    code = process.returncode or 0
    return f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _reader(kind: type[StructT]) -> Callable[[bytes], StructT]:
    def read(data: bytes) -> StructT:
        return proto_codec.decode(data, kind)

    return read


def _odd(error: Exception) -> MeasurementError:
    """What a program cannot be sent, or what it sent and nobody can read."""
    reason = str(error) if isinstance(error, SchemaError) else type(error).__name__
    return MeasurementError(f"the exchange with the program failed: {reason}")


def _need_grpc() -> None:
    # The engine forks beside this thread, of which gRPC need know nothing: no fork of ours uses it.
    os.putenv("GRPC_ENABLE_FORK_SUPPORT", "0")
    if find_spec("grpc") is None:
        raise MissingExtraError("a program that grades", "server")
