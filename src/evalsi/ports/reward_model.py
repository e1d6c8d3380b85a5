"""Served reward models: a conversation in, a number out, as they say it."""

from typing import Literal, Protocol, TypeAlias

import msgspec

Protocols: TypeAlias = Literal["openrlhf", "vllm", "sglang"]


class RewardModelService(msgspec.Struct, frozen=True, kw_only=True):
    """Where a reward model is, and how it is spoken to."""

    url: str
    api: Protocols = "openrlhf"
    """`openrlhf`: `{"query", "prompts"}` to the address itself. `vllm`: `POST /pooling` with messages. `sglang`:
    `POST /classify` with texts."""
    model: str = ""
    """Its name, where the server has several."""
    api_key_env: str = ""
    """Name of the environment variable with the key; empty for none."""
    timeout_s: float = 60.0
    max_batch: int = 64
    """Most conversations of one request."""
    wait_ms: float = 5.0
    """How long a request waits for more of them."""


class RewardQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and its completion, in both forms that services take."""

    prompt: str
    """As the text that the model was given."""
    text: str
    """Prompt and completion together."""
    messages: tuple[tuple[str, str], ...]
    """Role and content, the completion last."""


class RewardModels(Protocol):
    """Asks reward models, several conversations at once where the service takes them so."""

    def check(self, service: RewardModelService) -> None:
        """Asks nobody. Raises: InvalidSpecError, UsageError: the address is none, or the key is not there."""
        ...

    async def score(self, service: RewardModelService, question: RewardQuestion) -> float:
        """A finite number. Raises: ProviderError."""
        ...

    async def close(self) -> None:
        """Ends its connections. Calling it twice is fine."""
        ...
