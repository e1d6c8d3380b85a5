"""API keys at the door: from the headers of a request to a caller with its grants.

Its own module because it joins three sources of truth (keys in the store, keys in the configuration file, bindings).
What always holds: a key that was revoked or whose roles changed is known within `KNOWN_FOR_S`, here at once; the event
loop never waits for the store; a refusal says nothing about the key.
"""

import asyncio
import hmac
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from evalsi.access.api_key import digest_of_key, looks_like_key
from evalsi.access.caller import Caller
from evalsi.access.roles import grants_of
from evalsi.core.clock import Clock
from evalsi.core.errors import StoreError, UnauthenticatedError
from evalsi.ports.access_store import AccessStore, StoredKey
from evalsi.schema import APIKey, RoleBinding

KNOWN_FOR_S = 5.0
"""How long what was read about a key counts. Another server's revocation takes that long to be seen."""
NOTED_EVERY_S = 60.0
"""How often the time of a key's last use is written."""
MOST_KNOWN = 10_000


class _Known(NamedTuple):
    caller: Caller | None
    """None for a key that is not good."""
    until_s: float
    expires_at: datetime | None


class KeyAuthenticator:
    """Implements `Authenticator` with API keys.

    Args:
        store: Keys and bindings that were made over the API.
        clock: Of the server.
        keys: Keys of the configuration file.
        bindings: Bindings of the configuration file.
    """

    enabled = True

    def __init__(
        self, store: AccessStore, clock: Clock, *, keys: Sequence[StoredKey] = (), bindings: Sequence[RoleBinding] = ()
    ) -> None:
        self._store = store
        self._clock = clock
        self._configured = tuple(keys)
        self._bindings = tuple(bindings)
        self._known: dict[str, _Known] = {}
        self._noted_s: dict[str, float] = {}
        self._changes = 0

    async def authenticate(self, headers: Mapping[str, str], *, request_id: str = "", source: str = "") -> Caller:
        key = _key_in(headers)
        if key is None and ("authorization" in headers or "x-api-key" in headers):
            raise UnauthenticatedError(
                "the request's API key does not have the form of one",
                hint="a key begins with evk_ and has 43 more characters; see that nothing is cut off or added",
            )
        if key is None:
            raise UnauthenticatedError(
                "this server asks who is calling, and the request has no API key",
                hint="send it as the header 'Authorization: Bearer evk_…'",
            )
        digest = digest_of_key(key)
        known = self._known.get(digest)
        if known is None or known.until_s <= self._clock.monotonic_s():
            changes = self._changes
            known = await asyncio.to_thread(self._look_up, digest)
            if changes == self._changes:  # else what was read may be from before the change
                self._remember(digest, known)
        caller = known.caller
        if caller is None or (known.expires_at is not None and known.expires_at <= self._clock.now()):
            raise UnauthenticatedError(
                "the API key is not accepted", hint="it may be mistyped, expired or revoked; ask for a new one"
            )
        return Caller(
            principal=caller.principal,
            grants=caller.grants,
            roles=caller.roles,
            key_name=caller.key_name,
            key_prefix=caller.key_prefix,
            labels=caller.labels,
            method=caller.method,
            request_id=request_id,
            source=source,
        )

    def forget(self) -> None:
        """Looks everything up again: keys or bindings have changed."""
        self._changes += 1
        self._known.clear()

    def _remember(self, digest: str, known: _Known) -> None:
        if len(self._known) >= MOST_KNOWN:  # somebody tries keys
            self._known.clear()
        self._known[digest] = known

    def _look_up(self, digest: str) -> _Known:
        stored = self._key_with(digest)
        until_s = self._clock.monotonic_s() + KNOWN_FOR_S
        if stored is None or stored.key.revoked:
            return _Known(None, until_s, None)
        self._note_use(stored.key.name)
        return _Known(self._caller_of(stored.key), until_s, stored.key.expires_at)

    def _key_with(self, digest: str) -> StoredKey | None:
        for key in self._configured:
            if hmac.compare_digest(key.digest, digest):
                return key
        key = self._store.key_with(digest)
        return key if key is not None and hmac.compare_digest(key.digest, digest) else None

    def _caller_of(self, key: APIKey) -> Caller:
        subject = f"key:{key.name}"
        roles = roles_of(subject, [*self._bindings, *self._store.bindings()], key)
        return Caller(
            principal=subject,
            grants=grants_of(roles),
            roles=roles,
            key_name=key.name,
            key_prefix=key.prefix,
            labels=key.labels,
            method="apikey",
        )

    def _note_use(self, name: str) -> None:
        now_s = self._clock.monotonic_s()
        if now_s - self._noted_s.get(name, -NOTED_EVERY_S) >= NOTED_EVERY_S:
            self._noted_s[name] = now_s
            with suppress(StoreError):  # a full disk keeps nobody out who only reads
                self._store.touch_key(name, at=self._clock.now())


def roles_of(subject: str, bindings: Iterable[RoleBinding], key: APIKey) -> dict[str, tuple[str, ...]]:
    """Roles by project: a key's own and those that it is bound to."""
    found: dict[str, set[str]] = {project: set(names.roles) for project, names in key.roles.items()}
    for binding in bindings:
        if binding.subject == subject:
            found.setdefault(binding.project, set()).add(binding.role)
    return {project: tuple(sorted(names)) for project, names in found.items()}


def _key_in(headers: Mapping[str, str]) -> str | None:
    """The key of a request: `authorization: Bearer evk_…`, or `x-api-key` for tools that can send nothing else."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    key = value.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()
    return key if looks_like_key(key) else None
