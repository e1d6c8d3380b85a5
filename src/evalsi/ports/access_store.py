"""Where projects, API keys, role bindings and the audit log live."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from evalsi.schema import APIKey, AuditEvent, Project, RoleBinding


class StoredKey(msgspec.Struct, frozen=True, kw_only=True):
    """An API key as it is kept: never the key itself."""

    digest: str
    """`sha256:<64 hex digits>` of the key."""
    key: APIKey


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


Seal = Callable[[AuditEvent, AuditHead], AuditEvent]
"""Makes the next entry of the chain; see `evalsi.access.audit_chain`."""


class AccessStore(Protocol):
    """Durable: what a method has acknowledged by returning survives kill -9 of this process.

    Several processes may use one store at once. Methods block; any thread may call them. Every method raises StoreError
    when the store cannot be read or written.
    """

    def projects(self) -> list[Project]:
        """All, by name."""
        ...

    def add_project(self, project: Project) -> None:
        """Raises: AlreadyExistsError: the name is taken."""
        ...

    def api_keys(self) -> list[StoredKey]:
        """All, revoked ones too, newest first."""
        ...

    def key_with(self, digest: str) -> StoredKey | None:
        """The key with this digest, whether or not it is still good."""
        ...

    def add_key(self, stored: StoredKey) -> None:
        """Raises: AlreadyExistsError: the name was ever given to a key; a log that names a key must stay readable."""
        ...

    def revoke_key(self, name: str, *, at: datetime) -> None:
        """Revokes for good; again is no change. Raises: NotFoundError: there is no such key."""
        ...

    def touch_key(self, name: str, *, at: datetime) -> None:
        """Notes when a key was used last. Unknown names are no error."""
        ...

    def bindings(self) -> list[RoleBinding]:
        """All, by project, role and subject."""
        ...

    def add_binding(self, binding: RoleBinding) -> RoleBinding:
        """The binding that stands now: an equal one that stood before is kept as it was."""
        ...

    def remove_binding(self, project: str, role: str, subject: str) -> None:
        """Raises: NotFoundError: there is no such binding."""
        ...

    def append_audit(self, event: AuditEvent, seal: Seal) -> AuditEvent:
        """Adds an entry after the last one. Entries of all processes are in one chain: `seal` is called with the head
        that no other writer can change meanwhile, and may be called again.
        """
        ...

    def audit_head(self) -> AuditHead:
        """The ends of the chain."""
        ...

    def audit_page(self, wanted: AuditFilter, *, before: int | None, limit: int) -> list[AuditEvent]:
        """The newest entries with a sequence below `before`, newest first."""
        ...

    def audit_from(self, after: int, *, limit: int) -> Sequence[AuditEvent]:
        """Entries with a sequence above `after`, oldest first."""
        ...

    def trim_audit(self, *, older_than: datetime) -> int:
        """Removes entries from before a time, notes in the head where the rest begins, and says how many went."""
        ...

    def close(self) -> None:
        """Lets go of the file or connection. Again is no error."""
        ...
