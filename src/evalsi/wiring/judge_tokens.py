"""The tokens that judges of calls and policies use, counted in the day's quota of the project beside those of its runs.

Its own module because services of a server and watch workers call it, where runs are counted by their workers. What always
holds: a project that has used up its tokens has no further judge asked for it, and what was used is counted once.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from evalsi.core.clock import Clock
from evalsi.core.errors import QuotaError, StoreError
from evalsi.ports.judge_tokens import TokensLeft
from evalsi.ports.run_queue import RunQueue, TokenQuota
from evalsi.ports.spent import Spent
from evalsi.wiring.tokens_of_day import sentence_of_quota, utc_day

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JudgeTokens:
    """Counts for a server or a worker of it. Implements `JudgeTokenQuota`. Its methods block."""

    queue: RunQueue
    account: Callable[[Spent], None]
    """Takes what was used, for the server's own totals."""
    clock: Clock
    quota: Callable[[str], TokenQuota]
    """What a project may use in a day."""

    def admit(self, project: str) -> None:
        """Returns when judges may be asked for a project. Raises: QuotaError: its tokens of the day are used up."""
        left = self.left(project)
        if left.tokens is not None and left.tokens <= 0:
            raise QuotaError(left.used_up, hint="ask again after midnight UTC, or have the operator raise the quota")

    def left(self, project: str) -> TokensLeft:
        most = self.quota(project).judge_tokens_per_day
        if most is None:
            return TokensLeft(None)
        day = utc_day(self.clock.now())
        _, used = self.queue.add_usage(project, day, target_tokens=0, judge_tokens=0)
        return TokensLeft(most - used, sentence_of_quota("judge", project, most, day))

    def add(self, spent: Spent) -> None:
        """Counts what judges used."""
        self.account(spent)
        tokens = spent.input_tokens + spent.output_tokens
        if not tokens:
            return
        try:
            self.queue.add_usage(spent.project, utc_day(self.clock.now()), target_tokens=0, judge_tokens=tokens)
        except StoreError as error:  # the call is answered, and what it cost is known here at least
            logger.warning("%s judge tokens of project %s were not counted: %s", tokens, spent.project, error)
