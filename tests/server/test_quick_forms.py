"""Short cuts that must say the same as the long way: JSON straight from columns, and the quick look at messages."""

import msgspec
import pytest
from hypothesis import given

from evalsi.engine.summary import SummaryPlan
from evalsi.schema import Content, EvaluateResponse, EvaluatorRef, Record
from evalsi.schema.generated.quick_checks import QUICK_CHECKS
from evalsi.schema.json_codec import encode_camel
from evalsi.schema.message_check import message_check
from evalsi.schema.schema_error import SchemaError
from evalsi.score.grade_records import bind_panel, grade_records_now, summarize
from evalsi.server.services.evaluation_json import evaluate_json, results_in_order
from tests.schema.message_strategies import messages

REFS = ["exact-match", "length", "token-f1", "language", "rouge-l"]


def test_json_from_columns_equals_json_of_the_message() -> None:
    texts = ["Paris", "", 'pâris \x00 "quoted" \\ \u2028', "id", "1.2345678901234567e-300"]
    records = [
        Record(
            id=f"{text}{index}", output=Content(text=text), reference=None if index % 4 == 3 else Content(text="Paris")
        )
        for index, text in enumerate(texts * 3)
    ]
    known = [ref for ref in REFS if _is_known(ref)]
    assert len(known) >= 3
    panel = bind_panel([EvaluatorRef(ref=ref) for ref in known], {})
    grading = grade_records_now(panel, records)
    summaries = summarize(grading, records, SummaryPlan())
    ids = [record.id for record in records]
    message = EvaluateResponse(results=list(results_in_order(grading, ids)), summaries=summaries)
    assert evaluate_json(grading, ids, summaries) == encode_camel(message)


def _is_known(ref: str) -> bool:
    try:
        bind_panel([EvaluatorRef(ref=ref)], {})
    except Exception:
        return False
    return True


@given(messages("Record"))
def test_the_quick_look_agrees_with_the_thorough_one(record: msgspec.Struct) -> None:
    check = message_check("Record")
    assert check is not None
    try:
        check(record, "")
        sound = True
    except SchemaError:
        sound = False
    assert QUICK_CHECKS["Record"](record) is sound


@pytest.mark.parametrize(
    "content", [Content(), Content(text="a", json=None), Content(json=1), Content(text=""), Content(json=None)]
)
def test_contents_with_no_form_or_two_are_seen_by_the_quick_look(content: Content) -> None:
    given = (content.text is not None) + (content.json is not msgspec.UNSET)
    assert QUICK_CHECKS["Content"](content) is (given == 1)
    assert QUICK_CHECKS["Record"](Record(output=content)) is (given == 1)
