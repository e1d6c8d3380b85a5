"""`rubric-grade`: each criterion of the record's own rubric, met or not, and the weight that was earned.

With negative weights for criteria that a good output does not meet, this is the scoring of Arora et al. (2025),
HealthBench: earned weight over the sum of positive weights, kept within 0 and 1.
"""

from typing import Annotated, Any

import msgspec

from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms
from evalsi.judges.replies.json_form import FlagField, TextField
from evalsi.judges.replies.numbered import numbered_form, read_numbered
from evalsi.schema import ErrorKind, Fault

CRITERIA_FORM = numbered_form("criteria", "criterion", (TextField("reason", about="one sentence"), FlagField("met")))
SYSTEM = """\
You check an output against numbered criteria. Each criterion is met or not; there is nothing between. Judge each by \
itself and by its words: a criterion that describes a fault is met when the output has the fault. The output may be in any \
language. An empty output says nothing and does nothing."""
CLOSING = "The criteria:\n{{ criteria }}\n\nGive a verdict on every criterion.\n" + CRITERIA_FORM.instructions


class Criterion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a rubric. A negative weight is for what a good output does not do."""

    text: Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]
    weight: float = 1.0
    name: str = ""


class RubricGradeParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rubric of records that have none."""

    rubric: str | list[str | Criterion] = ""
    """A criterion, or a list of criteria as text or {"text", "weight", "name"}. A record's `metadata.rubric` goes first."""

    def __post_init__(self) -> None:
        if self.rubric:
            _check_weights(_criteria(self.rubric))


@evaluator(
    name="rubric-grade",
    version="1.0.0",
    requires=["input", "output", "judge"],
    params=RubricGradeParams,
    outputs=[output("rubric-score", low=0, high=1, description="Share of the rubric's weight that the output earned.")],
    example={
        "record": {
            "input": "Can I return this kettle?",
            "output": "Yes, within 30 days.",
            "metadata": {
                "rubric": [{"text": "Names the 30-day limit", "weight": 3}, {"text": "Offers a repair", "weight": 1}]
            },
        },
        "judge_reply": '{"criteria": [{"criterion": 1, "reason": "It says 30 days.", "met": true}, '
        '{"criterion": 2, "reason": "A repair is not mentioned.", "met": false}]}',
        "expected": {"rubric-score": 0.75},
    },
)
class RubricGrade:
    """The weight that an output earns by a rubric of its own: `metadata.rubric`, a criterion or a list of criteria.

    A criterion is text or {"text", "weight", "name"}; the weight is 1 unless given and may be negative. The judge says of
    each whether it is met. A record without a rubric is skipped.
    """

    def __init__(self, params: RubricGradeParams, context: EvalContext) -> None:
        self._context = context
        self._default = _criteria(params.rubric)
        self._forms = QuestionForms(
            Question(
                name="rubric-grade",
                version="1",
                system=SYSTEM,
                shows=("input", "output"),
                may_show=("context", "reference"),
                closing=CLOSING,
                response_schema=CRITERIA_FORM.schema,
                trusted=frozenset({"criteria"}),
            )
        )
        self.prompt_digests = self._forms.digests

    async def evaluate(self, record: Record) -> Score:
        criteria = _criteria_of(record) or self._default
        if not criteria:
            raise SkipRecord("the record has no metadata.rubric and no rubric is set")
        listed = "\n".join(f"{number}. {' '.join(each.text.split())}" for number, each in enumerate(criteria, 1))
        asked = self._forms.render(record, {"criteria": listed})
        interview = Interview(self._context)
        verdict = await interview.ask(
            asked.prompt, lambda reply: read_numbered(reply, CRITERIA_FORM, len(criteria), material=asked.material)
        )
        rows = verdict.value
        earned = sum(each.weight for each, row in zip(criteria, rows, strict=True) if row["met"])
        possible = sum(each.weight for each in criteria if each.weight > 0)
        lines = [
            f"{'met' if row['met'] else 'not met'}: {each.name or each.text}"
            + (f" ({row['reason']})" if row["reason"] else "")
            for each, row in zip(criteria, rows, strict=True)
        ]
        details = [
            {"name": each.name or each.text, "weight": each.weight, "met": row["met"]}
            for each, row in zip(criteria, rows, strict=True)
        ]
        score = min(max(earned / possible, 0.0), 1.0)
        return interview.score("rubric-score", score, "\n".join(lines), metadata={"criteria": details})


def _criteria_of(record: Record) -> list[Criterion]:
    """Raises MeasurementError: the record's rubric cannot be read."""
    written: Any = record.metadata.get("rubric")
    if written is None:
        return []
    try:
        criteria = _criteria(msgspec.convert(written, str | list[str | Criterion]))
        if criteria:
            _check_weights(criteria)
    except (msgspec.ValidationError, ValueError) as error:
        raise MeasurementError(
            f"metadata.rubric cannot be read: {error}", kind=ErrorKind.INVALID_FIELD, fault=Fault.DATASET
        ) from error
    return criteria


def _criteria(written: str | list[str | Criterion]) -> list[Criterion]:
    rows = [written] if isinstance(written, str) else written
    criteria = [Criterion(text=row) if isinstance(row, str) else row for row in rows]
    return [each for each in criteria if each.text.strip()]


def _check_weights(criteria: list[Criterion]) -> None:
    if not any(each.weight > 0 for each in criteria):
        raise ValueError("a rubric needs a criterion with a weight above 0")
