"""OTLP over gRPC: one method for traces and one for logs, on the server's own gRPC and on a port of its own.

Its own module because its messages are not of our schema, and because it must refuse before it reads: they are registered as
methods that take a stream, which on the wire is the same, so that a message is fetched only when there is room for it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import grpc

from evalsi.core.errors import CallDeadlineError, OverloadedError, TooLargeError, UsageError
from evalsi.core.size_text import size_text
from evalsi.server.calls import Arrival, Door
from evalsi.server.exchange import request_id_of
from evalsi.server.fault import fault_of
from evalsi.server.otlp.http_route import EXPORTS
from evalsi.server.otlp.receiver import Receiver
from evalsi.server.otlp.reply import Signal, reply_bytes, status_bytes
from evalsi.server.pipe_names import PipeNames

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}
METHOD = "Export"
MAIN_FETCHES = 1
"""Messages that the main port fetches at once. Their size is known only when they have come, and there it may be the
server's largest."""
OWN_FETCHES = 3
"""The same for ports of OTLP's own, where none may be larger than a request of traces."""
TURN_S = 5.0
"""Seconds a call waits for its turn to be fetched."""
FETCH_S = 10.0
"""Seconds a whole message may take."""
_STATUS = {status.value[0]: status for status in grpc.StatusCode}


class GrpcExport:
    """The methods, as handlers for a gRPC server.

    Args:
        names: Names of the pipes that lead to that server.
        fetches: How many messages are fetched at once.
    """

    def __init__(self, door: Door, receiver: Receiver, names: PipeNames, fetches: int) -> None:
        self._door = door
        self._receiver = receiver
        self._names = names
        self._fetches = fetches
        self._fetching = asyncio.Semaphore(fetches)

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        return [
            grpc.method_handlers_generic_handler(service, {METHOD: self._method(signal)})
            for signal, service in SERVICES.items()
        ]

    def _method(self, signal: Signal) -> Any:
        async def export(sent: AsyncIterator[bytes], context: Any) -> bytes:
            return await self._export(sent, context, signal)

        return cast("Any", grpc).stream_unary_rpc_method_handler(export)

    async def _export(self, sent: AsyncIterator[bytes], context: Any, signal: Signal) -> bytes:
        headers = {name: value for name, value in (context.invocation_metadata() or ()) if isinstance(value, str)}
        arrival = Arrival(
            headers=headers,
            request_id=request_id_of(headers),
            protocol="otlp-grpc",
            source=self._names.source_of(context.peer()),
            deadline_s=context.time_remaining(),
        )
        try:
            return await self._taken(sent, arrival, signal)
        except Exception as error:
            fault = fault_of(error)
        # The error is gone by now, and with it the message that its traceback held.
        self._receiver.measures.refused(fault.code)
        trailers: list[tuple[str, str | bytes]] = [
            ("x-request-id", arrival.request_id),
            ("evalsi-error", fault.code),
            ("grpc-status-details-bin", status_bytes(fault, "protobuf")),
        ]
        await context.abort(_STATUS[fault.grpc_status], fault.message, tuple(trailers))
        raise AssertionError  # abort raises

    async def _taken(self, sent: AsyncIterator[bytes], arrival: Arrival, signal: Signal) -> bytes:
        async with self._door.entered(EXPORTS[signal], arrival) as caller:
            self._receiver.admit(caller)
            with self._receiver.waiting.holding() as held:
                body = await self._fetched(sent, self._receiver.most_bytes_of("protobuf", signal, caller))
                held.add(len(body) * self._receiver.reader.weight_of("protobuf", signal))
                taken = await held.for_all_of(self._receiver.receive(body, "protobuf", caller, signal))
                return reply_bytes(taken, "protobuf", signal)

    async def _fetched(self, sent: AsyncIterator[bytes], most_bytes: int) -> bytes:
        self._receiver.waiting.check(1)
        try:
            async with asyncio.timeout(TURN_S):
                await self._fetching.acquire()
        except TimeoutError:
            raise OverloadedError(f"the server fetches other messages already, {self._fetches} at once") from None
        try:
            messages: Any = aiter(sent)
            async with asyncio.timeout(FETCH_S), aclosing(messages):  # left open, it would hold on to what it gave
                body = await anext(messages, None)
            if body is None:
                raise UsageError("the call has no message")
            if len(body) > most_bytes:
                body = b""  # an error keeps what its function held, and that is much
                raise TooLargeError(f"the request is larger than the {size_text(most_bytes)} that are taken")
            return body
        except TimeoutError:
            raise CallDeadlineError(f"the message was not whole within {FETCH_S:g} s") from None
        finally:
            self._fetching.release()
