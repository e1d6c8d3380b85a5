"""Whether a request comes from a web page of somebody else: such pages run in the browsers of those who may call us.

Its own module because a browser sends what any page asks of it, to loopback too, so that the address a server listens on
protects nobody. What always holds: a page of another origin changes nothing and uses no credential here; and a server
without authentication on loopback answers to names of this machine alone, so that a page cannot make its own name lead
here (DNS rebinding). What is no browser sends no `Origin` and is not concerned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from evalsi.core.errors import ForbiddenError
from evalsi.settings.open_door import is_on_this_machine

_READS = ("GET", "HEAD")
_FOREIGN_SITES = (b"cross-site", b"same-site")
"""Values of `Sec-Fetch-Site`. "same-site" is another port or name of our domain, so another program."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class OwnPages:
    """Checks requests.

    Args:
        this_machine_alone: Whether the server listens on loopback and asks nobody who is calling.
    """

    this_machine_alone: bool

    def check(self, method: str, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Returns when the request may go on. Raises: ForbiddenError.

        Args:
            headers: Names in lower case, as ASGI gives them.
        """
        host, origin, site, has_credential = b"", None, b"", False
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"sec-fetch-site":
                site = value
            elif name in (b"authorization", b"cookie", b"x-api-key"):
                has_credential = True
        if self.this_machine_alone and host and not _names_this_machine(host):
            raise ForbiddenError(
                f"this server is for its own machine, and the request was sent to {_shown(host)}",
                hint="call it as localhost or 127.0.0.1; behind a proxy, turn auth on",
            )
        if method in _READS and not has_credential:
            return  # without our leave in the answer, a browser does not let the page read it
        is_foreign = origin is not None and not _is_same(origin, host)
        if is_foreign or (method not in _READS and site in _FOREIGN_SITES):
            raise ForbiddenError(
                f"the request was made by a web page of {_shown(origin or site)}, which is not of this server",
                hint="pages of other servers may not call this one; call it from a program, which sends no Origin",
            )


@lru_cache(64)
def _names_this_machine(host: bytes) -> bool:
    authority = host.decode("latin-1").lower()
    name = authority if authority.endswith("]") or ":" not in authority else authority.rpartition(":")[0]
    name = name.rstrip(".")
    return name.endswith(".localhost") or is_on_this_machine(f"{name}:0")


def _is_same(origin: bytes, host: bytes) -> bool:
    """Whether an origin is that of the address that was called.

    Its scheme is left out: a proxy may have ended TLS before us.
    """
    try:
        asked = urlsplit(origin.decode("latin-1").lower())
        own = urlsplit(f"//{host.decode('latin-1').lower()}")
        usual = _DEFAULT_PORTS.get(asked.scheme)
        return usual is not None and (asked.hostname, asked.port or usual) == (own.hostname, own.port or usual)
    except ValueError:
        return False


def _shown(value: bytes) -> str:
    return repr(value[:100].decode("latin-1"))
