"""What a run needs of whatever is under evaluation: one case in, one answer out."""

from typing import Any, Protocol

import msgspec

from evalsi.ports.chat_model import TokenAlternatives
from evalsi.schema import Content, Record, Trajectory, Usage

CAPABILITIES = {
    "usage": "answers say how many tokens they took",
    "tools": "answers may hold tool calls",
    "logprobs": "answers hold the probabilities of their tokens",
    "seed": "a repetition can be made to repeat",
    "streaming": "answers say when the first token came",
    "json": "the form of an answer can be enforced",
    "messages": "a whole conversation can be asked about, not only a text",
    "trajectory": "answers may hold the steps that led to them",
}
"""Every capability a target may declare, and what it promises."""


class TargetTask(msgspec.Struct, frozen=True, kw_only=True):
    """One case to ask about, once.

    Args:
        record: What a target may see of it is its `input`, `context` and `metadata`; never its reference.
        trial: Number of the repetition, from 0.
        seed: For this repetition. None lets the target count up its own seed, where one was set, by `trial`.
    """

    record: Record
    trial: int = 0
    seed: int | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the target gave. An empty, cut or refused answer is an answer: `stop_reason` and `notes` say so.

    `stop_reason` is "stop", "length" (cut at the token limit), "refusal", "tool_calls", "timeout" (an agent ran out of its
    time, and this is what it had said), "exit" (a program ended with a failure after saying this), or the target's own word.
    `usage.latency` is the seconds of the attempt that succeeded; `usage.requests` counts every attempt.
    """

    output: Content
    usage: Usage = Usage()
    stop_reason: str = "stop"
    model: str = ""
    """The model that answered, as the provider names it."""
    time_to_first_token_s: float | None = None
    retries: int = 0
    request_digest: str = ""
    """`sha256:...` of what was sent; "" where nothing is sent."""
    request_id: str = ""
    logprobs: tuple[TokenAlternatives, ...] = ()
    reasoning: str = ""
    """What the model thought aloud; never part of `output`."""
    trajectory: Trajectory | None = None
    notes: tuple[str, ...] = ()
    """What a reader of the record should know, each a short sentence."""
    details: dict[str, Any] = {}
    """Pieces of the raw answer worth keeping, such as what a program wrote to its standard error. JSON values."""


class Target(Protocol):
    """A model, an agent or a program under evaluation. Safe to ask from many tasks of one event loop at once.

    Retries, rate limits, concurrency limits and deadlines are applied inside. Cancelling `answer` leaves nothing running.
    """

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the answers, as JSON values: for fingerprints, recordings and manifests. Never a credential.

        `connector` is always there. Where the target lives stands under `address` alone, so that a recording made at one
        address can be replayed under another.
        """
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """Names out of `CAPABILITIES`."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What of a record no question can be made without: names of fields, or `metadata.NAME`."""
        ...

    async def check(self) -> str:
        """Looks, within five seconds and without spending anything, whether there is anybody to ask.

        Returns: "" or a sentence about what could not be made sure of.
        Raises: ProviderError, TargetError, MeasurementError: in one sentence, why nobody could answer.
        """
        ...

    async def answer(self, task: TargetTask) -> Answer:
        """Asks once.

        Raises:
            ProviderError: no answer because of the infrastructure between us and the target: rate limits, failures,
                deadlines, credentials (TARGET_AUTH). `may_retry` says whether asking later makes sense.
            TargetError: the target failed by itself (fault AGENT): it raised, crashed or printed nothing that can be read.
            MeasurementError: anything else, with its kind and fault, such as a record without an input.
        """
        ...

    async def close(self) -> None:
        """Releases connections, threads and programs. Calling it twice is fine."""
        ...
