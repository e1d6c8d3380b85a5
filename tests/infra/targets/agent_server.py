"""An HTTP agent for the tests: a small server whose answers are a function of the request."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec


@dataclass(frozen=True)
class Seen:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Said:
    """One answer; `pieces` are sent one after the other, and the connection is closed behind them."""

    pieces: list[bytes] = field(default_factory=list[bytes])
    status: int = 200
    content_type: str = "application/json"
    headers: str = ""
    pause_s: float = 0.0


class AgentServer:
    def __init__(self, answer: Callable[[Seen], Said | Any]) -> None:
        self._answer = answer
        self.seen: list[Seen] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        async def start() -> asyncio.Server:
            return await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)

        server = self._loop.run_until_complete(start())
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for open_task in asyncio.all_tasks(self._loop):
            open_task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            seen = Seen(method, path, headers, body)
            self.seen.append(seen)
            said = self._answer(seen)
            if not isinstance(said, Said):
                said = Said([msgspec.json.encode(said)])
            writer.write(
                f"HTTP/1.1 {said.status} X\r\ncontent-type: {said.content_type}\r\n{said.headers}"
                "connection: close\r\n\r\n".encode()
            )
            for piece in said.pieces if method != "HEAD" else ():
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(said.pause_s)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
