"""Every way to point at data gives the same records, and what is no dataset is refused in one sentence."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from evalsi.core.content import text_of
from evalsi.core.errors import (
    DuplicateIdError,
    InvalidDataError,
    InvalidSpecError,
    MissingExtraError,
    NotFoundError,
    UnknownNameError,
)
from evalsi.datasets import DatasetOptions, object_rows, open_dataset, parquet_sizes, unpacked_bound
from evalsi.schema import Content, Record


def zipped(data: bytes) -> bytes:
    """gzip without the time in it: parameters of tests must be the same in every worker."""
    return gzip.compress(data, mtime=0)


ROWS = [
    {"id": "a", "input": "one", "output": "1", "topic": "x", "level": 1},
    {"id": "b", "input": "two", "output": "2", "topic": "é", "level": 2},
    {"id": "c", "input": "three", "output": "3", "topic": "z", "level": 3},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
RECORDS = [
    Record(
        id=row["id"],
        input=Content(text=row["input"]),
        output=Content(text=row["output"]),
        metadata={"topic": row["topic"], "level": row["level"]},
    )
    for row in ROWS
]


def table(separator: str, rows: list[dict] = ROWS) -> bytes:
    lines = [separator.join(rows[0]), *(separator.join(map(str, row.values())) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def with_text_levels(records: list[Record]) -> list[Record]:
    return [
        Record(id=r.id, input=r.input, output=r.output, metadata={**r.metadata, "level": str(r.metadata["level"])})
        for r in records
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", LINES),
        ("d.ndjson", LINES),
        ("d.json", LINES),
        ("d.json", json.dumps(ROWS).encode()),
        ("d.json", json.dumps(ROWS, indent=2).encode()),
        ("d.json", json.dumps({"version": 1, "records": ROWS}, indent=2).encode()),
        ("d.json", json.dumps({"data": ROWS}).encode()),
        ("d.jsonl.gz", zipped(LINES)),
        ("d.jsonl.gz", zipped(LINES[:50]) + zipped(LINES[50:])),
        ("d.jsonl.zst", zstandard.compress(LINES)),
        ("d.jsonl.zst", zstandard.compress(LINES[:50]) + zstandard.compress(LINES[50:])),
        ("no-ending", LINES),
        ("no-ending", zipped(json.dumps(ROWS).encode())),
        ("d.jsonl", LINES.decode().encode("utf-16")),
        ("d.jsonl", b"\xef\xbb\xbf" + LINES),
    ],
)
def test_every_form_of_json_gives_the_same_records(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    dataset = open_dataset(tmp_path / name)
    assert list(dataset) == RECORDS
    assert list(dataset.records()) == RECORDS
    assert dataset.scan().columns == ("id", "input", "output", "topic", "level")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.csv", table(",")),
        ("d.csv", table(";")),
        ("d.tsv", table("\t")),
        ("no-ending", table("\t")),
        ("no-ending", table(",")),
        ("d.csv.gz", zipped(table(",").replace(b"\n", b"\r\n"))),
        ("d.csv", table(",").decode().encode("utf-16")),
    ],
)
def test_every_form_of_table_gives_the_same_records_with_text_cells(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert list(open_dataset(tmp_path / name)) == with_text_levels(RECORDS)


@pytest.mark.parametrize(
    "objects",
    [
        ROWS,
        tuple(ROWS),
        RECORDS,
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).lazy(),
        pa.Table.from_pylist(ROWS),
    ],
    ids=lambda objects: type(objects).__name__,
)
def test_objects_give_the_same_records_twice(objects) -> None:
    dataset = open_dataset(objects)
    assert list(dataset) == RECORDS
    assert list(dataset) == RECORDS


def test_an_iterator_that_runs_once_can_be_read_twice() -> None:
    dataset = open_dataset(row for row in ROWS)
    assert dataset.scan().records == 3
    first, second = dataset.records(), dataset.records()
    assert [(a.id, b.id) for a, b in zip(first, second, strict=True)] == [("a", "a"), ("b", "b"), ("c", "c")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_parquet_keeps_its_types(tmp_path: Path, pack) -> None:
    stored = io.BytesIO()
    pq.write_table(pa.table({"id": ["a"], "input": ["q"], "tags": [["x", "y"]], "n": [2**60], "none": [None]}), stored)
    (tmp_path / "d.parquet").write_bytes(pack(stored.getvalue()))
    (record,) = open_dataset(tmp_path / "d.parquet")
    assert record.metadata == {"tags": ["x", "y"], "n": 2**60, "none": None}


def test_what_pandas_calls_missing_is_absent_and_its_numbers_are_plain() -> None:
    frame = pd.DataFrame({"id": [1, 2], "input": ["q", None], "score": [0.5, float("nan")], "when": pd.NaT})
    first, second = open_dataset(frame)
    assert (first.id, first.metadata) == ("1", {"score": 0.5})
    assert (second.id, second.input, second.metadata) == ("2", None, {})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2j}])
def test_a_value_without_json_is_refused_by_row(value) -> None:
    with pytest.raises(InvalidDataError, match=r"records, row 2"):
        open_dataset([{"id": "a"}, {"id": "b", "v": [value]}]).scan()


def test_standard_input_is_sniffed_and_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (LINES, zipped(LINES), json.dumps(ROWS).encode()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        dataset = open_dataset("-")
        assert dataset.name == "stdin"
        assert list(dataset) == RECORDS
        assert list(dataset) == RECORDS


def test_a_pipe_with_a_name_is_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINES,))
    writer.start()
    dataset = open_dataset(pipe)
    writer.join()
    assert list(dataset) == RECORDS
    assert list(dataset) == RECORDS


def test_a_folder_and_a_pattern_are_read_in_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"id":"2"}\n')
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.jsonl.gz").write_bytes(zipped(b'{"id":"3"}'))
    (tmp_path / "notes.md").write_text("none of ours")
    (tmp_path / ".hidden.jsonl").write_text("broken")
    assert [record.id for record in open_dataset(tmp_path)] == ["1", "2", "3"]
    assert [record.id for record in open_dataset(f"{tmp_path}/*.jsonl")] == ["2"]
    assert [record.id for record in open_dataset(f"{tmp_path}/**/*")] == ["1", "2", "3"]


def test_an_id_in_two_files_is_a_double(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id":"same"}\n')
    with pytest.raises(DuplicateIdError) as refused:
        open_dataset(tmp_path).scan()
    assert f"{tmp_path}/a.jsonl:1" in str(refused.value)
    assert f"{tmp_path}/b.jsonl:1" in str(refused.value)


def test_the_digest_is_of_the_content_not_of_its_packing(tmp_path: Path) -> None:
    import hashlib

    (tmp_path / "d.jsonl").write_bytes(LINES)
    (tmp_path / "d.jsonl.gz").write_bytes(zipped(LINES))
    plain = open_dataset(tmp_path / "d.jsonl").scan().digest
    assert plain == "sha256:" + hashlib.sha256(LINES).hexdigest()
    assert plain == open_dataset(tmp_path / "d.jsonl.gz").scan().digest
    assert plain == open_dataset(tmp_path / "d.jsonl", options=DatasetOptions(limit=1)).scan().digest


@pytest.mark.parametrize(
    "address", ["http://example.com/d.jsonl", "https://example.com/d.jsonl", "s3://b/d", "FTP://x"]
)
def test_an_address_is_never_fetched(address: str) -> None:
    with pytest.raises(InvalidDataError, match="download it"):
        open_dataset(address)


def test_hub_addresses_are_checked_before_anything_is_loaded() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'split'"):
        open_dataset("hf://owner/name?splt=test")
    with pytest.raises(InvalidSpecError):
        open_dataset("hf://")


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "d.parquet").write_bytes(b"PAR1")
    for module in ("datasets", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"evalsi\[hf\]"):
        open_dataset("hf://owner/name?split=test")
    with pytest.raises(MissingExtraError, match=r"evalsi\[arrow\]"):
        open_dataset(tmp_path / "d.parquet")


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").touch()
    with pytest.raises(NotFoundError, match=r"answers\.jsonl"):
        open_dataset(tmp_path / "anwsers.jsonl")


@pytest.mark.slow
def test_a_small_parquet_file_of_long_values_is_read_in_little_memory(tmp_path: Path) -> None:
    """A value that stands in the file once and in every row: 200 rows of 8 MiB from a file of kilobytes."""
    rows, size = 200, 8 << 20
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array(["y" * size]))
    pq.write_table(pa.table({"id": [str(n) for n in range(rows)], "output": column}), tmp_path / "d.parquet")
    assert (tmp_path / "d.parquet").stat().st_size < 1 << 20
    script = (
        "import resource, sys\n"
        "from evalsi.datasets import open_dataset\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "print(open_dataset(sys.argv[1]).scan().records)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "d.parquet")], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(rows), done.stderr[-500:]


LONG = "ü" * 4_000
NESTED = {
    "lists": pa.array([[LONG] * 5, [LONG], None, [], [LONG, None]] * 3),
    "structs": pa.array([[{"a": LONG, "b": 1}] * 5, [], None, [{"a": None, "b": 2}], []] * 3),
    "maps": pa.array([[("k", LONG)] * 5, [], None, [("z", "y")], []] * 3, pa.map_(pa.string(), pa.string())),
    "lists of lists": pa.array([[[LONG, LONG]], [[]], None, [[LONG]], [[LONG], [LONG] * 4]] * 3),
}


@pytest.mark.parametrize("kind", NESTED)
def test_lists_of_long_values_in_parquet_are_read_in_parts_and_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    column = NESTED[kind]
    table = pa.table({"id": [str(n) for n in range(len(column))], "output": ["x"] * len(column), "cells": column})
    pq.write_table(table, tmp_path / "d.parquet")
    whole = list(open_dataset(tmp_path / "d.parquet"))
    monkeypatch.setattr(parquet_sizes, "_BATCH_BYTES", 60_000)
    parts: list[int] = []
    bounded = parquet_sizes.bounded_batches

    def counted(batch: Any, first: int, *, name: str) -> Iterator[Any]:
        for part in bounded(batch, first, name=name):
            parts.append(part.num_rows)
            yield part

    monkeypatch.setattr(object_rows, "bounded_batches", counted)
    assert list(open_dataset(tmp_path / "d.parquet")) == whole
    assert sum(parts) >= len(column)
    assert max(parts) < len(column)


@pytest.mark.parametrize("kind", NESTED)
def test_a_row_of_parquet_whose_lists_fill_a_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(parquet_sizes, "_BATCH_BYTES", 30_000)
    table = pa.table({"id": [str(n) for n in range(len(NESTED[kind]))], "output": NESTED[kind]})
    pq.write_table(table, tmp_path / "d.parquet")
    with pytest.raises(InvalidDataError, match=r"the row [15] has lists that come to more than"):
        open_dataset(tmp_path / "d.parquet").scan()


@pytest.mark.slow
def test_a_small_parquet_file_with_an_endless_list_is_refused_in_little_memory(tmp_path: Path) -> None:
    """One row with a list of 100,000 times the same mebibyte, from a file of kilobytes."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["y" * (1 << 20)]))
    column = pa.ListArray.from_arrays(pa.array([0, 100_000], pa.int32()), values)
    pq.write_table(pa.table({"id": ["1"], "output": ["x"], "metadata": column}), tmp_path / "d.parquet")
    assert (tmp_path / "d.parquet").stat().st_size < 1 << 20
    script = (
        "import resource, sys\n"
        "from evalsi.datasets import open_dataset\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "open_dataset(sys.argv[1]).scan()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "d.parquet")], capture_output=True, text=True, check=False
    )
    assert "the row 1 has lists that come to more than 512 MiB" in done.stderr, done.stderr[-500:]


def test_a_parquet_column_that_unpacks_to_very_much_more_than_it_is_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked_bound, "_ALWAYS_BYTES", 1 << 20)
    table = pa.table({"id": ["1"], "output": ["y" * (4 << 20)]})
    pq.write_table(table, tmp_path / "d.parquet", compression="zstd")
    with pytest.raises(InvalidDataError, match="output unpacks to more than 200 times its size"):
        open_dataset(tmp_path / "d.parquet").scan()


@pytest.mark.parametrize("rows", [3, 511, 512, 513, 1_500])
def test_rows_of_a_table_are_all_there_however_large_they_are(rows: int) -> None:
    table = pa.table({"id": [str(n) for n in range(rows)], "output": ["z" * (n % 7) * 10_000 for n in range(rows)]})
    records = list(open_dataset(table))
    assert [record.id for record in records] == [str(n) for n in range(rows)]
    assert [len(text_of(record.output)) for record in records] == [n % 7 * 10_000 for n in range(rows)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**52], pa.timestamp("ms")),
        pa.array([1], pa.timestamp("ms", tz="Mars/Phobos")),
        pa.array([2**31 - 1], pa.date32()),
        pa.array([2**62], pa.duration("ms")),
    ],
    ids=lambda column: str(column.type),
)
def test_a_parquet_value_that_python_cannot_hold_is_a_fault_of_the_file(tmp_path: Path, column: pa.Array) -> None:
    pq.write_table(pa.table({"id": ["1"], "output": ["x"], "metadata": column}), tmp_path / "d.parquet")
    with pytest.raises(InvalidDataError, match="cannot be"):
        open_dataset(tmp_path / "d.parquet").scan()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.jsonl", b"", "there are no rows"),
        ("d.jsonl", b"\n \n", "there are no rows"),
        ("d.csv", b"id,input\n", "there are no rows"),
        ("d.json", b"", "there are no rows"),
        ("d.json", b"[]", "there are no rows"),
        ("d.json", b'[{"id":"a"},\n{"id": }]', "d.json:2:8: not JSON"),
        ("d.json", b'[{"id":"a"},\n  {"id":"b","n":NaN}]', "d.json:2:"),
        ("d.json", b'[{"id":"a"},\n  {"id":"b","n":1e999}]', "d.json:2:17: number 1e999 is out of range"),
        ("d.json", b'{"rows": [{"id":"a"}]\n}', "under 'records' or 'data'"),
        ("d.json", b'"text"', "neither a list nor an object"),
        ("d.jsonl.gz", zipped(LINES)[:-12], "cannot be read to its end"),
        ("d.jsonl.gz", b"\x1f\x8b\x08nonsense", "cannot be read to its end"),
        ("d.jsonl.zst", zstandard.compress(LINES)[:8] + b"xxxx", "zstd"),
        ("d.jsonl", b'{"id":"a"}\n{"id":"\xff"}\n', "d.jsonl:2:8: byte 0xff at byte 7 of the row is not UTF-8"),
        ("d.csv", b"id,input\na,\xe9\n", "d.csv:2: byte 0xe9 at byte 11"),
        ("d.jsonl", b"\xff\xfe\x00\x00" + LINES, "UTF-32"),
        ("d.jsonl", b"\xff\xfe{\x00\x00", "UTF-16"),
        ("d.csv", b'id,input\na,"open\nb,c\n', "d.csv:2"),
        ("d.csv", b'id,input\na,"quoted" more\n', "d.csv:2"),
        ("d.csv", b"id,id\n1,2\n", "two columns are called 'id'"),
        ("d.parquet", b"PAR1 and no more", "no Parquet"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidDataError) as refused:
        list(open_dataset(tmp_path / name))
    assert said in str(refused.value)


@pytest.mark.parametrize("thing", [5, b"bytes", {"id": "a"}, None])
def test_an_object_that_is_no_dataset_is_refused(thing) -> None:
    with pytest.raises(InvalidDataError, match="is no dataset"):
        open_dataset(thing)


def test_a_broken_element_of_a_document_can_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(
        '[{"id":"a"},\n 5,\n {"id":"s","t":"\\ud800"},\n {"id":"b","x":1,"x":2},\n{"id":"c"}]'
    )
    dataset = open_dataset(tmp_path / "d.json", options=DatasetOptions(on_invalid="skip"))
    assert [record.id for record in dataset] == ["a", "s", "c"]
    assert [row.where.rpartition("d.json:")[2].partition(":")[0] for row in dataset.skipped] == ["2", "4"]


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(LINES)
    dataset = open_dataset(path)
    dataset.scan()
    path.write_bytes(LINES + b'{"id":"d"}\n')
    with pytest.raises(InvalidDataError, match="changed"):
        list(dataset)


def test_a_compressed_bomb_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl.gz").write_bytes(zipped(b'{"id":"' + b"a" * (65 << 20)))
    with pytest.raises(InvalidDataError, match=r"d\.jsonl\.gz:1: the line is longer than 64 MiB"):
        open_dataset(tmp_path / "d.jsonl.gz").scan()


def test_a_cell_longer_than_the_csv_library_likes_is_read(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("id,input\na," + "x" * 300_000 + "\n")
    (record,) = open_dataset(tmp_path / "d.csv")
    assert len(text_of(record.input)) == 300_000


def test_a_column_without_a_name_gets_its_number(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(",id\n0,a\n")
    (record,) = open_dataset(tmp_path / "d.csv")
    assert record.metadata == {"column_1": "0"}


def test_an_unlimited_iterator_is_cut_by_the_limit() -> None:
    def endless() -> Iterator[dict]:
        number = 0
        while True:
            number += 1
            yield {"id": number}

    dataset = open_dataset(endless(), options=DatasetOptions(limit=3))
    assert [record.id for record in dataset] == ["1", "2", "3"]


def test_options_are_checked_at_once() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'jsonl'"):
        DatasetOptions(format="jsnl")
    with pytest.raises(InvalidSpecError):
        DatasetOptions(limit=0)
