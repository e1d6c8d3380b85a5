"""Policies, and everything that they have found, as it is kept.

What a policy did with a trace or session is a mark, one per policy and subject. A mark replaces the one before it, and
with it everything that was counted of it: so a worker that dies and is followed by another counts nothing twice, and a
trace that is scored again because spans came late is counted with its last values. Figures, alerts and messages change in
the transaction that stores the marks. What figures and alerts are made of is none of the store's business: it keeps bytes
that `Folding` makes.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from evalsi.ports.score_sink import OutgoingScores
from evalsi.schema import OnlineEvalPolicy

Stage: TypeAlias = Literal["seen", "matched", "sampled", "evaluated"]
"""How far a subject came with a policy; each includes those before it."""
STAGES: tuple[Stage, ...] = ("seen", "matched", "sampled", "evaluated")

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
SESSION_PREFIX = "session:"
"""Begin of the subject of a mark about a session; the subject of one about a trace is the trace's id."""


class PolicyMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a policy did with one trace or session."""

    policy: str
    subject: str
    revision: int = 1
    at_ms: int
    """When the subject began, in milliseconds since 1970: the time that its values count for."""
    stage: Stage = "seen"
    over_budget: bool = False
    """Whether it was left out because the budget of the day was used up."""
    promoted: bool = False
    groups: dict[str, str] = {}
    """What figures can be split by: "version", "service", "model", "label.<key>"."""
    cluster: str = ""
    """The session, whose traces are not independent of each other; empty when the subject stands alone."""
    own_key: str = ""
    """Digest of the sender's own key of it; empty when it has none."""
    asked: str = ""
    """Digest of its input; empty when there is none."""
    values: dict[str, list[float]] = {}
    """By metric; several where every step of a trace is evaluated."""
    skipped: dict[str, list[str]] = {}
    """Reasons by metric, one for each evaluation that was skipped."""
    errors: list[str] = []
    """Metrics whose evaluation went wrong."""
    duration_ms: float | None = None
    """How long the trace took; only kept by policies that take slow ones whatever the draw says."""


class BucketKey(NamedTuple):
    """Which values a bucket holds: those of a metric in the minute (later: the hour) that begins at `start_ms`."""

    policy: str
    metric: str
    field: str
    """What they are split by; empty for all."""
    value: str
    start_ms: int


class Bucket(NamedTuple):
    key: BucketKey
    length_ms: int
    body: bytes


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """A message to somebody outside, to be delivered at least once under one key."""

    key: str
    """The same for the same event, whoever finds it and however often it is sent."""
    policy: str
    event: str
    """"alert.fired" or "alert.resolved"."""
    url: str
    form: str = "json"
    secret_env: str = ""
    body: bytes
    """JSON, as it is sent; for "pagerduty" without the routing key."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is to be sent now."""

    project: str
    notice: Notice
    attempts: int
    """How often that was tried."""
    created_ms: int


class Folding(Protocol):
    """What the bytes mean. All functions are pure: a transaction may call them again."""

    def changes(self, added: Sequence[PolicyMark], removed: Sequence[PolicyMark]) -> Mapping[BucketKey, bytes]:
        """What is to be added to which bucket."""
        ...

    def merged(self, body: bytes, change: bytes) -> bytes:
        """A bucket and a change, or another bucket, as one."""
        ...

    def alerted(
        self, policy: str, state: bytes | None, fresh: Sequence[PolicyMark]
    ) -> tuple[bytes | None, Sequence[Notice]]:
        """The state of a policy's alerts after marks of subjects that had no values before, and whom to tell what."""
        ...


class TaskKey(NamedTuple):
    """One policy that is to evaluate one subject."""

    policy: str
    subject: str


class PolicyTask(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed task."""

    project: str
    key: TaskKey
    token: str
    attempts: int
    """How often it was claimed before."""


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about subjects of one project, stored together."""

    project: str
    marks: Sequence[PolicyMark] = ()
    queued: Sequence[TaskKey] = ()
    """Tasks to put in line; one that is there already stays one. A task whose subject has a mark of a lower revision is
    taken from whoever has it in hand, and one whose mark is left out is not put in line."""
    done: Sequence[PolicyTask] = ()
    """Tasks that are finished. Marks of one that somebody else has in hand by now are left out."""
    claims: Mapping[str, str] = {}
    """Tokens of the traces and sessions that this was found in, by subject. What is said of one that somebody else has
    taken over is left out. Of a subject that is not named nobody asks."""
    outgoing: Sequence[tuple[OutgoingScores, Sequence[str]]] = ()
    """Scores that are to be taken to these sinks, if the mark of their subject is stored."""


class DaySpent(NamedTuple):
    """What judges of a policy used in a UTC day."""

    usd: float
    tokens: int
    unpriced: int
    """Calls whose price is not known."""

    def plus(self, other: "DaySpent") -> "DaySpent":
        return DaySpent(self.usd + other.usd, self.tokens + other.tokens, self.unpriced + other.unpriced)

    def less(self, other: "DaySpent") -> "DaySpent":
        return DaySpent(self.usd - other.usd, self.tokens - other.tokens, self.unpriced - other.unpriced)


class PolicyStore(Protocol):
    """The policies of all projects. Methods block; any thread may call; what has returned is durable."""

    def apply(self, policy: OnlineEvalPolicy, *, now_ms: int) -> None:
        """Stores a policy of `policy.project`, in place of the one of that name. What was found stays."""
        ...

    def policies(self, projects: Sequence[str] | None = None) -> Sequence[OnlineEvalPolicy]:
        """Those of these projects, or (None) of all, by project and name."""
        ...

    def policy(self, project: str, name: str) -> OnlineEvalPolicy:
        """Raises: NotFoundError, with the nearest name."""
        ...

    def delete(self, project: str, name: str) -> None:
        """What it found stays, and comes back with a policy of the same name. Raises: NotFoundError."""
        ...

    def generation(self) -> int:
        """A number that changes whenever a policy is applied or deleted."""
        ...

    def settle(self, settlement: Settlement, folding: Folding, *, now_ms: int) -> None:
        """Stores marks with everything that follows from them. A mark below the revision of the one that is there, or of
        an earlier stage with the same revision, is left out.
        """
        ...

    def marked(self, project: str, policy: str, subjects: Sequence[str]) -> Mapping[str, Stage]:
        """How far these subjects came; those that are not known are left out."""
        ...

    def marks(self, project: str, policy: str, *, since_ms: int, until_ms: int, limit: int) -> Sequence[PolicyMark]:
        """Marks of evaluated subjects that began in that time, the newest first."""
        ...

    def counts(self, project: str, policy: str) -> Mapping[str, int]:
        """Subjects by `Stage`, and "promoted", "over_budget" and "errors" (evaluations that went wrong)."""
        ...

    def groups(self, project: str, policy: str, field: str) -> Mapping[str, int]:
        """How many subjects were seen with each value of that field ("version" …)."""
        ...

    def buckets(self, project: str, policy: str, *, since_ms: int, until_ms: int, field: str = "") -> Sequence[Bucket]:
        """Buckets that begin in that time, the oldest first."""
        ...

    def alert_state(self, project: str, policy: str) -> bytes | None:
        """As `Folding.alerted` left it."""
        ...

    def claim_tasks(
        self, *, now_ms: int, limit: int, lease_ms: int, beside: Sequence[tuple[str, str]] = ()
    ) -> Sequence[PolicyTask]:
        """Takes tasks for `lease_ms`, those that wait longest first, all of one policy; then they are due again.

        Args:
            beside: Policies, as (project, name), whose tasks are left alone: they are being worked on.
        """
        ...

    def renew_tasks(self, tasks: Sequence[PolicyTask], *, now_ms: int, lease_ms: int) -> None:
        """Keeps claims that are still held for another `lease_ms`."""
        ...

    def put_back(self, tasks: Sequence[PolicyTask], *, until_ms: int) -> None:
        """Gives claims that are still held back, as if nobody had taken them; they are due again at `until_ms`."""
        ...

    def in_line(self, project: str, policy: str, subjects: Sequence[str]) -> frozenset[str]:
        """Which of these subjects have a task that is not finished."""
        ...

    def waiting(self, project: str, policy: str) -> int:
        """Tasks that are not finished."""
        ...

    def add_spent(self, project: str, policy: str, day: str, spent: DaySpent) -> DaySpent:
        """Counts what judges used in a day such as 2026-01-31; the sum of that day."""
        ...

    def claim_deliveries(self, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[Delivery]:
        """Takes messages that are to be sent now."""
        ...

    def delivered(self, key: str) -> None:
        """A message has arrived."""
        ...

    def deferred(self, key: str, *, until_ms: int | None, error: str) -> None:
        """A message has not arrived, and is tried again at that time; None: it is given up."""
        ...

    def forget(self, project: str, subjects: Sequence[str]) -> None:
        """Removes the marks of subjects, their tasks, and whatever waits to be taken to a sink. What was counted of them stays.

        Whoever has one of the tasks in hand settles nothing of it afterwards.
        """
        ...

    def tidy(self, folding: Folding, *, minutes_until_ms: int, marks_until_ms: int, limit: int) -> int:
        """Makes hours of minutes, and removes marks, that are older than that; how many rows were changed."""
        ...
