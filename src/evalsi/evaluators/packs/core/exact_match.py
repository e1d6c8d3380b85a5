"""Exact match: the answer is the expected text, up to differences nobody sees."""

from collections.abc import Sequence

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.reasoning_blocks import REASONING_TAGS
from evalsi.evaluators.matching.record_text import EMPTY_REFERENCE, ReasoningTags, answer_reader, reference_texts
from evalsi.evaluators.matching.text_normalization import Normalization, normalizer
from evalsi.evaluators.packs.core.verdicts import missed


class ExactMatchParams(Normalization, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which differences count, and what to do with an empty reference."""

    reasoning_tags: ReasoningTags = msgspec.field(default_factory=lambda: list(REASONING_TAGS))
    negate: bool = False
    """Pass where the texts differ."""
    allow_empty_reference: bool = False
    """Compare with an empty reference too (questions without an answer) instead of skipping the record."""


class EqualsParams(Normalization, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected text, and which differences count."""

    value: str
    """What the answer must be."""
    reasoning_tags: ReasoningTags = msgspec.field(default_factory=lambda: list(REASONING_TAGS))
    negate: bool = False
    """Pass where the texts differ."""


@evaluator(
    name="exact-match",
    version="1.0.0",
    requires=["output", "reference"],
    params=ExactMatchParams,
    outputs=[output("exact-match", "passed", description="The answer is one of the reference texts.")],
    bounded=True,
    example={"record": {"output": "Paris ", "reference": "Paris"}, "expected": {"exact-match": True}},
)
class ExactMatch:
    """Whether the answer equals the reference, or one of them when the reference is a JSON list of texts.

    By default Unicode forms, blanks, line ends and invisible characters are unified; case, accents and punctuation are
    differences (docs/reference/matching.md). An empty reference is SKIPPED, a blank answer is a miss.
    """

    def __init__(self, params: ExactMatchParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._form = normalizer(params)
        self._negate = params.negate
        self._allow_empty = params.allow_empty_reference
        self._no_answer = missed("exact-match")

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return self._no_answer
        reference = record.reference
        expected = reference.text if reference is not None else None
        if expected is None:
            return self._matches_any(answer, reference_texts(record, allow_empty=self._allow_empty))
        form = self._form
        wanted = form(expected)
        if not wanted and not self._allow_empty:
            raise SkipRecord(EMPTY_REFERENCE)
        return (answer == expected or form(answer) == wanted) is not self._negate

    def _matches_any(self, answer: str, references: Sequence[str]) -> bool:
        given = self._form(answer)
        wanted = [self._form(reference) for reference in references]
        if not self._allow_empty and not any(wanted):
            raise SkipRecord(EMPTY_REFERENCE)
        return any(given == text and (text or self._allow_empty) for text in wanted) is not self._negate


@evaluator(
    name="equals",
    version="1.0.0",
    requires=["output"],
    params=EqualsParams,
    outputs=[output("equals", "passed", description="The answer is the given text.")],
    bounded=True,
    example={
        "record": {"output": "yes\r\n"},
        "params": {"value": "Yes", "ignore_case": True},
        "expected": {"equals": True},
    },
)
class Equals:
    """Whether the answer equals one given text, the same for all records; differences count as in exact-match."""

    def __init__(self, params: EqualsParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._form = normalizer(params)
        self._wanted = self._form(params.value)
        self._negate = params.negate
        self._no_answer = missed("equals")

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return self._no_answer
        return (self._form(answer) == self._wanted) is not self._negate
