"""The limits of a run, looked at before every question: tokens, money, time."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from evalsi.core.clock import Clock
from evalsi.schema import Usage


@dataclass(frozen=True, kw_only=True)
class RunBudget:
    """The most a run may use; None is no limit."""

    target_tokens: int | None = None
    judge_tokens: int | None = None
    usd: float | None = None
    """For target and judges together. Needs known prices: an unknown one is refused before the run starts."""
    wall_clock_s: float | None = None


class BudgetWatch:
    """Adds up what a run uses and says when a limit is reached. Work in flight is finished, so totals can exceed it."""

    def __init__(self, budget: RunBudget, clock: Clock, judges: Callable[[], Usage | None]) -> None:
        self._budget = budget
        self._clock = clock
        self._judges = judges
        self._started_s = clock.monotonic_s()
        self.target = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0, requests=0)
        self._answers = 0
        self._unpriced = 0
        self._judged_before = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
        """What judges used in earlier tries at this run."""

    def add(self, usage: Usage) -> None:
        """Counts one answer of the target. One that came out of a store used nothing."""
        if usage.cached:
            return
        total = self.target
        self._answers += 1
        self._unpriced += usage.cost_usd is None
        self.target = Usage(
            input_tokens=(total.input_tokens or 0) + (usage.input_tokens or 0),
            output_tokens=(total.output_tokens or 0) + (usage.output_tokens or 0),
            cached_input_tokens=(total.cached_input_tokens or 0) + (usage.cached_input_tokens or 0),
            reasoning_tokens=(total.reasoning_tokens or 0) + (usage.reasoning_tokens or 0),
            cost_usd=(total.cost_usd or 0.0) + (usage.cost_usd or 0.0),
            requests=(total.requests or 0) + (usage.requests or 1),
            unpriced_requests=self._unpriced,
        )

    def add_judged_before(self, usage: Usage) -> None:
        """Counts one verdict of an earlier try. One that came out of a cache used nothing."""
        if usage.cached:
            return
        total = self._judged_before
        self._judged_before = Usage(
            input_tokens=(total.input_tokens or 0) + (usage.input_tokens or 0),
            output_tokens=(total.output_tokens or 0) + (usage.output_tokens or 0),
            cost_usd=(total.cost_usd or 0.0) + (usage.cost_usd or 0.0),
        )

    def add_failed(self, requests: int) -> None:
        """Counts the attempts of a question that got no answer. What they cost, the provider does not say."""
        self.target = msgspec.structs.replace(self.target, requests=(self.target.requests or 0) + requests)

    def total(self) -> Usage:
        """What the target used so far; no cost where no price was known."""
        requests = self.target.requests or 0
        if self._unpriced and self._unpriced >= self._answers:
            return Usage(
                input_tokens=self.target.input_tokens,
                output_tokens=self.target.output_tokens,
                cached_input_tokens=self.target.cached_input_tokens,
                reasoning_tokens=self.target.reasoning_tokens,
                requests=requests,
                unpriced_requests=self._unpriced,
            )
        return self.target

    def reached(self) -> str | None:
        """The limit that is reached, in words; None while there is room."""
        budget, target = self._budget, self.target
        tokens = (target.input_tokens or 0) + (target.output_tokens or 0)
        if budget.target_tokens is not None and tokens >= budget.target_tokens:
            return f"the budget of {budget.target_tokens:,} target tokens is used up ({tokens:,})"
        return self.judging_ended()

    def judging_ended(self) -> str | None:
        """The limit that also ends judging. Used up target tokens do not: answers that were paid for are graded."""
        budget = self._budget
        if budget.judge_tokens is not None or budget.usd is not None:
            judges, before = self._judges() or Usage(), self._judged_before
            judged = sum(each.input_tokens or 0 for each in (judges, before))
            judged += sum(each.output_tokens or 0 for each in (judges, before))
            if budget.judge_tokens is not None and judged >= budget.judge_tokens:
                return f"the budget of {budget.judge_tokens:,} judge tokens is used up ({judged:,})"
            spent = sum(each.cost_usd or 0.0 for each in (self.target, judges, before))
            if budget.usd is not None and spent >= budget.usd:
                return f"the budget of ${budget.usd:g} is used up (${spent:.4f})"
        elapsed_s = self._clock.monotonic_s() - self._started_s
        if budget.wall_clock_s is not None and elapsed_s >= budget.wall_clock_s:
            return f"the budget of {budget.wall_clock_s:g} s is used up"
        return None
