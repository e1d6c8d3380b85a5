"""Who is signed in at the pages: a random cookie in the browser, the API key in the memory of this process.

Its own module because it is the one place where a key is held for somebody. What always holds: the key is nowhere in a
page or a cookie; it is looked up anew for every call, so a revoked key ends its sessions; a restart signs everybody out.
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

COOKIE = "evalsi_session"
IDLE_S = 12 * 3600.0
"""Seconds without a request after which a session ends."""
MOST_SESSIONS = 10_000
"""Sessions held at once; the one that was idle longest makes room."""


@dataclass(slots=True)
class Session:
    """One browser that is signed in."""

    api_key: str = field(repr=False)
    form_token: str = field(repr=False)
    """What every form that changes something must send back."""
    seen_s: float = 0.0


class Sessions:
    """All sessions of a server. Used from one event loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._by_digest: OrderedDict[bytes, Session] = OrderedDict()
        self._open_token = secrets.token_urlsafe(24)

    @property
    def open_form_token(self) -> str:
        """What forms send back where nobody signs in: a page of another site cannot know it."""
        return self._open_token

    def begin(self, api_key: str) -> str:
        """Begins a session and returns what its cookie is to hold."""
        cookie = secrets.token_urlsafe(32)
        self._by_digest[_digest(cookie)] = Session(api_key, secrets.token_urlsafe(24), self._clock())
        while len(self._by_digest) > MOST_SESSIONS:
            self._by_digest.popitem(last=False)
        return cookie

    def find(self, cookie: str) -> Session | None:
        """The session of a cookie; None where there is none or it was idle too long."""
        digest = _digest(cookie)
        found = self._by_digest.get(digest)
        if found is None:
            return None
        now_s = self._clock()
        if now_s - found.seen_s > IDLE_S:
            del self._by_digest[digest]
            return None
        found.seen_s = now_s
        self._by_digest.move_to_end(digest)
        return found

    def end(self, cookie: str) -> None:
        self._by_digest.pop(_digest(cookie), None)


def is_same(given: str, wanted: str) -> bool:
    """Whether two tokens are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode(), wanted.encode())


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
