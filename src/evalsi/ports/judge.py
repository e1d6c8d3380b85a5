"""What an evaluator needs of a judge: put a prompt, get a verdict it can trust to be one."""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from evalsi.ports.chat_model import ChatReply
from evalsi.schema import Usage

T = TypeVar("T")


class JudgePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A rendered prompt. `version` names the template it came from, e.g. "correctness@1"."""

    version: str
    system: str
    user: str
    response_schema: dict[str, Any] | None = None
    top_logprobs: int = 0


class Verdict(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A reply that could be read.

    `usage` is what this verdict took. When `cached`, tokens and latency are those of the call that filled the cache,
    `usage.cost_usd` is 0 because nothing was spent now, and `usage.cached_cost_usd` is what it cost then.
    """

    value: T
    reply: str
    usage: Usage
    cached: bool = False
    repaired: bool = False
    """Whether a second, repairing question was needed."""


class Judge(Protocol):
    """A language model with a cache, limits and accounting, asked for verdicts. Records are data to it."""

    @property
    def name(self) -> str:
        """`provider/model`, for people and results."""
        ...

    async def ask(self, prompt: JudgePrompt, parse: Callable[[ChatReply], T], *, repetition: int = 0) -> Verdict[T]:
        """Asks, parses, and asks once more for a readable reply if `parse` refuses the first.

        Args:
            prompt: What to ask.
            parse: Reads the reply; raises `ReplyError` when it is no verdict.
            repetition: Distinguishes deliberate repeats of one prompt: each has its own cache entry.

        Raises:
            ReplyError: Both replies were unreadable; `detail` holds the raw reply.
            ProviderError: No reply.
            BudgetError: The judge's budget is used up.
        """
        ...
