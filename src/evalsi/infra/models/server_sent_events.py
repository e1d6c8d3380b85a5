"""Server-sent events out of the pieces of a body, as the HTML standard defines them (section 9.2.6).

Its own module because three protocols and arbitrary HTTP agents stream so. Two differences to the standard, both towards
telling more: what stands at the end of a body without a closing blank line is an event too (servers forget it; a half
written one fails to decode and is noticed), and `id` and `retry` are passed over, since nobody reconnects.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterable, Generator
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One event: its type ("message" unless it says otherwise) and its data, lines joined."""

    name: str
    data: str


class EventReader:
    """Collects pieces and gives the events that are complete."""

    def __init__(self) -> None:
        self._buffer = b""
        self._begun = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Generator[ServerSentEvent]:
        """The events that `piece` completes."""
        self._buffer += piece
        if not self._begun:
            if len(self._buffer) < len(_BYTE_ORDER_MARK):
                return
            self._begun = True
            self._buffer = self._buffer.removeprefix(_BYTE_ORDER_MARK)
        *lines, self._buffer = _LINE_END.split(self._buffer)
        for line in lines:
            yield from self._line(line)

    def end(self) -> Generator[ServerSentEvent]:
        """The event that the end of the body completes, if any."""
        rest, self._buffer = self._buffer.rstrip(b"\r"), b""
        yield from self._line(rest)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Generator[ServerSentEvent]:
        if not line:
            if self._data:
                yield ServerSentEvent(self._name or "message", "\n".join(self._data))
            self._name, self._data = "", []
            return
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode(errors="replace")
        if name == b"data":
            self._data.append(text)
        elif name == b"event":
            self._name = text


async def server_sent_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[ServerSentEvent]:
    """The events of a body, each as soon as it is complete."""
    reader = EventReader()
    async for piece in pieces:
        for event in reader.feed(piece):
            yield event
    for event in reader.end():
        yield event
