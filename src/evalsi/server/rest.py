"""REST: JSON in, JSON out, at the addresses that the schema gives its methods.

A body is read as JSON whatever its content type says, so that `curl -d` is enough; streams of answers are sent as
server-sent events or JSON Lines, streams of requests are read as JSON Lines; files travel as they are.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec

import evalsi.schema
from evalsi.core.errors import UsageError
from evalsi.schema.field import fields_of
from evalsi.schema.json_codec import convert, decode, encode_camel, parse_json
from evalsi.schema.method import Method
from evalsi.server.answer import json_of
from evalsi.server.calls import Arrival, Door
from evalsi.server.exchange import Exchange, Headers, while_there
from evalsi.server.fault import Fault, fault_of
from evalsi.server.query_fields import fields_of_query, put_place
from evalsi.server.rest_routes import Found, RestRoutes
from evalsi.server.served_method import ServedMethod

SSE = "text/event-stream"
JSON_LINES = "application/x-ndjson"
HEARTBEAT_S = 15.0
"""Seconds of silence after which a stream of events says that it lives, so that proxies keep it open."""
_LONGEST_LINE = 16 << 20
_FORMATS = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/json": "json",
    "application/vnd.apache.parquet": "parquet",
    "application/parquet": "parquet",
}


class Rest:
    """Answers requests whose path is an address of the schema."""

    def __init__(self, door: Door, routes: RestRoutes) -> None:
        self._door = door
        self._routes = routes

    async def handle(self, exchange: Exchange) -> bool:
        """Answers, or returns False when the path is no address of the schema."""
        verb = "GET" if exchange.method == "HEAD" else exchange.method
        found = self._routes.find(verb, exchange.raw_path)
        if found is None:
            return False
        if isinstance(found, list):
            await self._other_verb(exchange, found)
            return True
        if found.served.method.server_streams:
            await self._stream(exchange, found)
            return True
        body = await self._body(exchange, found)
        await exchange.answer(201 if found.served.method.is_upload else 200, body)
        return True

    async def _body(self, exchange: Exchange, found: Found) -> bytes:
        served, arrival = found.served, arrival_of(exchange, "rest")
        if served.method.client_streams:
            requests = _uploaded(exchange, found) if served.method.raw else _lines(exchange, served)
            return json_of(await self._door.gather(served, requests, arrival))
        sent = await exchange.body()
        request = _request(exchange, found, sent)
        return json_of(await while_there(exchange, self._door.answer(served, request, arrival)))

    async def _stream(self, exchange: Exchange, found: Found) -> None:
        served, arrival = found.served, arrival_of(exchange, "rest")
        requests: Any
        if served.method.client_streams:
            requests = _lines(exchange, served)
        else:
            requests = _request(exchange, found, await exchange.body())
        answers = self._door.stream(served, requests, arrival)
        async with aclosing(answers):
            if served.method.raw:
                await while_there(exchange, _send_raw(exchange, answers, served.method))
            else:
                events = JSON_LINES not in exchange.headers.get("accept", "")
                sending = _send_messages(exchange, answers, events=events)
                await (sending if served.method.client_streams else while_there(exchange, sending))

    async def _other_verb(self, exchange: Exchange, verbs: list[str]) -> None:
        allow = ", ".join([*verbs, *(["HEAD"] if "GET" in verbs else []), "OPTIONS"])
        if exchange.method == "OPTIONS":
            await exchange.answer(204, b"", headers=[("allow", allow)])
            return
        fault = Fault(
            http_status=405,
            grpc_status=12,
            code="usage",
            message=f"{exchange.path} takes {' or '.join(verbs)}, not {exchange.method}",
        )
        await answer_fault(exchange, fault, [("allow", allow)])


def arrival_of(exchange: Exchange, protocol: str, deadline_s: float | None = None) -> Arrival:
    return Arrival(
        headers=exchange.headers,
        request_id=exchange.request_id,
        protocol=protocol,
        source=exchange.source,
        deadline_s=deadline_s,
    )


async def answer_fault(exchange: Exchange, fault: Fault, headers: Headers = ()) -> None:
    """Tells over REST why a call failed."""
    extra = [*headers, *await exchange.headers_of_refusal()]
    if fault.retry_after_s is not None:
        extra.append(("retry-after", str(max(1, round(fault.retry_after_s)))))
    if fault.http_status == 401:
        extra.append(("www-authenticate", "Bearer"))
    await exchange.answer(fault.http_status, fault.rest_body(exchange.request_id), headers=extra)


def _request(exchange: Exchange, found: Found, sent: bytes) -> msgspec.Struct:
    """The request from the path, the query and the body. Raises: SchemaError."""
    served, places = found
    method, kind = served.method, served.request
    query = exchange.query
    if method.body == "*" and not places and not query:
        return decode(sent if sent.strip() else b"{}", kind)
    values: dict[str, Any] = {}
    if method.body == "*" and sent.strip():
        values = _object(parse_json(sent))
    elif method.body and method.body != "*":
        values[method.body] = _object(parse_json(sent if sent.strip() else b"{}"))
    values.update(fields_of_query(query, method.request))
    for name, text in places.items():
        target: dict[str, Any] = values[method.body] if method.body not in ("", "*") else values
        for spelling in _spellings(method.request, name):
            target.pop(spelling, None)
        put_place(target, name, text, method.request)
    return convert(values, kind)


def _spellings(message: str, name: str) -> list[str]:
    """The names a body may give the field. What the path says counts."""
    return [spelling for field in fields_of(message) if field.name == name for spelling in (name, field.json_name)]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError("the body must be a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


async def _lines(exchange: Exchange, served: ServedMethod) -> AsyncGenerator[msgspec.Struct]:
    """The requests of a stream: a JSON object a line."""
    rest, number = b"", 0
    async for piece in exchange.pieces():
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            raise UsageError(f"line {number + len(lines) + 1} is longer than {_LONGEST_LINE >> 20} MiB")
        for line in lines:
            number += 1
            if line.strip():
                yield decode(line, served.request, at=f"line {number}")
    if rest.strip():
        yield decode(rest, served.request, at=f"line {number + 1}")


async def _uploaded(exchange: Exchange, found: Found) -> AsyncGenerator[msgspec.Struct]:
    """The requests of an upload: first what it is, from the address, then the body as it comes."""
    served, places = found
    first = next(field for field in fields_of(served.method.request) if field.kind == "message")
    values = fields_of_query(exchange.query, first.type_name)
    for name, text in places.items():
        values[name] = text
    if "format" not in values and exchange.content_type in _FORMATS:
        values["format"] = _FORMATS[exchange.content_type]
    yield served.request(**{first.name: convert(values, getattr(evalsi.schema, first.type_name))})
    async for piece in exchange.pieces():
        yield served.request(**{served.method.raw: piece})


async def _send_raw(exchange: Exchange, answers: AsyncIterator[msgspec.Struct], method: Method) -> None:
    content_type = method.raw_type or JSON_LINES
    async for answer in answers:
        if not exchange.started:
            await exchange.begin(200, content_type)
        await exchange.piece(getattr(answer, method.raw))
    if not exchange.started:
        await exchange.begin(200, content_type)
    await exchange.end()


async def _send_messages(exchange: Exchange, answers: AsyncIterator[msgspec.Struct], *, events: bool) -> None:
    """Sends each answer as an event or a line. A fault after the first byte is an event or line of its own."""
    waiting: asyncio.Task[msgspec.Struct] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(_next(answers))
            done, _ = await asyncio.wait({waiting}, timeout=HEARTBEAT_S)
            if not done:
                if events and exchange.started:
                    await exchange.piece(b": still here\n\n")
                continue
            try:
                answer = waiting.result()
            except StopAsyncIteration:
                break
            finally:
                waiting = None
            if not exchange.started:
                await _begin(exchange, events=events)
            text = encode_camel(answer)
            await exchange.piece(b"data: " + text + b"\n\n" if events else text + b"\n")
    except Exception as error:
        if not exchange.started:
            raise
        body = fault_of(error).rest_body(exchange.request_id)
        await exchange.piece(b"event: error\ndata: " + body + b"\n\n" if events else b'{"error":' + body + b"}\n")
    finally:
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
    if not exchange.started:
        await _begin(exchange, events=events)
    await exchange.end()


async def _next(answers: AsyncIterator[msgspec.Struct]) -> msgspec.Struct:
    return await anext(answers)


async def _begin(exchange: Exchange, *, events: bool) -> None:
    headers = [("cache-control", "no-store"), ("x-accel-buffering", "no")]
    await exchange.begin(200, SSE if events else JSON_LINES, headers)
