"""All questions that one evaluator puts to the judge about one record, and the scores they end in.

Its own module so that no judged score can come without its origin: who judged, with which prompts, what it took, and
whether it came from the cache. Questions are asked one after the other, so that records under way are calls under way.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from evalsi.evaluators.api import EvalContext
from evalsi.ports.chat_model import ChatReply
from evalsi.ports.judge import JudgePrompt, Verdict
from evalsi.schema import Score, Usage

T = TypeVar("T")


class Interview:
    """The judge, for one record."""

    def __init__(self, context: EvalContext) -> None:
        self._judge = context.require_judge()
        self._trial = context.repetition
        self._verdicts: list[Verdict[Any]] = []
        self._prompts: dict[str, None] = {}

    async def ask(
        self, prompt: JudgePrompt, read: Callable[[ChatReply], T], *, vote: int = 0, votes: int = 1
    ) -> Verdict[T]:
        """One question.

        Args:
            prompt: What to ask.
            read: Reads the reply; raises `ReplyError`.
            vote: Which of `votes` deliberate repeats of the question this is; each has its own place in the cache.
        Raises: ReplyError, ProviderError, BudgetError: see `ports.judge.Judge.ask`.
        """
        verdict = await self._judge.ask(prompt, read, repetition=self._trial * votes + vote)
        self._verdicts.append(verdict)
        self._prompts[prompt.version] = None
        return verdict

    async def ask_repeatedly(self, prompt: JudgePrompt, read: Callable[[ChatReply], T], votes: int) -> list[Verdict[T]]:
        """The same question `votes` times."""
        return [await self.ask(prompt, read, vote=vote, votes=votes) for vote in range(votes)]

    def score(
        self,
        name: str,
        value: float | bool | str,
        explanation: str = "",
        *,
        confidence: float | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Score:
        """A score that carries what all questions so far took.

        Args:
            name: Of the output.
            value: A number, a verdict (bool) or a label (str).
            explanation: In the judge's words.
            confidence: A fraction from 0 to 1, where there is one.
            metadata: What else is worth keeping, beside the origin.
        """
        return Score(
            name=name,
            number=value if isinstance(value, (int, float)) and not isinstance(value, bool) else None,
            passed=value if isinstance(value, bool) else None,
            label=value if isinstance(value, str) else None,
            explanation=explanation,
            confidence=confidence,
            cost=self.usage,
            metadata=self.origin | (metadata or {}),
        )

    @property
    def usage(self) -> Usage:
        """Tokens, money and time of all questions together."""
        return total_usage([verdict.usage for verdict in self._verdicts])

    @property
    def origin(self) -> dict[str, Any]:
        """Who judged with which prompts; `cached` when nothing was asked, `repaired` when a reply had to be."""
        found: dict[str, Any] = {"judge": self._judge.name, "prompts": list(self._prompts)}
        if self._verdicts and all(verdict.cached for verdict in self._verdicts):
            found["cached"] = True
        if any(verdict.repaired for verdict in self._verdicts):
            found["repaired"] = True
        return found


def total_usage(usages: Sequence[Usage]) -> Usage:
    """The sum. What nobody measured stays absent; it is `cached` only when all of it came from our own cache.

    Costs keep apart: `cost_usd` is what was spent now, `cached_cost_usd` what the cached answers cost the first time.
    """
    return Usage(
        input_tokens=_sum([usage.input_tokens for usage in usages]),
        output_tokens=_sum([usage.output_tokens for usage in usages]),
        cost_usd=_sum([usage.cost_usd for usage in usages]),
        latency=_sum([usage.latency for usage in usages]),
        cached_input_tokens=_sum([usage.cached_input_tokens for usage in usages]),
        cache_write_tokens=_sum([usage.cache_write_tokens for usage in usages]),
        reasoning_tokens=_sum([usage.reasoning_tokens for usage in usages]),
        cached=bool(usages) and all(usage.cached for usage in usages),
        cached_cost_usd=_sum([usage.cached_cost_usd for usage in usages]),
        requests=_sum([usage.requests for usage in usages]),
        unpriced_requests=sum(usage.unpriced_requests for usage in usages),
    )


N = TypeVar("N", int, float)


def _sum(numbers: Sequence[N | None]) -> N | None:
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


__all__ = ["Interview", "total_usage"]
