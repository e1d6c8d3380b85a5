"""Numeric match: the final stated number of the answer against the reference's."""

from typing import Annotated

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.number_extraction import (
    DecimalMark,
    PercentPolicy,
    Tolerance,
    number_reader,
    same_number,
)
from evalsi.evaluators.matching.record_text import answer_reader, reference_texts
from evalsi.evaluators.packs.core.verdicts import CheckParams, missed

Distance = Annotated[float, msgspec.Meta(ge=0)]


class NumericMatchParams(CheckParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How close is close enough, and how numbers are written."""

    rel_tol: Distance = 1e-06
    """Allowed distance as a fraction of the larger number. Up to 1e-6 it forgives rounding only: two different whole
    numbers stay different."""
    abs_tol: Distance = 1e-09
    """Allowed distance."""
    percent: PercentPolicy = "either"
    """What "45%" equals when only one side has a percent sign: 45 or 0.45 ("either"), 0.45 ("fraction"), 45 ("ignore")."""
    decimal_mark: DecimalMark = "."
    """"," reads 1.250,5 the European way wherever a number could be read either way."""


@evaluator(
    name="numeric-match",
    version="1.0.0",
    requires=["output", "reference"],
    params=NumericMatchParams,
    outputs=[output("numeric-match", "passed", description="The final number of the answer is the reference's.")],
    bounded=True,
    example={
        "record": {"output": "She needs 18 more boxes, so the total is $1,250.", "reference": "1250"},
        "expected": {"numeric-match": True},
    },
)
class NumericMatch:
    """Whether the final number that the answer states equals the reference's, as exact decimals within the tolerances.

    A box or a declaration ("the answer is 7 (see page 12)") decides, else the last number that is no label or aside.
    Currency, thousands separators, percent, fractions, scientific notation and other scripts' digits are read
    (docs/reference/matching.md). An answer without a number is a miss; a reference without one is SKIPPED.
    """

    def __init__(self, params: NumericMatchParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._number = number_reader(params.decimal_mark)
        self._tolerance = Tolerance(relative=params.rel_tol, absolute=params.abs_tol, percent=params.percent)
        self._negate = params.negate
        self._no_answer = missed("numeric-match")
        self._no_number = missed("numeric-match", "no number found")

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return self._no_answer
        if record.reference is not None and answer == record.reference.text:  # read once what is the same text
            if self._number(answer) is None:
                raise SkipRecord("the reference holds no number")
            return not self._negate
        references = reference_texts(record)
        if len(references) == 1:  # the common case, without a loop
            number = self._number(references[0])
            wanted = (number,) if number is not None else ()
        else:
            wanted = [number for text in references if (number := self._number(text)) is not None]
        if not wanted:
            raise SkipRecord("the reference holds no number")
        given = self._number(answer)
        if given is None:
            return True if self._negate else self._no_number
        for number in wanted:
            if same_number(given, number, self._tolerance):
                return not self._negate
        return self._negate
