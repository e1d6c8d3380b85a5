"""A stand-in for a chat model that costs next to nothing: the same reply to everybody, its length known beforehand.

    python bench/lean_model.py [--latency 0.1] [--reply yes]

Beside `evalsi.testing.stand_in_model`, which looks into each question, so that on a machine of two cores the one that is
measured keeps its own. Prints its base URL. `GET /stats` gives what came since the last look: requests, the most at once,
and the seconds from the first request to the last answer.
"""

import argparse
import asyncio
import json
import re
import time
from typing import cast

LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)


class Seen:
    def __init__(self) -> None:
        self.requests = self.under_way = self.most_under_way = 0
        self.first_s = self.last_s = 0.0

    def take(self) -> bytes:
        found = {
            "requests": self.requests,
            "most_under_way": self.most_under_way,
            "span_s": round(self.last_s - self.first_s, 4),
        }
        self.__init__()
        return json.dumps(found).encode()


class Connection(asyncio.Protocol):
    def __init__(self, seen: Seen, answer: bytes, latency_s: float) -> None:
        self.seen, self.answer, self.latency_s = seen, answer, latency_s
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self.buffer, 0, end + 2)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self.buffer) < size:
                return
            is_question, path = self.buffer.startswith(b"POST"), self.buffer[:40]
            self.buffer = self.buffer[size:]
            if not is_question:
                self.transport.write(response(self.seen.take() if b"/stats" in path else b'{"data":[]}'))
                continue
            seen = self.seen
            seen.first_s = seen.first_s or time.perf_counter()
            seen.requests += 1
            seen.under_way += 1
            seen.most_under_way = max(seen.most_under_way, seen.under_way)
            if self.latency_s:
                asyncio.get_running_loop().call_later(self.latency_s, self.reply)
            else:
                self.reply()

    def reply(self) -> None:
        self.seen.under_way -= 1
        self.seen.last_s = time.perf_counter()
        if not self.transport.is_closing():
            self.transport.write(self.answer)


def response(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


async def serve(latency_s: float, reply: str) -> None:
    message = {"role": "assistant", "content": reply}
    usage = {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 13}
    choice = {"index": 0, "message": message, "text": reply, "finish_reason": "stop", "logprobs": None}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    answer, seen = response(json.dumps(body).encode()), Seen()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(seen, answer, latency_s), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--reply", default="yes")
    options = parser.parse_args()
    asyncio.run(serve(options.latency, options.reply))


if __name__ == "__main__":
    main()
