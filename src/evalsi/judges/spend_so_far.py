"""What judges have used since somebody last looked.

Its own module because a judge lives longer than what it is asked for: whoever keeps accounts of calls or seconds needs the
difference.
"""

from collections.abc import Iterable

from evalsi.judges.spend import Spend
from evalsi.ports.spent import Spent

_Totals = tuple[int, int, float, int, int]


class SpendSoFar:
    """Remembers what was told."""

    def __init__(self) -> None:
        self._told: _Totals = (0, 0, 0.0, 0, 0)

    def since(self, spends: Iterable[Spend], project: str) -> Spent:
        """What all of `spends` hold beyond what an earlier call told. They only grow, and none leaves."""
        now: _Totals = (0, 0, 0.0, 0, 0)
        for each in spends:
            now = (
                now[0] + each.input_tokens,
                now[1] + each.output_tokens,
                now[2] + each.known_usd,
                now[3] + each.calls,
                now[4] + each.cached_calls,
            )
        before, self._told = self._told, now
        return Spent(
            project=project,
            role="judge",
            input_tokens=now[0] - before[0],
            output_tokens=now[1] - before[1],
            cost_usd=now[2] - before[2],
            asked=now[3] - before[3],
            cached=now[4] - before[4],
        )
