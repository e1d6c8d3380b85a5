"""Scores that wait to be taken to a sink, and what became of the others.

They get in with the marks that they belong to (`ports.policy_store.Settlement`), in one transaction, one delivery for each
sink, policy and subject; those of a run when it has ended, one for each record. A newer one takes the place of one that waits; one that is on its way at that time is followed by
it. Whoever takes deliveries has them for a while, and then they are due again, so what a worker dies of loses none.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from evalsi.ports.score_sink import OutgoingScores


class ScoreDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed delivery."""

    sink: str
    token: str
    version: int
    """Which of those that took each other's place."""
    attempts: int
    """How often it was claimed before."""
    created_ms: int
    scores: OutgoingScores


class DeliveryOutcome(NamedTuple):
    """What became of a claimed delivery."""

    delivery: ScoreDelivery
    is_taken: bool = False
    again_ms: int | None = None
    """When it is tried again, if it was not taken; None: it is given up."""
    error: str = ""


class SinkStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How deliveries of one policy or run to one sink stand. A delivery is what was found about one trace or session."""

    project: str
    policy: str
    sink: str
    waiting: int = 0
    delivered: int = 0
    given_up: int = 0
    delivered_ms: int = 0
    """When one was last taken; 0 for never."""
    error: str = ""
    """Why one was last not taken."""
    error_ms: int = 0

    @property
    def is_in_trouble(self) -> bool:
        """Whether something waits, and the last attempt failed."""
        return self.waiting > 0 and self.error_ms > self.delivered_ms


class ScoreOutbox(Protocol):
    """Methods block; any thread may call; what has returned is durable."""

    def put_scores(self, scores: Sequence[OutgoingScores], sinks: Sequence[str], *, place: int, now_ms: int) -> None:
        """Puts deliveries of one run. Doing it again puts none twice, also where the first ones have arrived meanwhile.

        Args:
            scores: In the same order each time.
            place: How many of that run stand before them.
        """
        ...

    def forget_run(self, project: str, run_id: str) -> None:
        """Removes what waits of a run. What has arrived stays counted."""
        ...

    def claim_scores(self, sink: str, *, now_ms: int, limit: int, lease_ms: int) -> Sequence[ScoreDelivery]:
        """Takes deliveries that are due, those that wait longest first, for `lease_ms`; then they are due again."""
        ...

    def settle_scores(self, outcomes: Sequence[DeliveryOutcome], *, now_ms: int) -> None:
        """Ends claims. Those that are not held any more change nothing."""
        ...

    def give_up_scores(self, sink: str, *, created_before_ms: int, now_ms: int, error: str, limit: int) -> int:
        """Gives up to `limit` deliveries up that are older and not on their way; how many there were.

        Args:
            error: Why, where nothing went wrong before.
        """
        ...

    def sink_standings(self, project: str | None = None, policy: str | None = None) -> Sequence[SinkStanding]:
        """By project, policy and sink; those for which there never was a delivery are left out."""
        ...
