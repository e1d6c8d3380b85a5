"""The inbox of failures as it is kept: cases that change, and what happened to each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from evalsi.schema import FailureCase, FailureEvent, FailureStatus


class FailureQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which failures a list shows; empty fields ask nothing."""

    status: FailureStatus = FailureStatus.UNSPECIFIED
    assignee: str = ""


class FailureSource(msgspec.Struct, frozen=True, kw_only=True):
    """Traces that failures were made from. What is given must all hold; at least one of the first three is."""

    trace_ids: Sequence[str] = ()
    session_id: str = ""
    user_id: str = ""
    before: datetime | None = None
    """Begun before this time."""


class FailurePage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a list. `next_token` is empty after the last part."""

    failures: Sequence[FailureCase]
    next_token: str


class FailureStore(Protocol):
    """The failures of all projects. Methods block; any thread may call; what has returned is durable.

    A failure is found by the project it names and its id. Each of its revisions has one event.
    """

    def capture(self, failure: FailureCase, event: FailureEvent) -> tuple[FailureCase, bool]:
        """Stores a new failure, and gives the one that is there with whether it was there already.

        A project holds one failure of each `source_sha256`.
        """
        ...

    def replace(self, failure: FailureCase, event: FailureEvent, *, expected_revision: int) -> None:
        """Stores `failure` in place of what stands under its id.

        Raises: NotFoundError: there is none. ConflictError: it stands at another revision, and nothing was stored.
        """
        ...

    def get(self, project: str, failure_id: str) -> FailureCase:
        """Raises: NotFoundError."""
        ...

    def find(self, projects: Sequence[str] | None, query: FailureQuery, *, size: int, token: str = "") -> FailurePage:
        """Failures of these projects, or (None) of all, the newest first; without their records."""
        ...

    def count(self, projects: Sequence[str] | None) -> dict[FailureStatus, int]:
        """How many there are of each status; a status without any is left out."""
        ...

    def events(self, project: str, failure_id: str, *, size: int, after: int = 0) -> Sequence[FailureEvent]:
        """What happened after the revision of that number, the oldest first. Raises: NotFoundError."""
        ...

    def delete(self, project: str, failure_id: str, *, expected_revision: int) -> None:
        """Removes a failure with its events. Raises: as `replace`."""
        ...

    def forget(self, project: str, source: FailureSource) -> int:
        """Removes the failures that were made from such traces, for good; how many there were."""
        ...
