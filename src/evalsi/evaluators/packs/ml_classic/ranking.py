"""`ranking`: how early a ranked list shows what is relevant, record by record."""

import json
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

import msgspec

from evalsi.core.content import text_of
from evalsi.core.errors import MeasurementError, SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.schema import Content, ErrorKind, Fault

_ID_KEYS = ("id", "doc_id", "document_id", "name")


class RankingParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    k: Annotated[int, msgspec.Meta(ge=1)] = 10
    """How many of the first items ndcg, recall-at-k and precision-at-k look at."""
    gain: Literal["linear", "exponential"] = "linear"
    """Worth of a graded item in ndcg: its grade, or 2^grade - 1."""


@evaluator(
    name="ranking",
    requires=["output", "reference"],
    params=RankingParams,
    outputs=[
        output("ndcg", low=0, high=1, description="Normalised discounted cumulative gain of the first k."),
        output("mrr", low=0, high=1, description="1 / rank of the first relevant item."),
        output("map", low=0, high=1, description="Average precision over the whole list."),
        output("recall-at-k", low=0, high=1, description="Share of the relevant items among the first k."),
        output("precision-at-k", low=0, high=1, description="Share of relevant items in the first k places."),
    ],
    bounded=True,
    example={
        "record": {
            "id": "1",
            "output": {"json": ["b", "a", "d", "c"]},
            "reference": {"json": ["a", "c"]},
        },
        "params": {"k": 2},
        "expected": {"ndcg": 0.38685280723454163, "mrr": 0.5, "map": 0.5, "recall-at-k": 0.5, "precision-at-k": 0.5},
    },
)
def ranking(record: Record, params: RankingParams) -> list[Score]:
    """Quality of a ranked list against the relevant items: nDCG, reciprocal rank, average precision, recall, precision.

    The output lists items, best first: a JSON list of ids or of objects with an "id", or text with one item a line. The
    reference lists the relevant items, or gives each a grade >= 0: {"a": 3, "b": 1}. An item that is listed again does
    not count again and keeps its place. mrr and map look at the whole list, as trec_eval does; map divides by the number
    of relevant items, and precision-at-k by k even when fewer were returned. Without a relevant item the record is
    skipped.
    Sources: Järvelin & Kekäläinen (2002), ACM TOIS 20:422-446; Manning, Raghavan & Schütze (2008), ch. 8.4.
    """
    grades = _grades_of(record.reference)
    relevant = {item: grade for item, grade in grades.items() if grade > 0}
    if not relevant:
        raise SkipRecord("the reference names no relevant item")
    gains = _gains_in_order(_items_of(record.output, "output"), relevant)
    hits = [rank for rank, gain in enumerate(gains, start=1) if gain > 0]
    in_first = sum(rank <= params.k for rank in hits)
    ideal = _discounted(sorted(relevant.values(), reverse=True)[: params.k], params.gain)
    return [
        Score(name="ndcg", number=_discounted(gains[: params.k], params.gain) / ideal),
        Score(name="mrr", number=1 / hits[0] if hits else 0.0),
        Score(name="map", number=sum(found / rank for found, rank in enumerate(hits, start=1)) / len(relevant)),
        Score(name="recall-at-k", number=in_first / len(relevant)),
        Score(name="precision-at-k", number=in_first / params.k),
    ]


def _gains_in_order(items: Sequence[str], relevant: dict[str, float]) -> list[float]:
    seen: set[str] = set()
    gains: list[float] = []
    for item in items:
        gains.append(0.0 if item in seen else relevant.get(item, 0.0))
        seen.add(item)
    return gains


def _discounted(grades: Sequence[float], gain: str) -> float:
    """Sum of gains, each divided by log2(rank + 1)."""
    worth = grades if gain == "linear" else [2.0**grade - 1 for grade in grades]
    return sum(value / math.log2(rank + 1) for rank, value in enumerate(worth, start=1))


def _grades_of(reference: Content | None) -> dict[str, float]:
    value = _json_of(reference)
    if not isinstance(value, dict):
        return dict.fromkeys(_items_of(reference, "reference"), 1.0)
    grades: dict[str, float] = {}
    for item, grade in cast("dict[str, Any]", value).items():
        if isinstance(grade, bool):
            grade = int(grade)  # noqa: PLW2901 - true and false are the grades 1 and 0
        if not isinstance(grade, (int, float)) or not 0 <= grade <= 1000:
            raise _unreadable(f"the reference grades {item[:40]!r} with no number from 0 to 1000")
        grades[item] = float(grade)
    return grades


def _items_of(content: Content | None, what: str) -> list[str]:
    value = _json_of(content)
    if isinstance(value, str):
        lines = [re.sub(r"^\s*(?:[-*•]|\d{1,4}[.)])\s+", "", line).strip() for line in value.splitlines()]
        return [line for line in lines if line]
    if not isinstance(value, list):
        raise _unreadable(f"the {what} is no list of items")
    return [_item_id(item, what) for item in cast("list[Any]", value)]


def _item_id(item: Any, what: str) -> str:
    if isinstance(item, dict):
        fields = cast("dict[str, Any]", item)
        item = next((fields[key] for key in _ID_KEYS if key in fields), None)
    if isinstance(item, bool) or not isinstance(item, (str, int)):
        raise _unreadable(f"the {what} lists an item that is neither a text nor a number and has no 'id'")
    return str(item)


def _json_of(content: Content | None) -> Any:
    """The JSON value, also when it is written as text; else the text."""
    if content is not None and content.json is not msgspec.UNSET and not isinstance(content.json, str):
        return content.json
    text = text_of(content)
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _unreadable(message: str) -> MeasurementError:
    return MeasurementError(message, kind=ErrorKind.INVALID_FIELD, fault=Fault.DATASET)
