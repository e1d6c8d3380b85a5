"""Which server is spoken to, as whom, and about whose things.

Its own module because commands make one long before anything is sent, and must not load an HTTP client for it.
"""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from evalsi.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """A server, from the view of who calls it."""

    url: str
    api_key: str = field(default="", repr=False)
    proxy: str = ""
    """Address of an HTTP proxy; "" for a direct way."""
    project: str = ""
    """Whose runs and datasets are meant; "" for the usual project, and in lists for every one that may be read."""


def checked_url(url: str) -> str:
    """The address without its last slash. Raises: UsageError: it is no http address, or carries a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise UsageError(
            f"{parts.hostname or url!r} is no address of a server", hint="write http:// or https:// before it"
        )
    return url.rstrip("/")
