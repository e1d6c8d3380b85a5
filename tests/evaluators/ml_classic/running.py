"""Runs a dataset evaluator of this pack as the engine does: in batches that are mapped, merged and reduced."""

from collections.abc import Sequence
from typing import Any

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.catalog import load
from evalsi.schema import Content, Record, Score


def reduce_records(name: str, records: Sequence[Record], *, batch: int = 7, **params: Any) -> dict[str, Score]:
    instance = bind(load(f"ml-classic/{name}"), context=EvalContext(seed=3), params=params).instance
    state = instance.map(records[:batch])
    for start in range(batch, len(records), batch):
        state = instance.merge(state, instance.map(records[start : start + batch]))
    return {score.name: score for score in instance.reduce(state)}


def numbers(scores: dict[str, Score]) -> dict[str, float]:
    return {name: score.number for name, score in scores.items() if score.number is not None}


def text_record(output: str | None, reference: str | None) -> Record:
    return Record(
        id="r",
        output=None if output is None else Content(text=output),
        reference=None if reference is None else Content(text=reference),
    )


def scored_record(score: object, label: object) -> Record:
    return Record(id="r", output=Content(json={"score": score}), reference=Content(json={"label": label}))
