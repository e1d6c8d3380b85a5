"""Slices as results files have them: whatever stands in the metadata, told apart, within the memory of the rows."""

import tracemalloc

from evalsi.results.slice_summaries import MOST_VALUES, slice_summaries
from tests.run.gates.graded_runs import Made, graded


def sliced(topics: list[str]) -> dict[str, int]:
    made = Made(values={"check": [True] * len(topics)}, topics=topics)
    return {one.value: one.records for one in slice_summaries(graded(made), ["metadata.topic"])}


def test_values_that_differ_by_what_nobody_sees_are_different_slices() -> None:
    assert sliced(["a", "a\0", "a ", "a", "1", "1.0"]) == {"a": 2, "a\0": 1, "a ": 1, "1": 1, "1.0": 1}


def test_one_very_long_value_takes_its_own_memory_and_not_that_of_every_row() -> None:
    topics = ["x" * 1_000_000, *(f"t{row % 3}" for row in range(600))]
    tracemalloc.start()
    try:
        assert len(sliced(topics)) == 4
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000_000, "600 rows of 4 MB each would be 2.4 GB"


def test_the_first_values_of_a_key_that_has_very_many_are_summed_up() -> None:
    found = sliced([f"t{row % 300}" for row in range(600)])
    assert len(found) == MOST_VALUES
    assert set(found.values()) == {2}
