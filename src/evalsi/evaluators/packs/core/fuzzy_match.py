"""How alike two texts are, character by character."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.reasoning_blocks import REASONING_TAGS
from evalsi.evaluators.matching.record_text import (
    EMPTY_REFERENCE,
    NO_FINAL_ANSWER,
    ReasoningTags,
    answer_reader,
    reference_texts,
)
from evalsi.evaluators.matching.sequence_likeness import edit_likeness, indel_likeness
from evalsi.evaluators.matching.text_normalization import Normalization, normalizer


class LevenshteinParams(Normalization, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to compare with, and which differences count."""

    value: str | None = None
    """The text to compare with; by default the record's reference. May be empty."""
    reasoning_tags: ReasoningTags = msgspec.field(default_factory=lambda: list(REASONING_TAGS))
    allow_empty_reference: bool = False
    """Compare with an empty reference too instead of skipping the record."""


class FuzzyMatchParams(Normalization, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which measure, and which differences count."""

    ignore_case: bool = True
    """Compare case-folded."""
    method: Literal["indel", "levenshtein"] = "indel"
    """"indel" counts insertions and deletions, "levenshtein" substitutions too."""
    reasoning_tags: ReasoningTags = msgspec.field(default_factory=lambda: list(REASONING_TAGS))
    allow_empty_reference: bool = False
    """Compare with an empty reference too instead of skipping the record."""


class _Likeness:
    """The greatest likeness of the answer to one of the texts it is compared with."""

    def __init__(
        self, name: str, params: LevenshteinParams | FuzzyMatchParams, measure: Callable[[str, str], float]
    ) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self.form = normalizer(params)
        self._allow_empty = params.allow_empty_reference
        self._measure = measure
        self.value: str | None = None
        self._no_answer = Score(name=name, number=0.0, explanation=NO_FINAL_ANSWER)

    def evaluate(self, record: Record) -> float | Score:
        answer = self._read(record)
        references: Sequence[str]
        if self.value is not None:
            references = (self.value,)
        else:
            references = [self.form(text) for text in reference_texts(record, allow_empty=self._allow_empty)]
            if not self._allow_empty and not any(references):
                raise SkipRecord(EMPTY_REFERENCE)
        if answer is None:
            return self._no_answer
        given = self.form(answer)
        return max(self._measure(given, wanted) for wanted in references)


@evaluator(
    name="fuzzy-match",
    version="1.0.0",
    requires=["output", "reference"],
    params=FuzzyMatchParams,
    outputs=[output("fuzzy-match", low=0, high=1, description="Likeness of answer and reference.")],
    example={"record": {"output": "kitten", "reference": "sitting"}, "expected": {"fuzzy-match": 8 / 13}},
)
class FuzzyMatch(_Likeness):
    """2 * LCS / (length of answer + length of reference), the normalised indel likeness, by characters.

    LCS is the length of the longest common subsequence. With `method` "levenshtein": see the evaluator `levenshtein`.
    """

    def __init__(self, params: FuzzyMatchParams) -> None:
        super().__init__("fuzzy-match", params, indel_likeness if params.method == "indel" else edit_likeness)


@evaluator(
    name="levenshtein",
    version="1.0.0",
    requires=["output"],
    params=LevenshteinParams,
    outputs=[output("levenshtein", low=0, high=1, description="1 - edit distance / length of the longer text.")],
    example={"record": {"output": "kitten", "reference": "sitting"}, "expected": {"levenshtein": 1 - 3 / 7}},
)
class Levenshtein(_Likeness):
    """1 - edit distance / length of the longer text, by characters; two empty texts are alike (1).

    Source: Levenshtein (1966), "Binary codes capable of correcting deletions, insertions, and reversals".
    """

    def __init__(self, params: LevenshteinParams) -> None:
        super().__init__("levenshtein", params, edit_likeness)
        self.value = None if params.value is None else self.form(params.value)
