"""Who is calling, as every service method receives it.

Its own module because faces, services and the gate share it and nothing else of one another. What always holds: a caller
is complete when it is made (its permissions are looked up once, at the door), and it holds no secret.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

EVERY_PROJECT = "*"
"""The key of grants that hold in every project, also in those made later."""
ANY_PERMISSION = "*"
"""The permission that contains all others; the role `owner` has it."""

_NOTHING: Mapping[str, frozenset[str]] = MappingProxyType({})
_NO_LABELS: Mapping[str, str] = MappingProxyType({})
_NO_ROLES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The one who sent a request, and what it may do.

    Made by an `Authenticator`; tests and faces without authentication use `everyone`.
    """

    principal: str
    """Who it is, in the form of a subject: `key:<name>`; `anonymous` where authentication is off."""
    grants: Mapping[str, frozenset[str]] = _NOTHING
    """Permissions by project; under `EVERY_PROJECT` those that hold everywhere."""
    roles: Mapping[str, tuple[str, ...]] = _NO_ROLES
    """Names of the roles that the grants came from, by project; for people."""
    key_name: str = ""
    """Name of the API key, where one was shown."""
    key_prefix: str = ""
    """The first characters of that key, as lists show them; no secret."""
    labels: Mapping[str, str] = _NO_LABELS
    """Labels of that key; traces that it sends bear them."""
    method: str = "none"
    """How it proved who it is: `apikey`; `none` where authentication is off."""
    request_id: str = ""
    """Identifier of the request, as in the log and in the answer."""
    idempotency_key: str = ""
    """The `Idempotency-Key` of the request: sent again with it, the request is carried out once."""
    source: str = ""
    """Address that the request came from."""

    @property
    def is_owner(self) -> bool:
        return ANY_PERMISSION in self.grants.get(EVERY_PROJECT, frozenset())

    def has(self, permission: str, project: str) -> bool:
        """Whether it has `permission` in `project` (in all of them, for `EVERY_PROJECT`)."""
        for where in (EVERY_PROJECT, project):
            held = self.grants.get(where)
            if held and (permission in held or ANY_PERMISSION in held):
                return True
        return False


def everyone(*, request_id: str = "", source: str = "", idempotency_key: str = "") -> Caller:
    """The caller of a server without authentication: it may do everything."""
    return Caller(
        principal="anonymous",
        grants={EVERY_PROJECT: frozenset({ANY_PERMISSION})},
        roles={EVERY_PROJECT: ("owner",)},
        request_id=request_id,
        idempotency_key=idempotency_key,
        source=source,
    )
