"""The limits of a run, looked at before every question: tokens, money, time."""

from collections.abc import Callable
from dataclasses import dataclass

from evalsi.core.clock import Clock
from evalsi.judges.spend import Spend
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
        self._worked_before_s = 0.0
        self._used = Spend()
        """What the target used."""
        self._judged_before = Spend()
        """What judges used in earlier tries at this run."""

    def add_time_before(self, seconds: float) -> None:
        """Counts the time that earlier tries at this run worked."""
        self._worked_before_s += seconds

    def add(self, usage: Usage) -> None:
        """Counts one answer of the target. One that came out of a store used nothing."""
        self._used.add_answer(usage)

    def add_all(self, spent: Spend) -> None:
        """Counts what answers of earlier tries took together."""
        self._used.add_all(spent)

    def add_judged_before(self, spent: Spend) -> None:
        """Counts what verdicts of earlier tries took together."""
        self._judged_before.add_all(spent)

    def add_failed(self, requests: int) -> None:
        """Counts the attempts of a question that got no answer. What they cost, the provider does not say."""
        self._used.failed_calls += requests

    def total(self) -> Usage:
        """What the target used so far; no cost where no price was known."""
        return self._used.as_usage()

    def reached(self) -> str | None:
        """The limit that is reached, in words; None while there is room."""
        budget, tokens = self._budget, self._used.tokens
        if budget.target_tokens is not None and tokens >= budget.target_tokens:
            return f"the budget of {budget.target_tokens:,} target tokens is used up ({tokens:,})"
        return self.judging_ended()

    def judging_ended(self) -> str | None:
        """The limit that also ends judging. Used up target tokens do not: answers that were paid for are graded."""
        budget = self._budget
        if budget.judge_tokens is not None or budget.usd is not None:
            judges, before = self._judges() or Usage(), self._judged_before
            judged = (judges.input_tokens or 0) + (judges.output_tokens or 0) + before.tokens
            if budget.judge_tokens is not None and judged >= budget.judge_tokens:
                return f"the budget of {budget.judge_tokens:,} judge tokens is used up ({judged:,})"
            spent = self._used.known_usd + (judges.cost_usd or 0.0) + before.known_usd
            if budget.usd is not None and spent >= budget.usd:
                return f"the budget of ${budget.usd:g} is used up (${spent:.4f})"
        elapsed_s = self._clock.monotonic_s() - self._started_s + self._worked_before_s
        if budget.wall_clock_s is not None and elapsed_s >= budget.wall_clock_s:
            earlier = f", {self._worked_before_s:.3g} s of it by earlier tries" if self._worked_before_s else ""
            return f"the budget of {budget.wall_clock_s:g} s is used up{earlier}"
        return None
