"""What evalsi needs of a language model: one request, one reply."""

from typing import Any, Protocol

import msgspec

from evalsi.schema import ToolCall, Usage


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a request: a role ("system", "user", "assistant", "tool") and its text.

    An assistant's message may hold the tool calls it made; a message of role "tool" answers the call `tool_call_id`.
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that the model may ask for. `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    strict: bool = False


class Thinking(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Extended thinking: how ("enabled", "adaptive", "disabled"), and the most tokens of thought."""

    mode: str
    budget_tokens: int | None = None


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
    """How many alternatives per token to ask for; 0 asks for no probabilities unless `logprobs` does."""
    logprobs: bool = False
    """Ask for the probability of each token, with or without alternatives."""
    json_mode: bool = False
    """Ask for a reply that is JSON of any form."""
    stop: tuple[str, ...] = ()
    """Texts that end the reply."""
    tools: tuple[Tool, ...] = ()
    tool_choice: str = ""
    """"auto", "none", "required" or a tool's name; empty for the provider's default."""
    thinking: Thinking | None = None
    extra: dict[str, Any] = {}
    """Further fields of the request's body, in the provider's words, sent as they are."""


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
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools the model asked for. Their arguments are the text that the model wrote, valid JSON or not."""
    reasoning: str = ""
    """What the model thought aloud, where the provider hands it out."""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    model: str = ""
    """The model that answered, as the provider names it."""
    retries: int = 0
    logprobs: tuple[TokenAlternatives, ...] = ()
    request_id: str = ""
    time_to_first_token_s: float | None = None
    """Seconds from the request to the first generated text, thought or tool call; only of streamed replies."""
    request_digest: str = ""
    """`sha256:...` of the body that was sent in the attempt that succeeded."""
    notes: tuple[str, ...] = ()
    """What was sent otherwise than asked, because the server refused it."""


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


class ReachableModel(ChatModel, Protocol):
    """A model that can be looked for before anybody pays it."""

    async def check(self) -> str:
        """Looks whether the model can be reached, within five seconds and without generating anything.

        Returns: "" or a sentence about what could not be made sure of.
        Raises: ProviderError: it cannot be reached, is not trusted, or does not accept the key.
        """
        ...
