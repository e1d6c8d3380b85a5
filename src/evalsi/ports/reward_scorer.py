"""What scores batches of rollouts: in this process, or on a server that does."""

from collections.abc import Sequence
from typing import Protocol

from evalsi.schema import Record, Reward


class RewardScorer(Protocol):
    """Scores batches, one after the other or several at once, in one event loop."""

    @property
    def name(self) -> str:
        """What the reward is called."""
        ...

    @property
    def part_names(self) -> Sequence[str]:
        """Its parts, in the order of the spec."""
        ...

    @property
    def reference_field(self) -> str:
        """Which column holds the reference; "" for the usual names."""
        ...

    async def score(self, rollouts: Sequence[Record]) -> list[Reward]:
        """One reward for each rollout, in order.

        Raises: RewardFailedError: a part that counts failed, and the spec says raise; or the server did not answer.
        """
        ...

    async def close(self) -> None:
        """Ends what it started. Calling it twice is fine."""
        ...
