"""Versions of datasets in a SQL database, their records as objects: implements `ports.DatasetStore`.

An object is named after its content and put before the row that names it, so a version that can be read is whole; an
object that nobody names is only room.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.clock import Clock, SystemClock, microseconds
from evalsi.core.errors import AlreadyExistsError, ConflictError, NotFoundError, suggestion
from evalsi.core.page_token import read_page_token, write_page_token
from evalsi.infra.store.like_pattern import held_pattern
from evalsi.infra.store.transactions import SqlDatabase, Transaction
from evalsi.ports.dataset_store import Decision, VersionPage, VersionQuery
from evalsi.ports.object_store import ObjectStore
from evalsi.schema import (
    DatasetVersion,
    DatasetVersionContent,
    DatasetVersionEvent,
    DatasetVersionRef,
    DatasetVersionState,
)

READ = "SELECT version, body_key, document FROM dataset_versions WHERE project_id = ? AND name = ?"
BY_VERSION = " AND version = ?"
BY_DIGEST = " AND sha256 = ?"
NEWEST = " ORDER BY number DESC LIMIT 1"
BY_CONTENT = " AND content_sha256 = ? ORDER BY number DESC LIMIT 1"
LIST_NAMES = "SELECT DISTINCT name FROM dataset_versions WHERE project_id = ?"
LIST_VERSIONS = "SELECT version FROM dataset_versions WHERE project_id = ? AND name = ? ORDER BY number DESC"
NEXT_NUMBER = "SELECT coalesce(max(number), 0) + 1 FROM dataset_versions WHERE project_id = ? AND name = ?"
INSERT = """
    INSERT INTO dataset_versions (project_id, name, version, number, sha256, content_sha256, body_key, owner, state,
        published_us, document)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE = "UPDATE dataset_versions SET state = ?, document = ? WHERE project_id = ? AND name = ? AND version = ?"
INSERT_EVENT = """
    INSERT INTO dataset_events (project_id, name, version, revision, document) VALUES (?, ?, ?, ?, ?)"""
LIST_EVENTS = """
    SELECT document FROM dataset_events
    WHERE project_id = ? AND name = ? AND version = ? AND revision > ? ORDER BY revision LIMIT ?"""
PAGE = """
    SELECT published_us, project_id, name, version, document FROM dataset_versions
    WHERE (published_us < ? OR (published_us = ? AND (project_id, name, version) < (?, ?, ?)))"""
HOLDING = r" AND lower(name) LIKE ? ESCAPE '\'"
PAGE_ORDER = " ORDER BY published_us DESC, project_id DESC, name DESC, version DESC LIMIT ?"

_EVER_US = 1 << 62
_VERSION = msgspec.json.Decoder(DatasetVersion)
_EVENT = msgspec.json.Decoder(DatasetVersionEvent)


class _Stored(NamedTuple):
    version: str
    body_key: str
    document: str


class SqlDatasetStore:
    """Implements `DatasetStore`."""

    def __init__(
        self, database: SqlDatabase, objects: ObjectStore, *, project: str, clock: Clock | None = None
    ) -> None:
        self._database = database
        self._objects = objects
        self._project = project
        self._clock = clock or SystemClock()

    def publish(self, version: DatasetVersion, body: Path, *, body_sha256: str) -> tuple[DatasetVersion, bool]:
        content = msgspec.structs.replace(version.content or DatasetVersionContent(), project=self._project, records=[])
        bare = digest((msgspec.structs.replace(content, project="", version=""), body_sha256)).removeprefix("sha256:")
        key = f"datasets/{body_sha256[:2]}/{body_sha256}.jsonl"
        self._objects.put(key, body)
        now = self._clock.now()

        def put(connection: Transaction) -> tuple[DatasetVersion, bool]:
            named = (self._project, content.name)
            same = connection.execute(READ + BY_CONTENT, (*named, bare)).fetchone()
            if same is not None and content.version in ("", same[0]):
                return _VERSION.decode(same[2]), True
            (number,) = connection.execute(NEXT_NUMBER, named).fetchone()
            name = content.version or self._free_number(connection, content.name, number)
            if connection.execute(READ + BY_VERSION, (*named, name)).fetchone() is not None:
                raise AlreadyExistsError(
                    f"version {name} of dataset {content.name} is there with another content, and versions never change",
                    hint="leave the version out to be given the next number",
                )
            stored = msgspec.structs.replace(
                version,
                content=msgspec.structs.replace(content, version=name),
                sha256=digest((name, bare)).removeprefix("sha256:"),
                state=DatasetVersionState.DRAFT,
                revision=0,
                published_at=now,
            )
            made = (name, number, stored.sha256, bare, key, content.owner, stored.state.value, microseconds(now))
            connection.execute(INSERT, (*named, *made, msgspec.json.encode(stored).decode()))
            return stored, False

        return self._database.write(put, sync=True, alone=True)

    def version(self, name: str, version: str) -> DatasetVersion:
        return _VERSION.decode(self._stored(name, version).document)

    def read(self, name: str, version: str) -> Iterator[bytes]:
        return self._objects.read(self._stored(name, version).body_key)

    def path_of(self, reference: DatasetVersionRef) -> Path:
        stored = self._stored(reference.name, reference.version or "latest")
        sha256 = _VERSION.decode(stored.document).sha256
        if reference.sha256 and reference.sha256 != sha256:
            raise ConflictError(
                f"version {stored.version} of dataset {reference.name} has the digest {sha256}, not {reference.sha256}"
            )
        return self._objects.local_path(stored.body_key)

    def review(self, name: str, version: str, decision: Decision) -> DatasetVersion:
        def put(connection: Transaction) -> DatasetVersion:
            values = connection.execute(READ + BY_VERSION, (self._project, name, version)).fetchone()
            if values is None:
                raise self._missing(name, version)
            before = _VERSION.decode(values[2])
            if before.revision != decision.expected_revision:
                raise ConflictError(
                    f"{before.revision} decisions were made about version {version} of dataset {name}, not "
                    f"{decision.expected_revision}",
                    hint="look at it again, then decide",
                )
            if decision.sha256 and decision.sha256 != before.sha256:
                raise ConflictError(f"version {version} of dataset {name} has the digest {before.sha256}")
            now = self._clock.now()
            after = msgspec.structs.replace(
                before,
                state=decision.state,
                revision=before.revision + 1,
                reviewed_by=decision.actor,
                reviewed_at=now,
                review_note=decision.note,
            )
            event = DatasetVersionEvent(
                revision=after.revision, state=after.state, actor=decision.actor, sha256=after.sha256, time=now
            )
            key = (self._project, name, version)
            connection.execute(UPDATE, (after.state.value, msgspec.json.encode(after).decode(), *key))
            connection.execute(INSERT_EVENT, (*key, event.revision, msgspec.json.encode(event).decode()))
            return after

        return self._database.write(put, sync=True, alone=True)

    def events(self, name: str, version: str, *, size: int, after: int = 0) -> list[DatasetVersionEvent]:
        stored = self._stored(name, version)
        found = self._database.read(LIST_EVENTS, (self._project, name, stored.version, after, size))
        return [_EVENT.decode(document) for (document,) in found]

    def _free_number(self, connection: Transaction, name: str, number: int) -> str:
        """The number of the new version, or the next that nobody has taken as a name."""
        while connection.execute(READ + BY_VERSION, (self._project, name, str(number))).fetchone() is not None:
            number += 1
        return str(number)

    def _stored(self, name: str, version: str) -> _Stored:
        if version == "latest":
            found = self._database.read(READ + NEWEST, (self._project, name))
        else:
            named = self._database.read(READ + BY_VERSION, (self._project, name, version))
            found = named or self._database.read(READ + BY_DIGEST, (self._project, name, version))
        if not found:
            raise self._missing(name, version)
        return _Stored._make(found[0])

    def _missing(self, name: str, version: str) -> NotFoundError:
        names = [row[0] for row in self._database.read(LIST_NAMES, (self._project,))]
        if name not in names:
            return NotFoundError(f"there is no dataset {name!r}", hint=suggestion(name, names))
        versions = [row[0] for row in self._database.read(LIST_VERSIONS, (self._project, name))]
        return NotFoundError(f"dataset {name} has no version {version!r}", hint=suggestion(version, versions))


def list_versions(
    database: SqlDatabase, projects: Sequence[str] | None, query: VersionQuery, *, size: int, token: str
) -> VersionPage:
    """Versions of several projects, or (None) of all, the newest first."""
    scope = (sorted(projects) if projects is not None else None, query)
    position = read_page_token(token, scope, tuple[int, str, str, str]) or (_EVER_US, "", "", "")
    statement = PAGE
    asked: list[Any] = []
    if projects is not None:
        statement += f" AND project_id IN ({', '.join('?' * len(projects)) or 'NULL'})"
        asked += projects
    for column, value in (
        ("name", query.name),
        ("owner", query.owner),
        ("state", "" if query.state is DatasetVersionState.UNSPECIFIED else query.state.value),
    ):
        if value:
            statement += f" AND {column} = ?"
            asked.append(value)
    if query.search:
        statement += HOLDING
        asked.append(held_pattern(query.search))
    found = database.read(statement + PAGE_ORDER, (position[0], *position, *asked, size + 1))
    shown = found[:size]
    return VersionPage(
        versions=[_VERSION.decode(row[4]) for row in shown],
        next_token=write_page_token(scope, list(shown[-1][:4])) if len(found) > size else "",
    )
