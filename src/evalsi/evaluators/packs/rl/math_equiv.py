"""`math-equiv`: the result that an answer states equals the reference as mathematics."""

from typing import Annotated, Literal

import msgspec

from evalsi.core.errors import MissingExtraError, SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, AnswerParams, answer_reader, reference_texts
from evalsi.evaluators.mathematics.equivalence import Comparison, MathTolerance, NeedsNumericsError, PercentReading
from evalsi.evaluators.mathematics.expression import Meaning, UnreadableError
from evalsi.evaluators.mathematics.numeric_value import load_numerics
from evalsi.evaluators.mathematics.read_math import plain_text, read_math
from evalsi.evaluators.mathematics.stated_answer import Fallback, stated_answer

_NAME = "math-equiv"


class MathEquivParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What counts as the same result."""

    fallback: Fallback = "last-number"
    """What is read where no box, declaration or formula marks the result: "last-number", the "whole" answer, or "none"."""
    rel_tol: Annotated[float, msgspec.Meta(ge=0)] = 1e-06
    """Allowed distance as a fraction of the larger value, where one side is a decimal. Whole numbers and fractions are
    exact."""
    backend: Literal["auto", "exact", "numeric"] = "auto"
    """How values are compared: "auto" exactly where that decides, else to sixty digits if the extra `math` is installed;
    "exact" only exactly, and the rest is SKIPPED; "numeric" as "auto", but refused at the start without the extra."""
    percent: PercentReading = "fraction"
    """What 50% equals when only one side has a percent sign: 0.5 ("fraction"), also 50 ("either"), only 50 ("ignore")."""


@evaluator(
    name=_NAME,
    version="1.0.0",
    requires=["output", "reference"],
    params=MathEquivParams,
    outputs=[output(_NAME, "passed", description="The stated result equals the reference.")],
    example={
        "record": {"output": "So x is \\boxed{\\frac{2}{4}}.", "reference": "0.5"},
        "expected": {"math-equiv": True},
    },
)
class MathEquiv:
    r"""Whether the result that the answer states equals the reference: numbers, expressions, tuples, sets, intervals,
    equations and matrices, in LaTeX or plain text.

    Rational expressions are compared exactly, others to sixty digits, which needs the extra `math`; without it they are
    SKIPPED. An answer that states nothing, or nothing readable, is a miss; a reference that cannot be read is SKIPPED unless
    the answer is the same text. What is equal: docs/reference/math-equivalence.md.
    """

    def __init__(self, params: MathEquivParams) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._fallback: Fallback = params.fallback
        tolerance = MathTolerance(relative=params.rel_tol, percent=params.percent)
        self._exact = Comparison(tolerance, exact_only=True)
        self._full = self._exact if params.backend == "exact" else Comparison(tolerance)
        if params.backend == "numeric":
            load_numerics()

    def evaluate_quickly(self, record: Record) -> bool | Score | None:
        """The verdict where exact arithmetic gives one; None where the numeric comparison has to."""
        try:
            return self._compare(record, self._exact)
        except NeedsNumericsError:
            return None

    def evaluate(self, record: Record) -> bool | Score:
        try:
            return self._compare(record, self._full)
        except MissingExtraError as error:
            raise SkipRecord(str(error)) from None
        except NeedsNumericsError:
            raise SkipRecord("exact arithmetic cannot decide, and backend is exact") from None

    def _compare(self, record: Record, comparison: Comparison) -> bool | Score:
        references = reference_texts(record)
        answer = self._read(record)
        if answer is None:
            return _missed(NO_FINAL_ANSWER)
        stated = stated_answer(answer, self._fallback)
        if not stated:
            return _missed("no result stated")
        unreadable = ""
        given: Meaning | UnreadableError = _meaning(stated)
        for reference in references:
            wanted = stated_answer(reference, "whole") or reference
            if plain_text(stated) == plain_text(wanted):
                return True
            meaning = _meaning(wanted)
            if isinstance(meaning, UnreadableError):
                unreadable = f"the reference cannot be read as mathematics: {meaning}"
            elif isinstance(given, UnreadableError):
                continue
            else:
                verdict, problem = self._verdict(comparison, given, meaning)
                if verdict:
                    return True
                unreadable = unreadable or problem
        if unreadable:
            raise SkipRecord(unreadable)
        return _missed(f"the result cannot be read: {given}") if isinstance(given, UnreadableError) else False

    def _verdict(self, comparison: Comparison, given: Meaning, wanted: Meaning) -> tuple[bool, str]:
        """The verdict, and why there is none where the reference itself cannot be evaluated."""
        try:
            return comparison.same(given, wanted), ""
        except UnreadableError:
            try:
                comparison.same(wanted, _ZERO)
            except UnreadableError as error:
                return False, f"the reference cannot be evaluated: {error}"
            return False, ""  # the answer's own fault: it is too large to be anything that was asked for


_ZERO = read_math("0")


def _meaning(text: str) -> Meaning | UnreadableError:
    try:
        return read_math(text)
    except UnreadableError as error:
        return error


def _missed(why: str) -> Score:
    return Score(name=_NAME, passed=False, explanation=why)
