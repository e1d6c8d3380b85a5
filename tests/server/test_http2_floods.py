"""What a client of HTTP/2 may do to the server: nothing that others feel, and nothing that lasts."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded
from hyperframe.frame import (
    DataFrame,
    Frame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from evalsi.server.light_frames import LightFrames
from evalsi.server.one_port import OnePort
from evalsi.server.pipe_names import PipeNames

HEAD = [(":method", "GET"), (":path", "/x"), (":scheme", "http"), (":authority", "x")]
SLOW_HEAD = [*HEAD[:1], (":path", "/slow"), *HEAD[2:]]
UPLOAD_HEAD = [(":method", "POST"), (":path", "/upload"), *HEAD[2:]]


class App:
    """Answers at once, or when it is told to."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.begun = 0
        self.heard = 0
        """Pieces of bodies that reached it."""

    async def __call__(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.begun += 1
        if scope["path"] == "/slow":
            await self.go_on.wait()
        while scope["method"] == "POST":
            message = await receive()
            self.heard += 1
            if message["type"] == "http.disconnect":
                return
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"said"})


class Client:
    """One connection, driven frame by frame."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.ended = 0
        self.body = b""
        self.statuses: list[str] = []
        self.told_to_stop: int | None = None

    async def call(self, stream: int, head: Any = HEAD, *, end: bool = True) -> None:
        self.h2.send_headers(stream, head, end_stream=end)
        await self.flush()

    async def flush(self) -> None:
        self.writer.write(self.h2.data_to_send())
        await self.writer.drain()

    async def raw(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def read(self, until: Callable[[], bool]) -> None:
        """Reads until that is so, or the server has closed."""
        while not until():
            try:
                data = await asyncio.wait_for(self.reader.read(1 << 16), 10)
            except ConnectionError:
                return
            if not data:
                return
            for event in self.h2.receive_data(data):
                match event:
                    case ResponseReceived():
                        self.statuses += [str(value) for name, value in event.headers if name == ":status"]
                    case DataReceived():
                        self.body += event.data
                    case StreamEnded():
                        self.ended += 1
                    case ConnectionTerminated():
                        self.told_to_stop = int(event.error_code or 0)
                    case _:
                        pass


@contextlib.asynccontextmanager
async def serving(tmp_path: Path) -> AsyncGenerator[tuple[App, OnePort, Callable[[], Awaitable[Client]]]]:
    app = App()
    port = OnePort(app, str(tmp_path / "no-grpc"), PipeNames(tmp_path))
    host, number = await port.listen("127.0.0.1", 0, None)

    clients: list[Client] = []

    async def connect() -> Client:
        clients.append(client := Client(*await asyncio.open_connection(host, number)))
        await client.flush()
        return client

    try:
        yield app, port, connect
    finally:
        app.go_on.set()
        await port.close(0.1)
        for client in clients:
            client.writer.close()
            with contextlib.suppress(OSError):
                await client.writer.wait_closed()


def pinged() -> Frame:
    frame = PingFrame(0)
    frame.opaque_data = b"12345678"
    return frame


FLOODS = {
    "pings": pinged,
    "settings": lambda: SettingsFrame(0),
    "priorities": lambda: PriorityFrame(5, depends_on=0),
    "windows": lambda: WindowUpdateFrame(0, window_increment=1),
    "empty data": lambda: DataFrame(3, b""),
    "data by the byte": lambda: DataFrame(3, b"x"),
    "resets": lambda: RstStreamFrame(1),
}


@pytest.mark.parametrize("what", FLOODS)
def test_a_flood_of_frames_that_carry_nothing_ends_its_connection_and_no_other(tmp_path: Path, what: str) -> None:
    async def attack() -> None:
        async with serving(tmp_path) as (app, _, connect):
            other, client = await connect(), await connect()
            await client.call(1)
            await client.read(lambda: client.ended == 1)
            await client.call(3, UPLOAD_HEAD, end=False)
            await client.raw(FLOODS[what]().serialize() * 4000)
            await client.read(lambda: False)  # until it is closed
            assert app.heard < 3000
            await other.call(1)
            await other.read(lambda: other.ended == 1)
            assert other.statuses == ["200"]

    asyncio.run(attack())


def test_empty_pieces_of_a_body_are_not_kept(tmp_path: Path) -> None:
    async def attack() -> None:
        async with serving(tmp_path) as (app, _, connect):
            client = await connect()
            await client.call(1, UPLOAD_HEAD, end=False)
            await client.raw(DataFrame(1, b"").serialize() * 500)
            client.h2.send_data(1, b"all", end_stream=True)
            await client.flush()
            await client.read(lambda: client.ended == 1)
            assert app.heard <= 2

    asyncio.run(attack())


def test_streams_that_are_reset_at_once_begin_little_work(tmp_path: Path) -> None:
    async def attack() -> None:
        async with serving(tmp_path) as (app, _, connect):
            client = await connect()
            await client.call(1)
            await client.read(lambda: client.ended == 1)
            for stream in range(3, 3003, 2):
                client.h2.send_headers(stream, SLOW_HEAD, end_stream=True)
                client.h2.reset_stream(stream)
            await client.raw(client.h2.data_to_send())
            await client.read(lambda: False)
            assert client.told_to_stop == 11  # enhance your calm
            assert app.begun <= 202

    asyncio.run(attack())


def test_a_client_that_calls_more_than_it_may_before_it_is_told_is_served_what_it_may(tmp_path: Path) -> None:
    async def burst() -> None:
        async with serving(tmp_path) as (_, _, connect):
            client = await connect()
            client.h2.remote_settings.update({3: 1000})
            for stream in range(1, 301, 2):
                client.h2.send_headers(stream, HEAD, end_stream=True)
            await client.flush()
            await client.read(lambda: client.ended == 150)
            assert client.statuses == ["200"] * 150

    asyncio.run(burst())


def test_what_is_under_way_over_http2_is_answered_before_the_server_stops(tmp_path: Path) -> None:
    async def stop() -> None:
        async with serving(tmp_path) as (app, port, connect):
            client, idle = await connect(), await connect()
            await idle.call(1)
            await idle.read(lambda: idle.ended == 1)
            await client.call(1, SLOW_HEAD)
            while app.begun < 2:
                await asyncio.sleep(0.01)
            closing = asyncio.create_task(port.close(5))
            await client.read(lambda: client.told_to_stop is not None)
            app.go_on.set()
            await closing
            rest = await client.reader.read(1 << 16)
            assert b"said" in rest
            await idle.read(lambda: False)
            assert idle.told_to_stop == 0

    asyncio.run(stop())


def test_light_frames_are_counted_however_they_are_cut() -> None:
    ping, data = pinged().serialize(), DataFrame(1, b"y" * 5000).serialize()
    sent = (ping + data) * 30
    for size in (1, 7, 9, 10, 17, 4096):
        frames = LightFrames(0.0)
        before = frames._left  # pyright: ignore[reportPrivateUsage]
        assert not any(frames.are_too_many(sent[at : at + size], 0.0) for at in range(0, len(sent), size))
        assert before - frames._left == 30  # pyright: ignore[reportPrivateUsage]


def test_light_frames_that_come_as_a_client_needs_them_meet_no_limit() -> None:
    frames = LightFrames(0.0)
    update = WindowUpdateFrame(0, window_increment=1).serialize()
    for _ in range(5000):
        frames.sent_piece()
        assert not frames.are_too_many(update * 4, 0.0)
    assert not any(frames.are_too_many(update * 500, second) for second in range(1, 60))
    assert frames.are_too_many(update * 4000, 60.0)
