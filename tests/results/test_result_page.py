"""Pages of results against the plainest oracle: everything read, filtered and sorted in memory."""

import random
from contextlib import closing
from math import nan
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import UnknownNameError
from evalsi.engine.columns import ERROR, SCORED, Column, EvaluatorColumns, Note, pack
from evalsi.infra.store import open_run_store
from evalsi.ports.run_store import RunStore, Segment
from evalsi.results.result_page import ResultQuery, result_page
from evalsi.results.stored_rows import encode_records
from evalsi.results.zones import encode_zones
from evalsi.schema import Content, ErrorKind, Outcome, Record
from evalsi.testing.run_store_suite import a_manifest, a_run

SEGMENTS, ROWS = 12, 25


@pytest.fixture(params=["with zones", "without"])
def stored(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """A store with a run, and its rows as (row, score or None)."""
    rng = random.Random(3)
    truth: list[tuple[int, float | None]] = []
    with closing(open_run_store(tmp_path / "evalsi.db")) as store:
        store.create(a_run("r1"), a_manifest())
        for index in range(SEGMENTS):
            first = index * ROWS
            scores = [None if rng.random() < 0.1 else rng.choice([0.0, 1.0, rng.random()]) for _ in range(ROWS)]
            truth += [(first + place, score) for place, score in enumerate(scores)]
            columns = [_columns("a", scores), _columns("b", [1.0] * ROWS)]
            records = [Record(id=f"r{first + place}", output=Content(text=f"word{place}")) for place in range(ROWS)]
            segment = Segment(
                index=first,
                first_row=first,
                rows=ROWS,
                records=encode_records(records),
                results=pack(columns),
                zones=encode_zones(columns, records) if request.param == "with zones" else b"",
            )
            store.append("r1", segment)
        yield store, truth


def _columns(name: str, scores: list[float | None]) -> EvaluatorColumns:
    columns = EvaluatorColumns(evaluator=name, ref=name, primary=name, outcomes=bytearray(len(scores)))
    columns.columns[name] = Column(name, "number", [nan if score is None else score for score in scores])
    for place, score in enumerate(scores):
        columns.outcomes[place] = SCORED if score is not None else ERROR
        if score is None:
            columns.notes[place] = Note(reason="broken", error_kind=ErrorKind.INTERNAL)
    return columns


def pages(store: RunStore, query: ResultQuery, size: int) -> list[str]:
    found: list[str] = []
    token = ""
    while True:
        page = result_page(store, "r1", query, size=size, token=token)
        assert len(page.rows) <= size
        found += [row.record.id for row in page.rows]
        token = page.next_token
        if not token:
            return found


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_pages_are_the_sorted_rows(stored: Any, size: int, descending: bool) -> None:
    store, truth = stored
    scored = [(score, row) for row, score in truth if score is not None]
    expected = sorted(scored, key=lambda pair: (-pair[0] if descending else pair[0], pair[1]))
    found = pages(store, ResultQuery(evaluator="a", sort="a", descending=descending), size)
    assert found == [f"r{row}" for _, row in expected]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_filtered_pages_are_the_filtered_rows(stored: Any, size: int) -> None:
    store, truth = stored
    errors = [f"r{row}" for row, score in truth if score is None]
    assert pages(store, ResultQuery(evaluator="a", outcome=Outcome.ERROR), size) == errors
    between = [f"r{row}" for row, score in truth if score is not None and 0.3 <= score <= 0.6]
    assert pages(store, ResultQuery(metric="a", lowest=0.3, highest=0.6), size) == between
    assert pages(store, ResultQuery(search="WORD24"), size) == [f"r{24 + ROWS * n}" for n in range(SEGMENTS)]
    assert pages(store, ResultQuery(), size) == [f"r{row}" for row, _ in truth]


def test_a_row_comes_with_the_results_that_were_asked_for(stored: Any) -> None:
    store, _ = stored
    both = result_page(store, "r1", ResultQuery(), size=1).rows[0]
    one = result_page(store, "r1", ResultQuery(evaluator="b"), size=1).rows[0]
    assert [each.evaluator for each in both.results] == ["a", "b"]
    assert [each.evaluator for each in one.results] == ["b"]


def test_a_page_of_rare_rows_opens_only_segments_that_can_hold_them(tmp_path: Path) -> None:
    opened: list[int] = []
    with closing(open_run_store(tmp_path / "evalsi.db")) as store:
        store.create(a_run("r1"), a_manifest())
        for index in range(SEGMENTS):
            columns = [_columns("a", [float(index)] * ROWS)]
            records = [Record(id=f"r{index}-{place}") for place in range(ROWS)]
            store.append(
                "r1",
                Segment(
                    index=index * ROWS,
                    first_row=index * ROWS,
                    rows=ROWS,
                    records=encode_records(records),
                    results=pack(columns),
                    zones=encode_zones(columns, records),
                ),
            )
        read = store.segment

        def counted(run_id: str, index: int, *, with_records: bool = True) -> Segment:
            opened.append(index)
            return read(run_id, index, with_records=with_records)

        store.segment = counted  # type: ignore[method-assign]
        assert len(result_page(store, "r1", ResultQuery(sort="a", descending=True), size=5).rows) == 5
        assert set(opened) == {(SEGMENTS - 1) * ROWS}


def test_a_page_of_all_rows_asks_for_no_zones(stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = stored
    monkeypatch.setattr(store, "zones", lambda run_id: pytest.fail(f"the zones of {run_id} were read"))
    page = result_page(store, "r1", ResultQuery(), size=5)
    assert (len(page.rows), page.matching) == (5, SEGMENTS * ROWS)


def test_names_that_the_run_does_not_have_are_told(stored: Any, request: pytest.FixtureRequest) -> None:
    store, _ = stored
    if "without" in request.node.name:
        assert result_page(store, "r1", ResultQuery(evaluator="c"), size=1).rows == []
        return
    with pytest.raises(UnknownNameError):
        result_page(store, "r1", ResultQuery(evaluator="c"), size=1)
    with pytest.raises(UnknownNameError):
        result_page(store, "r1", ResultQuery(sort="c"), size=1)
