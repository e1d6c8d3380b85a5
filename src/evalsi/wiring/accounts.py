"""What a server's work has used and sent and how its runs ended, since it was started: totals that only grow.

Its own module because run workers tell it on pipes, services tell it from the event loop, and whoever measures reads it.
"""

import threading
from collections import Counter

import msgspec

from evalsi.ports.spent import Spent


class RunEnded(msgspec.Struct, frozen=True, tag="ended"):
    """A worker is done with a run."""

    project: str
    status: str
    """done, failed or cancelled."""


class RunSpent(msgspec.Struct, frozen=True, tag="spent"):
    """A run has used something."""

    spent: Spent


class NoticeTried(msgspec.Struct, frozen=True, tag="notice"):
    """A message of a policy was sent to its webhook."""

    outcome: str
    """delivered or failed."""


class TraceDamaged(msgspec.Struct, frozen=True, tag="damaged"):
    """A trace cannot be read, or not all of it."""


WorkNews = RunEnded | RunSpent | NoticeTried | TraceDamaged
_NEWS = msgspec.json.Decoder(WorkNews)


class Accounts:
    """The totals. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[str] = Counter()
        self._damaged = 0
        self._tried: Counter[str] = Counter({"delivered": 0, "failed": 0})
        self._spent: dict[tuple[str, str], Spent] = {}

    def hear(self, line: bytes) -> None:
        """Takes what a run worker says: one of `WorkNews` as JSON. Anything else is no news."""
        try:
            news = _NEWS.decode(line)
        except msgspec.DecodeError:
            return
        match news:
            case RunEnded():
                with self._lock:
                    self._ended[news.status] += 1
            case NoticeTried():
                with self._lock:
                    self._tried[news.outcome] += 1
            case TraceDamaged():
                with self._lock:
                    self._damaged += 1
            case RunSpent():
                self.add(news.spent)

    def add(self, spent: Spent) -> None:
        if not spent:
            return
        place = (spent.project, spent.role)
        with self._lock:
            before = self._spent.get(place, Spent(project=spent.project, role=spent.role))
            self._spent[place] = Spent(
                project=spent.project,
                role=spent.role,
                input_tokens=before.input_tokens + spent.input_tokens,
                output_tokens=before.output_tokens + spent.output_tokens,
                cost_usd=before.cost_usd + spent.cost_usd,
                asked=before.asked + spent.asked,
                cached=before.cached + spent.cached,
            )

    def ended(self) -> dict[str, int]:
        """How many runs ended in each way."""
        with self._lock:
            return dict(self._ended)

    def tried(self) -> dict[str, int]:
        """How many attempts to deliver a message of a policy ended in each way."""
        with self._lock:
            return dict(self._tried)

    def damaged(self) -> int:
        """How many traces could not be read, or not all of them."""
        return self._damaged

    def spent(self) -> list[Spent]:
        """Totals by project and role."""
        with self._lock:
            return [self._spent[place] for place in sorted(self._spent)]
