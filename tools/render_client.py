"""Renders the typed calls of the Python client, async and sync: one method for each method of a service."""

from collections.abc import Iterator

from render_methods import snake
from render_structs import NOTICE, docstring
from schema_model import PACKAGE, Method, Schema

DOC = """Every method of every service as a typed call, async and sync.

The code behind them is in `connection`; `AsyncClient` and `Client` add what makes them comfortable."""
HEAD = """
from collections.abc import AsyncGenerator, AsyncIterable, Coroutine, Generator, Iterable
from typing import Any, TypeVar

from evalsi import schema
from evalsi.client.connection import Connection
from evalsi.schema.method import METHODS

T = TypeVar("T")

_METHODS = {method.full_name.rpartition(".")[2]: method for method in METHODS}
"""
ASYNC = """
class AsyncCalls:
    \"""The calls, for an event loop.\"""

    _connection: Connection
"""
SYNC = """
class Calls:
    \"""The calls, for ordinary code.\"""

    _calls: AsyncCalls

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        raise NotImplementedError

    def _each(self, answers: AsyncGenerator[T]) -> Generator[T]:
        raise NotImplementedError

    def _given(self, items: Iterable[T]) -> AsyncIterable[T]:
        raise NotImplementedError
"""


def render_client(schema: Schema) -> str:
    """The module `evalsi.client.generated_calls`."""
    named = [
        (f"{service.name}/{method.name}", method)
        for file in schema.files
        if file.package == PACKAGE
        for service in file.services
        for method in service.methods
    ]
    lines = [NOTICE.format(source="proto/"), *docstring(DOC), *HEAD.splitlines(), "", *ASYNC.splitlines()]
    for name, method in named:
        lines += ["", *async_call(schema, name, method)]
    lines += ["", *SYNC.splitlines()]
    for _, method in named:
        lines += ["", *sync_call(schema, method)]
    return "\n".join(lines) + "\n"


def async_call(schema: Schema, name: str, method: Method) -> Iterator[str]:
    request, response, place = f"schema.{method.request}", f"schema.{method.response}", f'_METHODS["{name}"]'
    raw = method.route is not None and bool(method.route.raw)
    call = snake(method.name)
    if raw and method.client_streams:
        about = about_of(schema, method)
        yield f"    async def {call}(self, about: schema.{about}, pieces: AsyncIterable[bytes]) -> {response}:"
        body = f"return await self._connection.upload({place}, about, pieces, {response})"
    elif raw:
        yield f"    def {call}(self, request: {request}) -> AsyncGenerator[bytes]:"
        body = f"return self._connection.download({place}, request)"
    elif method.client_streams:
        yield f"    def {call}(self, requests: AsyncIterable[{request}]) -> AsyncGenerator[{response}]:"
        body = f"return self._connection.exchange({place}, requests, {response})"
    elif method.server_streams:
        yield f"    def {call}(self, request: {request}) -> AsyncGenerator[{response}]:"
        body = f"return self._connection.receive({place}, request, {response})"
    else:
        yield f'    async def {call}(self, request: {request}, *, idempotency_key: str = "") -> {response}:'
        body = f"return await self._connection.call({place}, request, {response}, idempotency_key=idempotency_key)"
    yield from (f"        {line}" for line in docstring(method.doc))
    yield f"        {body}"


def sync_call(schema: Schema, method: Method) -> Iterator[str]:
    request, response = f"schema.{method.request}", f"schema.{method.response}"
    raw = method.route is not None and bool(method.route.raw)
    call = snake(method.name)
    if raw and method.client_streams:
        about = about_of(schema, method)
        yield f"    def {call}(self, about: schema.{about}, pieces: Iterable[bytes]) -> {response}:"
        body = f"return self._wait(self._calls.{call}(about, self._given(pieces)))"
    elif raw:
        yield f"    def {call}(self, request: {request}) -> Generator[bytes]:"
        body = f"return self._each(self._calls.{call}(request))"
    elif method.client_streams:
        yield f"    def {call}(self, requests: Iterable[{request}]) -> Generator[{response}]:"
        body = f"return self._each(self._calls.{call}(self._given(requests)))"
    elif method.server_streams:
        yield f"    def {call}(self, request: {request}) -> Generator[{response}]:"
        body = f"return self._each(self._calls.{call}(request))"
    else:
        yield f'    def {call}(self, request: {request}, *, idempotency_key: str = "") -> {response}:'
        body = f"return self._wait(self._calls.{call}(request, idempotency_key=idempotency_key))"
    yield from (f"        {line}" for line in docstring(method.doc))
    yield f"        {body}"


def about_of(schema: Schema, method: Method) -> str:
    """The message that says what a file is: the only message in the requests of an upload."""
    (message,) = [each for file in schema.files for each in file.messages if each.name == method.request]
    (about,) = [field.type_name for field in message.fields if field.kind == "message"]
    return about
