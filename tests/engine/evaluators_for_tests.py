"""Evaluators that behave and misbehave, and the records they meet."""

import asyncio
import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evalsi.engine.columns import EvaluatorColumns
from evalsi.engine.evaluate import Evaluation, GradedBatch, RecordBatch
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import Definition, EvalContext, evaluator, output
from evalsi.evaluators.binding import BoundEvaluator, bind
from evalsi.schema import Content, Record


@evaluator(name="equal", requires=["output", "reference"], outputs=[output("equal", "passed")], bounded=True)
def equal(record: Record) -> bool:
    assert record.output
    assert record.reference
    return record.output.text == record.reference.text


@evaluator(name="moody")
def moody(record: Record) -> Any:
    """Does to the process what the record's output says."""
    match record.output.text if record.output else "":
        case "hang":
            while True:
                pass
        case "exit":
            os._exit(7)
        case "raise":
            raise ValueError("no good")
        case "memory":
            return len(bytearray(64 << 30))
        case "segfault":
            os.kill(os.getpid(), 11)
        case _:
            pass
    return 0.5


@evaluator(name="asking")
async def asking(record: Record) -> bool:
    await asyncio.sleep(0.01)
    return record.id != "odd"


def bound(*definitions: Definition, context: EvalContext | None = None) -> tuple[BoundEvaluator, ...]:
    return tuple(bind(definition, context=context or EvalContext()) for definition in definitions)


def record(identifier: str, text: str | None = "a", reference: str | None = "a", **metadata: Any) -> Record:
    return Record(
        id=identifier,
        output=None if text is None else Content(text=text),
        reference=None if reference is None else Content(text=reference),
        metadata=metadata,
    )


def batches(records: Sequence[Record], rows: int = 4) -> Iterator[RecordBatch]:
    for first in range(0, len(records), rows):
        yield RecordBatch(first, list(records[first : first + rows]))


def graded(panel: Panel, records: Sequence[Record], rows: int = 4) -> list[GradedBatch]:
    async def collect() -> list[GradedBatch]:
        return [batch async for batch in Evaluation(panel).grade(batches(records, rows))]

    return sorted(asyncio.run(collect()), key=lambda batch: batch.first_row)


def columns_of(panel: Panel, records: Sequence[Record], rows: int = 1000) -> list[EvaluatorColumns]:
    (batch,) = graded(panel, records, rows)
    return batch.columns


def children() -> set[str]:
    """The process ids of this process's children."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found |= set((task / "children").read_text().split())
    return found
