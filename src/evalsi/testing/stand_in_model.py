"""A language model that is not there: a real local HTTP server that answers like OpenAI's or Anthropic's, and fails on cue.

For tests, demos and measurements of everything that asks a model. It speaks four protocols on one port of 127.0.0.1
(`POST /v1/chat/completions`, `/v1/completions`, `/v1/responses` and `/v1/messages`), each with or without streaming;
`GET /v1/models` lets in whoever has the key, and `GET /stats` tells what it has seen.

    with StandInModel(Behaviour(latency_s=0.1, rate_limited=0.05)) as model:
        ask(model.base_url)

    python -m evalsi.testing.stand_in_model --port 0 --latency 0.1

Written on asyncio's protocols because it must be faster than what it measures, and because broken answers (a cut body, a
dropped connection) are what HTTP frameworks prevent.
"""

import argparse
import asyncio
import contextlib
import random
import re
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias, cast

import msgspec

from evalsi.testing.stand_in_replies import PROTOCOLS, Question, Reply, reply_body, reply_events

__all__ = ["FAILURES", "Behaviour", "Question", "Refused", "Reply", "StandInModel", "Stats", "sample_of"]

Failure: TypeAlias = Literal["rate_limited", "server_error", "overloaded", "hang", "truncated", "dropped", "redirect"]
FAILURES: tuple[Failure, ...] = (
    "rate_limited",
    "server_error",
    "overloaded",
    "hang",
    "truncated",
    "dropped",
    "redirect",
)

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\n(?:authorization:[ \t]*bearer|x-api-key:)[ \t]+([^\r\n]+)", re.IGNORECASE)
_REMEMBERED_QUESTIONS = 10_000


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with an error status and a body of its own."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = {}


Answer: TypeAlias = str | Reply | Refused
Script: TypeAlias = Sequence[Answer | Failure] | Callable[[Question], Answer] | str


@dataclass(kw_only=True)
class Behaviour:
    """How the stand-in answers. May be exchanged while it runs.

    Args:
        replies: One text for all; a list, used up in order and then repeated from its last; or a function. None answers
            a schema with a value that follows it, and anything else with "Verdict: CORRECT".
        latency_s: Seconds until the first byte of an answer.
        latency_spread_s: Up to this much more, evenly distributed.
        retry_after: Value of the Retry-After header of a 429 or 529: seconds, an HTTP date, or None for no header.
        slow_body_s: Seconds between the two halves of a body.
        token_interval_s: Seconds between the pieces of a streamed reply.
        rate_limited, server_error, overloaded, hang, truncated, dropped: Share of requests, from 0 to 1, that fail so.
        refused_parameters: Names of request parameters that are answered with a 400 naming them.
        api_key: When set, any other key is answered with 401.
        seed: Which requests fail is a pure function of it and of their order.
    """

    replies: Script | None = None
    latency_s: float = 0.0
    latency_spread_s: float = 0.0
    retry_after: str | None = "0"
    slow_body_s: float = 0.0
    token_interval_s: float = 0.0
    rate_limited: float = 0.0
    server_error: float = 0.0
    overloaded: float = 0.0
    hang: float = 0.0
    truncated: float = 0.0
    dropped: float = 0.0
    refused_parameters: frozenset[str] = frozenset()
    api_key: str | None = None
    seed: int = 0


@dataclass(kw_only=True)
class Stats:
    """What the stand-in has seen so far."""

    requests: int = 0
    under_way: int = 0
    most_under_way: int = 0
    connections: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    questions: deque[Question] = field(default_factory=lambda: deque[Question](maxlen=_REMEMBERED_QUESTIONS))
    arrivals_s: deque[float] = field(default_factory=lambda: deque[float](maxlen=_REMEMBERED_QUESTIONS))
    """Monotonic times of the requests in `questions`."""


class StandInModel:
    """The server, in a thread of its own while the `with` block lasts."""

    def __init__(self, behaviour: Behaviour | None = None, *, port: int = 0) -> None:
        self.behaviour = behaviour or Behaviour()
        self.stats = Stats()
        self.port = port
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._stopped: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self.random = random.Random(self.behaviour.seed)
        self._script_position = 0
        self.open_connections: set[_Connection] = set()

    @property
    def root_url(self) -> str:
        """`http://127.0.0.1:PORT`, the base URL of Anthropic's protocol."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`, the base URL of OpenAI's protocol."""
        return f"{self.root_url}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="stand-in-model", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        assert self._stopped is not None
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    def drop_connections(self) -> None:
        """Closes every open connection, as a server that restarts does. For tests of the `with` form."""
        assert self._loop is not None
        closed = threading.Event()

        def close() -> None:
            for connection in list(self.open_connections):
                connection.abort()
            closed.set()

        self._loop.call_soon_threadsafe(close)
        closed.wait()

    async def start(self) -> asyncio.Server:
        """Listens on the running event loop; sets `port`."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # Whatever it is, it belongs to whoever started the thread.
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        server = await self.start()
        self._ready.set()
        await self._stopped.wait()
        server.close()
        for connection in list(self.open_connections):
            connection.abort()
        await asyncio.sleep(0)

    def next_answer(self, question: Question) -> Answer | Failure:
        """What this request gets: a failure by chance, else the script's next answer."""
        behaviour = self.behaviour
        chance = self.random.random()
        for failure in FAILURES[:-1]:
            share: float = getattr(behaviour, failure)
            if chance < share:
                return failure
            chance -= share
        replies = behaviour.replies
        if replies is None:
            return _default_reply(question)
        if isinstance(replies, str):
            return replies
        if callable(replies):
            return replies(question)
        position = min(self._script_position, len(replies) - 1)
        self._script_position += 1
        return replies[position]


class _Connection(asyncio.Protocol):
    """One client connection: requests one after the other, pipelined ones queued by the buffer."""

    def __init__(self, model: StandInModel) -> None:
        self._model = model
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._model.stats.connections += 1
        self._model.open_connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._transport = None
        self._model.open_connections.discard(self)
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._task is None:
            self._serve_buffered()

    def _serve_buffered(self) -> None:
        """Answers what is complete; stops at an answer that takes time, which calls this again when it is out."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self._buffer[:end])
            length = _LENGTH.search(head)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < size:
                return
            body = bytes(self._buffer[end + 4 : size])
            del self._buffer[:size]
            if not self._answer(head, body):
                return

    def _answer(self, head: bytes, body: bytes) -> bool:
        """Whether the answer is out; else a task is on its way with it."""
        stats, behaviour = self._model.stats, self._model.behaviour
        method, path, *_ = head.split(b" ", 2)
        key = _KEY.search(head)
        is_known = behaviour.api_key is None or (key is not None and key[1].decode() == behaviour.api_key)
        if method in (b"GET", b"HEAD"):
            self._look(method, path, is_known)
            return True
        protocol = PROTOCOLS.get(path.split(b"?")[0])
        if protocol is None:
            self._write(_refusal(Refused(status=404, message=f"no such path: {path.decode(errors='replace')}")))
            return True
        stats.requests += 1
        if not is_known:
            shown = key[1].decode() if key else ""
            self._finish(
                Refused(status=401, message=f"Incorrect API key provided: {shown}", code="invalid_api_key"), None
            )
            return True
        try:
            question = Question(protocol=protocol, body=msgspec.json.decode(body), number=stats.requests)
        except msgspec.DecodeError:
            self._finish(Refused(status=400, message="the body is no JSON"), None)
            return True
        stats.questions.append(question)
        stats.arrivals_s.append(time.monotonic())
        stats.under_way += 1
        stats.most_under_way = max(stats.most_under_way, stats.under_way)
        refused = next((name for name in question.body if name in behaviour.refused_parameters), None)
        answer: Answer | Failure
        if refused is not None:
            answer = Refused(
                status=400, message=f"Unsupported parameter: '{refused}'", param=refused, code="unsupported_parameter"
            )
        else:
            answer = self._model.next_answer(question)
        streams_slowly = question.streams and behaviour.token_interval_s > 0
        if behaviour.latency_s <= 0 and behaviour.slow_body_s <= 0 and answer != "hang" and not streams_slowly:
            stats.under_way -= 1
            self._finish(answer, question)
            return True
        self._task = asyncio.get_running_loop().create_task(self._answer_later(answer, question))
        return False

    async def _answer_later(self, answer: Answer | Failure, question: Question) -> None:
        behaviour = self._model.behaviour
        try:
            if answer == "hang":
                await asyncio.sleep(3600)
            delay_s = behaviour.latency_s
            if behaviour.latency_spread_s:
                delay_s += self._model.random.random() * behaviour.latency_spread_s
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            if question.streams and behaviour.token_interval_s > 0 and _is_reply(answer):
                await self._stream_slowly(answer, question)
            elif behaviour.slow_body_s > 0 and isinstance(answer, (str, Reply)) and answer not in FAILURES:
                whole = _response(200, _reply_body(answer, question))
                self._model.stats.outcomes["answered"] += 1
                half = len(whole) - 20
                self._write(whole[:half])
                await asyncio.sleep(behaviour.slow_body_s)
                self._write(whole[half:])
            else:
                self._finish(answer, question)
        finally:
            self._model.stats.under_way -= 1
            self._task = None
        self._serve_buffered()

    def _finish(self, answer: Answer | Failure, question: Question | None) -> None:
        """Counts, then writes: whoever has read the answer finds it counted."""
        is_failure = isinstance(answer, str) and answer in FAILURES
        outcome = answer if is_failure else "refused" if isinstance(answer, Refused) else "answered"
        self._model.stats.outcomes[str(outcome)] += 1
        headers = (
            {} if self._model.behaviour.retry_after is None else {"Retry-After": self._model.behaviour.retry_after}
        )
        match answer:
            case "rate_limited":
                self._write(_refusal(Refused(status=429, message="Rate limit reached", headers=headers)))
            case "overloaded":
                self._write(_refusal(Refused(status=529, message="Overloaded", headers=headers)))
            case "server_error":
                self._write(_refusal(Refused(status=500, message="The server had an error")))
            case "redirect":
                self._write(
                    _refusal(Refused(status=307, message="moved", headers={"Location": "http://127.0.0.2:9/v1"}))
                )
            case Refused():
                self._write(_refusal(answer))
            case _ if question is not None and question.streams:
                events = reply_events(_as_reply(_CUT if answer in ("truncated", "dropped") else answer), question)
                if answer in ("truncated", "dropped"):
                    # As a proxy that ran out of time does: a clean end, or none, in the middle of the reply.
                    events = events[: len(events) // 2]
                self._write(_STREAM_HEAD + b"".join(_chunk(event) for event in events))
                self._write(b"" if answer == "dropped" else _LAST_CHUNK)
                if answer == "dropped" and self._transport is not None:
                    self._transport.close()
            case _:
                assert question is not None
                whole = _response(200, _reply_body(answer, question))
                if answer == "truncated":
                    whole = _response(200, _reply_body("cut", question)[:-25])
                self._write(whole[:-25] if answer == "dropped" else whole)
                if answer == "dropped" and self._transport is not None:
                    self._transport.close()

    def _look(self, method: bytes, path: bytes, is_known: bool) -> None:
        """Answers GET and HEAD."""
        if method == b"HEAD":
            self._write(b"HTTP/1.1 405 Stand-In\r\ncontent-length: 0\r\n\r\n")
        elif path.endswith(b"/models"):
            refused = Refused(status=401, message="Incorrect API key provided", code="invalid_api_key")
            listed = {"object": "list", "data": [{"id": "stand-in", "object": "model"}]}
            self._write(_response(200, msgspec.json.encode(listed)) if is_known else _refusal(refused))
        else:
            self._write(_response(200, _stats_body(self._model.stats)))

    async def _stream_slowly(self, answer: Any, question: Question) -> None:
        self._model.stats.outcomes["answered"] += 1
        self._write(_STREAM_HEAD)
        for event in reply_events(_as_reply(answer), question):
            self._write(_chunk(event))
            await asyncio.sleep(self._model.behaviour.token_interval_s)
        self._write(_LAST_CHUNK)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


_STREAM_HEAD = (
    b"HTTP/1.1 200 Stand-In\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
_CUT = "cut in the middle of what it was about to say"
_LAST_CHUNK = b"0\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _is_reply(answer: Any) -> bool:
    return isinstance(answer, Reply) or (isinstance(answer, str) and answer not in FAILURES)


def _response(status: int, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} Stand-In\r\ncontent-type: application/json\r\n{more}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _refusal(refused: Refused) -> bytes:
    error = {"message": refused.message, "type": "stand_in_error", "param": refused.param, "code": refused.code}
    return _response(refused.status, msgspec.json.encode({"type": "error", "error": error}), refused.headers)


def _as_reply(answer: str | Reply) -> Reply:
    return Reply(text=answer) if isinstance(answer, str) else answer


def _reply_body(answer: str | Reply, question: Question) -> bytes:
    return msgspec.json.encode(reply_body(_as_reply(answer), question))


def _default_reply(question: Question) -> str:
    schema = question.schema
    return "Verdict: CORRECT" if schema is None else msgspec.json.encode(sample_of(schema)).decode()


def sample_of(schema: dict[str, Any]) -> Any:
    """A value that follows a JSON Schema of the subset that providers enforce: the middle, the first, the shortest."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: sample_of(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [sample_of(schema.get("items", {}))]
        case "number":
            return (schema.get("minimum", 0) + schema.get("maximum", 1)) / 2
        case "integer":
            return int(schema.get("minimum", 1))
        case "boolean":
            return True
        case _:
            return "because"


def _stats_body(stats: Stats) -> bytes:
    return msgspec.json.encode(
        {
            "requests": stats.requests,
            "connections": stats.connections,
            "most_under_way": stats.most_under_way,
            "outcomes": dict(stats.outcomes),
        }
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the stand-in until it is stopped; prints its base URL first."""
    parser = argparse.ArgumentParser(
        prog="python -m evalsi.testing.stand_in_model", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--latency-spread", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--reply", help="answer every question with this text")
    parser.add_argument("--retry-after", default="0", metavar="SECONDS")
    parser.add_argument("--slow-body", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--token-interval", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    for failure in FAILURES[:-1]:
        parser.add_argument(f"--{failure.replace('_', '-')}", type=float, default=0.0, metavar="SHARE")
    options = parser.parse_args(arguments)
    shares = {failure: getattr(options, failure) for failure in FAILURES[:-1]}
    behaviour = Behaviour(
        replies=options.reply,
        latency_s=options.latency,
        latency_spread_s=options.latency_spread,
        retry_after=options.retry_after,
        slow_body_s=options.slow_body,
        token_interval_s=options.token_interval,
        seed=options.seed,
        **shares,
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(StandInModel(behaviour, port=options.port)))
    return 0


async def _serve(model: StandInModel) -> None:
    server = await model.start()
    sys.stdout.write(f"{model.base_url}\n")
    sys.stdout.flush()
    stopped = asyncio.Event()
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    server.close()


if __name__ == "__main__":
    sys.exit(main())
