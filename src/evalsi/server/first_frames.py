"""The beginning of an HTTP/2 connection: whose it is, told by the content type of its first call.

Its own module because gRPC is spoken by gRPC's own core and everything else here, and nothing before the first call tells
them apart. Clients wait for the server's SETTINGS before they call, so SETTINGS are sent at once; whoever takes the
connection over sends its own after them, which HTTP/2 allows at any time. Clients may also ask whether anybody is there
before they call; that is answered here and tells nothing. What always holds: gRPC's core never sees the acknowledgement of
SETTINGS that it did not send.
"""

import struct
from typing import Literal, TypeAlias

Speaker: TypeAlias = Literal["grpc", "http"]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""A frame of SETTINGS that sets nothing."""
GOAWAY = b"\x00\x00\x08\x07\x00" + bytes(12)
"""A frame that ends a connection without a fault before any of its calls: a client makes them on another one."""
HEAD_BYTES = 9
"""Before the payload of every frame."""
_HEAD = struct.Struct(">HBBBI")
_HEADERS, _PRIORITY, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 1, 2, 4, 6, 8, 9
_BEFORE_A_CALL = frozenset({_PRIORITY, _SETTINGS, _PING, _WINDOW_UPDATE})
_LAST_KNOWN = _CONTINUATION
"""Types above this one are of extensions, and ignored by who does not know them."""
_PING_BYTES = 8
_ACK, _END_HEADERS, _PADDED, _HAS_PRIORITY = 0x1, 0x4, 0x8, 0x20
_MOST_BYTES = 64 << 10


class FirstFrames:
    """What a client has sent so far, until it says who is to answer."""

    def __init__(self, received: bytes) -> None:
        self.received = bytearray(received)
        """Everything that is still to be answered, the preface first."""
        self._at = len(PREFACE)
        self._bytes = len(received)
        self._pings = bytearray()
        self._block = b""
        self._in_block = False

    def add(self, data: bytes) -> None:
        self.received += data
        self._bytes += len(data)

    @property
    def is_within_a_call(self) -> bool:
        """Whether a frame, or the head of a call, has begun and is not all there."""
        return self._in_block or len(self.received) > self._at

    def answers(self) -> bytes:
        """What is to be sent for what was asked since this was called last."""
        answers, self._pings = bytes(self._pings), bytearray()
        return answers

    def speaker(self) -> Speaker | None:
        """Who answers this connection; None while nobody knows. What is no usual beginning is left to gRPC's core."""
        while (frame := _frame_at(self.received, self._at)) is not None:
            kind, flags, payload = frame
            end = self._at + HEAD_BYTES + len(payload)
            if kind == _PING and not self._in_block and not flags & _ACK and len(payload) == _PING_BYTES:
                self._pings += _HEAD.pack(0, _PING_BYTES, _PING, _ACK, 0) + payload
                del self.received[self._at : end]
                continue
            self._at = end
            if self._in_block and kind == _CONTINUATION:
                self._block += payload
            elif not self._in_block and kind == _HEADERS:
                self._block = _without_padding(payload, flags)
                self._in_block = True
            elif self._in_block or (kind not in _BEFORE_A_CALL and kind <= _LAST_KNOWN):
                return "grpc"
            if self._in_block and flags & _END_HEADERS:
                return _speaker_of(self._block)
        return "grpc" if self._bytes > _MOST_BYTES else None


class WithoutFirstAcknowledgement:
    """Passes on what a client sends, but for the first acknowledgement of SETTINGS."""

    def __init__(self) -> None:
        self._rest = b""
        self._in_preface = len(PREFACE)
        self._left = 0
        """Bytes of the present frame that are still to come, and are passed on."""
        self._done = False

    def pass_on(self, data: bytes) -> bytes:
        if self._done:
            return data
        passed = bytearray()
        data = self._rest + data
        self._rest = b""
        at = min(self._in_preface, len(data))
        passed += data[:at]
        self._in_preface -= at
        while at < len(data):
            if self._left:
                taken = min(self._left, len(data) - at)
                passed += data[at : at + taken]
                self._left -= taken
                at += taken
                continue
            head = data[at : at + HEAD_BYTES]
            if len(head) < HEAD_BYTES:
                self._rest = head
                break
            size, kind, flags = frame_head(head, 0)
            if kind == _SETTINGS and flags & _ACK:
                self._done = True
                passed += data[at + HEAD_BYTES :]
                break
            passed += head
            self._left = size
            at += HEAD_BYTES
        return bytes(passed)


def frame_head(data: bytes | bytearray, at: int) -> tuple[int, int, int]:
    """(bytes of the payload, type, flags) of the frame whose head begins at `at` and is all there."""
    high, low, kind, flags, _ = _HEAD.unpack_from(data, at)
    return high << 8 | low, kind, flags


def _frame_at(data: bytearray, at: int) -> tuple[int, int, bytes] | None:
    """(type, flags, payload) of the frame that begins at `at`; None while it is not all there."""
    if len(data) < at + HEAD_BYTES:
        return None
    size, kind, flags = frame_head(data, at)
    begin = at + HEAD_BYTES
    return (kind, flags, bytes(data[begin : begin + size])) if len(data) >= begin + size else None


def _without_padding(payload: bytes, flags: int) -> bytes:
    padding = payload[0] if flags & _PADDED and payload else 0
    begin = (1 if flags & _PADDED else 0) + (5 if flags & _HAS_PRIORITY else 0)
    return payload[begin : len(payload) - padding]


def _speaker_of(block: bytes) -> Speaker:
    from hpack import Decoder, HPACKError

    try:
        headers = Decoder(max_header_list_size=_MOST_BYTES).decode(block, raw=True)
    except HPACKError:
        return "grpc"  # it tells what is wrong with it
    kind = next((bytes(value) for name, value, *_ in headers if name == b"content-type"), b"")
    return "grpc" if kind.startswith(b"application/grpc") and not kind.startswith(b"application/grpc-web") else "http"
