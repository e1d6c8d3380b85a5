"""One POST over the standard library, for threads that send now and then and must load nothing heavy for it.

Its own module because `connection` needs an event loop. What always holds: the key goes to the server that was named and
nowhere else, since redirects are refused.
"""

import gzip
import json
import re
import urllib.error
import urllib.request
from typing import Any, cast

from evalsi.client.background_sender import ComeAgainError
from evalsi.client.server_address import ServerAddress, checked_url
from evalsi.core.errors import EvalsiError
from evalsi.core.inert import printable
from evalsi.core.version import __version__

TIMEOUT_S = 10.0
_AGAIN = frozenset({429, 502, 503, 504})
_PACKED_FROM_BYTES = 1024
_MOST_READ = 4000
_STATUS = re.compile(rb"\A(?:\x08[\x80-\xff]*[\x00-\x7f])?\x12([\x80-\xff]?[\x00-\x7f])", re.DOTALL)
"""A google.rpc.Status in protobuf, which is how OTLP refuses: its code, then the length of its message."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class PlainPost:
    """Posts to one server. Raises: UsageError: the address is none."""

    def __init__(self, address: ServerAddress) -> None:
        self._url = checked_url(address.url)
        self._key = address.api_key
        proxies = {"http": address.proxy, "https": address.proxy} if address.proxy else {}
        self._opener = urllib.request.build_opener(_NoRedirects(), urllib.request.ProxyHandler(proxies))

    def post(self, path: str, body: bytes, content_type: str) -> bytes:
        """The answer.

        Raises:
            ComeAgainError: the server cannot be reached, or says that another try may help.
            EvalsiError: it refused.
        """
        headers = {"Content-Type": content_type, "User-Agent": f"evalsi/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if len(body) >= _PACKED_FROM_BYTES:
            body, headers["Content-Encoding"] = gzip.compress(body, compresslevel=1), "gzip"
        request = urllib.request.Request(self._url + path, body, headers, method="POST")  # noqa: S310 - checked_url
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                told = _message_in(error.read(_MOST_READ)) or error.reason
                wait = error.headers.get("Retry-After", "")
            if error.code in _AGAIN:
                raise ComeAgainError(told, float(wait) if wait.isdigit() else 1.0) from None
            raise EvalsiError(
                f"{self._url} refused with {error.code}: {printable(told[:300], one_line=True)}"
            ) from None
        except OSError as error:
            cause = getattr(error, "reason", error)
            raise ComeAgainError(
                f"{self._url} cannot be reached: {getattr(cause, 'strerror', None) or cause}"
            ) from None


def _message_in(body: bytes) -> str:
    """What a refusal says to people: its message where it is JSON or OTLP's protobuf, else all of it."""
    if status := _STATUS.match(body):
        length = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(status[1]))
        return body[status.end() : status.end() + length].decode("utf-8", "replace")
    text = body.decode("utf-8", "replace")
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    said = cast("dict[str, Any]", told).get("message") if isinstance(told, dict) else None
    return said if isinstance(said, str) else text
