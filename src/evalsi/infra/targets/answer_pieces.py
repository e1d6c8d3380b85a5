"""Outputs, usage and trajectories as agents spell them, read into ours. Agents are many, and none of them read our schema."""

import math
from typing import Any, cast

import msgspec

from evalsi.datasets.chat import messages_of
from evalsi.infra.models.payload import count_of
from evalsi.schema import Content, Messages, Trajectory, Usage

_INPUT_TOKENS = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count")
_OUTPUT_TOKENS = ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidates_token_count")
_CACHED_TOKENS = ("cached_input_tokens", "cache_read_input_tokens", "cached_tokens", "cachedInputTokens")
_REASONING_TOKENS = ("reasoning_tokens", "reasoningTokens", "thoughts_token_count")
_COST = ("cost_usd", "total_cost_usd", "costUsd", "cost")

EMPTY_NOTE = "the answer is empty"


def content_of(value: Any) -> Content:
    """An output: text as text, a conversation as messages, anything else as JSON."""
    if isinstance(value, str):
        return Content(text=value)
    if isinstance(value, list):
        messages = messages_of(cast("list[Any]", value))
        if messages is not None:
            return Content(messages=Messages(messages=messages))
    return Content(json=value)


def is_empty(content: Content) -> bool:
    """Whether nothing was said at all."""
    if content.text is not None:
        return not content.text.strip()
    if content.messages is not None:
        return not any(message.content.strip() or message.tool_calls for message in content.messages.messages)
    return False


def usage_of(value: Any, *, latency_s: float | None = None) -> Usage:
    """What an agent says that it used, in any usual spelling; what it does not say is absent."""
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    def count(names: tuple[str, ...]) -> int | None:
        return next((number for name in names if (number := count_of(found.get(name))) is not None), None)

    cost = next((found[name] for name in _COST if isinstance(found.get(name), (int, float))), None)
    return Usage(
        input_tokens=count(_INPUT_TOKENS),
        output_tokens=count(_OUTPUT_TOKENS),
        cached_input_tokens=count(_CACHED_TOKENS),
        reasoning_tokens=count(_REASONING_TOKENS),
        cost_usd=float(cost) if cost is not None and math.isfinite(cost) and cost >= 0 else None,
        latency=latency_s,
    )


def trajectory_of(value: Any) -> tuple[Trajectory | None, str]:
    """The steps that an agent hands out, as our trajectory or a list of our steps; else None and why not."""
    if value is None or value is msgspec.UNSET:
        return None, ""
    from evalsi.schema import json_codec

    wanted = cast("Any", {"steps": value} if isinstance(value, list) else value)
    if not isinstance(wanted, dict):
        return None, "the trajectory cannot be read: it is neither an object nor a list of steps"
    try:
        return json_codec.convert(wanted, Trajectory), ""
    except json_codec.SchemaError as error:
        return None, f"the trajectory cannot be read: {error}"
