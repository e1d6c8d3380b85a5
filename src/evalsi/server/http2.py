"""HTTP/2 for everything but gRPC: the streams of a connection become requests to the application, many at a time.

Its own module because uvicorn speaks HTTP/1.1 only. The frames are h2's; here are the streams. What always holds: a client
that sends faster than it is read, or reads slower than it is answered, is held up by the windows of HTTP/2 and takes no
memory for it; a client that opens streams only to reset them, or sends frames that carry nothing, is cut off.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

from evalsi.server.exchange import Receive, Scope, Send
from evalsi.server.first_frames import PREFACE, WithoutFirstAcknowledgement
from evalsi.server.light_frames import LightFrames

App = Callable[[Scope, Receive, Send], Any]

IDLE_S = 75.0
"""Seconds a connection without a request stays open."""
STALLED_S = 60.0
"""Seconds a client may leave no room for its answer."""
_MOST_STREAMS = 100
_MOST_BEFORE_TOLD = 1000
"""Streams of a client that has not heard yet how many there may be: more than are served are refused, one by one, and may be
asked for again; beyond these the connection is at an end."""
_MOST_HEAD_BYTES = 64 << 10
_MOST_RESETS = 200
"""Streams that a client may reset on one connection beyond those that it let end."""
_PIECE = 1 << 16
_AT_ONCE = 1 << 14
"""Bytes that are read before it is looked at what was in them: so much of a flood is read in vain."""
_MOST_UNREAD_BYTES = 8 << 20
"""What may wait for a client that does not read: a piece for each stream, and some."""
_LAST_WORDS_S = 5.0
"""Seconds a client has to read what was sent to it before the end."""
_WINDOW_BYTES = 1 << 20
"""What all requests of a connection together may send before it is read."""
_HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"})


class Http2(asyncio.Protocol):
    """One connection.

    Args:
        app: The ASGI application.
        state: uvicorn's, which knows connections and requests under way, and the headers of every answer.

    SETTINGS that set nothing were sent before it (`first_frames`), and their acknowledgement is none of ours.
    """

    def __init__(self, app: App, state: Any) -> None:
        self._app = app
        self._state = state
        self._frames = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        first: dict[SettingCodes, int] = {
            SettingCodes.MAX_CONCURRENT_STREAMS: _MOST_BEFORE_TOLD,
            SettingCodes.MAX_HEADER_LIST_SIZE: _MOST_HEAD_BYTES,
        }
        self._frames.local_settings = Settings(client=False, initial_values=first)
        self._passing = WithoutFirstAcknowledgement()
        self._streams: dict[int, _Stream] = {}
        self._writable = asyncio.Event()
        self._writable.set()
        self._resets = 0
        self._light = LightFrames(asyncio.get_running_loop().time())
        self._preface_left = len(PREFACE)
        self._closing = False
        self._cut_off = False
        self._idle: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._state.connections.add(self)
        self._frames.initiate_connection()
        limits: dict[SettingCodes | int, int] = {
            SettingCodes.MAX_CONCURRENT_STREAMS: _MOST_STREAMS,
            SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW_BYTES // 2,
        }
        self._frames.update_settings(limits)
        self._frames.increment_flow_control_window(_WINDOW_BYTES)
        self.flush()
        self._rest()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._state.connections.discard(self)
        self._closing = True
        self._writable.set()
        if self._idle is not None:
            self._idle.cancel()
        for stream in list(self._streams.values()):
            stream.disconnect()

    def data_received(self, data: bytes) -> None:
        if self._cut_off:
            return
        assert self.transport is not None
        counted = data[self._preface_left :]
        self._preface_left = max(0, self._preface_left - len(data))
        if self._light.are_too_many(counted, asyncio.get_running_loop().time()):
            self._cut()
            return
        if self.transport.get_write_buffer_size() > _MOST_UNREAD_BYTES:
            self.transport.abort()
            return
        data = self._passing.pass_on(data)
        for at in range(0, len(data), _AT_ONCE):
            try:
                events = self._frames.receive_data(data[at : at + _AT_ONCE])
            except (H2Error, ValueError, KeyError):
                self._close()
                return
            for event in events:
                self._take(event)
                if self._cut_off:
                    return
        self.flush()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def shutdown(self) -> None:
        """Takes no more requests; those under way may end."""
        if self._closing:
            return
        self._closing = True
        self.flush()
        if self.transport is not None and not self.transport.is_closing():
            # Not h2's way of saying so, after which it neither sends what is under way nor reads its end.
            last = self._frames.highest_inbound_stream_id
            self.transport.write(GoAwayFrame(0, last_stream_id=last).serialize())
        if not self._streams:
            self._close()

    def flush(self) -> None:
        data = self._frames.data_to_send()
        if data and self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def forget(self, stream_id: int) -> None:
        self._streams.pop(stream_id, None)
        if not self._streams:
            if self._closing:
                self._close()
            else:
                self._rest()

    async def when_writable(self) -> None:
        """Raises: TimeoutError: the client reads nothing."""
        if not self._writable.is_set():
            async with asyncio.timeout(STALLED_S):
                await self._writable.wait()

    def sent_piece(self) -> None:
        self._light.sent_piece()
        self.flush()

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._end_of_rest)

    def _end_of_rest(self) -> None:
        if not self._streams:
            self.shutdown()

    def _cut(self) -> None:
        """Ends a connection whose client takes more than it may."""
        with suppress(H2Error):
            self._frames.close_connection(ErrorCodes.ENHANCE_YOUR_CALM)
        self._close()

    def _close(self) -> None:
        """Nothing more is read; what was written is sent, for as long as a client may take."""
        self._cut_off = self._closing = True
        for stream in list(self._streams.values()):
            stream.disconnect()
        self.flush()
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, self.transport.abort)

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived():
                self._begin(event)
            case DataReceived():
                stream = self._streams.get(event.stream_id)
                if stream is None or not event.data:  # it was answered without being read to its end
                    self.acknowledge(event.flow_controlled_length, event.stream_id)
                else:
                    stream.body.append((event.data, event.flow_controlled_length))
                    stream.news.set()
            case StreamEnded():
                if (stream := self._streams.get(event.stream_id)) is not None:
                    stream.whole = True
                    stream.news.set()
            case StreamReset():
                self._resets += 1
                if (stream := self._streams.get(event.stream_id)) is not None:
                    stream.disconnect()
                if self._resets > _MOST_RESETS:
                    self._cut()
            case WindowUpdated():
                ids = [event.stream_id] if event.stream_id else list(self._streams)
                for each in ids:
                    if (stream := self._streams.get(each)) is not None:
                        stream.room.set()
            case ConnectionTerminated():
                self._close()
            case RemoteSettingsChanged():
                for stream in self._streams.values():  # they may have made room
                    stream.room.set()
            case _:
                pass

    def _begin(self, event: RequestReceived) -> None:
        if self._closing or len(self._streams) >= 2 * _MOST_STREAMS:
            with suppress(H2Error):
                self._frames.reset_stream(event.stream_id, ErrorCodes.REFUSED_STREAM)
            return
        assert self.transport is not None
        if self._idle is not None:
            self._idle.cancel()
        stream = _Stream(self, self._frames, event.stream_id)
        self._streams[event.stream_id] = stream
        task = asyncio.get_running_loop().create_task(
            stream.run(self._app, scope_of(event.headers, self.transport), self._state.default_headers)
        )
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)
        task.add_done_callback(lambda _: self._ended_well(stream))

    def _ended_well(self, stream: "_Stream") -> None:
        if not stream.gone:
            self._resets = max(0, self._resets - 1)

    def acknowledge(self, count: int, stream_id: int) -> None:
        if count:
            with suppress(H2Error):
                self._frames.acknowledge_received_data(count, stream_id)
            self.flush()


class _Stream:
    """One request and its answer."""

    def __init__(self, connection: Http2, frames: H2Connection, stream_id: int) -> None:
        self._connection = connection
        self._frames = frames
        self._id = stream_id
        self.body: deque[tuple[bytes, int]] = deque()
        """Pieces that came, each with what it took of the window."""
        self.whole = False
        """Whether the request came to its end."""
        self.gone = False
        """Whether the client wants no answer any more."""
        self.news = asyncio.Event()
        self.room = asyncio.Event()
        self._told_whole = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._head = False
        self._ended = False

    async def run(self, app: App, scope: Scope, default_headers: list[tuple[bytes, bytes]]) -> None:
        self._headers = default_headers
        try:
            await app(scope, self.receive, self.send)
        finally:
            if not self._ended and not self.gone:
                with suppress(H2Error):
                    self._frames.reset_stream(self._id, ErrorCodes.INTERNAL_ERROR)
            while self.body:
                self._connection.acknowledge(self.body.popleft()[1], self._id)
            self._connection.flush()
            self._connection.forget(self._id)

    def disconnect(self) -> None:
        self.gone = True
        self.news.set()
        self.room.set()

    async def receive(self) -> dict[str, Any]:
        while True:
            if self.body:
                data, took = self.body.popleft()
                self._connection.acknowledge(took, self._id)
                more = bool(self.body) or not self.whole
                self._told_whole = not more
                return {"type": "http.request", "body": data, "more_body": more}
            if self.gone or self._ended:
                return {"type": "http.disconnect"}
            if self.whole and not self._told_whole:
                self._told_whole = True
                return {"type": "http.request", "body": b"", "more_body": False}
            self.news.clear()
            await self.news.wait()

    async def send(self, message: Any) -> None:
        if self.gone:
            return
        try:
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message["headers"]]
                kept = [(name, value) for name, value in (*self._headers, *given) if name not in _HOP_BY_HOP]
                self._frames.send_headers(self._id, [(b":status", str(message["status"]).encode()), *kept])
                # A body that comes in the same turn of the loop leaves in the same write.
                asyncio.get_running_loop().call_soon(self._connection.flush)
            elif message["type"] == "http.response.body":
                await self._send_body(message.get("body", b""), end=not message.get("more_body", False))
        except H2Error:
            self.gone = True  # the client has reset it, or the connection is closed

    async def _send_body(self, data: bytes, *, end: bool) -> None:
        view = memoryview(data)
        while view and not self.gone:
            try:
                await self._connection.when_writable()
            except TimeoutError:
                self._give_up()
                return
            room = min(self._frames.local_flow_control_window(self._id), self._frames.max_outbound_frame_size, _PIECE)
            if room <= 0:
                await self._wait_for_room()
                continue
            last = end and room >= len(view)
            self._frames.send_data(self._id, bytes(view[:room]), end_stream=last)
            self._ended = last
            self._connection.sent_piece()
            view = view[room:]
        if end and not self.gone:
            if not self._ended:
                self._frames.end_stream(self._id)
                self._ended = True
                self._connection.flush()
            self.news.set()

    async def _wait_for_room(self) -> None:
        self.room.clear()
        try:
            async with asyncio.timeout(STALLED_S):
                await self.room.wait()
        except TimeoutError:
            self._give_up()

    def _give_up(self) -> None:
        """Raises: H2Error: the stream is closed already."""
        self._frames.reset_stream(self._id, ErrorCodes.CANCEL)
        self.disconnect()


def scope_of(headers: Any, transport: asyncio.Transport) -> Scope:
    """The ASGI scope of a request whose pseudo-headers say where it goes."""
    told = {bytes(name): bytes(value) for name, value in headers if bytes(name).startswith(b":")}
    rest = [(bytes(name), bytes(value)) for name, value in headers if not bytes(name).startswith(b":")]
    cookies = [value for name, value in rest if name == b"cookie"]
    if len(cookies) > 1:  # HTTP/2 may send them apart
        rest = [(name, value) for name, value in rest if name != b"cookie"] + [(b"cookie", b"; ".join(cookies))]
    if b":authority" in told and not any(name == b"host" for name, _ in rest):
        rest.append((b"host", told[b":authority"]))
    raw_path, _, query = told.get(b":path", b"/").partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "2",
        "method": told.get(b":method", b"GET").decode("latin-1"),
        "scheme": "https" if transport.get_extra_info("ssl_object") is not None else "http",
        "path": unquote(raw_path.decode("latin-1")),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": rest,
        "client": _address(transport.get_extra_info("peername")),
        "server": _address(transport.get_extra_info("sockname")),
    }


def _address(name: Any) -> tuple[str, int] | None:
    return (str(name[0]), int(name[1])) if name else None
