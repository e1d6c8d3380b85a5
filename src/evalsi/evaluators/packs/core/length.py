"""How long an output is."""

from collections.abc import Callable
from typing import Literal

import msgspec

from evalsi.evaluators.api import Record, evaluator, output
from evalsi.evaluators.matching.record_text import AnswerParams, ReasoningTags, answer_reader
from evalsi.evaluators.matching.text_normalization import compose
from evalsi.evaluators.matching.word_tokens import count_words


class LengthParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is counted."""

    unit: Literal["words", "characters", "lines", "bytes"] = "words"
    """"words": between blanks, and each character of a script without blanks; "characters": code points in NFC;
    "lines": non-blank ones; "bytes": in UTF-8."""
    reasoning_tags: ReasoningTags = msgspec.field(default_factory=list[str])
    """Tags of reasoning blocks to leave out of the count; by default the whole output counts."""


_COUNTS: dict[str, Callable[[str], int]] = {
    "words": count_words,
    "characters": lambda text: len(compose(text)),
    "lines": lambda text: sum(1 for line in text.split("\n") if line.strip()),
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}


@evaluator(
    name="length",
    version="1.0.0",
    requires=["output"],
    params=LengthParams,
    outputs=[output("length", low=0, higher_is_better=None, description="Length of the output in `unit`.")],
    bounded=True,
    example={"record": {"output": "The lamp is on."}, "expected": {"length": 4.0}},
)
class Length:
    """Number of words, characters, lines or bytes of the output."""

    def __init__(self, params: LengthParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._count = _COUNTS[params.unit]

    def evaluate(self, record: Record) -> float:
        answer = self._read(record)
        return float(self._count(answer)) if answer is not None else 0.0
