"""Runs that a server is to work on: who is next, who has which run in hand, and what was asked of them meanwhile."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from evalsi.ports.run_store import RunRow
from evalsi.schema import RunManifest


class QueueLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs are worked on at once; None is no limit."""

    total: int | None = None
    per_project: int | None = None
    projects: Mapping[str, int] = {}
    """Limits of single projects, in place of `per_project`."""

    def of(self, project: str) -> int | None:
        return self.projects.get(project, self.per_project)


class TokenQuota(msgspec.Struct, frozen=True, kw_only=True):
    """What a project may use in a UTC day; None is no limit."""

    target_tokens_per_day: int | None = None
    judge_tokens_per_day: int | None = None


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is asked for. It exists in the store from then on, waiting."""

    run: RunRow
    """Without fingerprint: nobody has looked at its dataset yet."""
    manifest: RunManifest
    """Holds the specification."""
    priority: int = 0
    """Within its project, higher ones go first."""
    created_by: str = ""
    request_key: str = ""
    """The caller's own key: the same key and content within a day is the same run."""
    request_digest: str = ""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A run in somebody's hands. `token` proves it."""

    run_id: str
    project: str
    token: str


class QueueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """How a run stands in the queue. Times are microseconds since 1970."""

    run_id: str
    project: str
    state: str
    """waiting, claimed, done, failed or cancelled."""
    created_by: str
    claimed_us: int | None
    cancelling: bool
    progress: bytes
    """The last sign of life's account of how far the run is, as its worker wrote it; may be empty."""
    error: str


class RunQueue(Protocol):
    """Shared by all servers on one store. What a method has acknowledged survives; any thread may call.

    A run is in the hands of one worker at a time. Its lease ends by itself when the worker's process is seen to be gone,
    or when nothing was heard of it for the time of the lease; then the run is somebody else's, and whatever the former
    holder still tries is refused, here and in the run store.
    """

    def submit(self, submission: Submission, *, most_stored: int | None = None) -> str:
        """Makes the run and puts it in line; the id of the run, which is an earlier one where the request is repeated.

        Args:
            most_stored: How many runs the project may hold in all.

        Raises:
            UsageError: the id exists, or the request key was used for another request.
            QuotaError: the project holds too many runs already.
        """
        ...

    def claim(self, limits: QueueLimits, *, lease_s: float) -> Claim | None:
        """Takes the next run, or one whose holder is gone; None when there is nothing to do within `limits`.

        Projects take turns: the one with the fewest runs in hand goes first, of several the one that was served longest
        ago. Within a project the highest priority goes first, then the oldest. A run that was begun goes before all; one
        whose holders die again and again before they get any further fails.
        """
        ...

    def renew(self, claim: Claim, *, lease_s: float, progress: bytes = b"") -> bool:
        """Says that the holder lives; whether the run is still wanted (False: it is to be cancelled).

        Raises: LeaseLostError: the run is not in this holder's hands any more.
        """
        ...

    def release(self, claim: Claim) -> None:
        """Puts the run back in line, to be continued by somebody else. One that is lost already is left alone."""
        ...

    def settle(self, claim: Claim, state: str, *, error: str = "") -> None:
        """Ends the work: done, failed (with why) or cancelled.

        Raises: LeaseLostError: the run is not in this holder's hands any more.
        """
        ...

    def cancel(self, run_id: str) -> None:
        """Ends a waiting run, and asks the holder of one in hand to stop. Anything else is left as it is."""
        ...

    def resume(self, run_id: str, *, priority: int = 0) -> None:
        """Puts a run that was cancelled, failed or interrupted in line again.

        Raises: UsageError: it is finished, waiting or in hand.
        """
        ...

    def entry(self, run_id: str) -> QueueEntry | None:
        """None for a run that no server was asked for."""
        ...

    def depth(self) -> Mapping[str, int]:
        """How many runs are in each state that is not an end: waiting, claimed."""
        ...

    def add_usage(self, project: str, day: str, *, target_tokens: int, judge_tokens: int) -> tuple[int, int]:
        """Adds to what a project used on a UTC day (2026-01-31); (target tokens, judge tokens) of that day so far."""
        ...
