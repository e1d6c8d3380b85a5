"""Graded runs with given outcomes, made by the engine's own columns and summaries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalsi.core.errors import MeasurementError
from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns
from evalsi.engine.make_panel import bind_all
from evalsi.engine.summary import RECORD_ID, SummaryBuilder, SummaryPlan
from evalsi.evaluators.api import Definition, EvalContext, evaluator, output
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.results.graded_run import GradedRun
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import BoundRunEvaluator, EvaluatorManifest, Record, RunManifest, SummaryOptions, Usage

ERROR, SKIPPED, CANCELLED = "ERROR", "SKIPPED", "CANCELLED"


@evaluator(name="check", outputs=[output("check", "passed")])
def check(record: Record) -> bool:
    """A verdict."""
    return bool(record.id)


@evaluator(name="rating", outputs=[output("rating", low=0, high=10)])
def rating(record: Record) -> float:
    """A number."""
    return float(len(record.id))


@evaluator(name="waste", outputs=[output("waste", low=0, higher_is_better=False)])
def waste(record: Record) -> float:
    """A number of which less is better."""
    return float(len(record.id))


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a run is made of: for each evaluator a value per row, or the name of an outcome that is none."""

    values: dict[str, Sequence[Any]]
    ids: Sequence[str] = ()
    topics: Sequence[str] = ()
    talks: Sequence[str] = ()
    """What groups the rows."""
    usages: Sequence[Usage | None] = ()
    trials: int = 1
    target_usage: Usage | None = None
    judge_usage: Usage | None = None
    evaluators: Sequence[Definition] = field(default=(check, rating, waste))


def graded(made: Made) -> GradedRun:
    rows = max((len(values) for values in made.values.values()), default=0)
    records = [
        Record(
            id=made.ids[row] if made.ids else f"r{row}",
            metadata={name: values[row] for name, values in (("topic", made.topics), ("talk", made.talks)) if values},
            usage=made.usages[row] if made.usages else None,
        )
        for row in range(rows)
    ]
    chosen = [definition for definition in made.evaluators if definition.name in made.values]
    bound = bind_all(chosen, EvalContext()) if chosen else ()
    columns = [_columns(each, made.values[each.name]) for each in bound]
    builder = SummaryBuilder(bound, SummaryPlan(cluster_by=RECORD_ID if made.trials > 1 else None))
    builder.add(0, rows, columns, lambda: records)

    def read() -> Iterator[GradedRows]:
        yield GradedRows(0, encode_records(records), columns)

    manifest = RunManifest(
        trials=made.trials,
        summary=SummaryOptions(cluster_by="metadata.talk") if made.talks else None,
        target_usage=made.target_usage,
        judge_usage=made.judge_usage,
        evaluators=[
            BoundRunEvaluator(name=each.name, manifest=EvaluatorManifest(name=each.name, outputs=list(each.outputs)))
            for each in bound
        ],
    )
    return GradedRun(source="run", manifest=manifest, summaries=builder.finish(), read_rows=read)


def _columns(bound: BoundEvaluator, values: Sequence[Any]) -> EvaluatorColumns:
    builder = ColumnsBuilder(bound.definition, name=bound.name, ref=bound.ref, rows=len(values))
    for row, value in enumerate(values):
        match value:
            case "ERROR":
                builder.fail(row, MeasurementError("the judge was out"))
            case "SKIPPED":
                builder.skip(row, "no content")
            case "CANCELLED":
                builder.cancel(row, "stopped")
            case _:
                builder.put(row, value)
    return builder.result
