"""What evalsi needs of a language model: one request, one reply."""

from typing import Any, Protocol

import msgspec

from evalsi.schema import Usage


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a request: a role ("system", "user", "assistant") and its text."""

    role: str
    content: str


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that decides a reply. Two equal requests are the same question, so caches hash it whole.

    No credential is ever part of it.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    effort: str | None = None
    """Reasoning effort, in the provider's words."""
    response_schema: dict[str, Any] | None = None
    """JSON Schema the reply should follow, where the provider can enforce one."""
    top_logprobs: int = 0
    """How many alternatives per token to ask for; 0 asks for no probabilities."""


class TokenAlternatives(msgspec.Struct, frozen=True, kw_only=True):
    """One generated token and what else could have stood there, as natural-log probabilities."""

    token: str
    logprob: float
    top: dict[str, float] = {}


class ChatReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came back.

    `finish_reason` is normalised: "stop", "length" (cut at the token limit), "refusal", "tool_calls" or the provider's
    own word. `usage.latency` is the time of the successful attempt in seconds, queueing and retries left out.
    """

    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    model: str = ""
    """The model that answered, as the provider names it."""
    retries: int = 0
    logprobs: tuple[TokenAlternatives, ...] = ()
    request_id: str = ""


class ChatModel(Protocol):
    """A model behind an address. Safe to call from many tasks of one event loop."""

    @property
    def identity(self) -> dict[str, str]:
        """What a cache key needs beyond the request: provider and base URL, never a credential."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Asks once, with retries, rate limits and deadlines applied inside.

        Raises: ProviderError, typed by what happened (rate limit, timeout, refused connection, bad answer).
        """
        ...

    async def close(self) -> None:
        """Releases connections. Calling it twice is fine."""
        ...
