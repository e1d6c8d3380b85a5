"""What surrounds every call, whatever protocol carried it: who calls, may they, how long it took, what is told.

Its own module because a protocol that forgot one of these would be a hole. What always holds: no method is called
before the caller was found out and admitted, a stream ends when its caller may no longer make it, and every call is counted
and logged once.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

import msgspec

from evalsi.access.authenticator import Authenticator
from evalsi.access.caller import Caller
from evalsi.core.errors import CallDeadlineError, EvalsiError, ForbiddenError, OverloadedError
from evalsi.core.own_traces import span
from evalsi.schema.schema_error import SchemaError
from evalsi.server.answer import QuickAnswer
from evalsi.server.exchange import ClientGoneError
from evalsi.server.fault import OUR_FAULT, fault_of
from evalsi.server.idempotency import IdempotentAnswers
from evalsi.server.journal import Journal
from evalsi.server.late_service import not_served
from evalsi.server.measures import Measures
from evalsi.server.served_method import ServedMethod


class Admission(Protocol):
    """Decides whether a caller may make a call."""

    async def admit(self, caller: Caller, method: str, request: Any, *, again: bool = False) -> None:
        """Returns when it may; `method` is a short name such as "RunService.GetRun". Raises EvalsiError when not.

        Args:
            again: The call was admitted before and is under way.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A call as it came in."""

    headers: Mapping[str, str]
    """Names in lower case; gRPC metadata are headers."""
    request_id: str
    protocol: str
    source: str = ""
    deadline_s: float | None = None
    """Seconds the caller gives it; None for as long as the server does."""


@dataclass(slots=True, eq=False)
class _Course:
    """How a call goes."""

    started_s: float = field(default_factory=perf_counter)
    code: str = "ok"
    caller: str = ""


@dataclass(frozen=True, kw_only=True)
class Door:
    """Makes calls. One for the whole server."""

    authenticator: Authenticator
    admission: Admission
    measures: Measures
    journal: Journal
    kept: IdempotentAnswers | None = None
    """Answers by the key of their request; None where no call is worth keeping."""
    most_calls: int = 1024
    """Calls under way at once; a further one is refused at once rather than left to wait."""
    longest_call_s: float = 600.0
    """Seconds that a call without a stream may take."""
    admitted_for_s: float = 5.0
    """Seconds after which a stream's next message asks again who calls and whether they may."""
    under_way: set[object] = field(default_factory=set[object])

    async def answer(
        self, served: ServedMethod, request: msgspec.Struct, arrival: Arrival
    ) -> msgspec.Struct | QuickAnswer:
        """Makes a call with one request and one answer. Raises: EvalsiError, SchemaError: what to tell the caller."""
        async with self._watched(served.short_name, arrival) as course:
            caller = await self._enter(course, arrival)
            await self.admission.admit(caller, served.short_name, request)
            work = _within(self._deadline_s(arrival), _code_of(served), request, caller)
            key = arrival.headers.get("idempotency-key", "")
            if self.kept is None or not key or served.method.safe:
                return await work
            return await self.kept.answer(served, caller.principal, key, request, work)

    async def gather(
        self, served: ServedMethod, requests: AsyncIterator[msgspec.Struct], arrival: Arrival
    ) -> msgspec.Struct | QuickAnswer:
        """Makes a call with a stream of requests and one answer."""
        async with self._watched(served.short_name, arrival) as course:
            caller = await self._enter(course, arrival)
            admitted = self._admitted(requests, _Standing(self, served, arrival, caller))
            async with aclosing(admitted):
                return await _code_of(served)(admitted, caller)

    async def stream(
        self, served: ServedMethod, requests: AsyncIterator[msgspec.Struct] | msgspec.Struct, arrival: Arrival
    ) -> AsyncGenerator[msgspec.Struct]:
        """Makes a call with a stream of answers."""
        async with self._watched(served.short_name, arrival) as course:
            caller = await self._enter(course, arrival)
            standing = _Standing(self, served, arrival, caller)
            if isinstance(requests, msgspec.Struct):
                await standing.begin(requests)
                answers = _code_of(served)(requests, caller)
            else:
                answers = _code_of(served)(self._admitted(requests, standing), caller)
            async with aclosing(answers):
                async for one in answers:
                    await standing.confirm()
                    yield one

    @asynccontextmanager
    async def entered(self, name: str, arrival: Arrival) -> AsyncGenerator[Caller]:
        """Surrounds a call that no method of the schema stands for, and whose admission is its own; gives the caller.

        Raises: as `answer`.
        """
        async with self._watched(name, arrival) as course:
            yield await self._enter(course, arrival)

    async def _admitted(
        self, requests: AsyncIterator[msgspec.Struct], standing: "_Standing"
    ) -> AsyncGenerator[msgspec.Struct]:
        """The requests of a stream, of which the first one says what it is about."""
        first = True
        async for request in requests:
            if first:
                await standing.begin(getattr(request, "config", None) or request)
                first = False
            else:
                await standing.confirm()
            yield request

    async def _enter(self, course: _Course, arrival: Arrival) -> Caller:
        if len(self.under_way) > self.most_calls:
            raise OverloadedError(f"the server has {self.most_calls} calls under way and takes no more just now")
        caller = await self.caller_of(arrival)
        course.caller = caller.principal
        # A service that stores the key itself keeps the promise also when two servers are asked at the same moment.
        key = arrival.headers.get("idempotency-key", "")
        return msgspec.structs.replace(caller, idempotency_key=key) if key else caller

    async def caller_of(self, arrival: Arrival) -> Caller:
        """Who calls. Raises: UnauthenticatedError."""
        return await self.authenticator.authenticate(
            arrival.headers, request_id=arrival.request_id, source=arrival.source
        )

    def _deadline_s(self, arrival: Arrival) -> float:
        return self.longest_call_s if arrival.deadline_s is None else min(arrival.deadline_s, self.longest_call_s)

    @asynccontextmanager
    async def _watched(self, name: str, arrival: Arrival) -> AsyncGenerator[_Course]:
        course = _Course()
        self.under_way.add(course)
        self.measures.in_flight.inc()
        attributes = {"rpc.system": arrival.protocol, "rpc.method": name, "request.id": arrival.request_id}
        try:
            with span(name, attributes, parent=arrival.headers.get("traceparent", ""), is_call=True):
                yield course
        except (asyncio.CancelledError, GeneratorExit, ClientGoneError):
            course.code = "cancelled"
            raise
        except (EvalsiError, SchemaError) as error:
            course.code = fault_of(error).code
            raise
        except Exception as error:
            course.code = "error"
            self.journal.crash(error, method=name, request_id=arrival.request_id)
            raise EvalsiError(OUR_FAULT) from error
        finally:
            self.under_way.discard(course)
            self.measures.in_flight.dec()
            seconds = perf_counter() - course.started_s
            self.measures.count(name, arrival.protocol, course.code, seconds)
            self.journal.note(
                "info",
                "call",
                method=name,
                protocol=arrival.protocol,
                code=course.code,
                seconds=round(seconds, 6),
                caller=course.caller,
                source=arrival.source,
                request_id=arrival.request_id,
            )


class _Standing:
    """The right of a caller to a stream, which may outlive the key or the role that it was begun with."""

    def __init__(self, door: Door, served: ServedMethod, arrival: Arrival, caller: Caller) -> None:
        self._door = door
        self._method = served.short_name
        self._arrival = arrival
        self._caller = caller
        self._about: Any = None
        self._until_s = 0.0

    async def begin(self, about: Any) -> None:
        """Raises: EvalsiError: the caller may not."""
        await self._door.admission.admit(self._caller, self._method, about, again=self._about is not None)
        self._about = about
        self._until_s = perf_counter() + self._door.admitted_for_s

    async def confirm(self) -> None:
        """Asks again where the last time is a while ago.

        Raises: EvalsiError: the caller may no longer make this call, or has lost some right: what the stream shows was
            decided by the rights at its beginning.
        """
        if self._about is None or perf_counter() < self._until_s:
            return
        now = await self._door.caller_of(self._arrival)
        before = self._caller.grants.items()
        if any(not now.has(permission, project) for project, granted in before for permission in granted):
            raise ForbiddenError(
                f"{now.principal} may do less than when this stream began", hint="begin it again with what is left"
            )
        self._caller = now
        await self.begin(self._about)


def _code_of(served: ServedMethod) -> Any:
    if served.call is None:
        raise not_served(served.short_name)
    return served.call


async def _within(deadline_s: float, code: Any, request: msgspec.Struct, caller: Caller) -> Any:
    scope = asyncio.timeout(deadline_s)
    try:
        async with scope:
            return await code(request, caller)
    except TimeoutError:
        if scope.expired():
            raise CallDeadlineError(f"the call was not done within {deadline_s:g} s") from None
        raise
