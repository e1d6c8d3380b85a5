"""What an evaluator compares: the final answer of a record's output, and the texts its reference allows.

Its own module because these two readings are the first step of nearly every deterministic check.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec

from evalsi.core.content import json_text, text_of
from evalsi.core.errors import SkipRecord
from evalsi.evaluators.matching.reasoning_blocks import REASONING_TAGS, answer_finder
from evalsi.schema import Record

AnswerReader: TypeAlias = Callable[[Record], "str | None"]

ReasoningTags: TypeAlias = Annotated[
    list[str],
    msgspec.Meta(description="Tags of reasoning blocks, which are no part of the answer; [] reads the whole output."),
]
EMPTY_REFERENCE = "the reference is empty"
NO_FINAL_ANSWER = "no final answer: the reasoning block is not closed"


class AnswerParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The params of every evaluator that reads an answer."""

    reasoning_tags: ReasoningTags = msgspec.field(default_factory=lambda: list(REASONING_TAGS))


def answer_reader(tags: Sequence[str]) -> AnswerReader:
    """A function from a record to its final answer: its output's text without reasoning blocks.

    It returns None where a reasoning block was left open, and "" where there is no output.
    """
    find = answer_finder(tags)

    def read(record: Record) -> str | None:
        output = record.output
        text = output.text if output is not None else ""
        return find(text_of(output) if text is None else text)

    return read


def reference_texts(record: Record, *, allow_empty: bool = False) -> Sequence[str]:
    """The texts that would be right: the reference, or each of them when it is a JSON list of texts.

    Raises:
        SkipRecord: there is none, or it is blank (unless `allow_empty`): comparing with nothing measures nothing.
    """
    reference = record.reference
    if reference is None:
        raise SkipRecord("the record has no reference")
    text = reference.text
    if text is None:
        values: Any = reference.json
        if isinstance(values, list):
            items: list[Any] = values  # pyright: ignore[reportUnknownVariableType] - JSON
            texts = [json_text(item) for item in items if item is not None]
            if not allow_empty:
                texts = [text for text in texts if text.strip()]
            if texts:
                return texts
            raise SkipRecord(EMPTY_REFERENCE)
        text = text_of(reference)
    if not allow_empty and (not text or text.isspace()):
        raise SkipRecord(EMPTY_REFERENCE)
    return (text,)
