"""The head of a request to a proxy, read strictly, because a program that wants more than it may writes it.

Its own module because servers forgive and a proxy must not: whatever two readers could take for two different requests is
refused (RFC 9112, sections 3.2, 5, 6.3 and 11.2). There are two forms: CONNECT with a name and port, and a method with a
whole http address.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

LONGEST_HEAD = 16 << 10
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]{1,8192}) HTTP/1\.[01]\Z")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\Z")
_NUMBER = re.compile(rb"[0-9]{1,15}\Z")
_PORT = re.compile(r"[0-9]{1,5}\Z", re.ASCII)
_BETWEEN_NEIGHBOURS = {
    b"connection", b"proxy-connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"proxy-authorization",
    b"proxy-authenticate", b"http2-settings", b"expect", b"host", b"content-length", b"transfer-encoding",
}  # fmt: skip
"""Fields that are not passed on as they are: they are about one connection, or are written anew."""


class HeadError(Exception):
    """The head is refused; the text says why. `status` is what the program is told."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Head:
    """A request that can be understood in one way only.

    Args:
        host: As the program wrote it; IPv6 in brackets.
        passed_on: The head to be sent on; b"" for CONNECT.
        length: Bytes of the body; None where it comes in chunks.
    """

    is_connect: bool
    host: str
    port: int
    passed_on: bytes
    length: int | None = 0


def read_head(head: bytes) -> Head:
    """A head without the empty line that ends it. Raises: HeadError."""
    lines = head.split(b"\r\n")
    if any(b"\r" in line or b"\n" in line or b"\0" in line for line in lines):
        raise HeadError("a line holds what ends lines")
    first = _LINE.match(lines[0])
    if first is None:
        raise HeadError("the first line is no request")
    method, target = first[1], first[2].decode("ascii")
    fields = [_field(line) for line in lines[1:]]
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) > 1:
        raise HeadError("it names several hosts")
    if method == b"CONNECT":
        host, port = _authority(target, None)
        if _length(fields) != 0:
            raise HeadError("CONNECT has no body")
        return Head(is_connect=True, host=host, port=port, passed_on=b"")
    try:
        parts = urlsplit(target)
    except ValueError as error:
        raise HeadError("the address cannot be read") from error
    if parts.scheme.lower() != "http" or not parts.netloc or "#" in target:
        raise HeadError("a proxy needs a whole address that begins with http://; for https, ask with CONNECT")
    if "@" in parts.netloc:
        raise HeadError("the address holds a user name or password")
    host, port = _authority(parts.netloc, 80)
    length = _length(fields)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Head(
        is_connect=False,
        host=host,
        port=port,
        length=length,
        passed_on=_written(method, path, parts.netloc, fields, length),
    )


def _field(line: bytes) -> tuple[bytes, bytes]:
    found = _FIELD.match(line)
    if found is None:
        raise HeadError("a line of the head is no field")
    return found[1].lower(), found[2]


def _authority(text: str, default: int | None) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if default is not None and (not colon or text.endswith("]")):
        return text, default
    if not host or not _PORT.match(port) or not 0 < int(port) < 65536:
        raise HeadError("it does not name a host and a port")
    return host, int(port)


def _length(fields: list[tuple[bytes, bytes]]) -> int | None:
    """Of the body; None for one in chunks. Two words for it are one too many: readers differ in which counts."""
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        raise HeadError("it says in two ways how long its body is")
    if codings:
        if codings[0].lower() != b"chunked":
            raise HeadError("its body is coded in a way that is not passed on", 501)
        return None
    if not lengths:
        return 0
    if not _NUMBER.match(lengths[0]):
        raise HeadError("the length of its body is no number")
    return int(lengths[0])


def _written(method: bytes, path: str, netloc: str, fields: list[tuple[bytes, bytes]], length: int | None) -> bytes:
    named = {word.strip().lower() for name, value in fields if name == b"connection" for word in value.split(b",")}
    lines = [b"%s %s HTTP/1.1" % (method, path.encode()), b"Host: " + netloc.encode(), b"Connection: close"]
    lines += [b"%s: %s" % field for field in fields if field[0] not in _BETWEEN_NEIGHBOURS | named]
    if length is None:
        lines.append(b"Transfer-Encoding: chunked")
    elif length or method in (b"POST", b"PUT", b"PATCH"):
        lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n\r\n"
