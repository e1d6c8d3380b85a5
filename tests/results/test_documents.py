"""Results as files: what is written can be read again, whole or not at all, ours or another writer's."""

import csv
import io
import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalsi.schema
from evalsi.core.errors import EvalsiError, InvalidDataError, MeasurementError, NotFoundError, UsageError
from evalsi.engine.columns import ColumnsBuilder, EvaluatorColumns, results
from evalsi.evaluators.api import Definition, evaluator, output
from evalsi.results.document import document_parts, write_document
from evalsi.results.flat_table import flat_columns, to_arrow, to_pandas, to_polars
from evalsi.results.graded_run import GradedRun
from evalsi.results.read_document import _BLOCK_BYTES, read_document  # pyright: ignore[reportPrivateUsage]
from evalsi.results.save import save
from evalsi.results.stored_rows import GradedRows, encode_records
from evalsi.schema import (
    BoundRunEvaluator,
    Content,
    ErrorKind,
    EvaluatorManifest,
    MetricSummary,
    Record,
    RunManifest,
    Score,
)


@evaluator(name="plain", version="2.0.0")
def plain(record: Record) -> float:
    return 0.5


@evaluator(name="verdict", outputs=[output("verdict", "passed")])
def verdict(record: Record) -> bool:
    return True


@evaluator(name="many", outputs=[output("a"), output("b", "passed"), output("c", "label"), output("d", "structured")])
def many(record: Record) -> dict[str, Any]:
    return {"a": 1}


DEFINITIONS: dict[str, Definition] = {"plain": plain, "alias": plain, "verdict": verdict, "many": many}
OUTCOMES = {1: "scored", 2: "skipped", 3: "error", 4: "cancelled"}
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=4,
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "plain": NUMBER,
    "alias": NUMBER,
    "verdict": st.booleans(),
    "many": st.fixed_dictionaries(
        {"a": NUMBER},
        optional={
            "b": st.booleans(),
            "c": TEXT,
            "d": JSON.map(lambda value: Score(structured=value)),
        },
    ),
}


@st.composite
def columns(draw: st.DrawFn, name: str, rows: int) -> EvaluatorColumns:
    definition = DEFINITIONS[name]
    builder = ColumnsBuilder(definition, name=name, ref=f"pack/{definition.name}@1.0.0", rows=rows)
    for row in range(rows):
        match draw(st.sampled_from(["put", "put", "explained", "skip", "fail", "cancel"])):
            case "put":
                builder.put(row, draw(VALUES[name]))
            case "explained" if definition is plain:
                builder.put(
                    row, Score(number=draw(NUMBER), explanation=draw(TEXT), confidence=0.25, metadata={"k": draw(JSON)})
                )
            case "skip":
                builder.skip(row, draw(TEXT))
            case "cancel":
                builder.cancel(row, draw(TEXT))
            case _:
                kind = draw(st.sampled_from([ErrorKind.EXCEPTION, ErrorKind.JUDGE_PARSE, ErrorKind.TIMEOUT]))
                builder.fail(row, MeasurementError(draw(TEXT), kind=kind, detail=draw(TEXT)))
    builder.result.duration_s = draw(st.sampled_from([0.0, 0.25]))
    return builder.result


@st.composite
def runs(draw: st.DrawFn) -> GradedRun:
    names = draw(st.lists(st.sampled_from(list(DEFINITIONS)), unique=True, max_size=3))
    batches: list[GradedRows] = []
    first = 0
    for size in draw(st.lists(st.integers(1, 4), max_size=3)):
        records = [
            Record(
                id=draw(TEXT) or str(row),
                output=Content(text=draw(TEXT)),
                metadata=draw(st.dictionaries(TEXT, JSON, max_size=2)),
            )
            for row in range(size)
        ]
        batches.append(GradedRows(first, encode_records(records), [draw(columns(name, size)) for name in names]))
        first += size
    return run_of(batches, names)


def run_of(batches: list[GradedRows], names: list[str]) -> GradedRun:
    manifest = RunManifest(
        run_id="r1",
        evaluators=[
            BoundRunEvaluator(name=name, manifest=EvaluatorManifest(outputs=list(DEFINITIONS[name].outputs)))
            for name in names
        ],
    )
    return GradedRun(
        source="here",
        manifest=manifest,
        summaries=[MetricSummary(metric="x", n=0, mean=0.0)],
        read_rows=lambda: iter(batches),
    )


def in_one_batch(run: GradedRun) -> list[Any]:
    """As `said`, but by evaluator over the whole run, since files do not keep the batches."""
    by_evaluator: dict[str, list[Any]] = {}
    records: list[Record] = []
    for rows in run.read_rows():
        ids = [record.id for record in rows.records]
        records += rows.records
        for column in rows.columns:
            lines = by_evaluator.setdefault(column.evaluator, [])
            for result in results(column, ids):
                line = msgspec.to_builtins(result)
                line["duration"] = round(line.get("duration", 0.0), 6)
                lines.append(line)
    return [records, by_evaluator]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@settings(max_examples=80, deadline=None)
@given(runs())
def test_a_document_says_what_the_run_said(place: Path, run: GradedRun) -> None:
    path = place / "run.json"
    write_document(run, path)
    again = read_document(path)
    assert in_one_batch(again) == in_one_batch(run)
    assert again.summaries == run.summaries
    assert again.manifest == run.manifest
    twice = place / "again.json"
    write_document(again, twice)
    assert in_one_batch(read_document(twice)) == in_one_batch(run)


@settings(max_examples=40, deadline=None)
@given(runs())
def test_a_document_is_standard_json_that_fits_its_published_schema(run: GradedRun) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(b"".join(document_parts(run)), parse_constant=refuse)
    schema = json.loads((Path(evalsi.schema.__file__).parent / "jsonschema" / "results-file.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_tables_agree_with_each_other_and_with_the_run(place: Path, run: GradedRun) -> None:
    table = flat_columns(run)
    for name in {column.evaluator for rows in run.read_rows() for column in rows.columns}:
        codes = [
            code
            for rows in run.read_rows()
            for each in rows.columns
            if each.evaluator == name
            for code in each.outcomes
        ]
        assert [OUTCOMES[code] for code in codes] == table[f"{name}.outcome"]
    assert to_arrow(run).to_pydict() == table
    save(run, place / "t.parquet")
    import pyarrow.parquet as parquet

    assert parquet.read_table(place / "t.parquet").to_pydict() == table
    save(run, place / "t.csv")
    with (place / "t.csv").open(encoding="utf-8", newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == 1 + len(table.get("record_id", []))


def small_run(rows: int = 5, batches: int = 2) -> GradedRun:
    made: list[GradedRows] = []
    for batch in range(batches):
        records = [Record(id=f"{batch}-{row}", output=Content(text="x"), metadata={"n": row}) for row in range(rows)]
        lanes: list[EvaluatorColumns] = []
        for name in ("plain", "verdict", "many"):
            builder = ColumnsBuilder(DEFINITIONS[name], name=name, ref=f"p/{name}@1.0.0", rows=rows)
            for row in range(rows):
                builder.put(row, {"plain": 0.5, "verdict": row % 2 == 0, "many": {"a": 1.0, "c": "é"}}[name])
            lanes.append(builder.result)
        made.append(GradedRows(batch * rows, encode_records(records), lanes))
    return run_of(made, ["plain", "verdict", "many"])


def test_a_file_that_was_cut_off_anywhere_is_a_typed_error(tmp_path: Path) -> None:
    whole = b"".join(document_parts(small_run()))
    path = tmp_path / "cut.json"
    for end in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:end])
        with pytest.raises(InvalidDataError) as caught:
            list(read_document(path).read_rows())
        assert str(path) in str(caught.value)
    path.write_bytes(whole)
    assert sum(rows.rows for rows in read_document(path).read_rows()) == 10


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 6000), st.binary(min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused_and_never_a_traceback(place: Path, at: int, damage: bytes) -> None:
    whole = b"".join(document_parts(small_run()))
    at %= len(whole)
    path = place / "damaged.json"
    path.write_bytes(whole[:at] + damage + whole[at + len(damage) :])
    try:
        run = read_document(path)
        for rows in run.read_rows():
            assert rows.columns
            assert rows.rows
            for record in rows.records:
                assert record.id is not None
    except EvalsiError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"results": 3}', '{"results": [1]}', "no json", '{"results": [{"record_id": "a", "outcome": "scored", "scores": [{"number": "high"}]}]}'])  # fmt: skip
def test_what_is_no_results_document_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(InvalidDataError, match=r"r\.json"):
        read_document(path)
    with pytest.raises(NotFoundError):
        read_document(tmp_path / "none.json")


FOREIGN = {
    "manifest": {"evalsi_version": "0.3.1", "dataset": {"source": "d.jsonl", "sha256": "ab"}, "something": {"new": 1}},
    "summaries": [
        {"metric": "exact-match", "evaluator": "exact-match", "kind": "proportion", "n": 2, "mean": 0.5, "std": 0.5,
         "ci": {"low": 0, "high": 0.9, "level": 0.95, "method": "wilson"}, "skipped": 1, "errors": 0, "higher_is_better": True},
    ],
    "results": [
        {"record_id": "b", "evaluator": "exact-match", "evaluator_ref": "core/exact-match@1.0.0", "outcome": "scored",
         "scores": [{"name": "exact-match", "passed": False}], "duration_ms": 0.1, "trial": 0},
        {"record_id": "a", "evaluator": "exact-match", "evaluator_ref": "core/exact-match@1.0.0", "outcome": "scored",
         "scores": [{"name": "exact-match", "passed": True}], "duration_ms": 0.1, "trial": 0},
        {"record_id": "c", "evaluator": "exact-match", "evaluator_ref": "core/exact-match@1.0.0", "outcome": "skipped",
         "reason": "the record has no reference", "trial": 0},
        {"record_id": "a", "evaluator": "rouge", "evaluator_ref": "text/rouge@1.0.0", "outcome": "OUTCOME_SCORED",
         "scores": [{"name": "rouge1", "number": 1}, {"name": "rougeL", "number": 0.5}], "trial": 0},
    ],
    "records": [
        {"id": "a", "input": {"text": "q"}, "output": {"text": "x"}, "reference": {"text": "x"}, "metadata": {"topic": "t"},
         "usage": {"input_tokens": "12", "latency_ms": 340.5, "cost_usd": 0.002}},
        {"id": "b", "input": {"text": "q"}, "output": {"text": "y"}, "reference": {"text": "x"}},
        {"id": "c", "output": {"text": "z"}},
    ],
    "gates": [],
    "trial_advice": None,
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_of_another_writer_is_read_with_all_it_says(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(FOREIGN, indent=indent))
    run = read_document(path)
    assert (run.manifest.evalsi_version, run.summaries[0].ci and run.summaries[0].ci.low) == ("0.3.1", 0.0)
    (rows,) = run.read_rows()
    assert [record.id for record in rows.records] == ["b", "a", "c"]
    usage = rows.records[1].usage
    assert usage is not None
    assert (usage.input_tokens, usage.latency) == (12, 0.3405)
    exact, rouge = rows.columns
    assert exact.columns["exact-match"].values[:2] == [0.0, 1.0]
    assert math.isnan(exact.columns["exact-match"].values[2])
    assert exact.notes[2].reason == "the record has no reference"
    assert [rouge.metric(name) for name in rouge.columns] == ["rouge.rouge1", "rouge.rougeL"]
    ours = tmp_path / "ours.json"
    save(run, ours)
    assert in_one_batch(read_document(ours)) == in_one_batch(run)


def test_saving_leaves_either_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")

    def broken() -> Any:
        yield next(small_run().read_rows())
        raise OSError("the disk is gone")

    run = small_run()
    with pytest.raises(OSError, match="disk"):
        save(GradedRun(source="", manifest=run.manifest, summaries=[], read_rows=broken), path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]
    with pytest.raises(UsageError, match="use one of"):
        save(run, tmp_path / "r.docx")


def test_cells_that_a_spreadsheet_would_run_are_made_text(tmp_path: Path) -> None:
    records = [Record(id="=1+1", output=Content(text="@SUM(A1)"), metadata={"=k": "-x"})]
    save(run_of([GradedRows(0, encode_records(records), [])], []), tmp_path / "t.csv")
    row = next(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert (row["record_id"], row["output"], row["metadata.=k"]) == ("'=1+1", "'@SUM(A1)", "'-x")


def test_a_column_of_mixed_types_is_numbers_where_it_can_be_and_else_text() -> None:
    def run_with(*values: Any) -> GradedRun:
        records = [Record(id=str(row), metadata={"v": value}) for row, value in enumerate(values)]
        return run_of([GradedRows(row, encode_records([record]), []) for row, record in enumerate(records)], [])

    assert to_arrow(run_with(1, 2.5, None)).column("metadata.v").to_pylist() == [1.0, 2.5, None]
    assert to_arrow(run_with(1, "a", True)).column("metadata.v").to_pylist() == ["1", "a", "true"]
    assert to_arrow(run_with(2**70, 1)).column("metadata.v").to_pylist() == [str(2**70), "1"]
    assert to_pandas(run_with({"a": [1]}))["metadata.v"].tolist() == ['{"a":[1]}']
    assert to_polars(run_with(True, False))["metadata.v"].to_list() == [True, False]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
@pytest.mark.slow
def test_writing_a_file_takes_memory_that_does_not_grow_with_the_records(tmp_path: Path, ending: str) -> None:
    batch = next(small_run(rows=500, batches=1).read_rows())
    peaks: list[int] = []
    for batches in (4, 40):

        def read(batches: int = batches) -> Any:
            return (GradedRows(i * 500, batch.records_jsonl, batch.columns) for i in range(batches))

        run = GradedRun(source="", manifest=RunManifest(), summaries=[], read_rows=read)
        save(run, tmp_path / f"warm{ending}")
        tracemalloc.start()
        save(run, tmp_path / f"r{ending}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 500_000


@pytest.mark.parametrize("over", range(-2, 3))
def test_records_of_more_than_a_block_are_all_read(tmp_path: Path, over: int) -> None:
    """The bracket that ends the records may stand anywhere around the border of two blocks."""
    builder = ColumnsBuilder(verdict, name="verdict", ref="verdict", rows=2)
    for row in range(2):
        builder.put(row, True)
    bare = len(encode_records([Record(id="a"), Record(id="b", output=Content(text="x"))])) + 1  # and the comma
    records = [Record(id="a"), Record(id="b", output=Content(text="x" * (_BLOCK_BYTES - bare + over + 1)))]
    rows = GradedRows(0, encode_records(records), [builder.result])
    run = GradedRun(source="made", manifest=RunManifest(), summaries=[], read_rows=lambda: iter([rows]))
    write_document(run, tmp_path / "run.json")
    read = list(read_document(tmp_path / "run.json").read_rows())
    assert [record for each in read for record in each.records] == records
    assert [list(each.columns[0].columns["verdict"].values) for each in read] == [[1.0, 1.0]]
