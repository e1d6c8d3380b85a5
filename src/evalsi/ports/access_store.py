"""Where projects, API keys, role bindings and the audit log live."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec


class ProjectRow(msgspec.Struct, frozen=True, kw_only=True):
    """A project. Times in this module are ISO 8601 UTC."""

    name: str
    description: str = ""
    created_at: str
    created_by: str


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """An API key as it is kept: never the key itself."""

    name: str
    digest: str
    """`sha256:<64 hex digits>` of the key."""
    prefix: str
    """The first characters of the key."""
    roles: dict[str, list[str]]
    """Names of roles by project; `*` is every project."""
    labels: dict[str, str]
    created_at: str
    created_by: str
    expires_at: str | None = None
    last_used_at: str | None = None
    revoked_at: str | None = None


class BindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A role that a subject has in a project (`*`: in every one)."""

    project: str
    role: str
    subject: str
    """`key:<name>`, and later other kinds."""
    created_at: str
    created_by: str


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the audit log. Texts hold no secret."""

    sequence: int = 0
    """From 1, without gaps; the store gives it."""
    time: str
    principal: str
    action: str
    """The permission that was asked for."""
    project: str
    resource: str = ""
    allowed: bool
    reason: str = ""
    procedure: str = ""
    """Service and method."""
    request_id: str = ""
    source: str = ""
    detail: str = ""
    auth_method: str = ""
    api_key: str = ""
    """Name of the key that was used."""
    key_id: str = ""
    """Its prefix."""
    prev_hash: str = ""
    hash: str = ""


class AuditHead(msgspec.Struct, frozen=True, kw_only=True):
    """Where the chain of the log ends, and where what is left of it begins. Empty hashes stand for the very start."""

    last_sequence: int = 0
    last_hash: str = ""
    base_sequence: int = 0
    """The last entry that retention removed; 0 when none was."""
    base_hash: str = ""


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries are wanted."""

    projects: frozenset[str] | None = None
    """None for all; entries of no project are of `*`."""
    action: str = ""
    denied_only: bool = False


Seal = Callable[[AuditRow, AuditHead], AuditRow]
"""Makes the next entry of the chain; see `evalsi.access.audit_chain`."""


class AccessStore(Protocol):
    """Durable: what a method has acknowledged by returning survives kill -9 of this process.

    Several processes may use one store at once. Methods block; any thread may call them. Every method raises StoreError
    when the store cannot be read or written.
    """

    def projects(self) -> list[ProjectRow]:
        """All, by name."""
        ...

    def add_project(self, project: ProjectRow) -> None:
        """Raises: AlreadyExistsError: the name is taken."""
        ...

    def keys(self) -> list[KeyRow]:
        """All, revoked ones too, newest first."""
        ...

    def key_with(self, digest: str) -> KeyRow | None:
        """The key with this digest, whether or not it is still good."""
        ...

    def add_key(self, key: KeyRow) -> None:
        """Raises: AlreadyExistsError: the name was ever given to a key; a log that names a key must stay readable."""
        ...

    def revoke_key(self, name: str, *, at: str) -> None:
        """Revokes for good; again is no change. Raises: NotFoundError: there is no such key."""
        ...

    def touch_key(self, name: str, *, at: str) -> None:
        """Notes when a key was used last. Unknown names are no error."""
        ...

    def bindings(self) -> list[BindingRow]:
        """All, by project, role and subject."""
        ...

    def add_binding(self, binding: BindingRow) -> BindingRow:
        """The binding that stands now: an equal one that stood before is kept as it was."""
        ...

    def remove_binding(self, project: str, role: str, subject: str) -> None:
        """Raises: NotFoundError: there is no such binding."""
        ...

    def append_audit(self, row: AuditRow, seal: Seal) -> AuditRow:
        """Adds an entry after the last one. Entries of all processes are in one chain: `seal` is called with the head
        that no other writer can change meanwhile, and may be called again.
        """
        ...

    def audit_head(self) -> AuditHead: ...

    def audit_page(self, wanted: AuditFilter, *, before: int | None, limit: int) -> list[AuditRow]:
        """The newest entries with a sequence below `before`, newest first."""
        ...

    def audit_from(self, after: int, *, limit: int) -> Sequence[AuditRow]:
        """Entries with a sequence above `after`, oldest first."""
        ...

    def trim_audit(self, *, older_than: str) -> int:
        """Removes entries from before a time, notes in the head where the rest begins, and says how many went."""
        ...

    def close(self) -> None: ...
