"""The reply of a chat model as nearly every one is, read in one step and without a dictionary in between.

Its own module because it must say the same as the careful reading of `openai`: what is not exactly of this form (tools,
probabilities, contents in parts, costs, counts that are none) is not read here at all.
"""

from typing import Annotated, Any

import msgspec

from evalsi.ports.chat_model import ChatReply
from evalsi.schema import Usage

FINISH_REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refusal",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
"""The provider's words for how a reply ended, and ours."""
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]


class _PromptDetails(msgspec.Struct):
    cached_tokens: Count | None = None


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: Count | None = None


class _Usage(msgspec.Struct):
    """Tokens. A usage that names a cost or DeepSeek's own counts is not a usual one."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None
    prompt_cache_hit_tokens: None = None
    cost: None = None

    def read(self, latency_s: float) -> Usage:
        prompt, completion = self.prompt_tokens_details, self.completion_tokens_details
        return Usage(
            input_tokens=self.prompt_tokens,
            output_tokens=self.completion_tokens,
            cached_input_tokens=None if prompt is None else prompt.cached_tokens,
            reasoning_tokens=None if completion is None else completion.reasoning_tokens,
            latency=latency_s,
        )


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: Annotated[list[Any], msgspec.Meta(max_length=0)] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: None = None


class UsualReply(msgspec.Struct):
    """The body of a reply."""

    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None
    time_to_first_token_s: None = None

    def read(self, latency_s: float) -> ChatReply:
        """What it says."""
        choice, usage = self.choices[0], self.usage
        message, finish = choice.message, choice.finish_reason or "stop"
        return ChatReply(
            text=message.content or message.refusal or "",
            reasoning=message.reasoning_content or message.reasoning or "",
            finish_reason="refusal" if message.refusal and not message.content else FINISH_REASONS.get(finish, finish),
            usage=Usage(latency=latency_s) if usage is None else usage.read(latency_s),
            model=self.model or "",
        )


_DECODER = msgspec.json.Decoder(UsualReply)


def usual_reply(content: bytes) -> UsualReply | None:
    """The body, or None where it must be read with care."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
