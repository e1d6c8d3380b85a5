"""OTLP as people have it in files: one JSON document, one per line, one protobuf message, or several with their lengths.

The last is what the OpenTelemetry Collector's file exporter writes as `proto`: four bytes of length, big-endian, before each
message. Which form a file has is told from its bytes, never from its name.
"""

from codecs import getincrementaldecoder

from evalsi.core.errors import InvalidDataError
from evalsi.traces.otlp_json import decode_otlp_json
from evalsi.traces.otlp_protobuf import decode_otlp_protobuf
from evalsi.traces.span import DecodedSpans

_HEAD_BYTES = 1000
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f")


def decode_otlp(data: bytes, where: str) -> DecodedSpans:
    """The spans of a file.

    Args:
        data: The whole content, unpacked.
        where: Name of the file, for messages.

    Raises: InvalidDataError: it is no OTLP; names the line where it is JSON Lines.
    """
    head = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{"):
        return _of_json(data.removeprefix(b"\xef\xbb\xbf"), where)
    if head.startswith(b"["):
        raise InvalidDataError(
            "no OTLP: a list",
            where=where,
            hint="OTLP JSON is an object with resourceSpans, or one such object per line",
        )
    if not data.strip():
        raise InvalidDataError("the file is empty", where=where)
    framed = _frames(data)
    try:
        return _joined([decode_otlp_protobuf(frame) for frame in framed] if framed else [decode_otlp_protobuf(data)])
    except InvalidDataError as fault:
        if _is_text(data):
            problem = "no OTLP: text that is no JSON"
            hint = "OTLP is JSON, JSON Lines or protobuf; atif://FILE and inspect://FILE name logs of other tools"
            raise InvalidDataError(problem, where=where, hint=hint) from None
        raise InvalidDataError(fault.message, where=where) from None


def _is_text(data: bytes) -> bool:
    """Whether it begins as something that a person wrote; protobuf has control characters among its first bytes."""
    head = data[:_HEAD_BYTES]
    try:
        getincrementaldecoder("utf-8")().decode(head)  # which leaves a character that is cut at the end
    except UnicodeDecodeError:
        return False
    return not _CONTROLS.intersection(head)


def _of_json(data: bytes, where: str) -> DecodedSpans:
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if len(lines) == 1 or not lines[0][1].rstrip().endswith(b"}") or lines[0][1].strip() == b"{":
        try:
            return decode_otlp_json(data)
        except InvalidDataError as fault:
            raise InvalidDataError(fault.message, where=where) from None
    found: list[DecodedSpans] = []
    for number, line in lines:
        try:
            found.append(decode_otlp_json(line))
        except InvalidDataError as fault:
            raise InvalidDataError(fault.message, where=f"{where}:{number}") from None
    return _joined(found)


def _joined(parts: list[DecodedSpans]) -> DecodedSpans:
    return DecodedSpans(
        spans=[span for part in parts for span in part.spans],
        rejected=[rejected for part in parts for rejected in part.rejected],
    )


def _frames(data: bytes) -> list[bytes]:
    """The messages of a file whose every message has its length before it; none when the lengths do not add up."""
    frames: list[bytes] = []
    at = 0
    while at + 4 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if at + length > len(data):
            return []
        frames.append(data[at : at + length])
        at += length
    return frames if at == len(data) else []
