"""An agent behind a URL: a template says what is sent, paths say where the answer stands.

Redirects are never followed (they could carry a header with a key to another host), and a record decides neither the host
nor the form of the body. A failed call is made again like any call to a model, so an agent whose calls have effects wants
`max_retries: 0`.
"""

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from evalsi.core.errors import ProviderError, TargetError
from evalsi.infra.models.endpoint import Answer as HttpAnswer
from evalsi.infra.models.endpoint import Endpoint, Incoming, Outgoing, Unreadable
from evalsi.infra.models.server_sent_events import server_sent_events
from evalsi.infra.models.streams import is_event_stream
from evalsi.infra.targets.answer_pieces import EMPTY_NOTE, content_of, is_empty, trajectory_of, usage_of
from evalsi.infra.targets.chat_target import of_target
from evalsi.infra.targets.json_path import MISSING, JsonPath, outline
from evalsi.infra.targets.questions import PlacedTemplate
from evalsi.ports.target import Answer, TargetTask
from evalsi.schema import Content

_SHOWN_CHARACTERS = 2_000
_LINES_TYPES = ("application/x-ndjson", "application/jsonl", "application/json-seq", "application/x-jsonlines")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class AnswerPaths:
    """Where the parts of an answer stand. An empty `output` is the whole answer."""

    output: JsonPath
    messages: JsonPath
    usage: JsonPath
    trajectory: JsonPath
    stop_reason: JsonPath
    delta: JsonPath


@dataclass(frozen=True, kw_only=True)
class HttpQuestion:
    """What is sent: `body` is None for methods without one. `stream` reads the answer as events."""

    method: str
    url: PlacedTemplate
    body: PlacedTemplate | None
    paths: AnswerPaths
    stream: bool
    name: str


@dataclass
class _Streamed:
    """What a stream has said so far."""

    start_s: float
    text: list[str] = field(default_factory=list[str])
    usage: Any = None
    stop_reason: Any = None
    trajectory: Any = MISSING
    messages: Any = MISSING
    output: Any = MISSING
    first_token_s: float | None = None


class HttpTarget:
    """Implements `ports.target.Target` on an HTTP endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        question: HttpQuestion,
        *,
        identity: dict[str, Any],
    ) -> None:
        self._endpoint = endpoint
        self._question = question
        self._identity = identity

    @property
    def identity(self) -> dict[str, Any]:
        """Connector, address, method, template and paths; names of headers, never their values."""
        return self._identity

    @property
    def capabilities(self) -> frozenset[str]:
        """By which paths were given."""
        paths = self._question.paths
        offered = {
            "messages": True,
            "usage": bool(paths.usage),
            "trajectory": bool(paths.trajectory),
            "tools": bool(paths.messages) or bool(paths.trajectory),
            "streaming": self._question.stream,
        }
        return frozenset(name for name, is_offered in offered.items() if is_offered)

    @property
    def needs(self) -> frozenset[str]:
        """What the address and the body name."""
        body = self._question.body
        return self._question.url.needs | (frozenset[str]() if body is None else body.needs)

    async def check(self) -> str:
        """Asks with HEAD, which does nothing; only credentials that are not accepted count as a bad answer."""
        try:
            return await self._endpoint.check(self._question.url.fixed, method="HEAD")
        except ProviderError as error:
            raise of_target(error) from error

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`. Raises: TargetError: the answer does not hold what the paths name."""
        question = self._question
        body = None if question.body is None else question.body.fill(task.record).encode()
        url = question.url.fill(task.record)
        sent = Outgoing(model=question.name, body=body, method=question.method, url=url)
        try:
            if question.stream:
                streamed = await self._endpoint.ask(sent, self._read_stream)
                answer = self._of_stream(streamed)
            else:
                answer = self._of_body(await self._endpoint.ask(sent, _read_body))
        except ProviderError as error:
            raise of_target(error) from error
        digest = hashlib.sha256(f"{question.method} {url}\n".encode() + (body or b"")).hexdigest()
        return msgspec.structs.replace(answer, request_digest=f"sha256:{digest}")

    async def close(self) -> None:
        """Closes the connections."""
        await self._endpoint.close()

    def _of_body(self, http: HttpAnswer[Any]) -> Answer:
        paths, body = self._question.paths, http.body
        messages = paths.messages.find(body) if paths.messages else MISSING
        if paths.output or not paths.messages:
            found = paths.output.find(body)
            if found is MISSING or found is None:
                raise self._nothing_at(paths.output, body)
            output = content_of(found)
        else:
            if messages is MISSING or messages is None:
                raise self._nothing_at(paths.messages, body)
            output = content_of(messages)
        return self._made(
            http,
            output,
            usage=paths.usage.find(body) if paths.usage else None,
            stop_reason=paths.stop_reason.find(body) if paths.stop_reason else None,
            trajectory=paths.trajectory.find(body) if paths.trajectory else None,
            messages=messages if paths.output else MISSING,
        )

    def _of_stream(self, http: HttpAnswer[_Streamed]) -> Answer:
        streamed = http.body
        if streamed.text or streamed.output is MISSING:
            output = Content(text="".join(streamed.text))
        else:
            output = content_of(streamed.output)
        made = self._made(
            http,
            output,
            usage=streamed.usage,
            stop_reason=streamed.stop_reason,
            trajectory=streamed.trajectory,
            messages=streamed.messages,
        )
        return msgspec.structs.replace(made, time_to_first_token_s=streamed.first_token_s)

    def _made(
        self, http: HttpAnswer[Any], output: Content, *, usage: Any, stop_reason: Any, trajectory: Any, messages: Any
    ) -> Answer:
        steps, trajectory_note = trajectory_of(trajectory)
        notes = [note for note in (trajectory_note, EMPTY_NOTE if is_empty(output) else "") if note]
        used = usage_of(usage)
        return Answer(
            output=output,
            usage=msgspec.structs.replace(used, latency=http.latency_s, requests=http.retries + 1),
            stop_reason=stop_reason if isinstance(stop_reason, str) and stop_reason else "stop",
            retries=http.retries,
            request_id=http.request_id,
            trajectory=steps,
            notes=tuple(notes),
            details={} if messages is MISSING else {"messages": messages},
        )

    def _nothing_at(self, path: JsonPath, body: Any) -> TargetError:
        return TargetError(
            f"the answer of {self._endpoint.access.host} has nothing at {path.text or 'its root'}: {outline(body)}",
            detail=msgspec.json.encode(body).decode()[:_SHOWN_CHARACTERS],
        )

    async def _read_stream(self, incoming: Incoming) -> _Streamed:
        streamed = _Streamed(incoming.start_s)
        if is_event_stream(incoming):
            async for event in server_sent_events(incoming.pieces()):
                if event.name == "error":
                    raise Unreadable(f"broke off its answer: {event.data[:200]}", event.data.encode())
                self._take(streamed, event.data)
        elif incoming.headers.get("content-type", "").split(";")[0].strip() in _LINES_TYPES:
            rest = b""
            async for piece in incoming.pieces():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._take(streamed, line.decode(errors="replace"))
            self._take(streamed, rest.decode(errors="replace"))
        else:
            raise Unreadable("was asked for a stream and answered with something else", await incoming.content())
        return streamed

    def _take(self, streamed: _Streamed, data: str) -> None:
        if not data.strip() or data.strip() == "[DONE]":
            return
        paths = self._question.paths
        try:
            event: Any = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError) as error:
            if paths.delta:
                raise Unreadable("sent an event that is no JSON", data.encode()) from error
            event = data
        if not paths.delta and isinstance(event, (dict, list)):
            raise TargetError("the stream sends JSON and no delta_path says where its text stands", detail=data[:2_000])
        delta = paths.delta.find(event) if paths.delta else data
        if isinstance(delta, str) and delta:
            if streamed.first_token_s is None:
                streamed.first_token_s = time.perf_counter() - streamed.start_s
            streamed.text.append(delta)
        for name in ("usage", "stop_reason", "trajectory", "messages", "output"):
            path: JsonPath = getattr(paths, name)
            if path and (found := path.find(event)) is not MISSING and found is not None:
                setattr(streamed, name, found)


async def _read_body(incoming: Incoming) -> Any:
    """The body: JSON where it says so or is so, else text."""
    content = await incoming.content()
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "json" in incoming.headers.get("content-type", "").lower():
            raise Unreadable("answered with a body that is no JSON", content) from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("answered with a body that is neither JSON nor text", content) from error
