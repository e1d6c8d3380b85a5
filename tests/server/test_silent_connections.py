"""Connections of HTTP/2 that call nobody for a while: they are nobody's, so that whatever is called first is answered.

In this process, because the limits are seconds of which a test has none to spare.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, PingAckReceived, SettingsAcknowledged

from evalsi.server import one_port
from evalsi.server.exchange import Receive, Scope, Send
from evalsi.server.one_port import OnePort
from evalsi.server.pipe_names import PipeNames

CALL = [(":method", "GET"), (":path", "/x"), (":scheme", "http"), (":authority", "x")]
GRPC = [
    (":method", "POST"),
    (":path", "/x"),
    (":scheme", "http"),
    (":authority", "x"),
    ("content-type", "application/grpc"),
]


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


class Client:
    """A client that does as it is told, and notes what it hears."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.frames = H2Connection(H2Configuration(client_side=True))
        self.heard: list[Event] = []
        self.reader, self.writer = reader, writer
        self.frames.initiate_connection()
        self.say()

    def say(self) -> None:
        self.writer.write(self.frames.data_to_send())

    async def hear(self, kind: type[Event]) -> bool:
        """Whether such an event came before the end of the connection."""
        while not any(isinstance(event, kind) for event in self.heard):
            if not (data := await self.reader.read(1 << 16)):
                return False
            self.heard += self.frames.receive_data(data)
            self.say()
        return True

    def call(self, headers: list[tuple[str, str]]) -> None:
        self.frames.send_headers(1, headers, end_stream=True)
        self.say()


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[tuple[Client, list[bytes]]]:
    """A client on a port of its own, and what reaches gRPC of what it says."""
    to_grpc: list[bytes] = []

    writers: list[asyncio.StreamWriter] = []

    async def grpc(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while data := await reader.read(1 << 16):
            to_grpc.append(data)

    behind = await asyncio.start_unix_server(grpc, folder / "grpc")
    port = OnePort(answering, str(folder / "grpc"), PipeNames(folder))
    host, number = await port.listen("127.0.0.1", 0, None)
    reader, writer = await asyncio.open_connection(host, number)
    writers.append(writer)
    try:
        yield Client(reader, writer), to_grpc
    finally:
        await port.close(1)
        behind.close()
        for each in writers:
            each.close()
            with suppress(ConnectionError):
                await each.wait_closed()


def run(folder: Path, script: Callable[[Client, list[bytes]], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(20), connected(folder) as (client, to_grpc):
            await script(client, to_grpc)

    asyncio.run(whole())


@pytest.mark.parametrize("pings", [0, 3])
def test_whoever_is_called_after_a_silence_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pings: int) -> None:
    monkeypatch.setattr(one_port, "HEAD_S", 0.2)

    async def script(client: Client, to_grpc: list[bytes]) -> None:
        for number in range(pings):
            client.frames.ping(bytes([number] * 8))
            client.say()
            assert await client.hear(PingAckReceived)
            client.heard.clear()
        await asyncio.sleep(0.5)
        client.call(CALL)
        assert await client.hear(DataReceived)
        assert to_grpc == []

    run(tmp_path, script)


def test_a_channel_of_grpc_that_is_silent_for_a_while_reaches_grpc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_port, "HEAD_S", 0.2)

    async def script(client: Client, to_grpc: list[bytes]) -> None:
        await asyncio.sleep(0.5)
        client.call(GRPC)
        while b"".join(to_grpc).count(b"\x01\x05\0\0\0\x01") < 1:
            await asyncio.sleep(0.01)
        assert b"".join(to_grpc).startswith(one_port.PREFACE)

    run(tmp_path, script)


def test_who_is_silent_for_too_long_is_told_to_call_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_port, "SILENT_S", 0.2)

    async def script(client: Client, to_grpc: list[bytes]) -> None:
        assert await client.hear(ConnectionTerminated)
        (told,) = [event for event in client.heard if isinstance(event, ConnectionTerminated)]
        assert (int(told.error_code or 0), told.last_stream_id) == (0, 0)
        assert to_grpc == []

    run(tmp_path, script)


def test_a_call_that_is_begun_and_not_ended_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_port, "HEAD_S", 0.2)

    async def script(client: Client, to_grpc: list[bytes]) -> None:
        client.writer.write(b"\0\0\x50\x01\x05\0\0\0\x01half")
        assert not await client.hear(SettingsAcknowledged)
        assert to_grpc == []

    run(tmp_path, script)
