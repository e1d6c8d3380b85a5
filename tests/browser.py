"""A headless Chromium spoken to over its debugging protocol, where there is one."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)


class Tab:
    """One page. `requests` holds the addresses of everything it asked for."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._last = 0
        self.requests: list[str] = []

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        await self._socket.send_json({"id": self._last, "method": method, "params": params})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            if message.get("id") == self._last:
                assert "error" not in message, message
                return message["result"]

    async def evaluate(self, expression: str) -> Any:
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def open(self, page: Path | str, *, width: int = 1400, height: int = 900, scheme: str = "light") -> None:
        await self.call("Network.enable")
        await self.call("Page.enable")
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await self.call("Page.navigate", url=page.as_uri() if isinstance(page, Path) else page)
        await self.loaded()

    async def loaded(self) -> None:
        """Returns when the page is there."""
        for _ in range(2400):
            if await self.evaluate("document.readyState") == "complete":
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the page did not load")

    async def picture(self, file: Path) -> None:
        """Writes a picture of what is to be seen, as PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(b64decode(answer["data"]))

    async def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")


@contextlib.asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Tab]:
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stderr is not None
    try:
        port = ""
        async with asyncio.timeout(120):
            while not port:
                line = await process.stderr.readline()
                assert line, "Chromium ended before it was ready"
                found = re.search(rb"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line)
                port = found[1].decode() if found else ""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/json") as answer,
        ):
            pages = [one for one in await answer.json() if one["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket)
    finally:
        process.terminate()
        await process.communicate()
