"""What evaluators of one batch read of the same record."""

import asyncio
from typing import Any

import pytest

from evalsi.engine.evaluate import Evaluation
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import evaluator
from evalsi.evaluators.shared_reading import keeping_readings, read_once
from evalsi.schema import Content, Record
from tests.engine.evaluators_for_tests import batches, bound, graded, record

READ: list[str] = []


def text(content: Content) -> str:
    READ.append(content.text or "")
    return content.text or ""


@evaluator(name="length", bounded=True)
def length(record: Record) -> float:
    assert record.output is not None
    return float(len(read_once(text, record.output)))


@evaluator(name="letters", bounded=True)
def letters(record: Record) -> float:
    assert record.output is not None
    return float(sum(map(str.isalpha, read_once(text, record.output))))


@evaluator(name="waits")
async def waits(record: Record) -> bool:
    await asyncio.sleep(0)
    return True


def same_text_twice() -> list[Record]:
    return [record(str(row), word) for row, word in enumerate(["a1", "a1", "b2c", "d"])]


@pytest.mark.parametrize("beside", [(), (waits,)], ids=["computing alone", "beside one that asks"])
def test_what_two_evaluators_read_of_a_record_is_read_once_in_a_batch(beside: Any) -> None:
    READ.clear()
    found = graded(Panel(evaluators=bound(length, letters, *beside)), same_text_twice(), rows=2)
    assert sorted(READ) == ["a1", "a1", "b2c", "d"]
    values = [
        [list(column.values) for part in batch.columns[:2] for column in part.columns.values()] for batch in found
    ]
    assert values == [[[2.0, 2.0], [1.0, 1.0]], [[3.0, 1.0], [2.0, 1.0]]]


def test_the_next_batch_is_read_anew() -> None:
    READ.clear()
    same = record("0", "a1")
    for _ in Evaluation(Panel(evaluators=bound(length))).grade_now(batches([same, same], rows=1)):
        pass
    assert READ == ["a1", "a1"]


def test_what_is_made_on_the_way_is_never_taken_for_something_else() -> None:
    with keeping_readings():
        # Each is let go at once, so that the next may be put at the same place in memory.
        assert [read_once(text, Content(text=str(number))) for number in range(100)] == [str(n) for n in range(100)]


def test_a_reading_that_failed_is_tried_again() -> None:
    tries: list[str] = []

    def read(given: str) -> int:
        tries.append(given)
        if len(tries) == 1:
            raise ValueError("not yet")
        return len(tries)

    with keeping_readings():
        with pytest.raises(ValueError, match="not yet"):
            read_once(read, "a")
        assert [read_once(read, "a"), read_once(read, "a")] == [2, 2]
