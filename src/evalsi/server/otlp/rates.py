"""How fast traffic may come in: a bucket of requests and one of bytes for each project, or for a caller with limits of its own.

Its own module because it keeps time. What always holds: a refusal says when the next try may succeed, and a bucket never
costs memory for callers that are quiet.
"""

from dataclasses import dataclass

from evalsi.core.clock import Clock
from evalsi.core.errors import RateLimitError
from evalsi.settings.server import RateLimitSettings, RateSettings

_BYTES_BURST_S = 10.0
_MOST_BUCKETS = 10_000
NO_LIMIT = RateSettings()


@dataclass(slots=True)
class _Bucket:
    """Tokens that fill up with time. It may be overdrawn, since the size of a request is known when it has come."""

    per_s: float
    most: float
    tokens: float
    seen_s: float

    def fill(self, now_s: float) -> None:
        self.tokens = min(self.most, self.tokens + (now_s - self.seen_s) * self.per_s)
        self.seen_s = now_s

    def wait_s(self, needed: float) -> float:
        """Seconds until `needed` tokens are there."""
        return max(0.0, (needed - self.tokens) / self.per_s)


class Rates:
    """Who may send now. Used from the event loop alone."""

    def __init__(self, settings: RateLimitSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def admit(self, principal: str, project: str) -> None:
        """Counts a request. Raises: RateLimitError: it comes too soon."""
        limit, key = self._limit_of(principal, project)
        requests = self._bucket(key, "requests", limit.per_second, limit.burst or max(1.0, limit.per_second))
        volume = self._bucket(key, "bytes", limit.bytes_per_second, self._bytes_burst(limit))
        if requests is not None and requests.tokens < 1:
            raise _too_soon(f"{limit.per_second:g} requests", key, requests.wait_s(1))
        if volume is not None and volume.tokens <= 0:
            raise _too_soon(f"{limit.bytes_per_second:g} bytes", key, volume.wait_s(1))
        if requests is not None:
            requests.tokens -= 1

    def charge(self, principal: str, project: str, size: int) -> None:
        """Counts a request at a further project that it turned out to be for. Raises: RateLimitError: it comes too soon."""
        _, key = self._limit_of(principal, project)
        if key != principal:  # who has limits of its own was counted there
            self.admit(principal, project)
            self.spend(principal, project, size)

    def spend(self, principal: str, project: str, size: int) -> None:
        """Counts the bytes of a request that has come."""
        limit, key = self._limit_of(principal, project)
        volume = self._bucket(key, "bytes", limit.bytes_per_second, self._bytes_burst(limit))
        if volume is not None:
            volume.tokens -= size

    def _limit_of(self, principal: str, project: str) -> tuple[RateSettings, str]:
        if self._settings.disabled:
            return NO_LIMIT, ""
        own = self._settings.principals.get(principal)
        if own is not None:
            return own.ingest, principal
        of_project = self._settings.projects.get(project)
        return of_project.ingest if of_project is not None else self._settings.ingest, f"project {project!r}"

    def _bytes_burst(self, limit: RateSettings) -> float:
        return limit.burst_bytes or limit.bytes_per_second * _BYTES_BURST_S

    def _bucket(self, key: str, kind: str, per_s: float, most: float) -> _Bucket | None:
        if per_s <= 0:
            return None
        now_s = self._clock.monotonic_s()
        bucket = self._buckets.get((key, kind))
        if bucket is None:
            if len(self._buckets) >= _MOST_BUCKETS:
                self._forget(now_s)
            bucket = self._buckets[(key, kind)] = _Bucket(per_s, most, most, now_s)
        bucket.fill(now_s)
        return bucket

    def _forget(self, now_s: float) -> None:
        """Leaves out buckets that are full again: a new one is the same."""
        for bucket in self._buckets.values():
            bucket.fill(now_s)
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if bucket.tokens < bucket.most}


def _too_soon(limit: str, key: str, wait_s: float) -> RateLimitError:
    return RateLimitError(f"{key} may send {limit} per second", retry_after_s=wait_s)
