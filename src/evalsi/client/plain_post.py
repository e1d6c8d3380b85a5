"""One POST over the standard library, for threads that send now and then and must load nothing heavy for it.

Its own module because `connection` needs an event loop. What always holds: the key goes to the server that was named and
nowhere else, since redirects are refused.
"""

import gzip
import urllib.error
import urllib.request
from typing import Any

from evalsi.client.background_sender import ComeAgainError
from evalsi.client.server_address import ServerAddress, checked_url
from evalsi.core.errors import EvalsiError
from evalsi.core.version import __version__

TIMEOUT_S = 10.0
_AGAIN = frozenset({429, 502, 503, 504})
_PACKED_FROM_BYTES = 1024


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
                told = error.read(2000).decode("utf-8", "replace")
                wait = error.headers.get("Retry-After", "")
            if error.code in _AGAIN:
                raise ComeAgainError(told, float(wait) if wait.isdigit() else 1.0) from None
            raise EvalsiError(f"{self._url} refused with {error.code}: {told[:300]!r}") from None
        except OSError as error:
            raise ComeAgainError(f"{self._url} cannot be reached: {error}") from None
