"""Connect and gRPC-Web: calls by the full name of their method over HTTP/1.1, unary and streamed.

Both in one module because they are one thing in two envelopes: messages as JSON or in binary form, in frames of five
bytes and a body. What always holds: a fault is told in the protocol's own place, which for streams is their last frame.
"""

import base64
import binascii
import struct
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec

from evalsi.core.errors import TooLargeError, UsageError
from evalsi.schema.json_codec import check_message, decode
from evalsi.schema.proto_codec import decode as decode_binary
from evalsi.schema.proto_codec import encode as encode_binary
from evalsi.server.answer import QuickAnswer, json_of, message_of
from evalsi.server.calls import Door
from evalsi.server.exchange import ClientGoneError, Exchange, packed, unpacked, while_there
from evalsi.server.fault import Fault, fault_of
from evalsi.server.rest import answer_fault, arrival_of
from evalsi.server.served_method import ServedMethod

_FRAME = struct.Struct(">BI")
_PACKED, _CONNECT_END, _WEB_TRAILERS = 0x01, 0x02, 0x80
_LONGEST_FRAME = 64 << 20


@dataclass(frozen=True, slots=True)
class _Form:
    """How messages are written in a call."""

    name: str
    read: Callable[[bytes, type[msgspec.Struct]], msgspec.Struct]
    write: Callable[[msgspec.Struct | QuickAnswer], bytes]


def _read_binary(data: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    found = decode_binary(data, kind)
    check_message(found)
    return found


def _read_json(data: bytes, kind: type[msgspec.Struct]) -> msgspec.Struct:
    return decode(data if data.strip() else b"{}", kind)


_BINARY = _Form("proto", _read_binary, lambda answer: encode_binary(message_of(answer)))
_JSON = _Form("json", _read_json, json_of)


class RpcOverHttp:
    """Answers requests whose path is the full name of a method."""

    def __init__(self, door: Door, served: list[ServedMethod]) -> None:
        self._door = door
        self._served = {one.method.full_name: one for one in served}
        self._services = {one.method.service for one in served}

    async def handle(self, exchange: Exchange) -> bool:
        """Answers, or returns False when the path names no method of ours."""
        served = self._served.get(exchange.path)
        if served is None:
            service = exchange.path[1:].rpartition("/")[0]
            if service not in self._services:
                return False
            fault = Fault(
                http_status=404, grpc_status=12, code="unimplemented", message=f"there is no method {exchange.path}"
            )
            await self._tell_connect(exchange, fault)
            return True
        kind = exchange.content_type
        if exchange.method not in ("POST", "GET") or (exchange.method == "GET" and not served.method.safe):
            fault = Fault(http_status=405, grpc_status=12, code="usage", message=f"{exchange.path} takes POST")
            await answer_fault(exchange, fault, [("allow", "POST")])
        elif kind.startswith("application/grpc-web"):
            await self._web(exchange, served)
        elif kind.startswith("application/connect+"):
            await self._connect_stream(exchange, served)
        elif served.method.client_streams or served.method.server_streams:
            text = f"{served.short_name} is a stream; use application/connect+json, application/grpc-web or its REST address"
            await answer_fault(exchange, Fault(http_status=415, grpc_status=3, code="usage", message=text))
        else:
            await self._connect_unary(exchange, served)
        return True

    async def _connect_unary(self, exchange: Exchange, served: ServedMethod) -> None:
        form = _BINARY if exchange.content_type in ("application/proto", "application/x-protobuf") else _JSON
        try:
            if exchange.method == "GET":
                sent, form = _sent_by_query(exchange)
            else:
                sent = await exchange.body()
            request = form.read(sent, served.request)
            arrival = arrival_of(exchange, "connect", _connect_deadline_s(exchange))
            answer = await while_there(exchange, self._door.answer(served, request, arrival))
            body = form.write(answer)
        except Exception as error:
            await self._tell_connect(exchange, fault_of_or_raise(error))
            return
        await exchange.answer(200, body, f"application/{form.name}")

    async def _tell_connect(self, exchange: Exchange, fault: Fault) -> None:
        headers = await exchange.headers_of_refusal()
        if fault.retry_after_s is not None:
            headers.append(("retry-after", "1"))
        body: dict[str, Any] = fault.connect_body() | {"details": []}
        if fault.field:
            body["field"] = fault.field
        await exchange.answer(fault.connect_status, msgspec.json.encode(body), headers=headers)

    async def _connect_stream(self, exchange: Exchange, served: ServedMethod) -> None:
        form = {"json": _JSON, "proto": _BINARY}.get(exchange.content_type.removeprefix("application/connect+"))
        if form is None:
            await answer_fault(exchange, _unknown_form(exchange))
            return
        coding = _one_of(exchange.headers.get("connect-accept-encoding", ""))
        headers = [("connect-content-encoding", coding)] if coding else []
        await exchange.begin(200, exchange.content_type, headers)
        end: dict[str, Any] = {}
        try:
            frames = _frames(
                exchange.pieces(), exchange.headers.get("connect-content-encoding", ""), end_bit=_CONNECT_END
            )

            def write(answer: msgspec.Struct | QuickAnswer) -> bytes:
                return _framed(form.write(answer), coding)

            await self._answer(exchange, served, _read_all(frames, form, served.request), "connect", write)
        except Exception as error:
            end = {"error": fault_of_or_raise(error).connect_body()}
        await exchange.piece(_FRAME.pack(_CONNECT_END, len(text := msgspec.json.encode(end))) + text)
        await exchange.end()

    async def _web(self, exchange: Exchange, served: ServedMethod) -> None:
        kind = exchange.content_type
        as_text = kind.startswith("application/grpc-web-text")
        if kind.partition("+")[2] not in ("", "proto"):
            await answer_fault(exchange, _unknown_form(exchange))
            return
        await exchange.begin(
            200, exchange.headers["content-type"], [("access-control-expose-headers", "grpc-status, grpc-message")]
        )
        status, words = 0, ""
        try:
            pieces = _from_text(exchange.pieces()) if as_text else exchange.pieces()
            frames = _frames(pieces, exchange.headers.get("grpc-encoding", ""), end_bit=_WEB_TRAILERS)

            def write(answer: msgspec.Struct | QuickAnswer) -> bytes:
                return _as_sent(_framed(_BINARY.write(answer), ""), as_text=as_text)

            await self._answer(exchange, served, _read_all(frames, _BINARY, served.request), "grpc-web", write)
        except Exception as error:
            fault = fault_of_or_raise(error)
            status, words = fault.grpc_status, fault.message
        trailers = f"grpc-status: {status}\r\n" + (f"grpc-message: {quote(words, safe=' ')}\r\n" if words else "")
        trailers += f"x-request-id: {exchange.request_id}\r\n"
        await exchange.piece(_as_sent(_FRAME.pack(_WEB_TRAILERS, len(trailers)) + trailers.encode(), as_text=as_text))
        await exchange.end()

    async def _answer(
        self,
        exchange: Exchange,
        served: ServedMethod,
        requests: AsyncGenerator[msgspec.Struct],
        protocol: str,
        write: Callable[[msgspec.Struct | QuickAnswer], bytes],
    ) -> None:
        """Sends the answers to a call of any kind. Who has said all that there is to say may hang up, which ends the call."""
        deadline_s = _connect_deadline_s(exchange) if protocol == "connect" else _grpc_deadline_s(exchange)
        arrival = arrival_of(exchange, protocol, deadline_s)
        method, door = served.method, self._door
        if method.client_streams and method.server_streams:
            await _send(exchange, door.stream(served, requests, arrival), write)
        elif method.client_streams:
            await exchange.piece(write(await door.gather(served, requests, arrival)))
        else:
            request = await _the_only(requests)
            if method.server_streams:
                await while_there(exchange, _send(exchange, door.stream(served, request, arrival), write))
            else:
                await exchange.piece(write(await while_there(exchange, door.answer(served, request, arrival))))


async def _send(
    exchange: Exchange,
    answers: AsyncGenerator[msgspec.Struct],
    write: Callable[[msgspec.Struct | QuickAnswer], bytes],
) -> None:
    async with aclosing(answers):
        async for answer in answers:
            await exchange.piece(write(answer))


async def _the_only(requests: AsyncGenerator[msgspec.Struct]) -> msgspec.Struct:
    """The one message of a request, which is read to its end. Raises: UsageError: there is none, or another."""
    request = await anext(requests, None)
    if request is None:
        raise UsageError("the call holds no message")
    if await anext(requests, None) is not None:
        raise UsageError("the call holds more than one message, and takes one")
    return request


def fault_of_or_raise(error: Exception) -> Fault:
    """The fault to tell; a client that is gone is told nothing."""
    if isinstance(error, ClientGoneError):
        raise error
    return fault_of(error)


def _sent_by_query(exchange: Exchange) -> tuple[bytes, _Form]:
    """The message of a Connect GET."""
    query = {name: values[-1] for name, values in parse_qs(exchange.query, keep_blank_values=True).items()}
    text = query.get("message", "")
    data = text.encode()
    if query.get("base64") == "1":
        try:
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (binascii.Error, ValueError):
            raise UsageError("the message in the query is no base64 text") from None
    data = unpacked(data, query.get("compression", ""), most_bytes=_LONGEST_FRAME)
    return data, _BINARY if query.get("encoding") == "proto" else _JSON


async def _read_all(
    frames: AsyncIterator[bytes], form: _Form, kind: type[msgspec.Struct]
) -> AsyncGenerator[msgspec.Struct]:
    async for frame in frames:
        yield form.read(frame, kind)


async def _frames(pieces: AsyncIterator[bytes], coding: str, *, end_bit: int) -> AsyncGenerator[bytes]:
    """The messages in a body. Raises: UsageError: it ends within a frame, or a frame cannot be unpacked. TooLargeError."""
    held = bytearray()
    async for piece in pieces:
        held += piece
        while len(held) >= _FRAME.size:
            flags, length = _FRAME.unpack_from(held)
            if length > _LONGEST_FRAME:
                raise TooLargeError(f"a message is larger than the {_LONGEST_FRAME >> 20} MiB that the server takes")
            if len(held) < _FRAME.size + length:
                break
            body = bytes(held[_FRAME.size : _FRAME.size + length])
            del held[: _FRAME.size + length]
            if flags & end_bit:
                continue
            yield unpacked(body, coding if flags & _PACKED else "", most_bytes=_LONGEST_FRAME)
    if held:
        raise UsageError("the body ends within a message")


async def _from_text(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The bytes in a body of base64 text, which may be several texts in a row."""
    rest = b""
    async for piece in pieces:
        rest += bytes(byte for byte in piece if byte not in b"\r\n ")
        whole = len(rest) - len(rest) % 4
        try:
            for index in range(0, whole, 4):
                yield base64.b64decode(rest[index : index + 4], validate=True)
        except binascii.Error:
            raise UsageError("the body is no base64 text") from None
        rest = rest[whole:]


def _framed(body: bytes, coding: str) -> bytes:
    if coding and len(body) >= 1024:
        body = packed(body, coding)
        return _FRAME.pack(_PACKED, len(body)) + body
    return _FRAME.pack(0, len(body)) + body


def _as_sent(data: bytes, *, as_text: bool) -> bytes:
    return base64.b64encode(data) if as_text else data


def _one_of(accepted: str) -> str:
    return "gzip" if "gzip" in [name.strip() for name in accepted.split(",")] else ""


def _connect_deadline_s(exchange: Exchange) -> float | None:
    text = exchange.headers.get("connect-timeout-ms", "")
    return int(text) / 1000 if text.isdecimal() and len(text) <= 10 else None


def _grpc_deadline_s(exchange: Exchange) -> float | None:
    text = exchange.headers.get("grpc-timeout", "")
    unit = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}.get(text[-1:])
    return int(text[:-1]) * unit if unit and text[:-1].isdecimal() and len(text) <= 9 else None


def _unknown_form(exchange: Exchange) -> Fault:
    text = f"the content type {exchange.content_type[:60]!r} is not known; use +json or +proto"
    return Fault(http_status=415, grpc_status=3, code="usage", message=text)
