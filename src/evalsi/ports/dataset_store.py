"""Datasets on a server: versions that never change, and what was decided about them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from evalsi.schema import DatasetVersion, DatasetVersionEvent, DatasetVersionRef, DatasetVersionState


class VersionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which versions a list shows; empty fields ask nothing."""

    name: str = ""
    state: DatasetVersionState = DatasetVersionState.UNSPECIFIED
    owner: str = ""
    search: str = ""
    """A part of the name, in any case."""


class VersionPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list, the newest first. `next_token` is empty after the last part."""

    versions: list[DatasetVersion]
    next_token: str


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody decided about a version."""

    sha256: str
    """The content that was looked at."""
    expected_revision: int
    state: DatasetVersionState
    actor: str
    note: str


class DatasetStore(Protocol):
    """The datasets of one project. Methods block; any thread may call. Versions come and go without their records."""

    def publish(self, version: DatasetVersion, body: Path, *, body_sha256: str) -> tuple[DatasetVersion, bool]:
        """Stores a version, durably, and gives it as it is stored, with whether it was there already.

        A version of the same dataset with the same content, whatever its number, is the one that is given. An empty
        `content.version` becomes the next number.

        Args:
            version: Without records, digest, state and revision, which the store fills in; `records` counts them.
            body: The records as JSON Lines.
            body_sha256: Its digest, in hexadecimal.
        Raises: AlreadyExistsError: the version is there with another content.
        """
        ...

    def version(self, name: str, version: str) -> DatasetVersion:
        """By its name, its digest, or "latest". Raises: NotFoundError, with the nearest."""
        ...

    def read(self, name: str, version: str) -> Iterator[bytes]:
        """The records as JSON Lines, in pieces that may end within a line. Raises: NotFoundError."""
        ...

    def path_of(self, reference: DatasetVersionRef) -> Path:
        """A file with the records of the version that a specification names; the newest where it names none.

        Raises: NotFoundError: there is none. ConflictError: its content is not the one that the reference demands.
        """
        ...

    def review(self, name: str, version: str, decision: Decision) -> DatasetVersion:
        """Raises: NotFoundError. ConflictError: it was decided otherwise meanwhile, or about another content."""
        ...

    def events(self, name: str, version: str, *, size: int, after: int = 0) -> list[DatasetVersionEvent]:
        """What was decided after the decision of that number, the oldest first. Raises: NotFoundError."""
        ...
