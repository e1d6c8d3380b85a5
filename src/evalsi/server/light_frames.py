"""Frames of HTTP/2 that carry next to nothing, counted before they are read: each costs its sender a few bytes, and the
server a place in line for everybody.

Its own module because it looks at lengths alone, which is quick enough to keep a flood out, and reading frames is not. What
always holds: who sends such frames as a client needs them (one now and then, and some for each piece of an answer) meets no
limit; who sends nothing else does within one read.
"""

from evalsi.server.first_frames import HEAD_BYTES, frame_head

_LIGHT_BELOW_BYTES = 64
_DATA, _HEADERS = 0, 1
_END_STREAM = 0x1
_MOST_AT_ONCE = 2000.0
_PER_SECOND = 1000.0
_PER_PIECE = 8
"""Clients say with every few KB they read that there is room for more, for the stream and for the connection."""


class LightFrames:
    """What one connection may still send of them."""

    def __init__(self, now_s: float) -> None:
        self._left = _MOST_AT_ONCE
        self._since_s = now_s
        self._head: bytes = b""
        """The first bytes of a frame's head that came without its last."""
        self._skip = 0
        """Bytes of the present frame that are still to come."""

    def are_too_many(self, data: bytes, now_s: float) -> bool:
        """Takes what came of a connection after its preface. True when the client has sent more than it may."""
        if found := self._count(data):
            self._left = min(_MOST_AT_ONCE, self._left + (now_s - self._since_s) * _PER_SECOND) - found
            self._since_s = now_s
        return self._left < 0

    def sent_piece(self) -> None:
        """A piece of an answer went out, which the client answers with frames of its own."""
        self._left = min(_MOST_AT_ONCE, self._left + _PER_PIECE)

    def _count(self, data: bytes) -> int:
        at, found = self._skip, 0
        if self._head:
            data = self._head + data
            self._head = b""
        while at + HEAD_BYTES <= len(data):
            size, kind, flags = frame_head(data, at)
            if size < _LIGHT_BELOW_BYTES and kind != _HEADERS and not (kind == _DATA and flags & _END_STREAM):
                found += 1
            at += HEAD_BYTES + size
        if at < len(data):
            self._head = data[at:]
            self._skip = 0
        else:
            self._skip = at - len(data)
        return found
