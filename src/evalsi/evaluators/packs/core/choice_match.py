"""Choice match: the letter chosen in a multiple-choice question."""

from typing import Annotated

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.choice_extraction import ChoiceFinder
from evalsi.evaluators.matching.record_text import answer_reader, reference_texts
from evalsi.evaluators.packs.core.verdicts import CheckParams, missed


class ChoiceMatchParams(CheckParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The labels of the choices."""

    choices: Annotated[list[str], msgspec.Meta(min_length=2)] = msgspec.field(
        default_factory=lambda: ["A", "B", "C", "D"]
    )
    """The labels that were offered; a letter that was not is no choice."""


@evaluator(
    name="choice-match",
    version="1.0.0",
    requires=["output", "reference"],
    params=ChoiceMatchParams,
    outputs=[output("choice-match", "passed", description="The chosen letter is the reference's.")],
    bounded=True,
    example={
        "record": {"output": "The answer is (C). A and B are distractors.", "reference": "C"},
        "expected": {"choice-match": True},
    },
)
class ChoiceMatch:
    """Whether the choice that the answer makes is the reference's.

    A choice is a bare letter, a box, a declaration ("Answer: B"), "option B is correct", or the one label that starts a
    line; an article or a rejected option is none. No choice, or two, is a miss with the reason "no choice found".
    """

    def __init__(self, params: ChoiceMatchParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._choice = ChoiceFinder(params.choices)
        self._negate = params.negate
        self._no_answer = missed("choice-match")
        self._no_choice = missed("choice-match", "no choice found")

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return self._no_answer
        wanted = {choice for text in reference_texts(record) if (choice := self._choice(text)) is not None}
        if not wanted:
            raise SkipRecord("the reference names none of the choices")
        chosen = self._choice(answer)
        if chosen is None:
            return True if self._negate else self._no_choice
        return (chosen in wanted) is not self._negate
