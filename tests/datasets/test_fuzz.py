"""No bytes make a loader crash or hang: it gives records or an error of ours, and says the same twice."""

import gzip
import io
import json
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalsi.core.content import text_of
from evalsi.core.errors import EvalsiError
from evalsi.datasets import FORMATS, DatasetOptions, open_dataset
from evalsi.datasets.byte_source import ByteSource
from evalsi.datasets.careful_json import read_json
from evalsi.datasets.rows import RowError
from evalsi.datasets.sources import _of_bytes
from evalsi.schema import Record

JSON_PIECES = st.sampled_from(
    ["{", "}", "[", "]", ":", ",", '"', "\\", '\\"', '"id"', '"a"', "1", "-1", "1e999", "NaN", "null", "true", "\n", "\r\n",
     " ", "\\ud800", "\u2028", "\ufeff", "é", "😀", '"usage"', '"metadata"', '"records"', "9" * 30, "\0", ";", "\t"]
)  # fmt: skip
TEXTS = st.lists(JSON_PIECES, max_size=30).map("".join)
BYTES = st.one_of(
    st.binary(max_size=200),
    TEXTS.map(str.encode),
    TEXTS.map(lambda text: text.encode("utf-16")),
    TEXTS.map(lambda text: gzip.compress(text.encode())),
    TEXTS.map(lambda text: zstandard.compress(text.encode())),
    st.builds(lambda text, cut: gzip.compress(text.encode())[:cut], TEXTS, st.integers(0, 40)),
    st.builds(lambda text, cut: zstandard.compress(text.encode())[:cut], TEXTS, st.integers(0, 40)),
)
ROBUST = settings(max_examples=300, deadline=1000, suppress_health_check=[HealthCheck.too_slow])


def read(content: bytes, file_format: str | None, **options) -> tuple[list[Record], str] | str:
    from evalsi.datasets.dataset import Dataset
    from evalsi.datasets.mapping import FieldMap

    try:
        part = _of_bytes(ByteSource.of_stream(io.BytesIO(content), "fuzz"), file_format)
        dataset = Dataset("fuzz", [part], DatasetOptions(**options), FieldMap({}), None)
        records = list(dataset)
        for batch in dataset.batches(3):
            batch.json_lines().decode()
        return records, dataset.scan().digest
    except EvalsiError as error:
        return str(error)


@pytest.mark.parametrize("file_format", [None, *FORMATS])
def test_any_bytes_give_records_or_a_typed_error(file_format: str | None) -> None:
    @ROBUST
    @given(BYTES, st.sampled_from(["stop", "skip"]))
    @example(b'{"id":"a"}\n' * 2, "skip")
    @example(b'[{"id":"a"}, {"id":"\\ud800"}]', "stop")
    def check(content: bytes, on_invalid: str) -> None:
        assert read(content, file_format, on_invalid=on_invalid) == read(content, file_format, on_invalid=on_invalid)

    check()


@given(st.binary(max_size=100) | TEXTS.map(str.encode))
def test_careful_reading_agrees_with_the_standard_library_on_what_json_is(content: bytes) -> None:
    try:
        expected = json.loads(content.decode())
    except (ValueError, RecursionError):
        with pytest.raises(RowError):
            read_json(content)
        return
    try:
        value, escaped = read_json(content)
    except RowError as fault:
        assert any(word in fault.reason for word in ("twice", "NaN", "range", "Infinity"))
    else:
        assert escaped or value == expected


KEYS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)


@given(
    st.lists(st.dictionaries(KEYS.filter(lambda key: key not in ("id", "usage", "check")), VALUES), max_size=5),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
def test_any_json_rows_come_back_as_they_are(
    rows: list[dict], ascii_only: bool, indent: int | None, separators
) -> None:
    rows = [{"id": f"r{number}", "v": row} for number, row in enumerate(rows)]
    lines = "\n".join(json.dumps(row, ensure_ascii=ascii_only, separators=separators) for row in rows).encode()
    document = json.dumps(rows, ensure_ascii=ascii_only, indent=indent).encode()
    for content, file_format in ((lines, "jsonl"), (document, "json")):
        found = read(content, file_format)
        if rows:
            assert not isinstance(found, str)
            assert [record.metadata["v"] for record in found[0]] == [row["v"] for row in rows]


@given(
    st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_cells_come_back_as_they_are(cells: list[tuple[str, str]], line_end: str) -> None:
    import csv

    written = io.StringIO(newline="")
    table = csv.writer(written, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    table.writerows([("id", "input", "output"), *((str(n), *row) for n, row in enumerate(cells))])
    found = read(written.getvalue().encode(), "csv")
    assert not isinstance(found, str)
    same = (lambda text: text.replace("\r\n", "\n")) if line_end == "\r\n" else str
    assert [(text_of(r.input), text_of(r.output)) for r in found[0]] == [(same(a), same(b)) for a, b in cells]


@pytest.mark.parametrize(
    "line",
    [
        '{"a":"' + '\\"' * 400_000 + '\\x"}',
        '{"a":"' + '\\"' * 400_000,
        '{"a":' + "[" * 400_000,
        '{"a":' + '{"b":' * 200_000,
        '{"a":[' + "1," * 200_000,
        '{"a":' + "9" * 800_000 + "}",
        '{"a":1.' + "9" * 800_000 + "}",
        '{"a":"' + "\\ud800" * 100_000 + '"}',
        " " * 800_000 + "x",
        "{" + ",".join(f'"k{number}" :1' for number in range(30_000)) + "}",
        '"' * 400_001,
    ],
    ids=lambda line: line[:12],
)
def test_a_hostile_line_of_a_megabyte_takes_less_than_a_second(tmp_path: Path, line: str) -> None:
    for name in ("d.jsonl", "d.json", "d.csv"):
        (tmp_path / name).write_text("id,input\n" + line if name == "d.csv" else line)
        started = time.process_time()
        try:
            open_dataset(tmp_path / name).scan()
        except EvalsiError as error:
            assert len(str(error)) < 2000
        assert time.process_time() - started < 1
