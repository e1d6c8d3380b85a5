"""What a policy's judges use, against its own budget of the UTC day and the quota of its project.

Its own module because figures for people and whoever grades must call the same thing used up. What always holds: what was
used is counted once, and a question is asked only while both have something left.
"""

import asyncio
from datetime import UTC, datetime

from evalsi.ports.judge_tokens import TokensLeft
from evalsi.ports.policy_store import DaySpent
from evalsi.schema import PolicyBudget
from evalsi.watch.policy_book import ArmedPolicy
from evalsi.watch.watch_tools import WatchTools


class DayMeter:
    """Counts while a batch of one policy is graded."""

    def __init__(self, tools: WatchTools, project: str, armed: ArmedPolicy) -> None:
        self._tools = tools
        self._project = project
        self._armed = armed
        self._told = armed.spent()
        self._day_before = DaySpent(0.0, 0, 0)
        self._left = TokensLeft(None)

    async def begin(self) -> None:
        """Finds out what was used today. Raises: StoreError."""
        self._day_before = await self._add(DaySpent(0.0, 0, 0))

    async def tell(self) -> None:
        """Counts what was used since. Raises: StoreError."""
        now = self._armed.spent()
        used, self._told = now.less(self._told), now
        await asyncio.to_thread(self._tools.judge_tokens.add, self._armed.news())
        self._day_before = await self._add(used)

    def used_up(self) -> str | None:
        """Why there is no budget for another question; None while there is."""
        since = self._armed.spent().less(self._told)
        if self._left.tokens is not None and since.tokens >= self._left.tokens:
            return self._left.used_up
        return why_used_up(self._armed.checked.policy.budget, self._day_before.plus(since))

    async def _add(self, used: DaySpent) -> DaySpent:
        self._left = await asyncio.to_thread(self._tools.judge_tokens.left, self._project)
        name, day = self._armed.checked.policy.name, day_of(self._tools.clock.now())
        return await asyncio.to_thread(self._tools.policies.add_spent, self._project, name, day, used)


def day_of(now: datetime) -> str:
    """The day by which a budget is counted."""
    return now.astimezone(UTC).date().isoformat()


def why_used_up(budget: PolicyBudget | None, today: DaySpent) -> str | None:
    """That the budget of the day is used up, in words; None while it is not."""
    if budget is None:
        return None
    if budget.tokens_per_day is not None and today.tokens >= budget.tokens_per_day:
        return f"the budget of {budget.tokens_per_day:,} tokens a day is used up"
    if budget.usd_per_day is None:
        return None
    if today.unpriced:
        return f"a budget of ${budget.usd_per_day:g} a day cannot be kept: the price of {today.unpriced:,} calls is unknown"
    if today.usd >= budget.usd_per_day:
        return f"the budget of ${budget.usd_per_day:g} a day is used up"
    return None
