"""`overlong-penalty`: DAPO's soft penalty for outputs near and beyond a length."""

from typing import Annotated, Literal

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, evaluator, output


class OverlongPenaltyParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the penalty begins and ends."""

    max_length: Annotated[int, msgspec.Meta(ge=1)]
    """The length from which on the penalty is -1."""
    buffer: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Within so much of `max_length` the penalty grows in a straight line from 0; with 0 it is 0 or -1."""
    unit: Literal["tokens", "words", "characters"] = "tokens"
    """What is counted. Tokens are those of `usage.output_tokens`."""


@evaluator(
    name="overlong-penalty",
    version="1.0.0",
    requires=["output"],
    params=OverlongPenaltyParams,
    outputs=[output("overlong-penalty", low=-1, high=0, description="0 for a length that is fine, down to -1.")],
    bounded=True,
    example={
        "record": {"output": "one two three four five six seven"},
        "params": {"max_length": 8, "buffer": 4, "unit": "words"},
        "expected": {"overlong-penalty": -0.75},
    },
)
class OverlongPenalty:
    """The soft overlong punishment of DAPO: 0 up to `max_length - buffer`, then falling to -1 at `max_length`.

    For a length y: 0 where y <= L - B; ((L - B) - y) / B where L - B < y <= L; -1 beyond (Yu et al. 2025, "DAPO: An
    Open-Source LLM Reinforcement Learning System at Scale", equation 13). A record without a token count is SKIPPED when
    tokens are counted.
    """

    def __init__(self, params: OverlongPenaltyParams) -> None:
        if params.buffer > params.max_length:
            raise ValueError("`buffer` is larger than `max_length`")
        self._params = params

    def evaluate(self, record: Record) -> float:
        length = self._length(record)
        limit, buffer = self._params.max_length, self._params.buffer
        if length <= limit - buffer:
            return 0.0
        return -1.0 if length > limit else (limit - buffer - length) / buffer

    def _length(self, record: Record) -> int:
        if self._params.unit == "tokens":
            tokens = record.usage.output_tokens if record.usage is not None else None
            if tokens is None:
                raise SkipRecord("the record says no usage.output_tokens; count words or characters instead")
            return tokens
        text = text_of(record.output)
        return len(text) if self._params.unit == "characters" else len(text.split())
