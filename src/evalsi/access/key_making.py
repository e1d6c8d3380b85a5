"""Making an API key: what is asked for is checked, a key comes out that is to be shown once.

Its own module because two callers make keys, a server for its users and the command line for the first owner, and both must
refuse the same.
"""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from evalsi.access.api_key import make_key
from evalsi.access.roles import role_named
from evalsi.core.errors import InvalidParamsError
from evalsi.ports.access_store import StoredKey
from evalsi.schema import APIKey, CreateAPIKeyRequest, RoleList

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_LONGEST_TEXT = 1000


class MadeKey(NamedTuple):
    """A key, and what is kept of it."""

    text: str
    """The key itself, to be shown once."""
    stored: StoredKey


def made_key(asked: CreateAPIKeyRequest, now: datetime, created_by: str) -> MadeKey:
    """The key that was asked for.

    Raises:
        InvalidParamsError: name, roles, labels or lifetime make no sense; `where` is the field.
        UnknownNameError: a role does not exist.
    """
    name = checked_name(asked.name)
    roles = {project: RoleList(roles=_checked_roles(project, listed)) for project, listed in asked.roles.items()}
    if not roles:
        raise InvalidParamsError("a key needs a role in a project, such as default=runner", where="roles")
    labels = {label: checked_text(text, f"labels.{label}") for label, text in asked.labels.items()}
    expires_at = None if asked.ttl is None else _end(now, asked.ttl)
    new = make_key()
    key = APIKey(
        name=name,
        prefix=new.prefix,
        roles=roles,
        labels=labels,
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
        source="api",
    )
    return MadeKey(new.key, StoredKey(digest=new.digest, key=key))


def checked_name(name: str, *, where: str = "name") -> str:
    """A name of a key or project. Raises: InvalidParamsError: it is none."""
    if not _NAME.match(name):
        raise InvalidParamsError(
            f"{name[:80]!r} is no name", where=where, hint="use 1 to 63 lower-case letters, digits and dashes"
        )
    return name


def checked_text(text: str, where: str) -> str:
    """Text of a person, of a length that lists can show. Raises: InvalidParamsError: it is longer."""
    if len(text) > _LONGEST_TEXT:
        raise InvalidParamsError(f"is longer than {_LONGEST_TEXT} characters", where=where)
    return text


def _checked_roles(project: str, listed: RoleList) -> list[str]:
    if not listed.roles:
        raise InvalidParamsError("names no role", where=f"roles.{project}")
    return [role_named(name, where=f"roles.{project}").name for name in dict.fromkeys(listed.roles)]


def _end(now: datetime, seconds: float) -> datetime:
    advice = "leave it out for a key that does not end"
    if seconds <= 0:
        raise InvalidParamsError("must be above 0", where="ttl", hint=advice)
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        raise InvalidParamsError("is too long", where="ttl", hint=advice) from None
