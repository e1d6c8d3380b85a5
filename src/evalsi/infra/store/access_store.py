"""Projects, API keys, bindings and the audit log in a SQL database: implements `ports.AccessStore`.

Its own module because nothing here knows of runs. What always holds: an entry of the audit log is sealed inside the
transaction that writes it, so entries of many processes form one chain; times are texts that sort as the moments do.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from evalsi.core.canonical import canonical_json
from evalsi.core.errors import AlreadyExistsError, NotFoundError, suggestion
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.access_store import AuditFilter, AuditHead, Seal, StoredKey
from evalsi.schema import APIKey, AuditEvent, Project, RoleBinding, RoleList

_KEY = "name, digest, prefix, roles, labels, created_at, created_by, expires_at, last_used_at, revoked_at"
_BINDING = "project, role, subject, created_at, created_by"

LIST_PROJECTS = "SELECT name, description, created_at, created_by FROM projects ORDER BY name"
ADD_PROJECT = (
    "INSERT INTO projects (name, description, created_at, created_by) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
LIST_KEYS = f"SELECT {_KEY} FROM api_keys ORDER BY created_at DESC, name"  # noqa: S608
KEY_WITH = f"SELECT {_KEY} FROM api_keys WHERE digest = ?"  # noqa: S608
ADD_KEY = f"INSERT INTO api_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
REVOKE_KEY = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE name = ?"
TOUCH_KEY = "UPDATE api_keys SET last_used_at = ? WHERE name = ? AND (last_used_at IS NULL OR last_used_at < ?)"
LIST_BINDINGS = f"SELECT {_BINDING} FROM role_bindings ORDER BY project, role, subject"  # noqa: S608
ADD_BINDING = f"INSERT INTO role_bindings ({_BINDING}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
READ_BINDING = f"SELECT {_BINDING} FROM role_bindings WHERE project = ? AND role = ? AND subject = ?"  # noqa: S608
REMOVE_BINDING = "DELETE FROM role_bindings WHERE project = ? AND role = ? AND subject = ?"
READ_HEAD = "SELECT last_sequence, last_hash, base_sequence, base_hash FROM audit_head WHERE id = 1"
MOVE_HEAD = "UPDATE audit_head SET last_sequence = ?, last_hash = ? WHERE id = 1"
MOVE_BASE = "UPDATE audit_head SET base_sequence = ?, base_hash = ? WHERE id = 1"
ADD_ENTRY = "INSERT INTO audit (sequence, time, project, action, allowed, body) VALUES (?, ?, ?, ?, ?, ?)"
ENTRIES_FROM = "SELECT body FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?"
FIRST_SINCE = "SELECT min(sequence) FROM audit WHERE time >= ?"
ENTRY_AT = "SELECT body FROM audit WHERE sequence = ?"
TRIM = "DELETE FROM audit WHERE sequence <= ?"

_ENTRY = msgspec.json.Decoder(AuditEvent)
_ROLES = msgspec.json.Decoder(dict[str, list[str]])
_LABELS = msgspec.json.Decoder(dict[str, str])


class SqlAccessStore:
    """Implements `AccessStore`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def projects(self) -> list[Project]:
        return [
            Project(name=name, description=description, created_at=_moment(at), created_by=by, source="api")
            for name, description, at, by in self._database.read(LIST_PROJECTS)
        ]

    def add_project(self, project: Project) -> None:
        values = (project.name, project.description, _text(project.created_at), project.created_by)
        if not self._database.write(lambda connection: _inserted(connection, ADD_PROJECT, values)):
            raise AlreadyExistsError(f"there is a project {project.name!r} already")

    def api_keys(self) -> list[StoredKey]:
        return [_key_of(row) for row in self._database.read(LIST_KEYS)]

    def key_with(self, digest: str) -> StoredKey | None:
        rows = self._database.read(KEY_WITH, (digest,))
        return _key_of(rows[0]) if rows else None

    def add_key(self, stored: StoredKey) -> None:
        key = stored.key
        roles = {project: listed.roles for project, listed in key.roles.items()}
        values = (
            *(key.name, stored.digest, key.prefix, canonical_json(roles).decode(), canonical_json(key.labels).decode()),
            *(_text(key.created_at), key.created_by, _text(key.expires_at), None, None),
        )
        if not self._database.write(lambda connection: _inserted(connection, ADD_KEY, values), sync=True):
            raise AlreadyExistsError(
                f"there is a key {key.name!r} already", hint="names of keys are never used again; choose another"
            )

    def revoke_key(self, name: str, *, at: datetime) -> None:
        changed = self._database.write(
            lambda connection: connection.execute(REVOKE_KEY, (_text(at), name)).rowcount, sync=True
        )
        if not changed:
            raise NotFoundError(
                f"there is no key {name!r}", hint=suggestion(name, [stored.key.name for stored in self.api_keys()])
            )

    def touch_key(self, name: str, *, at: datetime) -> None:
        self._database.write(lambda connection: connection.execute(TOUCH_KEY, (_text(at), name, _text(at))).rowcount)

    def bindings(self) -> list[RoleBinding]:
        return [_binding_of(row) for row in self._database.read(LIST_BINDINGS)]

    def add_binding(self, binding: RoleBinding) -> RoleBinding:
        place = (binding.project, binding.role, binding.subject)

        def add(connection: Transaction) -> RoleBinding:
            connection.execute(ADD_BINDING, (*place, _text(binding.created_at), binding.created_by))
            return _binding_of(connection.execute(READ_BINDING, place).fetchone())

        return self._database.write(add, sync=True)

    def remove_binding(self, project: str, role: str, subject: str) -> None:
        removed = self._database.write(
            lambda connection: connection.execute(REMOVE_BINDING, (project, role, subject)).rowcount, sync=True
        )
        if not removed:
            raise NotFoundError(f"{subject} has no binding to the role {role} in the project {project!r}")

    def append_audit(self, event: AuditEvent, seal: Seal) -> AuditEvent:
        def append(connection: Transaction) -> AuditEvent:
            entry = seal(event, _head_of(connection.execute(READ_HEAD).fetchone()))
            connection.execute(
                ADD_ENTRY,
                (
                    *(entry.sequence, _text(entry.time), entry.project, entry.action, int(entry.allowed)),
                    canonical_json(entry).decode(),
                ),
            )
            connection.execute(MOVE_HEAD, (entry.sequence, entry.hash))
            return entry

        return self._database.write(append, alone=True)

    def audit_head(self) -> AuditHead:
        return _head_of(self._database.read(READ_HEAD)[0])

    def audit_page(self, wanted: AuditFilter, *, before: int | None, limit: int) -> list[AuditEvent]:
        conditions, values = _conditions(wanted)
        if before is not None:
            conditions.append("sequence < ?")
            values.append(before)
        where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
        statement = f"SELECT body FROM audit {where}ORDER BY sequence DESC LIMIT ?"  # noqa: S608 - constants of ours
        return [_ENTRY.decode(body) for (body,) in self._database.read(statement, (*values, limit))]

    def audit_from(self, after: int, *, limit: int) -> Sequence[AuditEvent]:
        return [_ENTRY.decode(body) for (body,) in self._database.read(ENTRIES_FROM, (after, limit))]

    def trim_audit(self, *, older_than: datetime) -> int:
        def trim(connection: Transaction) -> int:
            # A clock that went back must not leave a hole: entries go up to the first that is to stay.
            (first_kept,) = connection.execute(FIRST_SINCE, (_text(older_than),)).fetchone()
            head = _head_of(connection.execute(READ_HEAD).fetchone())
            last = head.last_sequence if first_kept is None else first_kept - 1
            found = connection.execute(ENTRY_AT, (last,)).fetchone()
            if found is None:
                return 0
            connection.execute(MOVE_BASE, (last, _ENTRY.decode(found[0]).hash))
            return connection.execute(TRIM, (last,)).rowcount

        return self._database.write(trim, alone=True)

    def close(self) -> None:
        self._database.close()


def _inserted(connection: Transaction, statement: str, values: Sequence[object]) -> bool:
    return bool(connection.execute(statement, values).rowcount)


def _key_of(row: tuple[Any, ...]) -> StoredKey:
    name, digest, prefix, roles, labels, created_at, created_by, expires_at, last_used_at, revoked_at = row
    key = APIKey(
        name=name,
        prefix=prefix,
        roles={project: RoleList(roles=names) for project, names in _ROLES.decode(roles).items()},
        labels=_LABELS.decode(labels),
        created_at=_moment(created_at),
        created_by=created_by,
        expires_at=_moment(expires_at),
        last_used_at=_moment(last_used_at),
        revoked=revoked_at is not None,
        source="api",
    )
    return StoredKey(digest=digest, key=key)


def _binding_of(row: tuple[str, ...]) -> RoleBinding:
    project, role, subject, created_at, created_by = row
    return RoleBinding(
        project=project,
        role=role,
        subject=subject,
        created_at=_moment(created_at),
        created_by=created_by,
        source="api",
    )


def _text(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat(timespec="microseconds") if moment else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _head_of(row: tuple[int, str, int, str]) -> AuditHead:
    last_sequence, last_hash, base_sequence, base_hash = row
    return AuditHead(last_sequence=last_sequence, last_hash=last_hash, base_sequence=base_sequence, base_hash=base_hash)


def _conditions(wanted: AuditFilter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    if wanted.projects is not None:
        names = sorted(wanted.projects)
        conditions.append(f"project IN ({', '.join('?' * len(names))})" if names else "1 = 0")
        values += names
    if wanted.action:
        conditions.append("action = ?")
        values.append(wanted.action)
    if wanted.denied_only:
        conditions.append("allowed = 0")
    return conditions, values
