"""A Python callable under evaluation: `def answer(input)` or `async def answer(record)`, or anything in between.

It gets what its parameters are named after, never the reference. What it raises is its own fault, unless it plainly tells
of a provider behind it (an exception with an HTTP status, a refused connection).

An `async` callable that misses its deadline is cancelled, also where it holds the event loop up. A plain one runs in a thread, and a thread cannot be stopped: it
is given up, another takes its place, and it does not keep the process from ending. What it still does, it does unseen.
"""

import asyncio
import contextlib
import inspect
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.content import text_of
from evalsi.core.errors import (
    DeadlineError,
    EvalsiError,
    InvalidSpecError,
    ProviderError,
    TargetError,
    UnknownNameError,
    described,
)
from evalsi.core.giving_way import giving_way
from evalsi.core.lone_surrogates import without_surrogates
from evalsi.infra.targets.answer_pieces import EMPTY_NOTE, content_of, is_empty, trajectory_of, usage_of
from evalsi.infra.targets.questions import Conversation, input_value, plain_message, visible_record
from evalsi.ports.target import Answer, TargetTask
from evalsi.schema import Content, ErrorKind, Fault, Message, Messages, Record

_MEANINGS = {401: ErrorKind.TARGET_AUTH, 403: ErrorKind.TARGET_AUTH, 429: ErrorKind.RATE_LIMITED}
_ANSWER_KEYS = frozenset({"output", "usage", "trajectory", "stop_reason", "model", "notes"})
_ARGUMENTS = ("input", "messages", "record", "context", "metadata", "id", "trial", "seed", "config")
_QUESTIONS = ("input", "messages", "record")
DEFAULT_DEADLINE_S = 600.0
DEFAULT_THREADS = 32


@dataclass(frozen=True, kw_only=True)
class PythonCall:
    """A callable, and how it is called.

    Args:
        function: The callable.
        reference: How the user named it.
        config: Settings that it may ask for by a parameter `config`.
        deadline_s: Seconds one call may take.
        concurrency: Most calls at once.
    """

    function: Callable[..., Any]
    reference: str
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    deadline_s: float = DEFAULT_DEADLINE_S
    concurrency: int = DEFAULT_THREADS


class PythonTarget:
    """Implements `ports.target.Target` by calling a function.

    Raises: InvalidSpecError: a parameter has a name that nothing answers to.
    """

    def __init__(self, call: PythonCall, conversation: Conversation, *, identity: dict[str, Any]) -> None:
        self._call = call
        self._conversation = conversation
        self._identity = identity
        self._names = _parameters(call)
        function = call.function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - whether it is async, not whether it is callable
        )
        self._threads = _Threads(call.concurrency)
        self._gate = asyncio.Semaphore(call.concurrency)

    @property
    def identity(self) -> dict[str, Any]:
        """The reference, the source's digest where there is one, and the settings."""
        return self._identity

    @property
    def capabilities(self) -> frozenset[str]:
        """A callable may hand out anything; whether it does, nobody knows before."""
        return frozenset({"usage", "tools", "messages", "trajectory"} | ({"seed"} if "seed" in self._names else set()))

    @property
    def needs(self) -> frozenset[str]:
        """The input where a parameter is given it, and what the messages name; whoever takes the record may do without."""
        meanings = set(self._names.values())
        conversation = self._conversation.needs if "messages" in meanings else frozenset[str]()
        return conversation | {"input"} if "input" in meanings else conversation

    async def check(self) -> str:
        """It was loaded, so it is there."""
        return ""

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`."""
        arguments = {name: self._argument(meaning, task) for name, meaning in self._names.items()}
        call = self._call
        async with self._gate:
            start_s = time.perf_counter()
            deadline = asyncio.timeout(call.deadline_s)
            try:
                async with deadline:
                    returned = await self._called(arguments)
            except TimeoutError as error:
                if not deadline.expired():
                    raise self._failed(error) from error
                raise DeadlineError(
                    f"{call.reference} gave no answer within {call.deadline_s:g} s", fault=Fault.AGENT
                ) from None
            except EvalsiError:
                raise
            except asyncio.CancelledError as error:
                asking = asyncio.current_task()
                if asking is None or asking.cancelling():
                    raise
                raise self._failed(error) from error  # it cancelled itself; nobody stops the run
            except (Exception, SystemExit) as error:
                raise self._failed(error) from error
            return self._made(returned, time.perf_counter() - start_s)

    async def close(self) -> None:
        """Lets the threads go that are not at work."""
        self._threads.close()

    async def _called(self, arguments: dict[str, Any]) -> Any:
        function = self._call.function
        if self._is_async:
            return await giving_way(function(**arguments), self._call.deadline_s, Fault.AGENT)
        returned = await self._threads.run(lambda: function(**arguments))
        if not inspect.isawaitable(returned):
            return returned
        return await giving_way(returned, self._call.deadline_s, Fault.AGENT)

    def _failed(self, error: BaseException) -> EvalsiError:
        message = f"{self._call.reference} raised {described(error)}"[:1_000]
        status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int) and 400 <= status < 600:
            kind = _MEANINGS.get(status, ErrorKind.PROVIDER if status >= 500 else ErrorKind.PROVIDER_REJECTED)
            failure = ProviderError(message, kind=kind, status=status, retryable=status >= 500 or status in (408, 429))
            if kind is ErrorKind.TARGET_AUTH:
                failure.fault = Fault.SETTINGS
            return failure
        if isinstance(error, ConnectionError):
            return ProviderError(message, retryable=True)
        return TargetError(message, detail=_traceback(error))

    def _made(self, returned: Any, latency_s: float) -> Answer:
        match returned:
            case Answer():
                made = returned
            case Content():
                made = Answer(output=returned)
            case Message():
                made = Answer(output=Content(messages=Messages(messages=[returned])))
            case Record():
                if returned.output is None:
                    raise TargetError(f"{self._call.reference} returned a record without an output")
                made = Answer(
                    output=returned.output,
                    usage=returned.usage or Answer(output=returned.output).usage,
                    trajectory=returned.trajectory,
                    notes=tuple(returned.notes),
                )
            case None:
                raise TargetError(f"{self._call.reference} returned None, which is no answer")
            case _:
                made = self._of_value(returned)
        notes = made.notes if not is_empty(made.output) else (*made.notes, EMPTY_NOTE)
        usage = made.usage if made.usage.latency is not None else msgspec.structs.replace(made.usage, latency=latency_s)
        return msgspec.structs.replace(made, usage=usage, notes=notes)

    def _of_value(self, returned: Any) -> Answer:
        try:
            plain: Any = returned if isinstance(returned, str) else msgspec.to_builtins(returned, str_keys=True)
            plain, _ = without_surrogates(plain)
            if not isinstance(plain, str):
                canonical_json(plain)
        except (TypeError, ValueError, OverflowError) as error:
            raise TargetError(
                f"{self._call.reference} returned a {type(returned).__name__} that has no JSON form: {error}"
            ) from error
        if not (isinstance(plain, dict) and "output" in plain and plain.keys() <= _ANSWER_KEYS):
            return Answer(output=content_of(plain))
        named = cast("dict[str, Any]", plain)
        trajectory, note = trajectory_of(named.get("trajectory"))
        notes = [str(each) for each in named.get("notes") or ()]
        return Answer(
            output=content_of(named["output"]),
            usage=usage_of(named.get("usage")),
            stop_reason=str(named.get("stop_reason") or "stop"),
            model=str(named.get("model") or ""),
            trajectory=trajectory,
            notes=tuple([*notes, note] if note else notes),
        )

    def _argument(self, meaning: str, task: TargetTask) -> Any:
        record = task.record
        match meaning:
            case "input":
                value = input_value(record)
                # A text is what the spec makes of it; anything else is handed on as it stands in the record.
                return self._conversation.text(record) if isinstance(value, str) else value
            case "messages":
                return self._messages(task)
            case "record":
                return visible_record(record)
            case "context":
                return [text_of(passage) for passage in record.context]
            case "metadata":
                return record.metadata
            case "id":
                return record.id
            case "trial":
                return task.trial
            case "seed":
                return self._seed(task)
            case _:
                return self._call.config

    def _seed(self, task: TargetTask) -> int | None:
        base = self._identity.get("seed")
        return task.seed if task.seed is not None else None if base is None else base + task.trial

    def _messages(self, task: TargetTask) -> list[dict[str, Any]]:
        return [
            plain_message(
                Message(
                    role=message.role,
                    content=message.content,
                    tool_calls=list(message.tool_calls),
                    tool_call_id=message.tool_call_id,
                    name=message.name,
                )
            )
            for message in self._conversation.messages(task.record)
        ]


def _parameters(call: PythonCall) -> dict[str, str]:
    """What each parameter is given. A callable with one parameter of another name gets the input under it."""
    try:
        signature = inspect.signature(call.function)
    except (TypeError, ValueError):
        raise InvalidSpecError(
            f"{call.reference} does not say which parameters it takes", where="target.python"
        ) from None
    names: dict[str, str] = {}
    strangers: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise InvalidSpecError(
                f"{call.reference} takes {parameter.name!r} by position only",
                where="target.python",
                hint="remove the /",
            )
        if parameter.name in _ARGUMENTS:
            names[parameter.name] = parameter.name
        elif parameter.default is parameter.empty:
            strangers.append(parameter.name)
    if len(strangers) == 1 and not names.keys() & set(_QUESTIONS):
        names[strangers.pop()] = "input"
    if strangers:
        raise UnknownNameError(f"parameter of {call.reference}", strangers[0], _ARGUMENTS, where="target.python")
    if not set(names.values()) & set(_QUESTIONS):
        raise InvalidSpecError(
            f"{call.reference} takes nothing to answer", where="target.python", hint="give it a parameter named input"
        )
    return names


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))[-4_000:]


@dataclass(eq=False)
class _Job:
    """Work for a thread. `state` is waiting, running, done or abandoned; it changes under the pool's lock."""

    work: Callable[[], Any]
    result: "asyncio.Future[Any]"
    state: str = "waiting"


class _Threads:
    """Daemon threads that are started when there is work and no idle one, and may be given up while they hang.

    The standard library's pool would wait for a hanging thread when the process ends.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._alive = 0

    async def run(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises. A cancelled wait gives the thread up."""
        job = _Job(work, asyncio.get_running_loop().create_future())
        with self._lock:
            if self._idle == 0 and self._alive < self._most:
                self._alive += 1
                threading.Thread(target=self._serve, name="evalsi-target", daemon=True).start()
            else:
                self._idle -= 1
        self._jobs.put(job)
        try:
            return await job.result
        except asyncio.CancelledError:
            with self._lock:
                if job.state == "running":
                    self._alive -= 1  # Written off; another may take its place.
                if job.state != "done":
                    job.state = "abandoned"
            raise

    def close(self) -> None:
        """Ends the threads that are idle; the others end after their work."""
        with self._lock:
            alive = self._alive
        for _ in range(alive):
            self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._begin(job):
                value: Any = None
                failure: BaseException | None = None
                try:
                    value = job.work()
                except BaseException as error:  # Also SystemExit: a callable must not end a thread unseen.
                    failure = error
                if not self._end(job):
                    return
                _settle(job.result, value, failure)
            with self._lock:
                self._idle += 1
        with self._lock:
            self._alive -= 1

    def _begin(self, job: _Job) -> bool:
        with self._lock:
            if job.state == "waiting":
                job.state = "running"
        return job.state == "running"

    def _end(self, job: _Job) -> bool:
        """Whether somebody still waits for this work, and so for this thread."""
        with self._lock:
            if job.state == "running":
                job.state = "done"
        return job.state == "done"


def _settle(result: "asyncio.Future[Any]", value: Any, failure: BaseException | None) -> None:
    """Hands a result to its event loop, if there still is one."""

    def settle() -> None:
        if result.done():
            return
        if failure is None:
            result.set_result(value)
        elif isinstance(failure, Exception) and not isinstance(failure, StopIteration):
            result.set_exception(failure)
        else:
            result.set_exception(TargetError(f"the callable raised {type(failure).__name__}: {failure}"))

    with contextlib.suppress(RuntimeError):
        result.get_loop().call_soon_threadsafe(settle)
