"""`POST /v1/traces` and `POST /v1/logs`: OTLP over HTTP, in protobuf and JSON, packed or not, in chunks or not.

Its own module because OTLP's answers are not those of REST: the error is a `google.rpc.Status` in the encoding of the request.
What always holds: who calls is known and within limits before a byte of the body is kept; a refusal is sent even to a client
that is still sending, as far as what it sends is small.
"""

import asyncio
import math
from contextlib import suppress

from evalsi.access.caller import Caller
from evalsi.core.errors import CallDeadlineError, EvalsiError
from evalsi.server.calls import Door
from evalsi.server.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from evalsi.server.fault import Fault, fault_of
from evalsi.server.otlp.receiver import Receiver
from evalsi.server.otlp.reply import CONTENT_TYPES, Encoding, Signal, Taken, reply_bytes, status_bytes
from evalsi.server.otlp.unpacking import CODINGS, Unpacking
from evalsi.server.rest import arrival_of

SIGNALS: dict[str, Signal] = {"/v1/traces": "traces", "/v1/logs": "logs"}
"""By their paths."""
EXPORTS: dict[Signal, str] = {"traces": "TraceService.Export", "logs": "LogsService.Export"}
"""How metrics and the log name the calls."""
BODY_S = 60.0
"""Seconds a whole body may take."""
_ENCODINGS: dict[str, Encoding] = {content_type: encoding for encoding, content_type in CONTENT_TYPES.items()}


class OtlpRoute:
    """An ASGI application for these paths."""

    def __init__(self, door: Door, receiver: Receiver) -> None:
        self._door = door
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send, most_bytes=self._receiver.most_bytes)
        encoding, signal = _ENCODINGS.get(exchange.content_type), SIGNALS.get(exchange.path)
        with suppress(ClientGoneError):
            fault = _misfit(exchange, encoding)
            if encoding is None or signal is None or fault is not None:
                await self._refuse(exchange, fault or _UNKNOWN_TYPE, encoding or "json")
                return
            try:
                async with self._door.entered(EXPORTS[signal], arrival_of(exchange, "otlp-http")) as caller:
                    outcome = await self._take(exchange, encoding, caller, signal)
            except EvalsiError as error:
                outcome = fault_of(error)
            # The error is gone by now, and with it the body that its traceback held: a client may be slow to listen.
            if isinstance(outcome, Fault):
                await self._refuse(exchange, outcome, encoding)
            else:
                await exchange.answer(200, reply_bytes(outcome, encoding, signal), CONTENT_TYPES[encoding])

    async def _take(self, exchange: Exchange, encoding: Encoding, caller: Caller, signal: Signal) -> Taken:
        receiver = self._receiver
        receiver.admit(caller)
        weight = receiver.reader.weight_of(encoding, signal)
        declared = exchange.headers.get("content-length", "")
        if declared.isdigit():
            receiver.waiting.check(min(int(declared), receiver.most_bytes_of(encoding, signal, caller)) * weight)
        with receiver.waiting.holding() as held:
            unpacking = Unpacking(
                exchange.headers.get("content-encoding", "").strip().lower(),
                receiver.most_bytes_of(encoding, signal, caller),
                lambda size: held.add(size * weight),
            )
            try:
                async with asyncio.timeout(BODY_S):
                    async for piece in exchange.pieces():
                        unpacking.add(piece)
            except TimeoutError:
                raise CallDeadlineError(f"the body was not whole within {BODY_S:g} s") from None
            return await held.for_all_of(receiver.receive(unpacking.whole(), encoding, caller, signal))

    async def _refuse(self, exchange: Exchange, fault: Fault, encoding: Encoding) -> None:
        self._receiver.measures.refused(fault.code)
        headers = await exchange.headers_of_refusal()
        if fault.retry_after_s is not None:
            headers.append(("retry-after", str(max(1, math.ceil(fault.retry_after_s)))))
        if fault.http_status == 401:
            headers.append(("www-authenticate", "Bearer"))
        if fault.http_status == 405:
            headers.append(("allow", "POST"))
        await exchange.answer(fault.http_status, status_bytes(fault, encoding), CONTENT_TYPES[encoding], headers)


_UNKNOWN_TYPE = Fault(
    http_status=415,
    grpc_status=3,
    code="usage",
    message=f"OTLP is taken as {' and '.join(CONTENT_TYPES.values())}; say which in content-type",
)


def _misfit(exchange: Exchange, encoding: Encoding | None) -> Fault | None:
    """Why a request cannot be meant for here, as far as its head tells."""
    if exchange.path not in SIGNALS:
        return Fault(
            http_status=404, grpc_status=12, code="not-found", message=f"OTLP is taken at {' and '.join(SIGNALS)}"
        )
    if exchange.method != "POST":
        return Fault(http_status=405, grpc_status=12, code="usage", message=f"{exchange.path} takes POST")
    if encoding is None:
        return _UNKNOWN_TYPE
    coding = exchange.headers.get("content-encoding", "").strip().lower()
    if coding not in CODINGS:
        message = f"the content encoding {coding[:40]!r} is not known; use gzip, zstd or none"
        return Fault(http_status=415, grpc_status=3, code="usage", message=message)
    return None
