"""Replies that arrive in pieces: what every streaming protocol does alike.

A streamed reply is put together into the body that the same protocol sends without streaming, so that reading a body
exists once. A stream that ends before its last word is a broken answer, never a short reply.
"""

import time
from collections.abc import AsyncGenerator
from typing import Any

from evalsi.infra.models.endpoint import Incoming, Unreadable, decode_json
from evalsi.infra.models.payload import inner
from evalsi.infra.models.server_sent_events import server_sent_events
from evalsi.schema import ErrorKind

_CROWDED = ("rate_limit", "overloaded", "429", "529")
_SHOWN_EVENTS = 20


class StreamedBody:
    """A body that grows event by event.

    Attributes:
        body: What has come, in the form of a body without streaming.
        finished: Whether the protocol's last word has come.
        received: The latest events as they came, as evidence.
    """

    def __init__(self, incoming: Incoming) -> None:
        self.body: dict[str, Any] = {}
        self.finished = False
        self.received: list[str] = []
        self._start_s = incoming.start_s
        self._first_token_s: float | None = None

    def generated(self) -> None:
        """The model has written something; the first time counts."""
        if self._first_token_s is None:
            self._first_token_s = time.perf_counter() - self._start_s

    def whole(self) -> dict[str, Any]:
        """The body, with `time_to_first_token_s`. Raises: Unreadable: the stream ended too early."""
        if not self.finished:
            raise Unreadable("ended its stream before the reply was complete", "\n".join(self.received).encode())
        return {**self.body, "time_to_first_token_s": self._first_token_s}


def is_event_stream(incoming: Incoming) -> bool:
    """Whether a stream comes; servers that cannot stream answer with the whole body."""
    return "text/event-stream" in incoming.headers.get("content-type", "")


async def read_events(incoming: Incoming, streamed: StreamedBody) -> AsyncGenerator[dict[str, Any]]:
    """The JSON objects of a stream, up to `[DONE]`. Raises: Unreadable: something else came.

    The body is read to its end also after `[DONE]`, because only then the connection can be used again.
    """
    async for event in server_sent_events(incoming.pieces()):
        if event.data.strip() == "[DONE]":
            streamed.finished = True
            continue
        streamed.received = [*streamed.received[-_SHOWN_EVENTS:], event.data]
        try:
            decoded: Any = decode_json(event.data.encode())
        except ValueError as error:
            raise Unreadable("sent an event that is no JSON", event.data.encode()) from error
        if not isinstance(decoded, dict):
            raise Unreadable("sent an event that is no JSON object", event.data.encode())
        yield decoded  # pyright: ignore[reportUnknownVariableType]


def kind_of_error(error: Any) -> ErrorKind:
    """What a failure that is reported within a stream means."""
    said = f"{inner(error, 'type')} {inner(error, 'code')}"
    return ErrorKind.RATE_LIMITED if any(word in said for word in _CROWDED) else ErrorKind.PROVIDER
