"""The limits of a run, looked at before every question: tokens, money, time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

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


@dataclass(slots=True)
class _Used:
    """Plain numbers, because every answer adds to them."""

    answers: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    cost_usd: float = 0.0


class BudgetWatch:
    """Adds up what a run uses and says when a limit is reached. Work in flight is finished, so totals can exceed it."""

    def __init__(self, budget: RunBudget, clock: Clock, judges: Callable[[], Usage | None]) -> None:
        self._budget = budget
        self._clock = clock
        self._judges = judges
        self._started_s = clock.monotonic_s()
        self._used = _Used()
        self._judged_before = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
        """What judges used in earlier tries at this run."""

    def add(self, usage: Usage) -> None:
        """Counts one answer of the target. One that came out of a store used nothing."""
        self.add_all((usage,))

    def add_all(self, usages: Iterable[Usage]) -> None:
        """Counts many answers, as `add` does."""
        used = self._used
        for usage in usages:
            if usage.cached:
                continue
            used.answers += 1
            used.input_tokens += usage.input_tokens or 0
            used.output_tokens += usage.output_tokens or 0
            used.cached_input_tokens += usage.cached_input_tokens or 0
            used.reasoning_tokens += usage.reasoning_tokens or 0
            used.requests += usage.requests or 1
            if usage.cost_usd is None:
                used.unpriced += 1
            else:
                used.cost_usd += usage.cost_usd

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
        self._used.requests += requests

    def total(self) -> Usage:
        """What the target used so far; no cost where no price was known."""
        used = self._used
        return Usage(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_input_tokens=used.cached_input_tokens,
            reasoning_tokens=used.reasoning_tokens,
            cost_usd=None if used.unpriced and used.unpriced >= used.answers else used.cost_usd,
            requests=used.requests,
            unpriced_requests=used.unpriced,
        )

    def reached(self) -> str | None:
        """The limit that is reached, in words; None while there is room."""
        budget, tokens = self._budget, self._used.input_tokens + self._used.output_tokens
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
            spent = self._used.cost_usd + sum(each.cost_usd or 0.0 for each in (judges, before))
            if budget.usd is not None and spent >= budget.usd:
                return f"the budget of ${budget.usd:g} is used up (${spent:.4f})"
        elapsed_s = self._clock.monotonic_s() - self._started_s
        if budget.wall_clock_s is not None and elapsed_s >= budget.wall_clock_s:
            return f"the budget of {budget.wall_clock_s:g} s is used up"
        return None
